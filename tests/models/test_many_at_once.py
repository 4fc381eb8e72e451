"""Many answers stream at the same time: none waits in silence for another's connection."""

from __future__ import annotations

import asyncio
import random

from bedside.models.build import build_gateway
from bedside.testing.provider import FakeProvider, Said
from bedside.testing.provider_kit import SystemClock, collect, config_for, text_of

AT_ONCE = 110  # HTTP clients hold 100 connections where nobody says otherwise


def test_every_stream_is_open_before_the_first_one_ends() -> None:
    said = Said(pieces=("The potassium ", "is 5.4."), delay_s=0.5)
    with FakeProvider([said]) as provider:

        async def run() -> tuple[list[int], list[str]]:
            gateway = build_gateway(
                config_for(provider, "openai"), clock=SystemClock(), rng=random.Random(7)
            )
            arrived: list[int] = []

            async def one() -> str:
                events = await collect(gateway)
                arrived.append(len(provider.requests))
                return text_of(events)

            try:
                texts = await asyncio.gather(*(one() for _ in range(AT_ONCE)))
            finally:
                await gateway.aclose()
            return arrived, texts

        arrived, texts = asyncio.run(run())
    assert arrived[0] == AT_ONCE
    assert set(texts) == {"The potassium is 5.4."}
