"""Groups of medicines of which one is usually taken at a time."""

from __future__ import annotations

import functools
from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict

from bedside.clinical.packs import Pack, PackFile, load_pack
from bedside.clinical.rules import Reference, Severity, means, reference
from bedside.core.value import value

__all__ = ["DuplicateGroup", "duplicate_groups", "duplicate_pack"]


@value
class DuplicateGroup:
    """One group; `name` is its plural as said to a reader."""

    id: str
    name: str
    classes: tuple[str, ...]
    exempt: tuple[str, ...]
    severity: Severity
    reference: Reference

    def member(self, generics: Sequence[str]) -> str:
        """The generic of a medicine that is in the group, "" where none is."""
        party = tuple(f"@{key}" for key in self.classes)
        return next((one for one in generics if means(one, party, exempt=self.exempt)), "")


class _Row(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    classes: tuple[str, ...]
    exempt: tuple[str, ...] = ()
    severity: Severity
    source: str


class _Duplicates(PackFile):
    sources: dict[str, str]
    groups: dict[str, _Row]


def duplicate_pack() -> Pack:
    """The table that the groups come from."""
    return _file().pack


@functools.cache
def duplicate_groups() -> tuple[DuplicateGroup, ...]:
    """Every group, in the table's order."""
    table = _file()
    return tuple(
        DuplicateGroup(
            id=key,
            name=row.name,
            classes=row.classes,
            exempt=row.exempt,
            severity=row.severity,
            reference=reference(
                "duplicate",
                key,
                title=row.name,
                text=f"usually one of the {row.name} is taken at a time; a second is often left "
                "over from a change",
                cite=table.sources[row.source],
                pack=table.pack,
            ),
        )
        for key, row in table.groups.items()
    )


@functools.cache
def _file() -> _Duplicates:
    return load_pack(_Duplicates, "bedside.clinical", "data/duplicates.yaml")
