"""Long conversations inside the budget, with the real compiler and the real token counter."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bedside.context import assemble
from bedside.context.tokens import o200k
from bedside.core.context import Block, Item
from bedside.core.errors import BadInput
from bedside.core.turn import Got
from bedside.flows.companion.blocks import budget_of, reply_blocks, system_text
from bedside.flows.companion.flow import recalled
from bedside.flows.companion.kept import Kept, Reflection
from bedside.flows.companion.moves import Move
from bedside.flows.companion.reading import read
from bedside.flows.companion.recall import intent_of, parted, routed
from bedside.flows.companion.state import Mine, Pair, Shared
from bedside.flows.companion.tables import PROMPTS, tables_of
from bedside.memory.needs import Recalled, Remembered

COUNT = o200k()
TABLES = tables_of(None)
WORDS = [
    "the",
    "house",
    "was",
    "quiet",
    "and",
    "nobody",
    "said",
    "what",
    "had",
    "happened",
    "after",
    "supper",
]


def talked(turns: int, sizes: list[int]) -> list[Item]:
    history = []
    for turn in range(turns):
        size = sizes[turn % len(sizes)]
        body = " ".join(WORDS[at % len(WORDS)] for at in range(size))
        history.append(Item(f"u{turn} {body}", key=f"u{turn}", role="user"))
        history.append(Item(f"a{turn} {body}", key=f"a{turn}", role="assistant"))
    return history


def compiled(history, *, stage=1, text="I feel alone.", mine=None, retrieved=()):
    said = read(text, TABLES.words)
    mine = mine or Mine(stage=min(stage, 2), turns=len(history) // 2, since=2, intensities=(4,))
    at = TABLES.stages[stage]
    move = Move(
        said=said, stage=at, before=at, kind="stage", state=Pair(shared=Shared(people=("a",)), mine=mine)
    )  # fmt: skip
    memory = intent_of(said, mine, at, TABLES, consent=True)
    blocks = reply_blocks(
        tables=TABLES, move=move, memory=memory, history=history, message=text, person="a",
        count=COUNT, retrieved=retrieved,
    )  # fmt: skip
    budget = budget_of(TABLES, blocks, count=COUNT)
    return assemble(blocks, budget=budget, layout="balanced", count=COUNT), budget, memory


def shown(prompt) -> list[str]:
    """The marks of the history as they stand in the prompt, in order ("u3", "a3", ...)."""
    out = []
    for message in prompt.messages:
        for part in message.parts:
            out += [
                word
                for word in str(part).replace(">", " ").replace("\n", " ").split()
                if word[:1] in "ua" and word[1:].isdigit()
            ]
    return out


@pytest.mark.requirement("EN-Y1")
@pytest.mark.requirement("CM-04")
@settings(max_examples=20, deadline=None)
@given(
    st.integers(0, 200),
    st.lists(st.integers(1, 900), min_size=1, max_size=7),
    st.integers(1, 4),
    st.integers(0, 5),
)
def test_two_hundred_turns_stay_inside_with_the_last_six_in_order_and_in_pairs(
    turns, sizes, stage, hits
):
    found = [Item(f"Remembered {n}: " + "word " * 300, key=f"r{n}") for n in range(hits)]
    prompt, budget, _ = compiled(talked(turns, sizes), stage=stage, retrieved=found)
    assert prompt.tokens <= budget.limit <= 40_000
    marks = shown(prompt)
    last = list(range(max(0, turns - 6), turns))
    assert [int(mark[1:]) for mark in marks] == sorted(int(mark[1:]) for mark in marks)
    users = [int(mark[1:]) for mark in marks if mark[0] == "u"]
    guides = [int(mark[1:]) for mark in marks if mark[0] == "a"]
    assert users == guides  # no half of a turn
    assert users[-len(last) :] == last if last else users == []
    assert len(marks) <= 24


@pytest.mark.requirement("EN-Y1")
def test_an_ordinary_long_conversation_stays_inside_the_target():
    prompt, budget, _ = compiled(talked(200, [40]), stage=2)
    assert budget.limit == 8_000
    assert prompt.tokens <= 8_000
    # Twelve turns at most without a summary; it begins on a third turn, as a cache of it lasts.
    assert [shown(prompt)[0], shown(prompt)[-1]] == ["u189", "a199"]


@pytest.mark.requirement("CM-16")
def test_the_cached_prefix_is_one_whatever_the_stage_and_the_message():
    made = [
        compiled(talked(9, [10]), stage=stage, text=text)[0]
        for stage in (1, 2, 3, 4)
        for text in ("I feel alone.", "No.", "How does this work?")
    ]
    assert len({one.prefix_hash for one in made}) == 1
    # The stage's prompt stands behind it, and what comes with one message behind the history.
    roles = [[message.role for message in one.messages] for one in made]
    assert all(one[:3] == ["system", "system", "user"] for one in roles)


@pytest.mark.requirement("CM-16")
def test_the_history_begins_on_every_third_turn_so_that_a_cache_of_it_lasts():
    starts = [shown(compiled(talked(turns, [10]))[0])[0] for turns in range(30, 36)]
    assert starts == ["u18", "u21", "u21", "u21", "u24", "u24"]


@pytest.mark.requirement("EN-Y1")
@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.integers(1, 5), max_size=60),
    st.sampled_from((8, 12)),
    st.integers(0, 12),
    st.integers(1, 5),
)
def test_the_last_six_turns_stay_whatever_the_step_while_they_fit(unanswered, most, before, step):
    # A turn may hold messages that had no answer: it was stopped, and the person wrote again.
    history = []
    for turn, times in enumerate(unanswered):
        history += [Item(f"u{turn} {n}", key=f"u{turn}", role="user") for n in range(times)]
        history.append(Item(f"a{turn}", key=f"a{turn}", role="assistant"))
    memory = intent_of(read("Hm.", TABLES.words), Mine(), TABLES.stages[1], TABLES, consent=True)
    memory = replace(memory, turns=most)
    older, kept = parted(
        history,
        memory,
        messages=24,
        before=min(before, len(history)),
        before_most=before,
        step=step,
    )
    held = [item.key for item in (*older, *kept) if item.role == "assistant"]
    last = [f"a{n}" for n in range(len(unanswered))][-6:]
    fits = sum(unanswered[-6:]) + len(last) <= 24
    assert not fits or held[-len(last) :] == last
    assert len(older) + len(kept) <= 24


@pytest.mark.requirement("CM-03")
@pytest.mark.parametrize(("stage", "buffer"), [(1, 5), (2, 4), (3, 4), (4, 5)])
def test_each_stage_has_its_buffer(stage, buffer):
    assert compiled(talked(9, [10]), stage=stage)[2].buffer == buffer


@pytest.mark.requirement("CM-03")
def test_recall_that_is_to_be_avoided_sends_no_turn_and_enforcing_sends_two():
    prompt, _, memory = compiled(talked(9, [10]), text="What do you remember about me?")
    assert (memory.intent, shown(prompt)) == ("avoid", [])
    prompt, _, memory = compiled(talked(9, [10]), text="Skip this.")
    assert memory.intent == "enforce"
    assert shown(prompt) == ["u7", "a7", "u8", "a8"]


@pytest.mark.requirement("CM-05")
@pytest.mark.parametrize(
    ("stage", "text", "depth", "hits", "across"),
    [
        (0, "Hello there, how are you doing?", "minimal", 0, False),
        (1, "He forgot the letter that I wrote.", "minimal", 0, False),
        (2, "He forgot the letter that I wrote.", "light", 2, True),
        (3, "He forgot the letter that I wrote.", "full", 5, True),
        (4, "He forgot the letter that I wrote.", "full", 5, True),
        (1, "But we agreed on it in March.", "full", 5, True),
        (1, "As I said last time, he forgot.", "light", 2, False),
        (4, "I can't breathe, but we agreed on it.", "none", 0, False),
    ],
)
def test_rules_say_how_much_is_remembered(stage, text, depth, hits, across):
    memory = compiled([], stage=stage, text=text)[2]
    assert (memory.depth, memory.hits, memory.cross_session) == (depth, hits, across)


@pytest.mark.requirement("CM-05")
@pytest.mark.requirement("CM-01")
def test_thresholds_are_those_of_the_stages_and_a_tenant_changes_them():
    assert [stage.threshold for stage in TABLES.stages] == [0.60, 0.65, 0.55, 0.50, 0.50]
    own = tables_of({"prompt": {"companion/stages": {"text": "distress: 7"}}})
    assert own.rules["distress"] == 7
    assert own.rules["budget"] == TABLES.rules["budget"]
    edited = tables_of({"prompt": {"companion/witnessing": {"text": "Our own words."}}})
    assert edited.prompt("witnessing") == "Our own words."
    with pytest.raises(BadInput):
        tables_of({"prompt": {"companion/stages": {"text": "stages: []"}}})


@pytest.mark.requirement("CM-01")
def test_system_prompts_are_inside_their_sizes():
    own = ("onboarding", "invitation", "witnessing", "perspective", "needs", "repair", "inner_work",
           "linked_thoughts", "reconciler")  # fmt: skip
    sizes = {name: COUNT(TABLES.prompt(name)) for name in own}
    assert all(300 <= size <= 1_125 for size in sizes.values()), sizes
    assert all(TABLES.prompt(name) for name in PROMPTS)
    for stage in TABLES.stages:
        said = replace(read("How does this work, what happens next?", TABLES.words), brief=True)
        move = Move(said=said, stage=stage, before=TABLES.stages[0], kind="stage",
                    state=Pair(shared=Shared(), mine=Mine()))  # fmt: skip
        whole = sum(COUNT(text) for _, text in system_text(TABLES, move))
        assert whole <= 4_000


@pytest.mark.requirement("CM-01")
@pytest.mark.parametrize(
    ("shared", "name"),
    [
        (Shared(people=("anna",)), "invitation"),
        (Shared(people=("anna",), invited=("ben",)), "onboarding"),
        (Shared(people=("anna", "ben")), "onboarding"),
    ],
)
def test_the_invitations_prompt_is_for_one_who_has_nobody_yet(shared, name):
    stage = TABLES.stages[0]
    move = Move(said=read("Hello", TABLES.words), stage=stage, before=stage, kind="onboarding",
                state=Pair(shared=shared, mine=Mine()))  # fmt: skip
    assert [part for part, _ in system_text(TABLES, move)][3] == name


@pytest.mark.requirement("CM-13")
def test_no_factor_alone_reaches_the_large_model():
    rules = TABLES.rules["router"]
    assert all(points < rules["threshold"] for points in rules["points"].values())
    calm = read("We had supper and he told me about his day at the mill.", TABLES.words)
    assert routed(calm, TABLES, drafting=False, mediating=True).role == "mechanic"


@pytest.mark.requirement("CM-04")
def test_messages_of_a_deed_leave_with_their_answers():
    history = [
        Item("[share]", key="s", role="user"), Item("Given.", key="g", role="assistant"),
        Item("", key="e", role="user"), Item("Noted.", key="n", role="assistant"),
        Item("u1", key="u1", role="user"), Item("a1", key="a1", role="assistant"),
    ]  # fmt: skip
    memory = compiled(history)[2]
    older, kept = parted(history, memory, messages=24)
    assert [item.key for item in (*older, *kept)] == ["u1", "a1"]


@pytest.mark.requirement("CM-10")
def test_the_context_has_its_parts_in_their_sizes():
    random_ = random.Random(3)
    mine = Mine(
        stage=1, turns=7, since=3, intensities=(4, 7),
        kept=tuple(
            Kept(id=f"k{n}", kind="preference", line=f"preference {n}", quote="q", source="m")
            for n in range(9)
        ),
        reflections=tuple(
            Reflection(text=f"reflection {n} {random_.random()}", session="inner", source="m")
            for n in range(4)
        ),
    )  # fmt: skip
    prompt, _, _ = compiled(talked(3, [5]), mine=mine)
    rows = {row.block: row for row in prompt.ledger}
    assert rows["preferences"].items == 5
    assert rows["private reflections"].items == 2
    text = "\n".join(str(part) for message in prompt.messages for part in message.parts)
    assert "Intensity: 7/10 (rising)" in text
    assert text.index("preference 8") < text.index("I feel alone.")


@pytest.mark.requirement("CM-04")
def test_every_cap_is_read_from_the_stages_file():
    """Each is changed by a tenant's file, and what it bounds changes with it."""

    def own(**budget: int):
        text = "budget: {" + ", ".join(f"{name}: {n}" for name, n in budget.items()) + "}"
        return tables_of({"prompt": {"companion/stages": {"text": text}}})

    budget = TABLES.rules["budget"]
    assert {name: budget[name] for name in (
        "cross_session", "retrieved", "pre_session", "system", "output", "output_json", "reserved",
        "input", "context", "target",
    )} == {
        "cross_session": 10, "retrieved": 5, "pre_session": 10, "system": 4_000, "output": 2_048,
        "output_json": 1_024, "reserved": 4_000, "input": 150_000, "context": 40_000,
        "target": 8_000,
    }  # fmt: skip
    blocks = [Block("message", Item("word " * 60_000, key="m"), protected=True)]
    assert budget_of(TABLES, blocks, count=COUNT).limit == 40_000
    assert budget_of(TABLES, [], count=COUNT).limit == 8_000
    assert budget_of(own(context=9_000), blocks, count=COUNT).limit == 9_000
    assert budget_of(own(input=7_000), [], count=COUNT).limit == 3_000
    assert budget_of(own(reserved=149_000), [], count=COUNT).limit == 1_000
    assert budget_of(TABLES, [], count=COUNT).output == 2_048
    assert budget_of(TABLES, [], count=COUNT, output=1_024).output == 1_024
    assert budget_of(own(reserved=500), [], count=COUNT).output == 500
    sizes = {name: row["output"] for name, row in TABLES.side.items()}
    hidden = {name for name, row in TABLES.side.items() if row["release"] == "never"}
    assert {sizes[name] for name in hidden} == {budget["output_json"]}
    assert max(sizes.values()) == budget["output"]


