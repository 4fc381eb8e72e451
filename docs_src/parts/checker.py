"""The citation resolver and the checker alone: any model's answer, any sources."""

from __future__ import annotations

from bedside.grounding import Ambiguous, NotFound, Resolved, SourceText, check, resolve

NOTE = (
    "Reviewed in clinic on 12 May 2026. HbA1c 8.2 % and rising.\n"
    "Potassium 5.1 mmol/L. No chest pain. Metformin 500 mg twice daily continued.\n"
)
note = SourceText("note-1", NOTE, kind="note")

found = resolve("HbA1c 8.2 %", note)  # Resolved | Ambiguous | NotFound
assert isinstance(found, Resolved)
assert NOTE[found.start : found.end] == found.quote == "HbA1c 8.2 %"
assert isinstance(resolve("HbA1c 8.3 %", note), NotFound)
assert isinstance(resolve("a", SourceText("short", "a b a")), Ambiguous)

answer = (
    "HbA1c is 8.2 % [1]. Potassium is 5.7 mmol/L [1]. "
    "There is chest pain [1]. Metformin 500 mg twice daily was continued [1]."
)
report = check(answer, sources=[note])
print(report.text)
for claim in report.unsupported:  # claims, with why
    print("removed:", claim.text, "|", claim.why)
for cited in report.citations:
    assert NOTE[cited.span.start : cited.span.end] == cited.quote
