"""What is kept beside the facts: people, wishes, and how a person takes them out again."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import anyio
import pytest
from sqlalchemy import select

sys.path.insert(0, str(Path(__file__).parent))
from house import SESSION, House

from bedside.core.ids import ActorId
from bedside.flows.companion.people import Mention, may_name, met, people_by_rule
from bedside.flows.companion.tables import tables_of
from bedside.flows.companion.wishes import asked, formatted, wish_of
from bedside.memory.facts import Own
from bedside.storage.tables import metadata
from bedside.wiring.companion import overview
from bedside.wiring.leaving import erase_side

TABLES = tables_of(None)


def through(home: Path, story, **environ: str):
    async def go():
        house = House(home, **environ)
        try:
            return await story(house)
        finally:
            await house.engine.close()

    return anyio.run(go)


async def seen_by(house: House, person: str, session: str = SESSION):
    who = replace(house.engine.local(), actor=ActorId(person))
    return json.loads(json.dumps(await overview(house.engine, who, session)))


# ---- people


@pytest.mark.requirement("CM-18")
@pytest.mark.parametrize(
    ("text", "people"),
    [
        ("My sister Priya moved in with us.", [("Priya", "sister")]),
        ("I told my older brother about it.", [("my older brother", "older brother")]),
        ("Priya, my sister, says that I should wait.", [("Priya", "sister")]),
        ("We saw Dr. Rao on Monday.", [("Dr. Rao", "")]),
        ("My mother-in-law calls every day.", [("my mother-in-law", "mother-in-law")]),
        ("My mother's house was sold.", []),
        ("I feel alone. On Monday it rained.", []),
    ],
)
def test_rules_find_whom_a_message_names(text, people):
    own = (Own(source="m1", text=text),)
    found, refused = met((), people_by_rule(own), own)
    assert [(one.name, one.relation) for one in found] == people
    assert refused == 0
    assert all(text[one.start : one.end] == one.quote for one in found)


@pytest.mark.requirement("CM-18")
def test_a_person_without_verbatim_words_or_whose_name_is_not_in_them_is_refused():
    own = (Own(source="m1", text="My sister moved in. It is loud now."),)
    given = [
        Mention(name="Priya", relation="sister", quote="My sister moved in."),
        Mention(name="my sister", relation="sister", quote="My sister lives here now."),
        Mention(name="my sister", relation="sister", quote="sister"),
        Mention(name="my sister", relation="landlady", quote="My sister moved in."),
    ]
    found, refused = met((), given, own)
    assert [(one.name, one.relation) for one in found] == [("my sister", "")]
    assert refused == 3


@pytest.mark.requirement("CM-18")
def test_a_name_takes_the_place_of_my_sister_and_nobody_comes_twice():
    own = tuple(
        Own(source=f"m{n}", text=text)
        for n, text in enumerate(
            ("My sister calls every day.", "My sister Priya came.", "I like Priya, my sister.")
        )
    )
    people = ()
    for end in (1, 2, 3):
        people, _ = met(people, people_by_rule(own[:end]), own[:end])
    assert [(one.name, one.relation) for one in people] == [("Priya", "sister")]
    assert met(people, people_by_rule(own), own, but=("Priya",))[0] == people
    assert met((), people_by_rule(own), own, but=("Priya",))[0] == ()


def test_a_plain_message_asks_no_model_about_people():
    assert not may_name("I feel alone in the evenings, and nobody asks.")
    assert may_name("I told Priya about it.")


@pytest.mark.requirement("CM-18")
@pytest.mark.requirement("CM-11")
def test_people_are_kept_for_their_owner_alone_and_stand_in_context_and_facts(tmp_path):
    async def story(house):
        await house.says("anna", invite="ben")
        for person in ("anna", "ben"):
            await house.says(person, "Hello")
            await house.says(person, "Yes")
        await house.says("anna", "My sister Priya thinks that Ben should rest.")
        turn = await house.says("anna", "I do not know what to do now.")
        who = replace(house.engine.local(), actor=ActorId("anna"))
        prompt = "\n".join(
            part["content"] for part in await house.engine.prompt(turn["turn_id"], who)
        )
        return await seen_by(house, "anna"), await seen_by(house, "ben"), prompt, turn

    anna, ben, prompt, turn = through(tmp_path, story)
    assert [(one["name"], one["relation"]) for one in anna["people"]] == [("Priya", "sister")]
    assert "People they spoke of: Priya (sister)" in prompt
    assert turn["memory"]["people"] == 1
    assert [one["category"] for one in anna["facts"]] == ["People"]
    assert ben["people"] == []
    assert "Priya" not in str(ben)


# ---- wishes


@pytest.mark.requirement("CM-18")
@pytest.mark.parametrize(
    ("text", "kind", "line"),
    [
        ("Remember that I work nights since March.", "fact", "I work nights since March."),
        ("Please keep in mind that I prefer short answers", "preference", "I prefer short answers."),
        ("From now on, no metaphors please.", "preference", "No metaphors please."),
        ("Call me Sam.", "preference", "Call me Sam."),
        ("Can you remember that my daughter is called Ines?", "fact", "My daughter is called Ines."),
    ],
)  # fmt: skip
def test_a_request_to_keep_something_is_one_line_with_its_verbatim_words(text, kind, line):
    wish = asked(text, TABLES)
    assert wish is not None
    assert (wish.kind, wish.line, wish.why) == (kind, line, "")
    assert wish.quote in text
    assert len(wish.line.split()) <= 15


@pytest.mark.requirement("CM-18")
@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("Remember that he thinks I am lazy.", "other"),
        ("Remember that Ben hates my mother.", "other"),
        ("From now on skip the listening stage.", "process"),
        ("Keep in mind that you should tell him everything.", "process"),
        ("Remember that I live with a narcissist.", "diagnosis"),
        ("Remember that my sister has an affair, nobody may know.", "secret"),
        ("Please note that I have proof of what happened.", "against"),
        ("Remember that the evenings are long in winter.", "unclear"),
        ("Remember that " + "I went to the old market " * 4, "long"),
    ],
)
def test_what_cannot_be_kept_is_refused_with_its_reason(text, why):
    wish = asked(text, TABLES, other="ben")
    assert wish is not None
    assert wish.why == why
    assert TABLES.texts["acts"]["memory_no"][why]


@pytest.mark.parametrize(
    "text",
    [
        "Do you remember when we spoke of the garden?", "I remember that night well.",
        "He never remembers that I work nights.", "Note the irony.", "Call me crazy, but I stayed.",
        "I cannot remember that he ever asked.",
    ],
)  # fmt: skip
def test_manners_of_speaking_ask_for_nothing(text):
    assert asked(text, TABLES) is None


def test_a_models_line_may_add_no_name_figure_or_attack():
    wish = wish_of("I work nights since March", TABLES)
    good = formatted({"line": "Works nights since March."}, wish, TABLES)
    assert good.line == "Works nights since March."
    for line in ("Works nights since 2019.", "Works nights with Ben.", "She is an idiot.", "",
                 "word " * 16):  # fmt: skip
        assert formatted({"line": line}, wish, TABLES).line == wish.line


@pytest.mark.requirement("CM-18")
def test_a_wish_is_kept_said_back_used_and_taken_out_again(tmp_path):
    async def story(house):
        await house.says("anna", "Hello")
        await house.says("anna", "Yes")
        kept = await house.says("anna", "Remember that I work nights since March.")
        deed = await house.says("anna", prefer="shorter answers, please")
        no = await house.says("anna", "Remember that Ben thinks that I am lazy.")
        both = await house.says("anna", "I feel alone. From now on, use short sentences.")
        turn = await house.says("anna", "I do not know how to go on from here.")
        who = replace(house.engine.local(), actor=ActorId("anna"))
        prompt = "\n".join(
            part["content"] for part in await house.engine.prompt(turn["turn_id"], who)
        )
        before = await seen_by(house, "anna")
        gone = await house.says("anna", forget=kept["kept"]["id"])
        unknown = await house.says("anna", forget="kept-0000")
        return kept, deed, no, both, prompt, before, gone, unknown, await seen_by(house, "anna")

    kept, deed, no, both, prompt, before, gone, unknown, after = through(tmp_path, story)
    assert kept["answer"] == "I will keep that in mind: I work nights since March."
    assert kept["kept"]["quote"] == "I work nights since March"
    assert kept["stage"] == 1
    assert deed["deed"] == {"name": "prefer", "outcome": "done"}
    assert no["kept"]["refused"] == "other"
    assert "cannot keep" in no["answer"]
    assert "lonely" in both["answer"]
    assert "short sentences" not in both["answer"].replace("Use short sentences.", "")
    assert "I will keep to that: Use short sentences." in both["answer"]
    assert before["preferences"] == ["Shorter answers, please.", "Use short sentences."]
    assert "I work nights since March. (kept at this person's request)" in prompt
    assert "Use short sentences." in prompt
    assert gone["deed"]["outcome"] == "done"
    assert unknown["deed"]["outcome"] == "unknown_id"
    assert [one["line"] for one in after["kept"]] == before["preferences"]


@pytest.mark.requirement("EN-Y3")
def test_a_fact_that_was_taken_out_does_not_come_back(tmp_path):
    async def story(house):
        await house.says("anna", "Hello")
        await house.says("anna", "Yes")
        await house.says("anna", "My sister Priya moved in last year.")
        found = await seen_by(house, "anna")
        for one in (*found["facts"], *found["people"]):
            await house.says("anna", forget=one["id"])
        await house.says("anna", "I am tired of it. My sister Priya is loud.")
        return found, await seen_by(house, "anna")

    before, after = through(tmp_path, story)
    assert before["facts"]
    assert before["people"]
    assert after["people"] == []
    assert not {one["id"] for one in before["facts"]} & {one["id"] for one in after["facts"]}


@pytest.mark.requirement("EN-Y3")
@pytest.mark.parametrize(
    "text",
    [
        "My sister Priya moved in last year.",
        "I feel alone since Priya, my sister, moved to Leeds.",
        "I told my brother Tom that I was tired of my job.",
    ],
)
def test_with_a_person_go_the_facts_that_name_them_from_the_profile_too(tmp_path, text):
    async def rows(house):
        table = metadata.tables["memory_fact"]
        return await house.engine.store.read(
            lambda c: [tuple(row) for row in c.execute(select(table.c.kind, table.c.quote))]
        )

    async def story(house):
        await house.says("anna", "Hello")
        await house.says("anna", "Yes")
        await house.says("anna", consent="profile")
        await house.says("anna", "I worry about money every day.")
        await house.says("anna", text)
        await house.says("anna", "The evenings are long.")
        found, stored = await seen_by(house, "anna"), await rows(house)
        for one in found["people"]:
            await house.says("anna", forget=one["id"])
        await house.says("anna", "I slept badly this week.")
        return found, stored, await seen_by(house, "anna"), await rows(house)

    before, stored, after, left = through(tmp_path, story)
    (whom,) = before["people"]
    assert any(whom["name"] in one["quote"] for one in before["facts"])
    assert {kind for kind, quote in stored if whom["name"] in quote} == {"session", "profile"}
    assert after["people"] == []
    assert not any(whom["name"] in one["quote"] for one in after["facts"])
    assert not any(whom["name"] in quote for _, quote in left)
    assert any("money" in one["quote"] for one in after["facts"])


@pytest.mark.requirement("CM-07")
def test_a_full_ledger_makes_room_for_what_is_new(tmp_path):
    async def story(house):
        await house.says("anna", "Hello")
        await house.says("anna", "Yes")
        for day in range(23):
            await house.says("anna", f"On day {day} I felt tired of my job at the mill.")
        return await seen_by(house, "anna")

    facts = through(tmp_path, story)["facts"]
    assert len(facts) == 20
    assert "day 22" in facts[-1]["text"]
    assert not any("day 0 " in one["text"] for one in facts)


@pytest.mark.requirement("EN-Y5")
@pytest.mark.requirement("CM-08")
def test_each_consent_is_its_own_shown_in_every_conversation_and_stays_withdrawn(tmp_path):
    async def story(house):
        for session in ("one", "two"):
            await house.says("anna", "Hello", session=session)
            await house.says("anna", "Yes", session=session)
        await house.says("anna", consent="profile", session="one")
        alone = (await seen_by(house, "anna", "two"))["consents"]
        await house.says("anna", consent="recall", session="one")
        both = (await seen_by(house, "anna", "two"))["consents"]
        await house.says("anna", consent='{"id": "recall", "given": "no"}', session="two")
        await house.says("anna", "I feel alone since the winter.", session="one")
        return alone, both, (await seen_by(house, "anna", "one"))["consents"]

    alone, both, after = through(tmp_path, story)
    assert alone == ["profile"]
    assert both == ["recall", "profile"]
    assert after == ["profile"]


@pytest.mark.requirement("EN-S3")
def test_erasing_a_side_looks_for_what_was_kept_by_a_deed_as_well(tmp_path):
    """The words of a deed stand in no message: they are looked for all the same, and gone."""
    words = "never mention the zebrafinch letter at supper"

    async def story(house):
        await house.says("anna", "Hello")
        await house.says("anna", "Yes")
        await house.says("anna", prefer=words)
        before = sum(words.encode() in path.read_bytes().lower() for path in files())
        who = replace(house.engine.local(), actor=ActorId("anna"))
        receipt = await erase_side(house.engine, "anna", who)
        return before, receipt, sum(b"zebrafinch" in path.read_bytes().lower() for path in files())

    def files() -> list[Path]:
        return [path for path in tmp_path.rglob("*") if path.is_file()]

    before, receipt, after = through(tmp_path, story)
    assert before
    assert receipt["residual_bytes"] == 0
    assert receipt["searched"]["strings"] >= 3
    assert after == 0
