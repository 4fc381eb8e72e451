"""How well sections are found: headings of real notes as written, re-cased, and on lines of their own.

Gold is independent of the finder: `mtsamples` headings in capitals before a colon, by one regular
expression here; `aci_bench` lines in capitals; `mts_dialog` notes built from labelled sections,
under several usual names of each label.
"""

from __future__ import annotations

import csv
import json
import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from bedside.core.value import value
from bedside.language.note_sections import note_sections
from bedside.language.section_kinds import SectionKind

__all__ = ["run_sections"]

_CAPITALS = re.compile(
    r"(?:\A|\n|,\s*|(?<=[.;)])\s+)(?P<title>[A-Z][A-Z0-9/&'’+\-]*"
    r"(?:(?: ?[,&/] ?| {1,2}| ?- ?)[A-Z0-9(][A-Z0-9/&'’()+\-]*){0,10})\s*:(?=[\s,A-Z0-9]|\Z)"
)
_LINE = re.compile(r"^[A-Z][A-Z /&,\-]+(?=:?[ \t]*$)", re.MULTILINE)
_LETTERS = 2
_NEAR = (0, -1, 1, -2, 2, -3, 3)
Heading = tuple[int, str]
Finder = Callable[[str], list[tuple[int, str, str]]]
"""A note's headings as (start, title, kind or category)."""


@value
class _Note:
    text: str
    gold: tuple[Heading, ...]
    kinds: tuple[str, ...] = ()


def run_sections(data: Path, *, compare: bool = False) -> dict[str, Any]:
    """Boundary F1 and title accuracy on each set; medspaCy beside it where it is asked for.

    A boundary counts where a heading begins within 3 characters of it; a title where it is the same
    words (case, edge blanks and colon aside). Title accuracy is over all gold headings.
    """
    sets: dict[str, list[_Note]] = {}
    plain = list(_mtsamples(data / "notes/mtsamples/mtsamples_dev.jsonl"))
    sets["mtsamples, as written"] = plain
    sets["mtsamples, headings title-cased"] = [_recased(note, str.title) for note in plain]
    sets["mtsamples, headings lower-cased"] = [_recased(note, str.lower) for note in plain]
    sets["mtsamples, line breaks restored"] = [_broken(note) for note in plain]
    sets["mtsamples, line breaks restored, title-cased"] = [
        _recased(_broken(note), str.title) for note in plain
    ]
    aci = list(_aci(data / "notes/aci_bench"))
    sets["aci_bench, as written"] = aci
    sets["aci_bench, headings title-cased"] = [_recased(note, str.title) for note in aci]
    sets["mts_dialog, labelled sections under usual names"] = list(
        _mts(data / "notes/mts_dialog", seed=7)
    )
    finders: dict[str, Finder] = {"bedside": _ours}
    why = ""
    if compare:
        try:
            finders["medspacy sectionizer"] = _medspacy()
        except ImportError:
            why = "medspacy is not installed"
    figures = {
        name: {
            "n_notes": len(notes),
            "n_headings": sum(len(note.gold) for note in notes),
            **{who: _score(notes, find) for who, find in finders.items()},
        }
        for name, notes in sets.items()
    }
    return {
        "protocol": (__doc__ or "").split("\n\n", 1)[1].strip(),
        "compared": why or None,
        "sets": figures,
    }


def _ours(text: str) -> list[tuple[int, str, str]]:
    found = []
    for one in note_sections(text):
        if one.found_by != "start":
            at = text.find(one.title, one.start)  # the first section begins at the note's start
            found.append((at, one.title, one.kind))
    return found


def _medspacy() -> Finder:
    medspacy = import_module("medspacy")
    nlp = medspacy.load(medspacy_enable={"medspacy_sectionizer"})

    def find(text: str) -> list[tuple[int, str, str]]:
        doc = nlp(text)
        found: list[tuple[int, str, str]] = []
        for section in doc._.sections:
            if section.category is None:
                continue
            span = doc[section.title_span[0] : section.title_span[1]]
            found.append((span.start_char, span.text, section.category))
        return found

    return find


