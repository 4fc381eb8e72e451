"""Summaries: late, structured, and without a model made of the person's own sentences."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bedside.memory.summaries import INNER, ORDINARY, due, dump, extract, load, render

TALK = [
    ("user", "My brother moved in with us in January. I feel exhausted since he came."),
    ("assistant", "You need more rest, and we agreed on a plan."),
    ("user", "I need one evening a week for myself. He wants to stay until summer."),
    ("user", "We agreed that he cooks on Sundays. How can I tell him that I am angry?"),
    ("user", "The rent is still a problem between my brother and me. Ok."),
]


@pytest.mark.requirement("EN-Y2")
@pytest.mark.parametrize(
    ("messages", "tokens", "upto", "covers"),
    [
        (29, 100, 0, 0), (30, 100, 0, 15), (16, 8_001, 0, 1), (15, 90_000, 0, 0),
        (49, 100, 15, 0), (50, 100, 15, 35),
    ],
)  # fmt: skip
def test_a_summary_is_made_after_thirty_messages_and_again_after_twenty(
    messages: int, tokens: int, upto: int, covers: int
) -> None:
    assert due(messages, tokens, upto=upto) == covers


def test_inner_thoughts_are_summarised_sooner() -> None:
    assert [due(n, 0, rhythm=INNER) for n in (19, 20)] == [0, 8]
    assert [due(n, 0, upto=8, rhythm=INNER) for n in (34, 35)] == [0, 23]


@pytest.mark.requirement("EN-Y2")
@settings(max_examples=40, deadline=None)
@given(st.integers(0, 200), st.integers(0, 20_000))
def test_the_last_messages_are_never_summarised_away(messages: int, tokens: int) -> None:
    assert due(messages, tokens) <= max(0, messages - ORDINARY.keep)


@pytest.mark.requirement("EN-Y2")
def test_every_line_is_the_persons_own_sentence_in_its_part() -> None:
    found = extract(TALK)
    assert found.needs == ("I need one evening a week for myself.",)
    assert found.others_needs == ("He wants to stay until summer.",)
    assert found.agreements == ("We agreed that he cooks on Sundays.",)
    assert found.questions == ("How can I tell him that I am angry?",)
    assert found.journey == ("I feel exhausted since he came.",)
    assert found.unresolved == ("The rent is still a problem between my brother and me.",)
    assert "brother" in found.themes
    said = " ".join(text for role, text in TALK if role == "user")
    lines = [*found.needs, *found.facts, *found.unresolved, *found.journey, found.narrative]
    assert all(line in said for line in lines)
    assert "more rest" not in repr(found), "an answer is no knowledge of the person"
    assert found.upto == len(TALK)


def test_only_what_is_covered_is_summarised() -> None:
    assert "Sundays" not in repr(extract(TALK, upto=2))
    assert extract([]).narrative == ""


def test_it_is_stored_as_it_is_and_rendered_within_its_tokens() -> None:
    found = extract(TALK * 3)
    assert load(dump(found)) == found

    def count(text: str) -> int:
        return len(text.split())

    for tokens in (0, 10, 40, 300):
        text = render(found, count=count, tokens=tokens)
        assert count(text) <= tokens
    assert "Needs: I need one evening a week for myself." in render(found, count=count, tokens=300)
    assert len(render(extract(TALK * 50), count=count, tokens=9_999).split()) <= 600
