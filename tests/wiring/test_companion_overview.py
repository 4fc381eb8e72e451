"""What either person may see of the shared part."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import anyio
import pytest
from sqlalchemy import event

sys.path.insert(0, str(Path(__file__).parents[1] / "flows" / "companion"))
from house import SESSION, House

from bedside.core.ids import ActorId
from bedside.wiring.companion import cleared_only, overview


@pytest.mark.requirement("CM-11")
def test_a_gap_is_seen_only_when_both_have_cleared_it() -> None:
    def gap(name: str, *cleared: str) -> dict[str, object]:
        return {"id": name, "between": ["a", "b"], "text": "words", "cleared": list(cleared)}

    shared = {"people": ["ann", "bob"], "gaps": [gap("one", "ann"), gap("both", "ann", "bob")]}
    assert [one["id"] for one in cleared_only(shared)["gaps"]] == ["both"]
    assert cleared_only({"people": [], "gaps": [gap("early")]})["gaps"] == []


@pytest.mark.requirement("EN-Y4")
def test_opening_a_conversation_reads_its_memory_before_the_first_turn_asks_for_it(
    tmp_path,
) -> None:
    async def go() -> tuple[list[str], list[str]]:
        before = House(tmp_path)
        await before.both_heard()
        await before.engine.close()
        seen: dict[bool, list[str]] = {}
        for opened in (False, True):
            house = House(tmp_path)  # a process of its own
            try:
                if opened:
                    who = replace(house.engine.local(), actor=ActorId("anna"))
                    await overview(house.engine, who, SESSION)
                    await house.engine.turning.settled()
                asked: list[str] = []
                event.listen(
                    house.engine.store.engine,
                    "before_cursor_execute",
                    lambda *a, asked=asked: asked.append(a[2]),
                )
                await house.says("anna", "What do I do with the money worries, and the operation?")
                seen[opened] = [
                    one for one in asked if "message.at" in one and "source.text" in one
                ]
            finally:
                await house.engine.close()
        return seen[False], seen[True]

    cold, warm = anyio.run(go)
    assert len(warm) < len(cold)