def _plain(title: str) -> str:
    return " ".join(title.lower().split()).strip(" :.,-")


def _score(notes: Sequence[_Note], find: Finder) -> dict[str, Any]:
    gold = said = right = placed = kinds = kinds_right = 0
    for note in notes:
        found = find(note.text)
        at = {start: (title, kind) for start, title, kind in found}
        gold += len(note.gold)
        said += len(found)
        for index, (start, title) in enumerate(note.gold):
            kinds += bool(note.kinds)
            near = next((start + by for by in _NEAR if start + by in at), None)
            if near is None:
                continue
            placed += 1
            right += _plain(at[near][0]) == _plain(title)
            if note.kinds:
                kinds_right += _same_kind(at[near][1], note.kinds[index])
    precision, recall = placed / said if said else 0.0, placed / gold if gold else 0.0
    f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    report: dict[str, Any] = {
        "boundary_precision": round(precision, 4),
        "boundary_recall": round(recall, 4),
        "boundary_f1": round(f1, 4),
        "title_accuracy": round(right / gold, 4) if gold else None,
    }
    if kinds:
        report["kind_accuracy"] = round(kinds_right / gold, 4)
    return report


_MEDSPACY_KINDS: Mapping[str, tuple[str, ...]] = {
    "past_medical": ("past_medical_history", "problem_list"),
    "past_surgical": ("past_medical_history", "past_surgical_history", "surgical_history"),
    "present_illness": ("present_illness", "history_of_present_illness"),
    "chief_complaint": ("chief_complaint", "reason_for_examination"),
    "family": ("family_history",),
    "social": ("social_history", "sexual_and_social_history"),
    "medications": ("medications",),
    "allergies": ("allergies", "allergy"),
    "exam": ("physical_exam",),
    "assessment": ("observation_and_plan", "diagnoses", "assessment"),
    "plan": ("observation_and_plan", "patient_instructions", "plan"),
    "imaging": ("imaging",),
    "labs": ("labs_and_studies",),
    "course": ("hospital_course",),
    "immunizations": ("immunization", "immunizations"),
    "review_of_systems": ("review_of_systems", "ros"),
    "procedure": ("procedure", "procedures"),
    "disposition": ("disposition", "patient_instructions"),
}


def _same_kind(found: str, gold: str) -> bool:
    """The same kind, or one of the other finder's categories that hold it."""
    return found == gold or found in _MEDSPACY_KINDS.get(gold, ())


# ---- the notes ----------------------------------------------------------------------------------


def _mtsamples(path: Path) -> Iterator[_Note]:
    for line in path.read_text(encoding="utf-8").splitlines():
        text = json.loads(line)["text"]
        gold: list[Heading] = []
        for match in _CAPITALS.finditer(text):
            title, start = match["title"], match.start("title")
            if "," in title:  # the comma was a line break
                cut = title.rindex(",") + 1
                cut += len(title[cut:]) - len(title[cut:].lstrip())
                start, title = start + cut, title[cut:]
            if sum(char.isalpha() for char in title) >= _LETTERS:
                gold.append((start, title.strip()))
        yield _Note(text=text, gold=tuple(gold))


def _aci(folder: Path) -> Iterator[_Note]:
    for name in ("train.csv", "valid.csv"):
        with (folder / name).open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                text = row["note"].replace("\r\n", "\n")
                gold = [(m.start(), m.group()) for m in _LINE.finditer(text) if m.group() != "HIV"]
                yield _Note(text=text, gold=tuple(gold))


def _recased(note: _Note, change: Callable[[str], str]) -> _Note:
    """The same note with each heading's letters re-cased; nothing moves."""
    parts, last, gold = [], 0, []
    for start, title in note.gold:
        new = change(title)
        if len(new) != len(title):
            new = title
        parts += [note.text[last:start], new]
        last = start + len(title)
        gold.append((start, new))
    return _Note(text="".join([*parts, note.text[last:]]), gold=tuple(gold), kinds=note.kinds)


