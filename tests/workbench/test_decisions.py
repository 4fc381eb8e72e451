"""Decisions about a briefing's options over HTTP: kept, scoped, audited, and no report."""

from __future__ import annotations

import pytest
from fastapi.testclient import TestClient

from .conftest import Guarded

P = "demo-herrera"


@pytest.fixture
def client(guarded: Guarded) -> Guarded:
    return guarded


bearer = Guarded.bearer


@pytest.fixture
def turn(client: TestClient) -> str:
    return client.post("/v1/brief", json={"patient": P}, headers=bearer()).json()["turn_id"]


def put(client: TestClient, turn: str, headers: dict[str, str] | None = None, **body):
    given = {"target": "action:0", "state": "accepted", **body}
    return client.post(f"/v1/turns/{turn}/decisions", json=given, headers=headers or bearer())


def test_the_newest_decision_of_a_target_stands_with_its_author(client, turn):
    assert put(client, turn).status_code == 200
    assert put(client, turn, state="dismissed", reason="declined").status_code == 200
    assert put(client, turn, target="flag:1", state="dismissed", reason="seen").status_code == 200
    stands = client.get(f"/v1/turns/{turn}/decisions", headers=bearer()).json()
    assert [(one["target"], one["state"], one["reason"], one["by"]) for one in stands] == [
        ("action:0", "dismissed", "declined", "dr-1"),
        ("flag:1", "dismissed", "seen", "dr-1"),
    ]
    assert client.get("/v1/reports", headers=bearer(roles=("safety",))).json() == []


@pytest.mark.parametrize(
    ("body", "status", "said"),
    [
        ({"state": "dismissed"}, 422, "a reason"),
        ({"state": "dismissed", "reason": "  "}, 422, "a reason"),
        ({"state": "edited"}, 422, "its words"),
        ({"target": "action:999"}, 404, "No option of this briefing"),
        ({"target": "claim:0"}, 422, "target"),
        ({"state": "ordered"}, 422, "state"),
    ],
)
def test_a_decision_without_its_ground_or_its_option_is_refused(client, turn, body, status, said):
    answer = put(client, turn, **body)
    assert answer.status_code == status
    assert said in answer.json()["detail"]
    assert client.get(f"/v1/turns/{turn}/decisions", headers=bearer()).json() == []


def test_nobody_decides_for_a_patient_whom_they_may_not_see(client, turn):
    other = bearer(patients=("demo-chow",))
    assert put(client, turn, other).status_code == 404
    assert client.get(f"/v1/turns/{turn}/decisions", headers=other).status_code == 404
    assert put(client, turn, bearer(roles=("safety",))).status_code == 403
    assert put(client, turn, bearer(tenant="elsewhere")).status_code == 404


def test_a_decision_is_in_the_audit_trail_and_goes_with_the_patient(client, turn):
    put(client, turn, state="edited", text="Ask about naproxen-canary-77")
    trail = client.get(f"/v1/audit?patient={P}", headers=bearer(roles=("safety",))).json()
    assert ("review", "action edited") in [(one["action"], one["purpose"]) for one in trail]
    assert "canary" not in str(trail)
    receipt = client.delete(f"/v1/patients/{P}", headers=bearer(roles=("admin",))).json()
    assert receipt["removed"]["report"] == 1
    assert client.get(f"/v1/turns/{turn}/decisions", headers=bearer()).status_code == 404


def test_a_note_s_file_is_its_owner_s_alone_and_never_shown_in_the_page(client):
    made = client.post("/v1/notes/summarise", json={"text": "PLAN:\nRest."}, headers=bearer())
    path = f"/v1/notes/{made.json()['turn_id']}/file?format=html"
    answer = client.get(path, headers=bearer())
    assert answer.status_code == 200
    assert answer.headers["content-disposition"].startswith("attachment;")
    assert answer.headers["cache-control"] == "no-store"
    assert client.get(path, headers=bearer(actor="dr-2")).status_code == 404


def test_a_turn_that_is_no_note_has_no_file(client, turn):
    assert client.get(f"/v1/notes/{turn}/file", headers=bearer()).status_code == 404


def test_an_upload_becomes_text_and_what_holds_none_is_refused(client):
    def send(name: str, data: bytes):
        return client.post("/v1/notes/text", files={"file": (name, data)}, headers=bearer())

    good = send("note.md", b"PLAN:\nRest.\n")
    assert good.json() == {"title": "note.md", "text": "PLAN:\nRest.\n"}
    assert send("note.pdf", b"%PDF-1.4 broken").status_code == 422
    assert (
        client.post(
            "/v1/notes/text", files={"file": ("n.md", b"x")}, headers=bearer(roles=("safety",))
        ).status_code
        == 403
    )
