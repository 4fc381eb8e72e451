"""Erasing one person's side: nothing of their words is left in any file, and the other keeps theirs."""

from __future__ import annotations

import json
import sys
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import anyio
import pytest
from sqlalchemy import select

sys.path.insert(0, str(Path(__file__).parent))
from house import SESSION, House
from test_wall import EACH, canaries

from bedside.core.errors import AccessDenied, NotFound
from bedside.core.ids import ActorId
from bedside.storage import access, persons
from bedside.storage.tables import metadata
from bedside.wiring import leaving
from bedside.wiring.companion import overview
from bedside.wiring.leaving import erase_side

FEW = 50
"""Canaries enough to see that the search sees."""
SHARED = "I imagine that you felt afraid of {mark} in the ward at night."


def as_(house: House, person: str, *roles: str):
    return replace(
        house.engine.local(),
        actor=ActorId(person),
        roles=frozenset(roles or {"patient"}),
    )


async def told(house: House, marks: list[str]) -> str:
    """Anna tells a thousand things and shares one text, which Ben acknowledges; then he shares his."""
    await house.says("anna", invite="ben")
    await house.says("anna", "Hello")
    await house.says("anna", "Yes, let us begin.")
    for at in range(0, len(marks), EACH):
        lines = [
            f"I feel alone since my sister said {' '.join(marks[of : of + 5])} last year."
            for of in range(at, at + EACH, 5)
        ]
        await house.says("anna", " ".join(lines))
    await house.says("anna", "I feel heard.")
    await house.says("anna", consent="recall")
    await house.says("anna", draft=f"Not approved: {marks[0]}")
    for text in ("Hello", "Yes, let us begin.", "I feel alone in this big house.",
                 "I worry about money every day.", "I was hurt.", "Yes, I feel heard."):  # fmt: skip
        await house.says("ben", text)
    ident = await house.give("anna", SHARED.format(mark=marks[1]))
    await house.says("ben", "What did she write to me?")
    await house.says("ben", acknowledge=ident)
    own = await house.give("ben", "I imagine that you felt tired of the waiting room.")
    await house.says("anna", acknowledge=own)
    await house.says("ben", "And now?")
    return ident


def bens(connection) -> dict[str, list]:
    """What is Ben's own: messages he wrote, drafts, facts, his turns' ids and what he gave out."""
    t = metadata.tables
    said = connection.execute(
        select(t["source"].c.id, t["source"].c.text)
        .join(t["message"], t["message"].c.source == t["source"].c.id)
        .where(t["message"].c.person == "ben", t["message"].c.role == "user")
        .order_by(t["message"].c.ordinal)
    ).all()
    state = t["state"]
    mine, shared = (
        json.loads(
            connection.execute(select(state.c.body).where(state.c.person == of)).scalar_one()
        )
        for of in ("ben", "")
    )
    turns = connection.execute(select(t["turn"].c.id).where(t["turn"].c.actor == "ben")).scalars()
    return {
        "said": [tuple(row) for row in said],
        "drafts": mine["drafts"],
        "facts": mine["facts"],
        "stage": mine["stage"],
        "turns": sorted(turns),
        "gave": [one for one in shared["shares"] if one["author"] == "ben"],
    }


def in_home(home: Path, needles: list[str]) -> dict[str, int]:
    """Files of the home with how many of the needles stand in their bytes."""
    found = {}
    for path in home.rglob("*"):
        if path.is_file():
            body = path.read_bytes()
            if n := sum(one.encode() in body for one in needles):
                found[path.name] = n
    return found


def erased(home: Path, *, person: str = "anna", marks: list[str]):
    async def go():
        house = House(home)
        try:
            ident = await told(house, marks)
            before = await house.engine.store.read(bens)
            there = in_home(home, marks)
            receipt = await erase_side(house.engine, person, as_(house, person), session=SESSION)
            after = await house.engine.store.read(bens)
            left = in_home(home, [*marks, "in the ward at night"])
            seen = await overview(house.engine, as_(house, "ben"), SESSION)
            trail = await house.engine.store.read(
                lambda c: (
                    access.verify(c, tenant="default"),
                    list(access.entries(c, tenant="default")),
                )
            )
            gone = {}
            for name in ("message", "state", "turn"):
                table = metadata.tables[name]
                column = table.c.actor if name == "turn" else table.c.person
                gone[name] = await house.engine.store.read(
                    lambda c, t=table, o=column: len(c.execute(select(t).where(o == "anna")).all())
                )
            later = await house.says("ben", "I still want to go on.")
            with pytest.raises(NotFound):
                await overview(house.engine, as_(house, "anna"), SESSION)
            return locals()
        finally:
            await house.engine.close()

    return anyio.run(go)


@pytest.mark.requirement("CM-11")
@pytest.mark.requirement("EN-S3")
@pytest.mark.timeout(180)
def test_a_thousand_canaries_are_in_no_file_after_the_erasure_and_the_other_keeps_theirs(tmp_path):
    holds(erased(tmp_path, marks=canaries()), told=1_000)


