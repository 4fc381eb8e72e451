"""What was sent to a model can be read back from the turn, to the byte, and the answer says on what it rests."""

from __future__ import annotations

import shutil
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

import anyio
import pytest

import bedside
from bedside.settings import load_settings
from bedside.testing.provider import FakeProvider, Received, Said
from bedside.wiring import Ask, build_engine, companion, intake
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
@pytest.mark.parametrize("flow", ["copilot", "briefing", "notes", "companion", "intake"])
def test_each_step_s_last_prompt_is_kept_as_it_arrived_at_the_provider(
    demo_home: Path, tmp_path: Path, flow: str
) -> None:
    home = shutil.copytree(demo_home, tmp_path / "home")

    async def work(address: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        environ = {
            "BEDSIDE_EMBEDDER": "none", "BEDSIDE_WRITER": "openai:gpt-4.1", "OPENAI_API_KEY": "k",
            "BEDSIDE_MECHANIC": "openai:gpt-4.1", "BEDSIDE_COMPANION": "true",
            "OPENAI_BASE_URL": address,
        }  # fmt: skip
        engine = build_engine(load_settings(home=home, environ=environ))
        try:
            who = engine.local()
            if flow == "notes":
                turn = await summarise(engine, who, text=NOTE)
            elif flow == "companion":
                said = companion.talk(who, text="We argued about money and I feel unheard.")
                turn = await companion.send(engine, said, who)
            elif flow == "intake":
                case = await intake.start_case(engine, who)
                turn = await intake.send(engine, who, case, "I need a new knee, the left one.")
            else:
                asked = Ask(question="Considering everything, how is she?", patient=P, flow=flow)
                turn = await engine.asker.ask(asked, who)
            return turn, await engine.prompt(turn["turn_id"], who)
        finally:
            await engine.close()

    with FakeProvider([Said(text="I cannot tell from the sources.")]) as provider:
        turn, kept = anyio.run(work, provider.address("openai"))
        sent = [content(received) for received in provider.of("openai")]
    steps = [
        "".join(part["content"] for part in parts)
        for _, parts in groupby(kept, key=itemgetter("call"))
    ]
    assert steps
    assert all(step in sent for step in steps)
    assert turn["basis"]["prompt_hash"] == turn["receipt"]["prompt_hash"]
    assert turn["basis"]["engine"] == bedside.__version__
    assert {"record_as_of", "knowledge", "prompt_hash", "engine"} <= turn["basis"].keys()
    assert isinstance(turn["missing"], list)
    assert isinstance(turn["degraded"], list)
