"""What an import did, in the words of the contract."""

from __future__ import annotations

from typing import Any

from bedside.core.value import value

__all__ = ["ImportReport", "Imported", "Rejected"]


@value
class Imported:
    """A patient of the import. `changed` counts entries that are new or differ from before."""

    id: str
    name: str
    changed: int = 0
    unchanged: int = 0


@value
class Rejected:
    """A file, or a part of one, that was left out, and why. Never holds patient content."""

    path: str
    reason: str


@value
class ImportReport:
    """What an import did.

    `resources` counts every resource that was read, by type, as the files hold them; `unknown`
    counts those among them that no reader understands (they are kept as received). `documents`
    names stored texts that wait to be parsed. Every tuple of counts is sorted by type.
    """

    patients: tuple[Imported, ...] = ()
    resources: tuple[tuple[str, int], ...] = ()
    unknown: tuple[tuple[str, int], ...] = ()
    rejected: tuple[Rejected, ...] = ()
    documents: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """The contract's JSON."""
        return {
            "patients": [
                {
                    "id": patient.id,
                    "name": patient.name,
                    "changed": patient.changed,
                    "unchanged": patient.unchanged,
                }
                for patient in self.patients
            ],
            "resources": dict(self.resources),
            "unknown": dict(self.unknown),
            "rejected": [{"path": item.path, "reason": item.reason} for item in self.rejected],
            "documents": list(self.documents),
        }
