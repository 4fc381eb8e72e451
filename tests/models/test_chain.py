"""The chain's own decisions, with a hand-turned clock and providers in process."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from datetime import UTC, datetime
from typing import Any

import pytest

from bedside.core.context import ToolCall
from bedside.core.turn import Delta, Ended, NoModel, Route
from bedside.models.config import EgressConfig, ModelsConfig, Policy, parse_chain
from bedside.models.failure import Failure
from bedside.models.gateway import Chain
from bedside.models.prices import read_prices
from bedside.models.profiles import bundled_profiles
from bedside.models.provider import Call, Reply
from bedside.testing.provider_kit import collect, prompt_of

PRICES = read_prices(
    'as_of: 2026-01-01\ncurrency: USD\nprices:\n  - {match: "openai:one", input: "1", output: "2"}\n'
)
Step = Failure | list[str | Reply]
DONE = Reply(stop="end", usage={"input": 10, "output": 5, "cache_read": None, "cache_write": None})


class HandClock:
    def __init__(self) -> None:
        self.at = 0.0

    def now(self) -> datetime:
        return datetime(2026, 1, 1, tzinfo=UTC)

    def monotonic(self) -> float:
        return self.at


HANGS = "\0hangs"
"""A step's piece that never comes."""


class InProcess:
    """A provider that plays its steps; the last one repeats. It remembers calls and closings."""

    remote = True

    def __init__(self, name: str, *steps: Step) -> None:
        self.name, self.steps = name, list(steps)
        self.calls: list[Call] = []
        self.closed = 0

    async def prepare(self) -> None:
        return

    async def stream(self, call: Call) -> AsyncIterator[str | Reply]:
        step = self.steps[min(len(self.calls), len(self.steps) - 1)]
        self.calls.append(call)
        try:
            if isinstance(step, Failure):
                raise step
            for piece in step:
                if isinstance(piece, Failure):
                    raise piece
                if piece == HANGS:
                    await asyncio.Event().wait()
                yield piece
        finally:
            self.closed += 1

    async def aclose(self) -> None:
        return


class Bench:
    def __init__(self, chain: str, *providers: InProcess, policy: Policy | None = None) -> None:
        self.clock, self.waits = HandClock(), list[float]()
        self.gateway = Chain(
            ModelsConfig(
                writer=parse_chain(chain),
                policy=policy or Policy(),
                egress=EgressConfig(allow=frozenset({"anthropic", "openai"})),
            ),
            providers={each.name: each for each in providers},
            profiles=bundled_profiles(),
            prices=PRICES,
            clock=self.clock,
            rng=random.Random(5),
            sleep=self.sleep,
        )

    async def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.clock.at += seconds

    def ask(self, **more: Any) -> list[Any]:
        return asyncio.run(collect(self.gateway, **more))

    def fail(self, **more: Any) -> NoModel:
        with pytest.raises(NoModel) as caught:
            self.ask(**more)
        return caught.value


def failing(kind: Any, **more: Any) -> Failure:
    return Failure(kind, **more)


@pytest.mark.requirement("EN-M2")
def test_waits_between_calls_double_and_are_jittered_within_their_half() -> None:
    bench = Bench("openai:one", InProcess("openai", failing("overloaded")))
    bench.fail()
    first, second = bench.waits
    assert 0.25 <= first < 0.5
    assert 0.5 <= second < 1.0


def test_retry_after_is_the_wait_exactly() -> None:
    openai = InProcess("openai", failing("rate_limited", retry_after=3.0), ["Yes.", DONE])
    bench = Bench("openai:one", openai)
    bench.ask()
    assert bench.waits == [3.0]


def test_a_wait_beyond_the_deadline_is_not_begun() -> None:
    openai = InProcess("openai", failing("rate_limited", retry_after=3.0))
    anthropic = InProcess("anthropic", ["Yes.", DONE])
    bench = Bench("openai:one,anthropic:m", openai, anthropic)
    bench.ask(deadline_ms=2_000)
    assert (bench.waits, len(openai.calls), len(anthropic.calls)) == ([], 1, 1)


@pytest.mark.requirement("EN-M5")
def test_every_call_is_recorded_failed_ones_first_with_tokens_and_cost() -> None:
    openai = InProcess("openai", failing("overloaded", status=529), ["Yes.", DONE])
    bench = Bench("openai:one", openai)
    events = bench.ask()
    assert [type(each) for each in events] == [Delta, Ended, Ended]
    failed, answered = events[1:]
    assert (failed.outcome, failed.cost_usd) == ("overloaded_529", "0")  # no tokens, no bill
    assert (answered.outcome, answered.cost_usd) == ("ok", "0.00002")  # 10 x 1 + 5 x 2
    assert (answered.model, answered.provider, answered.role) == ("one", "openai", "writer")


