from __future__ import annotations

import base64
from datetime import UTC, date, datetime

import pytest

from bedside.core.errors import AccessDenied, InvalidArgument, NotFound
from bedside.record import documents
from bedside.record.guess import guess

from .conftest import grant_for

NOW = datetime(2026, 11, 22, tzinfo=UTC)
PATIENT = {"resourceType": "Patient", "id": "p1", "name": [{"text": "Ada Example"}]}


def attach(store, patient="p1", content=b"hello", **more):
    return store.write_now(
        lambda c: documents.attach(
            c,
            grant_for(patient),
            content=content,
            file_name="letter.txt",
            media_type="text/plain",
            now=NOW,
            **more,
        )
    )


def test_an_upload_is_queued_listed_and_kept_byte_for_byte(take, store, ask):
    take(PATIENT)
    made = attach(store, content=b"\x00\xffhello")

    assert (made.status, made.index, made.source) == ("queued", "absent", None)
    assert made.as_json()["document_id"] == made.id
    assert (
        store.read_now(lambda c: documents.content_of(c, grant_for("p1"), made.id))
        == b"\x00\xffhello"
    )
    assert store.read_now(lambda c: documents.documents_of(c, grant_for("p1"))) == (made,)
    assert store.read_now(lambda c: documents.waiting(c, "default")) == (("p1", made.id),)
    fact = ask().of("documents")[0]
    assert fact.document == made.id
    assert fact.line == "letter.txt: document of unknown date (uploaded)"
    assert fact.note == "text not read yet"


def test_the_same_bytes_are_the_same_document(take, store):
    take(PATIENT)

    assert attach(store).id == attach(store).id
    assert attach(store, content=b"other").id != attach(store).id


def test_the_same_bytes_for_two_patients_are_two_documents(take, store):
    take(PATIENT)
    take({**PATIENT, "id": "p2"})

    assert attach(store, "p1").id != attach(store, "p2").id


def test_what_was_parsed_fills_in_what_was_unknown_and_the_line_gets_a_revision(take, store, ask):
    take(PATIENT)
    made = attach(store, category="Referral letter")
    found = guess(
        "Discharge Summary\nNorth Hospital\nDate: 2 November 2026\n", file_name="letter.txt"
    )
    store.write_now(
        lambda c: documents.describe(
            c,
            grant_for("p1"),
            made.id,
            now=NOW,
            title=found.title,
            category=found.category,
            dated=found.dated,
            facility=found.facility,
        )
    )
    store.write_now(
        lambda c: documents.set_state(
            c,
            grant_for("p1"),
            made.id,
            now=NOW,
            status="complete",
            index="words",
            source_id="src-1",
        )
    )

    after = store.read_now(lambda c: documents.one_document(c, grant_for("p1"), made.id))
    assert (after.title, after.category, after.dated, after.facility) == (
        "Discharge Summary",
        "Referral letter",  # given by the person: a guess does not replace it
        date(2026, 11, 2),
        "North Hospital",
    )
    assert (after.status, after.index, after.source) == ("complete", "words", "src-1")
    fact = ask().of("documents")[0]
    assert fact.source.revision == 2
    assert fact.line == (
        "Referral letter: document of 2 Nov 2026 (Discharge Summary; letter.txt; North Hospital; uploaded)"
    )
    assert fact.note == "2 weeks old"
    assert store.read_now(lambda c: documents.waiting(c, "default")) == ()


def test_another_patients_grant_finds_no_document(take, store):
    take(PATIENT)
    take({**PATIENT, "id": "p2"})
    made = attach(store, "p1")

    for call in (documents.one_document, documents.content_of):
        with pytest.raises(NotFound):
            store.read_now(lambda c, call=call: call(c, grant_for("p2"), made.id))
        with pytest.raises(AccessDenied):
            store.read_now(lambda c, call=call: documents.documents_of(c, grant_for(None)))
    with pytest.raises(NotFound):
        store.write_now(
            lambda c: documents.set_state(c, grant_for("p2"), made.id, now=NOW, status="complete")
        )
    with pytest.raises(NotFound):
        attach(store, "nobody")


def test_an_unknown_state_is_refused(take, store):
    take(PATIENT)
    made = attach(store)

    with pytest.raises(InvalidArgument):
        store.write_now(
            lambda c: documents.set_state(c, grant_for("p1"), made.id, now=NOW, status="done")  # type: ignore[arg-type]
        )


