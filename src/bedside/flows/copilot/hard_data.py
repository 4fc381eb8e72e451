"""Hard data for knowledge questions: ranges, evidence per decision, textbooks, guidance (CO-08)."""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from importlib import resources
from typing import Literal

from pydantic import BaseModel, ConfigDict, model_validator

from bedside.clinical.analytes import analyte, find_analytes
from bedside.clinical.drugs import class_name, class_of, find_drugs
from bedside.clinical.lexicon import words
from bedside.clinical.packs import Pack, PackFile, load_pack
from bedside.clinical.ranges import Range, range_pack, ranges_of
from bedside.clinical.vocabulary import expand
from bedside.core.errors import NotFound
from bedside.core.value import value

__all__ = [
    "HardData",
    "Level",
    "Node",
    "Paper",
    "RangeEntry",
    "Specialty",
    "Textbook",
    "for_plan",
    "specialties",
    "specialty",
]

Level = Literal["cochrane", "systematic_review", "rct", "cohort", "guideline"]
_LEVELS: tuple[Level, ...] = ("cochrane", "systematic_review", "rct", "cohort", "guideline")
_SHOWN = {
    "cochrane": "Cochrane review",
    "systematic_review": "systematic review",
    "rct": "randomised trial",
    "cohort": "cohort",
    "guideline": "guideline",
}
MAX_RANGES, MAX_NODES, MAX_PAPERS, MAX_TEXTBOOKS = 15, 8, 2, 30
_SPECIALTIES_PER_PLAN = 2
_USUAL = 8  # ranges of a specialty that come unasked
_SURE = 0.5
_CLOSE = 0.6  # of the best score: what lies below is about something else
_GENERIC_WEIGHT = 0.3
# Words of many decisions: they rank decisions but never bring one in.
_GENERIC = frozenset(
    {
        "add", "bleeding", "clot", "complications", "conservative", "duration", "early", "elderly",
        "extended", "first line", "goal", "high risk", "home oxygen", "initial", "intensive",
        "kidney", "heart", "long-term", "mild", "older", "older adults", "prevention", "progression", "safety",
        "second line", "severe", "start", "target", "threshold", "tight", "timing", "treatment",
        "exacerbation", "risk", "cardiovascular", "weight", "breath", "cough", "joint",
    }
)  # fmt: skip
_CHILD = re.compile(
    r"\b(?:child|children|infant|baby|toddler|p[a]?ediatric|adolescent)s?\b", re.IGNORECASE
)
_PREGNANT = re.compile(r"\b(?:pregnan\w*|antenatal|gestation\w*|trimester)\b", re.IGNORECASE)


@value
class Paper:
    """One paper with an identifier that can be looked up.

    `finding` is one line in our own words. `checked` says whether the identifier was seen together
    with the paper in public sources when the pack was made, and `how` says in what way.
    """

    title: str
    journal: str
    year: int
    level: Level
    finding: str
    checked: bool
    how: str
    doi: str = ""
    pmid: str = ""

    def line(self) -> str:
        """The finding with its citation, on one line."""
        marks = [f"doi:{self.doi}"] if self.doi else []
        if self.pmid:
            marks.append(f"PMID {self.pmid}")
        return (
            f"{self.finding} [{_SHOWN[self.level]}: {self.title}. {self.journal} {self.year}; "
            f"{', '.join(marks)}]"
        )


@value
class Node:
    """A treatment decision with its papers, the strongest kind first."""

    id: str
    specialty: str
    decision: str
    terms: tuple[str, ...]
    papers: tuple[Paper, ...]

    def line(self) -> str:
        """The decision and its papers' lines."""
        return "\n".join([f"{self.decision}:", *(f"- {paper.line()}" for paper in self.papers)])


@value
class Textbook:
    """A chapter to read; `topics` are the terms that bring it in."""

    book: str
    chapter: str
    specialty: str
    topics: tuple[str, ...]

    def line(self) -> str:
        """Book and chapter on one line."""
        return f"{self.book}: {self.chapter}"


@value
class RangeEntry:
    """The reference ranges of one analyte, one per population, and its line for the context."""

    analyte: str
    name: str
    rows: tuple[Range, ...]

    def line(self) -> str:
        """Bands by population, critical limits and the source, on one line."""
        bands = "; ".join(
            row.text() if row.population == "adults" else f"{row.population} {row.text()}"
            for row in self.rows
        )
        critical = next((row.critical_text() for row in self.rows if row.critical_text()), "")
        note = next((row.note for row in self.rows if row.note), "")
        source = next((row.source for row in self.rows if row.source), self.rows[0].critical_source)
        parts = [f"{self.name}: {bands}"]
        if critical:
            parts.append(f"critical {critical}")
        if note:
            parts.append(note)
        return f"{'; '.join(parts)} [{source}]"


