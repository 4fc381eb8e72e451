from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from sqlalchemy import func, select

from bedside.core.errors import AccessDenied, BadInput, NotFound
from bedside.core.ids import TenantId
from bedside.record.fetch import list_patients
from bedside.record.importing import import_bundle, import_paths
from bedside.storage.tables.access import audit
from bedside.storage.tables.record import entry, resource
from bedside.storage.tables.source import source

TENANT = TenantId("default")
PATIENT = {
    "resourceType": "Patient",
    "id": "p1",
    "name": [{"family": "Example", "given": ["Ada"]}],
    "gender": "female",
    "birthDate": "1960-03-04",
}


def observation(ident="o1", value="72.50", patient="p1", **more):
    found = {
        "resourceType": "Observation",
        "id": ident,
        "status": "final",
        "code": {
            "text": "Body Weight",
            "coding": [{"system": "http://loinc.org", "code": "29463-7"}],
        },
        "subject": {"reference": f"Patient/{patient}"},
        "effectiveDateTime": "2026-11-02",
        "valueQuantity": {
            "value": "@",
            "unit": "kg",
            "system": "http://unitsofmeasure.org",
            "code": "kg",
        },
        **more,
    }
    return json.dumps(found).replace('"@"', value)


@pytest.fixture
def synthea(shared_data):
    return shared_data / "records" / "synthea_r4"


@pytest.mark.requirement("RELIABILITY-26")
@pytest.mark.slow
@pytest.mark.requirement("EN-R1")
def test_every_bundle_of_the_data_set_imports_and_the_counts_are_those_of_the_raw_json(
    store, clock, synthea
):
    raw, patients = Counter(), {}
    for path in synthea.glob("*.json"):
        for item in json.loads(path.read_text(encoding="utf-8"))["entry"]:
            raw[item["resource"]["resourceType"]] += 1
            if item["resource"]["resourceType"] == "Patient":
                patients[item["resource"]["id"]] = item["resource"]

    report = import_paths(store, [synthea], tenant=TENANT, clock=clock)

    assert report.rejected == ()
    assert dict(report.resources) == dict(raw)
    assert dict(report.unknown) == {kind: raw[kind] for kind in ("Claim", "ExplanationOfBenefit")}
    assert {patient.id for patient in report.patients} == set(patients)
    listed = store.read_now(lambda c: list_patients(c, TENANT))
    assert {(p.id, p.sex, p.birth_date.isoformat()) for p in listed} == {
        (ident, found["gender"], found["birthDate"]) for ident, found in patients.items()
    }
    rows = store.read_now(
        lambda c: dict(
            c.execute(select(entry.c.category, func.count()).group_by(entry.c.category)).all()  # type: ignore[arg-type]
        )
    )
    assert rows["observations"] == raw["Observation"]
    assert rows["conditions"] == raw["Condition"]
    assert rows["timeline"] == raw["Encounter"]
    assert rows["reports"] == raw["DiagnosticReport"] + raw["ImagingStudy"]
    kept = store.read_now(
        lambda c: c.execute(select(func.count()).select_from(resource)).scalar_one()
    )
    assert kept == sum(raw.values()) - raw["Organization"] - raw["Practitioner"]


@pytest.mark.slow
def test_importing_the_same_files_again_makes_no_row_and_no_revision(store, clock, synthea):
    some = sorted(synthea.glob("*.json"))[:3]
    import_paths(store, some, tenant=TENANT, clock=clock)

    def rows(connection):
        return connection.execute(
            select(source.c.id, source.c.revision, source.c.sha256).order_by(source.c.id)
        ).all()

    before = store.read_now(rows)
    again = import_paths(store, some, tenant=TENANT, clock=clock)

    assert store.read_now(rows) == before
    assert all(patient.changed == 0 for patient in again.patients)


@pytest.mark.requirement("RELIABILITY-26")
def test_a_decimal_keeps_the_digits_it_was_written_with(take, ask):
    take(PATIENT, observation(value="72.50"))

    fact = ask().of("observations")[0]

    assert fact.figure == "72.50"
    assert str(fact.value) == "72.50"
    assert fact.line == "Body Weight: 72.50 kg (2 Nov 2026, final)"


def test_a_changed_entry_makes_a_new_revision_and_the_old_text_stays(take, ask, store):
    take(PATIENT, observation(value="72.50"))
    first = ask().of("observations")[0].source

    take(PATIENT, observation(value="73.10"))
    second = ask().of("observations")[0].source

    assert (first.id, first.revision) == (second.id, 1)
    assert second.revision == 2
    texts = store.read_now(
        lambda c: c.execute(
            select(source.c.revision, source.c.superseded, source.c.text)
            .where(source.c.id == first.id)
            .order_by(source.c.revision)
        ).all()
    )
    assert [tuple(row) for row in texts] == [
        (1, True, "Body Weight: 72.50 kg (2 Nov 2026, final)"),
        (2, False, "Body Weight: 73.10 kg (2 Nov 2026, final)"),
    ]


