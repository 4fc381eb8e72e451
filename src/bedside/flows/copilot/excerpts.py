"""The sentences of passages that bear on a question, best first, with their exact spans. Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

from bedside.clinical.vocabulary import expand
from bedside.core.context import Item
from bedside.core.source import Span
from bedside.core.value import value
from bedside.knowledge.needs import Hit
from bedside.language.sentences import sentences
from bedside.language.stems import stems

__all__ = [
    "ASKING",
    "Columns",
    "Excerpt",
    "best_sentences",
    "excerpt_of",
    "opening_sentences",
    "rarity_of",
    "readable",
    "readable_spans",
    "sentences_under",
    "table_headers",
    "terms_of",
]

_SHORTEST, _LONGEST = 12, 420
_OF_ONE_PASSAGE = 2
_ROW_BARS = 2
_FEWEST_WORDS = 2
_RULE = frozenset("|-: ")
_HEADER = re.compile(
    r"[-*# ]*(?:patient|name|dob|date of (?:birth|clinic|report|visit|letter)|date|mrn|nhs|address|re|ref)"
    r"\**\s*:|[-*# ]*(?:dear|yours|kind regards|sincerely|best wishes|cc)\b",
    re.IGNORECASE,
)
_ENDED = re.compile(r"[.!?;)\]%][\"'\u201d\u2019]?\Z")
_LISTED = re.compile(r"[-*\u2022+] |\d{1,2}[.)] ")
_STARS = re.compile(r"(?<![0-9A-Za-z])\*+|\*+(?![0-9A-Za-z])")
_UNIT_OF = re.compile(r"\s*\([^)]*\d[^)]*\)")
_RUN_ON = re.compile(r"(?<=[a-z][.;:])(?=[A-Z])")
_DATE = re.compile(
    r"\b\d{1,2} (?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]* \d{4}\b|\b\d{4}-\d{2}-\d{2}\b",
    re.IGNORECASE,
)
_ASKED = 0.6
"""From this weight on a term is the question's own, not a guess from the record."""
_POINTS_ON = re.compile(
    r"\b(?:these|the following|as follows|listed below|shown below|see (?:the )?(?:table|section))\b|:\Z",
    re.IGNORECASE,
)
ASKING = frozenset(
    stem
    for word in [
        "what",
        "should",
        "do",
        "does",
        "did",
        "think",
        "tell",
        "give",
        "show",
        "patient",
        "please",
        "know",
        "would",
        "could",
        "any",
        "next",
        "explain",
        "mean",
        "say",
        "said",
        "recommend",
        "advise",
        "suggest",
        "guideline",
        "protocol",
        "treatment",
        "question",
        "help",
        "consider",
        "need",
        "new",
    ]
    for stem in stems(word)
)


@value
class Excerpt:
    """One sentence of a passage as a quotable item; `score` is at least 0, higher is better.

    `header` names the columns where the sentence is a row of a table, empty where it is none;
    `head` is the row that names them, to be cited beside it.
    """

    item: Item
    text: str
    score: float
    superseded: bool
    header: tuple[str, ...] = ()
    head: Item | None = None

    @property
    def shown(self) -> str:
        """The sentence on one line; a row of a table with the name of each column."""
        if self.text.count("|") < _ROW_BARS:
            text = self.text.lstrip()
            mark = _LISTED.match(text)
            plain = _STARS.sub("", text[mark.end() :] if mark else text)
            return " ".join(_RUN_ON.sub(" ", plain).split())
        found = list(enumerate(_cells(self.text)))
        named = [(self.header[at] if at < len(self.header) else "", cell) for at, cell in found]
        return "; ".join(f"{name}: {cell}" if name else cell for name, cell in named if cell)


def terms_of(text: str, *, more: Sequence[str] = ()) -> dict[str, float]:
    """Stems to look for with their weights: the question's words at 1, other names for them less."""
    found: dict[str, float] = {}
    for extra in expand(text):
        for stem in stems(extra.replacement):
            found[stem] = max(found.get(stem, 0.0), extra.weight * 0.8)
    for stem in stems(text):
        if stem not in ASKING:
            found[stem] = 1.0
    for other in more:
        for stem in stems(other):
            found.setdefault(stem, 0.4)
    return found


