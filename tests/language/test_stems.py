"""Stems: what a search must treat as one word, and what it must not."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bedside.language.stems import STOP_WORDS, stems, words


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("infections", "infection"),
        ("Treating", "treated"),
        ("Crohn's", "Crohn"),
        ("Ménière", "meniere"),
        ("ANTIBIOTIC", "antibiotics"),
    ],
)
def test_forms_of_one_word_share_a_stem(left: str, right: str) -> None:
    assert stems(left) == stems(right) != []


def test_figures_and_codes_stay_whole() -> None:
    assert words("B12 2.5 mg SGLT2 HbA1c 7,5 e.g. x") == [
        "b12",
        "2.5",
        "mg",
        "sglt2",
        "hba1c",
        "7,5",
        "e",
        "g",
        "x",
    ]


def test_stop_words_fall() -> None:
    assert stems("what is the dose of it") == ["dose"]
    assert "dose" not in STOP_WORDS


def test_shortened_auxiliaries_are_no_words() -> None:
    assert words("she can't finish, doesn’t sleep and she'll call; I've the child's") == [
        "she",
        "finish",
        "sleep",
        "and",
        "she",
        "call",
        "i",
        "the",
        "child",
    ]


@given(st.text(max_size=60))
@settings(max_examples=100, deadline=None)
def test_words_are_lower_case_and_never_blank(text: str) -> None:
    assert all(
        word and word == word.lower() and not any(c.isspace() for c in word) for word in words(text)
    )
