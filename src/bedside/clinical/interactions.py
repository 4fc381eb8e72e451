"""Two medicines that are taken together with risk, by a small cited table and a deployer's own."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence

from pydantic import BaseModel, ConfigDict

from bedside.clinical.packs import Pack, PackFile, load_pack
from bedside.clinical.rules import Reference, Severity, deployed, means, reference
from bedside.core.value import value

__all__ = [
    "InteractionRule",
    "InteractionTable",
    "interaction_packs",
    "interaction_rules",
    "interactions_between",
    "named_in_table",
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


def interaction_packs() -> tuple[Pack, ...]:
    """The tables in force: a deployer's first, then ours."""
    return tuple(table.pack for table in _tables())


@functools.cache
def interaction_rules() -> tuple[InteractionRule, ...]:
    """Every rule, a deployer's first; a deployer's rule of the same id replaces ours."""
    found: dict[str, InteractionRule] = {}
    for table in _tables():
        for key, row in table.interactions.items():
            if key in found:
                continue
            found[key] = InteractionRule(
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
    return tuple(found.values())


def interactions_between(
    one: Iterable[str], other: Iterable[str]
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
            for rule in _rules_of(a):
                if rule.fits(a, b):
                    found.setdefault(rule.id, (rule, a, b))
    order = {"critical": 0, "warning": 1, "info": 2}
    return tuple(sorted(found.values(), key=lambda row: (order[row[0].severity], row[0].id)))


def named_in_table(generics: Sequence[str]) -> bool:
    """Does any rule name this medicine or a class of it? Else the table knows nothing about it."""
    return any(_rules_of(generic) for generic in generics)


@functools.lru_cache(maxsize=2048)
def _rules_of(generic: str) -> tuple[InteractionRule, ...]:
    return tuple(
        rule
        for rule in interaction_rules()
        if generic in (*rule.left, *rule.right)
        or means(generic, (*rule.left, *rule.right), exempt=rule.exempt)
    )


@functools.cache
def _tables() -> tuple[InteractionTable, ...]:
    ours = load_pack(InteractionTable, "bedside.clinical", "data/interactions.yaml")
    return (*deployed(InteractionTable, "interactions"), ours)
