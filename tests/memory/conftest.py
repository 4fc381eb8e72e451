"""A real database with conversations in it, and an embedder that behaves like one."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import insert

from bedside.core.access import Grant
from bedside.core.ids import ActorId, PatientId, PersonId, SessionId, TenantId
from bedside.language.stems import stems
from bedside.memory.recall import Memory
from bedside.storage.engine import open_engine, sqlite_url
from bedside.storage.schema import migrate
from bedside.storage.store import Store
from bedside.storage.tables.source import source
from bedside.storage.tables.turn import message, session, turn

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)  # a Monday


class BagOfWords:
    """Texts that share words have near vectors; counts what it was asked."""

    id = "bag-of-words"
    dim = 64

    def __init__(self) -> None:
        self.asked: list[str] = []

    def embed(self, texts: Sequence[str], *, kind: str) -> Any:
        del kind
        self.asked += texts
        rows = np.zeros((len(texts), self.dim), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in stems(text):
                row[int(hashlib.sha256(word.encode()).hexdigest(), 16) % self.dim] += 1.0
        norms = np.linalg.norm(rows, axis=1, keepdims=True)
        return rows / np.maximum(norms, 1e-9)


class Ticking:
    def now(self) -> datetime:
        return START + timedelta(days=30)

    def monotonic(self) -> float:
        return time.perf_counter()


class Talks:
    """Writes conversations as the ledger of turns does, and makes grants."""

    def __init__(self, store: Store) -> None:
        self.store, self._days = store, 0

    def grant(
        self,
        person: str | None,
        *,
        session: str | None = None,
        patient: str | None = None,
        actor: str = "actor",
        tenant: str = "t",
    ) -> Grant:
        return Grant(
            tenant=TenantId(tenant),
            actor=ActorId(actor),
            audit_seq=1,
            person=PersonId(person) if person else None,
            session=SessionId(session) if session else None,
            patient=PatientId(patient) if patient else None,
        )

    def say(self, name: str, lines: Sequence[tuple[str, str, str]], **of: Any) -> list[str]:
        """(person, role, text) messages of a session, each its own turn; their source ids."""
        ids: list[str] = []
        tenant, patient, actor = of.get("tenant", "t"), of.get("patient"), of.get("actor", "actor")
        day = START + timedelta(days=self._days)
        self._days += 1

        def write(c: Any) -> None:
            c.execute(insert(session).values(
                tenant=tenant, id=name, flow="companion", patient=patient, actor=actor,
                as_of=day.date(), pinned="{}", revision=0, fence=0, created_at=day))  # fmt: skip
            for ordinal, (person, role, text) in enumerate(lines):
                key, at = f"{name}-m{ordinal}", day + timedelta(minutes=ordinal)
                own = {"tenant": tenant, "session": name}
                c.execute(insert(turn).values(
                    **own, id=key, flow="companion", patient=patient, actor=actor,
                    request_sha256="", status=of.get("status", "complete"), fence=0,
                    started_at=at))  # fmt: skip
                c.execute(insert(source).values(
                    **own, id=key, revision=1, kind="message", patient=patient, title="message",
                    sha256="", text=text, created_at=at))  # fmt: skip
                c.execute(insert(message).values(
                    **own, ordinal=ordinal, turn=key, person=person, role=role, source=key,
                    at=at))  # fmt: skip
                ids.append(key)

        self.store.write_now(write)
        return ids


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    made = Store(open_engine(sqlite_url(tmp_path)))
    migrate(made)
    yield made
    made.close()


@pytest.fixture
def talks(store: Store) -> Talks:
    return Talks(store)


@pytest.fixture
def embedder() -> BagOfWords:
    return BagOfWords()


@pytest.fixture
def room(store: Store, embedder: BagOfWords) -> Memory:
    return Memory(store, embedder=embedder, clock=Ticking(), count=words_of)


@pytest.fixture
def another(store: Store, embedder: BagOfWords) -> Callable[[], Memory]:
    """Rooms over the same rows that have read nothing yet."""
    return lambda: Memory(store, embedder=embedder, clock=Ticking(), count=words_of)


@pytest.fixture
def words_alone(store: Store) -> Memory:
    return Memory(store, embedder=None, clock=Ticking(), count=words_of)


def words_of(text: str) -> int:
    return len(text.split())


@pytest.fixture
def at() -> datetime:
    return START


Write = Callable[[Any], Any]
