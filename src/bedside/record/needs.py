"""What the record room can be asked, and what comes back."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from typing import Literal

from bedside.clinical.rules import Reference
from bedside.core.source import Source
from bedside.core.turn import Need
from bedside.core.value import value

__all__ = [
    "Category",
    "Contradiction",
    "Fact",
    "Insight",
    "Person",
    "RecordFacts",
    "RecordNeed",
]

Category = Literal[
    "demographics",
    "allergies",
    "alerts",
    "conditions",
    "observations",
    "medications",
    "timeline",
    "procedures",
    "immunizations",
    "reports",
    "orders",
    "documents",
    "goals",
    "careplans",
    "family_history",
    "insights",
]


@value
class Person:
    """Who the record is about. `birth_date` is `None` when unknown; `sex` is FHIR's, or ""."""

    id: str
    name: str
    birth_date: date | None
    sex: str
    deceased: date | bool | None = None
    identifiers: tuple[str, ...] = ()


@value
class Fact:
    """One record entry: its canonical line is the whole text of `source`, and is quotable.

    `line` is that text. `name` is the display, `code` "system|code" of the first coding. A
    quantity keeps the source's own figure as a Decimal (`value`) and as written (`figure`), with
    its unit as written (`unit`, UCUM code in `ucum` where given); `None` where the entry has none.
    `text_value` is a coded or string value. `when` is the clinically relevant moment, aware, `None`
    when unknown; `end` closes a period. `status` is FHIR's (active, resolved, entered-in-error...).
    `low`/`high` are the lab's own reference range. `note` is derived (age of the value, staleness,
    borderline, single reading): shown beside the line, not quotable. `parts` are components
    (blood pressure), each a Fact without a source of its own.
    """

    source: Source
    category: Category
    line: str
    name: str
    code: str = ""
    synonyms: tuple[str, ...] = ()
    value: Decimal | None = None
    figure: str = ""
    unit: str = ""
    ucum: str = ""
    comparator: Literal["", "<", "<=", ">", ">=", "ad"] = ""
    text_value: str = ""
    when: datetime | None = None
    end: datetime | None = None
    status: str = ""
    verification: str = ""
    low: Decimal | None = None
    high: Decimal | None = None
    interpretation: str = ""
    facility: str = ""
    method: str = ""
    dosage: str = ""
    severity: str = ""
    reactions: tuple[str, ...] = ()
    group: str = ""
    """FHIR category such as "laboratory", "vital-signs", "survey"; the encounter class for visits."""
    note: str = ""
    stale: bool = False
    borderline: bool = False
    parts: tuple[Fact, ...] = ()
    resource: str = ""
    """FHIR type/id of the entry, for example "Observation/123"."""
    codes: tuple[str, ...] = ()
    """Every coding as "system|code", in the order of the entry."""
    reasons: tuple[str, ...] = ()
    """What the entry was done, ordered or given for, as written or resolved."""
    document: str = ""
    """Id of the stored document that holds the text, for category "documents"; else empty."""
    encounter: str = ""
    """FHIR type/id of the visit that the entry belongs to; empty when none is named."""
    roughly: str = ""
    """The date as written where it names no day ("Mar 2024"): `when` is then its first moment."""
    noted: str = ""
    """What whoever made the entry says was found or why: its outcome, conclusion and notes, as they
    stand in `line`."""
    people: tuple[str, ...] = ()
    """Who saw, ordered or did it, where named, as they stand in `line`."""
    updated: datetime | None = None
    """When the entry was recorded or issued, where that is another moment than `when`."""


@value
class Contradiction:
    """Two entries that cannot both be right, and the rule that says so."""

    rule: str
    text: str
    facts: tuple[Fact, ...]


@value
class Insight:
    """A finding by rule after import: what, how grave, on which evidence, by which rule."""

    kind: Literal[
        "abnormal",
        "trend",
        "overdue",
        "drug_lab",
        "drug_allergy",
        "drug_drug",
        "drug_condition",
        "combination",
        "change",
    ]
    severity: Literal["critical", "warning", "info"]
    title: str
    text: str
    facts: tuple[Fact, ...]
    rule: str
    reference: Reference | None = None
    """The citable text of the rule, of the kinds that a table of pairs or combinations tells."""


@value
class RecordFacts:
    """What the record holds of the asked categories, newest first inside each.

    `total` counts what exists per category before the fetch limits; a category that was asked for
    and is not in `facts` has nothing recorded. `as_of` is the newest moment in the whole record,
    `None` for an empty one. `no_known_allergies` is True only with a positive entry of it.
    """

    person: Person
    facts: tuple[Fact, ...]
    total: tuple[tuple[str, int], ...] = ()
    contradictions: tuple[Contradiction, ...] = ()
    insights: tuple[Insight, ...] = ()
    as_of: datetime | None = None
    no_known_allergies: bool = False

    def of(self, category: Category) -> tuple[Fact, ...]:
        """The facts of one category, newest first."""
        return tuple(fact for fact in self.facts if fact.category == category)


@value
class RecordNeed(Need[RecordFacts]):
    """Fetch categories of the granted patient's record; allergies and alerts always come along.

    `limits` False lifts the fetch limits of EN-R2 (for counting questions answered by rule).
    `names` narrows observations to these names, codes or analytes (a panel counts as its members);
    the empty tuple is all. Totals count what is left after `names`.
    """

    categories: tuple[Category, ...]
    limits: bool = True
    names: tuple[str, ...] = ()
