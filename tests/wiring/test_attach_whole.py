"""An attach that is cut, or that meets an erasure, leaves a document whole, queued or absent."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

import pytest
from sqlalchemy import Connection

from bedside.core.errors import NotFound
from bedside.core.ids import ActorId, PatientId, TenantId
from bedside.settings import load_settings
from bedside.storage import access
from bedside.storage.engine import open_engine, sqlite_url
from bedside.storage.erasure import bury, leftovers
from bedside.storage.store import Store
from bedside.wiring import Engine, build_engine
from bedside.wiring.clock import SystemClock
from bedside.wiring.texts import Texts

R = TypeVar("R")
T = TenantId("default")
LETTER = b"Clinic letter\n\nShe keeps zebrafinches and walks to Tavistock.\n"


class Cut(RuntimeError):
    """The process ended here."""


class Hooked(Store):
    """A store that does something before its n-th write."""

    def __init__(self, home: Path, *, at: int, what: Callable[[], None]) -> None:
        super().__init__(open_engine(sqlite_url(home)))
        self.left, self.what = at, what

    def write_now(self, fn: Callable[[Connection], R]) -> R:
        self.left -= 1
        if self.left == 0:
            self.what()
        return super().write_now(fn)


def opened(home: Path) -> Engine:
    return build_engine(load_settings(home=home, environ={"BEDSIDE_EMBEDDER": "none"}))


def filled(home: Path) -> None:
    resource = {"resourceType": "Patient", "id": "ann", "name": [{"family": "Lee"}]}
    body = {"resourceType": "Bundle", "type": "collection", "entry": [{"resource": resource}]}

    async def work() -> None:
        engine = opened(home)
        await engine.import_bytes([("a.json", json.dumps(body).encode())], engine.local())
        await engine.close()

    asyncio.run(work())


def attach(home: Path, *, at: int, what: Callable[[], None]) -> int:
    """Attach through a hooked store; how many writes were left to the hook."""
    settings = load_settings(home=home, environ={"BEDSIDE_EMBEDDER": "none"})
    store = Hooked(home, at=10**6, what=what)
    grant = store.write_now(
        lambda c: access.grant(
            c,
            tenant=T,
            actor=ActorId("dr"),
            action="write",
            at=datetime.now(UTC),
            patient=PatientId("ann"),
        )
    )
    store.left = at
    texts = Texts(settings=settings, store=store, clock=SystemClock())
    try:
        read = asyncio.run(texts.read_files([("letter.txt", LETTER)]))
        asyncio.run(texts.attach(grant, read))
    finally:
        texts.close()
        store.close()
    return store.left


def cut() -> None:
    raise Cut


def seen(home: Path) -> tuple[int, int, list[str]]:
    with sqlite3.connect(home / "bedside.db") as plain:
        texts = plain.execute("SELECT count(*) FROM source WHERE kind = 'document'").fetchone()[0]
        chunks = plain.execute("SELECT count(*) FROM chunk").fetchone()[0]
        states = plain.execute("SELECT status FROM record_document").fetchall()
    return texts, chunks, [row[0] for row in states]


@pytest.mark.parametrize("at", range(1, 5))
def test_a_cut_attach_is_absent_queued_or_whole_and_attaching_again_makes_it_whole(
    tmp_path: Path, at: int
) -> None:
    filled(tmp_path)
    try:
        assert attach(tmp_path, at=at, what=cut) > 0
    except Cut:
        texts, chunks, states = seen(tmp_path)
        assert (texts, chunks) == (0, 0)
        assert states in ([], ["queued"])
    else:
        assert at > 2, "an attach is two writes"

    async def again() -> list[dict[str, Any]]:
        engine = opened(tmp_path)
        await engine.attach("ann", [("letter.txt", LETTER)], engine.local())
        found = await engine.documents("ann", engine.local())
        await engine.close()
        return found

    (made,) = asyncio.run(again())
    assert (made["status"], made["index"]) == ("complete", "words")
    texts, chunks, states = seen(tmp_path)
    assert (texts, states) == (1, ["complete"])
    assert chunks >= 1


@pytest.mark.requirement("RELIABILITY-20")
@pytest.mark.parametrize("at", [1, 2])
def test_an_erasure_between_two_writes_of_an_attach_leaves_nothing_of_it(
    tmp_path: Path, at: int
) -> None:
    filled(tmp_path)

    def erased() -> None:
        other = Store(open_engine(sqlite_url(tmp_path)))
        other.write_now(
            lambda c: bury(
                c,
                tenant=T,
                who=PatientId("ann"),
                actor=ActorId("x"),
                ident="e",
                at=datetime.now(UTC),
            )
        )
        other.close()

    with pytest.raises(NotFound):
        attach(tmp_path, at=at, what=erased)
    assert seen(tmp_path) == (0, 0, [])
    engine = opened(tmp_path)
    assert engine.store.read_now(leftovers) == {}
    asyncio.run(engine.close())
