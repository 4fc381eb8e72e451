"""What the writer saw this turn: the only text that may be quoted, and what else may be said. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from html import unescape
from typing import Literal

from bedside.core.context import Assembly, Item, Message
from bedside.core.source import Span
from bedside.core.turn import Quote
from bedside.core.value import value
from bedside.grounding.phi import key_of
from bedside.grounding.prose import BROKEN
from bedside.grounding.reading import Memo
from bedside.grounding.resolve import places
from bedside.grounding.support import Evidence, judge
from bedside.language.normalise import Normalised, normalise
from bedside.language.sentences import sentences

__all__ = ["Found", "Refused", "Shown"]

_WHOLE_LINE = 400  # characters: a source of one sentence up to this long is cited as a whole
_TRIES = 4  # passages that are judged for a bare citation
_QUESTION = re.compile(r"<question>\n(.*?)</question>", re.DOTALL)
_ITEM = re.compile(r"<item[^>]*>\n(.*?)</item>", re.DOTALL)
_DERIVED = re.compile(r'<item derived="([^"]*)"')
_TAG = re.compile(r"</?[a-zA-Z][^>]*>")


@value
class Found:
    """A citation that was resolved: the stored words and the passage to judge by."""

    n: int
    span: Span
    quote: str
    evidence: Evidence


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
        self.sources = dict(sources)
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
        best: Found | None = None
        for _, item, start, end in ranked[:_TRIES]:
            found = self._found(n, item, start, end)
            level = judge(claim, [found.evidence], computed=self.computed, asked=self.asked).level
            if level == "full":
                return found
            if level == "partial" and best is None:
                best = found
        if best is not None:
            return best
        if ranked:
            _, item, start, end = ranked[0]
            return self._found(n, item, start, end)
        return Refused(n=n, why="quote_not_found")

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
