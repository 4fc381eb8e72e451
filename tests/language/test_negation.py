"""Negation, doubt and subject scopes; sides."""

from __future__ import annotations

import pytest

from bedside.language.laterality import sides
from bedside.language.negation import scopes


def kinds_of(text: str, word: str) -> set[str]:
    at = text.index(word)
    return {one.kind for one in scopes(text) if one.start <= at < one.end}


@pytest.mark.parametrize(
    ("text", "word", "kinds"),
    [
        ("Denies chest pain, fever and cough.", "cough", {"negated"}),
        ("Denies chest pain but has a cough.", "cough", set()),
        ("No evidence of pneumonia.", "pneumonia", {"negated"}),
        ("He does not have chest pain.", "pain", {"negated"}),
        ("She doesn\u2019t have asthma.", "asthma", {"negated"}),
        ("She has not had a fever.", "fever", {"negated"}),
        ("She hasn't ever had a seizure.", "seizure", {"negated"}),
        ("They have never had surgery.", "surgery", {"negated"}),
        ("He no longer has diarrhoea.", "diarrhoea", {"negated"}),
        ("Denies having had a stroke.", "stroke", {"negated"}),
        ("He does not have pain, but he has a cough.", "cough", set()),
        ("He does not smoke and has asthma.", "asthma", set()),
        ("No fever and she has had a rash.", "rash", set()),
        ("Pulmonary embolism was ruled out.", "embolism", {"negated"}),
        ("Penicillin allergy refuted", "Penicillin", {"negated"}),
        ("Not more than 4 g daily", "daily", set()),
        ("Not only pain", "pain", set()),
        ("Possible pneumonia", "pneumonia", {"uncertain"}),
        ("?PE on the scan", "PE", {"uncertain"}),
        ("Mother had breast cancer.", "cancer", {"family"}),
        ("Mother had breast cancer. She has asthma.", "asthma", set()),
        ("History of stroke", "stroke", {"historical"}),
        ("Takes metformin", "metformin", set()),
    ],
)
def test_a_word_lies_in_the_scopes_that_a_reader_would_give_it(text, word, kinds):
    assert kinds_of(text, word) == kinds


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("pain in the left knee", [("left", "knee")]),
        ("R hip replaced", [("right", "hip")]),
        ("bilateral knees", [("both", "knee")]),
        ("both eyes", [("both", "eye")]),
        ("left-sided weakness", [("left", "weakness")]),
        ("right upper lobe", [("right", "lobe")]),
        ("come right away", []),
        ("he left the ward", []),
        ("left against advice", []),
    ],
)
def test_sides_are_read_with_what_they_are_said_of(text, found):
    assert [(one.side, one.of) for one in sides(text)] == found
