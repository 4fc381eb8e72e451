"""Turn rows: leases, fences, keys."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import func, select, update

from bedside.core.errors import Conflict, NotFound
from bedside.core.ids import TenantId
from bedside.storage import turns
from bedside.storage.tables.turn import message, session, turn

LEASE = timedelta(seconds=60)


def new(name: str = "t1", **more) -> turns.NewTurn:
    base = turns.NewTurn(
        tenant=TenantId("default"),
        turn=name,
        session="s1",
        flow="copilot",
        actor="dr",
        patient=None,
        key=None,
        request_sha256="a",
        text="latest HbA1c?",
        person="",
        as_of=__import__("datetime").date(2026, 3, 1),
        pinned={},
    )
    return replace(base, **more)


def begin(store, clock, it):
    return store.write_now(lambda c: turns.begin(c, it, now=clock.now(), lease=LEASE))


def finish(store, clock, it, begun, answer="8.2 %"):
    store.write_now(
        lambda c: turns.finish(
            c,
            new=it,
            begun=begun,
            status="complete",
            answer=answer,
            result={"answer": answer, "citations": []},
            trace={},
            numbering={("x", 1): 1},
            prompts=[[("system", "h1", "rules"), ("user", "h2", "question")]],
            now=clock.now(),
        )
    )


def test_a_finished_turn_keeps_its_answer_history_and_numbers(store, clock):
    first = begin(store, clock, new())
    finish(store, clock, new(), first)
    second = begin(store, clock, new("t2", text="and the LDL?"))
    assert [(role, text) for role, text, _ in second.history] == [
        ("user", "latest HbA1c?"),
        ("assistant", "8.2 %"),
    ]
    assert second.numbering == {("x", 1): 1}
    assert second.revision == 1


@pytest.mark.requirement("EN-T4")
def test_a_second_turn_of_a_conversation_waits_while_the_first_runs(store, clock):
    begin(store, clock, new())
    busy = begin(store, clock, new("t2"))
    assert isinstance(busy, turns.Busy)
    assert busy.turn == "t1"


@pytest.mark.requirement("RELIABILITY-2")
def test_a_turn_whose_lease_ran_out_is_incomplete_and_cannot_commit(store, clock):
    first = begin(store, clock, new())
    store.write_now(lambda c: c.execute(update(session).values(lease_owner="elsewhere:1")))
    assert isinstance(begin(store, clock, new("t2")), turns.Busy)
    clock.step(61)
    second = begin(store, clock, new("t2"))
    assert second.fence == first.fence + 1
    with pytest.raises(Conflict):
        finish(store, clock, new(), first)
    status = store.read_now(
        lambda c: c.execute(select(turn.c.status).where(turn.c.id == "t1")).scalar()
    )
    assert status == "incomplete"
    assert second.history == ()


def test_the_lease_of_a_dead_process_of_this_machine_is_not_waited_for(store, clock):
    begin(store, clock, new())
    host = turns.owner().rpartition(":")[0]
    store.write_now(lambda c: c.execute(update(session).values(lease_owner=f"{host}:999999999")))
    assert isinstance(begin(store, clock, new("t2")), turns.Begun)


@pytest.mark.requirement("EN-T4")
def test_the_same_key_gives_the_first_result_and_a_changed_request_is_refused(store, clock):
    first = begin(store, clock, new(key="k"))
    finish(store, clock, new(key="k"), first)
    again = begin(store, clock, new("t9", key="k", session="s9"))
    assert isinstance(again, turns.Earlier)
    assert (again.turn, again.status) == ("t1", "complete")
    with pytest.raises(Conflict):
        begin(store, clock, new("t9", key="k", request_sha256="b"))


@pytest.mark.requirement("RELIABILITY-2")
def test_a_cut_turn_is_taken_up_again_under_its_own_id_by_its_key(store, clock):
    begin(store, clock, new(key="k"))
    store.write_now(lambda c: c.execute(update(session).values(lease_owner="elsewhere:1")))
    clock.step(61)
    assert store.write_now(lambda c: turns.recover(c, now=clock.now())) == 1
    again = begin(store, clock, new("t2", key="k", session="s2"))
    assert isinstance(again, turns.Begun)
    assert (again.turn, again.session) == ("t1", "s1")
    n = store.read_now(lambda c: c.execute(select(func.count()).select_from(message)).scalar())
    assert n == 1


def test_a_session_of_another_patient_actor_or_flow_is_not_found(store, clock):
    finish(store, clock, new(), begin(store, clock, new()))
    for other in (new("t2", patient="p"), new("t2", actor="x"), new("t2", flow="notes")):
        with pytest.raises(NotFound):
            begin(store, clock, other)


def test_recover_leaves_a_living_turn_alone(store, clock):
    begin(store, clock, new())
    assert store.write_now(lambda c: turns.recover(c, now=clock.now())) == 0


@pytest.mark.requirement("RELIABILITY-2")
def test_the_same_key_takes_up_a_turn_whose_process_was_killed(store, clock):
    """No recovery ran: a command line has none."""
    begin(store, clock, new(key="k"))
    host = turns.owner().rpartition(":")[0]
    store.write_now(lambda c: c.execute(update(session).values(lease_owner=f"{host}:999999999")))
    again = begin(store, clock, new("t2", key="k", session="s2"))
    assert isinstance(again, turns.Begun)
    assert (again.turn, again.session) == ("t1", "s1")


def test_the_same_key_waits_for_a_turn_that_is_alive(store, clock):
    begin(store, clock, new(key="k"))
    waiting = begin(store, clock, new("t2", key="k"))
    assert isinstance(waiting, turns.Earlier)
    assert waiting.status == "open"


def test_a_turn_that_ended_cannot_be_ended_again(store, clock):
    begun = begin(store, clock, new())
    finish(store, clock, new(), begun)
    with pytest.raises(Conflict):
        finish(store, clock, new(), begun, answer="another")
    kept = store.read_now(lambda c: turns.stored_result(c, tenant="default", turn_id="t1"))
    assert kept is not None
    assert "8.2 %" in (kept.result or "")


def test_a_renewed_lease_is_kept_past_its_first_end_and_a_lost_one_is_not_renewed(store, clock):
    first = begin(store, clock, new())
    store.write_now(lambda c: c.execute(update(session).values(lease_owner="elsewhere:1")))

    def renew(begun):
        return store.write_now(
            lambda c: turns.renew(
                c, tenant="default", session_id="s1", fence=begun.fence, until=clock.now() + LEASE
            )
        )

    clock.step(50)
    assert renew(first)
    clock.step(50)
    assert isinstance(begin(store, clock, new("t2")), turns.Busy)
    clock.step(50)
    second = begin(store, clock, new("t2"))
    assert not renew(first)
    finish(store, clock, new("t2"), second)
    assert not renew(second)