def test_another_spelling_of_the_same_json_makes_no_revision(take, ask):
    take(PATIENT, observation())
    take(
        PATIENT,
        json.dumps(json.loads(observation()), indent=3)
        .replace("72.5\n", "72.50\n")
        .replace("72.5,", "72.50,"),
    )

    assert ask().of("observations")[0].source.revision == 1


def test_two_patients_with_the_same_entry_id_have_sources_of_their_own(take, ask):
    take(PATIENT, observation(patient="p1"))
    take({**PATIENT, "id": "p2", "name": [{"text": "Bo Other"}]}, observation(patient="p2"))

    mine, theirs = ask("p1").of("observations")[0], ask("p2").of("observations")[0]
    assert mine.resource == theirs.resource
    assert mine.source.id != theirs.source.id


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b'{"resourceType": "Bundle", "entry": [', "not JSON"),
        (b'{"resourceType": "Bundle"} trailing', "more after"),
        (b'{"hello": 1}', "not FHIR"),
        (b"[1, 2]", "not a FHIR resource"),
        (b'"text"', "not a FHIR resource"),
        (b'{"resourceType": "Patient", "id": "x"}', "not a bundle"),
        (b'{"resourceType": "Bundle", "entry": {}}', "not an array"),
        (b'{"resourceType": "Bundle", "entry": [1]}', "not an object"),
        (b'{"resourceType": "Bundle", "entry": [{"resource": {"id": "1"}}]}', "no resourceType"),
        (b'{"resourceType": "Bundle", "total": NaN}', "unreadable number"),
        (b'{"resourceType": "Bundle", "total": ' + b"[" * 200_000, "nested too deeply"),
        (b"\xff\xff{}", "UTF-8"),
        (b"", "not JSON"),
        (b'{"name": "X", "shoe_size": 44}', "simple patient JSON"),
        (
            b'{"resourceType":"Bundle","entry":[{"resource":{"resourceType":"Patient","id":"a/../b"}}]}',
            "not a FHIR id",
        ),
    ],
)
def test_what_is_no_bundle_is_rejected_with_its_reason_and_changes_nothing(
    store, clock, tmp_path, body, said
):
    bad = tmp_path / "bad.json"
    bad.write_bytes(body)

    report = import_paths(store, [bad], tenant=TENANT, clock=clock)

    assert [item.path for item in report.rejected] == [str(bad)]
    assert said in report.rejected[0].reason
    assert report.patients == ()
    assert store.read_now(lambda c: list_patients(c, TENANT)) == ()
    with pytest.raises(BadInput):
        import_bundle(store, body, tenant=TENANT, clock=clock)


def test_a_reason_never_repeats_what_the_file_says(store, clock, tmp_path):
    bad = tmp_path / "bad.json"
    bad.write_text(
        '{"name": "Zebedee", "birth_date": "Zebedee", "id": "Zebedee !"}', encoding="utf-8"
    )

    report = import_paths(store, [bad], tenant=TENANT, clock=clock)

    assert "birth_date" in report.rejected[0].reason
    assert "Zebedee" not in report.rejected[0].reason


def test_one_bad_file_does_not_stop_the_others(store, clock, tmp_path):
    (tmp_path / "a.json").write_text("{", encoding="utf-8")
    good = {"resourceType": "Bundle", "type": "collection", "entry": [{"resource": PATIENT}]}
    (tmp_path / "b.json").write_text(json.dumps(good), encoding="utf-8")

    report = import_paths(store, [tmp_path, tmp_path / "none.json"], tenant=TENANT, clock=clock)

    assert [patient.name for patient in report.patients] == ["Ada Example"]
    assert sorted(Path(item.path).name for item in report.rejected) == ["a.json", "none.json"]
    assert set(report.as_json()) >= {"patients", "resources", "unknown", "rejected"}


def test_half_a_character_costs_neither_its_file_nor_the_others(store, clock, tmp_path):
    for ident, family in (("a", "Smile \ud83d"), ("b", "Smile \U0001f600")):  # an escape cut in two
        person = {"resourceType": "Patient", "id": ident, "name": [{"text": family}]}
        found = {"resourceType": "Bundle", "entry": [{"fullUrl": family, "resource": person}]}
        (tmp_path / f"{ident}.json").write_text(json.dumps(found), encoding="utf-8")
        import_bundle(store, found, tenant=TENANT, clock=clock)

    report = import_paths(store, [tmp_path], tenant=TENANT, clock=clock)

    assert [patient.name for patient in report.patients] == ["Smile ?", "Smile \U0001f600"]
    assert report.rejected == ()


