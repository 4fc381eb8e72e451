"""Summary and plan without a model: the note's own words, sorted by section and by what they say.

Every item is verbatim and carries its exact place. Nothing is inferred; what is ordered is what the
note orders. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

from bedside.flows.notes.cues import (
    hedged,
    is_allergy,
    is_courtesy,
    is_demographic,
    is_imaging,
    is_lab,
    is_medicine,
    is_order,
    is_problem_line,
    is_vital,
    urgency,
)
from bedside.flows.notes.note import Note
from bedside.flows.notes.statements import entries, statements
from bedside.flows.notes.summary import Part, Recommendation, Statement
from bedside.flows.notes.talk import Talk, talk_in
from bedside.language.note_sections import NoteSection
from bedside.language.section_kinds import SectionKind

__all__ = ["extract"]

_HOME: dict[SectionKind, Part] = {
    "chief_complaint": "key_problems",
    "past_medical": "pertinent_history",
    "past_surgical": "pertinent_history",
    "gynaecological": "pertinent_history",
    "family": "pertinent_history",
    "social": "pertinent_history",
    "history": "pertinent_history",
    "immunizations": "pertinent_history",
    "review_of_systems": "pertinent_history",
    "course": "pertinent_history",
    "procedure": "objective_findings",
    "allergies": "medicines_allergies",
    "medications": "medicines_allergies",
    "vitals": "objective_findings",
    "exam": "objective_findings",
    "system": "objective_findings",
    "labs": "labs_imaging",
    "imaging": "labs_imaging",
    "results": "labs_imaging",
    "assessment": "assessment",
}
_ORDERING: frozenset[SectionKind] = frozenset(
    ("plan", "assessment_plan", "instructions", "disposition", "assessment")
)
_WORD = re.compile(r"\w+")
_SAME = 0.8
_BARE = re.compile(
    r"(?:none|no|negative|nil|unremarkable|normal|non-?contributory|unknown|denies|denied|n/?a|not applicable|as above|see above|see hpi|stable)[.]?",
    re.IGNORECASE,
)
"""A statement that says something only under its heading, so the heading is cited with it."""
_RESULT = re.compile(r"(?:labs?|imaging|results?|vitals?|exam)\b", re.IGNORECASE)
_EXAMINED = re.compile(
    r"\bon (?:your|the|his|her) (?:\w+ )?exam|\bi (?:do |can )?(?:appreciate|hear|palpate)\b",
    re.IGNORECASE,
)
_POSSIBLE = 0.7
_POSSIBLE_NOTE = "The note leaves this open or makes it conditional; it is quoted as it stands."


class _Said(NamedTuple):
    start: int
    end: int
    text: str
    section: NoteSection


def extract(note: Note) -> tuple[tuple[Statement, ...], tuple[Recommendation, ...]]:
    """The note's own statements, sorted into the seven parts, and its orders.

    Returns:
        Statements in note order; recommendations numbered by urgency, then by note order. A
        statement that stands in the note twice, word for word, is given once.
    """
    summary: list[Statement] = []
    orders: list[_Said] = []
    seen: set[tuple[str, str]] = set()
    planned = any(one.kind in {"plan", "assessment_plan"} for one in note.sections)
    talk = talk_in(note.text)
    for said in _said(note, talk):
        key = " ".join(said.text.lower().split()).strip(" .")
        part = _spoken(said, talk) if talk is not None else _part(said, planned=planned)
        if (part, key) in seen or (part == "patient_snapshot" and _said_before(said, summary)):
            continue
        seen.add((part, key))
        if part == "plan":
            orders.append(said)
            continue
        cited = note.cite(said.start, said.end)
        if cited is not None:
            summary.append(
                Statement(part=part, text=said.text, source=cited, start=said.start, end=said.end)
            )
    return tuple(summary), _plan(note, orders)


def _said_before(said: _Said, summary: list[Statement]) -> bool:
    """Does the snapshot say it already in nearly the same words, as the assessment often does?"""
    words = set(_WORD.findall(said.text.lower()))
    for one in summary:
        if one.part == "patient_snapshot":
            others = set(_WORD.findall(one.text.lower()))
            if len(words & others) >= _SAME * len(words | others):
                return True
    return False


def _said(note: Note, talk: Talk | None) -> Iterator[_Said]:
    if talk is not None:
        for section in note.sections:
            for start, end in talk.statements(section.start, section.end):
                for a, b in _inside_chunks(note, start, end):
                    yield _Said(a, b, " ".join(note.text[a:b].split()), section)
        return
    for section in note.sections:
        for start, end in statements(note.text, section.body, section.end):
            cut = (
                entries(note.text, start, end)
                if section.kind in {"medications", "allergies"}
                else [(start, end)]
            )
            for a, b in cut:
                bare = _BARE.fullmatch(note.text, a, b) is not None
                for c, d in _inside_chunks(note, section.start if bare else a, b):
                    yield _Said(c, d, " ".join(note.text[c:d].split()), section)


def _inside_chunks(note: Note, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The statement; cut at a chunk's end only where no chunk holds it whole."""
    at = start
    while at < end and note.holder(at, end) is None:
        chunk = max(
            (c for c in note.chunks if c.start <= at < c.end), key=lambda c: c.end, default=None
        )
        if chunk is None or chunk.end <= at:
            return
        yield at, chunk.end
        at = chunk.end
        while at < end and note.text[at].isspace():
            at += 1
    if at < end:
        yield at, end


