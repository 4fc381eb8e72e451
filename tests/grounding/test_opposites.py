"""A sentence that turns its source round is not supported, however well its figures agree."""

from __future__ import annotations

import pytest

from bedside.core.source import SourceKind
from bedside.grounding import SourceText, check
from bedside.grounding.support import Evidence, judge

BISOPROLOL = "Bisoprolol was reduced from 5 mg to 2.5 mg because of bradycardia."
HAEMOGLOBIN = "Haemoglobin 92 g/L (120-150), 4 Jun 2026."
APIXABAN = (
    "Reduce the dose of apixaban to 2.5 mg twice daily if creatinine clearance is 15 to 29 mL/min."
)
SWAP = "Metformin was stopped and gliclazide 40 mg was started in May 2026."
COURSE = "eGFR 41 mL/min/1.73m2 on 14 Oct 2026; 49 on 3 Mar 2026; 57 on 20 Aug 2025."


def _kept(said: str, *written: str, kind: SourceKind = "document") -> bool:
    sources = [SourceText(f"s{n}", text, kind=kind) for n, text in enumerate(written)]
    return check(said, sources=sources).ok


@pytest.mark.requirement("EN-G2")
@pytest.mark.parametrize(
    ("said", "written"),
    [
        ("Bisoprolol was increased from 5 mg to 2.5 mg [1].", BISOPROLOL),
        ("Haemoglobin is high at 92 g/L [1].", HAEMOGLOBIN),
        ("Haemoglobin is within the normal range at 92 g/L [1].", HAEMOGLOBIN),
        (
            "The letter gives a higher dose: apixaban is doubled to 2.5 mg twice daily [1].",
            APIXABAN,
        ),
        ("Metformin was started in May 2026 [1].", SWAP),
        ("Gliclazide was stopped in May 2026 [1].", SWAP),
        ("eGFR rose to 41 mL/min/1.73m2 [1].", COURSE),
        ("eGFR rose from 57 to 41 mL/min/1.73m2 [1].", COURSE),
        ("Her diabetes is uncontrolled [1].", "Her diabetes is controlled."),
        ("Tablets are taken after breakfast [1].", "Tablets are taken before breakfast."),
        ("HIV test reactive [1].", "HIV test non-reactive."),
    ],
)
def test_the_reverse_of_what_is_written_is_removed(said: str, written: str) -> None:
    assert not _kept(said, written)


@pytest.mark.parametrize(
    ("said", "written"),
    [
        ("Bisoprolol was lowered from 5 mg to 2.5 mg [1].", BISOPROLOL),
        ("Haemoglobin is low at 92 g/L [1].", HAEMOGLOBIN),
        ("Gliclazide 40 mg was started in May 2026 [1].", SWAP),
        ("Metformin was discontinued in May 2026 [1].", SWAP),
        ("eGFR fell from 57 to 49 to 41 mL/min/1.73m2 [1].", COURSE),
        ("eGFR was 49 mL/min/1.73m2 on 3 Mar 2026 [1].", COURSE),
        ("Low-dose aspirin continues [1].", "Low-dose aspirin continues; cholesterol is high."),
    ],
)
def test_another_word_for_the_same_is_kept(said: str, written: str) -> None:
    assert _kept(said, written)


def test_what_a_row_says_after_a_comma_is_of_the_medicine_that_it_begins_with() -> None:
    row = "| Metformin | halve below 45, stop below 30 |"
    assert _kept("Metformin: halve below 45, stop below 30 [1].", row, kind="guideline")
    assert not _kept("Metformin: halve below 45, start below 30 [1].", row, kind="guideline")


