"""Insights by rule: each case is made by hand, its expected outcome read from the rule's source."""

from __future__ import annotations

from datetime import date

import pytest

from bedside.record.insights import changes, priorities

PATIENT = {
    "resourceType": "Patient",
    "id": "p1",
    "name": [{"text": "Ada Example"}],
    "gender": "female",
    "birthDate": "1960-03-04",
}


def state(code):
    return {"coding": [{"code": code}]}


def lab(ident, name, figure, unit, day="2026-11-02", loinc="", low=None, high=None, flag=None):
    found = {
        "resourceType": "Observation",
        "id": ident,
        "status": "final",
        "category": [{"coding": [{"code": "laboratory"}]}],
        "code": {
            "text": name,
            "coding": [{"system": "http://loinc.org", "code": loinc}] if loinc else [],
        },
        "subject": {"reference": "Patient/p1"},
        "effectiveDateTime": day,
        "valueQuantity": {"value": figure, "unit": unit},
    }
    limits = {k: {"value": v} for k, v in (("low", low), ("high", high)) if v is not None}
    if limits:
        found["referenceRange"] = [limits]
    if flag:
        found["interpretation"] = [state(flag)]
    return found


def drug(ident, name, since="2020-01-01", status="active"):
    return {
        "resourceType": "MedicationRequest",
        "id": ident,
        "status": status,
        "subject": {"reference": "Patient/p1"},
        "medicationCodeableConcept": {"text": name},
        "authoredOn": since,
    }


def problem(ident, name, since="2015-01-01", status="active", end=None):
    found = {
        "resourceType": "Condition",
        "id": ident,
        "clinicalStatus": state(status),
        "subject": {"reference": "Patient/p1"},
        "code": {"text": name},
        "onsetDateTime": since,
    }
    return {**found, **({"abatementDateTime": end} if end else {})}


def visit(ident, day):
    return {
        "resourceType": "Encounter",
        "id": ident,
        "status": "finished",
        "class": {"code": "AMB"},
        "subject": {"reference": "Patient/p1"},
        "period": {"start": day},
    }


def allergy(ident, name):
    return {
        "resourceType": "AllergyIntolerance",
        "id": ident,
        "clinicalStatus": state("active"),
        "patient": {"reference": "Patient/p1"},
        "code": {"text": name},
        "recordedDate": "2018-01-01",
    }


@pytest.fixture
def insights(take, ask):
    def run(*resources, as_of=date(2026, 11, 22), patient=PATIENT):
        take(patient, *resources)
        return ask("p1", "insights", as_of=as_of)

    return run


def shown(record, kind):
    return [(item.severity, item.title) for item in record.insights if item.kind == kind]


@pytest.mark.requirement("CO-13")
@pytest.mark.parametrize(
    ("reading", "want"),
    [
        # the laboratory's own range wins over any pack (its 4.5-6.0 calls 5.8 normal)
        (lab("o", "Potassium", 5.8, "mmol/L", loinc="6298-4", low=4.5, high=6.0), []),
        (
            lab("o", "Potassium", 5.8, "mmol/L", loinc="6298-4", low=3.5, high=5.0),
            [("warning", "Potassium high: 5.8 mmol/L")],
        ),
        # the laboratory's own flag wins over its own range
        (
            lab("o", "Potassium", 4.0, "mmol/L", loinc="6298-4", low=3.5, high=5.0, flag="H"),
            [("warning", "Potassium high: 4.0 mmol/L")],
        ),
        (
            lab("o", "Potassium", 2.4, "mmol/L", loinc="6298-4", flag="LL"),
            [("critical", "Potassium critically low: 2.4 mmol/L")],
        ),
        # beyond the pack's critical limit (6.1, ARUP) though the report's range only says high
        (
            lab("o", "Potassium", 6.9, "mmol/L", loinc="6298-4", low=3.5, high=5.0),
            [("critical", "Potassium critically high: 6.9 mmol/L")],
        ),
        # no range in the record: the pack's (ABIM 3.5-5.0)
        (
            lab("o", "Potassium", 5.5, "mmol/L", loinc="6298-4"),
            [("warning", "Potassium high: 5.5 mmol/L")],
        ),
        (lab("o", "Potassium", 4.2, "mmol/L", loinc="6298-4"), []),
        # a unit that the range does not know is not compared; nor is an unknown analyte
        (lab("o", "Potassium", 900, "bananas", loinc="6298-4"), []),
        (lab("o", "Strange new marker", 900, "mmol/L"), []),
        # a stale value is only information
        (
            lab(
                "o", "Potassium", 5.8, "mmol/L", day="2019-01-01", loinc="6298-4", low=3.5, high=5.0
            ),
            [("info", "Potassium high: 5.8 mmol/L")],
        ),
    ],
)
def test_abnormal_now_goes_by_the_laboratory_first_and_the_pack_else(insights, reading, want):
    assert shown(insights(reading), "abnormal") == want