def holds(found, *, told: int) -> None:
    """What must be so after an erasure of one who told so many canaries."""
    assert sum(found["there"].values()) >= told  # they were there to be removed
    assert found["left"] == {}
    receipt = found["receipt"]
    assert receipt["residual_bytes"] == 0, receipt["residual"]
    assert receipt["searched"]["strings"] > told / 10
    assert receipt["taken_back"] == 1
    assert found["gone"] == {"message": 0, "state": 0, "turn": 0}
    for name in ("message", "source", "turn", "state", "turn_prompt", "memory_fact", "job"):
        assert receipt["removed"].get(name) is not None, name
    assert found["before"] == found["after"]
    assert found["before"]["said"]
    assert found["before"]["drafts"]
    assert [one["author"] for one in found["seen"]["shared"]["shares"]] == ["ben"]
    assert found["seen"]["shared"]["people"] == ("ben",)
    verdict, entries = found["trail"]
    assert verdict.ok
    assert [one.purpose for one in entries if one.action == "erase"][-1] == "companion side"
    assert found["later"]["status"] == "complete"


@pytest.mark.requirement("CM-11")
@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    "left_out", ["messages", "private row", "turns", "memory", "shared", "scrub", None]
)
def test_the_search_finds_what_a_left_out_step_leaves(tmp_path, monkeypatch, left_out):
    tables = {"messages": {"message", "source"}, "private row": {"state"}, "turns": {"turn"}}
    if left_out in tables:
        real = persons._scopes
        monkeypatch.setattr(
            persons,
            "_scopes",
            lambda *given: (one for one in real(*given) if one[0].name not in tables[left_out]),
        )
    elif left_out == "memory":
        monkeypatch.setattr(leaving, "erase_person", lambda *_, **__: {})
    elif left_out == "shared":
        monkeypatch.setattr(leaving, "_take_back", lambda *_: 0)
    elif left_out == "scrub":
        monkeypatch.setattr(leaving, "scrub", lambda *_, **__: True)
    found = erased(tmp_path, marks=canaries()[:FEW])
    with pytest.raises(AssertionError) if left_out else nullcontext():
        holds(found, told=FEW)


@pytest.mark.requirement("CM-11")
def test_only_the_person_or_an_administrator_erases_a_side_and_twice_is_no_error(tmp_path):
    async def go():
        house = House(tmp_path)
        try:
            await house.says("anna", invite="ben")
            await house.says("anna", "My secret is the letter in the drawer.")
            for other in (as_(house, "ben"), as_(house, "eve", "clinician", "safety")):
                with pytest.raises(AccessDenied):
                    await erase_side(house.engine, "anna", other)
            with pytest.raises(NotFound):
                await erase_side(house.engine, "nobody", as_(house, "root", "admin"))
            first = await erase_side(house.engine, "anna", as_(house, "root", "admin"))
            again = await erase_side(house.engine, "anna", as_(house, "root", "admin"))
            return first, again, in_home(tmp_path, ["letter in the drawer"])
        finally:
            await house.engine.close()

    first, again, left = anyio.run(go)
    assert first["removed"]["session"] == 1  # nobody else had joined
    assert first["residual_bytes"] == again["residual_bytes"] == 0
    assert not any(again["removed"].values())
    assert left == {}


@pytest.mark.requirement("CM-11")
def test_no_role_reads_a_private_turn_and_a_report_opens_that_turn_alone(tmp_path):
    async def go():
        house = House(tmp_path)
        try:
            await house.says("anna", invite="ben")
            one = await house.says("anna", "My secret is the letter.")
            two = await house.says("anna", "And the other secret is the key.")
            engine = house.engine
            roles = ("safety", "admin", "clinician")
            officer = as_(house, "olga", *roles)
            sources = {
                turn["turn_id"]: await engine.store.read(
                    lambda c, of=turn["turn_id"]: c.execute(
                        select(metadata.tables["message"].c.source).where(
                            metadata.tables["message"].c.turn == of
                        )
                    ).scalars().all()
                )
                for turn in (one, two)
            }  # fmt: skip
            reads = (engine.turn, engine.trace, engine.prompt)

            async def opened(turn) -> int:
                count = 0
                for read, of in [(r, turn) for r in reads] + [
                    (engine.source, s) for s in sources[turn]
                ]:
                    try:
                        await read(of, officer)
                        count += 1
                    except NotFound:
                        pass
                return count

            before = [await opened(turn["turn_id"]) for turn in (one, two)]
            anna = replace(house.engine.local(), actor=ActorId("anna"))
            await engine.report(one["turn_id"], who=anna, target="answer", kind="unsafe", note="")
            after = [await opened(turn["turn_id"]) for turn in (one, two)]
            inbox = await engine.reports(officer)
            return before, after, [item["turn"] for item in inbox], one["turn_id"]
        finally:
            await house.engine.close()

    before, after, inbox, first = anyio.run(go)
    assert before == [0, 0]
    assert after == [5, 0]
    assert inbox == [first]
