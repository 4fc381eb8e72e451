"""Two medicines that are taken together with risk, by a small cited table and a deployer's own."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from typing import Self

from pydantic import BaseModel, ConfigDict, model_validator

from bedside.clinical.packs import PackFile, load_pack, parse_pack
from bedside.clinical.rules import GRAVITY, Reference, Severity, deployed, means, reference
from bedside.core.value import value

__all__ = [
    "InteractionRule",
    "InteractionTable",
    "Interactions",
    "interactions_with",
    "read_table",
    "shipped",
]


@value
class InteractionRule:
    """One pair. `left` and `right` are generics, or classes as "@class".

    `text` is what the source says, without a full stop; `action` an option to consider.
    """

    id: str
    left: tuple[str, ...]
    right: tuple[str, ...]
    exempt: tuple[str, ...]
    severity: Severity
    text: str
    action: str
    reference: Reference

    def fits(self, one: str, other: str) -> bool:
        """Does the rule mean these two generics, in either order?"""
        return self._is(one, self.left, other, self.right) or self._is(
            other, self.left, one, self.right
        )

    def _is(self, a: str, left: tuple[str, ...], b: str, right: tuple[str, ...]) -> bool:
        return self._means(a, left) and self._means(b, right)

    def _means(self, generic: str, party: tuple[str, ...]) -> bool:
        # What is exempt from the classes still counts where the rule names it itself.
        return generic in party or means(generic, party, exempt=self.exempt)


class _Row(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    a: tuple[str, ...]
    b: tuple[str, ...]
    exempt: tuple[str, ...] = ()
    severity: Severity
    text: str
    action: str
    source: str


class InteractionTable(PackFile):
    """The form of an interaction table, ours or a deployer's."""

    sources: dict[str, str]
    interactions: dict[str, _Row]

    @model_validator(mode="after")
    def _cited(self) -> Self:
        open_ = sorted({row.source for row in self.interactions.values()} - set(self.sources))
        if open_:
            raise ValueError(f"sources lacks {', '.join(open_)[:200]}")
        return self


class Interactions:
    """The tables in force, a deployer's before ours; a rule of the same id replaces a later one."""

    def __init__(self, tables: Sequence[InteractionTable]) -> None:
        """Take the tables in their order."""
        self.packs = tuple(table.pack for table in tables)
        found: dict[str, InteractionRule] = {}
        rows: list[int] = []
        for table in tables:
            before = len(found)
            for key, row in table.interactions.items():
                found.setdefault(key, _rule(key, row, table))
            rows.append(len(found) - before)
        self.rules = tuple(found.values())
        self.rows = tuple(rows)
        """How many rules of each table speak: one that an earlier table replaces does not."""
        self._by_generic: dict[str, tuple[InteractionRule, ...]] = {}

    def between(
        self, one: Iterable[str], other: Iterable[str]
    ) -> tuple[tuple[InteractionRule, str, str], ...]:
        """The rules between two medicines, gravest first, each once, with the generics that met.

        Args:
            one: Generics of the first medicine (a combination has several).
            other: Generics of the second.

        Returns:
            (rule, generic of the first, generic of the second). Empty is no statement of safety.
        """
        right = tuple(other)
        found: dict[str, tuple[InteractionRule, str, str]] = {}
        for a in one:
            for b in right:
                if a == b:
                    continue
                for rule in self._of(a):
                    if rule.fits(a, b):
                        found.setdefault(rule.id, (rule, a, b))
        return tuple(sorted(found.values(), key=lambda row: (GRAVITY[row[0].severity], row[0].id)))

    def named(self, generics: Sequence[str]) -> bool:
        """Does any rule name this medicine or a class of it? Else the tables know nothing of it."""
        return any(self._of(generic) for generic in generics)

    def _of(self, generic: str) -> tuple[InteractionRule, ...]:
        known = self._by_generic.get(generic)
        if known is None:
            known = self._by_generic[generic] = tuple(
                rule
                for rule in self.rules
                if generic in (*rule.left, *rule.right)
                or means(generic, (*rule.left, *rule.right), exempt=rule.exempt)
            )
        return known


def _rule(key: str, row: _Row, table: InteractionTable) -> InteractionRule:
    return InteractionRule(
        id=key,
        left=row.a,
        right=row.b,
        exempt=row.exempt,
        severity=row.severity,
        text=row.text,
        action=row.action,
        reference=reference(
            "interaction",
            key,
            title=key.replace("-", " "),
            text=row.text,
            cite=table.sources[row.source],
            pack=table.pack,
        ),
    )


def read_table(text: str, *, what: str) -> InteractionTable:
    """A deployer's table from YAML of the same form as ours.

    Raises:
        BadInput: it is not of this form, or a rule names a source that the table does not give.
    """
    return parse_pack(InteractionTable, text, what=what)


def interactions_with(tables: Iterable[InteractionTable]) -> Interactions:
    """These tables before those of entry points and ours."""
    ours = load_pack(InteractionTable, "bedside.clinical", "data/interactions.yaml")
    return Interactions((*tables, *deployed(InteractionTable, "interactions"), ours))


@functools.cache
def shipped() -> Interactions:
    """The tables of entry points and ours, read once."""
    return interactions_with(())