def test_only_the_latest_reading_counts_as_now(insights):
    record = insights(
        lab("a", "Potassium", 6.0, "mmol/L", day="2026-01-01", low=3.5, high=5.0),
        lab("b", "Potassium", 4.0, "mmol/L", day="2026-10-01", low=3.5, high=5.0),
    )

    assert shown(record, "abnormal") == []


def test_a_fallback_range_says_that_it_is_one(insights):
    record = insights(lab("o", "Potassium", 5.5, "mmol/L", loinc="6298-4"))

    assert "the record brings no range; fallback range" in record.insights[0].text
    assert "not clinically reviewed" in record.insights[0].text


@pytest.mark.requirement("CO-13")
def test_a_trend_needs_three_readings_that_go_one_way(insights):
    rising = [
        lab("a", "Creatinine", 90, "umol/L", day="2026-01-01", loinc="2160-0", high=110),
        lab("b", "Creatinine", 105, "umol/L", day="2026-05-01", loinc="2160-0", high=110),
        lab("c", "Creatinine", 130, "umol/L", day="2026-10-01", loinc="2160-0", high=110),
    ]
    assert shown(insights(*rising[1:]), "trend") == []
    record = insights(*rising)

    trend = next(item for item in record.insights if item.kind == "trend")
    assert trend.severity == "warning"
    assert trend.text == (
        "Creatinine rising over 3 readings: 90 umol/L (1 Jan 2026), 105 umol/L (1 May 2026), "
        "130 umol/L (1 Oct 2026)."
    )
    assert [fact.figure for fact in trend.facts] == ["130", "105", "90"]


def test_growing_up_is_no_trend_however_old_the_person_is_now(insights):
    grown = {**PATIENT, "birthDate": "2007-02-14"}
    readings = [
        lab(str(year), "Body weight", kilos, "kg", day=f"{year}-01-01", loinc="29463-7")
        for year, kilos in ((2018, 33), (2020, 40), (2022, 48))
    ]
    assert shown(insights(*readings, patient=grown), "trend") == []
    assert shown(insights(*readings), "trend") != []


def test_a_trend_is_seen_over_units_and_not_in_noise(insights):
    record = insights(
        lab("a", "Glucose", 90, "mg/dL", day="2026-01-01"),
        lab("b", "Glucose", 6.0, "mmol/L", day="2026-05-01"),
        lab("c", "Glucose", 130, "mg/dL", day="2026-10-01"),
        lab("d", "Sodium", 139, "mmol/L", day="2026-01-01"),
        lab("e", "Sodium", 140, "mmol/L", day="2026-05-01"),
        lab("f", "Sodium", 141, "mmol/L", day="2026-10-01"),
    )

    assert [title for _, title in shown(record, "trend")] == ["Glucose rising over 3 readings"]