def test_references_by_full_url_by_relative_path_and_contained_are_resolved(store, clock, ask):
    bundle = {
        "resourceType": "Bundle",
        "type": "transaction",
        "entry": [
            {"fullUrl": "urn:uuid:aaaa", "resource": PATIENT},
            {
                "fullUrl": "https://example.org/fhir/Organization/org1",
                "resource": {"resourceType": "Organization", "id": "org1", "name": "North Clinic"},
            },
            {
                "fullUrl": "urn:uuid:bbbb",
                "resource": {
                    "resourceType": "Encounter",
                    "id": "e1",
                    "status": "finished",
                    "class": {"code": "AMB"},
                    "subject": {"reference": "urn:uuid:aaaa"},
                    "period": {"start": "2026-10-01"},
                    "serviceProvider": {"reference": "Organization/org1"},
                },
            },
            {
                "resource": {
                    "resourceType": "MedicationRequest",
                    "id": "m1",
                    "status": "active",
                    "contained": [
                        {
                            "resourceType": "Medication",
                            "id": "med",
                            "code": {"text": "Warfarin 5 mg"},
                        }
                    ],
                    "medicationReference": {"reference": "#med"},
                    "subject": {"reference": "https://example.org/fhir/Patient/p1/_history/3"},
                    "encounter": {"reference": "urn:uuid:bbbb"},
                    "authoredOn": "2026-10-01",
                }
            },
        ],
    }
    import_bundle(store, bundle, tenant=TENANT, clock=clock)

    facts = ask()
    assert facts.of("timeline")[0].facility == "North Clinic"
    drug = facts.of("medications")[0]
    assert (drug.name, drug.facility, drug.encounter) == (
        "Warfarin 5 mg",
        "North Clinic",
        "Encounter/e1",
    )


def test_a_reference_never_reaches_into_another_patient(take, ask):
    """Two files use the same local ids, as hand-written bundles do."""
    take(
        {**PATIENT, "id": "p2", "name": [{"text": "Bo Other"}]},
        {
            "resourceType": "Condition",
            "id": "c1",
            "subject": {"reference": "Patient/p2"},
            "code": {"text": "Syphilis"},
        },
        PATIENT,
        {
            "resourceType": "Procedure",
            "id": "x",
            "status": "completed",
            "subject": {"reference": "Patient/p1"},
            "code": {"text": "Blood test"},
            "reasonReference": [{"reference": "Condition/c1"}],
        },
    )

    assert "Syphilis" not in ask("p1").of("procedures")[0].line


def test_an_export_in_ndjson_is_joined_over_its_files(store, clock, tmp_path, ask):
    (tmp_path / "Observation.ndjson").write_text(
        observation("o1", "1.10") + "\n\n" + observation("o2", "2.20", patient="p2") + "\n",
        encoding="utf-8",
    )
    (tmp_path / "Patient.ndjson").write_text(
        json.dumps(PATIENT) + "\n" + json.dumps({**PATIENT, "id": "p2", "name": [{"text": "Bo"}]}),
        encoding="utf-8",
    )

    report = import_paths(store, [tmp_path], tenant=TENANT, clock=clock)

    assert dict(report.resources) == {"Observation": 2, "Patient": 2}
    assert [fact.figure for fact in ask("p1").of("observations")] == ["1.10"]
    assert [fact.figure for fact in ask("p2").of("observations")] == ["2.20"]


def test_a_broken_line_of_ndjson_is_named_and_rejects_its_file(store, clock, tmp_path):
    bad = tmp_path / "x.ndjson"
    bad.write_text(json.dumps(PATIENT) + "\n{oops\n", encoding="utf-8")

    report = import_paths(store, [bad], tenant=TENANT, clock=clock)

    assert "line 2" in report.rejected[0].reason
    assert report.patients == ()


def test_entries_of_somebody_unknown_are_reported_and_not_kept(take, store):
    report = take(observation(patient="nobody"))

    assert report.patients == ()
    assert "neither here nor stored" in report.rejected[0].reason
    assert (
        store.read_now(lambda c: c.execute(select(func.count()).select_from(entry)).scalar()) == 0
    )


def test_a_later_bundle_may_add_to_a_stored_patient(take, ask):
    take(PATIENT)
    take(observation())

    assert len(ask().of("observations")) == 1


def test_an_id_that_belongs_to_somebody_else_is_refused(take, ask):
    take(PATIENT, observation())
    other = {**PATIENT, "name": [{"text": "Zed Quite Else"}], "birthDate": "1999-09-09"}
    report = take(other, observation("o9", "10.0"))

    assert "another person" in report.rejected[0].reason
    assert [fact.figure for fact in ask().of("observations")] == ["72.50"]
    assert ask().person.name == "Ada Example"


