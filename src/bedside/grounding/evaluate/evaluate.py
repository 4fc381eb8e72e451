"""Any vendor's summary and plan of a note, held against the note (NO-08). Pure and deterministic."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import islice

from bedside.core.errors import BadInput, InvalidArgument
from bedside.grounding.evaluate.citing import NoteText, Place
from bedside.grounding.evaluate.compare import Comparison, compare
from bedside.grounding.evaluate.facts import Fact, covered, facts
from bedside.grounding.evaluate.finding import DIMENSIONS, STRUCTURAL, Dimension, Finding
from bedside.grounding.evaluate.items import GivenItem, read_summary
from bedside.grounding.evaluate.result import EvaluatedItem, NoteEvaluation, tallies
from bedside.grounding.reading import Read

__all__ = ["evaluate_note"]

_OWN = re.compile(r"problem|assessment|diagnos|snapshot", re.IGNORECASE)
_SPEAKS_OF_FAMILY = re.compile(r"\bsoc|social", re.IGNORECASE)
_NOTHING = re.compile(
    r"^\W*(?:none|nil|n/?a|not (?:documented|available|applicable|mentioned|recorded)|none (?:documented|recorded|noted|reported)|"
    r"no information(?: available)?)\W*$", re.IGNORECASE
)  # fmt: skip
_CONFLICTS = frozenset(("laterality", "subject"))  # no other sentence mends these
_STRANGE = 0.5  # more wrong than this, and it may be another note's summary
_FEW = 5
_BEST = 2
_MOST_LABELS = 20
_WELL = 0.75


def evaluate_note(summary: object, *, note: str, plan: object = None) -> NoteEvaluation:
    """Hold a summary, and a plan, against the note that they are of.

    Args:
        summary: Parsed JSON (this package's, or any nesting that ends in objects with a text and a
            source, or in strings), JSON text, or plain text. Chunks in it are used; where it has
            none, the note is chunked anew and the result says so.
        note: The note's text; offsets are its code points.
        plan: The plan, where the summary does not hold it.

    Returns:
        The same value for the same input, whatever the run.

    Raises:
        BadInput: the note holds no text, or the summary begins as JSON and is not valid.
        InvalidArgument: the note is no text, or the summary is neither text nor JSON.
    """
    if not isinstance(note, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidArgument("note", found=type(note).__name__, want="the note's text")
    if not note.strip():
        raise BadInput("the note", why="it holds no text", do="Give the note that was summarised.")
    given = read_summary(summary, plan=plan)
    text = NoteText(note, given.chunks)
    found = _Evaluation(text).run(given.items)
    warnings = [*text.warnings, *_warnings(found)]
    if given.chunks is None:
        warnings.insert(0, "The file has no chunks; the note was chunked anew.")
    return replace(
        found,
        problems=given.problems,
        warnings=tuple(warnings),
    )


def _warnings(found: NoteEvaluation) -> list[str]:
    if not found.items:
        return ["No item was found in the file."]
    strange = sum(any(f.kind == "support" for f in one.findings) for one in found.items)
    if len(found.items) >= _FEW and strange > _STRANGE * len(found.items):
        return [
            f"{strange} of {len(found.items)} items are not in this note: it may be another note's summary."
        ]
    return []


class _Evaluation:
    """One run: readings of the note's sentences are made once."""

    def __init__(self, note: NoteText) -> None:
        self.note = note
        self._reads: dict[tuple[tuple[int, int], ...], Read] = {}
        self._said: dict[str, Read] = {}

    def run(self, items: Sequence[GivenItem]) -> NoteEvaluation:
        checked: dict[Dimension, int] = dict.fromkeys(DIMENSIONS, 0)
        wrong: dict[Dimension, int] = dict.fromkeys(DIMENSIONS, 0)
        rows: list[EvaluatedItem] = []
        for item in items:
            row, comparison = self._item(item)
            rows.append(row)
            if comparison is None:
                continue
            for name, count in comparison.checked:
                checked[name] += count
            for finding in comparison.findings:
                if finding.kind in wrong:
                    wrong[finding.kind] += 1
        rows = self._duplicates(rows)
        good = sum(
            bool(one.places) and one.by == "citation" and not _structural(one) for one in rows
        )
        return NoteEvaluation(
            note=self.note.text,
            items=tuple(rows),
            citation_coverage=round(good / len(rows), 4) if rows else None,
            faithfulness=tallies({k: max(v, wrong[k]) for k, v in checked.items()}, wrong),
            facts=tuple(self._facts(rows)),
            chunks_from="note" if self.note.chunked_anew else "file",
            chunks=len(self.note.chunks),
        )

    # ---- one item -------------------------------------------------------------------------------

    def _item(self, item: GivenItem) -> tuple[EvaluatedItem, Comparison | None]:
        if _NOTHING.match(item.text) and not self._verbatim(item):
            empty = Finding(
                kind="format_error", detail="an empty section is [], not an item", said=item.text
            )
            return EvaluatedItem(item=item, places=(), by="", findings=(empty,), share=0.0), None
        said = self._read(item.text)
        cited = self.note.cite(item.source, item.text)
        findings = list(cited.findings)
        if not cited.given:
            findings.append(Finding(kind="orphan_claim", detail="the item names no source"))
        places, by = (cited.places, "citation") if cited.places else (self._like(said), "words")
        if not places:
            lost = Finding(kind="support", detail="the note holds nothing like it", said=item.text)
            wrong = (lost, *self._over(item))
            row = EvaluatedItem(
                item=item, places=(), by="", findings=(*findings, *wrong), share=0.0
            )
            return row, Comparison(findings=wrong, checked=(("support", 1),), share=0.0)
        comparison = self._compared(item, said, places)
        kinds = {one.kind for one in comparison.findings}
        if by == "citation" and item.part == "plan" and kinds and not kinds & _CONFLICTS:
            comparison = self._elsewhere(item, said, places, comparison)
        comparison = replace(comparison, findings=(*comparison.findings, *self._over(item)))
        findings += comparison.findings
        row = EvaluatedItem(
            item=item, places=places, by=by, findings=tuple(findings), share=comparison.share
        )
        return row, comparison

    def _over(self, item: GivenItem) -> tuple[Finding, ...]:
        """What is wrong with the item's label: it must stand in the note, and not as denied there."""
        words = (item.label or "").split()
        if not words:
            return ()
        label = " ".join(words)
        spaced = r"\s+".join(map(re.escape, words))
        pattern = re.compile(rf"(?<!\w){spaced}(?!\w)", re.IGNORECASE)
        said = self._read(label)
        best: tuple[Finding, ...] | None = None
        for match in islice(pattern.finditer(self.note.text), _MOST_LABELS):
            found = self._compared(item, said, (self._place(*match.span()),)).findings
            if self._stands_alone(*match.span()) or not found:
                return ()
            best = found if best is None or len(found) < len(best) else best
        if best is not None:
            return best
        lost = Finding(kind="support", detail="the note holds no such label", said=label)
        like = self._like(said)
        more = self._compared(item, said, like).findings if like else ()
        return (lost, *(one for one in more if one.kind != "support"))

    def _stands_alone(self, start: int, end: int) -> bool:
        """Is it a line of the note, or a sentence of one word or more, and nothing else?"""
        text = self.note.text
        line = text[text.rfind("\n", 0, start) + 1 : start]
        after = text[end : end + 1]
        return not any(char.isalpha() for char in line) and after in {"", "\n", ".", ":"}

    def _verbatim(self, item: GivenItem) -> bool:
        """Are these the note's own words, at the place that is cited?"""
        places = self.note.cite(item.source, item.text).places
        return any(item.text in self.note.text[one.start : one.end] for one in places)

    def _compared(self, item: GivenItem, said: Read, places: Sequence[Place]) -> Comparison:
        spans = tuple(dict.fromkeys(self.note.around(one.start, one.end) for one in places))
        written = self._evidence(spans)
        if written.text == said.text:
            said = self._said[said.text] = written  # one reading for the same words
        title, kind = self.note.section_at(places[0].start)
        return compare(
            said,
            written,
            heading=title,
            family_section=kind == "family" and not _SPEAKS_OF_FAMILY.search(title),
            own=_OWN.search(item.section) is not None,
        )

    def _elsewhere(
        self, item: GivenItem, said: Read, places: Sequence[Place], first: Comparison
    ) -> Comparison:
        """A recommendation rests on the assessment it cites; what it orders may stand elsewhere."""
        more = self._like(said)
        if not more:
            return first
        second = self._compared(item, said, (*places, *more))
        return second if len(second.findings) < len(first.findings) else first

    def _evidence(self, spans: tuple[tuple[int, int], ...]) -> Read:
        found = self._reads.get(spans)
        if found is None:
            text = "\n".join(self.note.text[a:b] for a, b in spans)
            found = self._reads[spans] = Read(text)
        return found

    def _read(self, text: str) -> Read:
        found = self._said.get(text)
        if found is None:
            found = self._said[text] = Read(text)
        return found

    # ---- by words -------------------------------------------------------------------------------

    @cached_property
    def _index(self) -> dict[str, list[int]]:
        """Stem to the numbers of the sentences that hold it, rising."""
        index: dict[str, list[int]] = defaultdict(list)
        for number, span in enumerate(self.note.sentences):
            for key in sorted(self._evidence((span,)).keys):
                index[key].append(number)
        return index

    def _like(self, said: Read) -> tuple[Place, ...]:
        """The one or two sentences that hold most of the item's words; none where they hold few."""
        at = self.note.text.find(said.text)
        if at >= 0:
            return (self._place(at, at + len(said.text)),)
        votes: dict[int, int] = defaultdict(int)
        for key in said.keys:
            for number in self._index.get(key, ()):
                votes[number] += 1
        if not votes:
            return ()
        ranked = sorted(votes, key=lambda n: (-votes[n], n))
        best = ranked[0]
        chosen = [best]
        have = said.keys & self._evidence((self.note.sentences[best],)).keys
        if len(have) < _WELL * len(said.keys):
            rest = said.keys - have
            gains = [
                (-len(rest & self._evidence((self.note.sentences[n],)).keys), n)
                for n in ranked[1:50]
            ]
            if gains and min(gains)[0] < 0:
                chosen.append(min(gains)[1])
        return tuple(self._place(*self.note.sentences[n]) for n in sorted(chosen[:_BEST]))

    def _place(self, start: int, end: int) -> Place:
        held = self.note.holder(start, end)
        section = held[1].section if held else self.note.section_at(start)[0]
        return Place(section=section, chunk=held[0] if held else "", start=start, end=end)

    # ---- the whole ------------------------------------------------------------------------------

    def _duplicates(self, rows: Iterable[EvaluatedItem]) -> list[EvaluatedItem]:
        seen: dict[object, str] = {}
        out: list[EvaluatedItem] = []
        for row in rows:
            read = self._read(row.item.text)
            figures = tuple(sorted(str(one.figure) + one.unit for one in read.quantities))
            sides = tuple(sorted({one.side for one in read.sides}))
            denied = any(one.kind == "negated" for one in read.scopes)
            key = (row.item.part, read.keys or row.item.text.lower(), figures, sides, denied)
            if key in seen:
                again = Finding(
                    kind="duplicate",
                    detail="says again what another item says",
                    said=row.item.text,
                    written=seen[key],
                )
                row = replace(row, findings=(*row.findings, again))  # noqa: PLW2901
            else:
                seen[key] = row.item.where or row.item.text
            out.append(row)
        return out

    def _facts(self, rows: Sequence[EvaluatedItem]) -> list[tuple[Fact, bool]]:
        reads = [self._read(row.item.text) for row in rows]
        by_key: dict[str, list[Read]] = defaultdict(list)
        for read in reads:
            for key in {*read.keys, *(t.key for t in (*read.drugs, *read.analytes))}:
                by_key[key].append(read)
        digits = [read for read in reads if read.digits]
        out: list[tuple[Fact, bool]] = []
        for fact in facts(self.note.text, self.note.sections):
            if fact.kind == "vitals":
                candidates = digits
            elif fact.needs == frozenset({"no allergy"}):
                candidates = reads
            elif fact.kind == "orders":
                candidates = list(
                    {id(r): r for key in sorted(fact.needs) for r in by_key.get(key, ())}.values()
                )
            else:
                rows_by_key = [by_key.get(key, []) for key in sorted(fact.needs)]
                candidates = min(rows_by_key, key=len) if rows_by_key else []
            out.append((fact, covered(fact, candidates)))
        return out


def _structural(row: EvaluatedItem) -> bool:
    return any(one.kind in STRUCTURAL for one in row.findings)