@pytest.mark.requirement("CM-04")
@pytest.mark.requirement("CM-01")
def test_a_system_prompt_over_its_budget_falls_back_to_what_fits():
    long = "Our own words about listening. " * 900
    tables = tables_of({"prompt": {"companion/witnessing": {"text": long}}})
    stage = tables.stages[1]
    said = replace(read("idk", tables.words), brief=True)
    move = Move(said=said, stage=stage, before=stage, kind="stage",
                state=Pair(shared=Shared(), mine=Mine()))  # fmt: skip
    parts = dict(system_text(tables, move, count=COUNT))
    assert parts["witnessing"] == TABLES.prompt("witnessing")
    assert sum(COUNT(text) for text in parts.values()) <= 4_000
    kept = dict(system_text(TABLES, move, count=COUNT))
    small = tables_of({"prompt": {"companion/stages": {"text": "budget: {system: 1100}"}}})
    assert "probing" in kept
    assert "probing" not in dict(system_text(small, move, count=COUNT))


@pytest.mark.requirement("CM-04")
def test_of_what_was_said_before_the_beginning_the_latest_ten_messages_stay():
    history = talked(11, [3])
    memory = replace(compiled(history)[2], turns=12, protected=12)
    older, kept = parted(history, memory, messages=24, before=16, before_most=10)
    keys = [item.key for item in (*older, *kept)]
    assert keys == [item.key for item in history[6:]]
    older, kept = parted(history, memory, messages=24, before=4, before_most=10)
    assert len([*older, *kept]) == 22


