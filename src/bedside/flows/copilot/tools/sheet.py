"""An answer being written: sentences with markers, and the record entries behind them. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import date

from bedside.core.context import Item
from bedside.core.source import Span
from bedside.core.turn import Draft, Quote
from bedside.flows.copilot.windows import day_text
from bedside.record.needs import Fact

__all__ = [
    "Sheet",
    "day_of",
    "item_of",
    "joined",
    "on_text",
    "plain_name",
    "said_as_written",
    "when_text",
    "words_in",
]

_TAG = re.compile(
    r"\s*\((?:disorder|finding|situation|procedure|record artifact|regime/therapy|observable entity"
    r"|morphologic abnormality|qualifier value|substance|product|event|person)\)\s*\Z"
)
_MARKER = re.compile(r"\[(\d{1,4})\]")
_WORD = re.compile(r"\w+(?:[.,/'’-]\w+)*")


def day_of(fact: Fact) -> date | None:
    """The calendar date of an entry as its line shows it, `None` when it has none."""
    if fact.source.dated is not None:
        return fact.source.dated
    return fact.when.date() if fact.when is not None else None


def when_text(fact: Fact) -> str:
    """The entry's date as "2 Nov 2026", or "date not recorded"."""
    day = day_of(fact)
    if day is None:
        return "date not recorded"
    return fact.roughly or day_text(day)


def on_text(fact: Fact) -> str:
    """The date with its preposition: "on 2 Nov 2026", "in Nov 2026", "(date not recorded)"."""
    if day_of(fact) is None:
        return "(date not recorded)"
    return f"{'in' if fact.roughly else 'on'} {when_text(fact)}"


def said_as_written(day: date, fact: Fact) -> str:
    """A day no more exactly than it was written: "2 Nov 2026", "Nov 2026" or "2026".

    A date of no day is kept as the first of its month, so a first that no line shows is not said.
    """
    whole = day_text(day)
    month = whole.partition(" ")[2]
    if day.day > 1 or whole in fact.line:
        return whole
    return month if day.month > 1 or month in fact.line else str(day.year)


def plain_name(fact: Fact) -> str:
    """The entry's name without a terminology's tag: "Viral sinusitis" for "... (disorder)"."""
    return _TAG.sub("", fact.name.replace("\u200b", "")).strip()


def item_of(fact: Fact, *, rank: float = 0.0) -> Item:
    """A record entry as a quotable item: its whole canonical line."""
    return Item(
        fact.line,
        key=str(fact.source.id),
        span=Span(source=fact.source, start=0, end=len(fact.line)),
        note=fact.note,
        rank=rank,
        dated=day_of(fact),
    )


def words_in(text: str) -> int:
    """Words as the brevity guardrail counts them: markers are none."""
    return len(_WORD.findall(_MARKER.sub("", text)))


def joined(parts: Sequence[str]) -> str:
    """The parts as "a", "a and b", "a, b and c"."""
    if len(parts) <= 1:
        return "".join(parts)
    return ", ".join(parts[:-1]) + " and " + parts[-1]


