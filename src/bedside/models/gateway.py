"""The chain of models of a role: who is asked, how often, and what is recorded of each call."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from typing import Any

from bedside.core.clock import Clock
from bedside.core.context import Assembly, ToolCall
from bedside.core.turn import Delta, Ended, NoModel, Route, Tool
from bedside.core.value import value
from bedside.models.breaker import Breaker
from bedside.models.config import Link, ModelsConfig
from bedside.models.egress import may_go
from bedside.models.failure import RULES, Failure
from bedside.models.images import Image
from bedside.models.prices import LivePrices, Prices
from bedside.models.profiles import Profiles
from bedside.models.provider import NO_USAGE, Call, Provider, Reply

__all__ = ["Chain"]

Event = Delta | ToolCall | Ended


@value
class _Ask:
    """One `stream`, as all of its calls share it. `end_by` is on the clock's monotonic scale."""

    prompt: Assembly
    route: Route
    tools: tuple[Tool, ...]
    may_call: bool
    schema: object | None
    output: int
    images: tuple[Image, ...]
    end_by: float
    seconds: float


class Chain:
    """Asks the links of a role in order until one answers.

    Fails over before the first content only. Tool calls are held until the model's message is
    whole, so a broken message never runs a tool. At most `policy.calls_per_provider` calls go to
    one provider in one stream, whichever of its models they name.
    """

    def __init__(
        self,
        config: ModelsConfig,
        *,
        providers: Mapping[str, Provider],
        profiles: Profiles,
        prices: Prices | LivePrices,
        clock: Clock,
        rng: random.Random,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """Put the pieces together; nothing is opened.

        Args:
            config: Chains, policy, egress.
            providers: By the names that the chains use; one for every link.
            profiles: What each model can do.
            prices: What each model costs.
            clock: For deadlines and durations.
            rng: For the jitter between retries.
            sleep: Waits between retries.
        """
        self._config, self._providers = config, dict(providers)
        self._profiles, self._prices = profiles, prices
        self._clock, self._rng, self._sleep = clock, rng, sleep
        self._breakers = {
            name: Breaker(policy=config.policy, clock=clock) for name in self._providers
        }

    async def stream(
        self,
        prompt: Assembly,
        *,
        route: Route,
        tools: Sequence[Tool] = (),
        may_call: bool = False,
        schema: object | None = None,
        output: int = 4_096,
        deadline_ms: int = 30_000,
        images: Sequence[Image] = (),
    ) -> AsyncGenerator[Event, None]:
        """Stream one answer.

        Args:
            prompt: The messages to send.
            route: The role to ask; `exempt` lifts the egress list, `aside` passes providers over.
            tools: Their schemas are sent in every call.
            may_call: False bars calling; the calls of a model that makes them all the same are
                left out beside an answer, and come through where they are all that it said.
            schema: A JSON Schema for the whole answer, `None` for prose.
            output: Most tokens to write.
            deadline_ms: For the whole stream to its first content, failed calls included.
            images: Pictures that go with the last user message.

        Yields:
            Deltas in order; then the tool calls of the whole message, if any; then one `Ended`
            per call made, failed ones first, the answering one last. Links that were not asked
            stand there too, with an outcome that begins with "skipped". `cut` is True where the
            answer broke off after content, or reached its length.

        Raises:
            NoModel: the chain is empty, spent, or out of time; `calls` holds what was tried.
            CancelledError: as it came, with one `Ended` in its `args` for each call made, the last
                of them "cancelled".
        """
        chain = self._config.chain(route.role)
        if not chain:
            raise NoModel
        ask = _Ask(
            prompt=prompt,
            route=route,
            tools=tuple(tools),
            may_call=may_call,
            schema=schema,
            output=output,
            images=tuple(images),
            end_by=self._clock.monotonic() + deadline_ms / 1000,
            seconds=deadline_ms / 1000,
        )
        failed: list[Ended] = []
        try:
            async with aclosing(self._through(chain, ask, failed)) as events:
                async for event in events:
                    yield event
        except asyncio.CancelledError as cancelled:
            # Whoever accounts for the turn finds there what was tried and what was under way.
            cancelled.args = (*cancelled.args, *failed)
            raise

    async def _through(
        self, chain: Sequence[Link], ask: _Ask, failed: list[Ended]
    ) -> AsyncGenerator[Event, None]:
        """Down the chain until one link answers; `failed` takes what was tried before."""
        spent: dict[str, int] = {}
        why = ""
        for link in chain:
            if not may_go(link.provider, route=ask.route, config=self._config):
                failed.append(self._ended(link, ask, outcome="skipped_egress"))
                why = f"{link.provider} is not in egress.allow"
                continue
            if link.provider in ask.route.aside:
                failed.append(self._ended(link, ask, outcome="skipped_failed"))
                why = f"{link.provider} had failed earlier in this turn"
                continue
            if not self._holds(link, ask):
                failed.append(self._ended(link, ask, outcome="skipped_window"))
                why = f"the prompt is too long for the window of {link.spec}"
                continue
            async with aclosing(self._link(link, ask, failed, spent)) as events:
                async for event in events:
                    if isinstance(event, Ended):
                        for earlier in failed:
                            yield earlier
                        yield event
                        return
                    yield event
            why = failed[-1].outcome if failed else why
            if self._clock.monotonic() >= ask.end_by:
                why = f"no content within {ask.seconds:g} s"
                break
        raise NoModel(f"no model answered: {why}", failed)

    async def _link(
        self, link: Link, ask: _Ask, failed: list[Ended], spent: dict[str, int]
    ) -> AsyncGenerator[Event, None]:
        """Ask one link as often as its failures allow; ends without an `Ended` when it gave up."""
        breaker, policy = self._breakers[link.provider], self._config.policy
        await self._providers[link.provider].prepare()
        tried = 0
        while spent.get(link.provider, 0) < policy.calls_per_provider:
            if self._clock.monotonic() >= ask.end_by:
                return
            if not breaker.admit():
                failed.append(self._ended(link, ask, outcome="skipped_breaker"))
                return
            tried += 1
            spent[link.provider] = spent.get(link.provider, 0) + 1
            begun = self._clock.monotonic()
            failure: Failure | None = None
            settled = False
            try:
                async with aclosing(self._call(link, ask, begun)) as events:
                    async for event in events:
                        if isinstance(event, Ended):
                            breaker.record(ok=not event.cut or event.outcome in _WHOLE)
                            settled = True
                        yield event
            except Failure as caught:
                failure, settled = caught, True
            finally:
                if not settled:  # the consumer left: that says nothing about the provider
                    breaker.forget()
                    failed.append(
                        self._ended(link, ask, outcome="cancelled", ms=self._since(begun))
                    )
            if failure is None:
                return
            rule = RULES[failure.kind]
            if rule.breaker:
                breaker.record(ok=False)
            else:
                breaker.forget()
            failed.append(self._lost(link, ask, failure, begun, cut=False))
            wait = self._wait(failure, tried=tried, most=rule.calls, ask=ask)
            if wait is None:
                return
            await self._sleep(wait)

    def _holds(self, link: Link, ask: _Ask) -> bool:
        """Has the model's window room for the prompt, and for an answer worth asking for?"""
        window = self._profiles.of(link).window
        return window - ask.prompt.tokens >= min(ask.output, window // _ANSWER)

    def _wait(self, failure: Failure, *, tried: int, most: int, ask: _Ask) -> float | None:
        """Seconds until this provider may be asked again; `None`: ask the next one."""
        policy = self._config.policy
        if tried >= min(most, policy.calls_per_provider):
            return None
        if failure.retry_after is not None:
            wait = failure.retry_after
            if wait > policy.retry_after_s:
                return None
        elif failure.kind == "rate_limited":
            return None  # without Retry-After it may be a spending limit
        else:
            wait = policy.backoff_s * 2 ** (tried - 1) * self._rng.uniform(0.5, 1.0)
        return wait if self._clock.monotonic() + wait < ask.end_by else None

    async def _call(self, link: Link, ask: _Ask, begun: float) -> AsyncGenerator[Event, None]:
        """One call. Raises `Failure` before content; ends with `Ended(cut=True)` after it."""
        call = Call(
            link=link,
            profile=self._profiles.of(link),
            prompt=ask.prompt,
            tools=ask.tools,
            may_call=ask.may_call,
            schema=ask.schema,
            output=ask.output,
            thinking=ask.route.thinking,
            images=ask.images,
        )
        if ask.images and not call.profile.images:
            raise Failure("bad_request")
        space, content = "", False
        pieces = self._providers[link.provider].stream(call)
        async with aclosing(_closable(pieces)) as source:
            while True:
                try:
                    async with asyncio.timeout(self._patience(ask, begun, content=content)):
                        piece = await anext(source, None)
                except (Failure, TimeoutError) as error:
                    failure = error if isinstance(error, Failure) else Failure("timeout")
                    if not content:
                        raise failure from error
                    yield self._lost(link, ask, failure, begun, cut=True)
                    return
                if piece is None:
                    raise AssertionError(f"{link.provider} ended a stream without a reply")
                if isinstance(piece, Reply):
                    break
                if not content and not piece.strip():
                    space += piece  # white space alone is no content yet
                elif piece:
                    yield Delta(text=space + piece)
                    space, content = "", True
        for event in self._finish(link, ask, piece, begun, content=content):
            yield event

    def _finish(
        self, link: Link, ask: _Ask, reply: Reply, begun: float, *, content: bool
    ) -> list[Event]:
        """The tool calls and the `Ended` of a whole reply."""
        # A call where none may be made is not listened to beside an answer; in the place of one it
        # goes on, so that the caller can refuse it and order the answer.
        calls = reply.calls if ask.may_call or (ask.tools and not content) else ()
        if not content and not calls:
            failure = Failure("refusal" if reply.stop == "refusal" else "empty")
            failure.usage = reply.usage
            raise failure
        short = reply.stop in {"length", "refusal"}
        ended = self._ended(
            link,
            ask,
            outcome=reply.stop if short else "ok",
            usage=reply.usage,
            ms=self._since(begun),
            cut=short,
            opaque=reply.opaque,
            cost=None if reply.cost is None else str(reply.cost),
        )
        return [*calls, ended]

    def _patience(self, ask: _Ask, begun: float, *, content: bool) -> float:
        """Seconds that the next piece may take."""
        policy, now = self._config.policy, self._clock.monotonic()
        if content:
            return max(min(policy.idle_s, begun + policy.total_s - now), 0)
        return max(min(begun + policy.attempt_s, ask.end_by) - now, 0)

    def _lost(self, link: Link, ask: _Ask, failure: Failure, begun: float, *, cut: bool) -> Ended:
        return self._ended(
            link,
            ask,
            outcome=failure.outcome,
            usage=failure.usage or NO_USAGE,
            ms=self._since(begun),
            cut=cut,
            cost="0" if failure.free else None,
        )

    def _since(self, begun: float) -> float:
        return round((self._clock.monotonic() - begun) * 1000, 3)

    def _ended(self, link: Link, ask: _Ask, *, outcome: str, **more: Any) -> Ended:
        usage = more.pop("usage", NO_USAGE)
        cost = more.pop("cost", None)
        if outcome.startswith("skipped"):
            cost = "0"
        elif cost is None:
            found = self._prices.cost(link, usage)
            cost = None if found is None else str(found)
        return Ended(
            usage={**NO_USAGE, **usage},
            model=link.model,
            provider=link.provider,
            role=ask.route.role,
            cost_usd=cost,
            outcome=outcome,
            **more,
        )

    async def prepare(self) -> None:
        """Import the SDKs of every chain, so that no turn waits for it. Nothing is sent."""
        for provider in self._providers.values():
            await provider.prepare()

    async def aclose(self) -> None:
        """Close what the providers hold open in this event loop."""
        for provider in self._providers.values():
            await provider.aclose()


_ANSWER = 8
"""A prompt that leaves less than one part in so many of a window is not sent to that model."""
_WHOLE = frozenset({"length", "refusal"})
"""Outcomes of an answer that is cut, though its provider did its work."""


async def _closable(pieces: AsyncIterator[str | Reply]) -> AsyncGenerator[str | Reply, None]:
    """The same pieces from a generator that can be closed, and that closes its source."""
    close = getattr(pieces, "aclose", None)
    try:
        async for piece in pieces:
            yield piece
    finally:
        if close is not None:
            await close()
