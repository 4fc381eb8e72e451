"""The names of a tenant's patients, kept by a process until one is added, changed or erased."""

from __future__ import annotations

from sqlalchemy import Connection, func, select

from bedside.core.value import value
from bedside.storage.tables.record import patient

__all__ = ["Names"]


@value
class _Kept:
    stamp: tuple[object, ...]
    people: tuple[tuple[str, str], ...]
    others: dict[str, tuple[str, ...]]


class Names:
    """Whose names must not come out of somebody else's turn (G7), without reading all each time."""

    def __init__(self) -> None:
        self._kept: dict[str, _Kept] = {}

    def others(self, connection: Connection, tenant: str, but: str | None) -> tuple[str, ...]:
        """Full names of the tenant's patients, except this one's and those who share it.

        The same value comes back while nothing changed, so that an index made of it holds.
        """
        kept = self._of(connection, tenant)
        key = but or ""
        if key not in kept.others:
            own = next((name.casefold() for who, name in kept.people if who == but), None)
            if len(kept.others) > _FEW:
                kept.others.clear()
            kept.others[key] = tuple(
                name
                for who, name in kept.people
                if who != but and " " in name and name.casefold() != own
            )
        return kept.others[key]

    def _of(self, connection: Connection, tenant: str) -> _Kept:
        stamp = connection.execute(
            select(func.count(), func.max(patient.c.updated_at)).where(patient.c.tenant == tenant)
        ).one()
        kept = self._kept.get(tenant)
        if kept is None or kept.stamp != tuple(stamp):
            rows = connection.execute(
                select(patient.c.id, patient.c.name)
                .where(patient.c.tenant == tenant)
                .order_by(patient.c.id)
            )
            kept = _Kept(
                stamp=tuple(stamp), people=tuple((row.id, row.name) for row in rows), others={}
            )
            self._kept[tenant] = kept
        return kept


_FEW = 16
"""So many patients' lists are kept at a time."""
