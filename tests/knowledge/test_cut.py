"""The chunks that are stored: the same as if every decision had been counted, with their sizes."""

from __future__ import annotations

from pathlib import Path

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
