"""Findings against gold that is known from the making of each report, in every format."""

from __future__ import annotations

import pytest

from bedside.knowledge.parse import parse
from bedside.sop.find import bundled
from bedside.sop.findings import read_findings
from bedside.sop.recognise import kinds_of, recognise


def plain(said: object) -> str:
    return "".join(char for char in str(said).casefold() if char.isalnum())


def read(text: str, report):
    """(type, findings by name) of a text under the report's contract."""
    known = bundled()
    own = known[report.contract]
    others = [c for c in known.values() if c.id != own.id and not c.generic]
    kind = recognise(text, kinds_of(own, others))
    if kind is None:
        return None, {}
    found = read_findings(text, kind.findings)
    for one in found:
        assert text[one.start : one.end] == one.quote
    return kind.type, {one.name: one for one in found}


def right(found, value, unit) -> bool:
    if unit is not None or value in ("left", "right", "both"):
        return found.value == value and (not unit or plain(found.unit) == plain(unit))
    return plain(value) in plain(found.value)


def score(reports, parsed) -> tuple[int, int, int, int]:
    """(types right, findings right, wrong or invented, missed)."""
    types = hits = wrong = missed = 0
    for report, text in zip(reports, parsed, strict=True):
        kind, found = read(text, report)
        types += kind == report.type
        for name, (value, unit) in report.gold.items():
            if name not in found:
                missed += 1
            elif right(found[name], value, unit):
                hits += 1
            elif unit and not found[name].unit and found[name].value == value:
                missed += (
                    1  # the number is right and its unit was not read: it says less, not other
                )
            else:
                wrong += 1
        wrong += sum(
            isinstance(one.value, (int, float))
            for name, one in found.items()
            if name not in report.gold
        )
    return types, hits, wrong, missed


@pytest.mark.requirement("IN-07")
@pytest.mark.parametrize("seed", [4, 23])
@pytest.mark.parametrize("form", ["pdf", "docx"])
def test_files_with_text_give_every_type_and_hardly_a_finding_is_wrong(made, seed, form) -> None:
    reports = made.reports(seed)
    assert len(reports) >= 40
    write = {"pdf": made.as_pdf, "docx": made.as_docx}[form]
    parsed = [parse(write(report), name=f"a.{form}").text for report in reports]
    types, hits, wrong, missed = score(reports, parsed)
    assert types == len(reports)
    assert hits / (hits + wrong) >= 0.99
    assert hits / (hits + missed + wrong) >= 0.97


@pytest.mark.requirement("IN-07")
def test_scans_that_are_slanted_and_grainy_give_no_wrong_number(made) -> None:
    reports = [r for r in made.reports() if r.name in {"knee0", "blood3", "echo1"}]
    parsed = [
        parse(made.as_scan(r, turn=1.1 - k, noise=12, seed=k), name="a.png").text
        for k, r in enumerate(reports)
    ]
    types, hits, wrong, missed = score(reports, parsed)
    assert types == 3
    assert wrong == 0
    assert hits / (hits + missed) >= 0.8


def findings(contract: str, kind: str):
    return next(one.findings for one in bundled()[contract].interpretation if one.type == kind)


@pytest.mark.requirement("IN-07")
@pytest.mark.parametrize(
    "text",
    [
        "Haemoglobin: pending",
        "Haemoglobin 13.0 - 17.0 g/dL (reference)",
        "Mean corpuscular haemoglobin 29 pg",
        "Urine creatinine 110 mg/dL",
        "Creatinine clearance 85 mL/min",
        "Haemoglobin 13.2 g/dL\n\nRepeat sample: Haemoglobin 9.8 g/dL",
        "Potassium: haemolysed. Sodium 140 mmol/L was not asked of the laboratory.",
    ],
)
def test_a_result_that_is_pending_a_reference_or_contradicted_is_no_finding(text) -> None:
    read = {one.name for one in read_findings(text, findings("TKR", "bloodwork_recent"))}
    assert not read & {"hemoglobin", "creatinine", "potassium", "hba1c"}


@pytest.mark.requirement("IN-07")
@pytest.mark.parametrize(
    ("text", "side"),
    [
        ("X-RAY RIGHT KNEE\n\nCompared with the left knee there is more narrowing.", "right"),
        ("X-RAY BOTH KNEES\n\nThe left is worse.", "both"),
        ("Knees\n\nOsteophytes on the left.\n\nNarrowing on the right.", None),
        ("X-ray of a knee\n\nThe patient left the ward.", None),
    ],
)
def test_the_side_is_that_of_the_examination_and_unknown_where_it_is_not_plain(text, side) -> None:
    read = {one.name: one.value for one in read_findings(text, findings("TKR", "knee_xray"))}
    assert read.get("side") == side