class Sheet:
    """Collects lines, citations and what was not found, then gives the draft."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._items: list[Item] = []
        self._numbers: dict[tuple[str, int], int] = {}
        self._along: dict[int, int] = {}
        self._missing: list[str] = []
        self._held: set[str] = set()
        self._calculated: list[str] = []

    def cite(self, *facts: Fact) -> str:
        """Markers for entries, numbered in order of first use."""
        marks = [f"[{self._number(item_of(fact))}]" for fact in facts]
        return "".join(dict.fromkeys(marks))

    def cite_item(self, item: Item, *, head: Item | None = None) -> str:
        """A marker for any item with a span; `head` is quoted along with it, with no own marker."""
        number = self._number(item)
        if head is not None:
            self._along[number] = self._number(head)
        return f"[{number}]"

    def _number(self, item: Item) -> int:
        if item.span is None:
            raise ValueError("only an item with a span can be cited")
        key = (f"{item.span.source.id}:{item.span.start}", item.span.source.revision)
        if key not in self._numbers:
            self._items.append(item)
            self._numbers[key] = len(self._items)
        return self._numbers[key]

    def say(self, line: str) -> None:
        """Add a line: a sentence or a list entry."""
        self._lines.append(line)

    def says(self, line: str) -> bool:
        """True when that line was said already."""
        return line in self._lines

    def cites(self, fact: Fact) -> bool:
        """True when the entry was cited already."""
        return (f"{fact.source.id}:0", fact.source.revision) in self._numbers

    def count(self, line: str) -> None:
        """Add a line that a calculation made (a count, a heading over a list): it has no source."""
        self.say(line)
        self.calculated(line)

    def once(self, since: int) -> None:
        """Take back the lines from `since` on where all of them were said before."""
        if not {line for line in self._lines[since:] if line} - set(self._lines[:since]):
            del self._lines[since:]

    def gap(self) -> None:
        """Add an empty line between two parts."""
        if self._lines and self._lines[-1]:
            self._lines.append("")

    def missing(self, what: str) -> None:
        """Name something that was looked for and not found."""
        if what not in self._missing:
            self._missing.append(what)

    def calculated(self, line: str) -> None:
        """State a calculation with its inputs: its figures then count as context."""
        self._calculated.append(line)

    def told(self, what: str) -> bool:
        """True when a line names it already."""
        return any(what.lower() in line.lower() for line in self._lines)

    def hold(self, start: int) -> None:
        """Let the first line said since `start` (a place in `lines`) go after warnings do."""
        self._held.update(self._lines[start : start + 1])

    def fit(self, limit: int, *, tail: int = 0) -> None:
        """Keep to so many words: list entries go first, from the end, then other lines.

        The first line and the last `tail` lines stay; warnings go late, what is held last. What went
        is said.
        """
        if self.words <= limit:
            return
        end = len(self._lines) - tail
        room = limit - words_in(_LEFT_OUT) - sum(map(words_in, self._lines[end:]))
        body = list(enumerate(self._lines[:end]))
        going = sorted(body[1:], key=lambda row: (row[1] in self._held, _stays(row[1]), -row[0]))
        used = sum(words_in(line) for _, line in body)
        gone: set[int] = set()
        for at, line in going:
            if used <= room:
                break
            if line:
                gone.add(at)
                used -= words_in(line)
        kept = [line for at, line in body if at not in gone]
        if used > room:
            kept[0] = _shortened(kept[0], room - used + words_in(kept[0]))
        self._lines = _without_gaps([*kept, _LEFT_OUT, *self._lines[end:]])
        self.calculated(_LEFT_OUT)

    @property
    def gaps(self) -> tuple[str, ...]:
        """What was looked for and not found so far."""
        return tuple(self._missing)

    @property
    def words(self) -> int:
        """How many words were said so far."""
        return sum(words_in(line) for line in self._lines)

    @property
    def lines(self) -> tuple[str, ...]:
        """What was said so far."""
        return tuple(self._lines)

    def draft(self, *, by: str = "rules") -> Draft:
        """The whole draft; `[k]` means its item k."""
        text = "\n".join(self._lines).strip()
        cited = list(self._items)
        shown = [Item(line, key="calculated") for line in self._calculated]
        return Draft(
            text=text,
            quotes=tuple(_quotes(text, cited, self._along)),
            by=by,
            items=(*cited, *shown),
            missing=tuple(self._missing),
        )


_LEFT_OUT = "More is left out here, for length."
_WARNS = ("Alert", "Allerg", "Contradiction", "By rule")


def _stays(line: str) -> int:
    """When a line goes: an entry of a list before a sentence, a warning last."""
    return 0 if line.startswith("- ") else 2 if line.startswith(_WARNS) else 1


def _shortened(line: str, room: int) -> str:
    """As many of the line's entries, which semicolons part, as there is room for; at least one."""
    parts = re.split(r"(?<=\]); ", line)
    while len(parts) > 1 and words_in("; ".join(parts)) > room:
        parts.pop()
    return "; ".join(parts).rstrip(".") + "."


def _without_gaps(lines: Sequence[str]) -> list[str]:
    """No two empty lines in a row."""
    return [line for at, line in enumerate(lines) if line or (at and lines[at - 1])]


def _quotes(text: str, items: Sequence[Item], along: Mapping[int, int]) -> Iterable[Quote]:
    """One quote a marker: it stands for the words since the last marker, or the line's start."""
    offset = 0
    for line in text.split("\n"):
        start = 0
        for marker in _MARKER.finditer(line):
            number = int(marker[1])
            if not 1 <= number <= len(items):
                continue
            segment = line[start : marker.start()]
            begin = start + len(segment) - len(segment.lstrip(" -;,."))
            begin = min(marker.start(), begin)
            yield Quote(
                n=number, text=items[number - 1].body, at=(offset + begin, offset + marker.end())
            )
            if (other := along.get(number)) is not None:
                yield Quote(
                    n=other, text=items[other - 1].body, at=(offset + begin, offset + marker.end())
                )
            if not line[marker.end() :].startswith("["):
                start = marker.end()
        offset += len(line) + 1
