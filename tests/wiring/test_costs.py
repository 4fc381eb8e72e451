"""The cost of a conversation: every call of its turns and of the jobs after them, none of another's."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest

from bedside.core.errors import NotFound
from bedside.settings import load_settings
from bedside.testing.provider import FakeProvider, Fault, Said
from bedside.wiring import Ask, build_engine, companion
from bedside.wiring.costs import cost_of

P = "demo-adeyemi"
SONNET = "anthropic:claude-sonnet-4-6"  # 3 and 15 dollars per million tokens, as published
DEAR = "Considering everything, how is she?"


def environ(provider: FakeProvider, chain: str = SONNET) -> dict[str, str]:
    return {
        "BEDSIDE_EMBEDDER": "none", "BEDSIDE_WRITER": chain, "BEDSIDE_MECHANIC": chain,
        "BEDSIDE_COMPANION": "true", "ANTHROPIC_API_KEY": "k", "OPENAI_API_KEY": "k",
        "ANTHROPIC_BASE_URL": provider.address("anthropic"),
        "OPENAI_BASE_URL": provider.address("openai"),
    }  # fmt: skip


@pytest.mark.requirement("EN-M4")
def test_a_case_costs_what_the_calls_of_its_turns_cost(demo_home: Path, tmp_path: Path) -> None:
    home = shutil.copytree(demo_home, tmp_path / "home")

    async def work(provider: FakeProvider) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        engine = build_engine(load_settings(home=home, environ=environ(provider)))
        try:
            who = engine.local()
            for session, times in (("mine", 3), ("another", 1)):
                for time in range(times):
                    asked = Ask(question=f"{DEAR} ({time})", patient=P, session=session)
                    await engine.asker.ask(asked, who)
            stranger = replace(who, patients=frozenset({"demo-chow"}))
            with pytest.raises(NotFound):
                await cost_of(engine, stranger, "mine")
            listed = [one["turn_id"] for one in await engine.turns_of(P, who)]
            turns = [await engine.turn(ident, who) for ident in listed]
            return await cost_of(engine, who, "mine"), turns
        finally:
            await engine.close()

    said = Said(text="I cannot tell from the sources.", input=5_000, output=200)
    with FakeProvider({"anthropic": [said]}) as provider:
        found, turns = anyio.run(work, provider)
    one = 5_000 * 3e-6 + 200 * 15e-6
    assert (found["turns"], found["calls"]) == (3, 3)
    assert found["cost_usd"] == pytest.approx(3 * one)
    assert found["by_model"][0]["input"] == 15_000
    mine = [turn["cost_usd"] for turn in turns if turn["session_id"] == "mine"]
    assert mine == pytest.approx([one] * 3)


@pytest.mark.requirement("EN-M4")
@pytest.mark.parametrize("refused", [False, True])
def test_the_jobs_after_an_answer_count_and_an_unknown_price_stays_unknown(
    tmp_path: Path, refused: bool
) -> None:
    async def work(provider: FakeProvider) -> dict[str, Any]:
        settings = load_settings(home=tmp_path, environ=environ(provider, f"openai:m,{SONNET}"))
        engine = build_engine(settings)
        try:
            who = engine.local()
            said = companion.talk(who, text="We argued about money.", session="s")
            await companion.send(engine, said, who)
            await engine.turning.settled()
            return await cost_of(engine, who, "s")
        finally:
            await engine.close()

    reply = Said(text="I hear you.", input=1_000, output=10)
    first = Fault(kind="rate_limited_bare") if refused else reply
    with FakeProvider({"openai": [first], "anthropic": [reply]}) as provider:
        found = anyio.run(work, provider)
        answered = len(provider.of("anthropic"))
        assert found["calls"] == len(provider.requests) > 1
    if refused:  # the first provider's refusals cost nothing
        assert found["cost_usd"] == pytest.approx(answered * (1_000 * 3e-6 + 10 * 15e-6))
    else:
        assert found["cost_usd"] is None
        assert found["known_usd"] == 0
