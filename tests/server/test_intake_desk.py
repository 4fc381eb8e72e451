"""A coordinator over HTTP: begins and works at cases, and opens no patient's record."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from bedside.server.app import create_app
from bedside.server.auth import token

from .conftest import engine_of

SECRET = "0123456789abcdef0123456789abcdef"


def bearer(*roles: str, patients: tuple[str, ...] | None = None) -> dict[str, str]:
    made = token(
        SECRET,
        actor="desk",
        tenant="default",
        roles=roles,
        patients=patients,
        expires=int(time.time()) + 86_400,
    )
    return {"Authorization": f"Bearer {made}"}


@pytest.fixture
def guarded(home: Path) -> Iterator[TestClient]:
    app = create_app(engine_of(home, BEDSIDE_TOKEN_SECRET=SECRET))
    with TestClient(app, base_url="http://127.0.0.1", raise_server_exceptions=False) as made:
        yield made


DESK = bearer("coordinator")


def test_a_coordinator_begins_a_case_for_somebody_and_writes_in_it(guarded: TestClient) -> None:
    begun = guarded.post("/v1/intake/cases", json={}, headers=DESK)
    assert begun.status_code == 200
    case, link = begun.json()["case"], begun.json()["link"]
    said = guarded.post(
        f"/v1/intake/cases/{case}/messages",
        json={"text": "knee replacement, the left one"},
        headers=DESK,
    )
    assert said.status_code == 200
    person = {"Authorization": f"Bearer {link}"}
    own = guarded.post(
        f"/v1/intake/cases/{case}/messages", json={"text": "I am 61"}, headers=person
    )
    assert own.json()["state"]["fields"]["age"]["value"] == 61
    set_by_desk = guarded.put(
        f"/v1/intake/cases/{case}/fields/side", json={"text": "right"}, headers=DESK
    )
    assert set_by_desk.status_code == 200
    (row,) = guarded.get("/v1/intake/cases", headers=DESK).json()
    assert row["case"] == case
    assert any(one.startswith("field: ") for one in row["blocked_by"])
    sent = guarded.post(
        f"/v1/intake/cases/{case}/documents",
        files={"file": ("letter.txt", b"Discharge letter. The knee was examined on 3 May 2026.")},
        headers=DESK,
    )
    assert sent.status_code == 200


def test_a_coordinator_opens_no_patients_record_by_way_of_a_case(guarded: TestClient) -> None:
    clinician = bearer("clinician")
    patient = guarded.get("/v1/patients", headers=clinician).json()[0]["id"]
    assert guarded.get("/v1/patients", headers=DESK).json() == []
    said = guarded.post(
        f"/v1/intake/cases/{patient}/messages", json={"text": "hello"}, headers=DESK
    )
    assert said.status_code == 404
    streamed = guarded.post(
        f"/v1/intake/cases/{patient}/messages",
        json={"text": "hello"},
        headers={**DESK, "Accept": "text/event-stream"},
    )
    assert streamed.status_code == 404
    sent = guarded.post(
        f"/v1/intake/cases/{patient}/documents",
        files={"file": ("a.txt", b"some words of a letter")},
        headers=DESK,
    )
    assert sent.status_code == 404
    asked = guarded.post("/v1/ask", json={"question": "hi", "patient": patient}, headers=DESK)
    assert asked.status_code == 403


@pytest.mark.parametrize("roles", [("engineer",), ("admin",), ("patient",)])
def test_who_is_no_coordinator_writes_in_no_case(guarded: TestClient, roles: tuple[str]) -> None:
    case = guarded.post("/v1/intake/cases", json={}, headers=DESK).json()["case"]
    said = guarded.post(
        f"/v1/intake/cases/{case}/messages", json={"text": "hello"}, headers=bearer(*roles)
    )
    assert said.status_code == 403


def test_a_coordinator_of_one_case_works_at_that_one_alone(guarded: TestClient) -> None:
    case = guarded.post("/v1/intake/cases", json={}, headers=DESK).json()["case"]
    other = guarded.post("/v1/intake/cases", json={}, headers=DESK).json()["case"]
    bound = bearer("coordinator", patients=(case,))
    for where, status in ((case, 200), (other, 403)):
        said = guarded.post(
            f"/v1/intake/cases/{where}/messages", json={"text": "knee"}, headers=bound
        )
        assert said.status_code == status


def test_a_case_with_a_file_is_no_patient_until_it_has_a_record(client: TestClient) -> None:
    """It is listed at the desk; the record of a person who is asked about stays in the list."""
    before = client.get("/v1/patients").json()
    case = client.post("/v1/intake/cases", json={}).json()["case"]
    text = "Knee X-ray report: moderate osteoarthritis of the left knee, no fracture."
    sent = client.post(f"/v1/intake/cases/{case}/documents", files={"file": ("knee.txt", text)})
    assert sent.status_code == 200
    assert before
    assert client.get("/v1/patients").json() == before
    assert case in {item["case"] for item in client.get("/v1/intake/cases").json()}