def test_what_a_rule_concludes_of_an_entry_is_not_the_reverse_of_it() -> None:
    rule = "Naproxen is active; the newest eGFR is 19 mL/min: avoid NSAIDs in kidney disease."
    entry = Evidence(n=1, quote="Naproxen: active.", context="Naproxen: active.", kind="record")
    figure = "eGFR: 19 mL/min (10 Nov 2008)."
    newest = Evidence(n=2, quote=figure, context=figure, kind="record")
    assert judge(rule, [entry, newest], computed=[rule]).why != "opposite_in_source"
    assert judge(rule, [entry, newest]).why == "opposite_in_source"
    stopped = judge("Naproxen was stopped.", [entry], computed=["Naproxen: avoid NSAIDs."])
    assert stopped.why == "opposite_in_source"


@pytest.mark.parametrize(
    "text",
    [
        "Acute myocarditis is common and chronic cardiomyopathy is rare.",
        "Increase in flow across the valve during inspiration and decrease during expiration.",
        "Decrease the temperature below 40 C, with the goal of reaching a normal range (36 C to 38 C).",
    ],
)
def test_no_words_are_the_reverse_of_themselves(text: str) -> None:
    assert _kept(text.replace(".", " [1]."), text, kind="guideline")


def test_a_word_is_not_looked_for_inside_its_reverse() -> None:
    assert not _kept("Controlled diabetes [1].", "Uncontrolled diabetes.", kind="guideline")


def test_a_month_is_no_doubt() -> None:
    assert not _kept("Pneumonia was present in May 2026 [1].", "Possible pneumonia in May 2026.")


def test_both_sides_of_a_disagreement_may_be_told_in_one_sentence() -> None:
    record, list_ = "Spironolactone 25 mg once daily.", "Spironolactone 50 mg once daily."
    assert _kept(
        "Spironolactone is 25 mg in the record [1] but 50 mg in the letter [2].", record, list_
    )
    assert not _kept(
        "Spironolactone is 25 mg in the record [1] but 75 mg in the letter [2].", record, list_
    )
    assert not _kept("Both lists give spironolactone 25 mg once daily [1][2].", record, list_)


def test_a_dose_of_an_unknown_drug_is_not_taken_for_the_one_before() -> None:
    record, list_ = "Spironolactone 25 mg once daily.", "Spironolactone 50 mg once daily."
    assert not _kept("She takes spironolactone 25 mg [1] and zorvimab 50 mg [2].", record, list_)


def test_a_comparison_reaches_over_the_name_of_its_test() -> None:
    rule = "Review the dose of metformin if eGFR is below 45 mL/min/1.73m2."
    assert _kept(
        "The dose of metformin is reviewed below an eGFR of 45 mL/min/1.73m2 [1].",
        rule,
        kind="guideline",
    )
    assert not _kept(
        "The dose of metformin is reviewed above an eGFR of 45 mL/min/1.73m2 [1].",
        rule,
        kind="guideline",
    )


def test_a_marker_that_only_points_stands_for_what_was_said_before_it() -> None:
    record, chart = "Methotrexate 15 mg once weekly.", "Methotrexate 20 mg once weekly."
    assert not _kept("Methotrexate is 15 mg in the record [1] and in the chart [2].", record, chart)
    assert _kept("Methotrexate is 15 mg in the record [1] and in the chart [2].", record, record)


def test_a_list_that_holds_two_medicines_says_nothing_of_both_together() -> None:
    said = "Amlodipine potentiates methotrexate [1]."
    assert not _kept(said, "Amlodipine 5 mg. Methotrexate 15 mg.")
    assert _kept(said, "Amlodipine potentiates methotrexate.")


def test_a_printed_range_has_the_unit_of_its_value_and_exceeds_is_above() -> None:
    assert _kept("ALT is above the range 7-56 U/L [1].", "ALT 118 U/L (7-56), 9 Sep 2026.")
    rule = "Withhold methotrexate if ALT exceeds 100 U/L."
    assert _kept("The threshold is an ALT above 100 U/L [1].", rule, kind="guideline")
    assert not _kept("The threshold is an ALT below 100 U/L [1].", rule, kind="guideline")