@value
class Specialty:
    """One specialty's guidance: markers, decision points and red flags, about 550 tokens."""

    key: str
    name: str
    terms: tuple[str, ...]
    markers: tuple[str, ...]
    decision_points: tuple[str, ...]
    red_flags: tuple[str, ...]
    ranges: tuple[str, ...]
    nodes: tuple[Node, ...]
    textbooks: tuple[Textbook, ...]
    pack: Pack

    def guidance(self) -> str:
        """The text for the context, with the pack's label as its last line."""
        blocks = (
            ("Markers", self.markers),
            ("Decision points", self.decision_points),
            ("Red flags", self.red_flags),
        )
        text = "\n".join(
            f"{self.name}, {title.lower()}:\n" + "\n".join(f"- {line}" for line in lines)
            for title, lines in blocks
        )
        return f"{text}\n({self.pack.label})"


@value
class HardData:
    """What a plan may show: at most 15 ranges, 8 nodes with 2 papers each, 30 textbooks.

    Each is best first. Empty when the plan needs none or nothing fits. `labels` are the packs'
    labels, to stand wherever their content shows.
    """

    ranges: tuple[RangeEntry, ...] = ()
    nodes: tuple[Node, ...] = ()
    textbooks: tuple[Textbook, ...] = ()
    specialties: tuple[Specialty, ...] = ()
    labels: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        """False when there is nothing to show."""
        return bool(self.ranges or self.nodes or self.textbooks or self.specialties)


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class _Paper(_Model):
    title: str
    journal: str
    year: int
    level: Level
    finding: str
    checked: bool
    how: str
    doi: str = ""
    pmid: str = ""

    @model_validator(mode="after")
    def _identified(self) -> _Paper:
        if not (self.doi or self.pmid):
            message = "a paper needs a DOI or a PMID"
            raise ValueError(message)
        return self


class _Node(_Model):
    decision: str
    terms: tuple[str, ...]
    papers: tuple[_Paper, ...]


class _Textbook(_Model):
    book: str
    chapter: str
    topics: tuple[str, ...]


class _Specialty(PackFile):
    name: str
    terms: tuple[str, ...]
    markers: tuple[str, ...]
    decision_points: tuple[str, ...]
    red_flags: tuple[str, ...]
    ranges: tuple[str, ...]
    nodes: dict[str, _Node]
    textbooks: tuple[_Textbook, ...]


@functools.cache
def specialties() -> tuple[Specialty, ...]:
    """Every specialty that ships with data, by key."""
    folder = resources.files("bedside.flows.copilot").joinpath("data/specialties")
    keys = sorted(
        entry.name.removesuffix(".yaml")
        for entry in folder.iterdir()
        if entry.name.endswith(".yaml")
    )
    return tuple(_read(key) for key in keys)


def specialty(key: str) -> Specialty:
    """One specialty by its key ("cardiology") or name.

    Raises:
        NotFound: No such specialty; `specialties()` lists them.
    """
    wanted = key.casefold().replace(" ", "_")
    for item in specialties():
        if wanted in {item.key, item.name.casefold().replace(" ", "_")}:
            return item
    raise NotFound("specialty", key, hint=f"There are {', '.join(s.key for s in specialties())}.")


def for_plan(text: str, *, clinical: bool = True, home: str = "") -> HardData:
    """The hard data that a question calls for.

    Args:
        text: The question; the words it expands to (abbreviations, brands, lay terms) count too.
        clinical: Whether the plan needs clinical reasoning. False gives nothing: a greeting, a
            clarification or a look-up in the record gets no reference data.
        home: The doctor's own specialty, "" when unknown; it breaks ties, it brings nothing in.
    """
    if not clinical:
        return HardData()
    heard = _heard(text)
    scores = _scores(heard)
    chosen = _chosen(scores, home)
    nodes = _best(scores, "node", MAX_NODES)
    picked = tuple(_node(key) for key in nodes)
    ranges = _ranges(text, [*chosen, *dict.fromkeys(node.specialty for node in picked)])
    books = _books(scores, chosen)
    shown = tuple(specialty(key) for key in chosen)
    named = [specialty(key) for key in dict.fromkeys([*chosen, *(n.specialty for n in picked)])]
    labels = [item.pack.label for item in named]
    if ranges:
        labels.append(range_pack().label)
    return HardData(
        ranges=ranges, nodes=picked, textbooks=books, specialties=shown, labels=tuple(labels)
    )


def _heard(text: str) -> str:
    """The text with what its words stand for: replacements, drug generics and drug classes."""
    more: list[str] = [item.replacement for item in expand(text) if item.weight >= _SURE]
    for mention in find_drugs(text, repair=True):
        more.extend(mention.ingredients)
        more.extend(class_name(key) for part in mention.ingredients for key in class_of(part))
    more.extend(
        analyte(found.keys[0]).name
        for found in find_analytes(text, repair=True)
        if len(found.keys) == 1
    )
    return " | ".join([text, *dict.fromkeys(more)])


