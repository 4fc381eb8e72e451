"""Readings in their order: limits, totals, names, and what stays inside one patient."""

from __future__ import annotations

import json
from datetime import date

import pytest

from bedside.core.errors import AccessDenied, NotFound
from bedside.record.fetch import fetch, find_patient, list_patients
from bedside.record.needs import RecordNeed

from .entries import PATIENT, about, lab, state


def test_single_repeated_and_unlike_readings_are_told_apart(take, ask):
    take(
        PATIENT,
        lab("a1", "Sodium", 140),
        lab("b1", "Ferritin", 20, "ug/L", day="2026-10-01"),
        lab("b2", "Ferritin", 20, "ug/L", day="2026-10-01"),
        lab("c1", "Creatinine", 80, "umol/L", day="2026-10-01", method={"text": "Jaffe"}),
        lab("c2", "Creatinine", 84, "umol/L", day="2026-11-01", method={"text": "enzymatic"}),
    )

    notes = {fact.resource.split("/")[1]: fact.note for fact in ask().of("observations")}
    assert "the only reading" in notes["a1"]
    assert "recorded twice" in notes["b1"]
    assert "recorded twice" in notes["b2"]
    assert "method differs from the reading before" in notes["c2"]
    assert "method differs" not in notes["c1"]


@pytest.mark.requirement("EN-R2")
def test_the_fetch_limits_hold_and_totals_count_what_is_there(take, ask):
    many = [
        lab(f"l{n}", f"Analyte {n % 15}", n, day=f"2026-{1 + n % 12:02d}-{1 + n % 28:02d}")
        for n in range(60)
    ]
    vitals = [
        {**lab(f"v{n}", f"Vital {n}", n), "category": [{"coding": [{"code": "vital-signs"}]}]}
        for n in range(12)
    ]
    groups = [
        {**lab(f"g{g}-{n}", f"Kind {g}-{n}", n), "category": [{"coding": [{"code": f"group-{g}"}]}]}
        for g in range(6)
        for n in range(11)
    ]
    take(
        PATIENT,
        *many,
        *vitals,
        *groups,
        *[
            about("Condition", f"c{n}", f"Problem {n}", clinicalStatus=state("active"))
            for n in range(25)
        ],
        *[about("MedicationRequest", f"m{n}", f"Drug {n}", status="active") for n in range(35)],
        *[about("ServiceRequest", f"s{n}", f"Order {n}", status="active") for n in range(17)],
        *[about("AllergyIntolerance", f"a{n}", f"Allergen {n}") for n in range(40)],
        *[
            {
                "resourceType": "Encounter",
                "id": f"e{n}",
                "status": "finished",
                "subject": {"reference": "Patient/p1"},
                "period": {"start": f"20{n + 10}-01-01"},
            }
            for n in range(13)
        ],
        *[
            {
                "resourceType": "DocumentReference",
                "id": f"d{n}",
                "status": "current",
                "subject": {"reference": "Patient/p1"},
                "type": {"text": "Letter"},
            }
            for n in range(18)
        ],
    )

    found = ask(limits=True)
    shown = {category: len(found.of(category)) for category, _ in found.total}
    totals = dict(found.total)
    assert shown["conditions"] == 20
    assert totals["conditions"] == 25
    assert shown["medications"] == 30
    assert totals["medications"] == 35
    assert shown["timeline"] == 10
    assert totals["timeline"] == 13
    assert shown["documents"] == 15
    assert totals["documents"] == 18
    assert shown["orders"] == 15
    assert totals["orders"] == 17
    assert shown["allergies"] == totals["allergies"] == 40
    assert shown["observations"] == 50
    assert totals["observations"] == 60 + 12 + 66
    per_group = [
        sum(f.group == g for f in found.of("observations"))
        for g in ("laboratory", "vital-signs", "group-0")
    ]
    assert max(per_group) <= 10
    days = [fact.when for fact in found.of("timeline")]
    assert days == sorted(days, reverse=True)
    assert days[-1].year == 2013
    assert len(ask().of("observations")) == 138


def test_the_latest_reading_of_each_analyte_comes_before_older_ones_of_others(take, ask):
    take(
        PATIENT,
        *[lab(f"s{n}", "Sodium", 140, day=f"2026-10-{n + 1:02d}") for n in range(12)],
        lab("h", "HbA1c", 7, "%", day="2020-01-01"),
    )

    assert "HbA1c" in {fact.name for fact in ask(limits=True).of("observations")}


def test_open_problems_come_before_closed_ones(take, ask):
    take(
        PATIENT,
        about(
            "Condition",
            "old",
            "Diabetes",
            clinicalStatus=state("active"),
            onsetDateTime="1999-01-01",
        ),
        *[
            about(
                "Condition",
                f"c{n}",
                f"Cold {n}",
                clinicalStatus=state("resolved"),
                onsetDateTime=f"2026-01-{n + 1:02d}",
            )
            for n in range(25)
        ],
    )

    assert "Diabetes" in {fact.name for fact in ask(limits=True).of("conditions")}