def reference(ident="d1", **attachment):
    return {
        "resourceType": "DocumentReference",
        "id": ident,
        "status": "current",
        "subject": {"reference": "Patient/p1"},
        "type": {"text": "Discharge summary"},
        "date": "2026-11-02",
        "content": [{"attachment": attachment}],
    }


def test_a_text_inside_a_resource_waits_to_be_parsed(take, store, ask):
    text = "Ada was discharged."
    data = base64.b64encode(text.encode()).decode()
    report = take(
        PATIENT,
        reference("d1", contentType="text/plain", data=data, title="Summary"),
        reference("d2", contentType="application/pdf", url="Binary/b1"),
        reference("d3", contentType="application/pdf", url="https://example.org/elsewhere.pdf"),
        reference("d4", contentType="text/plain", data="*** not base64 ***"),
        {
            "resourceType": "Binary",
            "id": "b1",
            "contentType": "application/pdf",
            "data": base64.b64encode(b"%PDF").decode(),
        },
        {
            "resourceType": "DiagnosticReport",
            "id": "r1",
            "status": "final",
            "subject": {"reference": "Patient/p1"},
            "code": {"text": "CT chest"},
            "presentedForm": [
                {"contentType": "text/markdown", "data": base64.b64encode(b"# CT").decode()}
            ],
        },
    )

    stored = store.read_now(lambda c: documents.documents_of(c, grant_for("p1")))
    by_origin = {item.origin: item for item in stored}
    assert set(by_origin) == {
        "DocumentReference/d1",
        "DocumentReference/d2",
        "DocumentReference/d4",
        "DiagnosticReport/r1",
    }
    assert len(report.documents) == 3
    first = by_origin["DocumentReference/d1"]
    assert (first.title, first.category, first.dated, first.media_type) == (
        "Summary",
        "Discharge summary",
        date(2026, 11, 2),
        "text/plain",
    )
    content = store.read_now(lambda c: documents.content_of(c, grant_for("p1"), first.id))
    assert content.decode() == text
    assert by_origin["DocumentReference/d4"].status == "failed_permanent"
    assert by_origin["DocumentReference/d4"].problem == "the attachment is not base64"
    facts = {fact.resource: fact for fact in ask().facts}
    assert facts["DocumentReference/d1"].document == first.id
    assert facts["DocumentReference/d3"].document == ""
    assert "text not attached" in facts["DocumentReference/d3"].line
    assert "text attached" in facts["DiagnosticReport/r1"].line


def test_importing_the_same_document_again_queues_nothing(take, store):
    body = reference("d1", contentType="text/plain", data=base64.b64encode(b"text").decode())
    first = take(PATIENT, body)
    store.write_now(
        lambda c: documents.set_state(
            c, grant_for("p1"), first.documents[0], now=NOW, status="complete"
        )
    )

    assert take(PATIENT, body).documents == ()
    assert store.read_now(lambda c: documents.waiting(c, "default")) == ()


@pytest.mark.parametrize(
    ("text", "name", "category", "dated", "facility"),
    [
        (
            "DISCHARGE SUMMARY\nCity Hospital\nDOB: 01/02/1950\nDate of discharge: 14 Oct 2026",
            "x.pdf",
            "Discharge summary",
            date(2026, 10, 14),
            "City Hospital",
        ),
        (
            "Riverside Medical Centre\nLaboratory Report\nCollected: 2026-09-30",
            "x.pdf",
            "Laboratory report",
            date(2026, 9, 30),
            "Riverside Medical Centre",
        ),
        ("MRI of the left knee\nReport date: 03/04/2026", "x.pdf", "Radiology report", None, ""),
        (
            "MRI of the left knee\nReport date: 23/04/2026",
            "x.pdf",
            "Radiology report",
            date(2026, 4, 23),
            "",
        ),
        (
            "Dear Dr Smith,\nI saw this lady on 5th March 2026 in clinic.",
            "x.docx",
            "Clinic letter",
            date(2026, 3, 5),
            "",
        ),
        ("illegible", "2026-01-31_lab_results.png", "Laboratory report", date(2026, 1, 31), ""),
        ("Hospital course: uneventful. Surgery on 31 February 2026.", "scan.png", "", None, ""),
        ("", "scan.png", "", None, ""),
    ],
)
def test_kind_date_and_facility_are_guessed_only_where_they_are_plain(
    text, name, category, dated, facility
):
    found = guess(text, file_name=name)

    assert (found.category, found.dated, found.facility) == (category, dated, facility)
