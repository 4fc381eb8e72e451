"""Chunks: exact offsets, nothing lost, no section crossed, tables by rows."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rs_bpe import openai

from bedside.language.chunks import chunk
from bedside.language.sections import sections

_WORDS = st.sampled_from(
    [
        "word ",
        "Dr. ",
        "2.5 mg. ",
        "\n\n",
        "\n# H\n\n",
        "\n- item\n",
        "| a | b |\n",
        "|---|---|\n",
        "漢字 ",
        "🙂",
    ]
)


def guideline(text: str, **more: object):
    return chunk(text, sections(text, markdown=True), profile="guideline", **more)


@given(st.lists(_WORDS, max_size=60).map("".join), st.sampled_from([50, 800]))
@settings(max_examples=120, deadline=None)
def test_guideline_chunks_hold_every_visible_character_of_the_bodies_once(
    text: str, cap: int
) -> None:
    bodies = "".join(text[s.body : s.end] for s in sections(text, markdown=True))
    found = guideline(text, cap=cap)
    assert "".join("".join(text[c.start : c.end] for c in found).split()) == "".join(bodies.split())
    assert all(text[c.start : c.end] == text[c.start : c.end].strip() != "" for c in found)
    assert all(a.end <= b.start for a, b in pairwise(found))


def test_real_guidelines_keep_the_cap_and_lose_nothing(shared_data: Path) -> None:
    count = openai.o200k_base().count
    seen = 0
    for file in sorted((shared_data / "guidelines").rglob("*.md"))[::9]:
        text = file.read_text(encoding="utf-8")
        parts = sections(text, markdown=True)
        bounds = {s.body: s.end for s in parts}
        for exact in (None, count):
            found = chunk(text, parts, profile="guideline", count=exact)
            assert all(count(text[c.start : c.end]) <= 800 for c in found), file.name
            assert all(any(a <= c.start and c.end <= b for a, b in bounds.items()) for c in found)
            want = "".join("".join(text[s.body : s.end] for s in parts).split())
            assert "".join("".join(text[c.start : c.end] for c in found).split()) == want
            seen += len(found)
    assert seen > 500


def test_a_section_of_exactly_known_size_stays_whole_under_the_cap() -> None:
    count = openai.o200k_base().count
    text = "# H\n\n" + "\n\n".join(["The dose is one tablet each day with food."] * 72)
    assert 700 < count(text) <= 800
    assert len(guideline(text, count=count)) == 1


@pytest.mark.requirement("EN-K2")
def test_a_heading_without_a_body_makes_no_chunk() -> None:
    assert [c.section for c in guideline("# A\n\n## B\n\ntext\n\n## C\n")] == ["A > B"]


@pytest.mark.requirement("BR-03")
def test_a_long_table_is_cut_by_rows_with_its_header_as_prefix() -> None:
    rows = [f"| drug {i} | {i} mg twice a day with food |" for i in range(200)]
    text = "# Doses\n\n| Drug | Dose |\n|---|---|\n" + "\n".join(rows) + "\n"
    found = guideline(text)
    assert len(found) > 2
    assert text[found[0].start : found[0].end].startswith("| Drug | Dose |\n|---|---|\n| drug 0 |")
    assert {c.prefix for c in found[1:]} == {"[Doses] | Drug | Dose |\n|---|---|\n"}
    kept = "\n".join(text[c.start : c.end] for c in found).split("\n")[2:]
    assert kept == rows


def test_a_list_stays_with_the_line_that_announces_it() -> None:
    intro = "Give one of:\n\n- amoxicillin 500 mg\n\n- doxycycline 100 mg"
    filler = "\n\n".join(
        ["Plain prose of a paragraph that takes some room in its section. " * 12] * 3
    )
    found = [t for t in (f"# T\n\n{filler}\n\n{intro}\n\n{filler}",) for t in [t]]
    text = found[0]
    assert any(intro in text[c.start : c.end] for c in guideline(text))


def test_a_fence_that_fits_is_not_torn() -> None:
    fence = "```\nline one\n\nline two\n\n# not a heading\n```"
    filler = "\n\n".join(
        ["Plain prose of a paragraph that takes some room in its section. " * 12] * 3
    )
    text = f"# T\n\n{filler}\n\n{fence}\n\n{filler}"
    assert any(fence in text[c.start : c.end] for c in guideline(text))


@pytest.mark.requirement("EN-K2")
def test_note_chunks_overlap_at_words_inside_a_section_only() -> None:
    sentence = "The patient walked two miles today without any pain. "
    text = "HISTORY:\n" + "\n\n".join([sentence * 9] * 8) + "\n\nPLAN:\n" + sentence
    parts = sections(text, markdown=False)
    found = chunk(text, parts, profile="note")
    plan = next(s for s in parts if s.title == "PLAN")
    assert all(c.end <= plan.start or c.start >= plan.body for c in found)
    overlaps = [a.end - b.start for a, b in pairwise(found) if a.section == b.section]
    assert overlaps
    assert all(0 < n <= 200 for n in overlaps)
    assert all(text[c.start - 1].isspace() for c in found if c.start)


def test_a_note_paragraph_up_to_3000_characters_stays_whole_and_a_longer_one_ends_at_sentences() -> (
    None
):
    sentence = "The patient walked two miles today without any pain. "
    whole = (sentence * 56).strip()
    long = (sentence * 90).strip()
    assert len(whole) < 3000 < len(long)
    assert [
        c.end - c.start for c in chunk(whole, sections(whole, markdown=False), profile="note")
    ] == [len(whole)]
    cut = chunk(long, sections(long, markdown=False), profile="note")
    assert len(cut) > 2
    assert all(long[c.end - 1] == "." for c in cut)
