"""What a briefing must not hide, and must not say: one input for each slip that was mended."""

from __future__ import annotations

import json

import pytest

from bedside.flows.briefing.findings import Cited, Flag
from bedside.flows.briefing.fitting import Reader, fits
from bedside.flows.briefing.phrases import called, inside
from bedside.flows.briefing.rules import actions_of

from .conftest import briefed, imported
from .test_rules import ago, born, flag, lab, medicine, of


def rules_of(turn: dict) -> list[str]:
    return [one["rule"] for one in turn["briefing"]["flags"]]


def problem(name: str, days: int = 300) -> dict:
    return {"name": name, "onset": ago(days)}


def panel(tmp_path, parts: list[tuple[str, str, float, str]], *conditions: str) -> dict:
    """The turn of a FHIR patient with one observation of these components (LOINC, name, value, unit)."""
    entries = [
        {"resourceType": "Patient", "id": "f1", "gender": "male", "birthDate": born(60),
         "name": [{"text": "Panel Person"}]},
        *(
            {"resourceType": "Condition", "id": f"c{k}", "subject": {"reference": "Patient/f1"},
             "clinicalStatus": {"coding": [{"code": "active"}]}, "code": {"text": name},
             "onsetDateTime": ago(900)}
            for k, name in enumerate(conditions)
        ),
        {"resourceType": "Observation", "id": "o1", "status": "final",
         "subject": {"reference": "Patient/f1"}, "effectiveDateTime": f"{ago(3)}T08:00:00Z",
         "category": [{"coding": [{"code": "laboratory"}]}], "code": {"text": "Chemistry panel"},
         "component": [
             {"code": {"coding": [{"system": "http://loinc.org", "code": code}], "text": name},
              "valueQuantity": {"value": value, "unit": unit}}
             for code, name, value, unit in parts
         ]},
    ]  # fmt: skip
    bundle = {
        "resourceType": "Bundle",
        "type": "collection",
        "entry": [{"resource": one} for one in entries],
    }
    path = tmp_path / "bundle.json"
    path.write_text(json.dumps(bundle), encoding="utf-8")
    imported(tmp_path / "fhir", path)
    return briefed(tmp_path / "fhir", "f1")


POTASSIUM = ("2823-3", "Potassium", 6.9, "mmol/L")
CREATININE = ("2160-0", "Creatinine", 7.0, "mg/dL")
CREATININE_DOUBTED = ("2160-0", "Creatinine", 9.0, "mg/dL")


# ---- results of one entry


@pytest.mark.requirement("BR-09")
@pytest.mark.parametrize("creatinine", [CREATININE, CREATININE_DOUBTED])
@pytest.mark.parametrize("conditions", [(), ("Dependence on hemodialysis",)])
def test_a_critical_potassium_is_not_lost_to_a_creatinine_of_the_same_entry(
    tmp_path, creatinine, conditions
):
    turn = panel(tmp_path, [POTASSIUM, creatinine], *conditions)
    grave = [one for one in turn["briefing"]["flags"] if one["severity"] == "critical"]
    found = [one for one in grave if "6.9 mmol/L" in one["description"]]
    assert [one["title"] for one in found] == ["Potassium critically high"]
    shown = [one["description"] for one in turn["briefing"]["flags"]]
    assert any(f"{creatinine[2]} mg/dL" in one for one in shown)


# ---- dialysis


@pytest.mark.requirement("BR-09")
@pytest.mark.parametrize(
    "name",
    [
        "Chronic kidney disease stage 5, not on dialysis",
        "Dialysis declined",
        "Patient declines dialysis",
        "Pre-dialysis education",
        "Chronic kidney disease stage 5 without dialysis",
        "Non-dialysis-dependent chronic kidney disease",
        "Dialysis (refused)",
        "Dialysis not yet started",
        "End-stage renal disease not yet on dialysis",
        "Awaiting start of dialysis",
        "Never on maintenance dialysis",
        "Planned for dialysis",
    ],
)
def test_dialysis_that_is_only_named_excuses_no_creatinine(tmp_path, name):
    turn = of(
        tmp_path,
        birth_date=born(65),
        conditions=[problem(name)],
        medications=[medicine("Fenofibrate 145 mg tablet")],
        labs=[lab("Creatinine", 8.1, "mg/dL", low=0.7, high=1.3)],
    )
    assert "Expected on dialysis" not in turn["answer"]
    assert flag(turn, "abnormal-now")["severity"] == "critical"
    found = flag(turn, "fenofibrate-renal")
    assert found["severity"] == "critical"
    assert "CKD-EPI 2021" in found["description"]


