"""A model's window bounds what is sent to it, schemas and answer included, in every flow; the receipt says so."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import anyio
import pytest

from bedside.context import o200k
from bedside.settings import load_settings
from bedside.testing.provider import FakeProvider, Received, Said
from bedside.wiring import Ask, build_engine, companion, intake
from bedside.wiring.notes import summarise

P = "demo-adeyemi"
FLOWS = ("copilot", "briefing", "notes", "companion", "intake")
NOTE = "\n\n".join(
    f"PART {part}: "
    + " ".join(f"On day {day} of part {part} he took metformin 500 mg." for day in range(60))
    for part in range(6)
)
SAID = Said(text="I cannot tell from the sources.", input=777)


def turn_of(
    home: Path, flow: str, provider: FakeProvider, chain: str = "openai:m", **more: str
) -> dict[str, Any]:
    """One turn of a flow, both roles on one chain."""
    environ = {
        "BEDSIDE_EMBEDDER": "none", "BEDSIDE_WRITER": chain, "BEDSIDE_MECHANIC": chain,
        "BEDSIDE_COMPANION": "true", "OPENAI_API_KEY": "k", "OPENROUTER_API_KEY": "k",
        "OPENAI_BASE_URL": provider.address("openai"),
        "OPENROUTER_BASE_URL": provider.address("openrouter"), **more,
    }  # fmt: skip

    async def go() -> dict[str, Any]:
        engine = build_engine(load_settings(home=home, environ=environ))
        try:
            who = engine.local()
            if flow == "notes":
                return await summarise(engine, who, text=NOTE)
            if flow == "companion":
                said = companion.talk(who, text="We argued about money again. I feel unheard.")
                return await companion.send(engine, said, who)
            if flow == "intake":
                case = await intake.start_case(engine, who)
                return await intake.send(engine, who, case, "I need a new knee, the left one.")
            asked = Ask(question="Considering everything, how is she?", patient=P, flow=flow)
            return await engine.asker.ask(asked, who)
        finally:
            await engine.close()

    return anyio.run(go)


def tokens(received: Received) -> int:
    """Everything of a request that a model reads, counted apart from the engine."""
    count, body = o200k(), received.body
    beside = [json.dumps(body[key]) for key in ("tools", "response_format") if key in body]
    return count(received.text) + sum(map(count, beside)) + 4 * len(body["messages"])


@pytest.mark.requirement("EN-C2")
@pytest.mark.parametrize("window", [8_192, 4_096])
@pytest.mark.parametrize("flow", FLOWS)
def test_prompt_schemas_and_answer_fit_the_window_of_the_model(
    demo_home: Path, tmp_path: Path, flow: str, window: int
) -> None:
    home = tmp_path / "home"
    shutil.copytree(demo_home, home)
    with FakeProvider([SAID]) as provider:
        turn = turn_of(home, flow, provider, BEDSIDE_MODEL_WINDOW=str(window))
        sent = provider.of("openai")
    assert turn["answer"] or turn.get("briefing") or turn.get("summary")
    for received in sent:
        assert tokens(received) + received.body["max_tokens"] <= window
    if not turn["calls"]:  # what must be in the prompt is longer: said, and written without a model
        assert window == 4_096
        assert any(one.startswith("model: its window") for one in turn["degraded"])
    else:
        receipt = turn["receipt"]
        assert receipt["reported"] == 777
        assert receipt["limit"] + receipt["output"] <= window
        if receipt["own_limit"] is not None:
            assert receipt["own_limit"] > receipt["limit"]


@pytest.mark.requirement("EN-C2")
@pytest.mark.parametrize("chain", ["openai:m", "openrouter:some/model"])
@pytest.mark.parametrize("flow", FLOWS)
def test_the_receipt_counts_all_that_goes_out_schemas_and_envelope_included(
    demo_home: Path, tmp_path: Path, flow: str, chain: str
) -> None:
    home = tmp_path / "home"
    shutil.copytree(demo_home, home)
    with FakeProvider([SAID]) as provider:
        turn = turn_of(home, flow, provider, chain, BEDSIDE_MODEL_WINDOW="32768")
        protocol = "openai" if chain.startswith("openai") else "openrouter"
        # The prompt of the receipt is the one whose system text and last message it holds.
        sent = [tokens(received) for received in provider.of(protocol)]
    total = turn["receipt"]["total"]
    assert total <= turn["receipt"]["limit"]
    assert any(total * 0.85 <= one <= total for one in sent), (total, sent)


@pytest.mark.requirement("EN-M2")
def test_a_link_whose_window_is_too_small_is_passed_over_by_name(
    demo_home: Path, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    shutil.copytree(demo_home, home)
    script = {"openrouter": [Said(text="")], "openai": [SAID]}
    with FakeProvider(script) as provider:
        chain = "openrouter:some/model,openai:m"
        turn = turn_of(home, "copilot", provider, chain, BEDSIDE_MODEL_WINDOW="2048")
        assert provider.of("openrouter")
        assert not provider.of("openai")
    assert turn["calls"][-1]["outcome"] == "skipped_window"
    assert turn["answered_by"] == "extractive"
    assert any("too long for the window of openai:m" in one for one in turn["degraded"])