def test_unknown_resources_are_kept_counted_and_reported(take, store):
    report = take(
        PATIENT, {"resourceType": "Coverage", "id": "k", "beneficiary": {"reference": "Patient/p1"}}
    )

    assert dict(report.unknown) == {"Coverage": 1}
    (patient,) = report.patients
    assert (patient.changed, patient.unchanged) == (2, 0)  # kept now, so not as it was before
    kept = store.read_now(
        lambda c: c.execute(
            select(resource.c.patient, resource.c.known).where(resource.c.key == "Coverage/k")
        ).one()
    )
    assert tuple(kept) == ("p1", False)


def test_every_import_of_a_patient_is_in_the_audit_trail(take, store):
    take(PATIENT)

    rows = store.read_now(lambda c: c.execute(select(audit.c.action, audit.c.patient)).all())
    assert [tuple(row) for row in rows] == [("import", "p1")]


def test_the_simple_json_reads_like_fhir(store, clock, ask):
    body = b"""{"id": "p1", "name": "Ada Example", "birth_date": "1960-03-04", "sex": "female",
      "conditions": [{"name": "Type 2 diabetes", "onset": "2015"}],
      "medications": [{"name": "Metformin 500 mg", "dosage": "twice daily", "started": "2019-03-03"}],
      "allergies": [{"name": "Penicillin", "reaction": "hives", "severity": "severe"}],
      "labs": [{"name": "HbA1c", "value": 8.20, "unit": "%", "date": "2026-11-02", "low": 4.0, "high": 5.6, "flag": "H"}],
      "visits": [{"date": "2026-11-02", "type": "Check-up", "facility": "North Clinic"}],
      "orders": [{"name": "Eye screening", "date": "2026-11-02"}],
      "alerts": [{"name": "Falls risk"}],
      "immunizations": [{"name": "Influenza", "date": "2025-10-01"}],
      "family_history": [{"name": "Breast cancer", "note": "mother"}]}"""

    import_bundle(store, body, tenant=TENANT, clock=clock)

    facts = ask()
    assert facts.of("observations")[0].line == (
        "HbA1c: 8.20 % (2 Nov 2026, final; range 4.0-5.6; high)"
    )
    assert facts.of("medications")[0].line == (
        "Metformin 500 mg: active, taken since 3 Mar 2019; twice daily"
    )
    assert "reaction: hives (severe)" in facts.of("allergies")[0].line
    assert facts.of("conditions")[0].line == "Type 2 diabetes: active; since 2015"
    assert facts.of("alerts")[0].line.startswith("Alert: Falls risk")
    assert facts.of("family_history")[0].line.startswith("Family history, mother: Breast cancer")
    assert facts.of("immunizations")[0].line.startswith("Influenza: given 1 Oct 2025")
    assert facts.of("orders")[0].status == "active"


def test_a_resource_is_kept_as_it_came_with_its_extensions(take, store):
    from bedside.record.received import received, unread

    raw = observation(
        value="72.50", extension=[{"url": "https://example.org/x", "valueDecimal": 1}]
    )
    take(
        PATIENT,
        raw,
        {"resourceType": "Coverage", "id": "k", "beneficiary": {"reference": "Patient/p1"}},
    )

    from .conftest import grant_for

    assert store.read_now(lambda c: received(c, grant_for("p1"), "Observation/o1")) == raw
    assert store.read_now(lambda c: unread(c, grant_for("p1"))) == (("Coverage", 1),)
    with pytest.raises(NotFound):
        store.read_now(lambda c: received(c, grant_for("p2"), "Observation/o1"))
    with pytest.raises(AccessDenied):
        store.read_now(lambda c: received(c, grant_for(None), "Observation/o1"))


@pytest.mark.slow
def test_eight_imports_at_once_leave_what_one_leaves(store, clock):
    """RELIABILITY row 4: same ids, same counts, one revision."""
    from concurrent.futures import ThreadPoolExecutor

    entries = [PATIENT, *[json.loads(observation(f"o{n}", "1")) for n in range(50)]]
    body = {"resourceType": "Bundle", "entry": [{"resource": item} for item in entries]}
    with ThreadPoolExecutor(8) as pool:
        reports = list(
            pool.map(lambda _: import_bundle(store, body, tenant=TENANT, clock=clock), range(8))
        )

    assert sum(report.patients[0].changed for report in reports) == 51
    rows = store.read_now(
        lambda c: c.execute(select(func.count(), func.max(source.c.revision))).one()
    )
    assert tuple(rows) == (51, 1)


def test_a_file_too_big_to_hold_is_refused_before_it_is_read(store, clock, tmp_path):
    big = tmp_path / "big.json"
    with big.open("wb") as file:
        file.truncate(200 * 1024 * 1024)  # sparse: nothing is written

    report = import_paths(store, [big], tenant=TENANT, clock=clock)

    assert "NDJSON" in report.rejected[0].reason
