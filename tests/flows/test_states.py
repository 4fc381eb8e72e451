"""State in two rows, observers, jobs: any order equals a serial replay, and the wall holds.

A toy conversation of two people. Each message adds a number to the person's private list and a
count to the shared part; an observer doubles what it saw once. The model is plain Python.
"""

from __future__ import annotations

import asyncio
import random
from collections import Counter as Tally
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from bedside.context.tokens import o200k
from bedside.core.errors import NotFound
from bedside.core.ids import ActorId, PersonId, SessionId, TenantId
from bedside.core.turn import Change, Draft, Job, Plan, TurnRequest
from bedside.core.value import value
from bedside.flows.flow import Flow
from bedside.flows.ledger import Ledger, Pinned
from bedside.flows.observe import observe
from bedside.flows.sources import Sources
from bedside.flows.turn import Services, turn
from bedside.grounding.gate import gate_for
from bedside.jobs.runner import Runner
from bedside.models.fakes import FakeGateway
from bedside.storage import conversations, jobs
from bedside.storage.engine import open_engine, sqlite_url
from bedside.storage.schema import migrate
from bedside.storage.store import Store

TENANT = "default"
NOW = datetime(2026, 11, 2, 9, tzinfo=UTC)


@value
class Pair:
    members: tuple[str, ...] = ()
    count: int = 0
    mine: tuple[int, ...] = ()
    doubled: int = 0


def load(tree) -> Pair:
    shared, mine = tree["shared"] or {}, tree["mine"] or {}
    return Pair(
        members=tuple(shared.get("members", ())),
        count=shared.get("count", 0),
        mine=tuple(mine.get("mine", ())),
        doubled=mine.get("doubled", 0),
    )


def dump(state: Pair):
    return {
        "shared": {"members": state.members, "count": state.count},
        "mine": {"mine": state.mine, "doubled": state.doubled},
    }


def reduce(state: Pair, change: Change) -> Pair:
    if change.path == "join":
        members = tuple(dict.fromkeys((*state.members, str(change.value))))
        return Pair(members=members, count=state.count + 1, mine=state.mine, doubled=state.doubled)
    if change.path == "doubled":
        return Pair(
            members=state.members,
            count=state.count,
            mine=state.mine,
            doubled=state.doubled + int(str(change.value)),
        )
    return Pair(
        members=state.members,
        count=state.count,
        mine=(*state.mine, int(str(change.value))),
        doubled=state.doubled,
    )


def said(view) -> int:
    return int(view.request.text)


def toy(*, observer: bool, changes, work) -> Flow[Pair]:
    return Flow(
        name="toy.double" if observer else "toy",
        version="1",
        initial=Pair,
        plan=lambda r, o: Plan(intent="toy", needs=()),
        more=lambda v: (),
        answer=lambda v: Draft(text="Noted.") if not observer else None,
        next=lambda v: None,
        compose=lambda v: v.done[-1],
        changes=changes,
        reduce=reduce,
        jobs=work,
        dump=dump,
        load=load,
        private=True,
        admits=lambda state, actor: len(state.members) < 2 or actor in state.members,
        observers=None if observer else {"toy.double": DOUBLE},
    )


DOUBLE: Flow[Pair] = toy(
    observer=True,
    changes=lambda v: (
        Change(
            part="mine",
            path="doubled",
            op="add",
            value=2 * int(v.request.option("n")),
            by="observer",
        ),
    ),
    work=lambda v: (),
)
TOY: Flow[Pair] = toy(
    observer=False,
    changes=lambda v: (
        Change(part="shared", path="join", op="add", value=v.request.person, by="rule"),
        Change(part="mine", path="mine", op="add", value=said(v), by="rule"),
    ),
    work=lambda v: (Job(kind="toy.double", payload=(("n", str(said(v))),)),),
)


class Clock:
    def __init__(self) -> None:
        self.ticks = 0

    def now(self) -> datetime:
        return NOW

    def monotonic(self) -> float:
        self.ticks += 1
        return self.ticks / 1000


class House:
    def __init__(self, home) -> None:
        self.store = Store(open_engine(sqlite_url(home)))
        migrate(self.store)
        self.clock, self.ids = Clock(), 0
        self.pinned = Pinned(
            count=o200k(),
            tokenizer="o200k",
            can=frozenset(),
            minimum=0,
            settings=lambda session: {},
            live={},
            version="0",
            lease_seconds=60,
        )

    def new_id(self, kind: str) -> str:
        self.ids += 1
        return f"{kind}-{self.ids}"

    def services(self, ledger) -> Services[Pair]:
        return Services(
            store=ledger,
            models=FakeGateway([]),
            gather=Sources(readers={}, fallbacks={}, clock=self.clock).gather,
            gate=lambda r, c, a: gate_for(release=r, assembly=a, checks=c),
            clock=self.clock,
        )

    async def say(self, person: str, n: int, *, session: str = "s", key: str | None = None):
        ledger: Ledger[Pair] = Ledger(
            self.store,
            flow=TOY,
            clock=self.clock,
            tenant=TenantId(TENANT),
            actor=ActorId(person),
            pinned=self.pinned,
            new_id=self.new_id,
            egress=lambda calls: "none",
            check_patient=lambda *a: None,
        )
        request = TurnRequest(
            flow="toy",
            text=str(n),
            session=SessionId(session),
            person=PersonId(person),
            idempotency_key=key,
        )

        async def emit(event) -> None:
            del event

        return await turn(lambda r, o: (TOY,), request, self.services(ledger), emit)

    def runner(self, *, die_after: int | None = None) -> Runner:
        ran = 0

        async def handle(claimed):
            nonlocal ran
            ran += 1
            if die_after is not None and ran > die_after:
                raise asyncio.CancelledError  # the process is killed here
            return await observe(
                TOY,
                claimed,
                store=self.store,
                pinned=self.pinned,
                clock=self.clock,
                services=lambda: self.services(None),
            )

        return Runner(self.store, clock=self.clock, handlers={"toy.double": handle})

    def row(self, person: str) -> str | None:
        return self.store.read_now(
            lambda c: conversations.load_state(c, tenant=TENANT, session_id="s", person=person)
        )

    def state(self, person: str) -> Pair:
        import json

        shared, mine = self.row(""), self.row(person)
        return load(
            {
                "shared": json.loads(shared) if shared else None,
                "mine": json.loads(mine) if mine else None,
            }
        )


