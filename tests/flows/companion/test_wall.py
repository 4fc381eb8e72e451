"""The wall: canaries planted with one person, looked for in everything that is the other's."""

from __future__ import annotations

import json
import random
import sys
from dataclasses import replace
from pathlib import Path

import anyio
import pytest
from sqlalchemy import select

sys.path.insert(0, str(Path(__file__).parent))
from house import SESSION, House

from bedside.core.errors import BedsideError
from bedside.core.ids import ActorId
from bedside.flows import states
from bedside.storage.conversations import load_state
from bedside.storage.tables import metadata
from bedside.storage.tables.turn import turn as turn_table
from bedside.testing.provider import FakeProvider, Received, Said
from bedside.wiring.companion import WITHDRAWN, overview, send, talk

CANARIES = 1_000
EACH = 25
"""Canaries a message."""


def canaries(seed: int = 7) -> list[str]:
    random_ = random.Random(seed)
    letters = "bcdfghjklmnpqrstvwxz"
    return ["Q" + "".join(random_.choices(letters, k=9)) for _ in range(CANARIES)]


def others_rows(connection, *, mine: str) -> dict[str, str]:
    """Every row of the store that is not the planter's own, as text, by table."""
    found: dict[str, list[str]] = {}
    own_turns = {
        row.id
        for row in connection.execute(select(turn_table.c.id).where(turn_table.c.actor == mine))
    }
    own_sources = set(
        connection.execute(
            select(metadata.tables["message"].c.source).where(
                metadata.tables["message"].c.person == mine
            )
        ).scalars()
    )
    prompt = metadata.tables["turn_prompt"]
    own_prompts = set(
        connection.execute(select(prompt.c.sha256).where(prompt.c.turn.in_(own_turns))).scalars()
    )
    for table in metadata.sorted_tables:
        for row in connection.execute(select(table)).mappings():
            owner = row.get("owner") or row.get("person") or row.get("actor")
            if owner == mine and table.name not in {"audit", "session"}:
                continue
            if table.name in {"turn", "turn_prompt", "job"} and (
                row.get("id") in own_turns or row.get("turn") in own_turns
            ):
                continue
            if table.name == "source" and row["id"] in own_sources:
                continue
            if table.name == "prompt_part" and row["sha256"] in own_prompts:
                continue
            found.setdefault(table.name, []).append(repr(dict(row)))
    return {name: "\n".join(rows) for name, rows in found.items()}


async def planted(house: House, caplog) -> tuple[list[str], dict[str, str], list[str], dict]:
    """The whole story with canaries in Anna's private words; what is Ben's, and Ben's turns."""
    marks = canaries()
    answers: list[str] = []

    async def ben(text: str = "", **act: str):
        turn = await house.says("ben", text, **act)
        answers.append(json.dumps(turn))
        for part in ("turn", "trace", "prompt"):
            who = replace(house.engine.local(), actor=ActorId("ben"))
            answers.append(
                json.dumps(await getattr(house.engine, part)(turn["turn_id"], who), default=str)
            )
        return turn

    await house.says("anna", invite="ben")
    await house.says("anna", "Hello")
    await house.says("anna", "Yes, let us begin.")
    for at in range(0, CANARIES, EACH):
        told = [
            f"I feel alone since my sister said {' '.join(marks[of : of + 5])} last year."
            for of in range(at, at + EACH, 5)
        ]
        await house.says("anna", " ".join(told))
    await house.says("anna", f"My sister {marks[1]} came. My brother {marks[2]} did not.")
    await house.says("anna", f"Remember that I keep {marks[3]} in my drawer.")
    await house.says("anna", prefer=f"call me {marks[4]}")
    await house.says("anna", consent="recall")
    await house.says("anna", consent="profile")
    for text in (f"I think of {marks[5]} at night.", f"I wish that {marks[6]} were here."):
        await alone(house, "anna", text)
    kept = await house.engine.store.read(
        lambda c: load_state(c, tenant="default", session_id=SESSION, person="anna")
    )
    for part, mark in (("people", marks[1]), ("kept", marks[3]), ("reflections", marks[6])):
        assert mark in json.dumps(json.loads(kept)[part]), part
    facts = json.loads(kept)["facts"]
    assert len(facts) == 20
    assert leaked(marks, [json.dumps(facts)]) >= 90
    assert json.loads(kept)["summary"]
    await house.says("anna", "I feel heard.")
    await house.says("anna", draft=f"Not approved: {marks[0]}")
    await ben("Hello")
    await ben("Yes, let us begin.")
    await ben(consent="recall")
    await ben(consent="profile")
    for text in ("I feel alone.", "I worry about money.", "I was hurt.", "Yes, I feel heard."):
        await ben(text)
    shared = "I imagine that you felt afraid in the ward at night."
    ident = await house.give("anna", shared)
    await ben("What did she tell you?")
    await ben("What now, as we agreed last time?")
    await ben(acknowledge=ident)
    own = await house.give("ben", "I imagine that you felt tired of the waiting room.")
    await house.says("anna", acknowledge=own)
    await ben("And now?")
    seen = await house.engine.store.read(lambda c: others_rows(c, mine="anna"))
    await house.says("anna", withdraw=ident)
    await ben("What was it that she wrote?")
    who = replace(house.engine.local(), actor=ActorId("ben"))
    answers.append(json.dumps(await overview(house.engine, who, SESSION)))
    after = await house.engine.store.read(lambda c: others_rows(c, mine="anna"))
    answers += [record.getMessage() for record in caplog.records]
    return marks, seen, answers, {"rows": after, "text": shared, "id": ident}


