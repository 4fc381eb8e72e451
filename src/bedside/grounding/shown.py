"""What the writer saw this turn: the only text that may be quoted, and what else may be said. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from html import unescape
from typing import Literal

from bedside.core.context import Assembly, Item, Message
from bedside.core.source import Span
from bedside.core.turn import Quote
from bedside.core.value import value
from bedside.grounding.opposites import opposed
from bedside.grounding.phi import key_of
from bedside.grounding.prose import BROKEN
from bedside.grounding.reading import Memo, Read
from bedside.grounding.resolve import places
from bedside.grounding.support import Evidence, Judgement, judge
from bedside.grounding.terms import stem_of
from bedside.language.normalise import Normalised, normalise
from bedside.language.sentences import sentences

__all__ = ["Found", "Refused", "Shown"]

_WHOLE_LINE = 400  # characters: a source of one sentence up to this long is cited as a whole
_AGAINST = frozenset({"negation_mismatch", "subject_mismatch", "opposite_in_source"})
_SAME = 3  # content words that two passages share when they are about the same
_TRIES = 4  # passages that are judged for a bare citation
_QUESTION = re.compile(r"<question>\n(.*?)</question>", re.DOTALL)
_ITEM = re.compile(r"<item[^>]*>\n(.*?)</item>", re.DOTALL)
_DERIVED = re.compile(r'<item derived="([^"]*)"')
_TAG = re.compile(r"</?[a-zA-Z][^>]*>")


@value
class Found:
    """A citation that was resolved: the stored words and the passage to judge by.

    `level` is how far a passage that was chosen for a claim supports it; "" where none was chosen.
    """

    n: int
    span: Span
    quote: str
    evidence: Evidence
    level: Literal["", "full", "partial", "none"] = ""


@value
class Refused:
    """A citation that was not: the source was not shown, the words are not in it, or are twice."""

    n: int
    why: Literal["source_not_shown", "quote_not_found", "quote_ambiguous", "broken_citation"]


class Shown:
    """The sources of one turn by number, with what else stands in the context.

    `sources` maps n to the slices that the writer saw. `computed` are outputs of deterministic
    calculators; `asked` is the question; `ours` are our own instructions; `context` is any further
    text that the writer saw. All may be empty.
    """

    def __init__(
        self,
        sources: Mapping[int, tuple[Item, ...]],
        *,
        computed: Sequence[str] = (),
        asked: str = "",
        ours: Sequence[str] = (),
        context: Sequence[str] = (),
    ) -> None:
        self.sources = {n: _joined(items) for n, items in sources.items()}
        self.computed = tuple(one for one in computed if one)
        self.asked, self.ours, self.context = asked, tuple(ours), tuple(context)
        self.read = Memo()
        self._maps: dict[int, Normalised] = {}
        self._sentences: dict[int, list[tuple[int, int]]] = {}

    @classmethod
    def of(cls, assembly: Assembly | None, *, items: Sequence[Item] = (), asked: str = "") -> Shown:
        """What an assembly showed, and the items of a deterministic draft.

        Items without a source are computed; the question is read from its block where `asked` is
        not given.
        """
        computed = [one.body for one in items if one.span is None]
        if assembly is None:
            return cls({}, computed=computed, asked=asked)
        said = [text for message in assembly.messages for text in _texts(message, "user")]
        ours = [text for message in assembly.messages for text in _texts(message, "system")]
        tail = "\n".join(said)
        if not asked:
            asked = "\n".join(_TAG.sub("", one) for one in _QUESTION.findall(tail)).strip()
        computed += [unescape(one) for one in _ITEM.findall(tail)]
        computed += [unescape(one) for one in _DERIVED.findall("\n".join([*said, *ours]))]
        return cls(
            assembly.shown, computed=computed, asked=unescape(asked), ours=ours, context=said
        )

    def resolve(self, quote: Quote, *, claim: str) -> Found | Refused:
        """Find a quote in its source; a quote without words is placed by the claim it stands at."""
        if quote.n == BROKEN:
            return Refused(n=quote.n, why="broken_citation")
        items = [item for item in self.sources.get(quote.n, ()) if item.span is not None]
        if not items:
            return Refused(n=quote.n, why="source_not_shown")
        if not quote.text:
            return self._located(quote.n, items, claim)
        found: dict[tuple[int, int], Found] = {}
        for item in items:
            assert item.span is not None
            spans = (
                [(0, len(item.body))]
                if quote.text == item.body
                else places(quote.text, self._map(item))
            )
            for start, end in spans:
                key = (item.span.start + start, item.span.start + end)
                found.setdefault(key, self._found(quote.n, item, start, end))
        if not found:
            return Refused(n=quote.n, why="quote_not_found")
        if len(found) > 1:
            return Refused(n=quote.n, why="quote_ambiguous")
        return next(iter(found.values()))

    def _located(self, n: int, items: list[Item], claim: str) -> Found | Refused:
        """A bare `[n]`: the whole of a short source, else its passage that supports the claim."""
        whole = items[0]
        if len(items) == 1 and len(whole.body) <= _WHOLE_LINE and len(self._spans(whole)) <= 1:
            return self._found(n, whole, 0, len(whole.body))
        said = self.read(claim)
        figures = {one.figure for one in said.quantities}
        passages = [
            (item, start, end, self.read(item.body[start:end]))
            for item in items
            for start, end in self._spans(item)
        ]
        ranked = sorted(
            (
                (
                    -len(figures & {one.figure for one in text.quantities}),
                    -len(said.keys & text.keys),
                    order,
                ),
                item,
                start,
                end,
            )
            for order, (item, start, end, text) in enumerate(passages)
        )
        if not ranked:
            return Refused(n=n, why="quote_not_found")
        tried: list[tuple[Found, Judgement]] = []
        for _, item, start, end in ranked[:_TRIES]:
            found = self._found(n, item, start, end)
            one = judge(
                claim,
                [found.evidence],
                computed=self.computed,
                asked=self.asked,
                read=self.read,
            )
            tried.append((found, one))
            if one.level == "full":
                break
        found, one = _best(tried, denies=any(s.kind == "negated" for s in said.scopes))
        chosen = self.read(found.evidence.context)
        unsaid = _unsaid(said, chosen) if one.level != "none" else set[str]()
        for _, item, start, end in ranked if unsaid else ():
            other = self._found(n, item, start, end)  # "continued" of one that only names it
            text = self.read(other.evidence.context)
            same = said.drugs and said.named & text.named
            same = same or len((said.keys & text.keys) - unsaid) >= _SAME
            if same and opposed(said, [text], memo=self.read):
                return replace(other, level="none")
        return replace(found, level=one.level)

    def _found(self, n: int, item: Item, start: int, end: int) -> Found:
        assert item.span is not None
        source = item.span.source
        context, header = self._around(item, start, end)
        heading = " > ".join(one for one in (source.title, source.section) if one)
        evidence = Evidence(
            n=n,
            kind=source.kind,
            quote=item.body[start:end],
            context=context,
            heading="" if source.kind == "record" else heading,
            notes=" ".join(one for one in (item.note, header) if one),
            dated=item.dated or source.dated,
        )
        span = Span(source=source, start=item.span.start + start, end=item.span.start + end)
        return Found(n=n, span=span, quote=item.body[start:end], evidence=evidence)

    def _around(self, item: Item, start: int, end: int) -> tuple[str, str]:
        """The sentences that hold `[start, end)`, and the head row where they stand in a table."""
        assert item.span is not None
        if item.span.source.kind == "record":
            return item.body, ""
        touched = [(a, b) for a, b in self._spans(item) if a < end and start < b]
        if touched:
            start, end = min(start, touched[0][0]), max(end, touched[-1][1])
        context = item.body[start:end]
        return context, _table_head(item.body, start) if context.startswith("|") else ""

    def _map(self, item: Item) -> Normalised:
        found = self._maps.get(id(item))
        if found is None:
            found = self._maps[id(item)] = normalise(item.body)
        return found

    def _spans(self, item: Item) -> list[tuple[int, int]]:
        found = self._sentences.get(id(item))
        if found is None:
            found = self._sentences[id(item)] = sentences(item.body)
        return found

    @cached_property
    def bodies(self) -> tuple[str, ...]:
        """Every shown text with its note, and what was computed."""
        shown = [item for items in self.sources.values() for item in items]
        return (
            *(item.body for item in shown),
            *(item.note for item in shown if item.note),
            *self.computed,
        )

    @cached_property
    def keys(self) -> str:
        """Letters and digits of everything the writer saw, to look identifiers up in."""
        titles = [
            f"{item.span.source.title} {item.span.source.section}"
            for items in self.sources.values()
            for item in items
            if item.span is not None
        ]
        return key_of("|".join([*self.bodies, *titles, self.asked, *self.context, *self.ours]))

    def passages(self) -> list[tuple[Item, str]]:
        """Sentences of the sources about the patient, for absence statements."""
        return [
            (item, item.body[start:end])
            for items in self.sources.values()
            for item in items
            if item.span is not None and item.span.source.kind in {"record", "document", "note"}
            for start, end in (
                [(0, len(item.body))] if item.span.source.kind == "record" else self._spans(item)
            )
        ]


def _unsaid(said: Read, text: Read) -> set[str]:
    """The stems of what was done or how it is, where the passage says nothing of the kind."""
    told = {one.axis for one in text.poles}
    return {
        stem_of(one.word)
        for one in said.poles
        if one.axis in {"action", "level"} and one.axis not in told
    }


def _best(tried: Sequence[tuple[Found, Judgement]], *, denies: bool) -> tuple[Found, Judgement]:
    """The passage that a bare marker means: the first full support, else partial, else the likest.

    One that says the reverse, in as many words of the claim or more, is not passed over for one
    that speaks of the same in another connection.
    """
    for level in ("full", "partial"):
        for row in tried:
            if row[1].level != level:
                continue
            against = (
                other
                for other in tried
                if other[1].why in _AGAINST
                and (
                    other[1].share > row[1].share or (other[1].share == row[1].share and not denies)
                )
            )
            return next(against, row)
    return max(tried, key=lambda row: row[1].share)


def _joined(items: Sequence[Item]) -> tuple[Item, ...]:
    """The slices of one source, those that touch or overlap made one: a quote may cross the cut."""
    out: list[Item] = []
    for item in items:
        last = out[-1] if out else None
        if last is None or last.span is None or item.span is None:
            out.append(item)
            continue
        gap = item.span.start - last.span.end
        whole = all(
            len(one.body) == one.span.end - one.span.start for one in (last, item) if one.span
        )
        if (
            not whole
            or last.span.source != item.span.source
            or gap > 0
            or item.span.start < last.span.start
            or item.span.end <= last.span.end
        ):
            out.append(item)
            continue
        span = replace(last.span, end=item.span.end)
        out[-1] = replace(last, body=last.body + item.body[-gap:], span=span)
    return tuple(out)


def _texts(message: Message, role: str) -> list[str]:
    if message.role != role:
        return []
    return [part for part in message.parts if isinstance(part, str)]


def _table_head(body: str, start: int) -> str:
    lines = body[:start].split("\n")
    head = ""
    for line in reversed(lines[:-1]):
        if not line.lstrip().startswith("|"):
            break
        head = line
    return head
