"""Summary and plan without a model: the note's own words, sorted by section and by what they say.

Every item is verbatim and carries its exact place. Nothing is inferred; what is ordered is what the
note orders. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from bedside.clinical.analytes import find_analytes
from bedside.clinical.drugs import find_drugs
from bedside.flows.notes.cues import (
    hedged,
    is_allergy,
    is_courtesy,
    is_demographic,
    is_firm_order,
    is_imaging,
    is_lab,
    is_medicine,
    is_order,
    is_problem_line,
    is_reported,
    is_talk,
    is_vital,
    leans_on_the_last,
    names_kin,
    urgency,
)
from bedside.flows.notes.note import Note
from bedside.flows.notes.statements import entries, is_dosed, statements
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


_TELLS: frozenset[SectionKind] = frozenset(("allergies", "family"))
"""Sections whose heading changes what stands under it: "Penicillin." is not taken, and a relative's
"Diabetes." is not the patient's."""
_MOST_IN_ONE = 300
"""Characters of such a section that is given as one statement, heading and all."""
_LABELLED: frozenset[SectionKind] = frozenset(
    ("vitals", "system", "exam", "procedure", "other", "course", "social", "history", "results", "labs", "imaging")
)  # fmt: skip
_SHORT = 3
"""Words of a value that says little without its label: "Minimal."."""
_GROUPING: frozenset[SectionKind] = frozenset(("assessment_plan", "plan"))
_SUBHEADED: frozenset[SectionKind] = frozenset(
    ("exam", "review_of_systems", "past_medical", "history", "results", "system", "vitals")
)
_LISTS: frozenset[SectionKind] = frozenset(("medications", "allergies"))
_ACCOUNTS: frozenset[SectionKind] = frozenset(("procedure", "course"))
_WHY = re.compile(r"indication|history|diagnos", re.IGNORECASE)
"""Titles of accounts of what came before: an order told there was another's."""
_SIGNS = re.compile(r"#{1,6}[ \t]+")
_MARK_BEFORE = re.compile(
    r"(?:\A|\n|[ \t,])[ \t]*(?:(?P<number>\(?\d{1,2}[.)])|(?P<bullet>[-•*+–]))[ \t]*\Z"
)
_GOES_ON = re.compile(
    r"\b(?:underway|ongoing|stable|resolv\w+|improv\w+|unchanged|controlled|same|noted|done)\b",
    re.IGNORECASE,
)
_WHERE_TO = re.compile(
    r"\b(?:home|rehab\w*|nursing (?:home|facility)|skilled|hospice)\b", re.IGNORECASE
)
_DONE_TO = re.compile(
    r"\b(?:diet|exercises?|therapy|physio\w*|PT|OT|consult\w*|precautions?|prophylaxis|care|education|cultures?|monitoring|labs?|panel|CBC|[BC]MP|urinalysis"
    r"|x-?rays?|radiographs?|MRI|CT|ultrasound|echo\w*|EKG|ECG|imaging|scan|biopsy|\w+scopy|\w+graphy|injections?|vaccin\w+|fluids?|oxygen|rest|clinic)\b",
    re.IGNORECASE,
)
"""What is ordered by its name alone, as a problem stands by its name."""
_HANGS = frozenset((("line", "bullet"), ("line", "number"), ("number", "bullet")))
"""A mark and the next one, where the second begins a list under the first."""
_NEAR = 40
"""Characters between a statement and the one that it leans on."""


class _Said(NamedTuple):
    start: int
    end: int
    text: str
    section: NoteSection
    region: SectionKind | None = None
    """Where a body system stands: under an examination, or under a review of systems."""
    about: str | None = None
    bare: bool = False
    """Is it a word like "None", cited with its heading?"""
    over: bool = False
    """Does more stand under it, before the next entry of a list?"""


