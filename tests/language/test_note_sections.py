"""Sections of clinical notes, and the chunks cut along them."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bedside.language.note_chunks import note_chunks
from bedside.language.note_sections import note_sections, sections_at
from bedside.language.section_kinds import kind_of
from bedside.language.sentences import sentences

MTSAMPLES = Path(__file__).parents[2] / "../shared/data/notes/mtsamples/mtsamples_dev.jsonl"


def titles(text: str) -> list[tuple[str, str]]:
    return [(one.title, one.found_by) for one in note_sections(text)]


@pytest.mark.requirement("NO-02")
@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("HISTORY OF PRESENT ILLNESS\n\nCough.\n", [("HISTORY OF PRESENT ILLNESS", "capitals")]),
        ("Past medical history:\nNone.\n", [("Past medical history", "title")]),
        ("Allergies: penicillin.\n", [("Allergies", "label")]),
        ("## Plan\n\nRest.\n", [("Plan", "markdown")]),
        ("**Assessment**\nCough.\n", [("Assessment", "markdown")]),
        ("Assessment\n----------\nCough.\n", [("Assessment", "markdown")]),
        ("1. MEDICATIONS\nAspirin.\n", [("MEDICATIONS", "numbered")]),
        ("Seen.\nA/P: Bronchitis.\n", [("Overview", "start"), ("A/P", "label")]),
        ("A&P\nBronchitis.\n", [("A&P", "capitals")]),
        ("A & P:\nBronchitis.\n", [("A & P", "capitals")]),
        ("Impression/Plan: Bronchitis.\n", [("Impression/Plan", "label")]),
        ("Family History\n\nMother had a stroke.\n", [("Family History", "name")]),
        ("HPI: Cough.\nROS: Negative.\n", [("HPI", "label"), ("ROS", "label")]),
        (
            "FINDINGS:,1. Mild.,IMPRESSION: , Good.",
            [("FINDINGS", "label"), ("IMPRESSION", "label")],
        ),
        ("Seen today.\n\nPLAN\n\nRest.\n", [("Overview", "start"), ("PLAN", "capitals")]),
        ("No heading at all in this note.", [("Overview", "start")]),
    ],
)
def test_a_heading_is_found_in_each_of_its_forms(text, found):
    assert titles(text) == found


@pytest.mark.parametrize(
    "text",
    [
        "The patient said the following:\nit hurts.",
        "- Neck: supple",
        "Temperature: 98.2\nHeart rate: 72",
        "She takes METFORMIN daily.",
        "COPD and CHF are stable.",
        "1. Hypertension.\n2. Diabetes.",
    ],
)
def test_what_only_looks_like_a_heading_opens_no_section(text):
    assert titles(text) == [("Overview", "start")]


def test_a_part_of_an_examination_stays_in_it():
    text = "PHYSICAL EXAM\n\nMSK: Full range.\nNeck: supple.\n\nPLAN\n\nRest.\n"
    assert [one.title for one in note_sections(text)] == ["PHYSICAL EXAM", "PLAN"]


def test_a_title_stays_exactly_as_written():
    text = "Hx of Present  illness:\nCough.\nPMHx:\nNone.\n"
    assert [text[one.start :].startswith(one.title) for one in note_sections(text)] == [True, True]


@pytest.mark.parametrize(
    ("title", "kind"),
    [
        ("PMHx", "past_medical"), ("FAM/SOCHX", "family"), ("ED Course", "course"),
        ("Discharge Medications", "medications"), ("A/P", "assessment_plan"),
        ("IMPRESSION AND PLAN", "assessment_plan"), ("Vitals Reviewed", "vitals"),
        ("PREOPERATIVE DIAGNOSIS", "assessment"), ("HEENT", "system"), ("Zebra", "other"),
    ],
)  # fmt: skip
def test_a_title_tells_what_its_section_holds(title, kind):
    assert kind_of(title) == kind


def test_sections_that_somebody_else_found_tile_the_note():
    text = "Preamble. Story begins. Exam begins."
    found = sections_at(text, [(24, 24, "Exam"), (10, 10, "Story")])
    assert [text[one.start : one.end] for one in found] == [
        "Preamble. ",
        "Story begins. ",
        "Exam begins.",
    ]


LINES = st.sampled_from(
    [
        "PLAN", "ASSESSMENT AND PLAN:", "Medications: aspirin 81 mg daily, metformin.", "", "",
        "The patient has had pain since Monday. It is worse at night, with 3.5 mg of relief.",
        "## Exam", "- Neck: supple", "word " * 90 + "end.", "Dr. Hill saw her. " * 40, "été naïve 痛み。",
        "x" * 400, ",FINDINGS:,1. Mild.", "  ", "1. HISTORY",
    ]
)  # fmt: skip


@pytest.mark.requirement("NO-03")
@settings(max_examples=60, deadline=None)
@given(st.lists(LINES, max_size=40))
def test_sections_and_chunks_cover_every_character_with_unique_ids_and_global_offsets(lines):
    text = "\n".join(lines)
    found = note_sections(text)
    if not text.strip():
        assert found == []
        return
    assert "".join(text[one.start : one.end] for one in found) == text
    chunks = note_chunks(text, found)
    covered = bytearray(len(text))
    for chunk in chunks:
        covered[chunk.start : chunk.end] = b"\1" * (chunk.end - chunk.start)
    assert all(covered[at] or char.isspace() for at, char in enumerate(text))
    assert [chunk.id for chunk in chunks] == [f"chunk_{n}" for n in range(len(chunks))]
    for chunk in chunks:
        inside = [s for s in found if s.start <= chunk.start and chunk.end <= s.end]
        assert chunk.section in {s.title for s in inside}
    for before, after in pairwise(chunks):
        if after.start < before.end:  # an overlap
            assert before.end - after.start <= 200
            assert after.start == 0 or text[after.start - 1].isspace()


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(20, 400), min_size=1, max_size=60), st.booleans())
def test_no_sentence_is_torn_unless_its_paragraph_is_longer_than_the_limit(sizes, paragraphs):
    joint = "\n\n" if paragraphs else " "
    text = joint.join("Word " * (size // 5) + "end." for size in sizes)
    chunks = note_chunks(text, note_sections(text))
    ends = {chunk.end for chunk in chunks}
    borders = {end for _, end in sentences(text)}
    paragraph_ends = {match.start() for match in re.finditer(r"\n\n|\Z", text)}
    assert ends <= borders | paragraph_ends
    if paragraphs:
        assert ends <= paragraph_ends


@pytest.mark.skipif(not MTSAMPLES.exists(), reason="the measuring data is not here")
def test_real_notes_are_tiled_and_covered():
    for line in MTSAMPLES.read_text(encoding="utf-8").splitlines():
        text = json.loads(line)["text"]
        found = note_sections(text)
        assert "".join(text[one.start : one.end] for one in found) == text
        covered = bytearray(len(text))
        for chunk in note_chunks(text, found):
            covered[chunk.start : chunk.end] = b"\1" * (chunk.end - chunk.start)
        assert all(covered[at] or char.isspace() for at, char in enumerate(text))
