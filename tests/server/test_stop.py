"""A running turn can be stopped by who asked: its model call closes, and it is kept as incomplete."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from fastapi.testclient import TestClient

from bedside.server.app import create_app
from bedside.server.auth import token
from bedside.storage import turns
from bedside.testing import provider as fake
from bedside.testing.provider import FakeProvider, Said

from .conftest import engine_of

SECRET = "s" * 40
P = "demo-adeyemi"
ASKED = {"question": "Weigh up what might explain her tiredness.", "patient": P}
SLOW = Said(pieces=("Let me look. ", *("and " for _ in range(400))), delay_s=0.1)


@pytest.fixture
def provider() -> Iterator[FakeProvider]:
    with FakeProvider([SLOW]) as made:
        yield made


@pytest.fixture
def client(home, provider) -> Iterator[TestClient]:
    engine = engine_of(
        home,
        BEDSIDE_TOKEN_SECRET=SECRET,
        BEDSIDE_WRITER="openai:gpt-4.1,extractive",
        OPENAI_BASE_URL=provider.address("openai"),
        OPENAI_API_KEY="k",
    )
    with TestClient(create_app(engine), raise_server_exceptions=False) as made:
        yield made


def headers(actor: str = "dr", *, tenant: str = "default", **more: str) -> dict[str, str]:
    roles = ("clinician", "safety")
    given = token(SECRET, actor=actor, tenant=tenant, roles=roles, expires=int(time.time()) + 600)
    return {"Authorization": f"Bearer {given}", **more}


def asking(client: TestClient, **more: str) -> tuple[threading.Thread, list]:
    got: list = []

    def post() -> None:
        sent = headers(**{"Idempotency-Key": "k1"}, **more)
        got.append(client.post("/v1/ask", json=ASKED, headers=sent))

    thread = threading.Thread(target=post)
    thread.start()
    return thread, got


def heard(provider: FakeProvider) -> None:
    ends = time.monotonic() + 30
    while not provider.requests and time.monotonic() < ends:
        threading.Event().wait(0.02)


@pytest.mark.requirement("EN-S3")
@pytest.mark.requirement("EN-S6")
def test_a_stopped_turn_tells_who_waits_and_is_kept_as_incomplete(client, provider):
    thread, got = asking(client)
    heard(provider)
    key = {"Idempotency-Key": "k1"}
    assert client.delete("/v1/turns", headers=headers("other", **key)).status_code == 404
    began = time.monotonic()
    assert client.delete("/v1/turns", headers=headers(**key)).status_code == 200
    thread.join(20)
    assert time.monotonic() - began < 20, "the reply would have taken forty seconds"
    assert (got[0].status_code, "stopped" in got[0].json()["detail"]) == (409, True)
    kept = client.get(f"/v1/patients/{P}/turns", headers=headers()).json()[0]
    assert kept["status"] == "incomplete"
    assert client.delete("/v1/turns", headers=headers(**key)).status_code == 404
    body = client.get(f"/v1/turns/{kept['turn_id']}", headers=headers()).json()
    assert (body["degraded"], len(provider.requests)) == (["turn: cancelled"], 1)
    trail = client.get("/v1/audit", params={"patient": P}, headers=headers()).json()
    acts = [(one["actor"], one["action"]) for one in trail if one["purpose"] == "stop"]
    assert acts == [("dr", "write")], "one entry, and none for who had no such turn"


def test_a_stopped_stream_ends_with_an_error_event(client, provider):
    thread, got = asking(client, Accept="text/event-stream")
    heard(provider)
    client.delete("/v1/turns", headers=headers(**{"Idempotency-Key": "k1"}))
    thread.join(20)
    assert got[0].text.rstrip().rpartition("event: ")[2].startswith("error")


def test_reading_a_trace_and_a_cost_is_audited_for_the_patient(client):
    sent = {"question": "What is her latest potassium?", "patient": P, "session": "s1"}
    turn = client.post("/v1/ask", json=sent, headers=headers()).json()
    client.get(f"/v1/turns/{turn['turn_id']}/trace", headers=headers())
    client.get("/v1/sessions/s1/cost", headers=headers())
    audited = client.get("/v1/audit", params={"patient": P}, headers=headers()).json()
    assert {"trace", "cost"} <= {one["purpose"] for one in audited}


def test_a_stop_closes_the_model_call_and_frees_the_conversation(client, provider, monkeypatch):
    sent: list[float] = []
    send = fake._send

    async def counting(writer: asyncio.StreamWriter, data: bytes) -> None:
        await send(writer, data)
        sent.append(time.monotonic())

    monkeypatch.setattr(fake, "_send", counting)
    key = {"Idempotency-Key": "k1"}
    body = {**ASKED, "session": "s-stop"}
    with client_thread(client, body, headers(**key)) as got:
        heard(provider)
        other = headers(tenant="elsewhere", **key)
        assert client.delete("/v1/turns", headers=other).status_code == 404
        assert client.delete("/v1/turns", headers=headers(**key)).status_code == 200
        stopped = time.monotonic()
    assert got[0].status_code == 409
    asked = {"question": "What is her latest potassium?", "patient": P, "session": "s-stop"}
    began = time.monotonic()
    assert client.post("/v1/ask", json=asked, headers=headers()).json()["status"] == "complete"
    assert time.monotonic() - began < 5, "no lease is waited for"
    threading.Event().wait(0.3)
    assert max(sent) < stopped + 0.25, "the provider could write no more"


@contextmanager
def client_thread(client: TestClient, body: dict, sent: dict[str, str]) -> Iterator[list]:
    got: list = []
    thread = threading.Thread(
        target=lambda: got.append(client.post("/v1/ask", json=body, headers=sent))
    )
    thread.start()
    yield got
    thread.join(20)


@pytest.mark.parametrize("where", ["begin", "finish"])
def test_a_stop_while_the_turn_is_being_stored_leaves_no_half(client, monkeypatch, where):
    reached, go = threading.Event(), threading.Event()
    store = getattr(turns, where)

    def slow(*args: Any, **named: Any) -> Any:
        done = store(*args, **named)
        reached.set()
        go.wait(10)
        return done

    monkeypatch.setattr(turns, where, slow)
    key = {"Idempotency-Key": "k2"}
    asked = {"question": "What is her latest potassium?", "patient": P, "session": "s-half"}
    said: list[int] = []
    with client_thread(client, asked, headers(**key)) as got:
        assert reached.wait(10)

        def delete() -> None:
            said.append(client.delete("/v1/turns", headers=headers(**key)).status_code)

        stopping = threading.Thread(target=delete)
        stopping.start()
        threading.Event().wait(0.1)  # the stop arrives; what is being written is held up
        go.set()
        stopping.join(20)
    kept = client.get(f"/v1/patients/{P}/turns", headers=headers()).json()[0]["status"]
    whole = where == "finish"
    assert (got[0].status_code, said, kept) == (
        (200, [404], "complete") if whole else (409, [200], "incomplete")
    )
    began = time.monotonic()
    following = client.post("/v1/ask", json=asked, headers=headers(**key)).json()
    assert (following["status"], time.monotonic() - began < 5) == ("complete", True)