@pytest.mark.parametrize(
    "name",
    [
        "Hemodialysis, three times a week",
        "History of end-stage renal disease, on dialysis",
        "End-stage renal disease on dialysis - not on the transplant list",
        "Noncompliance with renal dialysis",
        "Non-compliance with renal dialysis",
        "Non-adherence to hemodialysis",
        "Awaiting kidney transplant, on hemodialysis",
        "Awaiting kidney transplant on hemodialysis",
        "Not a transplant candidate, on hemodialysis",
        "Not a transplant candidate on hemodialysis",
        "Pre-transplant hemodialysis",
        "Dependence on renal dialysis (planned transplant)",
    ],
)
def test_dialysis_that_replaces_the_kidneys_is_read_beside_other_words(tmp_path, name):
    turn = of(
        tmp_path,
        birth_date=born(65),
        conditions=[problem(name)],
        labs=[lab("Creatinine", 8.1, "mg/dL", low=0.7, high=1.3)],
    )
    assert "Expected on dialysis" in turn["answer"]
    assert "CKD-EPI" not in turn["answer"]


@pytest.mark.requirement("BR-09")
@pytest.mark.parametrize(
    ("labs", "said"),
    [
        ([("eGFR", 7, "mL/min/1.73m2", 40), ("Creatinine", 8.1, "mg/dL", 3)], "eGFR is 7"),
        ([("Creatinine", 8.1, "mg/dL", 3)], "read as below 15"),
        ([("eGFR", 88, "mL/min/1.73m2", 3000)], "read as below 15"),
        ([], "read as below 15"),
    ],
)
def test_on_dialysis_medicines_are_held_against_failed_kidneys(tmp_path, labs, said):
    turn = of(
        tmp_path,
        birth_date=born(65),
        conditions=[problem("Dependence on hemodialysis", 1400)],
        medications=[medicine("Fenofibrate 145 mg tablet"), medicine("Gabapentin 300 mg capsule")],
        labs=[lab(name, value, unit, days) for name, value, unit, days in labs],
    )
    assert flag(turn, "fenofibrate-renal")["severity"] == "critical"
    assert flag(turn, "gabapentin-renal")["severity"] == "warning"
    assert said in flag(turn, "fenofibrate-renal")["description"]
    assert turn["removed"] == []
    assert "none could be computed" not in turn["answer"]


@pytest.mark.requirement("BR-09")
@pytest.mark.parametrize(("rate", "said"), [(55, "read as below 15"), (28, "is 28")])
def test_on_dialysis_a_fresh_rate_that_is_higher_excuses_no_metformin(tmp_path, rate, said):
    turn = of(
        tmp_path,
        birth_date=born(65),
        conditions=[problem("Dependence on hemodialysis", 1400)],
        medications=[medicine("Metformin 1000 mg tablet")],
        labs=[lab("eGFR", rate, "mL/min/1.73m2", 3)],
    )
    found = flag(turn, "metformin-egfr-30")
    assert found["severity"] == "critical"
    assert said in found["description"]


@pytest.mark.requirement("BR-09")
@pytest.mark.parametrize(
    ("rate", "comparator", "rules"),
    [
        (15, "<", {"gabapentin-renal", "metformin-egfr-30"}),
        (30, "<", {"gabapentin-renal", "metformin-egfr-30"}),
        (30, "<=", {"gabapentin-renal", "metformin-egfr-45"}),
        (15, ">", set()),
        (60, ">", set()),
        (60, ">=", set()),
    ],
)
def test_a_rate_recorded_as_below_or_above_a_figure_counts_on_its_side(
    tmp_path, rate, comparator, rules
):
    measured = {"value": rate, "unit": "mL/min/1.73m2", "comparator": comparator}
    about = {"subject": {"reference": "Patient/f1"}}
    entries = [
        {"resourceType": "Patient", "id": "f1", "gender": "male", "birthDate": born(60)},
        {"resourceType": "Observation", "id": "o1", "status": "final", **about,
         "effectiveDateTime": f"{ago(3)}T08:00:00Z", "valueQuantity": measured,
         "code": {"coding": [{"system": "http://loinc.org", "code": "98979-8"}], "text": "eGFR"}},
        *(
            {"resourceType": "MedicationStatement", "id": f"m{k}", "status": "active", **about,
             "effectiveDateTime": ago(30), "medicationCodeableConcept": {"text": name}}
            for k, name in enumerate(("Metformin 500 mg tablet", "Gabapentin 300 mg capsule"))
        ),
    ]  # fmt: skip
    path = tmp_path / "bundle.json"
    bundle = {"resourceType": "Bundle", "type": "collection"}
    path.write_text(json.dumps({**bundle, "entry": [{"resource": one} for one in entries]}))
    imported(tmp_path / "fhir", path)
    turn = briefed(tmp_path / "fhir", "f1")
    assert {one for one in rules_of(turn) if "renal" in one or "egfr" in one} == rules
    for rule in rules:
        assert f"{comparator}{rate} mL/min" in flag(turn, rule)["description"]
    assert "none could be computed" not in turn["answer"]


