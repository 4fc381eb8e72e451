"""The copilot's gold and its scoring: hand-written bundles and answers, good and bad."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bedside.core.errors import InvalidArgument
from bedside.evals.copilot_chart import read_chart
from bedside.evals.copilot_gold import Expect, Gold, compute, gold_of, select
from bedside.evals.copilot_questions import questions, split_of
from bedside.evals.copilot_score import fetch_all_tokens, recall, render_all, score

A1C = {"op": "latest", "loinc": "4548-4", "about": ["a1c"]}


def observation(code: str, name: str, figure: str, unit: str, when: str, n: int) -> str:
    return f"""{{"resource": {{"resourceType": "Observation", "id": "o{n}", "status": "final",
      "code": {{"coding": [{{"system": "http://loinc.org", "code": "{code}", "display": "{name}"}}], "text": "{name}"}},
      "effectiveDateTime": "{when}", "valueQuantity": {{"value": {figure}, "unit": "{unit}"}}}}}}"""


def other(resource: dict) -> str:
    return json.dumps({"resource": resource})


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    """A woman with four HbA1c, a tied potassium, a pressure, a resolved and a standing problem."""
    pressure = """{"resource": {"resourceType": "Observation", "id": "bp", "status": "final",
      "code": {"coding": [{"code": "55284-4"}], "text": "Blood Pressure"}, "effectiveDateTime": "2019-03-02T10:00:00Z",
      "component": [{"code": {"coding": [{"code": "8462-4"}], "text": "Diastolic Blood Pressure"}, "valueQuantity": {"value": 91.0, "unit": "mm[Hg]"}},
                    {"code": {"coding": [{"code": "8480-6"}], "text": "Systolic Blood Pressure"}, "valueQuantity": {"value": 148.50, "unit": "mm[Hg]"}}]}}"""
    entries = [
        other(
            {
                "resourceType": "Patient",
                "id": "p",
                "gender": "female",
                "birthDate": "1960-06-15",
                "name": [{"family": "Ames"}],
                "address": [{"city": "Salem"}],
            }
        ),
        observation("4548-4", "HbA1c", "7.10", "%", "2016-02-01T23:30:00-05:00", 1),
        observation("4548-4", "HbA1c", "7.9", "%", "2017-02-03T09:00:00Z", 2),
        observation("4548-4", "HbA1c", "8.4", "%", "2018-02-05T09:00:00Z", 3),
        observation("4548-4", "HbA1c", "9.2", "%", "2019-02-07T09:00:00Z", 4),
        observation("6298-4", "Potassium", "4.1", "mmol/L", "2019-02-07T09:00:00Z", 5),
        observation("6298-4", "Potassium", "5.3", "mmol/L", "2019-02-07T09:00:00Z", 6),
        pressure,
        other(
            {
                "resourceType": "Condition",
                "id": "c1",
                "code": {"text": "Anemia (disorder)"},
                "clinicalStatus": {"coding": [{"code": "resolved"}]},
                "onsetDateTime": "2010-01-01",
                "abatementDateTime": "2011-01-01",
            }
        ),
        other(
            {
                "resourceType": "Condition",
                "id": "c2",
                "code": {"text": "Prediabetes"},
                "clinicalStatus": {"coding": [{"code": "active"}]},
                "onsetDateTime": "2012-01-01",
            }
        ),
        other(
            {
                "resourceType": "MedicationRequest",
                "id": "m1",
                "status": "active",
                "authoredOn": "2018-02-05",
                "medicationCodeableConcept": {
                    "text": "24 HR Metformin hydrochloride 500 MG Extended Release Oral Tablet"
                },
            }
        ),
        other(
            {
                "resourceType": "MedicationRequest",
                "id": "m2",
                "status": "stopped",
                "authoredOn": "2015-02-05",
                "medicationCodeableConcept": {
                    "text": "Acetaminophen 325 MG / Oxycodone Hydrochloride 5 MG Oral Tablet"
                },
            }
        ),
        other({"resourceType": "Claim", "id": "x"}),
    ]
    path = tmp_path / "ames.json"
    path.write_text(f'{{"resourceType": "Bundle", "entry": [{",".join(entries)}]}}')
    return path


def judge(operation: dict, bundle: Path, answer: str | None) -> str:
    return score(answer, gold_of(operation, bundle=bundle, today="2026-11-22"))


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        ("HbA1c 9.2 % on 7 Feb 2019 [1].", "correct"),
        ("The latest A1c is 9.2% (2019-02-07).", "correct"),
        ("Latest HbA1c: **9.2 %**, February 7th, 2019, up from 8.4 % on 5 Feb 2018.", "correct"),
        ("HbA1c was 8.4 % on 5 Feb 2018 and 9.2 % on 7 Feb 2019.", "wrong"),
        ("HbA1c 9 % on 7 Feb 2019.", "wrong"),
        ("HbA1c 9.20 % on 7 Feb 2019.", "wrong"),
        ("HbA1c 19.2 % on 7 Feb 2019.", "wrong"),
        ("HbA1c 9.2 % on 7 Feb 2018.", "wrong"),
        ("HbA1c 9.2 % on 17 Feb 2019.", "wrong"),
        ("HbA1c 9.2 on 7 Feb 2019.", "wrong"),
        ("9.2 % on 7 Feb 2019.", "wrong"),
        ("No HbA1c is recorded.", "wrong"),
        ("", "abstained"),
        (None, "abstained"),
        ("I cannot answer that from the record.", "abstained"),
    ],
)
def test_a_latest_reading_needs_its_own_figure_unit_and_date(
    bundle: Path, answer: str | None, outcome: str
) -> None:
    assert judge(A1C, bundle, answer) == outcome


@pytest.mark.parametrize(
    ("operation", "answer", "outcome"),
    [
        ({"op": "first"}, "First HbA1c: 7.10 % on 1 Feb 2016", "correct"),
        ({"op": "first"}, "First HbA1c: 7.10 % on 2 Feb 2016", "wrong"),
        ({"op": "first"}, "First HbA1c: 7.1 % on 1 Feb 2016", "wrong"),
        ({"op": "previous"}, "The HbA1c before was 8.4 % (5 Feb 2018)", "correct"),
        ({"op": "highest"}, "Highest HbA1c 9.2 % on 7 Feb 2019", "correct"),
        ({"op": "lowest"}, "Lowest HbA1c 9.2 % on 7 Feb 2019", "wrong"),
        ({"op": "average"}, "Mean HbA1c 8.15 % over 4 readings", "correct"),
        ({"op": "average"}, "Mean HbA1c 8.2 % over 4 readings", "correct"),
        ({"op": "average"}, "Mean HbA1c 8.1 % over 4 readings", "wrong"),
        ({"op": "count"}, "4 HbA1c readings are recorded.", "correct"),
        ({"op": "count"}, "Four HbA1c readings are recorded.", "correct"),
        ({"op": "count"}, "3 HbA1c readings, the last on 4 Feb 2019.", "wrong"),
        (
            {"op": "trend"},
            "HbA1c is rising: 9.2 % on 7 Feb 2019, before 8.4 % and 7.9 %.",
            "correct",
        ),
        (
            {"op": "trend"},
            "HbA1c is falling: 9.2 % on 7 Feb 2019, before 8.4 % and 7.9 %.",
            "wrong",
        ),
        ({"op": "trend"}, "HbA1c is rising to 9.2 % on 7 Feb 2019.", "wrong"),
        ({"op": "any", "cmp": ">", "value": "9"}, "Yes, HbA1c was 9.2 % on 7 Feb 2019.", "correct"),
        ({"op": "any", "cmp": ">", "value": "9"}, "Yes, HbA1c was above 9.", "wrong"),
        (
            {"op": "any", "cmp": ">", "value": "9"},
            "No, HbA1c was never above 9; highest 9.2 %.",
            "wrong",
        ),
        ({"op": "any", "cmp": ">", "value": "10"}, "No. The highest HbA1c is 9.2 %.", "correct"),
        ({"op": "any", "cmp": ">", "value": "10"}, "HbA1c was never above 10 %.", "correct"),
        ({"op": "any", "cmp": ">", "value": "10"}, "Yes, HbA1c was above 10 %.", "wrong"),
        ({"op": "readings", "year": 2017}, "HbA1c in 2017: 7.9 % on 3 Feb 2017", "correct"),
        ({"op": "readings", "year": 2017}, "No HbA1c recorded in 2017.", "wrong"),
        (
            {"op": "readings", "year": 2011},
            "No HbA1c is recorded in 2011; the first is of 1 Feb 2016.",
            "correct",
        ),
        ({"op": "readings", "last": 2}, "HbA1c 9.2 % (7 Feb 2019), 8.4 % (5 Feb 2018)", "correct"),
        ({"op": "readings", "last": 2}, "HbA1c 9.2 % (7 Feb 2019)", "wrong"),
        ({"op": "change"}, "HbA1c rose from 8.4 % (5 Feb 2018) to 9.2 % (7 Feb 2019).", "correct"),
        (
            {"op": "change", "from": "first"},
            "HbA1c rose from 8.4 % (5 Feb 2018) to 9.2 % (7 Feb 2019).",
            "wrong",
        ),
        ({"op": "when", "which": "first"}, "HbA1c was first measured on 1 Feb 2016.", "correct"),
        ({"op": "when"}, "The HbA1c was last measured on 1 Feb 2016.", "wrong"),
        ({"op": "when"}, "HbA1c: 1 Feb 2016, 3 Feb 2017, 5 Feb 2018, 7 Feb 2019.", "wrong"),
        ({"op": "when"}, "HbA1c last on 7 Feb 2019, first on 1 Feb 2016.", "correct"),
        (
            {"op": "readings", "year": 2017},
            "HbA1c: 7.10 %, 1 Feb 2016; 7.9 %, 3 Feb 2017.",
            "wrong",
        ),
        (
            {"op": "count"},
            "HbA1c is recorded.\nIt was 9.2 % after 8.4 %.\nSee 4 documents.",
            "wrong",
        ),
    ],
)
def test_each_operation_on_readings_tells_right_from_wrong(
    bundle: Path, operation: dict, answer: str, outcome: str
) -> None:
    assert judge({**A1C, **operation}, bundle, answer) == outcome


def test_two_values_entered_at_one_moment_are_both_the_latest(bundle: Path) -> None:
    potassium = {"op": "latest", "loinc": "6298-4"}
    assert judge(potassium, bundle, "Potassium 4.1 mmol/L on 7 Feb 2019") == "correct"
    assert judge(potassium, bundle, "Potassium 5.3 mEq/L on 7 Feb 2019") == "correct"


def test_a_pressure_needs_both_figures_and_a_component_only_its_own(bundle: Path) -> None:
    both = {"op": "latest", "loinc": "55284-4"}
    assert judge(both, bundle, "BP 148.50/91.0 mmHg on 2 Mar 2019") == "correct"
    assert judge(both, bundle, "BP 148.50 mmHg on 2 Mar 2019") == "wrong"
    systolic = {"op": "latest", "loinc": "8480-6"}
    assert judge(systolic, bundle, "Systolic 148.50 mmHg, 2 Mar 2019") == "correct"
    assert judge(systolic, bundle, "Systolic 91.0 mmHg, 2 Mar 2019") == "wrong"


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        ("No diabetes is recorded in the problem list; prediabetes is (1 Jan 2012).", "correct"),
        ("Diabetes: not found in the record.", "correct"),
        ("The record holds no entry of diabetes.", "correct"),
        ("No, she does not have diabetes.", "wrong"),
        ("Yes, diabetes is recorded.", "wrong"),
        ("Prediabetes, since 1 Jan 2012.", "wrong"),
    ],
)
def test_what_is_not_recorded_must_be_said_to_be_not_recorded(
    bundle: Path, answer: str, outcome: str
) -> None:
    asked = {"op": "has", "resource": "Condition", "text": r"\bdiabetes\b", "about": ["diabetes"]}
    assert judge(asked, bundle, answer) == outcome


@pytest.mark.parametrize(
    ("ever", "answer", "outcome"),
    [
        (False, "Anemia is recorded as resolved (1 Jan 2010 to 1 Jan 2011).", "correct"),
        (False, "Not at present: anemia resolved on 1 Jan 2011.", "correct"),
        (False, "Yes, anemia.", "wrong"),
        (True, "Yes: anemia, 1 Jan 2010.", "correct"),
        (True, "No anemia is recorded.", "wrong"),
    ],
)
def test_a_resolved_problem_is_past_unless_ever_was_asked(
    bundle: Path, *, ever: bool, answer: str, outcome: str
) -> None:
    asked = {
        "op": "has",
        "resource": "Condition",
        "text": "anemia",
        "about": ["anemia"],
        "ever": ever,
    }
    assert judge(asked, bundle, answer) == outcome


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        ("1 active medicine: metformin 500 mg.", "correct"),
        (
            "Active: Metformin.\nStopped:\n- Acetaminophen 325 MG / Oxycodone Hydrochloride 5 MG Oral Tablet",
            "correct",
        ),
        ("Metformin; Acetaminophen 325 MG / Oxycodone Hydrochloride 5 MG Oral Tablet.", "wrong"),
        ("No active medicines are recorded.", "wrong"),
    ],
)
def test_a_list_of_active_medicines_has_all_of_them_and_no_stopped_one(
    bundle: Path, answer: str, outcome: str
) -> None:
    asked = {"op": "list", "resource": "MedicationRequest", "status": "active"}
    assert judge(asked, bundle, answer) == outcome


def test_a_combination_is_named_by_all_of_its_ingredients(bundle: Path) -> None:
    asked = {"op": "list", "resource": "MedicationRequest", "status": "ended"}
    assert judge(asked, bundle, "Stopped: oxycodone with acetaminophen") == "correct"
    assert judge(asked, bundle, "Stopped: oxycodone") == "wrong"


def test_a_double_question_needs_both_halves_even_when_one_is_silent(bundle: Path) -> None:
    asked = {
        "op": "both",
        "of": [
            A1C,
            {"op": "absent", "resource": "Observation", "text": "ferritin", "about": ["ferritin"]},
        ],
    }
    right = "HbA1c 9.2 % on 7 Feb 2019.\nNo ferritin is recorded."
    assert judge(asked, bundle, right) == "correct"
    assert judge(asked, bundle, "HbA1c 9.2 % on 7 Feb 2019.") == "wrong"
    assert judge(asked, bundle, "No ferritin is recorded.") == "wrong"


@pytest.mark.parametrize(
    ("field", "answer", "outcome"),
    [
        ("age", "66 years (born 15 Jun 1960)", "correct"),
        ("age", "58 years at the last entry", "correct"),
        ("age", "67 years", "wrong"),
        ("birth_date", "15 June 1960", "correct"),
        ("sex", "Female", "correct"),
        ("sex", "Male", "wrong"),
        ("deceased", "No date of death is recorded.", "correct"),
    ],
)
def test_demographics(bundle: Path, field: str, answer: str, outcome: str) -> None:
    assert judge({"op": "demographic", "field": field}, bundle, answer) == outcome


def test_an_absent_gold_that_selects_something_is_refused(bundle: Path) -> None:
    with pytest.raises(InvalidArgument):
        gold_of({"op": "absent", "loinc": "4548-4"}, bundle=bundle)


def test_figures_and_dates_stay_as_written(bundle: Path) -> None:
    first = select({"loinc": "4548-4"}, chart=read_chart(bundle))[0]
    assert (first.figure, first.day) == ("7.10", "2016-02-01")


def test_recall_counts_a_fact_when_one_line_holds_its_figure_and_date(bundle: Path) -> None:
    gold = gold_of({**A1C, "op": "change"}, bundle=bundle)
    assert recall(gold, "HbA1c 8.4 %, 2018-02-05\nHbA1c 9.2 %, 7 Feb 2019") == 1.0
    assert recall(gold, "HbA1c 8.4 %, 2018-02-05\nHbA1c 9.2 %\n7 Feb 2019") == 0.5
    assert recall(Gold(kind="absent", absent=True), "anything") is None


def test_fetching_everything_renders_every_clinical_entry_and_no_bill(bundle: Path) -> None:
    chart = read_chart(bundle)
    lines = render_all(chart.entries).splitlines()
    assert len(lines) == 11
    assert not any("Claim" in line for line in lines)
    assert fetch_all_tokens(chart, count=len) == sum(len(line) + 1 for line in lines)
    assert fetch_all_tokens(chart) > 100


# ---- the set itself


def right_answer(gold: Gold) -> str:
    """The plainest answer that states what the gold asks for."""
    if gold.parts:
        return "\n".join(right_answer(part) for part in gold.parts)
    subject = gold.about[0] if gold.about else ""
    if gold.absent:
        return f"No {subject} is recorded."
    head = {"yes": "Yes. ", "no": "No. ", "past": "In the past, resolved: ", None: ""}[
        gold.polarity
    ]
    stated = [*gold.together, *gold.must, *gold.enough[1]]
    return f"{head}{subject} " + ", ".join(
        expect.any_of[0].replace(" & ", " ") for expect in stated
    )


def mutated(gold: Gold) -> Gold:
    """Another patient's gold: each expected figure, day or word is off by a little."""

    def off(expect: Expect) -> Expect:
        wrong = {"figure": "3{0}", "words": "un{0}", "count": "4{0}", "day": "{0}"}[expect.kind]
        forms = tuple(wrong.format(form) for form in expect.any_of)
        if expect.kind == "day":
            forms = tuple(
                str(int(form[:4]) - 1) + form[4:].replace("02-29", "02-28") for form in forms
            )
        return Expect(kind=expect.kind, any_of=forms)

    from dataclasses import replace

    return replace(
        gold,
        must=tuple(map(off, gold.must)),
        together=tuple(map(off, gold.together)),
        enough=(gold.enough[0], tuple(map(off, gold.enough[1]))),
        parts=tuple(map(mutated, gold.parts)),
        absent=False,
        polarity={"yes": "no", "no": "yes", "past": "yes", None: None}[gold.polarity],
    )


def test_the_set_is_large_varied_and_split() -> None:
    asked = questions()
    closed = [question for question in asked if question.kind != "open"]
    assert len(closed) >= 450
    assert len({question.id for question in asked}) == len(asked)
    assert len({question.patient for question in asked}) == 44
    dev = sum(question.split == "dev" for question in asked) / len(asked)
    assert 0.5 < dev < 0.7
    assert split_of("p-001") == split_of("p-001")


@pytest.mark.slow
def test_every_question_has_a_gold_that_tells_a_right_answer_from_a_wrong_one(
    shared_data: Path,
) -> None:
    folder = shared_data / "records" / "synthea_r4"
    charts = {name: read_chart(folder / name) for name in {q.patient for q in questions()}}
    failed = []
    for question in questions():
        gold = compute(question.gold, chart=charts[question.patient])
        if question.kind == "open":
            assert gold.facts, question.id
            continue
        assert (question.kind == "absent") == gold.absent, question.id
        right = score(right_answer(gold), gold)
        wrong = score(right_answer(mutated(gold)), gold)
        if right != "correct" or wrong == "correct":
            failed.append((question.id, question.question, right, wrong))
    assert failed == []
