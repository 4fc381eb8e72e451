"""Figures in words are figures; pointing words are not."""

from __future__ import annotations

import pytest

from bedside.grounding import SourceText, check
from bedside.grounding.leaks import active_content
from bedside.grounding.reading import Read

SOURCES = [
    SourceText("a", "Metformin 500 mg: active, 500 mg twice daily with meals", kind="record"),
    SourceText(
        "b",
        "Warfarin: take half a tablet once daily for 3 weeks. Two readings above 7.0 were noted. "
        "HbA1c 8.2 %.",
        kind="note",
    ),
    SourceText(
        "c", "Monitor blood pressure weekly. Ibuprofen 1 tablet 3 times a day.", kind="document"
    ),
]


@pytest.mark.parametrize(
    ("text", "figures"),
    [
        ("two readings above 7", ["2", "7"]),
        ("half a tablet of warfarin", ["0.5"]),
        ("1/2 tablet", ["0.5"]),
        ("½ tablet", ["0.5"]),
        ("one and a half tablets", ["1.5"]),
        ("twenty-one days", ["21"]),
        ("five blood pressure readings", ["5"]),
        ("one tablet", ["1"]),
        ("a two-week history", ["2"]),
        ("a dozen episodes", ["12"]),
        ("one of the readings", []),
        ("a second reading", []),
        ("first-line therapy", []),
        ("the two of them", []),
        ("Type two diabetes", []),
        ("one day she fell", []),
        ("at one time", []),
        ("two things to note", []),
        ("three times a day", []),
        ("twice daily", []),
    ],
)
def test_number_words_that_count_something_are_figures(text: str, figures: list[str]) -> None:
    assert [str(one.low) for one in Read(text).quantities] == figures


@pytest.mark.requirement("EN-G3")
@pytest.mark.parametrize(
    "said",
    [
        "Metformin is taken once daily [1].",
        "Metformin three times daily [1].",
        "Warfarin one tablet once daily [2].",
        "Warfarin two tablets once daily [2].",
        "Warfarin 1/4 tablet once daily [2].",
        "Warfarin for four weeks [2].",
        "Three readings above 7.0 were noted [2].",
        "3 readings above 7.0 were noted [2].",
        "Ibuprofen one tablet four times a day [3].",
        "Ibuprofen two tablets three times a day [3].",
        "Are eleven readings above 7.0?",
    ],
)
def test_a_figure_in_words_that_no_source_holds_is_removed(said: str) -> None:
    assert not check(said, sources=SOURCES).ok


@pytest.mark.requirement("EN-G3")
@pytest.mark.parametrize(
    "said",
    [
        "Metformin is taken twice a day [1].",
        "Warfarin half a tablet once daily [2].",
        "Warfarin 0.5 tablet daily [2].",
        "Warfarin for three weeks [2].",
        "Warfarin for 3 weeks [2].",
        "2 readings above 7.0 were noted [2].",
        "Ibuprofen one tablet three times a day [3].",
        "One of the readings was above 7.0 [2].",
        "Monitor blood pressure weekly [3].",
        "Are two readings above 7.0?",
    ],
)
def test_a_figure_in_words_that_the_source_holds_is_kept(said: str) -> None:
    assert check(said, sources=SOURCES).ok


@pytest.mark.requirement("EN-G4")
@pytest.mark.parametrize(
    ("text", "active"),
    [
        ("Blood pressure 120 mm[Hg] (seated)", False),
        ("Blood pressure 120 mm[Hg](seated)", False),
        ("Insulin 10 m[iU] (5 Nov 2026)", False),
        ("Potassium 4.4 [1] (2024)", False),
        ("[guide](evil)", True),
        ("[guide](http://a.example)", True),
        ("mm[Hg](evil.example/x)", True),
        ("a[Hg](//evil.example)", True),
        ("![x](y)", True),
        ("<img src=x>", True),
    ],
)
def test_a_unit_in_brackets_is_no_link_and_a_link_is(text: str, active: bool) -> None:
    assert active_content(text) is active
