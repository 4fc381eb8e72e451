"""Notes, their chunks and correct summaries, made without the code that is measured.

Sections are found by this file's own rule, chunks are cut by paragraphs, sentences by a pattern;
light paraphrases come from a table of rewordings that keep the meaning.
"""

from __future__ import annotations

import csv
import random
import re
from collections.abc import Sequence
from pathlib import Path

from bedside.core.value import value

__all__ = ["Piece", "VendorChunk", "VendorNote", "notes", "part_of", "reworded"]

_TITLE = re.compile(r"(?m)^(?P<title>[A-Z][A-Z /&,'-]{2,50})$")
_SENTENCE = re.compile(r"[^\n]+?(?:[.!?](?=\s+[A-Z•0-9-]|\s*\n|\s*$)|(?=\n|$))")
_ABBREVIATED = re.compile(
    r"(?:\b(?:Dr|Mr|Mrs|Ms|St|vs|approx|e\.g|i\.e|p\.o|b\.i\.d|t\.i\.d|q\.d|a\.m|p\.m|No)|\b[A-Z])\.$"
)
_BULLET = re.compile(r"^(?:[•*-]|\d{1,2}\.)\s+")
_MOST = 1_400
_LEAST_WORDS, _MOST_WORDS = 3, 45
_GROUP = 5


@value
class VendorChunk:
    """A chunk as the file lists it, `[start, end)` of the note."""

    id: str
    section: str
    start: int
    end: int


@value
class Piece:
    """A sentence of the note and its right citation."""

    text: str
    start: int
    end: int
    chunk: VendorChunk

    @property
    def source(self) -> str:
        """The citation as written."""
        return f"{self.chunk.section} section, {self.chunk.id}:{self.start}-{self.end}"


@value
class VendorNote:
    """A note, its chunks and its sentences, in order."""

    text: str
    chunks: tuple[VendorChunk, ...]
    pieces: tuple[Piece, ...]


def notes(data: Path) -> list[VendorNote]:
    """The notes of ACI-Bench, and the sections of MTS-Dialog joined five to a note."""
    found: list[VendorNote] = []
    for name in ("train", "valid"):
        path = data / "notes" / "aci_bench" / f"{name}.csv"
        if path.is_file():
            with path.open(encoding="utf-8", newline="") as file:
                found += [_note(row["note"].replace("\r\n", "\n")) for row in csv.DictReader(file)]
    rows: list[tuple[str, str]] = []
    for name in ("TrainingSet", "ValidationSet"):
        path = data / "notes" / "mts_dialog" / f"MTS-Dialog-{name}.csv"
        if path.is_file():
            with path.open(encoding="utf-8", newline="") as file:
                rows += [
                    (
                        row["section_header"].strip(),
                        row["section_text"].replace("\r\n", "\n").strip(),
                    )
                    for row in csv.DictReader(file)
                ]
    for at in range(0, len(rows), _GROUP):
        parts: dict[str, list[str]] = {}
        for title, text in rows[at : at + _GROUP]:
            parts.setdefault(title.upper(), []).append(text)
        joined = "\n\n".join(f"{title}\n\n" + "\n".join(texts) for title, texts in parts.items())
        found.append(_note(joined))
    return [one for one in found if one.pieces]


def _note(text: str) -> VendorNote:
    marks = list(_TITLE.finditer(text))
    bounds = [(m["title"].strip(), m.end(), marks[k + 1].start() if k + 1 < len(marks) else len(text))
              for k, m in enumerate(marks)]  # fmt: skip
    if marks and text[: marks[0].start()].strip():
        bounds.insert(0, ("Note", 0, marks[0].start()))
    if not marks:
        bounds = [("Note", 0, len(text))]
    chunks: list[VendorChunk] = []
    pieces: list[Piece] = []
    for title, start, end in bounds:
        for a, b in _chunked(text, start, end):
            chunk = VendorChunk(id=f"chunk_{len(chunks)}", section=title, start=a, end=b)
            chunks.append(chunk)
            pieces += _pieces(text, chunk)
    return VendorNote(text=text, chunks=tuple(chunks), pieces=tuple(pieces))