@pytest.mark.requirement("CO-13")
@pytest.mark.parametrize(
    ("medicine", "reading", "want"),
    [
        # metformin label: contraindicated below 30, reassess below 45
        ("Metformin 500 mg", ("eGFR", 28, "mL/min/{1.73_m2}", "33914-3"), "critical"),
        ("Metformin 500 mg", ("eGFR", 28, "mL/min", "33914-3"), "critical"),
        ("Metformin 500 mg", ("eGFR", 40, "mL/min/1.73m2", "33914-3"), "warning"),
        ("Metformin 500 mg", ("eGFR", 70, "mL/min/{1.73_m2}", "33914-3"), None),
        ("Lisinopril 10 MG Oral Tablet", ("Potassium", 5.8, "mmol/L", "6298-4"), "critical"),
        ("Lisinopril 10 MG Oral Tablet", ("Potassium", 5.8, "meq/L", "6298-4"), "critical"),
        ("Lisinopril 10 MG Oral Tablet", ("Potassium", 4.8, "mmol/L", "6298-4"), None),
        ("Lisinopril 10 MG Oral Tablet", ("Potassium", 5800, "bananas", "6298-4"), None),
        ("Warfarin 5 mg", ("INR", 4.6, "{INR}", "6301-6"), "critical"),
        ("Paracetamol 500 mg", ("Potassium", 5.8, "mmol/L", "6298-4"), None),
    ],
)
def test_a_medicine_and_its_newest_result_conflict_by_the_cited_rule(
    insights, medicine, reading, want
):
    name, figure, unit, loinc = reading
    record = insights(drug("m", medicine), lab("o", name, figure, unit, loinc=loinc))

    found = [item for item in record.insights if item.kind == "drug_lab"]
    assert [item.severity for item in found] == ([want] if want else [])
    for item in found:
        assert {fact.category for fact in item.facts} == {"medications", "observations"}
        assert "source:" in item.text


def test_a_stopped_medicine_conflicts_with_nothing(insights):
    record = insights(
        drug("m", "Metformin 500 mg", status="stopped"),
        lab("o", "eGFR", 20, "mL/min/1.73m2", loinc="33914-3"),
        allergy("a", "Metformin"),
    )

    assert shown(record, "drug_lab") == shown(record, "drug_allergy") == []


@pytest.mark.requirement("CO-13")
def test_monitoring_is_overdue_when_the_last_result_is_too_old_or_there_is_none(insights):
    late = insights(
        problem("c", "Type 2 diabetes"), lab("o", "HbA1c", 7, "%", day="2025-09-01", loinc="4548-4")
    )
    texts = [item.text for item in late.insights if item.kind == "overdue"]
    assert any(
        "the last Hemoglobin A1c was 7 % on 1 Sep 2025, 14 months ago" in text for text in texts
    )

    fresh = insights(
        problem("c", "Type 2 diabetes"), lab("o", "HbA1c", 7, "%", day="2026-10-01", loinc="4548-4")
    )
    assert not any("A1c" in item.title for item in fresh.insights if item.kind == "overdue")


def test_what_was_begun_just_now_is_not_overdue(insights):
    new = insights(drug("m", "Warfarin 5 mg", since="2026-11-20"))
    assert shown(new, "overdue") == []
    old = insights(drug("m", "Warfarin 5 mg", since="2026-01-01"))
    assert any(
        "no International normalized ratio is recorded" in item.text for item in old.insights
    )


def test_nothing_is_overdue_for_a_child_or_for_somebody_who_died(insights):
    child = {**PATIENT, "birthDate": "2015-01-01"}
    assert shown(insights(drug("m", "Warfarin 5 mg"), patient=child), "overdue") == []
    dead = {**PATIENT, "deceasedDateTime": "2026-10-01"}
    assert shown(insights(drug("m", "Warfarin 5 mg"), patient=dead), "overdue") == []


