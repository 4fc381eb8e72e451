"""Windows over a conversation."""

from __future__ import annotations

import pytest

from bedside.context import Budget, Item, assemble, compressed, headline, text_of, turns, window
from bedside.core.errors import InvalidArgument


def talk(n, *, answer="Answer {}. More about it.", roles=("user", "assistant")):
    items = []
    for k in range(n):
        items.append(Item(f"Question {k}?", key=f"q{k}"))
        items.append(Item(answer.format(k), key=f"a{k}", role="assistant"))
    return items


def test_a_turn_is_a_question_and_what_follows_it():
    items = [
        Item("Hi"), Item("Hello", role="assistant"), Item("One"), Item("Two"),
        Item("Both", role="assistant"), Item("And", role="assistant"), Item("Bye"),
    ]  # fmt: skip
    assert [item.unit for item in turns(items)] == [
        "turn 0", "turn 0", "turn 1", "turn 1", "turn 1", "turn 1", "turn 2",
    ]  # fmt: skip
    assert turns([Item("x", unit="mine")])[0].unit == "mine"


def test_a_long_answer_has_its_headline_as_a_short_form():
    long = Item("The eGFR fell to 38. " + "More words follow here. " * 40, role="assistant")
    (made,) = turns([long])
    assert made.forms == ("The eGFR fell to 38.",)
    assert turns([Item("\n" * 700, role="assistant")])[0].forms == ()


@pytest.mark.requirement("EN-C11")
def test_the_last_six_messages_stand_verbatim_and_older_answers_in_a_sentence():
    recent, earlier = window(talk(5))
    assert [item.key for item in recent.items] == ["q2", "a2", "q3", "a3", "q4", "a4"]
    assert earlier is not None
    assert earlier.items[0].body == (
        "Earlier in this conversation, the first sentence of each answer:\n- Answer 0.\n- Answer 1."
    )
    assert earlier.items[0].forms == (
        "Earlier in this conversation, the first sentence of each answer:\n- Answer 1.",
    )
    assert earlier.slot == "tail"


def test_a_short_conversation_has_no_earlier_part():
    recent, earlier = window(talk(2))
    assert len(recent.items) == 4
    assert earlier is None
    nothing, earlier = window([])
    assert nothing.items == ()
    assert earlier is None


def test_the_window_starts_on_whole_steps_so_that_its_prefix_holds():
    starts = []
    for n in range(1, 13):
        recent, _ = window(talk(n), last=6, step=3)
        starts.append(recent.items[0].key)
        assert len(recent.items) >= min(6, 2 * n)
    assert starts == ["q0"] * 5 + ["q3"] * 3 + ["q6"] * 3 + ["q9"]


def test_the_compiled_window_keeps_its_last_turn_whatever_happens():
    recent, earlier = window(talk(9), cap=1_200)
    assert earlier is not None
    made = assemble([recent, earlier], budget=Budget(32))
    assert "Question 8?" in [text_of(message) for message in made.messages]


def test_only_the_last_forty_lines_are_kept_and_nothing_said_is_nothing():
    item = compressed(talk(60))
    assert item is not None
    assert item.body.count("\n- ") == 40
    assert compressed([Item("Question?")]) is None
    assert compressed([Item("  ", role="assistant")]) is None


def test_a_headline_is_cut_at_a_word_and_marked():
    long = "word " * 200
    made = headline(long)
    assert made.endswith("word [truncated]")
    assert len(made) <= 300
    assert headline("") == ""
    assert headline("x" * 400).strip() == "[truncated]"


def test_windows_below_one_are_refused():
    with pytest.raises(InvalidArgument, match="last"):
        window([], last=0)
    with pytest.raises(InvalidArgument, match="step"):
        window([], step=0)