def _chunked(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Lines packed up to the limit, without blanks at the ends."""
    found: list[tuple[int, int]] = []
    held: tuple[int, int] | None = None
    at = start
    for line in text[start:end].splitlines(keepends=True):
        a, b = at, at + len(line)
        at = b
        if not line.strip():
            continue
        a += len(line) - len(line.lstrip())
        b -= len(line) - len(line.rstrip())
        if held and b - held[0] <= _MOST:
            held = (held[0], b)
        else:
            found += [held] if held else []
            held = (a, b)
    return found + ([held] if held else [])


def _pieces(text: str, chunk: VendorChunk) -> list[Piece]:
    found: list[Piece] = []
    begin: int | None = None
    for match in _SENTENCE.finditer(text, chunk.start, chunk.end):
        start = match.start() if begin is None else begin
        if _ABBREVIATED.search(match.group()) and "\n" not in text[match.end() : match.end() + 1]:
            begin = start
            continue
        begin = None
        raw = text[start : match.end()]
        start += len(raw) - len(raw.lstrip())
        bullet = _BULLET.match(text[start : match.end()])
        start += bullet.end() if bullet else 0
        words = text[start : match.end()].rstrip()
        if _LEAST_WORDS <= len(words.split()) <= _MOST_WORDS and any(c.isalpha() for c in words):
            found.append(Piece(text=words, start=start, end=start + len(words), chunk=chunk))
    return found


_REWORDINGS: Sequence[tuple[str, str]] = (
    (r"^The patient (?=\w)", "Patient "),
    (r"^(?:The patient|He|She) (?=denies|reports|states|endorses|has|is|was|had)", ""),
    (r"^(?:The patient|He|She) (reports|states|notes|endorses)(?: that)?", "Patient tells of"),
    (r"\bI'm going to\b", "I will"),
    (r"\bWe will\b", "Plan to"),
    (r"\bI will\b", "Will"),
    (r"\bI (?:have )?advised the patient to\b", "Advised to"),
    (r"\bThere (?:is|was|are) no\b", "No"),
    (r"\bThere (?:is|was) (?=[a-z])", ""),
    (r"\bhas not had any\b", "has had no"),
    (r"\bdoes not have any\b", "has no"),
    (r"\bdenies any\b", "denies"),
    (r"\bDenies\b", "No"),
    (r"\bonce daily\b", "once a day"),
    (r"\btwice daily\b", "two times a day"),
    (r"\bthree times a day\b", "three times daily"),
    (r"\b(\d+) mg daily\b", r"\1 mg once a day"),
    (r"(?<=\d)mg\b", " mg"),
    (r"(?<=\d) mg\b", " milligrams"),
    (r"\b2 weeks\b", "two weeks"),
    (r"\b3 months\b", "three months"),
    (r"\btwo weeks\b", "2 weeks"),
    (r"\bthree (?=years|months|weeks|days)", "3 "),
    (r"\bhypertension\b", "high blood pressure"),
    (r"\bhigh blood pressure\b", "hypertension"),
    (r"\bshortness of breath\b", "dyspnea"),
    (r"\bmyocardial infarction\b", "heart attack"),
    (r"\bapproximately\b", "about"),
    (r"\bin addition to\b", "besides"),
    (r"\bwho presents today\b", "presenting today"),
    (r"\bstatus post\b", "after"),
    (r"\bpast medical history significant for\b", "history of"),
    (r"\bwill continue\b", "is to continue"),
    (r"\bContinue with\b", "Continue"),
    (r"\bdemonstrates?\b", "shows"),
    (r"\breveals?\b", "shows"),
    (r"\badvised\b", "told"),
    (r"\.$", ""),
)


def reworded(text: str, rng: random.Random) -> str:
    """One or two rewordings that keep the meaning; the same text where none fits."""
    fitting = [(p, to) for p, to in _REWORDINGS if re.search(p, text)]
    if not fitting:
        return text
    out = text
    for pattern, to in rng.sample(fitting, k=min(len(fitting), rng.choice((1, 2)))):
        out = re.sub(pattern, to, out, count=1)
    out = out.strip()
    return out[:1].upper() + out[1:]


_LISTED = re.compile(
    r"^(?:[A-Z][\w ]{2,30}: )?(?:The patient |He |She |Patient )?(?P<lead>[Dd]enies(?: any)?|[Rr]eports|[Ee]ndorses|No|[Nn]egative for|[Pp]ositive for|"
    r"[Hh]as a history of|[Hh]istory of|[Cc]omplains of)\s+(?P<list>[a-z][^.;:]*,[^.;:]*?)\.?$"
)
_ITEMS = re.compile(r",\s*(?:and\s+|or\s+)?|\s+(?:and|or)\s+")
_ALONE = re.compile(r"^(?:[a-z][a-z-]+)(?: [a-z][a-z-]+){0,3}$")
_ODD_WORDS = "but which who that with she he has had is was were since until because any other"
_ODD = frozenset(_ODD_WORDS.split())


def part_of(text: str, rng: random.Random) -> str:
    """One thing of a list, said alone as the list said it; the same text where it is no list."""
    match = _LISTED.match(text)
    if match is None or re.search(r"\b(?:no|not|but|without|denies|had)\b", match["list"]):
        return text
    things = [
        one.strip()
        for one in _ITEMS.split(match["list"])
        if _ALONE.match(one.strip()) and not _ODD & set(one.split())
    ]
    if not things:
        return text
    lead = match["lead"].removesuffix(" any")
    return f"{lead[:1].upper()}{lead[1:]} {rng.choice(things)}"
