"""The companion over HTTP: off until switched on, one person a login, streams, errors."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from bedside.server.app import create_app
from bedside.server.auth import token
from bedside.settings import load_settings
from bedside.wiring import build_engine

SECRET = "a secret of at least thirty-two characters"


def door(home: Path, **environ: str) -> TestClient:
    given = {"BEDSIDE_EMBEDDER": "none", "BEDSIDE_TOKEN_SECRET": SECRET, **environ}
    engine = build_engine(load_settings(home=home, environ=given))
    return TestClient(
        create_app(engine), base_url="http://127.0.0.1", raise_server_exceptions=False
    )


def login(person: str) -> dict[str, str]:
    signed = token(
        SECRET, actor=person, roles=("patient",), patients=(), expires=int(time.time()) + 600
    )
    return {"Authorization": f"Bearer {signed}"}


def says(client: TestClient, person: str, session: str, text: str = "", **act: str):
    body = {"act": act} if act else {"text": text}
    return client.post(f"/v1/companion/{session}/turns", json=body, headers=login(person))


@pytest.mark.requirement("CM-11")
def test_it_is_off_until_the_deployer_switches_it_on(tmp_path):
    with door(tmp_path) as client:
        assert client.get("/v1/companion", headers=login("anna")).status_code == 403
        assert says(client, "anna", "s1", "Hello").status_code == 403


@pytest.mark.requirement("CM-11")
@pytest.mark.requirement("CM-12")
def test_two_logins_talk_share_and_withdraw_and_neither_reads_the_other(tmp_path):
    with door(tmp_path, BEDSIDE_COMPANION="true") as client:
        begun = client.post(
            "/v1/companion", json={"act": {"do": "invite", "id": "ben"}}, headers=login("anna")
        ).json()
        session = begun["session_id"]
        anna = [says(client, "anna", session, text).json() for text in (
            "Yes, let us begin.", "My secret is the letter in the drawer.", "I felt alone.",
            "I was hurt.", "Yes, I feel heard.", "I think he is afraid of the ward.",
        )]  # fmt: skip
        draft = anna[-1]["draft"]
        given = says(client, "anna", session, do="share", id=draft["id"]).json()
        assert given["deed"]["outcome"] == "done"
        assert says(client, "carl", session, "Hello").status_code == 404
        assert client.get(f"/v1/companion/{session}", headers=login("carl")).status_code == 404
        assert client.get("/v1/companion", headers=login("carl")).json() == []
        assert says(client, "ben", session, "Hello").json()["stage"] == 0
        seen = client.get(f"/v1/companion/{session}", headers=login("ben"))
        assert draft["text"] in seen.text
        assert "secret" not in seen.text
        for part in ("", "/prompt", "/trace"):
            url = f"/v1/turns/{anna[1]['turn_id']}{part}"
            assert client.get(url, headers=login("ben")).status_code == 404
        says(client, "anna", session, do="withdraw", id=draft["id"])
        assert (
            draft["text"] not in client.get(f"/v1/companion/{session}", headers=login("ben")).text
        )


def test_nobody_writes_as_another_where_there_are_tokens(tmp_path):
    with door(tmp_path, BEDSIDE_COMPANION="true") as client:
        body = {"text": "Hello", "person": "ben"}
        assert client.post("/v1/companion", json=body, headers=login("anna")).status_code == 403


def test_a_turn_streams_as_events_and_ends_with_the_turn(tmp_path):
    with door(tmp_path, BEDSIDE_COMPANION="true") as client:
        headers = {**login("anna"), "Accept": "text/event-stream"}
        text = client.post("/v1/companion", json={"text": "Hello"}, headers=headers).text
    names = [line[7:] for line in text.splitlines() if line.startswith("event: ")]
    assert (names[0], names[-1]) == ("plan", "done")
    assert "delta" in names
    data = [line[6:] for line in text.splitlines() if line.startswith("data: ")]
    assert json.loads(data[-1])["stage"] == 0


@pytest.mark.parametrize(
    "body",
    [{}, {"text": " "}, {"text": "a", "act": {"do": "share"}}, {"act": {"do": "forgive"}},
     {"text": "a" * 20_001}, {"text": "a\0b"}],
)  # fmt: skip
def test_a_bad_body_is_a_clear_error_and_the_conversation_goes_on(tmp_path, body):
    with door(tmp_path, BEDSIDE_COMPANION="true") as client:
        says(client, "anna", "s1", "Hello")
        found = client.post("/v1/companion/s1/turns", json=body, headers=login("anna"))
        assert 400 <= found.status_code < 500
        assert says(client, "anna", "s1", "Yes").json()["stage"] == 1


@pytest.mark.requirement("CM-11")
@pytest.mark.requirement("EN-S3")
def test_a_person_erases_their_side_over_http_and_cannot_erase_the_others(tmp_path):
    with door(tmp_path, BEDSIDE_COMPANION="true") as client:
        assert says(client, "anna", "s1", do="invite", id="ben").status_code == 200
        assert says(client, "anna", "s1", "My secret is the letter.").status_code == 200
        assert says(client, "ben", "s1", "Hello").status_code == 200
        other = client.delete("/v1/companion/s1?person=anna", headers=login("ben"))
        assert other.status_code == 403
        unknown = client.delete("/v1/companion/s2", headers=login("anna"))
        assert unknown.status_code == 404
        receipt = client.delete("/v1/companion/s1", headers=login("anna"))
        assert receipt.status_code == 200, receipt.text
        assert receipt.json()["residual_bytes"] == 0
        assert client.get("/v1/companion/s1", headers=login("anna")).status_code == 404
        assert client.get("/v1/companion/s1", headers=login("ben")).status_code == 200


@pytest.mark.requirement("CM-11")
def test_a_safety_officer_reads_a_private_turn_only_once_its_writer_reports_it(tmp_path):
    signed = token(
        SECRET, actor="olga", roles=("safety", "admin", "clinician"), patients=None,
        expires=int(time.time()) + 600,
    )  # fmt: skip
    officer = {"Authorization": f"Bearer {signed}"}
    with door(tmp_path, BEDSIDE_COMPANION="true") as client:
        told = says(client, "anna", "s1", "My secret is the letter in the drawer.").json()
        other = says(client, "anna", "s1", "And the key.").json()

        def read(turn: str) -> list[int]:
            parts = ("", "/prompt", "/trace")
            return [client.get(f"/v1/turns/{turn}{p}", headers=officer).status_code for p in parts]

        assert read(told["turn_id"]) == [404, 404, 404]
        assert client.get("/v1/companion/s1", headers=officer).status_code == 404
        assert client.get("/v1/sources/msg-s1-0", headers=officer).status_code == 404
        report = {"target": "answer", "kind": "unsafe", "note": ""}
        url = f"/v1/turns/{told['turn_id']}/reports"
        assert client.post(url, json=report, headers=officer).status_code == 404
        filed = client.post(url, json=report, headers=login("anna"))
        assert filed.status_code < 300, filed.text
        assert read(told["turn_id"]) == [200, 200, 200]
        assert read(other["turn_id"]) == [404, 404, 404]


@pytest.mark.requirement("CM-18")
@pytest.mark.requirement("CM-11")
def test_a_space_of_ones_own_over_http_is_linked_by_its_owner_and_hidden_from_the_other(tmp_path):
    with door(tmp_path, BEDSIDE_COMPANION="true") as client:
        begun = client.post(
            "/v1/companion", json={"act": {"do": "invite", "id": "ben"}}, headers=login("anna")
        ).json()
        session = begun["session_id"]
        says(client, "ben", session, "Hello")
        body = {"text": "Why do I always say fine?", "space": "inner", "link": session}
        mine = client.post("/v1/companion", json=body, headers=login("anna")).json()
        assert (mine["space"], mine["status"]) == ("inner", "complete")
        for person, link in (("carl", session), ("anna", "nowhere"), ("anna", mine["session_id"])):
            streamed = {**login(person), "Accept": "text/event-stream"}
            refused = client.post("/v1/companion", json={**body, "link": link}, headers=streamed)
            assert refused.status_code in {404, 422}, refused.text
            assert "fine" not in refused.text
        assert says(client, "ben", mine["session_id"], "Let me in").status_code == 404
        listed = client.get("/v1/companion", headers=login("anna")).json()
        assert [(one["space"], one["link"]) for one in listed] == [
            ("inner", session), ("conversation", None),
        ]  # fmt: skip
        assert mine["session_id"] not in client.get("/v1/companion", headers=login("ben")).text
        kept = says(client, "anna", session, do="prefer", id="shorter answers").json()
        assert kept["kept"]["line"] == "Shorter answers."
        gone = says(client, "anna", session, do="forget", id=kept["kept"]["id"]).json()
        assert gone["deed"]["outcome"] == "done"
        late = {"text": "Hello", "space": "inner"}
        path = f"/v1/companion/{session}/turns"
        assert client.post(path, json=late, headers=login("anna")).status_code == 422
