"""The names that must not come out are read again only when a patient was added or changed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import delete, event, insert

from bedside.core.errors import NotFound
from bedside.core.ids import TenantId
from bedside.record.fetch import find_patient
from bedside.storage.engine import open_engine, sqlite_url
from bedside.storage.schema import migrate
from bedside.storage.store import Store
from bedside.storage.tables.record import patient
from bedside.wiring.names import Names

NOW = datetime(2026, 11, 2, tzinfo=UTC)


@pytest.fixture
def store(tmp_path):
    made = Store(open_engine(sqlite_url(tmp_path)))
    migrate(made)
    for i, name in enumerate(["Ann Lee", "Bob  Ray", "ann lee", "Mononym"]):
        add(made, f"p{i}", name, at=NOW)
    yield made
    made.close()


def add(store: Store, ident: str, name: str, *, at: datetime) -> None:
    store.write_now(
        lambda c: c.execute(
            insert(patient).values(
                tenant="t",
                id=ident,
                name=name,
                name_key=name.casefold(),
                sex="",
                identifiers=f'["MRN-{ident}"]',
                revision=1,
                updated_at=at,
            )
        )
    )


def test_the_patients_own_name_and_its_namesakes_are_not_others(store) -> None:
    names = Names()
    assert store.read_now(lambda c: names.others(c, "t", "p0")) == ("Bob  Ray",)
    everybody = store.read_now(lambda c: names.others(c, "t", None))
    assert sorted(everybody) == ["Ann Lee", "Bob  Ray", "ann lee"]
    assert store.read_now(lambda c: names.others(c, "other", None)) == ()


def test_names_are_kept_until_somebody_comes_or_goes(store) -> None:
    names = Names()
    read: list[str] = []
    event.listen(
        store.engine,
        "before_cursor_execute",
        lambda *a: read.append(a[2]) if "name" in a[2] else None,
    )
    first = store.read_now(lambda c: names.others(c, "t", None))
    assert store.read_now(lambda c: names.others(c, "t", None)) is first
    assert len(read) == 1
    add(store, "p9", "New Person", at=NOW + timedelta(seconds=1))
    assert "New Person" in store.read_now(lambda c: names.others(c, "t", None))
    store.write_now(lambda c: c.execute(delete(patient).where(patient.c.id == "p9")))
    assert "New Person" not in store.read_now(lambda c: names.others(c, "t", None))


def test_a_patient_is_found_by_id_number_name_or_part_of_it(store) -> None:
    def found(text: str) -> str:
        return store.read_now(lambda c: find_patient(c, TenantId("t"), text)).id

    assert found("p1") == "p1"
    assert found("MRN-p3") == "p3"
    assert found("mononym") == "p3"
    assert found("RAY bob") == "p1"
    with pytest.raises(NotFound, match="2 fit"):
        found("Ann Lee")
    for nobody in ("%", "_", "", "MRN-", "Rayy"):
        with pytest.raises(NotFound):
            found(nobody)
