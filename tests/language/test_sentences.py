"""Sentence spans: nothing lost, nothing torn at doses, titles and decimals."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bedside.language.sentences import sentences

_PIECES = st.sampled_from(
    [
        "Dr. ",
        "2.5 mg p.o. ",
        "BID. ",
        "\n",
        "\n\n",
        "- item\n",
        "No. ",
        "(see Fig. 2). ",
        "É. ",
        "🙂 ",
        "word ",
        "A1c 7.2. ",
        "1. ",
        "| a | b |\n",
        "e.g. ",
        '?" ',
        "\u00a0",
        "\r\n",
        "... ",
    ]
)


def cut(text: str) -> list[str]:
    return [text[a:b] for a, b in sentences(text)]


@given(st.lists(_PIECES, max_size=30).map("".join) | st.text(max_size=80))
@settings(max_examples=150, deadline=None)
def test_spans_are_ordered_trimmed_and_lose_no_visible_character(text: str) -> None:
    spans = sentences(text)
    kept = "".join(text[a:b] for a, b in spans)
    assert "".join(kept.split()) == "".join(text.split())
    assert all(text[a:b] == text[a:b].strip() and a < b for a, b in spans)
    assert all(left[1] <= right[0] for left, right in pairwise(spans))


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("Dr. Smith saw Mrs. Jones. She is well.", ["Dr. Smith saw Mrs. Jones.", "She is well."]),
        ("Start 2.5 mg p.o. BID today. Stop it.", ["Start 2.5 mg p.o. BID today.", "Stop it."]),
        ("Give 500 mg b.i.d. She agreed.", ["Give 500 mg b.i.d.", "She agreed."]),
        ("A1c was 7.2. BP 120/80.", ["A1c was 7.2.", "BP 120/80."]),
        ("She has hepatitis B. He has not.", ["She has hepatitis B.", "He has not."]),
        ("Seen by J. Jones on Jan. 5. Well.", ["Seen by J. Jones on Jan. 5.", "Well."]),
        (
            "See Fig. 2 and No. 7. No. He denies it.",
            ["See Fig. 2 and No. 7.", "No.", "He denies it."],
        ),
        ("1. Take 5 mg.\n2. Rest", ["1. Take 5 mg.", "2. Rest"]),
        ("- one\n- two", ["- one", "- two"]),
        ("HR 72\nTemp 36.6", ["HR 72", "Temp 36.6"]),
        ('He said "stop." Then he left.', ['He said "stop."', "Then he left."]),
        ("Pain? Yes! Now.", ["Pain?", "Yes!", "Now."]),
    ],
)
def test_clinical_full_stops_are_told_from_ends(text: str, want: list[str]) -> None:
    assert cut(text) == want


def test_a_wrapped_line_stays_one_sentence() -> None:
    text = "This long line of a paragraph was wrapped by some program at\nthe eightieth column."
    assert cut(text) == [text]


def test_real_guidelines_lose_nothing(shared_data: Path) -> None:
    files = sorted((shared_data / "guidelines").rglob("*.md"))[::10]
    assert files
    for file in files:
        text = file.read_text(encoding="utf-8")
        assert "".join("".join(cut(text)).split()) == "".join(text.split())
