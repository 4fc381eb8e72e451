"""The turn's sequencing, with a toy flow, real rows and a scripted gateway."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import select

from bedside.context import o200k
from bedside.core.context import Block, Budget, Item, ToolCall
from bedside.core.errors import BudgetTooSmall, Conflict, InvalidArgument, Unavailable
from bedside.core.ids import ActorId, SourceId, TenantId
from bedside.core.source import Source, Span
from bedside.core.turn import (
    Change,
    Claim,
    Delta,
    Draft,
    Ended,
    Finding,
    Need,
    NoModel,
    Plan,
    Quote,
    Route,
    Tool,
    TurnRequest,
    Verdict,
)
from bedside.core.value import value
from bedside.flows.flow import Flow, Step
from bedside.flows.ledger import Ledger, Pinned
from bedside.flows.sources import Sources
from bedside.flows.turn import Services, turn
from bedside.library import Turn
from bedside.storage.engine import open_engine, sqlite_url
from bedside.storage.schema import migrate
from bedside.storage.store import Store
from bedside.storage.tables.access import audit as audit_table
from bedside.storage.tables.turn import session as session_table
from bedside.storage.tables.turn import turn as turn_table


class Clock:
    def now(self) -> datetime:
        return datetime(2026, 3, 1, 9, tzinfo=UTC)

    def monotonic(self) -> float:
        return asyncio.get_event_loop().time()


@value
class Look(Need[tuple[Item, ...]]):
    query: str


LINE = "Hemoglobin A1c 8.2 %"
SOURCE = Source(id=SourceId("obs-1"), revision=1, kind="record", title="Hemoglobin A1c")
CHANGE = Change(part="shared", path="x", op="set", value=1, by="rule")
FACT = Item(LINE, key="obs-1", span=Span(source=SOURCE, start=0, end=len(LINE)))


class PassGate:
    """Releases everything as one claim; asks for a repair where the text says so."""

    def __init__(self) -> None:
        self.held = ""

    def admit(self, pieces):
        return [Delta(text=piece) for piece in pieces if isinstance(piece, str)]

    def close(self, draft: Draft, *, last: bool):
        repair = "Write it again." if "WRONG" in draft.text and not last else None
        claims = (
            Claim(
                at=(0, len(draft.text)),
                basis="record",
                support="full",
                severity="info",
                citations=(),
            ),
        )
        text = "" if "WRONG" in draft.text else draft.text
        verdict = Verdict(
            text=text,
            claims=claims if text else (),
            repair=repair,
            removed=() if text else ((draft.text, "no_support"),),
            findings=(Finding(id="G1", want="pass"),),
        )
        return verdict, [] if repair else [Delta(text=text)]


class WholeGate(PassGate):
    def admit(self, pieces):
        return []


class PlainDecoder:
    def __init__(self) -> None:
        self.text = ""

    def feed(self, delta: str) -> Sequence[str | Quote]:
        self.text += delta
        return [delta]

    def finish(self) -> Draft:
        return Draft(text=self.text)


class Script:
    """Plays one list of events a call; a list may end with an exception."""

    def __init__(self, *calls) -> None:
        self.calls, self.prompts, self.may_call, self.deadlines = list(calls), [], [], []

    async def stream(self, prompt, *, may_call=False, deadline_ms=0, **_: object) -> AsyncIterator:
        self.prompts.append(prompt)
        self.may_call.append(may_call)
        self.deadlines.append(deadline_ms)
        for event in self.calls.pop(0):
            if isinstance(event, BaseException):
                raise event
            yield event


def ended(**more) -> Ended:
    return Ended(usage={"input": 10, "output": 5}, model="m", provider="fake", **more)


def blocks(view) -> tuple[Block, ...]:
    return (
        Block(
            "rules",
            "Answer from the sources.",
            zone="primacy",
            stability="static",
            protected=True,
            trust="ours",
        ),
        Block("question", view.request.text, zone="recency", protected=True),
    )


def flow(*, by_rule: bool = False, tools: bool = False, limit: int = 2_000) -> Flow:
    search = Tool(
        name="search",
        description="d",
        schema={},
        need=lambda a: Look(name="tool", query=str(a["query"])),
    )

    def next_step(view):
        if view.done:
            return None
        return Step(
            name="answer",
            blocks=blocks(view),
            budget=Budget(limit, loop=800 if tools else 0),
            layout="balanced",
            route=Route(role="writer"),
            decoder=PlainDecoder,
            checks=(),
            unaided=lambda v: Draft(
                text="HbA1c 8.2 % [1]",
                by="extractive",
                items=(FACT,),
                quotes=(Quote(n=1, text=LINE, at=(0, 12)),),
            ),
            tools=(search,) if tools else (),
            calls=3 if tools else 1,
        )

    return Flow(
        name="toy",
        version="1",
        initial=dict,
        plan=lambda r, o: Plan(intent="labs", needs=(Look(name="record", query=r.text),)),
        more=lambda v: (),
        answer=lambda v: Draft(text="By rule [1]", items=(FACT,)) if by_rule else None,
        next=next_step,
        compose=lambda v: v.done[-1],
        changes=lambda v: (),
        reduce=lambda s, c: s,
        jobs=lambda v: (),
    )


class House:
    def __init__(
        self,
        home: Path,
        script: Script,
        the_flow: Flow,
        *,
        gate=WholeGate,
        can=frozenset(),
        read=None,
        clock=None,
    ) -> None:
        self.store = Store(open_engine(sqlite_url(home)))
        migrate(self.store)
        self.script, self.flow, self.events = script, the_flow, []
        self.ids, self.clock = 0, clock or Clock()
        self.gate, self.can = gate, can

        async def look(need, grant):
            if read is not None:
                return await read(need)
            return (FACT,)

        self.sources = Sources(readers={Look: look}, fallbacks={}, clock=Clock())

    def _id(self, kind: str) -> str:
        self.ids += 1
        return f"{kind}-{self.ids}"

    async def ask(self, text: str = "latest HbA1c?", *, lease: float = 60, **more):
        ledger = Ledger(
            self.store,
            flow=self.flow,
            clock=self.clock,
            tenant=TenantId("default"),
            actor=ActorId("dr"),
            pinned=Pinned(
                count=o200k(),
                tokenizer="o200k",
                can=self.can,
                minimum=0,
                settings=lambda session: {},
                live={},
                version="0",
                lease_seconds=lease,
            ),
            new_id=self._id,
            egress=lambda calls: "none",
            check_patient=lambda *a: None,
        )
        io = Services(
            store=ledger,
            models=self.script,
            gather=self.sources.gather,
            gate=lambda r, c, a: (
                self.gate() if self.gate else WholeGate() if r == "whole" else PassGate()
            ),
            clock=Clock(),
        )

        async def emit(event):
            self.events.append(event)

        return await turn(
            lambda r, o: (self.flow,), TurnRequest(flow="toy", text=text, **more), io, emit
        )

    def statuses(self):
        return self.store.read_now(
            lambda c: [row.status for row in c.execute(select(turn_table.c.status))]
        )


def test_a_rule_answers_without_a_model_and_the_receipt_still_shows_the_context(tmp_path):
    house = House(tmp_path, Script(), flow(by_rule=True))
    body = asyncio.run(house.ask()).body
    assert body["answer"] == "By rule [1]"
    assert body["answered_by"] == "rules"
    assert house.script.prompts == []
    assert body["receipt"]["total"] > 0
    assert body["cost_usd"] == 0


def test_without_a_model_the_flows_own_writer_answers_and_says_so(tmp_path):
    house = House(tmp_path, Script([NoModel()]), flow())
    body = asyncio.run(house.ask()).body
    assert body["answer"] == "HbA1c 8.2 % [1]"
    assert body["answered_by"] == "extractive"
    assert body["degraded"] == []


def test_a_configured_model_that_fails_is_named_in_degraded(tmp_path):
    house = House(
        tmp_path,
        Script([NoModel("every provider failed", [ended(outcome="http_529")])]),
        flow(),
        can=frozenset({"model"}),
    )
    body = asyncio.run(house.ask()).body
    assert body["degraded"] == ["model: every provider failed"]
    assert [call["outcome"] for call in body["calls"]] == ["http_529"]


def test_a_streamed_answer_is_released_in_order_and_kept(tmp_path):
    house = House(
        tmp_path, Script([Delta(text="One. "), Delta(text="Two."), ended()]), flow(), gate=PassGate
    )
    result = asyncio.run(house.ask())
    assert [e.text for e in house.events if isinstance(e, Delta)][:2] == ["One. ", "Two."]
    assert result.body["answered_by"] == "model:m"
    assert result.status == "complete"


def test_failed_checks_cost_at_most_one_more_call_and_it_extends_the_first_prompt(tmp_path):
    house = House(
        tmp_path, Script([Delta(text="WRONG"), ended()], [Delta(text="Right."), ended()]), flow()
    )
    body = asyncio.run(house.ask()).body
    assert body["answer"] == "Right."
    first, second = house.script.prompts
    assert second.messages[: len(first.messages)] == first.messages
    assert len(second.messages) > len(first.messages)


def test_a_repair_that_cannot_be_had_leaves_what_was_written_less_what_failed(tmp_path):
    script = Script([Delta(text="WRONG"), ended()], [NoModel("every provider failed")])
    house = House(tmp_path, script, flow())
    result = asyncio.run(house.ask())
    assert result.body["answered_by"] == "model:m"
    assert result.body["removed"] == [{"claim": "WRONG", "why": "no_support"}]
    assert result.body["answer"] == ""


def test_a_second_failure_removes_the_text_and_lists_it(tmp_path):
    house = House(
        tmp_path,
        Script([Delta(text="WRONG"), ended()], [Delta(text="WRONG again"), ended()]),
        flow(),
    )
    body = asyncio.run(house.ask()).body
    assert body["answer"] == ""
    assert body["removed"] == [{"claim": "WRONG again", "why": "no_support"}]


def test_the_tool_loop_appends_and_the_engine_bars_the_last_call(tmp_path):
    call = ToolCall(id="c1", name="search", arguments='{"query": "HbA1c"}')
    wrong = ToolCall(id="c2", name="nothing", arguments="{}")
    house = House(
        tmp_path,
        Script([call, ended()], [wrong, ended()], [Delta(text="Done."), ended()]),
        flow(tools=True),
    )
    body = asyncio.run(house.ask()).body
    assert body["answer"] == "Done."
    assert house.script.may_call == [True, True, False]
    one, two, three = house.script.prompts
    assert two.messages[: len(one.messages)] == one.messages
    assert three.messages[: len(two.messages)] == two.messages
    assert all(p.tokens <= 2_000 for p in (one, two, three))


def test_a_source_that_hangs_is_named_and_the_turn_goes_on(tmp_path):
    async def hang(need):
        await asyncio.sleep(30)

    slow = flow(by_rule=True)
    slow = replace(
        slow,
        plan=lambda r, o: Plan(intent="x", needs=(Look(name="record", query="q", deadline_ms=30),)),
    )
    house = House(tmp_path, Script(), slow, read=hang)
    assert asyncio.run(house.ask()).body["degraded"] == ["record: timeout"]


def test_a_budget_that_is_too_small_refuses_the_turn_by_name(tmp_path):
    house = House(tmp_path, Script(), flow(limit=5))
    with pytest.raises(BudgetTooSmall, match="question"):
        asyncio.run(house.ask())
    assert house.statuses() == ["refused"]


@pytest.mark.requirement("EN-S6")
def test_a_cancelled_turn_is_kept_as_incomplete(tmp_path):
    async def hang(need):
        await asyncio.sleep(30)

    house = House(tmp_path, Script(), flow(), read=hang)

    async def go():
        task = asyncio.create_task(house.ask())
        await asyncio.sleep(0.2)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(go())
    assert house.statuses() == ["incomplete"]


@pytest.mark.requirement("EN-T4")
def test_the_same_key_answers_once_and_another_request_under_it_is_refused(tmp_path):
    house = House(tmp_path, Script([Delta(text="Once."), ended()]), flow())

    async def go():
        one = await house.ask(idempotency_key="k")
        two = await house.ask(idempotency_key="k")
        assert one.body == two.body
        with pytest.raises(Conflict):
            await house.ask("another question", idempotency_key="k")

    asyncio.run(go())
    assert len(house.script.prompts) == 1


@pytest.mark.requirement("EN-T3")
def test_the_same_turn_gives_a_byte_identical_prompt(tmp_path):
    house = House(
        tmp_path, Script([Delta(text="A."), ended()], [Delta(text="A."), ended()]), flow()
    )

    async def go():
        await house.ask()
        await house.ask()

    asyncio.run(go())
    one, two = house.script.prompts
    assert one.messages == two.messages


def test_no_call_gives_the_prompt_and_asks_no_model(tmp_path):
    house = House(tmp_path, Script(), flow(by_rule=True))
    body = asyncio.run(house.ask(options=(("call", "no"),))).body
    assert body["answered_by"] is None
    assert next(part["role"] for part in body["prompt"]) == "system"
    assert "latest HbA1c?" in body["prompt"][-1]["content"]


def rows_of(house: House, table) -> list:
    return house.store.read_now(lambda c: list(c.execute(select(table))))


@pytest.mark.requirement("RELIABILITY-18")
def test_a_replayed_answer_leaves_its_own_audit_row(tmp_path):
    house = House(tmp_path, Script([Delta(text="Once."), ended()]), flow())

    async def go():
        await house.ask(idempotency_key="k")
        await house.ask(idempotency_key="k")

    asyncio.run(go())
    assert [row.action for row in rows_of(house, audit_table)] == ["ask", "read"]


def test_a_key_covers_the_history_that_a_client_sends(tmp_path):
    house = House(tmp_path, Script([Delta(text="Once."), ended()]), flow())

    async def go():
        await house.ask(idempotency_key="k", history=(("user", "one"),))
        with pytest.raises(Conflict):
            await house.ask(idempotency_key="k", history=(("user", "two"),))

    asyncio.run(go())


@pytest.mark.requirement("EN-G6")
def test_a_turn_that_breaks_after_text_was_shown_keeps_what_was_shown(tmp_path):
    house = House(
        tmp_path,
        Script([Delta(text="One. "), Unavailable("a room", why="gone")]),
        flow(),
        gate=PassGate,
    )
    with pytest.raises(Unavailable):
        asyncio.run(house.ask(idempotency_key="k"))
    assert house.statuses() == ["incomplete"]
    (row,) = rows_of(house, turn_table)
    body = json.loads(row.result)
    assert body["answer"] == "One. "
    assert body["egress"] == "unknown"
    assert Turn.of(body).status == "incomplete"


def test_a_commit_that_fails_leaves_no_turn_open(tmp_path):
    broken = replace(flow(by_rule=True), changes=lambda v: (CHANGE,), reduce=lambda s, c: 1 / 0)
    house = House(tmp_path, Script(), broken)
    with pytest.raises(ZeroDivisionError):
        asyncio.run(house.ask())
    assert house.statuses() == ["incomplete"]


def test_a_refused_turn_is_whole_json_when_its_key_is_used_again(tmp_path):
    house = House(tmp_path, Script(), flow(limit=5))
    with pytest.raises(BudgetTooSmall):
        asyncio.run(house.ask(idempotency_key="k"))
    again = asyncio.run(house.ask(idempotency_key="k"))
    assert Turn.of(dict(again.body)).status == "refused"
    assert again.body["egress"] == "none"


def test_a_conversation_is_held_for_as_long_as_its_turn_runs(tmp_path):
    """The lease is renewed: an answer that takes longer than it does not lose its conversation."""

    class Now(Clock):
        def now(self) -> datetime:
            return datetime(2026, 3, 1, 9, tzinfo=UTC) + timedelta(seconds=time.monotonic())

    leases = []

    async def slow(need):
        for _ in range(6):
            await asyncio.sleep(0.1)
            leases.append(rows_of(house, session_table)[0].lease_until)
        return (FACT,)

    house = House(tmp_path, Script(), flow(by_rule=True), read=slow, clock=Now())
    assert asyncio.run(house.ask(lease=0.3)).status == "complete"
    assert leases[-1] > leases[0]
    assert rows_of(house, session_table)[0].lease_until is None


@pytest.mark.requirement("EN-G6")
def test_what_is_said_before_a_tool_is_used_is_not_shown(tmp_path):
    call = ToolCall(id="c1", name="search", arguments='{"query": "HbA1c"}')
    house = House(
        tmp_path,
        Script([Delta(text="Let me look. "), call, ended()], [Delta(text="Done."), ended()]),
        flow(tools=True),
        gate=None,
    )
    body = asyncio.run(house.ask()).body
    shown = "".join(e.text for e in house.events if isinstance(e, Delta))
    assert shown == body["answer"] == "Done."


def test_a_tool_call_that_asks_for_nonsense_does_not_end_the_turn(tmp_path):
    async def refuse(need):
        if need.name == "tool":
            raise InvalidArgument("query", found="", want="some words")
        return (FACT,)

    call = ToolCall(id="c1", name="search", arguments='{"query": ""}')
    house = House(
        tmp_path,
        Script([call, ended()], [Delta(text="Done."), ended()]),
        flow(tools=True),
        read=refuse,
    )
    body = asyncio.run(house.ask()).body
    assert body["answer"] == "Done."
    assert body["degraded"] == ["tool: refused"]


def test_the_deadline_is_the_whole_turns(tmp_path):
    async def slow(need):
        await asyncio.sleep(0.3)
        return (FACT,)

    house = House(tmp_path, Script([Delta(text="A."), ended()]), flow(), read=slow)
    asyncio.run(house.ask(deadline_ms=2_000))
    assert house.script.deadlines[0] <= 1_700


def test_text_that_ends_without_a_word_from_its_provider_is_a_models_and_cut(tmp_path):
    """Never taken for a rule's own, which the gate trusts."""
    house = House(tmp_path, Script([Delta(text="Half")]), flow())
    body = asyncio.run(house.ask()).body
    assert body["answered_by"] == "model:unknown"
    assert body["status"] == "incomplete"
