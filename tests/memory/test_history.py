"""Trimming a conversation: turns first, tokens second, the last six turns always."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bedside.core.context import Item
from bedside.core.errors import InvalidArgument
from bedside.memory.history import MOST_MESSAGES, in_turns, trim


def talk(turns: int, *, words: int = 10) -> list[Item]:
    made: list[Item] = []
    for n in range(turns):
        made.append(Item(f"q{n} " + "word " * (words - 1), key=f"q{n}"))
        made.append(Item(f"a{n} " + "word " * (words - 1), key=f"a{n}", role="assistant"))
    return made


def count(text: str) -> int:
    return len(text.split())


def keys(items: tuple[Item, ...]) -> list[str]:
    return [item.key for item in items]


@pytest.mark.requirement("EN-Y1")
@pytest.mark.parametrize(
    ("buffer", "summarised", "turns"), [(12, False, 12), (12, True, 8), (5, False, 5), (0, True, 0)]
)
def test_the_stage_and_the_summary_bound_the_turns(
    buffer: int,
    summarised: bool,
    turns: int,
) -> None:
    found = trim(talk(40), budget=100_000, count=count, buffer=buffer, summarised=summarised)
    assert keys(found.history) == [item.key for item in talk(40)[80 - 2 * turns :]]
    assert found.dropped == 80 - 2 * turns


@pytest.mark.requirement("EN-Y1")
def test_of_what_the_protected_turns_leave_sixty_percent_go_to_older_ones() -> None:
    found = trim(talk(12), budget=120 + 100, count=count)
    # six turns of 20 tokens are protected; 60 of the 100 left hold three more turns
    assert keys(found.history)[0] == "q3"
    assert (found.tokens, found.recalled_tokens) == (180, 40)


@pytest.mark.requirement("EN-Y1")
@settings(max_examples=50, deadline=None)
@given(st.integers(0, 60), st.integers(0, 400), st.integers(0, 15), st.booleans())
def test_any_conversation_keeps_its_last_turns_whole_and_drops_the_oldest_first(
    turns: int,
    budget: int,
    buffer: int,
    summarised: bool,
) -> None:
    history = talk(turns)
    found = trim(history, budget=budget, count=count, buffer=buffer, summarised=summarised)
    safe = min(6, buffer, turns)
    assert keys(found.history) == [
        item.key for item in history[len(history) - len(found.history) :]
    ]
    assert len(found.history) >= 2 * safe
    assert len(found.history) <= MOST_MESSAGES
    assert len(found.history) % 2 == 0, "no answer without its question"
    if len(found.history) > 2 * safe:
        assert found.tokens <= budget


def test_messages_without_an_answer_belong_to_the_turn_that_answers_them() -> None:
    two = [Item("a", key="1"), Item("b", key="2"), Item("c", key="3", role="assistant"),
           Item("d", key="4")]  # fmt: skip
    assert [[item.key for item in turn] for turn in in_turns(two)] == [["1", "2", "3"], ["4"]]
    assert in_turns([]) == []


def test_a_negative_budget_is_a_mistake() -> None:
    with pytest.raises(InvalidArgument):
        trim([], budget=-1, count=count)