def _broken(note: _Note) -> _Note:
    """The comma before each heading becomes the line break that it was; nothing moves."""
    chars = list(note.text)
    for start, _ in note.gold:
        at = start - 1
        while at >= 0 and chars[at] == " ":
            at -= 1
        if at >= 0 and chars[at] == ",":
            chars[at] = "\n"
    return _Note(text="".join(chars), gold=note.gold)


_NAMES: Mapping[str, tuple[SectionKind, tuple[str, ...]]] = {
    "GENHX": (
        "present_illness",
        ("History of Present Illness", "HPI", "HISTORY OF PRESENT ILLNESS"),
    ),
    "FAM/SOCHX": ("social", ("Social History", "SOCIAL HISTORY", "Social history")),
    "PASTMEDICALHX": ("past_medical", ("Past Medical History", "PMH", "PAST MEDICAL HISTORY")),
    "CC": ("chief_complaint", ("Chief Complaint", "CHIEF COMPLAINT", "Reason for Visit")),
    "PASTSURGICAL": ("past_surgical", ("Past Surgical History", "PAST SURGICAL HISTORY", "PSH")),
    "ALLERGY": ("allergies", ("Allergies", "ALLERGIES", "Drug Allergies")),
    "ROS": ("review_of_systems", ("Review of Systems", "REVIEW OF SYSTEMS", "ROS")),
    "MEDICATIONS": ("medications", ("Medications", "CURRENT MEDICATIONS", "Home Medications")),
    "ASSESSMENT": ("assessment", ("Assessment", "ASSESSMENT", "Impression")),
    "EXAM": ("exam", ("Physical Exam", "PHYSICAL EXAMINATION", "Physical Examination")),
    "DIAGNOSIS": ("assessment", ("Diagnosis", "DIAGNOSES", "Final Diagnosis")),
    "DISPOSITION": ("disposition", ("Disposition", "DISPOSITION", "Discharge Disposition")),
    "PLAN": ("plan", ("Plan", "PLAN", "Plan of Care")),
    "EDCOURSE": ("course", ("Emergency Department Course", "HOSPITAL COURSE", "ED Course")),
    "IMMUNIZATIONS": ("immunizations", ("Immunizations", "IMMUNIZATIONS", "Immunization History")),
    "IMAGING": ("imaging", ("Imaging", "IMAGING", "Radiology")),
    "GYNHX": ("gynaecological", ("Gynecologic History", "GYN HISTORY", "Obstetric History")),
    "PROCEDURES": ("procedure", ("Procedures", "PROCEDURES", "Procedure")),
    "OTHER_HISTORY": ("history", ("Other History", "OTHER HISTORY", "History")),
    "LABS": ("labs", ("Labs", "LABORATORY DATA", "Laboratory Data")),
}
_STYLES = ("{}:\n{}\n\n", "{}\n\n{}\n\n", "{}: {}\n\n", "## {}\n\n{}\n\n", "**{}**\n{}\n\n")
_PARTS = 6


def _mts(folder: Path, *, seed: int) -> Iterator[_Note]:
    """Notes of six labelled sections each, in random order, under one of five styles of heading."""
    rng = random.Random(seed)
    rows: list[tuple[str, str]] = []
    for name in ("MTS-Dialog-TrainingSet.csv", "MTS-Dialog-ValidationSet.csv"):
        with (folder / name).open(encoding="utf-8", newline="") as file:
            rows += [
                (row["section_header"], " ".join(row["section_text"].split()))
                for row in csv.DictReader(file)
            ]
    rng.shuffle(rows)
    for at in range(0, len(rows) - _PARTS + 1, _PARTS):
        style = rng.choice(_STYLES)
        text, gold, kinds = "", [], []
        for label, body in rows[at : at + _PARTS]:
            kind, names = _NAMES[label]
            title = rng.choice(names)
            gold.append((len(text) + style.index("{}"), title))
            kinds.append(kind)
            text += style.format(title, body)
        yield _Note(text=text, gold=tuple(gold), kinds=tuple(kinds))
