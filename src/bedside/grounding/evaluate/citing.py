"""What an item's source says, held against the note's chunks. Pure.

A string is a citation of the strict form, or a quote. An object may name a chunk, a span or a quote.
What nearly is a citation is a format error, and is still read, so that the words can be compared.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, cast

from bedside.core.errors import BadInput
from bedside.core.value import value
from bedside.grounding.cite import ChunkCitation, ChunkPlace, parse_chunk
from bedside.grounding.evaluate.finding import Finding
from bedside.grounding.evaluate.items import GivenChunk
from bedside.grounding.resolve import places
from bedside.language.normalise import Normalised, normalise
from bedside.language.note_chunks import note_chunks
from bedside.language.note_sections import note_sections
from bedside.language.sentences import sentences

__all__ = ["Cited", "NoteText", "Place"]

_LOOSE = re.compile(
    r"chunk[\s_-]?(?P<chunk>\d+)\D{0,12}(?P<start>\d+)\D{1,5}(?P<end>\d+)", re.IGNORECASE
)
_SPAN = re.compile(r"^\D{0,12}(?P<start>\d+)\s*[-–:]\s*(?P<end>\d+)\D{0,3}$")
_LOST_BREAK = re.compile(r"(?<=[.?!]),(?=\s?(?:[A-Z]|\d{1,2}\.))|,(?=\d{1,2}\.\s)")
"""The comma that an export on one line puts for a line break."""
_LIKE = re.compile(r"chunk[\s_-]?\d|\bsection,|\d+\s*[-–]\s*\d+\s*\)?$", re.IGNORECASE)
_NEAR = 3


@value
class Place:
    """One resolved place, `[start, end)` of the note, in the lowest chunk that holds it."""

    section: str
    chunk: str
    start: int
    end: int


@value
class Cited:
    """An item's places in order, and what is wrong with them. `given` is False without a source."""

    places: tuple[Place, ...]
    findings: tuple[Finding, ...]
    given: bool