def best_sentences(
    hits: Sequence[Hit],
    terms: Mapping[str, float],
    *,
    most: int,
    about: Sequence[frozenset[str]] = (),
    fewest: int = 2,
) -> tuple[Excerpt, ...]:
    """The sentences that hold most of the terms, from different places, best first.

    Rare terms count more than common ones. At most two sentences of one passage.

    Args:
        hits: Passages, best first; between equal sentences the better passage wins.
        terms: Stems with weights, from `terms_of`.
        most: So many sentences at most.
        about: Names that the question speaks of, each as its stems: a sentence, or the heading it
            stands under, holds at least one of them whole. Empty asks for none.
        fewest: So many of the terms a sentence holds at least (fewer where there are fewer).
    """
    needed = min(fewest, sum(1 for weight in terms.values() if weight >= 1.0) or 1)
    rows = [
        (place, hit, start, end, columns, set(stems(hit.text[start:end])))
        for place, hit in enumerate(hits)
        for start, end, columns in readable_spans(hit)
    ]
    rarity = rarity_of(terms, [own for *_, own in rows])
    found: list[tuple[float, int, Excerpt]] = []
    for place, hit, start, end, columns, own in rows:
        heading = set(stems(f"{hit.prefix} {hit.span.source.title} {hit.span.source.section}"))
        matched = [stem for stem in terms if stem in own]
        both = own | heading
        if sum(stem in both for stem in terms if terms[stem] >= _ASKED) < needed:
            continue
        named = sum(name <= own for name in about)
        if about and not any(name <= both for name in about):
            continue
        score = sum(terms[stem] * rarity[stem] for stem in matched)
        score += sum(0.4 * terms[stem] * rarity[stem] for stem in terms if stem in heading - own)
        score = score * (1 + named) / math.sqrt(4 + len(own)) / (1 + 0.08 * place)
        if hit.span.source.superseded:
            score *= 0.5
        found.append((-score, place, excerpt_of(hit, start, end, score, header=columns)))
    return _varied(sorted(found, key=lambda row: row[:2]), most)


def readable(text: str) -> bool:
    """A whole statement or table row: no heading, rule, letterhead, fragment, or pointer below."""
    if text.count("|") >= _ROW_BARS:
        return len(text) <= _LONGEST and not set(text) <= _RULE
    if sum(any(c.isalpha() for c in word) for word in text.split()) < _FEWEST_WORDS:
        return False
    if not _SHORTEST <= len(text) <= _LONGEST or text[0] in "#>" or _HEADER.match(text):
        return False
    if _POINTS_ON.search(text):
        return False
    bare = _DATE.sub("", text)
    whole = _ENDED.search(text.rstrip()) or _LISTED.match(text.lstrip())
    return bool(whole) or any(c.isdigit() for c in bare)


def _cells(row: str) -> list[str]:
    inner = row.strip().strip("|")
    return [" ".join(cell.replace("**", "").split()) for cell in inner.split("|")]


def table_headers(text: str) -> tuple[tuple[int, int, tuple[str, ...]], ...]:
    """Every table of a Markdown text: where its header row begins, where it ends, its columns.

    A column's name is given without a unit that stands in brackets.
    """
    found: list[tuple[int, int, tuple[str, ...]]] = []
    at = 0
    open_: tuple[int, tuple[str, ...]] | None = None
    lines = text.split("\n")
    for place, line in enumerate(lines):
        below = lines[place + 1].strip() if place + 1 < len(lines) else ""
        row = line.count("|") >= _ROW_BARS
        if row and "-" in below and set(below) <= _RULE:
            open_ = (at, tuple(_UNIT_OF.sub("", cell) for cell in _cells(line)))
        elif not row and open_ is not None:
            found.append((open_[0], at, open_[1]))
            open_ = None
        at += len(line) + 1
    if open_ is not None:
        found.append((open_[0], at, open_[1]))
    return tuple(found)


@value
class Columns:
    """A table's column names, and where in the passage the row that names them begins and ends."""

    names: tuple[str, ...]
    start: int
    end: int