def _scores(heard: str) -> Mapping[tuple[str, str], float]:
    """Score by (kind, key); a kind's entry is there only when a word of its own was heard."""
    said = f" {' '.join(word for _, _, word in words(heard))} "
    terms, spread = _index()
    matched: dict[tuple[str, str], set[str]] = {}
    for term, (folded, targets) in terms.items():
        if f" {folded} " in said or f" {folded}s " in said:
            for target in targets:
                matched.setdefault(target, set()).add(term)
    scores = {
        target: sum(_weight(term, spread) for term in found)
        for target, found in matched.items()
        if any(term not in _GENERIC for term in found)
    }
    for item in specialties():  # a decision speaks for its specialty
        best = max((scores.get(("node", node.id), 0.0) for node in item.nodes), default=0.0)
        if best:
            scores["specialty", item.key] = scores.get(("specialty", item.key), 0.0) + best
    return scores


def _weight(term: str, spread: Mapping[str, int]) -> float:
    rare = 1.0 + math.log(sum(spread.values()) / spread[term])
    return rare * (_GENERIC_WEIGHT if term in _GENERIC else 1.0)


def _chosen(scores: Mapping[tuple[str, str], float], home: str) -> list[str]:
    ranked = sorted(
        (key for kind, key in scores if kind == "specialty"),
        key=lambda key: (-scores["specialty", key], key != home, key),
    )
    if not ranked:
        return []
    floor = scores["specialty", ranked[0]] / 2
    return [key for key in ranked if scores["specialty", key] >= floor][:_SPECIALTIES_PER_PLAN]


def _best(scores: Mapping[tuple[str, str], float], kind: str, limit: int) -> list[str]:
    ranked = sorted(
        (key for found, key in scores if found == kind), key=lambda key: (-scores[kind, key], key)
    )
    if not ranked:
        return []
    floor = scores[kind, ranked[0]] * _CLOSE
    return [key for key in ranked if scores[kind, key] >= floor][:limit]


def _ranges(text: str, keys: Iterable[str]) -> tuple[RangeEntry, ...]:
    asked = [key for mention in find_analytes(text, repair=True) for key in mention.keys]
    usual = [name for key in dict.fromkeys(keys) for name in specialty(key).ranges[:_USUAL]]
    wanted = dict.fromkeys([*asked, *usual[: max(0, _USUAL - len(set(asked)))]])
    child, pregnant = bool(_CHILD.search(text)), bool(_PREGNANT.search(text))
    entries: list[RangeEntry] = []
    for name in wanted:
        rows = tuple(
            row for row in ranges_of(name) if _suits(row.population, child=child, pregnant=pregnant)
        )
        if rows:
            entries.append(RangeEntry(analyte=name, name=analyte(name).name, rows=rows))
    return tuple(entries[:MAX_RANGES])


def _suits(population: str, *, child: bool, pregnant: bool) -> bool:
    if population == "pregnancy":
        return pregnant
    return child or "years" not in population


def _books(scores: Mapping[tuple[str, str], float], chosen: Iterable[str]) -> tuple[Textbook, ...]:
    fitting = [_book(key) for key in _best(scores, "book", MAX_TEXTBOOKS)]
    general = [book for key in chosen for book in specialty(key).textbooks[:1]]
    return tuple(dict.fromkeys([*fitting, *general]))[:MAX_TEXTBOOKS]


def _node(key: str) -> Node:
    return next(node for item in specialties() for node in item.nodes if node.id == key)


def _book(key: str) -> Textbook:
    name, _, place = key.rpartition("/")
    return specialty(name).textbooks[int(place)]


@functools.cache
def _index() -> tuple[Mapping[str, tuple[str, list[tuple[str, str]]]], Mapping[str, int]]:
    """Terms with their folded form and their targets, and how many targets have each term."""
    found: dict[str, tuple[str, list[tuple[str, str]]]] = {}
    for kind, key, terms in _targets():
        for term in terms:
            folded = " ".join(word for _, _, word in words(term))
            found.setdefault(term, (folded, []))[1].append((kind, key))
    return found, {term: len(targets) for term, (_, targets) in found.items()}


def _targets() -> Iterator[tuple[str, str, tuple[str, ...]]]:
    for item in specialties():
        yield "specialty", item.key, item.terms
        for node in item.nodes:
            yield "node", node.id, node.terms
        for place, book in enumerate(item.textbooks):
            yield "book", f"{item.key}/{place}", book.topics


def _read(key: str) -> Specialty:
    raw = load_pack(_Specialty, "bedside.flows.copilot", f"data/specialties/{key}.yaml")
    return Specialty(
        key=key,
        name=raw.name,
        terms=raw.terms,
        markers=raw.markers,
        decision_points=raw.decision_points,
        red_flags=raw.red_flags,
        ranges=raw.ranges,
        nodes=tuple(_made(key, name, node) for name, node in raw.nodes.items()),
        textbooks=tuple(
            Textbook(book=one.book, chapter=one.chapter, specialty=key, topics=one.topics)
            for one in raw.textbooks
        ),
        pack=raw.pack,
    )


def _made(key: str, name: str, node: _Node) -> Node:
    ranked = sorted(node.papers, key=lambda paper: _LEVELS.index(paper.level))
    return Node(
        id=name,
        specialty=key,
        decision=node.decision,
        terms=node.terms,
        papers=tuple(Paper(**paper.model_dump()) for paper in ranked[:MAX_PAPERS]),
    )
