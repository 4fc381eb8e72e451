"""What every `Gateway` keeps to. Subclass it in a test module and say how to build one.

class TestMine(GatewayContract):
    def answering(self): return MyGateway(...)          # answers SAID to any prompt
    def calling(self): return MyGateway(...)            # calls CALLS, in order, if it may
    def cutting(self): return MyGateway(...)            # breaks off after some of SAID
    def empty(self): return MyGateway(...)              # no model, or none that answers
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing, asynccontextmanager
from typing import Any

from bedside.core.context import Assembly, Message, ToolCall
from bedside.core.turn import Delta, Ended, Gateway, Need, NoModel, Route, Tool

__all__ = ["CALLS", "SAID", "TOOLS", "GatewayContract"]

SAID = "The potassium is 4.1 mmol/L [1].\nNothing else was found."
CALLS = (("look", '{"q": "potassium"}'), ("look", '{"q": "sodium"}'))
TOOLS = (
    Tool(
        name="look",
        description="Look a value up.",
        schema={
            "type": "object",
            "properties": {"q": {"type": "string"}},
            "required": ["q"],
            "additionalProperties": False,
        },
        need=lambda _: Need(name="look"),
    ),
)
_KEYS = {"input", "output", "cache_read", "cache_write"}


class GatewayContract(ABC):
    """The suite; pytest collects the subclass."""

    route = Route(role="writer")

    @abstractmethod
    def answering(self) -> Gateway:
        """One that answers `SAID`."""

    @abstractmethod
    def calling(self) -> Gateway:
        """One that calls `CALLS` where it may, and answers `SAID` where it may not."""

    @abstractmethod
    def cutting(self) -> Gateway:
        """One whose answer breaks off after a true part of `SAID`."""

    @abstractmethod
    def empty(self) -> Gateway:
        """One that nothing answers."""

    def prompt(self) -> Assembly:
        """The prompt that all tests send."""
        messages = (
            Message(role="system", parts=("You are careful.",), tokens=5, cache_break=True),
            Message(role="user", parts=("What is the potassium?",), tokens=6),
        )
        return Assembly(
            messages=messages,
            tokens=11,
            limit=100,
            layout="balanced",
            ledger=(),
            numbering={},
            shown={},
            segments=(),
        )

    def ask(self, gateway: Gateway, **more: Any) -> list[Any]:
        """All events of one stream."""

        async def run() -> list[Any]:
            async with _closing(gateway):
                stream = gateway.stream(self.prompt(), route=self.route, **more)
                return [event async for event in stream]

        return asyncio.run(run())

    def test_deltas_join_to_the_answer_and_one_ended_is_last(self) -> None:
        """Text first, one record last."""
        events = self.ask(self.answering())
        assert _text(events) == SAID
        assert all(event.text for event in events if isinstance(event, Delta))
        assert isinstance(events[-1], Ended)
        assert not events[-1].cut
        assert events[-1].outcome == "ok"
        assert events[-1].model
        assert events[-1].role == "writer"

    def test_usage_names_four_counts_and_unknown_is_none(self) -> None:
        """The four counts are always named."""
        for event in self.ask(self.answering()):
            if isinstance(event, Ended):
                assert set(event.usage) == _KEYS
                assert all(count is None or count >= 0 for count in event.usage.values())

    def test_parallel_calls_come_whole_in_order_after_the_text_and_before_ended(self) -> None:
        """Calls stand between text and record."""
        events = self.ask(self.calling(), tools=TOOLS, may_call=True)
        calls = [event for event in events if isinstance(event, ToolCall)]
        assert [(call.name, call.arguments) for call in calls] == list(CALLS)
        assert len({call.id for call in calls}) == len(calls)
        kinds = [type(event) for event in events]
        assert kinds == sorted(kinds, key=[Delta, ToolCall, Ended].index)

    def test_barred_calls_never_come(self) -> None:
        """`may_call=False` is kept."""
        events = self.ask(self.calling(), tools=TOOLS, may_call=False)
        assert not any(isinstance(event, ToolCall) for event in events)
        assert _text(events) == SAID

    def test_a_broken_answer_ends_as_cut_with_what_had_come(self) -> None:
        """A break after content is said, not hidden."""
        events = self.ask(self.cutting())
        assert _text(events)
        assert SAID.startswith(_text(events))
        assert [event.cut for event in events if isinstance(event, Ended)][-1]

    def test_nothing_that_answers_is_no_model_and_no_event(self) -> None:
        """Failure is an exception, never emptiness."""
        seen: list[Any] = []

        async def run() -> None:
            gateway = self.empty()
            async with _closing(gateway):
                async for event in gateway.stream(self.prompt(), route=self.route):
                    seen.append(event)  # noqa: PERF401 - what came before the error counts

        failure: NoModel | None = None
        try:
            asyncio.run(run())
        except NoModel as error:
            failure = error
        assert failure is not None
        assert failure.why
        assert all(call.outcome != "ok" for call in failure.calls)
        assert not seen

    def test_a_consumer_that_leaves_early_leaves_nothing_behind(self) -> None:
        """Leaving is allowed."""

        async def run() -> str:
            gateway = self.answering()
            async with _closing(gateway):
                stream: Any = gateway.stream(self.prompt(), route=self.route)
                async with aclosing(stream) as events:
                    async for event in events:
                        if isinstance(event, Delta):
                            break
                again = [each async for each in gateway.stream(self.prompt(), route=self.route)]
            return _text(again)

        assert asyncio.run(run()) == SAID

    def test_two_streams_of_one_gateway_do_not_mix(self) -> None:
        """Streams are independent."""

        async def one(gateway: Gateway) -> str:
            return _text([each async for each in gateway.stream(self.prompt(), route=self.route)])

        async def run() -> list[str]:
            gateway = self.answering()
            async with _closing(gateway):
                return list(await asyncio.gather(*(one(gateway) for _ in range(3))))

        assert asyncio.run(run()) == [SAID] * 3


@asynccontextmanager
async def _closing(gateway: Gateway) -> AsyncIterator[None]:
    """Close a gateway that can be closed, in the loop that used it."""
    try:
        yield
    finally:
        close = getattr(gateway, "aclose", None)
        if close is not None:
            await close()


def _text(events: Sequence[object]) -> str:
    return "".join(event.text for event in events if isinstance(event, Delta))