def readable_spans(hit: Hit) -> list[tuple[int, int, Columns | None]]:
    """The readable sentences of a passage, in order, with their table's columns; no header rows."""
    tables = table_headers(hit.text)
    heads = {start for start, _, _ in tables}
    found: list[tuple[int, int, Columns | None]] = []
    for start, end in sentences(hit.text):
        if not readable(hit.text[start:end]):
            continue
        line = hit.text.rfind("\n", 0, start) + 1
        if line in heads and hit.text[start:end].count("|") >= _ROW_BARS:
            continue
        columns = next(
            (
                Columns(names=names, start=a, end=hit.text.index("\n", a))
                for a, b, names in tables
                if a <= start < b
            ),
            None,
        )
        found.append((start, end, columns))
    return found


def rarity_of(terms: Mapping[str, float], found: Sequence[set[str]]) -> dict[str, float]:
    """How telling each term is among these sentences: above 0, higher is rarer."""
    return {
        stem: math.log(1 + len(found) / (1 + sum(stem in own for own in found))) + 0.2
        for stem in terms
    }


_HEADING = re.compile(r"\s*(?:#{1,6} .+|[A-Z][A-Z &/-]{2,40}:?|[A-Z][a-z]+(?: [a-z]+){0,3}:)\s*\Z")


def sentences_under(hits: Sequence[Hit], heading: re.Pattern[str]) -> tuple[Excerpt, ...]:
    """The readable sentences that stand under a heading, in their order, each place once."""
    found: dict[tuple[str, int], Excerpt] = {}
    for hit in hits:
        named = bool(heading.search(hit.prefix.rpartition(">")[2]))
        at = 0
        open_ = named
        marks: list[tuple[int, bool]] = [(0, named)]
        for line in hit.text.split("\n"):
            if _HEADING.match(line):
                open_ = bool(heading.search(line))
                marks.append((at, open_))
            elif (label := re.match(r"[A-Z][\w -]{2,30}:", line)) is not None:
                open_ = bool(heading.search(label[0])) or (open_ and named)
                marks.append((at, open_))
            at += len(line) + 1
        for start, end, columns in readable_spans(hit):
            if [under for place, under in marks if place <= start][-1]:
                key = (str(hit.span.source.id), hit.span.start + start)
                found.setdefault(key, excerpt_of(hit, start, end, 1.0, header=columns))
    return tuple(found[key] for key in sorted(found))


def opening_sentences(hits: Sequence[Hit], *, most: int) -> tuple[Excerpt, ...]:
    """The first readable sentences of the passages, in their order: what a document says at all."""
    found: list[Excerpt] = []
    for hit in sorted(hits, key=lambda one: (str(one.span.source.id), one.span.start)):
        for start, end, columns in readable_spans(hit):
            if len(found) < most:
                found.append(excerpt_of(hit, start, end, 1.0, header=columns))
    return tuple(found)


def excerpt_of(
    hit: Hit, start: int, end: int, score: float, *, header: Columns | None = None
) -> Excerpt:
    """The words of a passage from `start` to `end` (inside the passage) as a quotable item."""
    item = _item_of(hit, start, end)
    return Excerpt(
        item=item,
        text=hit.text[start:end],
        score=score,
        superseded=hit.span.source.superseded,
        header=header.names if header else (),
        head=_item_of(hit, header.start, header.end) if header else None,
    )


def _item_of(hit: Hit, start: int, end: int) -> Item:
    return Item(
        hit.text[start:end],
        key=f"{hit.chunk_id}:{start}",
        span=Span(source=hit.span.source, start=hit.span.start + start, end=hit.span.start + end),
        note="superseded edition" if hit.span.source.superseded else "",
        dated=hit.span.source.dated,
    )


def _varied(ranked: Sequence[tuple[float, int, Excerpt]], most: int) -> tuple[Excerpt, ...]:
    kept: list[Excerpt] = []
    passages: dict[int, int] = {}
    seen: set[str] = set()
    for _, place, excerpt in ranked:
        folded = " ".join(excerpt.text.lower().split())
        if passages.get(place, 0) >= _OF_ONE_PASSAGE or folded in seen:
            continue
        seen.add(folded)
        passages[place] = passages.get(place, 0) + 1
        kept.append(excerpt)
        if len(kept) == most:
            break
    return tuple(kept)