def _part(said: _Said, *, planned: bool) -> Part | Literal["plan"]:
    kind, text = said.section.kind, said.text
    if kind in _ORDERING:
        return _judged(kind, text, planned=planned)
    if kind == "chief_complaint":
        return "patient_snapshot" if is_demographic(text) else "key_problems"
    if kind in {"present_illness", "other"}:
        return _told(text, free=kind == "other" or said.section.found_by == "start")
    if kind in {"past_medical", "course", "history"}:
        if is_demographic(text):
            return "patient_snapshot"
        return "medicines_allergies" if is_allergy(text) or is_medicine(text) else _HOME[kind]
    if kind == "results" and is_order(text) and not is_imaging(text) and not is_lab(text):
        return "pertinent_history"
    return _HOME.get(kind, "pertinent_history")


def _told(text: str, *, free: bool) -> Part | Literal["plan"]:
    """A statement of the story, or of a section whose title tells nothing."""
    if is_demographic(text):
        return "patient_snapshot"
    if free and is_order(text) and not is_allergy(text) and not _RESULT.match(text):
        return "plan"
    if is_allergy(text) or is_medicine(text):
        return "medicines_allergies"
    if is_vital(text):
        return "objective_findings"
    if is_imaging(text) or (is_lab(text) and any(char.isdigit() for char in text)):
        return "labs_imaging"
    return "pertinent_history"


def _spoken(said: _Said, talk: Talk) -> Part | Literal["plan"]:
    """A sentence of a conversation: what a clinician means to do, or part of the story."""
    if talk.is_order(said.start, said.end):
        return "plan"
    if _EXAMINED.search(said.text) and talk.by_clinician(said.start):
        return "objective_findings"
    return _told(said.text, free=False)


def _judged(kind: SectionKind, text: str, *, planned: bool) -> Part | Literal["plan"]:
    """A statement of an assessment, a plan or instructions."""
    if is_demographic(text) and not is_order(text):
        return "patient_snapshot"
    if is_courtesy(text):
        return "pertinent_history"
    if is_problem_line(text):
        return "key_problems" if kind != "instructions" else "plan"
    if kind == "assessment" and planned and not text.lower().startswith(("continue", "plan")):
        return "assessment"
    if is_order(text):
        return "plan"
    return "plan" if kind == "instructions" else "assessment"


def _plan(note: Note, orders: list[_Said]) -> tuple[Recommendation, ...]:
    ranked = sorted(orders, key=lambda said: (urgency(said.text), said.start))
    found: list[Recommendation] = []
    for said in ranked:
        cited = note.cite(said.start, said.end)
        if cited is None:
            continue
        possible = hedged(said.text)
        found.append(
            Recommendation(
                number=len(found) + 1,
                text=said.text,
                source=cited,
                start=said.start,
                end=said.end,
                confidence=_POSSIBLE if possible else 1.0,
                guard=_POSSIBLE_NOTE if possible else None,
            )
        )
    return tuple(found)
