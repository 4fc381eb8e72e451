"""What is only hinted at: heard by weights over a vector, asked about once, and stopped for on a yes."""

from __future__ import annotations

import asyncio
import math
import sys
from collections.abc import Iterator, Sequence
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
import yaml

sys.path.insert(0, str(Path(__file__).parent))
from house import House

from bedside.clinical.danger.hints import hinted, hints_fit
from bedside.core.context import Item
from bedside.flows.companion.asking import confirmed
from bedside.flows.companion.tables import tables_of
from bedside.knowledge.embed.protocol import Floats2d, unit_rows
from bedside.wiring.doctor import examine

PACK = yaml.safe_load(
    files("bedside.clinical").joinpath("danger/data/hints.yaml").read_text("utf-8")
)
COLUMNS = np.array([[int(one) for one in row.split()] for row in PACK["vector"]]) / 1000
SAFETY = tables_of(None).safety
HINT = "The lamp in the hall is on its way out and so is its keeper."


class Pointing:
    """An embedder whose vector of one text points where the weights of a kind point; else away."""

    id, dim, threshold = PACK["model"], 384, 0.3

    def embed(self, texts: Sequence[str], *, kind: str) -> Floats2d:
        del kind
        column = COLUMNS[PACK["kinds"].index("self_harm")]
        return unit_rows(np.array([column if text == HINT else -column for text in texts]))

    def windows(self, text: str) -> Sequence[str]:
        return [text]


def opened(home: Path, **environ: str) -> House:
    house = House(home, BEDSIDE_EMBEDDER="local", **environ)
    vars(house.engine.texts)["_made"] = (Pointing(), None)
    return house


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    made = opened(tmp_path, BEDSIDE_HINTS="true")
    yield made
    asyncio.run(made.engine.close())


def test_the_odds_are_the_sum_of_the_weights_of_vector_and_stems() -> None:
    vector = unit_rows(COLUMNS[:1] + 1.0)[0]
    stems = ["what", "the", "what the"]
    known = [PACK["terms"][one] for one in stems if one in PACK["terms"]]
    terms = np.array([[int(n) for n in one.split()] for one in known]) / 1000
    odds = np.array([int(n) for n in PACK["bias"].split()]) / 1000 + COLUMNS @ vector
    odds += 0.5 / math.sqrt(len(known)) * terms.sum(axis=0)
    found = hinted("What the", vector.tolist())
    assert found is not None
    assert found.sure == pytest.approx(float(np.log(np.exp(odds).sum())))
    assert found.kind == PACK["kinds"][int(odds.argmax())]
    assert not hints_fit("another model")


@pytest.mark.requirement("CM-14")
def test_a_hint_is_asked_about_once_with_help_and_a_yes_stops(house: House) -> None:
    async def run() -> None:
        await house.says("anna", "Hello")
        plain = await house.says("anna", "We argued about the dishes.")
        assert plain["hint"] is None
        asked = await house.says("anna", HINT)
        question = SAFETY["texts"]["ask"]["self_harm"].partition("{help}")[0].strip()
        assert question in asked["answer"]
        assert "112" in asked["answer"] or "emergency number" in asked["answer"]
        assert (asked["hint"]["kind"], asked["halted"]) == ("self_harm", None)
        again = await house.says("anna", HINT)
        assert question not in again["answer"]
        assert again["hint"]["kind"] == "self_harm"
        other = "s2"
        await house.says("ben", "Hello", session=other)
        await house.says("ben", HINT, session=other)
        yes = await house.says("ben", "Yes.", session=other)
        assert yes["halted"] == "self_harm"

    asyncio.run(run())


def test_without_an_embedder_or_where_it_is_off_the_rules_alone_listen_and_the_doctor_says_so(
    tmp_path: Path,
) -> None:
    off, none = opened(tmp_path / "a"), House(tmp_path / "b", BEDSIDE_HINTS="true")

    async def run() -> None:
        for house, why in ((off, "BEDSIDE_HINTS"), (none, "embeddings are switched off")):
            turn = await house.says("anna", HINT)
            assert turn["hint"] is None
            assert turn["degraded"] == []
            said = {
                one["name"]: one for one in (await examine(house.engine, repair=False))["checks"]
            }["danger"]
            assert "rules alone" in said["detail"]
            assert why in said["detail"]
            await house.engine.close()

    asyncio.run(run())


@pytest.mark.requirement("CM-14")
@pytest.mark.parametrize(
    ("said", "stops"),
    [
        ("yes", True),
        ("Yeah, I guess.", True),
        ("I am.", True),
        ("sometimes at night", True),
        ("well… maybe", True),
        ("no", False),
        ("I'm fine, really", False),
        ("I am not", False),
        ("Yes, I am fine", False),
        ("We argued again", False),
    ],
)
def test_only_a_yes_to_the_question_that_was_just_asked_stops(said: str, stops: bool) -> None:
    question = SAFETY["texts"]["ask"]["abuse"].replace("{help}", "112")
    asked = (Item("He shouts.", role="user"), Item(f"I hear you. {question}", role="assistant"))
    found = confirmed(said, asked, SAFETY)
    assert (found is not None) is stops
    if found is not None:
        assert (found.kind, found.level) == ("abuse", "stop")
    later = (*asked, Item("No.", role="user"), Item("Tell me more.", role="assistant"))
    assert confirmed(said, later, SAFETY) is None