async def alone(house: House, person: str, text: str):
    """A turn in the person's own space, linked to the conversation."""
    who = replace(house.engine.local(), actor=ActorId(person))
    given = talk(who, text=text, session=f"{SESSION}:{person}", space="inner", link=SESSION)
    turn = await send(house.engine, given, who)
    await house.engine.turning.settled()
    return turn


def leaked(marks: list[str], texts) -> int:
    whole = "\n".join(texts)
    return sum(mark in whole for mark in marks)


def run(tmp_path, caplog):
    async def go():
        house = House(tmp_path)
        try:
            return await planted(house, caplog)
        finally:
            await house.engine.close()

    return anyio.run(go)


@pytest.mark.requirement("CM-11")
@pytest.mark.requirement("CM-12")
@pytest.mark.timeout(120)
def test_none_of_a_thousand_canaries_of_one_person_reaches_anything_of_the_other(tmp_path, caplog):
    marks, seen, answers, after = run(tmp_path, caplog)
    assert leaked(marks, answers) == 0
    assert {name for name, text in seen.items() if leaked(marks, [text])} == set()
    assert {name for name, text in after["rows"].items() if leaked(marks, [text])} == set()
    assert after["text"] in "\n".join(seen.values())  # it was there to be taken back
    assert after["text"] not in "\n".join(after["rows"].values())
    assert WITHDRAWN in after["rows"]["source"]


@pytest.mark.requirement("CM-11")
@pytest.mark.timeout(120)
def test_the_canaries_are_found_when_the_wall_is_opened(tmp_path, caplog, monkeypatch):
    """The mutant: the other's private row is what a turn loads."""

    def opened(flow, connection, tenant, session, person):
        def row(of):
            body = load_state(connection, tenant=tenant, session_id=session, person=of)
            return None if body is None else json.loads(body)

        if flow.name != "companion" or person != "ben":
            return real(flow, connection, tenant, session, person)
        own, other = row("ben") or {}, row("anna") or {}
        return flow.load({"shared": row(""), "mine": {**own, "facts": other.get("facts", [])}})

    real = states.load_state
    monkeypatch.setattr("bedside.flows.ledger.load_state", opened)
    marks, _, answers, _ = run(tmp_path, caplog)
    assert leaked(marks, answers) > 0


@pytest.mark.requirement("CM-11")
def test_the_other_cannot_read_a_turn_a_prompt_or_a_message_of_mine(tmp_path):
    async def go():
        house = House(tmp_path)
        try:
            await house.says("anna", invite="ben")
            turn = await house.says("anna", "My secret is the letter.")
            await house.says("ben", "Hello")
            roles = frozenset({"patient"})
            who = replace(
                house.engine.local(), actor=ActorId("ben"), roles=roles, patients=frozenset()
            )
            refused = 0
            for read in (house.engine.turn, house.engine.trace, house.engine.prompt):
                with pytest.raises(BedsideError):
                    await read(turn["turn_id"], who)
                refused += 1
            source = f"msg-{SESSION}-0"
            with pytest.raises(BedsideError):
                await house.engine.source(source, who)
            seen = json.dumps(await overview(house.engine, who, SESSION))
            return refused, seen
        finally:
            await house.engine.close()

    refused, seen = anyio.run(go)
    assert refused == 3
    assert "secret" not in seen


