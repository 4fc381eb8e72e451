"""Headings as CommonMark says, and a note's own headings."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from bedside.language.sections import front_matter_end, sections


def by_reference(text: str) -> list[tuple[int, int]]:
    """(line, level) of every heading, from an independent CommonMark parser."""
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    return [(t.map[0], int(t.tag[1])) for t in tokens if t.type == "heading_open" and t.map]


def ours(text: str) -> list[tuple[int, int]]:
    return [
        (text.count("\n", 0, s.start), s.level) for s in sections(text, markdown=True) if s.level
    ]


_LINES = st.sampled_from(
    [
        "# One",
        "## Two ##",
        "### **Three**",
        "####### seven",
        "#none",
        "Title\n=====",
        "Sub\n---",
        "text",
        "",
        "",
        "- item",
        "1. # In a list",
        "> ## Quoted",
        "```",
        "~~~\n# code\n~~~",
        "    # indented",
        "| a | b |\n|---|---|\n| # | 2 |",
        "<!-- \n# hidden\n-->",
        "---",
        "#",
        "   ### three spaces",
        "a # b",
    ]
)


@pytest.mark.requirement("BR-02")
@given(st.lists(_LINES, max_size=9).map(lambda lines: "start\n\n" + "\n\n".join(lines)))
@settings(max_examples=200, deadline=None)
def test_markdown_headings_agree_with_a_commonmark_parser(text: str) -> None:
    assert ours(text) == by_reference(text)


def test_every_heading_of_the_guidelines_is_found(shared_data: Path) -> None:
    count = 0
    for file in sorted((shared_data / "guidelines").rglob("*.md"))[::7]:
        text = file.read_text(encoding="utf-8")
        begin = front_matter_end(text)
        skipped = text.count("\n", 0, begin)
        want = [(line + skipped, level) for line, level in by_reference(text[begin:])]
        assert ours(text) == want, file.name
        count += len(want)
    assert count > 500


@given(st.text(alphabet="# a\n-=`*|:A", max_size=60))
@settings(max_examples=200, deadline=None)
def test_sections_tile_the_text(text: str) -> None:
    for markdown in (True, False):
        found = sections(text, markdown=markdown)
        assert all(left.end == right.start for left, right in pairwise(found))
        assert all(s.start <= s.body <= s.end for s in found)
        covered = "".join(text[s.start : s.end] for s in found)
        begin = front_matter_end(text) if markdown else 0
        assert "".join(covered.split()) == "".join(text[begin:].split())


@pytest.mark.requirement("BR-02")
def test_the_path_is_trimmed_and_skipped_levels_leave_no_empty_name() -> None:
    text = "# A\na\n### C\nc\n## B\nb\n#\nunnamed\n"
    assert [s.path for s in sections(text, markdown=True)] == [("A",), ("A", "C"), ("A", "B"), ()]


def test_front_matter_is_no_section_and_text_before_the_first_heading_is_one() -> None:
    text = "---\ntitle: X\nspecialty: renal\n---\nIntro.\n\n# A\nbody\n"
    assert [(s.level, text[s.start : s.end]) for s in sections(text, markdown=True)] == [
        (0, "Intro.\n\n"),
        (1, "# A\nbody\n"),
    ]


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("CHIEF COMPLAINT\n\nAnnual exam.\n\nPLAN\n\nRest.", ["CHIEF COMPLAINT", "PLAN"]),
        ("SUBJECTIVE:,  A man.\nMEDICATIONS: Aspirin.", ["SUBJECTIVE", "MEDICATIONS"]),
        ("Assessment: stable.\nPlan:\n- rest", ["Assessment", "Plan"]),
        ("The patient said: no pain.\nBP 120/80", []),
        ("Past Medical History:\nHTN", ["Past Medical History"]),
    ],
)
def test_note_headings_are_found(text: str, want: list[str]) -> None:
    assert [s.title for s in sections(text, markdown=False) if s.level] == want


def test_a_label_keeps_its_text_in_the_body() -> None:
    text = "ALLERGIES: Penicillin.\nPLAN: Rest."
    assert [text[s.body : s.end].strip() for s in sections(text, markdown=False)] == [
        "Penicillin.",
        "Rest.",
    ]
