"""Counting: the real tokenizer, remembered counts, corrections; and why fences make counts add up."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bedside.context import Correction, Counter, cl100k, counter, o200k
from bedside.context.render import body_text
from bedside.core.errors import InvalidArgument

TEXT = st.text(alphabet=st.characters(codec="utf-8"), max_size=120).filter(str.strip)
FENCES = {
    True: ('<source id="12" kind="record">\n', "</source>\n"),
    False: ("<item>\n", "</item>\n"),
}


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.lists(st.tuples(TEXT, st.booleans()), min_size=1, max_size=6))
def test_counts_of_fenced_items_add_up_exactly(bare, bodies):
    pieces = []
    for body, sourced in bodies:
        opening, closing = FENCES[sourced]
        pieces += [opening, body_text(body.lstrip("\r\n/"), "data"), closing]
    assert bare("".join(pieces)) == sum(bare(piece) for piece in pieces)


def test_the_two_tokenizers_are_the_real_ones():
    """Published counts of the tokenizers' own cookbook sentence."""
    sentence = "antidisestablishmentarianism"
    assert cl100k()(sentence) == 6
    assert o200k()(sentence) == 6
    assert o200k()("2 + 2 = 4") == 7
    assert cl100k()("お誕生日おめでとう") == 9
    assert o200k()("お誕生日おめでとう") == 8


def test_counts_are_remembered_and_the_tokenizer_is_asked_once():
    asked = []

    def base(text):
        asked.append(text)
        return len(text)

    count = Counter("mine", base)
    long = "x" * 100
    assert [count(long), count(long), count.with_factor(2)(long)] == [100, 100, 200]
    assert asked == [long]


def test_what_is_remembered_is_bounded(monkeypatch):
    monkeypatch.setattr("bedside.context.tokens._REMEMBERED", 3)
    asked = []
    count = Counter("mine", lambda text: asked.append(text) or 1)
    texts = [letter * 50 for letter in "abcdefg"]
    for text in (*texts, texts[-1], texts[4], texts[0]):
        count(text)
    assert asked == [*texts, texts[0]]
    count.heads().update(dict.fromkeys(range(9), 0))
    assert count.heads() == {}


def test_a_factor_rounds_up_and_must_be_above_nothing():
    assert Counter("mine", len, factor=1.5)("abc") == 5
    assert repr(counter("o200k_base", factor=1.45)) == "Counter('o200k_base', factor=1.45)"
    with pytest.raises(InvalidArgument):
        Counter("mine", len, factor=0)
    with pytest.raises(InvalidArgument, match="o200k_base, cl100k_base"):
        counter("gpt2")


def test_lone_surrogates_can_be_counted():
    assert o200k()("\ud800" * 50) == o200k()("?" * 50)


def test_a_correction_is_the_mean_of_what_was_reported():
    learned = Correction()
    for reported in (1_400, 1_500, 1_600):
        learned = learned.learn(counted=1_000, reported=reported)
    assert learned.samples == 3
    assert learned.factor == pytest.approx(1.5)
    assert learned.pinned == 1.5
    assert Correction(factor=1.401).pinned == 1.41


def test_reports_that_teach_nothing_change_nothing():
    known = Correction(factor=1.2, samples=4)
    assert known.learn(counted=1_000, reported=None) is known
    assert known.learn(counted=50, reported=70) is known
    assert known.learn(counted=1_000, reported=9_000) is known
    assert known.learn(counted=1_000, reported=0) is known