@given(
    script=st.lists(
        st.tuples(st.sampled_from(["ann", "bob"]), st.integers(1, 99)), min_size=1, max_size=7
    ),
    workers=st.lists(st.integers(0, 3), max_size=4),
    seed=st.integers(0, 2**16),
)
@hypothesis_settings(max_examples=25, deadline=None)
def test_two_people_observers_and_workers_that_die_equal_a_serial_replay(
    tmp_path_factory, script, workers, seed
) -> None:
    house = House(tmp_path_factory.mktemp("house"))
    rng = random.Random(seed)

    async def play() -> None:
        waiting = list(script)
        dying = list(workers)
        while waiting or dying:
            if waiting and (not dying or rng.random() < 0.6):
                batch = [waiting.pop(0) for _ in range(min(len(waiting), rng.randint(1, 3)))]
                await asyncio.gather(*(house.say(person, n) for person, n in batch))
            else:
                try:
                    await house.runner(die_after=dying.pop(0)).run_waiting()
                except asyncio.CancelledError:
                    house.store.write_now(_expire)
        house.store.write_now(_expire)
        await house.runner().run_waiting()

    asyncio.run(play())
    for person in ("ann", "bob"):
        numbers = [n for who, n in script if who == person]
        if not numbers:
            assert house.row(person) is None
            continue
        state = house.state(person)
        assert Tally(state.mine) == Tally(numbers)
        assert state.doubled == 2 * sum(numbers)
    assert house.state("ann").count == len(script)
    house.store.close()


def _expire(connection) -> None:
    """What a dead worker held becomes free, and what rests is due; attempts start anew."""
    from sqlalchemy import update

    from bedside.storage.tables.jobs import job

    connection.execute(
        update(job)
        .where(job.c.state != "done")
        .values(state="queued", lease_until=None, run_after=NOW, attempts=0)
    )


def test_neither_sees_the_others_row_or_messages(tmp_path) -> None:
    house = House(tmp_path)
    seen: list[str] = []

    def spy(request, opened):
        seen.append(str(opened.state) + "".join(item.body for item in opened.history))
        return Plan(intent="toy", needs=())

    from dataclasses import replace

    watching = replace(TOY, plan=spy)

    async def play() -> None:
        await house.say("ann", 424242)
        globals_flow = watching
        ledger: Ledger[Pair] = Ledger(
            house.store,
            flow=globals_flow,
            clock=house.clock,
            tenant=TenantId(TENANT),
            actor=ActorId("bob"),
            pinned=house.pinned,
            new_id=house.new_id,
            egress=lambda calls: "none",
            check_patient=lambda *a: None,
        )

        async def emit(event) -> None:
            del event

        await turn(
            lambda r, o: (watching,),
            TurnRequest(flow="toy", text="7", session=SessionId("s"), person=PersonId("bob")),
            house.services(ledger),
            emit,
        )

    asyncio.run(play())
    assert seen
    assert "424242" not in "".join(seen)


def test_a_third_person_is_told_that_there_is_no_such_conversation(tmp_path) -> None:
    house = House(tmp_path)

    async def play() -> None:
        await house.say("ann", 1)
        await house.say("bob", 2)
        with pytest.raises(NotFound):
            await house.say("eve", 3)

    asyncio.run(play())
    assert house.row("eve") is None


def test_an_observer_of_an_erased_conversation_writes_nothing(tmp_path) -> None:
    from sqlalchemy import delete

    from bedside.storage.tables.turn import session

    house = House(tmp_path)
    asyncio.run(house.say("ann", 1))
    house.store.write_now(lambda c: c.execute(delete(session)))
    assert asyncio.run(house.runner().run_waiting()) == 0
    assert house.row("ann") is None
    assert house.store.read_now(jobs.counts) == {"failed": 1}


def test_a_repeated_message_under_one_key_leaves_one_job(tmp_path) -> None:
    house = House(tmp_path)

    async def play() -> None:
        await house.say("ann", 5, key="k")
        await house.say("ann", 5, key="k")
        await house.runner().run_waiting()

    asyncio.run(play())
    assert house.state("ann").doubled == 10
