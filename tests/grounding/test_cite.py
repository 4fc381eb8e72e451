"""Written citations are parsed strictly."""

from __future__ import annotations

import pytest

from bedside.core.errors import BadInput
from bedside.grounding import ChunkCitation, ChunkPlace, markers, parse_chunk, problems

CHUNKS = {
    "chunk_0": ChunkPlace(section="HISTORY", start=0, end=100),
    "chunk_1": ChunkPlace(section="ASSESSMENT", start=100, end=180),
}


def test_markers_are_found_and_near_misses_are_not():
    assert [(one.n, one.start, one.end) for one in markers("a [3] b [12][4].")] == [
        (3, 2, 5),
        (12, 8, 12),
        (4, 12, 15),
    ]
    assert markers("[03] [0] [1-3] [1, 2] [^1] [12345] (3)") == ()


@pytest.mark.requirement("EN-G1")
def test_a_chunk_citation_is_read_and_written_back_unchanged():
    text = "PAST MEDICAL HISTORY section, chunk_12:120-164"
    parsed = parse_chunk(text)
    assert parsed == ChunkCitation(
        section="PAST MEDICAL HISTORY", chunk="chunk_12", start=120, end=164
    )
    assert str(parsed) == text


@pytest.mark.parametrize(
    "text",
    ["", "HISTORY, chunk_1:1-2", "HISTORY section chunk_1:1-2", "HISTORY section, chunk_01:1-2", "HISTORY section, chunk_1:1-2.",
     " HISTORY section, chunk_1:1-2", "HISTORY section, chunk_1:-1-2", "HISTORY section, Chunk_1:1-2", "A\nB section, chunk_1:1-2"],
)  # fmt: skip
def test_anything_else_is_refused(text):
    with pytest.raises(BadInput):
        parse_chunk(text)


@pytest.mark.requirement("EN-G2")
@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("ASSESSMENT section, chunk_1:100-180", ()),
        ("ASSESSMENT section, chunk_0:0-10", ("section_mismatch",)),
        ("Assessment section, chunk_1:100-120", ("unknown_section",)),
        ("ASSESSMENT section, chunk_9:100-120", ("unknown_chunk",)),
        ("ASSESSMENT section, chunk_1:90-120", ("span_outside_chunk",)),
        ("ASSESSMENT section, chunk_1:120-120", ("empty_span",)),
    ],
)
def test_each_kind_of_wrong_place_is_named(text, found):
    assert problems(parse_chunk(text), CHUNKS) == found
