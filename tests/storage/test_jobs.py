"""The rows of durable work and of hot data."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from bedside.core.errors import Conflict
from bedside.storage import catalogue, jobs
from bedside.storage.engine import open_engine, sqlite_url
from bedside.storage.schema import migrate
from bedside.storage.store import Store

NOW = datetime(2026, 11, 2, 9, tzinfo=UTC)
LEASE = timedelta(seconds=30)


@pytest.fixture
def store(tmp_path):
    made = Store(open_engine(sqlite_url(tmp_path)))
    migrate(made)
    yield made
    made.close()


def put(store: Store, *ids: str, at: datetime = NOW, turn: str | None = None) -> None:
    rows = [jobs.NewJob(tenant="t", id=i, kind="toy", payload={"n": i}, turn=turn) for i in ids]
    store.write_now(lambda c: jobs.put(c, rows, now=at))


def claim(store: Store, *, now: datetime = NOW, **more):
    return store.write_now(lambda c: jobs.claim(c, now=now, lease=LEASE, **more))


def test_a_job_is_claimed_once_and_oldest_first(store) -> None:
    put(store, "b", at=NOW - timedelta(seconds=9))
    put(store, "a")
    assert [one.id for one in claim(store)] == ["b"]
    assert [one.id for one in claim(store)] == ["a"]
    assert claim(store) == ()


def test_a_job_of_another_kind_is_left_alone(store) -> None:
    put(store, "a")
    assert claim(store, kinds=("other",)) == ()
    assert claim(store, kinds=("toy",))[0].payload == {"n": "a"}


def test_only_the_jobs_of_the_turn_are_claimed_where_it_is_named(store) -> None:
    put(store, "a", turn="turn-1")
    put(store, "b", turn="turn-2")
    assert [one.id for one in claim(store, turn="turn-2", limit=9)] == ["b"]


def test_a_worker_that_died_loses_its_job_when_the_lease_ends_and_cannot_end_it(store) -> None:
    put(store, "a")
    (first,) = claim(store)
    assert claim(store, now=NOW + timedelta(seconds=29)) == ()
    (second,) = claim(store, now=NOW + timedelta(seconds=30))
    assert second.attempt == 2
    written: list[str] = []
    with pytest.raises(Conflict):
        store.write_now(lambda c: jobs.end(c, first, now=NOW, apply=lambda _: written.append("x")))
    assert written == []
    store.write_now(lambda c: jobs.end(c, second, now=NOW))
    assert store.read_now(jobs.counts) == {"done": 1}


def test_a_job_that_fails_rests_then_is_tried_three_times_in_all(store) -> None:
    put(store, "a")
    now = NOW
    for attempt, rest in ((1, 5), (2, 60), (3, None)):
        (one,) = claim(store, now=now)
        assert one.attempt == attempt
        again = store.write_now(
            lambda c, one=one, now=now: jobs.fail(c, one, error="Unavailable", now=now)
        )
        assert again is (rest is not None)
        if rest is not None:
            assert claim(store, now=now + timedelta(seconds=rest - 1)) == ()
            now += timedelta(seconds=rest)
    assert store.read_now(jobs.counts) == {"failed": 1}


def test_a_job_that_kills_three_workers_is_closed(store) -> None:
    put(store, "a")
    for k in range(3):
        assert len(claim(store, now=NOW + k * LEASE)) == 1
    assert claim(store, now=NOW + 3 * LEASE) == ()
    assert store.read_now(jobs.counts) == {"failed": 1}


def test_the_outcome_and_the_end_of_a_job_are_one(store) -> None:
    put(store, "a")
    (one,) = claim(store)

    def broken(_connection) -> None:
        raise ValueError("no room")

    with pytest.raises(ValueError, match="no room"):
        store.write_now(lambda c: jobs.end(c, one, now=NOW, apply=broken))
    assert store.read_now(jobs.counts) == {"running": 1}


def test_an_edit_is_a_new_version_and_moves_the_epoch_of_its_tenant_alone(store) -> None:
    def edit(tenant: str, key: str, body: object, **more):
        return store.write_now(
            lambda c: catalogue.put(
                c, tenant=tenant, kind="sop", key=key, body=body, by="ed", at=NOW, **more
            )
        )

    assert edit("t", "TKR", {"v": 1}).version == 1
    assert edit("t", "TKR", {"v": 2}).version == 2
    assert edit("t", "CABG", {"v": 1}).epoch == 3
    assert edit("other", "TKR", {"v": 9}).epoch == 1
    live = store.read_now(lambda c: catalogue.live(c, "t"))
    assert live.epoch == 3
    assert live.bodies("sop") == {"TKR": {"v": 2}, "CABG": {"v": 1}}
    kept = store.read_now(lambda c: catalogue.history(c, "t", "sop", "TKR"))
    assert [one.body for one in kept] == [{"v": 1}, {"v": 2}]


def test_two_editors_cannot_overwrite_each_other(store) -> None:
    def edit(body: object, expected: int):
        return store.write_now(
            lambda c: catalogue.put(
                c, tenant="t", kind="flag", key="f", body=body, by="ed", at=NOW, expected=expected
            )
        )

    edit({"on": 1}, 0)
    edit({"on": 2}, 1)
    with pytest.raises(Conflict, match="version 2 was saved"):
        edit({"on": 3}, 1)


def test_a_withdrawn_entry_is_not_live(store) -> None:
    for body in ({"on": True}, None):
        store.write_now(
            lambda c, body=body: catalogue.put(
                c, tenant="t", kind="flag", key="f", body=body, by="ed", at=NOW
            )
        )
    assert store.read_now(lambda c: catalogue.live(c, "t")).bodies("flag") == {}