@pytest.mark.requirement("CM-12")
def test_a_withdrawal_leaves_the_others_own_draft_of_the_same_template(tmp_path):
    """Both drafts are the bundled template around each person's own words: five words run alike."""

    async def go():
        house = House(tmp_path)
        try:
            await house.both_heard()
            annas = await house.says("anna", "I think he feels afraid and alone in the ward.")
            await house.says("anna", share=annas["draft"]["id"])
            await house.says("ben", "I think she feels tired and overwhelmed.")
            await house.says("ben", "She does so much, I do not know.")
            bens = await house.says("ben", "What do I have here?")
            who = replace(house.engine.local(), actor=ActorId("ben"))
            before = json.dumps(await overview(house.engine, who, SESSION))
            await house.says("anna", withdraw=annas["draft"]["id"])
            kept = await house.engine.turn(bens["turn_id"], who)
            after = json.dumps(await overview(house.engine, who, SESSION))
            return annas["draft"]["text"], bens["draft"], before, after, kept
        finally:
            await house.engine.close()

    annas, bens, before, after, kept = anyio.run(go)
    assert "lonely and afraid" in annas
    assert "tired and overwhelmed" in bens["text"]
    assert annas in before
    assert annas not in after
    assert "lonely and afraid" not in json.dumps(kept)
    assert kept["draft"] == bens
    assert bens["text"] in kept["answer"]
    assert WITHDRAWN in kept["answer"]


@pytest.mark.requirement("CM-11")
@pytest.mark.requirement("CM-18")
def test_models_of_the_other_are_sent_no_canary_whatever_observers_learn(tmp_path):
    """A model that hoards: each observer keeps all that it can, and every answer repeats its prompt."""
    marks = canaries(11)
    private = f"My sister {marks[0]} moved in last year"

    def hoard(asked: Received) -> Said:
        if "People extractor." in asked.text:
            people = [{"name": marks[0], "relation": "sister", "quote": private}]
            return Said(text=json.dumps({"people": people}))
        if "Fact ledger." in asked.text:
            fact = {"category": "People", "fact": private, "quote": private}
            return Said(text=json.dumps({"upsert": [fact], "delete": []}))
        if "Memory validator." in asked.text:
            return Said(text='{"valid": true, "kind": "fact", "quote": "", "why": ""}')
        if "Rolling summary" in asked.text:
            return Said(text=json.dumps({"narrative": asked.text[-2_000:]}))
        if "JSON object" in asked.text and "Mode:" not in asked.text:
            return Said(text="{}")
        return Said(text=f"<thinking>\nMode: WITNESS\n</thinking>You wrote: {asked.text[-1_500:]}")

    async def story():
        with FakeProvider(hoard) as provider:
            house = House(
                tmp_path,
                BEDSIDE_WRITER="openai:large", BEDSIDE_MECHANIC="openai:small",
                OPENAI_BASE_URL=provider.address("openai"), OPENAI_API_KEY="k",
            )  # fmt: skip
            try:
                await house.says("anna", invite="ben")
                await house.says("anna", "Hello")
                await house.says("anna", "Yes, let us begin.")
                await house.says("anna", f"{private}.")
                for at in range(0, CANARIES, 100):
                    await house.says("anna", f"I feel alone with {' '.join(marks[at : at + 100])}.")
                await house.says("anna", f"Remember that I keep {marks[7]} at home.")
                await alone(house, "anna", f"I think of {marks[8]} at night.")
                await house.says("anna", consent="recall")
                sent = len(provider.requests)
                assert leaked(marks, [one.text for one in provider.requests]) == CANARIES
                turns = [
                    await house.says("ben", text)
                    for text in ("Hello", "Yes", "I feel alone.", "My sister moved in last year.",
                                 "Remember that I work at night.", "As we agreed last time.")
                ]  # fmt: skip
                turns.append(await alone(house, "ben", "I think of the winter at night."))
                turns.append(await house.says("ben", "I am tired."))
                who = replace(house.engine.local(), actor=ActorId("ben"))
                seen = await overview(house.engine, who, SESSION)
                rows = await house.engine.store.read(lambda c: others_rows(c, mine="anna"))
                asked = [one.text for one in provider.requests[sent:]]
                return turns, seen, rows, asked
            finally:
                await house.engine.close()

    turns, seen, rows, asked = anyio.run(story)
    assert len(asked) > 10
    for texts in ([json.dumps(turns)], [json.dumps(seen)], rows.values(), asked):
        assert leaked(marks, texts) == 0
