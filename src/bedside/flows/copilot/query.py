"""What a question asks of the record, when rules understood all of it."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Literal

from bedside.core.value import value

__all__ = [
    "Anchor",
    "Ask",
    "Entity",
    "EntityKind",
    "Parsed",
    "Query",
    "Side",
    "Status",
    "Threshold",
    "Topic",
    "Window",
]

EntityKind = Literal[
    "analyte", "panel", "drug", "drug_class", "condition", "procedure", "vaccine", "allergen"
]
Ask = Literal[
    "latest",
    "previous",
    "first",
    "highest",
    "lowest",
    "average",
    "count",
    "trend",
    "change",
    "change_first",
    "list",
    "any",
    "dose",
    "stopped",
    "for",
    "who",
    "where",
    "why",
    "why_end",
    "length",
    "when_first",
    "when_last",
    "when_end",
    "when_highest",
    "when_lowest",
    "field",
]
Topic = Literal[
    "observations",
    "labs",
    "vitals",
    "medications",
    "conditions",
    "allergies",
    "immunizations",
    "procedures",
    "timeline",
    "documents",
    "orders",
    "alerts",
    "careplans",
    "goals",
    "reports",
    "family_history",
    "person",
]
Status = Literal["active", "inactive", "any"]


@value
class Entity:
    """A clinical thing that a question names; `said` is how the question said it."""

    kind: EntityKind
    key: str
    said: str


@value
class Window:
    """Calendar dates, both ends included; `None` is open. `said` is how the question said it."""

    start: date | None
    end: date | None
    said: str

    def holds(self, day: date | None) -> bool:
        """True when `day` lies inside; an unknown day never does."""
        if day is None:
            return False
        return (self.start is None or day >= self.start) and (self.end is None or day <= self.end)


Side = Literal["before", "after"]


@value
class Anchor:
    """A time by what happened: before or after a thing, or the last visit of a class.

    Of `things` that the same words name, the first that the record has is meant.
    """

    side: Side
    things: tuple[Entity, ...] = ()
    visit: str = ""


@value
class Threshold:
    """A bound on a figure; `upper` only with "between". `unit` as said, "" where none was."""

    op: Literal[">", ">=", "<", "<=", "between"]
    value: Decimal
    upper: Decimal | None = None
    unit: str = ""

    def passes(self, figure: Decimal) -> bool:
        """True when `figure` (in the same unit) is on the asked side of the bound."""
        match self.op:
            case ">":
                return figure > self.value
            case ">=":
                return figure >= self.value
            case "<":
                return figure < self.value
            case "<=":
                return figure <= self.value
            case "between":
                return self.value <= figure <= (self.upper if self.upper is not None else figure)

    @property
    def figures(self) -> str:
        """The bound's figures with their unit: "5 mmol/L", "4 to 6"."""
        unit = f" {self.unit}" if self.unit else ""
        upper = f" to {self.upper}" if self.upper is not None else ""
        return f"{self.value}{upper}{unit}"

    @property
    def said(self) -> str:
        """The bound in words, for an answer."""
        words = {">": "above", ">=": "at or above", "<": "below", "<=": "at or below"}
        unit = f" {self.unit}" if self.unit else ""
        if self.op == "between":
            return f"between {self.value} and {self.upper}{unit}"
        return f"{words[self.op]} {self.value}{unit}"


_IN_LETTERS = {"for", "who", "where", "why", "why_end", "when_end", "found"}


@value
class Query:
    """One thing to look up. `last` is "the last so many", `None` where not asked.

    `visit` is a class of encounter or "", `field` one of the person's own data ("age"), or
    what is asked besides of a visit ("who", "why") or a procedure ("found": what it showed), or
    "sort" where only the allergies of one sort are, `unit` the one asked for as UCUM writes it, ""
    where none was. With an `anchor` the window is found in the record.
    """

    topic: Topic
    ask: Ask
    entity: Entity | None = None
    window: Window | None = None
    threshold: Threshold | None = None
    status: Status = "any"
    last: int | None = None
    visit: str = ""
    field: str = ""
    unit: str = ""
    anchor: Anchor | None = None

    @property
    def in_letters(self) -> bool:
        """True where a letter may say what no entry does: who, why, where, for what, till when."""
        of_family = self.topic == "family_history" and self.ask == "any"
        return of_family or self.ask in _IN_LETTERS or self.field in _IN_LETTERS


@value
class Parsed:
    """A question as rules read it.

    `queries` is empty unless every word was accounted for. `unknown` are the words that were not,
    in order; `entities` and `topics` are what was recognised all the same, and guide retrieval.
    """

    queries: tuple[Query, ...] = ()
    unknown: tuple[str, ...] = ()
    entities: tuple[Entity, ...] = ()
    topics: tuple[str, ...] = ()
    windows: tuple[Window, ...] = ()
    asks: tuple[str, ...] = ()
    unit: str = ""
    """The unit asked for as UCUM writes it, "" where none was."""
    bounds: tuple[Threshold, ...] = ()
    fields: tuple[str, ...] = ()
    visits: tuple[str, ...] = ()
