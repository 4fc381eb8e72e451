"""A briefing as text with [n] markers, three priorities first, and as the JSON of the contract. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from bedside.core.context import Item, Numbering
from bedside.core.source import Source
from bedside.core.turn import Draft, Quote
from bedside.flows.briefing.findings import Briefing, Cited, Flag

__all__ = ["PRIORITIES", "Sheet", "as_json", "priorities", "source_json", "write"]

PRIORITIES = 3
_MARKER = re.compile(r"\[(\d{1,4})\]")
_HEADINGS = (
    ("medications", "Medicines:"),
    ("labs", "Results:"),
    ("conditions", "Problems:"),
    ("screening", "Monitoring, screening and prevention:"),
    ("other", "Other findings:"),
)
_WORD = {"critical": "Critical: ", "warning": "Warning: ", "info": ""}


class Sheet:
    """Collects lines and what they cite; the draft numbers its items from 1."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._items: list[Item] = []
        self._numbers: dict[tuple[str, int, int, int], int] = {}
        self._quotes: list[tuple[int, int, int, str]] = []
        self._counted: list[str] = []

    def say(self, cited: Cited, *, lead: str = "") -> None:
        """A line: the sentence with its markers before the full stop."""
        self.parts([cited], lead=lead)

    def parts(self, some: Sequence[Cited], *, lead: str = "") -> None:
        """One line of several sentences."""
        line = lead
        for place, cited in enumerate(some):
            line += (" " if place else "") + cited.text
            before = len(line)
            said: set[tuple[int, str]] = set()
            for index, item in enumerate(cited.items):
                number = self._number(item)
                if (number, cited.words(index)) in said:
                    continue
                said.add((number, cited.words(index)))
                mark = f"[{number}]"
                line += ("" if index else " ") + mark
                at = (len(line) - len(mark), len(line))
                self._quotes.append((len(self._lines), *at, cited.words(index)))
            line += "" if cited.text.endswith(("?", "!", ".")) and len(line) == before else "."
            if cited.counted:
                self._counted.append(lead + cited.text)
        self._lines.append(line)

    def head(self, line: str) -> None:
        """A heading over what follows."""
        self.gap()
        self._lines.append(line)

    def gap(self) -> None:
        """An empty line between two parts."""
        if self._lines and self._lines[-1]:
            self._lines.append("")

    def _number(self, item: Item) -> int:
        if item.span is None:
            raise ValueError("only an item with a span can be cited")
        source = item.span.source
        key = (str(source.id), source.revision, item.span.start, item.span.end)
        if key not in self._numbers:
            self._items.append(item)
            self._numbers[key] = len(self._items)
        return self._numbers[key]

    def draft(self, *, missing: Iterable[str] = ()) -> Draft:
        """The whole draft; `[k]` means its item k."""
        starts = [0]
        for line in self._lines:
            starts.append(starts[-1] + len(line) + 1)
        text = "\n".join(self._lines)
        quotes = tuple(
            Quote(
                n=int(text[starts[row] + a + 1 : starts[row] + b - 1]),
                text=words,
                at=(starts[row] + a, starts[row] + b),
            )
            for row, a, b, words in self._quotes
        )
        computed = [Item(line, key="computed") for line in self._counted]
        return Draft(
            text=text,
            quotes=quotes,
            by="rules",
            items=(*self._items, *computed),
            missing=tuple(missing),
        )


def priorities(briefing: Briefing) -> tuple[Flag, ...]:
    """The three flags to see first; fewer where fewer were raised."""
    return briefing.flags[:PRIORITIES]


def write(briefing: Briefing) -> Draft:
    """The briefing as readable text: who, the three priorities, then the rest by kind."""
    sheet = Sheet()
    sheet.say(briefing.summary.one_liner)
    for note in briefing.notes:
        sheet.say(note)
    _flags(briefing, sheet)
    _list(sheet, "Open problems:", briefing.summary.conditions)
    _list(sheet, "What changed:", briefing.summary.changes)
    _list(sheet, "Options to consider:", [one.text for one in briefing.actions])
    _list(sheet, "From the guidelines, not specific to this patient:", briefing.guidance)
    _list(sheet, "What was checked:", briefing.checked)
    return sheet.draft(missing=briefing.missing)


