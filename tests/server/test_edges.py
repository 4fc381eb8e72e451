"""The door's edges: streams that break, other hosts, roles, bodies that are too large."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Iterator

import pytest
from fastapi.testclient import TestClient
from prometheus_client import CollectorRegistry

from bedside.core.errors import Conflict
from bedside.flows.sources import Sources
from bedside.server.app import create_app
from bedside.server.auth import token
from bedside.server.edge import Edge
from bedside.wiring import Ask, Who

from .conftest import engine_of

SECRET = "s" * 40
P, OTHER = "demo-adeyemi", "demo-chow"
CANARY = "Zyxwvut-9931"


@pytest.fixture
def guarded(home) -> Iterator[TestClient]:
    app = create_app(engine_of(home, BEDSIDE_TOKEN_SECRET=SECRET))
    with TestClient(app, raise_server_exceptions=False) as made:
        yield made


def bearer(**more) -> dict[str, str]:
    given = {"actor": "dr", "expires": int(time.time()) + 600, **more}
    return {"Authorization": f"Bearer {token(SECRET, **given)}"}


def frames(text: str) -> list[tuple[str, dict]]:
    found = []
    for frame in text.split("\n\n"):
        lines = dict(line.split(": ", 1) for line in frame.splitlines() if ": " in line)
        if "event" in lines:
            found.append((lines["event"], json.loads(lines["data"])))
    return found


@pytest.fixture
def broken(monkeypatch) -> None:
    """A room with a bug whose message holds patient text."""

    async def fail(self, needs, grant):
        raise KeyError(CANARY)

    monkeypatch.setattr(Sources, "gather", fail)


@pytest.mark.requirement("EN-S4")
@pytest.mark.usefixtures("broken")
def test_a_stream_that_breaks_says_so_as_its_last_event(client):
    answer = client.post(
        "/v1/ask",
        json={"question": "latest HbA1c?", "patient": P},
        headers={"Accept": "text/event-stream"},
    )
    name, body = frames(answer.text)[-1]
    assert name == "error"
    assert body["title"] == "Unexpected failure"
    assert CANARY not in answer.text


@pytest.mark.requirement("EN-S4")
@pytest.mark.usefixtures("broken")
def test_a_chat_stream_that_breaks_says_so_and_does_not_stop_as_if_whole(client):
    answer = client.post(
        "/v1/chat/completions",
        json={
            "model": "bedside/copilot",
            "messages": [{"role": "user", "content": "latest HbA1c?"}],
            "stream": True,
        },
        headers={"Bedside-Patient": P},
    )
    assert '"error"' in answer.text
    assert '"finish_reason": "stop"' not in answer.text
    assert CANARY not in answer.text


@pytest.mark.requirement("EN-S4")
@pytest.mark.usefixtures("broken")
def test_an_unforeseen_failure_is_a_problem_and_its_message_reaches_no_log(client, caplog):
    with caplog.at_level(logging.DEBUG):
        answer = client.post("/v1/ask", json={"question": "latest HbA1c?", "patient": P})
    assert answer.status_code == 500
    assert answer.headers["content-type"] == "application/problem+json"
    assert "Content-Security-Policy" in answer.headers
    assert CANARY not in answer.text
    assert CANARY not in caplog.text
    assert 'status="500"' in client.get("/metrics").text


@pytest.mark.usefixtures("broken")
def test_an_unforeseen_failure_never_reaches_the_server_that_would_log_its_text(home):
    with TestClient(create_app(engine_of(home)), base_url="http://localhost") as strict:
        assert strict.post("/v1/ask", json={"question": "HbA1c?", "patient": P}).status_code == 500


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8321", "127.0.0.1.evil.example", "["]
)
def test_without_a_token_only_this_machines_own_names_are_answered(client, host):
    """A page elsewhere that lets its name point at this machine is the same site to a browser."""
    for path in ("/", "/v1/patients", "/metrics"):
        assert client.get(path, headers={"Host": host}).status_code == 421


@pytest.mark.parametrize("host", ["localhost:8321", "127.0.0.1", "[::1]:8321"])
def test_this_machines_names_are_answered(client, host):
    assert client.get("/v1/patients", headers={"Host": host}).status_code == 200


def test_with_a_token_any_host_name_serves(guarded):
    headers = {**bearer(), "Host": "bedside.example"}
    assert guarded.get("/v1/patients", headers=headers).status_code == 200


def test_a_write_from_another_origin_is_refused_by_an_older_browser_too(client):
    body = {"query": "metformin"}
    evil = client.post("/v1/search", json=body, headers={"Origin": "http://evil.example"})
    assert evil.status_code == 403
    same = client.post("/v1/search", json=body, headers={"Origin": "http://127.0.0.1"})
    assert same.status_code == 200


@pytest.mark.requirement("RELIABILITY-16")
@pytest.mark.parametrize("role", ["admin", "engineer"])
def test_who_runs_the_house_does_not_read_records(guarded, role):
    asked = guarded.post(
        "/v1/ask", json={"question": "latest HbA1c?", "patient": P}, headers=bearer()
    ).json()
    mine = bearer(roles=(role,))
    source = asked["citations"][0]["source"]["id"]
    for path in (
        f"/v1/patients/{P}/opening",
        f"/v1/patients/{P}/documents",
        f"/v1/patients/{P}/turns",
        f"/v1/turns/{asked['turn_id']}",
        f"/v1/turns/{asked['turn_id']}/prompt",
        f"/v1/sources/{source}",
    ):
        assert guarded.get(path, headers=mine).status_code in (403, 404), path
    assert guarded.get("/v1/patients", headers=mine).json() == []


@pytest.mark.requirement("RELIABILITY-16")
def test_a_patient_sees_the_patients_that_the_token_names_and_no_other(guarded):
    anybody = bearer(roles=("patient",))
    assert guarded.get("/v1/patients", headers=anybody).json() == []
    assert guarded.get(f"/v1/patients/{P}/opening", headers=anybody).status_code == 403
    self = bearer(roles=("patient",), patients=(P,))
    assert [row["id"] for row in guarded.get("/v1/patients", headers=self).json()] == [P]
    assert guarded.get(f"/v1/patients/{OTHER}/opening", headers=self).status_code == 403


def test_the_settings_page_asks_for_the_role_that_its_json_asks_for(guarded):
    assert guarded.get("/settings", headers=bearer()).status_code == 403
    assert guarded.get("/settings", headers=bearer(roles=("engineer",))).status_code == 200


def test_a_browser_without_a_token_is_led_to_the_login_page(guarded):
    answer = guarded.get("/", headers={"Accept": "text/html"}, follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (303, "/login")
    missing = guarded.get("/inspect/none", headers={**bearer(), "Accept": "text/html"})
    assert missing.status_code == 404
    assert missing.headers["content-type"].startswith("text/html")


@pytest.mark.requirement("EN-S7")
def test_who_asks_chooses_among_the_models_of_the_settings(guarded):
    body = {"question": "latest HbA1c?", "patient": P, "model": "openai:another"}
    assert guarded.post("/v1/ask", json=body, headers=bearer()).status_code == 403
    body["model"] = "extractive"
    assert guarded.post("/v1/ask", json=body, headers=bearer()).status_code == 200


@pytest.mark.parametrize(
    "body",
    [
        {"question": "latest \ud800 HbA1c?", "patient": P},
        {"question": "latest \x00 HbA1c?", "patient": P},
        {"question": "latest HbA1c?", "patient": P, "session": "Ruth Adeyemi, born 1958"},
    ],
)
def test_text_that_is_none_and_sessions_that_speak_are_refused(client, body):
    answer = client.post("/v1/ask", content=json.dumps(body).encode())
    assert answer.status_code == 422
    assert "Adeyemi" not in answer.text


def test_a_body_that_is_too_large_is_refused_as_it_comes(home):
    app = create_app(engine_of(home, BEDSIDE_UPLOAD_BYTES="1000"))
    with TestClient(app, base_url="http://localhost", raise_server_exceptions=False) as client:
        told = client.post("/v1/search", content=b"x" * 2_000_000)
        assert told.status_code == 413
        assert "document" in told.json()["detail"]
        file = client.post("/v1/documents", content=b"x" * 2_000_000)
        assert file.status_code == 413
        assert "BEDSIDE_UPLOAD_BYTES" in file.json()["detail"]

        def untold() -> Iterator[bytes]:
            for _ in range(40):
                yield b"x" * 100_000

        assert client.post("/v1/search", content=untold()).status_code == 413
        assert client.get("/v1/patients").status_code == 200


@pytest.mark.requirement("EN-T4")
def test_a_key_in_use_does_not_hand_over_another_patients_answer(home):
    async def go() -> None:
        engine = engine_of(home)
        one = Ask(question="latest HbA1c?", patient=P, key="k")
        first = engine.asker.start(one, Who())
        with pytest.raises(Conflict):
            engine.asker.start(Ask(question="latest HbA1c?", patient=OTHER, key="k"), Who())
        assert engine.asker.start(one, Who()) is first
        await first.result()
        await engine.close()

    asyncio.run(go())


def test_what_was_removed_does_not_come_back_as_history(client):
    """A chat front-end sends our own answer back, footer and all."""
    removed = "She also has lupus."
    answer = client.post(
        "/v1/chat/completions",
        json={
            "model": "bedside/copilot",
            "messages": [
                {"role": "user", "content": "latest HbA1c?"},
                {"role": "assistant", "content": f"8.6 % [1]\n\nRemoved\n- {removed} (no_support)"},
                {"role": "user", "content": "and the creatinine?"},
            ],
        },
        headers={"Bedside-Patient": P},
    ).json()
    prompt = client.get(f"/v1/turns/{answer['bedside']['turn_id']}/prompt").json()
    sent = "\n".join(part["content"] for part in prompt)
    assert "8.6 %" in sent
    assert removed not in sent


@pytest.mark.requirement("EN-S4")
def test_a_failure_after_the_answer_began_reaches_no_log_and_no_server(caplog):
    """What the server would log is the text of the failure; the cut answer speaks for itself."""

    async def breaks(_scope, _receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": []})
        raise KeyError(CANARY)

    sent: list[dict] = []

    async def send(message):
        sent.append(message)

    edge = Edge(breaks, registry=CollectorRegistry(), any_host=True)
    scope = {"type": "http", "path": "/v1/ask", "method": "POST", "headers": []}
    with caplog.at_level(logging.DEBUG):
        asyncio.run(edge(scope, None, send))
    assert [one["type"] for one in sent] == ["http.response.start"]
    assert (b"cache-control", b"no-store") in sent[0]["headers"]
    assert CANARY not in caplog.text
    assert "KeyError" in caplog.text


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/v1/sops/" + "a" * 6_000, 404),
        (f"/v1/sources/{'a' * 6_000}", 404),
        ("/v1/sources/demo-type-2-diabetes-2025?revision=99999999999999999999999", 404),
        ("/v1/catalogue/nosuch/x", 422),
    ],
)
def test_a_name_or_a_number_beyond_what_the_store_holds_is_no_failure(client, path, status):
    answer = client.get(path)
    assert answer.status_code == status
    assert "nosuch of that name" not in answer.text


def test_a_deployers_own_help_is_saved_under_its_name_and_shown_at_the_next_danger(home):
    """The companion's data has names with a slash."""
    app = create_app(engine_of(home, BEDSIDE_COMPANION="true"))
    path = "/v1/catalogue/prompt/companion/safety"
    with TestClient(app, base_url="http://127.0.0.1") as client:
        text = "help: {IN: Ask the night nurse on 4711.}"
        assert client.put(path, json={"body": {"text": text}}).json()["version"] == 1
        assert [one["body"] for one in client.get(path).json()] == [{"text": text}]
        turn = client.post("/v1/companion/s/turns", json={"text": "I want to kill myself tonight."})
        assert "night nurse on 4711" in turn.json()["answer"]
