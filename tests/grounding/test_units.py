"""What is released at once."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bedside.grounding.units import cut


def units(text: str) -> list[str]:
    ends = cut(text, final=True)
    return [text[a:b] for a, b in zip([0, *ends], [*ends, len(text)], strict=True) if b > a]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("One. Two.", ["One. ", "Two."]),
        ("One [3]. Two. [4] Three.", ["One [3]. ", "Two. [4] ", "Three."]),
        ("Was 8.2 %. eGFR is 38.", ["Was 8.2 %. ", "eGFR is 38."]),
        (
            "Dr. Smith saw J. Doe, e.g. today. Fine.",
            ["Dr. Smith saw J. Doe, e.g. today. ", "Fine."],
        ),
        ("- a\n- b\n\n## C\nd", ["- a\n", "- b\n\n", "## C\n", "d"]),
        ("1. First\n2. Second", ["1. First\n", "2. Second"]),
        ("Why? Because!", ["Why? ", "Because!"]),
        ("", []),
        ("\n\n", ["\n\n"]),
    ],
)
def test_a_unit_is_a_sentence_an_item_or_a_row(text, found):
    assert units(text) == found


piece = st.lists(
    st.sampled_from(
        ["One. ", "two", " [3]", ". ", "\n", "eGFR", "8.2 %", "? ", "e.g. ", "- ", "1. ", "[", "A"]
    ),
    max_size=12,
).map("".join)


@given(piece, st.data())
def test_a_border_once_drawn_never_moves(text, data):
    whole = cut(text, final=True)
    part = data.draw(st.integers(0, len(text)))
    early = cut(text[:part], final=False)
    assert early == whole[: len(early)]


@given(piece)
def test_units_together_are_the_text(text):
    assert "".join(units(text)) == text
