"""What was sent to a model can be read back from the turn, to the byte, and the answer says on what it rests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest

import bedside
from bedside.settings import load_settings
from bedside.testing.provider import FakeProvider, Received, Said
from bedside.wiring import Ask, build_engine
from bedside.wiring.demo import load_demo
from bedside.wiring.notes import summarise

P = "demo-adeyemi"
NOTE = "HISTORY: Cough for 3 days.\n\nMEDICATIONS: Metformin 500 mg twice daily.\n"


def content(received: Received) -> str:
    """All that the request told the model, as the wire has it."""
    parts: list[str] = []
    for message in received.body["messages"]:
        held = message["content"]
        parts.append(held if isinstance(held, str) else "".join(part["text"] for part in held))
    return "".join(parts)


@pytest.mark.requirement("RELIABILITY-27")
@pytest.mark.parametrize("flow", ["copilot", "briefing", "notes"])
def test_the_last_prompt_of_a_turn_is_kept_as_it_arrived_at_the_provider(
    tmp_path: Path, flow: str
) -> None:
    async def work(address: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        environ = {
            "BEDSIDE_EMBEDDER": "none", "BEDSIDE_WRITER": "openai:m", "OPENAI_API_KEY": "k",
            "OPENAI_BASE_URL": address,
        }  # fmt: skip
        engine = build_engine(load_settings(home=tmp_path, environ=environ))
        try:
            who = engine.local()
            await load_demo(engine, who)
            if flow == "notes":
                turn = await summarise(engine, who, text=NOTE)
            else:
                asked = Ask(question="Considering everything, how is she?", patient=P, flow=flow)
                turn = await engine.asker.ask(asked, who)
            return turn, await engine.prompt(turn["turn_id"], who)
        finally:
            await engine.close()

    with FakeProvider([Said(text="I cannot tell from the sources.")]) as provider:
        turn, kept = anyio.run(work, provider.address("openai"))
        sent = content(provider.of("openai")[-1])
    assert "".join(part["content"] for part in kept) == sent
    assert turn["basis"]["prompt_hash"] == turn["receipt"]["prompt_hash"]
    assert turn["basis"]["engine"] == bedside.__version__
    assert {"record_as_of", "knowledge", "prompt_hash", "engine"} <= turn["basis"].keys()
    assert isinstance(turn["missing"], list)
    assert isinstance(turn["degraded"], list)