def extract(note: Note) -> tuple[tuple[Statement, ...], tuple[Recommendation, ...]]:
    """The note's own statements, sorted into the seven parts, and its orders.

    Returns:
        Statements in note order; recommendations numbered by urgency, then by note order. A
        statement that stands in the note twice, word for word, is given once, except in an
        examination.
    """
    summary: list[Statement] = []
    orders: list[_Said] = []
    seen: set[tuple[str, str, int]] = set()
    planned = any(one.kind in {"plan", "assessment_plan"} for one in note.sections)
    talk = talk_in(note.text)
    for said in _said(note, talk):
        key = " ".join(said.text.lower().split()).strip(" .")
        part = _spoken(said, talk) if talk is not None else _part(said, planned=planned)
        # "No effusion." of one knee is not that of the other.
        place = said.start if said.section.kind in {"exam", "system"} else 0
        if (part, key, place) in seen or (
            part == "patient_snapshot" and _said_before(said, summary)
        ):
            continue
        seen.add((part, key, place))
        if part == "plan":
            orders.append(said)
            continue
        cited = note.cite(said.start, said.end)
        if cited is not None:
            summary.append(
                Statement(
                    part=part,
                    text=said.text,
                    source=cited,
                    start=said.start,
                    end=said.end,
                    about=said.about,
                )
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
    region: SectionKind | None = None
    for section in note.sections:
        if section.kind in {"review_of_systems", "exam", "vitals"}:
            region = section.kind
        elif section.kind not in {"system", "other", "gynaecological"}:
            region = None
        for said in _under(note, section):
            yield said._replace(region=region)


def _under(note: Note, section: NoteSection) -> Iterator[_Said]:
    """A section's statements, each with as much of its heading as it needs to be understood."""
    text = note.text
    head = _heading(text, section)
    about: str | None = None
    spans = statements(
        text,
        section.body,
        section.end,
        subheads=section.kind in _SUBHEADED,
        index=section.kind not in _LISTS,
    )
    if section.kind in _TELLS and spans and not _tells_alone(text, section, spans):
        if spans[-1][1] - head <= _MOST_IN_ONE:
            spans = [(head, spans[-1][1])]
        else:
            about = section.title
            spans[0] = (head, spans[0][1])
    level = ""
    outlined = _is_outline(text, spans) if section.kind in _GROUPING else False
    lone = section.found_by == "label" and section.kind in _LABELLED
    for index, (start, end) in enumerate(spans):
        if section.kind in _GROUPING:
            before = spans[index - 1] if index else None
            about, level = _problem_over(text, before, (start, end), (about, level))
        mine = about if index or section.kind in _GROUPING else None
        for a, b in _entries(note, section, start, end):
            bare = _BARE.fullmatch(text, a, b) is not None
            short = lone and index == 0 and len(text[a:b].split()) <= _SHORT
            for c, d in _inside_chunks(note, head if (bare or short) and not mine else a, b):
                line = " ".join(text[c:d].split())
                over = index + 1 < len(spans) and _stands_over(text, (a, b), spans[index + 1])
                over = over or (outlined and _heads(text, (a, b)))
                yield _Said(c, d, line, section, None, mine, bare, over)


def _heading(text: str, section: NoteSection) -> int:
    """Where the heading's words begin, behind the number signs of Markdown."""
    match = _SIGNS.match(text, section.start, section.body)
    return match.end() if match is not None else section.start


def _problem_over(
    text: str,
    before: tuple[int, int] | None,
    one: tuple[int, int],
    held: tuple[str | None, str],
) -> tuple[str | None, str]:
    """The problem that a statement of a plan stands under, and that problem's own list mark.

    It holds until the next problem, the next entry of the problem's own list, or a blank line.
    Entries of one list do not stand under each other, nor does a problem under a problem.
    """
    if before is None:
        return None, ""
    own, above = _level(text, one[0]), _level(text, before[0])
    line = " ".join(text[slice(*before)].split())
    problem = _names_problem(text[slice(*one)])
    hangs = own == "" or (above, own) in _HANGS
    if hangs and is_problem_line(line):
        return line.rstrip(".: "), above
    if own == "line" and not problem and _names_problem(line):
        return line.rstrip(".: "), above
    outer = own != "" and own == held[1] if own != "line" else problem
    return (None, "") if outer or "\n\n" in text[before[1] : one[0]] else held


def _level(text: str, start: int) -> str:
    """A list mark's kind; "line" for a line without one, "" for what goes on in the line before."""
    alone = not text[text.rfind("\n", 0, start) + 1 : start].strip()
    return _mark(text, start) or ("line" if alone else "")


def _names_problem(words: str) -> bool:
    """Is it a problem's name, and no medicine's, which looks the same ("Aspirin 81 mg")?"""
    line = " ".join(words.split())
    return (
        is_problem_line(line)
        and _DONE_TO.search(line) is None
        and not is_dosed(line)
        and not find_drugs(line)
        and not find_analytes(line)
    )


def _is_outline(text: str, spans: Sequence[tuple[int, int]]) -> bool:
    """Does a bullet stand under some number, so that the numbers are headings?"""
    marks = [_mark(text, start) for start, _ in spans]
    return any(
        (a, b) == ("number", "bullet") and _names_problem(text[slice(*span)])
        for span, a, b in zip(spans, marks, marks[1:], strict=False)
    )


def _heads(text: str, one: tuple[int, int]) -> bool:
    return _mark(text, one[0]) == "number" and _names_problem(text[slice(*one)])


def _stands_over(text: str, one: tuple[int, int], after: tuple[int, int]) -> bool:
    """Is the first a heading of the second: another mark of a list, or a line of its own?"""
    own, other = _mark(text, one[0]), _mark(text, after[0])
    if own != other:
        return own != "bullet" or (other == "" and _names_problem(text[slice(*one)]))
    if own:
        return False
    line = " ".join(text[after[0] : after[1]].split())
    alone = text.rfind("\n", 0, one[0]) + 1 == one[0] and "\n" in text[one[1] : after[0]]
    return alone and not is_problem_line(line)


def _mark(text: str, start: int) -> str:
    """The kind of list mark before a statement, "" for none."""
    match = _MARK_BEFORE.search(text, max(start - 12, 0), start)
    return (match.lastgroup or "") if match is not None else ""


def _tells_alone(text: str, section: NoteSection, spans: Sequence[tuple[int, int]]) -> bool:
    """Does every statement say by itself that it is an allergy, or a relative's?"""
    says = is_allergy if section.kind == "allergies" else names_kin
    return all(says(text[a:b]) for a, b in spans)


def _entries(note: Note, section: NoteSection, start: int, end: int) -> list[tuple[int, int]]:
    return entries(note.text, start, end) if section.kind == "medications" else [(start, end)]


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
        return "assessment" if said.bare else _judged(said, planned=planned)
    if kind in _ACCOUNTS and is_firm_order(text) and not _WHY.search(said.section.title):
        return "plan"
    if kind == "procedure" and _WHY.search(said.section.title):
        return "patient_snapshot" if is_demographic(text) else "pertinent_history"
    if kind == "chief_complaint":
        return "patient_snapshot" if is_demographic(text) else "key_problems"
    if kind in {"present_illness", "other"}:
        return _told(text, free=kind == "other" or said.section.found_by == "start")
    if kind in {"past_medical", "course", "history"}:
        if is_demographic(text):
            return "patient_snapshot"
        return "medicines_allergies" if is_allergy(text) or is_medicine(text) else _HOME[kind]
    if kind == "system" or (kind == "gynaecological" and said.region == "exam"):
        told = said.region == "review_of_systems" or is_reported(text)
        return "pertinent_history" if told else "objective_findings"
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


def _judged(said: _Said, *, planned: bool) -> Part | Literal["plan"]:
    """A statement of an assessment, a plan or instructions."""
    kind, text = said.section.kind, said.text
    if is_demographic(text) and not is_order(text):
        return "patient_snapshot"
    if is_courtesy(text):
        return "assessment"
    if kind == "disposition" and _WHERE_TO.search(text):
        return "plan"
    if is_problem_line(text):
        if kind in {"assessment", "assessment_plan"} or said.over:
            return "key_problems" if kind != "instructions" else "plan"
        return "assessment" if _GOES_ON.search(text) or kind == "disposition" else "plan"
    if kind == "assessment" and planned and not text.lower().startswith(("continue", "plan")):
        return "assessment"
    if is_order(text):
        return "plan"
    return "plan" if kind == "instructions" and not is_talk(text) else "assessment"


def _plan(note: Note, orders: list[_Said]) -> tuple[Recommendation, ...]:
    found: list[Recommendation] = []
    for said in _ranked(orders):
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
                about=said.about,
            )
        )
    return tuple(found)


def _ranked(orders: list[_Said]) -> list[_Said]:
    """By urgency, then as they stand; what leans on the statement before it stays behind it."""
    keys: list[tuple[int, int]] = []
    for place, said in enumerate(orders):
        own = urgency(said.text)
        before = orders[place - 1] if place else None
        leans = own > 0 and before is not None and leans_on_the_last(said.text)
        if leans and before is not None and 0 <= said.start - before.end <= _NEAR:
            keys.append(keys[-1])
        else:
            keys.append((own, said.start))
    order = sorted(range(len(orders)), key=lambda place: (*keys[place], orders[place].start))
    return [orders[place] for place in order]