class NoteText:
    """A note with its chunks: the file's own, or cut anew where it has none."""

    def __init__(self, text: str, chunks: Sequence[GivenChunk] | None) -> None:
        self.text = text
        self.sections = note_sections(text)
        self.warnings: list[str] = []
        self.chunked_anew = chunks is None
        rows = self._fitting(chunks) if chunks is not None else []
        if chunks is not None and not rows:
            self.warnings.append("No chunk of the file fits this note; the note was chunked anew.")
            self.chunked_anew = True
        if self.chunked_anew:
            rows = [GivenChunk(id=c.id, section=c.section, start=c.start, end=c.end)
                    for c in note_chunks(text, self.sections)]  # fmt: skip
        self.chunks = {
            one.id: ChunkPlace(section=one.section, start=one.start, end=one.end) for one in rows
        }
        self.titles = frozenset(one.section for one in rows)

    def _fitting(self, chunks: Sequence[GivenChunk]) -> list[GivenChunk]:
        rows: dict[str, GivenChunk] = {}
        for one in chunks:
            if one.id in rows:
                self.warnings.append(f"{one.id} stands twice among the chunks; the first counts.")
            elif not 0 <= one.start < one.end <= len(self.text):
                self.warnings.append(f"{one.id} lies outside the note and was left out.")
            elif (
                one.text is not None and one.text.strip() != self.text[one.start : one.end].strip()
            ):
                self.warnings.append(f"{one.id} holds other text than the note at its place.")
                rows[one.id] = one
            else:
                rows[one.id] = one
        return list(rows.values())

    @cached_property
    def comparable(self) -> Normalised:
        """The note in comparable form."""
        return normalise(self.text)

    @cached_property
    def sentences(self) -> list[tuple[int, int]]:
        """Spans of its sentences, in order; none runs over a heading or a lost line break."""
        cuts = {one.start for one in self.sections}
        cuts |= {match.end() for match in _LOST_BREAK.finditer(self.text)}
        ends = sorted(cuts)
        found: list[tuple[int, int]] = []
        for start, end in sentences(self.text):
            at = start
            for cut in ends[bisect_right(ends, start) : bisect_left(ends, end)]:
                found.append((at, at + len(self.text[at:cut].rstrip())))
                at = cut + len(self.text[cut:end]) - len(self.text[cut:end].lstrip())
            if at < end:
                found.append((at, end))
        return [(a, b) for a, b in found if a < b]

    def holder(self, start: int, end: int) -> tuple[str, ChunkPlace] | None:
        """The first chunk that holds the span whole: in an overlap, the lower one."""
        return next(
            ((name, c) for name, c in self.chunks.items() if c.start <= start and end <= c.end),
            None,
        )

    def around(self, start: int, end: int) -> tuple[int, int]:
        """The span grown to the sentences that it touches."""
        rows = self.sentences
        first = bisect_right(self._ends, start)
        last = bisect_left(self._starts, end)
        if first >= last:
            return start, end
        return min(start, rows[first][0]), max(end, rows[last - 1][1])

    @cached_property
    def _starts(self) -> list[int]:
        return [a for a, _ in self.sentences]

    @cached_property
    def _ends(self) -> list[int]:
        return [b for _, b in self.sentences]

    def section_at(self, at: int) -> tuple[str, str]:
        """Title and kind of the section at a place."""
        for one in self.sections:
            if one.start <= at < one.end:
                return one.title, one.kind
        return "", "other"

    # ---- sources --------------------------------------------------------------------------------

    def cite(self, source: Any, text: str) -> Cited:
        """Resolve what an item gives as its source; `text` is the item's own words."""
        if source is None:
            return Cited(places=(), findings=(), given=False)
        rows: list[Any] = [source]
        if isinstance(source, (list, tuple)) and _pair(cast("Sequence[Any]", source)) is None:
            rows = list(cast("Sequence[Any]", source))
        found: list[Place] = []
        wrong: list[Finding] = []
        for one in rows:
            place, findings = self._one(one, text, alone=len(rows) == 1)
            found += [place] if place is not None else []
            wrong += findings
        return Cited(places=tuple(found), findings=tuple(wrong), given=bool(rows))

    def _one(self, source: Any, text: str, *, alone: bool) -> tuple[Place | None, list[Finding]]:
        if isinstance(source, str):
            return self._string(source, text)
        if isinstance(source, Mapping):
            return self._object(cast("Mapping[str, Any]", source), text, alone=alone)
        pair = _pair(cast("Sequence[Any]", source)) if isinstance(source, (list, tuple)) else None
        if pair is not None:
            return self._span(*pair, text, alone=alone)
        return None, [
            Finding(kind="format_error", detail="the source is neither text nor an object")
        ]

    def _string(self, source: str, text: str) -> tuple[Place | None, list[Finding]]:
        try:
            cited = parse_chunk(source)
        except BadInput:
            return self._nearly(source, text)
        return self._citation(cited, text)

    def _nearly(self, source: str, text: str) -> tuple[Place | None, list[Finding]]:
        if not _LIKE.search(source):
            spans = places(source, self.comparable)
            if spans:
                return self._quote(spans, source, text)
        wrong = Finding(
            kind="format_error",
            detail="not of the form 'SECTION section, chunk_N:start-end'",
            said=source,
        )
        loose = _LOOSE.search(source) or _SPAN.match(source.strip())
        if loose is None:
            return None, [wrong]
        start, end = int(loose["start"]), int(loose["end"])
        if not 0 <= start < end <= len(self.text):
            return None, [wrong]
        return self._placed(start, end), [wrong]

    def _quote(
        self, spans: Sequence[tuple[int, int]], quote: str, text: str
    ) -> tuple[Place | None, list[Finding]]:
        """A quote stands once, or the item's own words say which place is meant."""
        if len(spans) > 1:
            mine = [s for s in spans if text in self.text[slice(*self.around(*s))]]
            if len(mine) != 1:
                return self._placed(*spans[0]), [
                    Finding(kind="span_error", detail="the quote stands more than once", said=quote)
                ]
            spans = mine
        return self._placed(*spans[0]), []

    def _citation(self, cited: ChunkCitation, text: str) -> tuple[Place | None, list[Finding]]:
        wrong: list[Finding] = []
        chunk = self.chunks.get(cited.chunk)
        written = str(cited)
        if chunk is None:
            wrong.append(
                Finding(kind="bad_id", detail="the note has no such chunk", said=cited.chunk)
            )
        if cited.section not in self.titles:
            wrong.append(
                Finding(
                    kind="section_mismatch",
                    detail="the note has no section of this title",
                    said=cited.section,
                )
            )
        elif chunk is not None and chunk.section != cited.section:
            wrong.append(
                Finding(kind="section_mismatch", detail="the chunk is of another section",
                        said=cited.section, written=chunk.section)
            )  # fmt: skip
        if cited.start >= cited.end:
            wrong.append(Finding(kind="span_error", detail="the span is empty", said=written))
            return None, wrong
        if cited.end > len(self.text):
            wrong.append(
                Finding(kind="span_error", detail="the span ends after the note", said=written)
            )
            return None, wrong
        if chunk is not None and not (chunk.start <= cited.start and cited.end <= chunk.end):
            wrong.append(
                Finding(kind="span_error", detail="the span lies outside its chunk", said=written,
                        written=f"{chunk.start}-{chunk.end}")
            )  # fmt: skip
        wrong += self._edges(cited.start, cited.end, text, alone=True)
        if chunk is None:
            return self._placed(cited.start, cited.end), wrong
        return Place(
            section=chunk.section, chunk=cited.chunk, start=cited.start, end=cited.end
        ), wrong

    def _object(
        self, source: Mapping[str, Any], text: str, *, alone: bool
    ) -> tuple[Place | None, list[Finding]]:
        for key in ("source", "citation"):
            if isinstance(source.get(key), str):
                return self._string(source[key], text)
        quote = _text(source, "quote", "text", "exact", "snippet", "excerpt")
        start = _number(source, "start", "start_char", "start_pos", "begin")
        end = _number(source, "end", "end_char", "end_pos")
        name = _text(source, "chunk", "chunk_id")
        wrong = self._named(name, _text(source, "section", "section_title"))
        chunk = self.chunks.get(name) if name is not None else None
        if start is not None and end is not None:
            place, more = self._span(start, end, text, alone=alone and quote is None)
            wrong += more
            if chunk is not None and not (chunk.start <= start and end <= chunk.end):
                wrong.append(
                    Finding(
                        kind="span_error",
                        detail="the span lies outside its chunk",
                        said=f"{start}-{end}",
                        written=f"{chunk.start}-{chunk.end}",
                    )
                )
            if quote and place and _plain(quote) != _plain(self.text[start:end]):
                wrong.append(
                    Finding(
                        kind="span_error",
                        detail="the quote does not stand at its span",
                        said=quote,
                        written=self.text[start:end],
                    )
                )
            return place, wrong
        if quote:
            return self._quoted(quote, text, chunk, wrong)
        if chunk is not None:
            whole = Place(section=chunk.section, chunk=str(name), start=chunk.start, end=chunk.end)
            return whole, wrong
        bare = Finding(kind="format_error", detail="the source names neither a span nor a quote")
        return None, wrong or [bare]

    def _named(self, name: str | None, title: str | None) -> list[Finding]:
        """What is wrong with the chunk and the section that an object names."""
        wrong: list[Finding] = []
        chunk = self.chunks.get(name) if name is not None else None
        if name is not None and chunk is None:
            wrong.append(Finding(kind="bad_id", detail="the note has no such chunk", said=name))
        if title and title not in self.titles:
            wrong.append(
                Finding(
                    kind="section_mismatch",
                    detail="the note has no section of this title",
                    said=title,
                )
            )
        elif title and chunk is not None and chunk.section != title:
            wrong.append(
                Finding(
                    kind="section_mismatch",
                    detail="the chunk is of another section",
                    said=title,
                    written=chunk.section,
                )
            )
        return wrong

    def _quoted(
        self, quote: str, text: str, chunk: ChunkPlace | None, wrong: list[Finding]
    ) -> tuple[Place | None, list[Finding]]:
        spans = places(quote, self.comparable)
        if chunk is not None:
            spans = [s for s in spans if chunk.start <= s[0] and s[1] <= chunk.end]
        if not spans:
            lost = Finding(kind="span_error", detail="the quote is not in the note", said=quote)
            return None, [*wrong, lost]
        place, more = self._quote(spans, quote, text)
        return place, wrong + more

    def _span(
        self, start: int, end: int, text: str, *, alone: bool
    ) -> tuple[Place | None, list[Finding]]:
        if start >= end:
            return None, [
                Finding(kind="span_error", detail="the span is empty", said=f"{start}-{end}")
            ]
        if start < 0 or end > len(self.text):
            return None, [
                Finding(
                    kind="span_error",
                    detail="the span lies outside the note",
                    said=f"{start}-{end}",
                )
            ]
        return self._placed(start, end), self._edges(start, end, text, alone=alone)

    def _placed(self, start: int, end: int) -> Place:
        held = self.holder(start, end)
        if held is None:
            return Place(section=self.section_at(start)[0], chunk="", start=start, end=end)
        return Place(section=held[1].section, chunk=held[0], start=start, end=end)

    def _edges(self, start: int, end: int, text: str, *, alone: bool) -> list[Finding]:
        """Does the span begin and end where words do, and hold the item's words if they are near?"""
        note = self.text
        written = note[max(0, start - 12) : end + 12]
        if _inside_word(note, start) or _inside_word(note, end):
            return [
                Finding(
                    kind="span_error",
                    detail="the span cuts a word",
                    said=note[start:end],
                    written=written,
                )
            ]
        if note[start].isspace() or note[end - 1].isspace():
            return [
                Finding(
                    kind="span_error",
                    detail="the span begins or ends with a blank",
                    said=note[start:end],
                    written=written,
                )
            ]
        if not alone or text in note[start:end]:
            return []
        low = max(0, start - _NEAR)
        at = note.find(text, low, min(len(note), end + _NEAR))
        if (
            at >= 0
            and (at < start or at + len(text) > end)
            and abs((at + len(text)) - end) + abs(at - start) <= 2 * _NEAR
        ):
            return [
                Finding(
                    kind="span_error",
                    detail="the span misses the item's own words",
                    said=note[start:end],
                    written=text,
                )
            ]
        return []


def _pair(source: Sequence[Any]) -> tuple[int, int] | None:
    """A span written as two numbers."""
    match source:
        case [int(start), int(end)]:
            return start, end
        case _:
            return None


def _text(source: Mapping[str, Any], *keys: str) -> str | None:
    """The first of these keys that holds text; a number counts as an id."""
    for key in keys:
        found = source.get(key)
        if isinstance(found, str) or type(found) is int:
            return str(found)
    return None


def _number(source: Mapping[str, Any], *keys: str) -> int | None:
    """The first of these keys that holds a whole number."""
    return next((source[key] for key in keys if type(source.get(key)) is int), None)


def _plain(text: str) -> str:
    return normalise(text).text.strip()


def _inside_word(text: str, at: int) -> bool:
    if not 0 < at < len(text):
        return False
    left, right = text[at - 1], text[at]
    if left.isalnum() and right.isalnum():
        return True
    if left in ".," and right.isdigit():
        return at > 1 and text[at - 2].isdigit()
    return left.isdigit() and right in ".," and at + 1 < len(text) and text[at + 1].isdigit()