def _list(sheet: Sheet, heading: str, lines: Sequence[Cited]) -> None:
    if lines:
        sheet.head(heading)
        for line in lines:
            sheet.say(line, lead="- ")


def _flags(briefing: Briefing, sheet: Sheet) -> None:
    first = priorities(briefing)
    if not first:
        sheet.head("Priorities:")
        sheet.say(
            Cited(text="No rule raised a flag; that is no statement that all is well"), lead="- "
        )
        return
    sheet.head("Three priorities:" if len(first) == PRIORITIES else "Priorities:")
    for flag in first:
        _flag(flag, sheet)
    rest = [flag for flag in briefing.flags if flag not in first]
    for category, heading in _HEADINGS:
        some = [flag for flag in rest if flag.category == category]
        if some:
            sheet.head(heading)
            for flag in some:
                _flag(flag, sheet)


def _flag(flag: Flag, sheet: Sheet) -> None:
    """The title and its first sentence on one line; a longer list of sentences each on its own."""
    lead = f"- {_WORD[flag.severity]}"
    if not flag.description[0].text.startswith(flag.title):
        lead += f"{flag.title}: "
    if len(flag.description) > 2:  # noqa: PLR2004 - a list reads better line by line
        sheet.parts(flag.description[:1], lead=lead)
        for one in flag.description[1:]:
            sheet.say(one, lead="  - ")
        return
    sheet.parts(flag.description, lead=lead)


def as_json(
    briefing: Briefing, numbering: Numbering, *, sources: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """The briefing of the contract; `[n]` are the session's numbers.

    Args:
        briefing: The briefing as it was written.
        numbering: The numbers that its sources got.
        sources: The cited sources as the turn lists them, each once.
    """

    def marked(cited: Cited) -> str:
        marks = "".join(dict.fromkeys(f"[{n}]" for n in _numbers(cited.items, numbering)))
        return f"{cited.text} {marks}.".replace(" .", ".")

    def evidence(parts: Iterable[Cited]) -> list[dict[str, Any]]:
        found: dict[tuple[int, int, int], dict[str, Any]] = {}
        for cited in parts:
            for place, item in enumerate(cited.items):
                one = _citation(item, cited.words(place), numbering)
                found.setdefault((one["n"], one["start"], one["end"]), one)
        return list(found.values())

    return {
        "flags": [
            {
                "id": ":".join(one for one in (flag.source, flag.rule, flag.title) if one),
                "category": flag.category,
                "severity": flag.severity,
                "title": flag.title,
                "description": " ".join(marked(one) for one in flag.description),
                "source": flag.source,
                "rule": flag.rule or None,
                "suggested_action": marked(flag.action) if flag.action else None,
                "priority": place + 1 if place < PRIORITIES else None,
                "evidence": evidence(flag.description),
            }
            for place, flag in enumerate(briefing.flags)
        ],
        "summary": {
            "one_liner": marked(briefing.summary.one_liner),
            "conditions": [marked(one) for one in briefing.summary.conditions],
            "changes": [marked(one) for one in briefing.summary.changes],
        },
        "suggested_actions": [
            {
                "text": marked(one.text),
                "priority": one.priority,
                "citations": _numbers(one.text.items, numbering),
            }
            for one in briefing.actions
        ],
        "guidelines": [marked(one) for one in briefing.guidance],
        "checked": [marked(one) for one in briefing.checked],
        "notes": [marked(one) for one in briefing.notes],
        "sources": list(sources),
    }


def _numbers(items: Iterable[Item], numbering: Numbering) -> list[int]:
    found = [
        numbering[item.span.source.id, item.span.source.revision]
        for item in items
        if item.span is not None
    ]
    return list(dict.fromkeys(found))


def _citation(item: Item, words: str, numbering: Numbering) -> dict[str, Any]:
    assert item.span is not None
    source = item.span.source
    start = item.span.start + (item.body.find(words) if words != item.body else 0)
    return {
        "n": numbering[source.id, source.revision],
        "source": source_json(source),
        "start": start,
        "end": start + len(words),
        "quote": words,
    }


def source_json(source: Source) -> dict[str, Any]:
    """A cited source as the briefing lists it."""
    return {
        "kind": source.kind,
        "id": str(source.id),
        "title": source.title,
        "section": source.section,
        "date": source.dated.isoformat() if source.dated else None,
        "superseded": source.superseded,
    }