def test_a_rate_recorded_before_a_creatinine_in_pregnancy_is_not_thrown_away(tmp_path):
    turn = of(
        tmp_path,
        birth_date=born(35),
        conditions=[problem("Pregnancy", 100)],
        medications=[medicine("Gabapentin 300 mg capsule")],
        labs=[lab("eGFR", 22, "mL/min/1.73m2", 30), lab("Creatinine", 2.9, "mg/dL", 3)],
    )
    assert "eGFR is 22" in flag(turn, "gabapentin-renal")["description"]


# ---- pregnancy in the name of a problem


@pytest.mark.requirement("BR-09")
@pytest.mark.parametrize(
    ("name", "drug", "rule", "severity", "title"),
    [
        ("Deep vein thrombosis in pregnancy", "Estradiol 2 mg tablet", "estrogen-thrombosis",
         "critical", "Estradiol and deep vein thrombosis in pregnancy"),
        ("Asthma in pregnancy", "Propranolol 40 mg tablet", "beta-blocker-asthma",
         "warning", "Propranolol and asthma in pregnancy"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("days", [100, 330])
def test_an_illness_of_a_pregnancy_outlasts_it_and_keeps_its_name(
    tmp_path, name, drug, rule, severity, title, days
):
    turn = of(
        tmp_path,
        birth_date=born(34),
        conditions=[problem(name, days)],
        medications=[medicine(drug)],
    )
    assert flag(turn, rule)["severity"] == severity
    assert flag(turn, rule)["title"] == title


@pytest.mark.requirement("BR-09")
@pytest.mark.parametrize(
    ("name", "pregnant"),
    [
        ("Not pregnant", False),
        ("Not currently pregnant", False),
        ("Pregnancy test negative", False),
        ("Negative pregnancy test", False),
        ("Pregnancy: negative", False),
        ("Pregnant", True),
        ("Pregnancy, rhesus negative", True),
        ("Rhesus negative pregnancy", True),
        ("Supervision of pregnancy with history of infertility", True),
        ("Supervision of pregnancy with history of ectopic pregnancy", True),
        ("History of molar pregnancy", False),
        ("Pregnancy noted on ultrasound", True),
        ("Pregnancy test positive", True),
        ("Hypertension not controlled in pregnancy", True),
    ],
)
def test_a_pregnancy_that_is_denied_is_none_and_a_rhesus_factor_denies_none(
    tmp_path, name, pregnant
):
    turn = of(
        tmp_path,
        birth_date=born(34),
        conditions=[problem(name, 60)],
        medications=[medicine("Lisinopril 10 mg tablet")],
    )
    assert ("raas-pregnancy" in rules_of(turn)) is pregnant


# ---- the goal of HbA1c


@pytest.mark.requirement("BR-09")
@pytest.mark.parametrize(
    ("name", "value", "goal"),
    [
        ("Type 2 diabetes mellitus", 6.9, True),
        ("Non-insulin-dependent diabetes mellitus", 6.9, True),
        ("Type 2 diabetes mellitus without complication", 6.9, True),
        ("Type 2 diabetes mellitus", 3.2, False),
        ("Pre-diabetes", 6.9, False),
        ("Pre diabetes", 6.9, False),
        ("Family history of diabetes", 6.9, False),
        ("Diabetes insipidus", 6.9, False),
        ("No evidence of diabetes", 6.9, False),
    ],
)
def test_only_a_high_hba1c_of_diabetes_mellitus_is_held_against_its_goal(
    tmp_path, name, value, goal
):
    turn = of(
        tmp_path,
        conditions=[problem(name, 900)],
        labs=[lab("Hemoglobin A1c", value, "%", low=4.0, high=5.6)],
    )
    found = flag(turn, "abnormal-now")
    assert (found["severity"] == "info") is goal
    assert ("a goal for many adults" in found["description"]) is goal


# ---- guidance against an allergy or a result


@pytest.mark.parametrize(
    ("said", "right"),
    [
        ("Lower the blood pressure and give amoxicillin 500 mg", False),
        ("Do not stop amoxicillin", False),
        ("Never stop amoxicillin early", False),
        ("Don\u2019t withhold amoxicillin", False),
        ("Stop ibuprofen and give amoxicillin 500 mg", False),
        ("Stop smoking; give amoxicillin 500 mg", False),
        ("Avoid ibuprofen, amoxicillin is preferred", False),
        ("Amoxicillin should not be stopped", False),
        ("Reduce the fever and start amoxicillin", False),
        ("Give amoxicillin with caution", False),
        ("Avoid amoxicillin, and give ampicillin 500 mg", False),
        ("Stop amoxicillin", True),
        ("Stop ibuprofen and amoxicillin", True),
        ("Avoid the use of amoxicillin in mononucleosis", True),
        ("Amoxicillin is contraindicated in mononucleosis", True),
        ("Amoxicillin and ibuprofen should be avoided", True),
        ("Measure the temperature", True),
    ],
)
def test_a_stop_word_must_govern_the_medicine_that_the_record_speaks_against(said, right):
    reader = Reader(age=65, sex="male", pregnant=False, allergies=("Penicillin",))
    assert fits("Pharyngitis > Drug", said, reader) is right


# ---- words


@pytest.mark.parametrize(
    ("entry", "name"),
    [
        ("Tablet Daonil 5 mg", "daonil"),
        ("Oral Daonil", "daonil"),
        ("Injection Daonil", "daonil"),
        ("Daonil 5 mg tablet", "daonil"),
        ("Film-coated tablet Daonil", "daonil"),
        ("Tablet", "glyburide"),
        ("Tablet glyburide 5 mg", "glyburide"),
    ],
)
def test_a_medicine_is_called_by_no_word_for_its_form(entry, name):
    assert called(entry, "glyburide") == name


def test_a_low_glucose_names_the_medicine_and_not_its_form(tmp_path):
    turn = of(
        tmp_path,
        birth_date=born(70),
        conditions=[problem("Type 2 diabetes mellitus", 900)],
        medications=[medicine("Tablet Daonil 5 mg")],
        labs=[lab("Glucose", 52, "mg/dL")],
    )
    options = [one["text"] for one in turn["briefing"]["suggested_actions"]]
    assert any("reviewing daonil against glucose" in one for one in options), options
    assert not any("reviewing tablet" in one for one in options)


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("HbA1c", "HbA1c"),
        ("PaO2", "PaO2"),
        ("D-dimer", "D-dimer"),
        ("C-reactive protein", "C-reactive protein"),
        ("LDL cholesterol", "LDL cholesterol"),
        ("Vitamin D", "vitamin D"),
        ("Non-HDL cholesterol", "non-HDL cholesterol"),
        ("Ionized calcium", "ionized calcium"),
    ],
)
def test_a_name_inside_a_sentence_keeps_the_capitals_of_its_abbreviation(name, shown):
    assert inside(name) == shown


def asking(title: str, text: str) -> Flag:
    return Flag(
        category="labs",
        severity="warning",
        title=title,
        description=(Cited(text=title),),
        rule=title,
        action=Cited(text=text),
        weight=1.0,
    )


@pytest.mark.parametrize(
    ("due", "repeated", "kept"),
    [
        ("Consider measuring ionized calcium", "Calcium", True),
        ("Consider measuring hemoglobin A1c and potassium", "Hemoglobin", True),
        ("Consider measuring sodium, calcium and potassium", "Calcium", False),
        ("Consider measuring hemoglobin A1c and potassium", "Potassium", False),
        (
            "Consider same-day review of calcium, and repeating it; last measured today",
            "Calcium",
            False,
        ),
    ],
)
def test_a_repeat_is_left_out_only_where_that_very_measurement_is_due(due, repeated, kept):
    flags = [
        asking("due", due),
        asking("old", f"Consider repeating {repeated}, last measured 3 Nov 2020"),
    ]
    texts = [one.text.text for one in actions_of(flags)]
    assert any(one.startswith(f"Consider repeating {repeated},") for one in texts) is kept


@pytest.mark.requirement("BR-09")
@pytest.mark.parametrize(
    ("conditions", "labs", "said"),
    [
        (["Dependence on hemodialysis"], [], "read as below 15"),
        ([], [lab("Creatinine", 4.1, "mg/dL", low=0.7, high=1.3)], "CKD-EPI 2021"),
    ],
)
def test_a_rate_that_no_result_says_is_held_against_metformin_and_naproxen(
    tmp_path, conditions, labs, said
):
    turn = of(
        tmp_path,
        birth_date=born(65),
        conditions=[problem(name) for name in conditions],
        medications=[medicine("Metformin 1000 mg tablet"), medicine("Naproxen 500 mg tablet")],
        labs=labs,
    )
    for rule in ("metformin-egfr-30", "nsaid-egfr"):
        found = flag(turn, rule)
        assert found["severity"] == "critical"
        assert said in found["description"]
