"""Hot data: an edit in one process is live at the next turn of another."""

from __future__ import annotations

import json
import subprocess
import sys

import anyio
import pytest

from bedside.core.errors import AccessDenied, BadInput, Conflict, InvalidArgument, NotFound
from bedside.core.ids import ActorId
from bedside.settings import load_settings
from bedside.testing.provider import FakeProvider, Said
from bedside.wiring import Ask, Who, build_engine

NONE = {"BEDSIDE_EMBEDDER": "none"}


def price(output: str) -> dict[str, object]:
    row = {"match": "openai:toy", "input": "1", "output": output}
    return {"as_of": "2026-11-01", "currency": "USD", "prices": [row]}


def test_a_price_edited_by_another_process_is_that_of_the_next_turn(tmp_path) -> None:
    code = (
        "import sys, json, pathlib, anyio\n"
        "from bedside.settings import load_settings\n"
        "from bedside.wiring import build_engine\n"
        "async def go():\n"
        "    e = build_engine(load_settings(home=pathlib.Path(sys.argv[1]), environ={'BEDSIDE_EMBEDDER': 'none'}))\n"
        "    await e.edit('price', 'toy', json.loads(sys.argv[2]), e.local())\n"
        "    await e.close()\n"
        "anyio.run(go)\n"
    )

    async def go(provider: FakeProvider) -> list[str | None]:
        environ = {
            **NONE,
            "BEDSIDE_WRITER": "openai:toy",
            "OPENAI_BASE_URL": provider.address("openai"),
            "OPENAI_API_KEY": "k",
        }
        engine = build_engine(load_settings(home=tmp_path, environ=environ))
        found = []
        for dollars in (None, "1000000", "2000000"):
            if dollars is not None:
                subprocess.run(  # noqa: ASYNC221 - another process edits, then this one goes on
                    [sys.executable, "-c", code, str(tmp_path), json.dumps(price(dollars))],
                    check=True,
                    timeout=60,
                )
            turn = await engine.asker.ask(Ask(question="Why do we sleep?"), engine.local())
            call = turn["calls"][0]
            found.append((call["input"], call["output"], call["cost_usd"]))
        await engine.close()
        return found

    with FakeProvider([Said(text="It is not known here.")] * 6) as provider:
        costs = anyio.run(go, provider)
    assert costs[0][2] is None
    for (read, written, cost), dollars in zip(costs[1:], (1, 2), strict=True):
        assert float(cost) == pytest.approx(read / 1e6 + written * dollars)


@pytest.mark.requirement("IN-22")
def test_edits_are_checked_versioned_and_for_admins(tmp_path) -> None:
    async def go() -> None:
        engine = build_engine(load_settings(home=tmp_path, environ=NONE))
        who = engine.local()
        with pytest.raises(BadInput, match="prices"):
            await engine.edit("price", "toy", {"prices": "none"}, who)
        with pytest.raises(InvalidArgument, match="kind"):
            await engine.edit("nonsense", "toy", {}, who)
        with pytest.raises(InvalidArgument, match="prompt"):
            await engine.edit("prompt", "base", {"text": " "}, who)
        with pytest.raises(BadInput, match="idioms"):
            await engine.edit("prompt", "companion/safety", {"text": "idioms: [x]"}, who)
        with pytest.raises(AccessDenied):
            await engine.edit(
                "price",
                "toy",
                price("1"),
                Who(actor=ActorId("dr"), roles=frozenset({"clinician"})),
            )
        assert (await engine.edit("price", "toy", price("1"), who, expected=0))["version"] == 1
        with pytest.raises(Conflict):
            await engine.edit("price", "toy", price("2"), who, expected=0)
        await engine.edit("price", "toy", None, who)
        assert await engine.hot("price", who) == []
        assert [one["body"] for one in await engine.versions("price", "toy", who)] == [
            price("1"),
            None,
        ]
        with pytest.raises(NotFound):
            await engine.versions("price", "other", who)
        purposes = [entry["purpose"] for entry in await engine.audit(who, patient=None)]
        assert purposes.count("edit price") == 2
        await engine.close()

    anyio.run(go)