@pytest.mark.requirement("EN-M2")
def test_an_open_breaker_skips_its_provider_without_a_call() -> None:
    openai = InProcess("openai", failing("server_error", status=500))
    anthropic = InProcess("anthropic", ["Yes.", DONE])
    bench = Bench("openai:one,anthropic:m", openai, anthropic)
    bench.ask()
    bench.ask()  # the fifth failure in a row opens it
    assert len(openai.calls) == 5
    events = bench.ask()
    assert len(openai.calls) == 5
    assert [each.outcome for each in events if isinstance(each, Ended)] == [
        "skipped_breaker",
        "ok",
    ]
    bench.clock.at += 16
    bench.ask()
    assert len(openai.calls) == 6  # one probe


def test_bad_requests_do_not_open_the_breaker() -> None:
    openai = InProcess("openai", failing("bad_request", status=400))
    bench = Bench("openai:one", openai)
    for _ in range(8):
        bench.fail()
    assert len(openai.calls) == 8


def test_white_space_is_no_content_and_is_not_lost() -> None:
    blank = InProcess("openai", ["\n", "  ", DONE], ["\n", "Yes", ".", DONE])
    bench = Bench("openai:one", blank)
    events = bench.ask()
    assert [each.text for each in events if isinstance(each, Delta)] == ["\nYes", "."]
    assert [each.outcome for each in events if isinstance(each, Ended)] == ["empty", "ok"]


def test_calls_that_were_barred_are_dropped() -> None:
    asked = Reply(stop="tools", calls=(ToolCall(id="1", name="look", arguments="{}"),))
    bench = Bench("openai:one", InProcess("openai", ["I look.", asked]))
    assert not any(isinstance(each, ToolCall) for each in bench.ask())
    assert any(isinstance(each, ToolCall) for each in bench.ask(may_call=True))
    bare = Bench("openai:one", InProcess("openai", [asked]))
    assert [each.outcome for each in bare.fail().calls] == ["empty", "empty"]


def test_a_consumer_that_leaves_closes_the_provider_and_says_nothing_to_the_breaker() -> None:
    openai = InProcess("openai", ["One ", "two ", DONE])
    bench = Bench("openai:one", openai)

    async def leave() -> None:
        stream = bench.gateway.stream(prompt_of(), route=Route(role="writer"))
        async with aclosing(stream) as events:
            async for event in events:
                assert event == Delta(text="One ")
                break

    for _ in range(7):
        asyncio.run(leave())
    assert openai.closed == 7
    assert bench.ask()


@pytest.mark.requirement("EN-M5")
def test_a_cancelled_call_is_told_with_those_before_it_and_its_cost_is_not_known() -> None:
    openai = InProcess("openai", failing("overloaded", status=529), ["One ", HANGS])
    bench = Bench("openai:one", openai)

    async def leave() -> tuple[object, ...]:
        async def consume() -> None:
            async for _ in bench.gateway.stream(prompt_of(), route=Route(role="writer")):
                started.set()

        started = asyncio.Event()
        task = asyncio.ensure_future(consume())
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError) as left:
            await task
        return left.value.args

    before, under_way = asyncio.run(leave())
    assert isinstance(before, Ended)
    assert isinstance(under_way, Ended)
    assert (before.outcome, before.cost_usd) == ("overloaded_529", "0")
    assert (under_way.outcome, under_way.cost_usd, under_way.model) == ("cancelled", None, "one")
    assert openai.closed == 2


@pytest.mark.requirement("EN-M6")
def test_a_role_without_links_has_no_model() -> None:
    bench = Bench("openai:one", InProcess("openai", ["Yes.", DONE]))
    assert bench.fail(route=Route(role="mechanic")).calls == ()


def test_a_provider_that_breaks_its_own_contract_is_a_bug_and_not_an_answer() -> None:
    bench = Bench("openai:one", InProcess("openai", ["Yes."]))
    with pytest.raises(AssertionError):
        bench.ask()


@pytest.mark.parametrize(
    ("build", "why"),
    [
        (lambda: Bench("openai:one", InProcess("openai", failing("timeout"))), "timeout"),
        (
            lambda: Bench("openai:one", InProcess("openai", failing("auth", status=401))),
            "auth_401",
        ),
    ],
)
def test_no_model_says_why(build: Callable[[], Bench], why: str) -> None:
    assert why in build().fail().why
