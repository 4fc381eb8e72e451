"""The parts of a briefing: cited sentences, flags, options, the summary. Pure values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from bedside.clinical.rules import Severity
from bedside.core.context import Item
from bedside.core.value import value

__all__ = [
    "MILDER",
    "Action",
    "Briefing",
    "Category",
    "Cited",
    "Flag",
    "Level",
    "Severity",
    "Summary",
]

Category = Literal["labs", "medications", "conditions", "screening", "other"]
Level = Literal["high", "medium", "low"]
MILDER: Mapping[Severity, Severity] = {"critical": "warning", "warning": "info", "info": "info"}
"""A grade milder: for what rests on an old entry."""


@value
class Cited:
    """One sentence without its markers or final stop, and the items that it rests on, in order.

    `quotes` are the exact words of each item that it rests on; the empty tuple is their whole
    bodies. `counted` is True where the sentence holds figures that a rule computed (an age, a
    number of entries): they have no source of their own.
    """

    text: str
    items: tuple[Item, ...] = ()
    quotes: tuple[str, ...] = ()
    counted: bool = True

    def words(self, place: int) -> str:
        """The quoted words of the item at that place."""
        return self.quotes[place] if self.quotes else self.items[place].body


@value
class Flag:
    """Something to look at. `rule` is the id of the rule that raised it, "" for a model's.

    `description` is never empty; `action` is an option to consider, `None` where there is none.
    `weight` orders flags of one severity, higher first; `about` names what it is about (a
    measurement), so that flags about one thing let others speak before they speak again.
    """

    category: Category
    severity: Severity
    title: str
    description: tuple[Cited, ...]
    source: Literal["rule", "ai"] = "rule"
    rule: str = ""
    action: Cited | None = None
    weight: float = 0.0
    about: str = ""

    @property
    def items(self) -> tuple[Item, ...]:
        """Everything that the flag rests on, each once, in order."""
        return tuple({id(one): one for part in self.description for one in part.items}.values())


@value
class Action:
    """An option to consider."""

    text: Cited
    priority: Level


@value
class Summary:
    """Who this is, the open problems, and what changed since the last visit."""

    one_liner: Cited
    conditions: tuple[Cited, ...] = ()
    changes: tuple[Cited, ...] = ()


@value
class Briefing:
    """A briefing before its citations have numbers.

    `flags` are gravest first. `guidance` are guideline sentences by subject; `checked` says what
    was checked against what; `notes` are remarks on the briefing itself (the record's age, no
    guideline found). `missing` names what was looked for and not found.
    """

    summary: Summary
    flags: tuple[Flag, ...] = ()
    actions: tuple[Action, ...] = ()
    guidance: tuple[Cited, ...] = ()
    checked: tuple[Cited, ...] = ()
    notes: tuple[Cited, ...] = ()
    missing: tuple[str, ...] = ()