@pytest.mark.requirement("CM-04")
@pytest.mark.requirement("CM-05")
def test_what_is_recalled_has_its_caps_by_kind():
    def found(kind, session, count):
        return tuple(
            Remembered(kind=kind, key=f"{kind}-{session}-{n}", text=f"{kind} {n}", session=session)
            for n in range(count)
        )

    items = (
        *found("summary", "here", 1), *found("fact", "", 3), *found("profile", "", 9),
        Remembered(kind="message", key="deed-0", text="[invite]", session="here"),
        *found("summary", "other", 9), *found("message", "here", 9), *found("message", "other", 15),
    )  # fmt: skip
    said = read("But we agreed on it in March.", TABLES.words)
    opened = SimpleNamespace(session="here", state=Pair(shared=Shared(), mine=Mine()))
    view = SimpleNamespace(opened=opened, gathered={"n": Got(value=Recalled(items=items), ms=1.0)})
    memory = intent_of(said, Mine(stage=1), TABLES.stages[1], TABLES, consent=True)
    kept = [item.key.rsplit("-", 1)[0] for item in recalled(view, memory, TABLES)]
    assert Counter(kept) == {
        "profile-": 5, "summary-other": 5, "message-here": 5, "message-other": 10,
    }  # fmt: skip
    light = replace(memory, hits=2)
    assert Counter(item.key.rsplit("-", 1)[0] for item in recalled(view, light, TABLES)) == {
        "profile-": 5, "summary-other": 2, "message-here": 2, "message-other": 10,
    }  # fmt: skip