def test_names_narrow_observations_by_name_code_or_component(take, ask):
    take(
        PATIENT,
        lab("o1", "Hemoglobin A1c/Hemoglobin.total in Blood", 7, "%", loinc="4548-4"),
        lab("o2", "Sodium", 140, loinc="2947-0"),
        about(
            "Observation",
            "o3",
            "Blood Pressure",
            status="final",
            component=[
                {
                    "code": {"text": "Systolic Blood Pressure"},
                    "valueQuantity": {"value": 120, "unit": "mmHg"},
                }
            ],
        ),
    )

    def names(*asked):
        return sorted(
            fact.resource for fact in ask("p1", "observations", names=asked).of("observations")
        )

    assert names("4548-4") == ["Observation/o1"]
    assert names("http://loinc.org|2947-0") == ["Observation/o2"]
    assert names("sodium") == ["Observation/o2"]
    assert names("systolic") == ["Observation/o3"]
    assert names("ferritin") == []


def test_the_record_is_as_of_its_newest_past_moment(take, ask):
    take(
        PATIENT,
        lab("o1", "Sodium", 140, day="2026-10-01T08:00:00Z"),
        lab("o2", "Sodium", 140, day="2031-01-01"),
    )

    assert ask().as_of.isoformat() == "2026-10-01T08:00:00+00:00"


def test_an_empty_record_has_no_moment_and_no_facts(take, ask):
    take(PATIENT)

    found = ask("p1", "conditions", "observations")
    assert found.as_of is None
    assert found.facts == ()
    assert dict(found.total) == {"conditions": 0, "observations": 0, "allergies": 0, "alerts": 0}


# ---- scope


@pytest.mark.requirement("EN-R6")
def test_nothing_of_another_patient_is_reachable_whatever_is_asked(take, store, ask):
    from bedside.record import documents

    from .conftest import TODAY, grant_for

    canary = "XYZZYCANARY"
    take(PATIENT, lab("o1", "Sodium", 140))
    take(
        {**PATIENT, "id": "p2", "name": [{"text": f"{canary} Person"}]},
        *[
            {**item, "id": "o1"}
            for item in (
                about("Condition", "o1", f"{canary} disease", patient="p2"),
                about("MedicationRequest", "o1", f"{canary} drug", patient="p2", status="active"),
                about("AllergyIntolerance", "o1", f"{canary} allergen", patient="p2"),
                about("Flag", "o1", f"{canary} flag", patient="p2", status="active"),
                lab("o1", f"{canary} analyte", 1, patient="p2"),
            )
        ],
    )
    take({**PATIENT, "id": "p1", "name": [{"text": f"{canary} Tenant"}]}, tenant="other")

    everything = ask("p1")
    for names in ((), ("o1",), (canary,), ("Observation/o1",), ("%",), ("' OR 1=1 --",)):
        everything = ask("p1", names=names) if names else everything
        assert canary not in repr(everything)
    with pytest.raises(NotFound):
        store.read_now(
            lambda c: fetch(
                c, grant_for("p3"), RecordNeed(name="r", categories=("conditions",)), as_of=TODAY
            )
        )
    with pytest.raises(AccessDenied):
        store.read_now(
            lambda c: fetch(
                c, grant_for(None), RecordNeed(name="r", categories=("conditions",)), as_of=TODAY
            )
        )
    with pytest.raises(NotFound):
        store.read_now(
            lambda c: fetch(
                c, grant_for("p2", "other"), RecordNeed(name="r", categories=()), as_of=TODAY
            )
        )
    assert canary not in repr(store.read_now(lambda c: documents.documents_of(c, grant_for("p1"))))
    other = store.read_now(
        lambda c: fetch(
            c, grant_for("p2"), RecordNeed(name="r", categories=("conditions",)), as_of=TODAY
        )
    )
    assert canary in repr(other), "the canary would have been seen"


def test_patients_are_listed_and_found_inside_their_tenant(take, store):
    take(PATIENT)
    take(
        {
            **PATIENT,
            "id": "p2",
            "name": [{"text": "Bo Other"}],
            "identifier": [{"type": {"coding": [{"code": "MR"}]}, "value": "M-77"}],
        }
    )
    take({**PATIENT, "id": "p9", "name": [{"text": "Cy Else"}]}, tenant="other")

    listed = store.read_now(lambda c: list_patients(c, "default"))
    assert [(p.id, p.name, p.birth_date, p.sex, p.documents) for p in listed] == [
        ("p1", "Ada Example", date(1960, 3, 4), "female", 0),
        ("p2", "Bo Other", date(1960, 3, 4), "female", 0),
    ]

    def found(text):
        return store.read_now(lambda c: find_patient(c, "default", text)).id

    assert found("p1") == "p1"
    assert found("M-77") == "p2"
    assert found("ada  example") == "p1"
    assert found("other") == "p2"
    for text in ("p9", "Cy Else", "", "nobody"):
        with pytest.raises(NotFound):
            found(text)


def test_every_line_is_the_stored_text_of_its_source(take, ask, store):
    from sqlalchemy import select

    from bedside.storage.tables.source import source

    take(PATIENT, lab("o1", "Sodium\u200b  (plasma)", 140), about("Condition", "c", "Gout"))

    stored = store.read_now(
        lambda c: {
            (row.id, row.revision): row.text
            for row in c.execute(select(source.c.id, source.c.revision, source.c.text))
        }
    )
    facts = ask().facts
    assert len(facts) == 3
    for fact in facts:
        assert stored[fact.source.id, fact.source.revision] == fact.line
    assert json.dumps(facts[-1].line).count("\\u200b") == 0
