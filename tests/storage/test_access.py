"""The audit trail: one entry an access, chained, and every tampering found by its number."""

from __future__ import annotations

import pytest
from sqlalchemy import delete, insert, select, update

from bedside.core.ids import ActorId, PatientId, TenantId
from bedside.storage import access
from bedside.storage.store import Store
from bedside.storage.tables.access import audit

T = TenantId("default")


def fill(store: Store, clock, n: int = 6) -> None:
    for i in range(n):
        store.write_now(
            lambda c, i=i: access.grant(
                c,
                tenant=T,
                actor=ActorId("dr"),
                action="read",
                at=clock.now(),
                patient=PatientId(f"p{i}"),
                purpose="test",
            )
        )


@pytest.mark.requirement("EN-S3")
def test_a_grant_carries_the_number_of_the_audit_row_that_was_written_first(store, clock):
    made = store.write_now(
        lambda c: access.grant(
            c, tenant=T, actor=ActorId("dr"), action="ask", at=clock.now(), patient=PatientId("p1")
        )
    )
    rows = store.read_now(lambda c: c.execute(select(audit)).all())
    assert [(row.seq, row.actor, row.patient) for row in rows] == [(1, "dr", "p1")]
    assert made.audit_seq == 1


def test_a_whole_chain_verifies_and_an_empty_one_too(store, clock):
    assert store.read_now(lambda c: access.verify(c, tenant=T)).ok
    fill(store, clock)
    verdict = store.read_now(lambda c: access.verify(c, tenant=T))
    assert (verdict.ok, verdict.entries, verdict.first_bad) == (True, 6, None)


@pytest.mark.requirement("RELIABILITY-18")
@pytest.mark.parametrize(
    "column", ["at", "actor", "action", "patient", "purpose", "hash", "previous"]
)
def test_a_changed_field_is_found_by_its_sequence_number(store, clock, column):
    fill(store, clock)
    changed = clock.now().replace(year=2020) if column == "at" else "other"
    store.write_now(
        lambda c: c.execute(update(audit).where(audit.c.seq == 4).values({column: changed}))
    )
    assert store.read_now(lambda c: access.verify(c, tenant=T)).first_bad == 4


def test_a_removed_row_is_found_whether_in_the_middle_or_at_the_end(store, clock):
    fill(store, clock)
    store.write_now(lambda c: c.execute(delete(audit).where(audit.c.seq == 6)))
    assert store.read_now(lambda c: access.verify(c, tenant=T)).first_bad == 6
    store.write_now(lambda c: c.execute(delete(audit).where(audit.c.seq == 3)))
    assert store.read_now(lambda c: access.verify(c, tenant=T)).first_bad == 3


def test_a_forged_row_at_the_end_is_found(store, clock):
    fill(store, clock)
    store.write_now(
        lambda c: c.execute(
            insert(audit).values(
                tenant=T,
                seq=7,
                at=clock.now(),
                actor="x",
                action="read",
                purpose="",
                previous="",
                hash="0" * 64,
            )
        )
    )
    assert store.read_now(lambda c: access.verify(c, tenant=T)).first_bad == 7


def test_chains_of_two_tenants_are_apart(store, clock):
    fill(store, clock, 2)
    store.write_now(
        lambda c: access.note(
            c, tenant=TenantId("other"), actor=ActorId("dr"), action="list", at=clock.now()
        )
    )
    assert [
        e.seq for e in store.read_now(lambda c: list(access.entries(c, tenant=TenantId("other"))))
    ] == [1]
