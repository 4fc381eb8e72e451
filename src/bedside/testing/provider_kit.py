"""A real gateway over the fake provider, with tiny delays: what tests of models begin with."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from bedside.core.context import Assembly, Message
from bedside.core.turn import Delta, Ended, Gateway, Route
from bedside.models.build import build_gateway
from bedside.models.config import (
    EgressConfig,
    ModelsConfig,
    Policy,
    ProviderConfig,
    parse_chain,
)
from bedside.testing.provider import FakeProvider
from bedside.testing.provider_script import Protocol

__all__ = [
    "MODELS",
    "PROTOCOLS",
    "QUICK",
    "STEADY",
    "SystemClock",
    "ask",
    "collect",
    "config_for",
    "ended_of",
    "prompt_of",
    "text_of",
]

STEADY = Policy(attempt_s=20.0, idle_s=20.0, backoff_s=0.01, retry_after_s=1.0)
"""Patience with a slow machine, and retries after milliseconds."""

QUICK = Policy(
    attempt_s=1.5, idle_s=1.0, total_s=5.0, backoff_s=0.01, retry_after_s=1.0, connect_s=0.5
)
"""Little patience too: for tests of silence, which would take long otherwise."""

PROTOCOLS: tuple[Protocol, ...] = ("anthropic", "openai", "openrouter", "bedrock")
MODELS: Mapping[str, str] = {
    "anthropic": "claude-sonnet-4-6",
    "openai": "gpt-4.1",
    "openrouter": "anthropic/claude-sonnet-4.6",
    "bedrock": "anthropic.claude-haiku-4-5-20251001-v1:0",
}
_WRITER = Route(role="writer")


class SystemClock:
    """The machine's own clock: tests on a real socket pass real time."""

    def now(self) -> datetime:
        """The present moment, in UTC."""
        return datetime.now(UTC)  # noqa: TID251 - this is a Clock

    def monotonic(self) -> float:
        """Seconds from an arbitrary start."""
        return time.monotonic()


def prompt_of(*messages: Message) -> Assembly:
    """An assembly of these messages; without any, one system message and one question."""
    made = messages or (
        Message(role="system", parts=("You are careful.",), tokens=5, cache_break=True),
        Message(role="user", parts=("What is the potassium?",), tokens=6),
    )
    return Assembly(
        messages=tuple(made),
        tokens=sum(each.tokens for each in made),
        limit=6_000,
        layout="balanced",
        ledger=(),
        numbering={},
        shown={},
        segments=(),
    )


def config_for(
    provider: FakeProvider,
    *names: Protocol,
    policy: Policy = STEADY,
    egress: EgressConfig | None = None,
    models: Mapping[str, str] | None = None,
    addresses: Mapping[str, str] | None = None,
) -> ModelsConfig:
    """A writer chain over that fake provider, one link per name, in order.

    `models` and `addresses` replace the model and the base address of a name.
    """
    chosen = {**MODELS, **(models or {})}
    where = {name: provider.address(name) for name in names} | dict(addresses or {})
    return ModelsConfig(
        writer=parse_chain(",".join(f"{name}:{chosen[name]}" for name in names)),
        providers={
            name: ProviderConfig(base_url=url, key="k", access_key="a", secret_key="s")  # noqa: S106
            for name, url in where.items()
        },
        policy=policy,
        egress=egress or EgressConfig(),
    )


async def collect(gateway: Gateway, prompt: Assembly | None = None, **more: Any) -> list[Any]:
    """All events of one stream; `more` goes to `Gateway.stream`."""
    more.setdefault("route", _WRITER)
    return [event async for event in gateway.stream(prompt or prompt_of(), **more)]


def ask(config: ModelsConfig, prompt: Assembly | None = None, **more: Any) -> list[Any]:
    """All events of one stream of a fresh gateway, in an event loop of its own."""

    async def run() -> list[Any]:
        gateway = build_gateway(config, clock=SystemClock(), rng=random.Random(7))
        try:
            return await collect(gateway, prompt, **more)
        finally:
            await gateway.aclose()

    return asyncio.run(run())


def text_of(events: Iterable[object]) -> str:
    """The text of all deltas."""
    return "".join(event.text for event in events if isinstance(event, Delta))


def ended_of(events: Iterable[object]) -> list[Ended]:
    """The records of the calls."""
    return [event for event in events if isinstance(event, Ended)]
