"""A consent that was taken back stays taken back, however late the work of the earlier yes is."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import replace
from pathlib import Path

import anyio
import pytest
from sqlalchemy import select

sys.path.insert(0, str(Path(__file__).parent))
from house import House

from bedside.core.ids import ActorId
from bedside.storage.tables import metadata
from bedside.wiring.companion import overview, send, talk


def late(home: Path, deeds: list[tuple[str, str]]):
    """Consents on record and as shown, where the first deed's work ends after that of all others."""

    async def go():
        house = House(home)
        turning = house.engine.turning
        who = replace(house.engine.local(), actor=ActorId("anna"))
        try:
            for session in ("one", "two"):
                await house.says("anna", "Hello", session=session)
                await house.says("anna", "Yes", session=session)
            reached, release = asyncio.Event(), asyncio.Event()
            real, calls = turning.memory.catch_up, []

            async def slow(grant, **more):
                calls.append(grant)
                if len(calls) == 1:
                    reached.set()
                    await release.wait()
                return await real(grant, **more)

            turning.memory.catch_up = slow
            (session, act), *others = deeds
            await send(house.engine, talk(who, act=("consent", act), session=session), who)
            await asyncio.wait_for(reached.wait(), 5)
            first = set(turning._after)
            for session, act in others:
                await send(house.engine, talk(who, act=("consent", act), session=session), who)
                await asyncio.gather(*(turning._after - first))
            between = (await overview(house.engine, who, "one"))["consents"]
            release.set()
            await turning.settled()
            table = metadata.tables["memory_consent"]
            kept = await house.engine.store.read(
                lambda c: sorted(c.execute(select(table.c.what)).scalars())
            )
            shown = [(await overview(house.engine, who, one))["consents"] for one in ("one", "two")]
            return between, kept, shown
        finally:
            await house.engine.close()

    return anyio.run(go)


@pytest.mark.requirement("EN-Y5")
@pytest.mark.requirement("CM-08")
@pytest.mark.parametrize(
    "deeds",
    [
        [("one", "recall"), ("one", '{"id": "recall", "given": "off"}')],
        [("one", "recall"), ("two", "recall:off")],
        [("one", "profile"), ("one", '{"id": "profile", "given": "no"}')],
        [("one", "recall"), ("two", "recall"), ("two", "recall:revoke")],
    ],
)
def test_a_late_yes_gives_nothing_again_after_a_no(tmp_path, deeds):
    between, kept, shown = late(tmp_path, deeds)
    assert between == []
    assert kept == []
    assert shown == [[], []]


@pytest.mark.requirement("EN-Y5")
def test_a_yes_after_a_no_stands(tmp_path):
    deeds = [("one", "recall"), ("one", "recall:off"), ("one", "recall")]
    _, kept, shown = late(tmp_path, deeds)
    assert kept == ["across"]
    assert shown == [["recall"], ["recall"]]