@pytest.mark.requirement("CO-13")
def test_a_medicine_against_an_allergy_comes_first_of_all(insights):
    record = insights(
        allergy("a", "Penicillin"),
        drug("m", "Amoxicillin 500 mg", since="2026-11-01"),
        lab("o", "Potassium", 6.9, "mmol/L", loinc="6298-4"),
        lab("p", "Sodium", 128, "mmol/L", low=135, high=145),
        lab("q", "Hemoglobin", 9.0, "g/dL", loinc="718-7", low=12, high=16),
    )

    first = priorities(record)
    assert [item.kind for item in first] == ["drug_allergy", "abnormal", "abnormal"]
    assert first[0].severity == "critical"
    assert len(first) == 3
    assert {fact.resource for fact in first[0].facts} == {
        "MedicationRequest/m",
        "AllergyIntolerance/a",
    }


def test_a_healthy_record_has_no_invented_priorities(insights):
    record = insights(
        lab("o", "Potassium", 4.2, "mmol/L", loinc="6298-4"),
        lab("p", "Sodium", 140, "mmol/L", loinc="2951-2"),
        visit("v", "2026-11-02"),
    )

    assert priorities(record) == ()


@pytest.mark.requirement("CO-16")
def test_what_is_new_since_the_last_visit_is_listed_warnings_first(insights):
    record = insights(
        visit("v1", "2025-01-10"),
        visit("v2", "2026-10-01"),
        problem("c0", "Hypertension", since="2015-01-01"),
        problem("c1", "Atrial fibrillation", since="2026-10-20"),
        problem("c2", "Bronchitis", since="2026-09-20", status="resolved", end="2026-10-10"),
        drug("m1", "Apixaban 5 mg", since="2026-10-20"),
        lab("a", "Potassium", 4.0, "mmol/L", day="2026-09-30", low=3.5, high=5.0),
        lab("b", "Potassium", 5.6, "mmol/L", day="2026-10-20", low=3.5, high=5.0),
        lab("c", "Sodium", 140, "mmol/L", day="2026-09-30", low=135, high=145),
        lab("d", "Sodium", 141, "mmol/L", day="2026-10-20", low=135, high=145),
    )

    found = changes(record)
    titles = [item.title for item in found]
    assert {titles[0], titles[1]} == {
        "New problem: Atrial fibrillation",
        "Potassium: 5.6 mmol/L (was 4.0 mmol/L on 30 Sep 2026)",
    }
    assert "Medicine ordered: Apixaban 5 mg" in titles
    assert "Problem ended: Bronchitis" in titles
    assert "1 results without notable change" not in titles
    assert "1 result without notable change" in titles
    assert not any("Hypertension" in title for title in titles)
    assert all("since the visit of 1 Oct 2026" in item.text for item in found)


@pytest.mark.requirement("CO-16")
def test_where_nothing_is_newer_the_last_visit_itself_is_compared_with_the_one_before(insights):
    record = insights(
        visit("v1", "2025-01-10"),
        visit("v2", "2026-10-01"),
        lab("a", "HbA1c", 6.8, "%", day="2025-01-10", loinc="4548-4"),
        lab("b", "HbA1c", 8.4, "%", day="2026-10-01", loinc="4548-4"),
    )

    assert [item.text for item in changes(record)] == [
        "Hemoglobin A1c at the last visit, 1 Oct 2026: 8.4 %, high (was 6.8 % on 10 Jan 2025)."
    ]


def test_without_a_visit_there_is_nothing_to_compare_with(insights):
    assert changes(insights(problem("c", "Asthma", since="2026-11-01"))) == ()


def test_what_lies_in_the_future_is_not_now(insights):
    record = insights(lab("o", "Potassium", 6.9, "mmol/L", day="2031-01-01", loinc="6298-4"))

    assert shown(record, "abnormal") == []


def test_the_same_record_gives_the_same_insights(insights, ask):
    first = insights(
        problem("c", "Type 2 diabetes"),
        drug("m", "Metformin 500 mg"),
        drug("n", "Lisinopril 10 mg"),
        *[lab(f"o{n}", f"Marker {n}", 10 + n, "mmol/L", low=1, high=5) for n in range(8)],
    )

    assert ask("p1", "insights") == first
