"""A real database, a clock that stands where it is put, and a grant."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bedside.core.access import Grant
from bedside.core.ids import ActorId, PatientId, TenantId
from bedside.storage.engine import open_engine, sqlite_url
from bedside.storage.store import Store
from bedside.storage.tables import metadata


class StillClock:
    def __init__(self) -> None:
        self.moment = datetime(2025, 5, 1, 9, 0, tzinfo=UTC)
        self.seconds = 0.0

    def now(self) -> datetime:
        return self.moment

    def monotonic(self) -> float:
        return self.seconds


@pytest.fixture
def clock() -> StillClock:
    return StillClock()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    made = Store(open_engine(sqlite_url(tmp_path)))
    made.write_now(metadata.create_all)
    yield made
    made.close()


@pytest.fixture
def doctor() -> Grant:
    return Grant(tenant=TenantId("clinic"), actor=ActorId("dr"), audit_seq=1)


@pytest.fixture
def of_ann() -> Grant:
    return Grant(
        tenant=TenantId("clinic"), actor=ActorId("dr"), audit_seq=2, patient=PatientId("ann")
    )
