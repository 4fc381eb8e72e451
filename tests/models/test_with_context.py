"""What the compiler makes goes over every wire: prefix, tool round and hidden identifiers."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from bedside.context import Block, Budget, Item, assemble, extend
from bedside.core.context import Message, ToolCall, ToolResult
from bedside.core.turn import Route
from bedside.models.build import build_providers
from bedside.models.deidentify import Veiled
from bedside.models.gateway import Chain
from bedside.models.prices import bundled_prices
from bedside.models.profiles import bundled_profiles
from bedside.testing.provider import Said
from bedside.testing.provider_kit import PROTOCOLS, SystemClock, collect, config_for, text_of

NAME = "Ana Silva"


def compiled(question: str) -> Any:
    return assemble(
        [
            Block("rules", "Cite every claim.", stability="static", zone="primacy", protected=True),
            Block(
                "patient",
                f"{NAME}, female, 64 years",
                stability="session",
                zone="primacy",
                protected=True,
            ),
            Block(
                "labs",
                [Item("Potassium 4.1 mmol/L", source="obs/1", date="2026-11-02")],
                zone="middle",
            ),
            Block("question", question, zone="recency", protected=True, bookend=True),
        ],
        budget=Budget(6_000, loop=1_000),
        layout="cache",
    )


def veiled(provider: Any, name: Any) -> Veiled:
    config, clock = config_for(provider, name), SystemClock()
    chain = Chain(
        config,
        providers=build_providers(config, clock=clock),
        profiles=bundled_profiles(),
        prices=bundled_prices(),
        clock=clock,
        rng=random.Random(1),
    )
    return Veiled(chain, config=config, remote=frozenset({name}))


def run(gateway: Veiled, *prompts: Any) -> list[str]:
    import asyncio

    async def go() -> list[str]:
        try:
            return [
                text_of(await collect(gateway, each, route=Route(role="writer", veil=(NAME,))))
                for each in prompts
            ]
        finally:
            await gateway.aclose()

    return asyncio.run(go())


@pytest.mark.parametrize("name", PROTOCOLS)
def test_a_compiled_prompt_and_its_tool_round_go_over_the_wire_without_the_name(
    fake: Any, name: Any
) -> None:
    provider = fake([Said(text="[PERSON_1] has 4.1 mmol/L [1].")])
    first = compiled("What is the potassium?")
    second = extend(
        first,
        said=Message(
            role="assistant",
            parts=("I look.", ToolCall(id="t", name="look", arguments='{"q": "K"}')),
            tokens=8,
        ),
        results=[
            ToolResult(id="t", items=(Item(f"Letter for {NAME}: K 3.9", source="doc/7"),)),
        ],
        budget=Budget(6_000, loop=1_000),
        calls_left=1,
    )
    answers = run(veiled(provider, name), first, second)
    assert answers == [f"{NAME} has 4.1 mmol/L [1]."] * 2
    one, two = provider.requests
    assert NAME not in one.raw.decode() + two.raw.decode()
    assert "Letter for [PERSON_1]: K 3.9" in two.text
    assert "Potassium 4.1 mmol/L" in one.text
    count = len(one.body["messages"])
    assert json.dumps(two.body["messages"][:count]) == json.dumps(one.body["messages"])


@pytest.mark.requirement("EN-C6")
@pytest.mark.parametrize("name", PROTOCOLS)
def test_the_stable_prefix_has_the_same_bytes_for_another_question(fake: Any, name: Any) -> None:
    provider = fake([Said(text="Yes.")])
    run(veiled(provider, name), compiled("What is the potassium?"), compiled("Any allergies?"))
    one, two = provider.requests

    def stable(body: Any) -> str:
        if "system" in body:
            return json.dumps(body["system"])
        return json.dumps([each for each in body["messages"] if each["role"] == "system"])

    assert stable(one.body) == stable(two.body)
    assert "Cite every claim." in stable(one.body)
    assert "[PERSON_1], female" in stable(one.body)
