"""The checker as an output validator with one retry, in plain Python."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from bedside.grounding import Report, SourceText, check

Write = Callable[[str], str]


def order_for(report: Report) -> str:
    """What to tell the model about an answer that did not hold."""
    lines = [f"- {claim.text} ({claim.why})" for claim in report.unsupported]
    return "\n".join(
        ["These sentences have no support in the sources. Leave them out or mend them:", *lines]
    )


def answer_checked(
    write: Write, prompt: str, *, sources: Sequence[SourceText], retries: int = 1
) -> Report:
    """Ask, check, ask again at most `retries` times; what still does not hold is removed.

    `Report.text` never has an unsupported sentence in it; `Report.removed` lists them.
    """
    report = check(write(prompt), sources=sources, question=prompt)
    for _ in range(retries):
        if report.ok:
            break
        report = check(write(f"{prompt}\n\n{order_for(report)}"), sources=sources, question=prompt)
    return report
