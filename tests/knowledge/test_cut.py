"""The chunks that are stored: the same as if every decision had been counted, with their sizes."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rs_bpe import openai

from bedside.knowledge.cut import cut, cut_again, first_cut, sizes
from bedside.knowledge.parse.plain import parse_markdown
from bedside.language.chunks import chunk
from bedside.language.sections import sections


def test_guidelines_are_cut_as_if_every_decision_had_been_counted(shared_data: Path) -> None:
    count = openai.o200k_base().count
    chunks = again = 0
    for file in sorted((shared_data / "guidelines").rglob("*.md"))[::3]:
        parsed = parse_markdown(file.read_bytes(), name=file.name)
        text, parts = parsed.text, parsed.sections
        first = first_cut(text, parts, profile="guideline", count=count)
        final = cut_again(text, parts, first, sizes(text, first, count), count=count)
        assert final == chunk(text, parts, profile="guideline", count=count), file.name
        assert all(count(text[c.start : c.end]) <= 800 for c in final), file.name
        chunks += len(final)
        again += final is not first
    assert chunks > 2_000
    assert again > 10


def test_stored_sizes_are_the_counts_of_the_chunks_as_they_are_shown() -> None:
    count = openai.o200k_base().count
    dense = "Levothyroxine-N-acetylgalactosaminyltransferase 2.5/7.5 (q.i.d.); " * 60
    text = f"# Doses\n\n{dense}\n\n## Tables\n\nShort.\n"
    rows = cut(text, sections(text, markdown=True), profile="guideline", title="T", count=count)
    assert len(rows) > 2
    for row in rows:
        body = text[row.chunk.start : row.chunk.end]
        assert row.tokens == count(row.chunk.prefix + body)
        assert count(body) <= 800


def test_without_a_counter_no_size_is_stored() -> None:
    rows = cut(
        "# A\n\nText.\n",
        sections("# A\n\nText.\n", markdown=True),
        profile="guideline",
        title="",
        count=None,
    )
    assert [row.tokens for row in rows] == [None]


_SIGNS = st.text("aB7 \n.:|-*'/\u00e9\u00a0\u2003\u0301", max_size=40)


@given(before=_SIGNS.filter(str.strip), after=_SIGNS)
def test_tokens_before_a_blank_and_from_it_on_add_up(before: str, after: str) -> None:
    count = openai.o200k_base().count
    left, right = before.rstrip(), f" {after}"
    assert count(left) + count(right) == count(left + right)


@pytest.mark.requirement("EN-K2")
@settings(max_examples=15)
@given(
    words=st.lists(
        st.sampled_from(["levothyroxine", "2.5/7.5", "q.i.d.;", "(IgG)", "\n", "\n\n", "- ", "|"]),
        min_size=300,
        max_size=900,
    ),
    heading=st.sampled_from(["A", "Use (oral)", "5 mg/kg", "'s", "\u00e9t\u00e9"]),
)
def test_dense_sections_make_no_chunk_over_the_cap(words: list[str], heading: str) -> None:
    count = openai.o200k_base().count
    text = f"# {heading}\n\n{' '.join(words)}\n\n# Next\n\nText.\n"
    rows = cut(text, sections(text, markdown=True), profile="guideline", title="", count=count)
    for row in rows:
        body = text[row.chunk.start : row.chunk.end]
        assert count(body) <= 800
        assert row.tokens == count(row.chunk.prefix + body)
