"""A store in a folder of its own, a clock that stands, and ways to import and ask."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

from bedside.core.access import Grant
from bedside.core.ids import ActorId, PatientId, TenantId
from bedside.record.fetch import fetch
from bedside.record.importing import import_bundle
from bedside.record.needs import RecordFacts, RecordNeed
from bedside.record.report import ImportReport
from bedside.storage.engine import open_engine, sqlite_url
from bedside.storage.store import Store
from bedside.storage.tables import metadata

TENANT = TenantId("default")
TODAY = date(2026, 11, 22)
ALL = (
    "demographics",
    "conditions",
    "observations",
    "medications",
    "timeline",
    "procedures",
    "immunizations",
    "reports",
    "orders",
    "documents",
    "goals",
    "careplans",
    "family_history",
)


class StandingClock:
    def now(self) -> datetime:
        return datetime(2026, 11, 22, 12, tzinfo=UTC)

    def monotonic(self) -> float:
        return 0.0


@pytest.fixture
def clock() -> StandingClock:
    return StandingClock()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = Store(open_engine(sqlite_url(tmp_path)))
    opened.write_now(metadata.create_all)
    yield opened
    opened.close()


@pytest.fixture
def take(store: Store, clock: StandingClock) -> Callable[..., ImportReport]:
    """Import resources (dicts, or JSON text) as one bundle."""

    def run(*resources: dict[str, Any] | str, tenant: str = TENANT) -> ImportReport:
        texts = [item if isinstance(item, str) else json.dumps(item) for item in resources]
        entries = ",".join(f'{{"resource": {text}}}' for text in texts)
        body = f'{{"resourceType": "Bundle", "type": "collection", "entry": [{entries}]}}'
        return import_bundle(store, body.encode(), tenant=TenantId(tenant), clock=clock)

    return run


def grant_for(patient: str | None, tenant: str = TENANT) -> Grant:
    return Grant(
        tenant=TenantId(tenant),
        actor=ActorId("tester"),
        audit_seq=1,
        patient=None if patient is None else PatientId(patient),
    )


@pytest.fixture
def ask(store: Store) -> Callable[..., RecordFacts]:
    """Fetch categories (all by default) of a patient."""

    def run(
        patient: str = "p1",
        *categories: str,
        limits: bool = False,
        names: tuple[str, ...] = (),
        as_of: date = TODAY,
    ) -> RecordFacts:
        need = RecordNeed(name="r", categories=categories or ALL, limits=limits, names=names)  # type: ignore[arg-type]
        return store.read_now(lambda c: fetch(c, grant_for(patient), need, as_of=as_of))

    return run


PATIENT = {
    "resourceType": "Patient",
    "id": "p1",
    "name": [{"family": "Example", "given": ["Ada"]}],
    "gender": "female",
    "birthDate": "1960-03-04",
}
