"""kill -9 while a turn runs: it is complete or incomplete, never absent; one answer a key (row 2)."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sqlite3
import threading
from pathlib import Path
from typing import Any

import pytest

from bedside.core.ids import TenantId
from bedside.storage import access
from bedside.storage.engine import open_engine, sqlite_url
from bedside.storage.store import Store
from bedside.testing.provider import FakeProvider
from bedside.testing.provider_script import Fault, Received, Said

BY_RULE = "What is the latest HbA1c?"
BY_MODEL = "How should her treatment be changed, and why?"


@contextlib.contextmanager
def rows(home: Path):
    connection = sqlite3.connect(home / "bedside.db")
    connection.row_factory = sqlite3.Row
    try:
        yield lambda sql: [dict(row) for row in connection.execute(sql)]
    finally:
        connection.close()


def answered(acks: Path) -> list[dict[str, Any]]:
    lines = acks.read_text("utf-8").splitlines() if acks.exists() else []
    return [
        json.loads(line.removeprefix("answered ")) for line in lines if line.startswith("answered ")
    ]


def after_a_kill(home: Path, acks: Path) -> str:
    """The state of the one turn as the rows have it: "none" before its first transaction, or a status."""
    with rows(home) as ask:
        assert ask("PRAGMA integrity_check") == [{"integrity_check": "ok"}]
        turns = ask("SELECT * FROM turn")
        said = ask("SELECT * FROM message ORDER BY ordinal")
        cited = ask("SELECT * FROM citation")
        granted = ask("SELECT * FROM audit WHERE action = 'ask'")
    if not turns:
        assert said == []
        assert granted == []
        assert answered(acks) == []
        return "none"
    (turn,) = turns
    assert len(granted) == 1
    if turn["status"] == "complete":
        assert [item["role"] for item in said] == ["user", "assistant"]
        assert json.loads(turn["result"])["status"] == "complete"
        assert len(cited) == len(json.loads(turn["result"])["citations"])
    else:
        assert turn["status"] == "open"
        assert [item["role"] for item in said] == ["user"]
        assert (turn["result"], cited) == (None, [])
        assert answered(acks) == [], "an answer was acknowledged whose turn is not complete"
    return turn["status"]


def after_the_same_key(home: Path, first: Path, again: Path) -> dict[str, Any]:
    """Exactly one complete turn with one answer; what was acknowledged before is what is given now."""
    (body,) = answered(again)
    assert body["status"] == "complete"
    assert body["answer"]
    with rows(home) as ask:
        (turn,) = ask("SELECT * FROM turn")
        said = ask(
            "SELECT m.role, s.text FROM message m JOIN source s ON s.id = m.source ORDER BY ordinal"
        )
        lease = ask("SELECT lease_turn, lease_owner FROM session")
    assert turn["status"] == "complete"
    assert json.loads(turn["result"]) == body
    assert [item["role"] for item in said] == ["user", "assistant"]
    assert lease == [{"lease_turn": None, "lease_owner": None}]
    for earlier in answered(first):
        assert earlier == body
    store = Store(open_engine(sqlite_url(home)))
    assert store.read_now(lambda c: access.verify(c, tenant=TenantId("default"))).ok
    store.close()
    return body


@pytest.mark.requirement("RELIABILITY-2")
@pytest.mark.timing
@pytest.mark.timeout(900)
def test_a_turn_killed_before_any_of_its_statements_is_answered_once(
    crasher, home: Path, tmp_path: Path
) -> None:
    counted = tmp_path / "counted"
    whole = Path(shutil.copytree(home, tmp_path / "whole"))
    order = {"do": "ask", "question": BY_RULE, "key": "k"}
    assert crasher.run(**order, home=str(whole), acks=str(counted)) == 0
    statements = int(counted.read_text("utf-8").split()[-1])
    assert statements > 20
    wanted = answered(counted)[0]["answer"]
    step = 1 if os.environ.get("BEDSIDE_NIGHTLY") else max(1, statements // 5)
    seen: set[str] = set()
    for at in range(1, statements + 1, step):
        copy, acks, again = tmp_path / f"h{at}", tmp_path / f"a{at}", tmp_path / f"b{at}"
        shutil.copytree(home, copy)
        assert crasher.run(**order, home=str(copy), acks=str(acks), at=at) == -9
        seen.add(after_a_kill(copy, acks))
        recover = at % 2 == 0  # a server that starts, or a command that finds the dead lease itself
        assert crasher.run(**order, home=str(copy), acks=str(again), recover=recover) == 0
        body = after_the_same_key(copy, acks, again)
        assert body["answer"] == wanted
        shutil.rmtree(copy)
    assert seen >= {"none", "open"}


@pytest.mark.requirement("RELIABILITY-2")
def test_a_turn_killed_after_it_was_answered_gives_that_answer_again(
    crasher, home: Path, tmp_path: Path
) -> None:
    first, again = tmp_path / "first", tmp_path / "again"
    order = {"do": "ask", "question": BY_RULE, "key": "k", "home": str(home)}
    assert crasher.run(**order, acks=str(first)) == 0
    assert after_a_kill(home, first) == "complete"
    assert crasher.run(**order, acks=str(again)) == 0
    after_the_same_key(home, first, again)


@pytest.mark.requirement("RELIABILITY-2")
@pytest.mark.timing
@pytest.mark.timeout(120)
@pytest.mark.parametrize("events", [0, 2])
def test_a_turn_killed_while_its_model_writes_is_answered_once(
    crasher, home: Path, tmp_path: Path, events: int
) -> None:
    came = threading.Event()

    def script(_: Received) -> Said | Fault:
        if came.is_set():
            return Said(text="The record holds no treatment, so no change can be argued from it.")
        came.set()
        return Fault(kind="silence", after=events, said=Said(text="One two three four five six."))

    first, again = tmp_path / "first", tmp_path / "again"
    with FakeProvider(script) as provider:
        order = {
            "do": "ask", "question": BY_MODEL, "key": "k", "home": str(home),
            "environ": {
                "BEDSIDE_WRITER": "openai:fake", "OPENAI_API_KEY": "none",
                "OPENAI_BASE_URL": provider.address("openai"), "BEDSIDE_EGRESS_ALLOW": "openai",
            },
        }  # fmt: skip
        assert crasher.run(lambda _: came.wait(60), **order, acks=str(first)) == -9
        assert after_a_kill(home, first) == "open"
        assert crasher.run(**order, acks=str(again), recover=True) == 0
        body = after_the_same_key(home, first, again)
        assert body["answered_by"] == "model:fake"
        asked = len(provider.requests)  # the killed call, the answer, and perhaps its repair
        assert 2 <= asked <= 3
        third = tmp_path / "third"
        assert crasher.run(**order, acks=str(third)) == 0
        assert answered(third) == [body]
        assert len(provider.requests) == asked
