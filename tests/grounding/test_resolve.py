"""A quote is found in exactly one place, or refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bedside.evals.grounding_fuzz import fuzz, texts
from bedside.grounding import Ambiguous, NotFound, Resolved, SourceText, resolve

LETTER = "Denies chest pain.\r\nMetformin 500 mg twice\u00a0daily; HbA1c 8.2 % (was “9.1 %”). Non-adherent to diet. K < 3.5. Dose 5 - 10 mg.\n"


def found(quote: str, text: str = LETTER, **kwargs) -> str | None:
    result = resolve(quote, SourceText("letter", text), **kwargs)
    if isinstance(result, Resolved):
        assert text[result.start : result.end] == result.quote
        return result.quote
    return None


@pytest.mark.requirement("EN-G1")
@pytest.mark.parametrize(
    ("quote", "stored"),
    [
        ("Metformin 500 mg twice daily", "Metformin 500 mg twice\u00a0daily"),
        ('HbA1c 8.2 % (was "9.1 %")', "HbA1c 8.2 % (was “9.1 %”)"),
        ("chest pain. Metformin", "chest pain.\r\nMetformin"),
        ("  Denies chest pain. ", "Denies chest pain."),
        ('"Denies chest pain."', "Denies chest pain."),
        ("K &lt; 3.5", "K < 3.5"),
        ("Dose 5–10 mg", None),
        ("Dose 5 – 10 mg", "Dose 5 - 10 mg"),
    ],
)
def test_a_quote_resolves_to_the_stored_characters_whatever_its_typography(quote, stored):
    assert found(quote) == stored


@pytest.mark.requirement("EN-G1")
@pytest.mark.parametrize(
    "quote",
    [
        "0 mg twice",
        "adherent to diet",
        "3.5",
        "10 mg",
        "Dose 5",
        "hest pain",
        "Metformin 50",
        "8.2 % was",
        "metformin 500 mg",
        "...",
        "",
        "Metformin 500 mcg",
    ],
)
def test_a_quote_that_tears_a_word_a_sign_or_a_range_is_refused(quote):
    assert found(quote) is None


@pytest.mark.requirement("EN-G2")
def test_a_quote_that_stands_twice_is_ambiguous_until_its_place_is_given():
    text = "Take 5 mg. Later take 5 mg."
    source = SourceText("s", text)
    twice = resolve("5 mg", source)
    assert twice == Ambiguous(places=((5, 9), (22, 26)))
    assert resolve("5 mg", source, within=(11, 27)) == Resolved(start=22, end=26, quote="5 mg")
    assert resolve("5 mg", source, within=[(0, 10)]) == Resolved(start=5, end=9, quote="5 mg")


def test_places_that_only_look_alike_in_another_spelling_are_ambiguous_too():
    assert isinstance(resolve("5-10 mg", SourceText("s", "Take 5-10 mg or 5–10 mg.")), Ambiguous)


def test_a_place_torn_from_a_range_makes_a_quote_ambiguous_since_it_may_be_meant():
    assert isinstance(resolve("10 mg", SourceText("s", "From 5 - 10 mg. Then 10 mg.")), Ambiguous)


def test_a_window_that_cuts_a_number_does_not_make_a_whole_one_of_its_rest():
    assert isinstance(resolve("5 mg", SourceText("s", "Take 25 mg now"), within=(6, 14)), NotFound)


def test_what_is_not_there_names_the_nearest_stretch():
    result = resolve(
        "Metformin 500 mg thrice daily", SourceText("s", "She takes Metformin 500 mg twice daily.")
    )
    assert isinstance(result, NotFound)
    assert result.nearest is not None
    start, end = result.nearest
    assert "Metformin 500 mg t" in "She takes Metformin 500 mg twice daily."[start:end]


WORDS = "the dose of metformin 500 mg is 8.2 % — “no” pain left ﬁne café 5 - 10"
words = st.lists(
    st.sampled_from(WORDS.split()),
    min_size=4,
    max_size=30,
)


@settings(max_examples=150)
@given(words, st.data())
def test_what_resolves_is_the_stored_text_at_those_offsets(tokens, data):
    text = data.draw(st.sampled_from([" ", "\n", "\u00a0 "])).join(tokens)
    first = data.draw(st.integers(0, len(tokens) - 1))
    last = data.draw(st.integers(first, len(tokens) - 1))
    quote = " ".join(tokens[first : last + 1])
    result = resolve(quote, SourceText("s", text))
    if isinstance(result, Resolved):
        assert text[result.start : result.end] == result.quote
        assert result.quote.split() == quote.split()


@pytest.mark.slow
@pytest.mark.requirement("EN-G1")
def test_fuzzed_quotes_resolve_right_or_are_refused():
    data = Path(__file__).resolve().parents[2] / ".." / "shared" / "data"
    figures = fuzz(texts(data if data.is_dir() else None), count=2_000, seed=11)
    assert figures["wrong"] == 0, figures["failures"]
    assert figures["right_or_refused"] == 1.0
    assert figures["must"] > 500
    assert figures["must_resolved"] >= 0.995
    assert figures["twice_said_ambiguous"] >= 0.98
