"""Measurements are recognised in questions and in records."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bedside.clinical import analytes as module
from bedside.clinical.analytes import analyte, analyte_of, analytes, find_analytes, panel, panels
from bedside.core.errors import NotFound


def asked(text: str) -> list[str]:
    return [m.panel or m.keys[0] for m in find_analytes(text, repair=True)]


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("what's her a1c", ["hba1c"]),
        ("hgba1c trend since 2015", ["hba1c"]),
        ("glycated haemoglobin?", ["hba1c"]),
        ("latest sugar", ["glycemia"]),
        ("fasting blood sugar", ["fasting_glucose"]),
        ("kidney function", ["renal"]),
        ("renal funtion", ["renal"]),
        ("cholesterol", ["lipids"]),
        ("LDL and HDL", ["ldl", "hdl"]),
        ("bp today", ["blood_pressure"]),
        ("systolic over the years", ["systolic_bp"]),
        ("weight and BMI", ["weight", "bmi"]),
        ("was K ever above 5?", ["potassium"]),
        ("Na and K please", ["sodium", "potassium"]),
        ("is the potasium high", ["potassium"]),
        ("creatinin, eGFR", ["creatinine", "egfr"]),
        ("hemoglobn", ["hemoglobin"]),
        ("white count and plts", ["wbc", "platelets"]),
        ("LFTs", ["liver"]),
        ("u&es", ["urea_electrolytes"]),
        ("does he smoke", ["smoking"]),
        ("vitamin D", ["vitamin_d"]),
        ("O2 sats on air", ["oxygen_saturation"]),
        ("microalbumin", ["acr"]),
        ("ejection fraction", ["lvef"]),
        ("thyroid function", ["thyroid"]),
        ("tryglycerides", ["triglycerides"]),
        ("how is the pain score", ["pain"]),
        ("cbc and cmp", ["cbc", "cmp"]),
        ("urine dip", ["urinalysis"]),
        ("gluc trend", ["glucose"]),
        ("the last three A1cs", ["hba1c"]),
        ("last four CO2s?", ["bicarbonate"]),
        ("most recent Ca", ["calcium"]),
        ("bone density T-score", ["dxa_t_score"]),
    ],
)
def test_questions_name_their_measurements(question, names):
    assert asked(question) == names


@pytest.mark.parametrize(
    "question",
    [
        "does she have chronic kidney disease",
        "any kidney stones",
        "is he on blood pressure medication",
        "does she have high blood pressure",
        "history of high cholesterol?",
        "is he on naproxen sodium",
        "penicillin V potassium 250 mg",
        "any iron tablets",
        "underactive thyroid?",
        "had a cat scan",
        "what did he say",
        "",
    ],
)
def test_conditions_and_medicines_are_not_measurements(question):
    assert asked(question) == []


def test_everyday_words_are_marked_weak():
    marks = {m.text: m.weak for m in find_analytes("how much does he weigh; kidneys; creatinine")}
    assert marks == {"weigh": True, "kidneys": True, "creatinine": False}


def test_misspellings_are_marked():
    assert [m.exact for m in find_analytes("potasium and sodium")] == [False, True]


def test_urea_and_urea_nitrogen_bring_each_other():
    assert find_analytes("urea")[0].keys == ("urea", "bun")
    assert find_analytes("BUN")[0].keys == ("bun", "urea")
    assert find_analytes("urea")[0].panel == ""


def test_mentions_carry_exact_places():
    text = "Hb, MCV & ferritin?"
    assert [text[m.start : m.end] for m in find_analytes(text)] == ["Hb", "MCV", "ferritin"]


def test_codes_of_the_sample_records_are_known(shared_data: Path):
    unknown = set()
    for path in sorted((shared_data / "records" / "synthea_r4").glob("*.json")):
        for entry in json.loads(path.read_text(encoding="utf-8"))["entry"]:
            resource = entry["resource"]
            if resource["resourceType"] != "Observation":
                continue
            for item in (resource, *resource.get("component", [])):
                code = item["code"]["coding"][0]["code"]
                if analyte_of(loinc=code) is None and panel(code) is None:
                    unknown.add(code)
    assert unknown == set()


def test_blood_names_of_the_sample_records_lead_to_their_codes(shared_data: Path):
    wrong = set()
    for path in sorted((shared_data / "records" / "synthea_r4").glob("*.json"))[:20]:
        for entry in json.loads(path.read_text(encoding="utf-8"))["entry"]:
            resource = entry["resource"]
            if resource["resourceType"] == "Observation":
                coding = resource["code"]["coding"][0]
                by_name = analyte_of(name=coding["display"])
                if by_name is not None and by_name != analyte_of(loinc=coding["code"]):
                    wrong.add(coding["display"])
    assert wrong == set()


def test_a_urine_or_stool_name_never_passes_for_the_blood_one():
    assert analyte_of(name="Glucose [Mass/volume] in Urine") is None
    found = analyte_of(name="Glucose [Presence] in Urine by Test strip")
    assert found is not None
    assert found.key == "urine_glucose"


def check_digit(code: str) -> bool:
    """LOINC codes end in a mod 10 check digit (LOINC Users' Guide, appendix)."""
    number, digit = code.split("-")
    total = 0
    for place, char in enumerate(reversed(number)):
        doubled = int(char) * (2 if place % 2 == 0 else 1)
        total += doubled // 10 + doubled % 10
    return (10 - total % 10) % 10 == int(digit)


def test_codes_are_well_formed_and_belong_to_one_analyte():
    seen: dict[str, str] = {}
    for item in analytes():
        for code in item.loinc:
            assert check_digit(code), (item.key, code)
            assert code not in seen, (item.key, seen.get(code), code)
            seen[code] = item.key
    assert len(seen) >= 200


def test_names_belong_to_one_analyte_or_panel():
    owners: dict[str, set[object]] = {}
    for phrase, target in module._phrases():
        owners.setdefault(phrase.casefold(), set()).add((target.keys, target.panel))
    assert {phrase: who for phrase, who in owners.items() if len(who) > 1} == {}


def test_the_table_is_large_and_panels_name_known_analytes():
    keys = {item.key for item in analytes()}
    assert len(keys) >= 70
    assert len(panels()) >= 15
    for item in panels():
        assert set(item.of) <= keys


def test_panels_by_key_name_and_code():
    lipids = panel("lipids")
    assert lipids is not None
    assert lipids.of[:4] == ("total_cholesterol", "ldl", "hdl", "triglycerides")
    assert panel("lipid profile") == lipids
    pressure = panel("55284-4")
    assert pressure is not None
    assert pressure.key == "blood_pressure"
    assert panel("sodium") is None


def test_an_unknown_key_is_an_error_and_an_unknown_name_is_none():
    with pytest.raises(NotFound):
        analyte("zzyzx")
    assert analyte_of(name="zzyzx") is None
    assert analyte_of(loinc="0-0") is None
