"""Addresses and names that other languages, military mail and conversations write otherwise."""

from __future__ import annotations

import pytest

from bedside.models.identifiers import Veil


def hidden(text: str) -> str:
    """The text with what is hidden blotted out."""
    made = list(text)
    for start, end in Veil(()).spans(text):
        made[start:end] = "#" * (end - start)
    return "".join(made)


@pytest.mark.requirement("NO-10")
@pytest.mark.parametrize(
    ("text", "gone"),
    [
        (
            "She moved to 9 Rue de Tanger 29\nSuite 399\nTunisia 56004 last year.",
            "Rue de Tanger 29",
        ),
        ("He stays at Vesterbrogade 14, København.", "Vesterbrogade 14"),
        ("Sent to 1072 Pohlstrasse 9\nSuite 858\nBremen\nGermany 74285", "Pohlstrasse 9"),
        ("The flat is 41086 Kiannonkatu 98\n Suite 464\n OULU\n Finland 80896", "Kiannonkatu 98"),
        ("Post goes to PSC 2581, Box 0041\nAPO AP 32376.", "PSC 2581, Box 0041"),
        ("They met at the corner of Via Nuova 85 and Baranyay Mill.", "Via Nuova 85"),
        ("[doctor] dr. gutierrez saw you last week .", "gutierrez"),
        ("[patient] my name is borna .", "borna"),
        ("Olga Krylova\nLine installer\n1610 Harbour Street\nLeeds", "Olga Krylova"),
    ],
)
def test_it_is_hidden(text, gone):
    assert gone in text
    assert gone not in hidden(text)


@pytest.mark.parametrize(
    "text",
    [
        "Given via PICC line 4 times; via Foley catheter 16 Fr.",
        "Metformin 500 mg\nAspirin 81 mg\nLisinopril 20 mg daily.",
        "BP 120/80 mmHg\nHeart rate 72\nTemperature 98.6",
        "Type 2 diabetes, stage 3 CKD, grade 2 murmur, 3 of 6.",
        "[doctor] the dr. recommended rest . see your dr. tomorrow .",
        "WBC 7.2, platelets 250 and hemoglobin 13.2\nSodium 140\nPotassium 4.1",
        "Unit 2 of packed cells; suite of tests was negative.",
        "Rue the day; am 7 units, pm 5 units of insulin.",
    ],
)
def test_clinical_words_stay(text):
    assert hidden(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "A" * 40_000,
        "12 " + "Ab.-" * 10_000,
        "rue de la " * 4_000,
        "1 Ab " * 8_000,
        "Ab Cd\n" * 8_000,
        "A. B. " * 7_000,
        "Policy no. A1 B2 " * 2_400,
        "john smith " * 4_000,
    ],
)
def test_a_hostile_text_is_read_in_time_that_grows_with_its_length(text):
    assert len(hidden(text)) == len(text)
