"""Phrases are found whole, at exact places, and repaired only when one meaning is that near."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bedside.clinical.lexicon import Lexicon, words

PHRASES = Lexicon(
    [
        ("heart failure", "hf"),
        ("heart", "organ"),
        ("chronic kidney disease", "ckd"),
        ("ALL", "leukemia"),
        ("metformin", "met"),
        ("metfomin", "met"),
        ("prednisone", "a"),
        ("prednisolone", "b"),
        ("hydralazine", "c"),
    ],
    cased=["ALL"],
)


def found(text: str, *, repair: bool = False) -> list[tuple[str, str]]:
    return [(m.phrase, m.values[0]) for m in PHRASES.find(text, repair=repair)]


def test_the_longest_phrase_wins_and_matches_do_not_overlap():
    assert found("heart failure and heart") == [("heart failure", "hf"), ("heart", "organ")]


def test_case_hyphens_and_plurals_do_not_matter():
    assert found("Heart-Failure; HEARTS") == [("Heart-Failure", "hf"), ("HEARTS", "organ")]


def test_a_phrase_does_not_cross_a_comma_or_other_words():
    assert found("heart, failure") == [("heart", "organ")]
    assert found("heart and failure") == [("heart", "organ")]


def test_a_cased_phrase_matches_only_in_its_case():
    assert found("all of ALL") == [("ALL", "leukemia")]
    assert PHRASES.get("all") == ()
    assert PHRASES.get("ALL") == ("leukemia",)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("metfromin", "met"), ("metforminn", "met"), ("hydralzine", "c"), ("hydralasine", "c")],
)
def test_a_slip_is_repaired_to_the_one_meaning_that_near(typed, meant):
    assert [value for _, value in found(typed, repair=True)] == [meant]
    assert PHRASES.find(typed, repair=True)[0].exact is False
    assert found(typed) == []


def test_a_word_between_two_meanings_is_left_alone():
    assert found("prednisoone") == []
    both = Lexicon([("cardizem", "x"), ("cardizen", "y")])
    assert both.find("cardizet", repair=True) == ()


def test_words_of_speech_are_never_repaired():
    spoken = Lexicon([("nystatin", 1)], words_of_speech=["cystatin"])
    assert spoken.find("cystatin c", repair=True) == ()


def test_possessives_fall_away():
    assert [word for _, _, word in words("the patient's LFT's")] == ["the", "patient", "lft"]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            ["heart failure", "metformin", "prednisone", "xyzzy", "and", "chronic kidney disease"]
        ),
        max_size=6,
    ),
    st.sampled_from([" ", "  ", "\n", "; ", ". "]),
)
def test_places_slice_back_to_the_phrase_and_stand_in_order(parts, gap):
    text = gap.join(parts)
    matches = PHRASES.find(text, repair=True)
    for match in matches:
        assert text[match.start : match.end] == match.phrase
    assert [m.start for m in matches] == sorted(m.start for m in matches)
    assert all(a.end <= b.start for a, b in itertools.pairwise(matches))
    assert len(matches) == sum(part not in {"xyzzy", "and"} for part in parts)


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=200))
def test_any_text_is_read_without_failing(text):
    for start, end, word in words(text):
        assert text[start:end].casefold() == word
    PHRASES.find(text, repair=True)
