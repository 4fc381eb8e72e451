"""Hot data: SOPs, flags, prompt overrides, prices and packs as versioned rows, read by epoch.

An edit gets the tenant's next epoch. A process compares epochs at each turn's opening, so every
process sees an edit at its next turn; old versions are kept.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, func, insert, select

from bedside.core.errors import Conflict
from bedside.core.value import value
from bedside.storage.tables.jobs import catalogue

__all__ = ["KINDS", "Edition", "Live", "epoch_of", "history", "live", "put"]

KINDS = ("prompt", "price", "sop", "flag", "pack")


@value
class Edition:
    """One version of one entry. `body` is the JSON value; `None` withdraws the entry."""

    kind: str
    key: str
    version: int
    epoch: int
    by: str
    at: datetime
    body: Any


@value
class Live:
    """What is live for a tenant at `epoch`: kind -> key -> edition. Withdrawn entries are absent."""

    epoch: int
    entries: Mapping[str, Mapping[str, Edition]]

    def bodies(self, kind: str) -> dict[str, Any]:
        """Key -> body of that kind."""
        return {key: edition.body for key, edition in self.entries.get(kind, {}).items()}


def epoch_of(connection: Connection, tenant: str) -> int:
    """The tenant's newest epoch; 0 where nothing was ever edited."""
    return (
        connection.execute(
            select(func.max(catalogue.c.epoch)).where(catalogue.c.tenant == tenant)
        ).scalar()
        or 0
    )


def live(connection: Connection, tenant: str) -> Live:
    """The newest version of every entry."""
    newest = (
        select(catalogue.c.kind, catalogue.c.key, func.max(catalogue.c.version).label("version"))
        .where(catalogue.c.tenant == tenant)
        .group_by(catalogue.c.kind, catalogue.c.key)
        .subquery()
    )
    rows = connection.execute(
        select(catalogue)
        .join(
            newest,
            (catalogue.c.kind == newest.c.kind)
            & (catalogue.c.key == newest.c.key)
            & (catalogue.c.version == newest.c.version),
        )
        .where(catalogue.c.tenant == tenant)
        .order_by(catalogue.c.kind, catalogue.c.key)
    )
    entries: dict[str, dict[str, Edition]] = {}
    for row in rows:
        edition = _edition(row)
        if edition.body is not None:
            entries.setdefault(row.kind, {})[row.key] = edition
    return Live(epoch=epoch_of(connection, tenant), entries=entries)


def history(connection: Connection, tenant: str, kind: str, key: str) -> tuple[Edition, ...]:
    """Every version of one entry, oldest first."""
    rows = connection.execute(
        select(catalogue)
        .where(catalogue.c.tenant == tenant, catalogue.c.kind == kind, catalogue.c.key == key)
        .order_by(catalogue.c.version)
    )
    return tuple(_edition(row) for row in rows)


def put(
    connection: Connection,
    *,
    tenant: str,
    kind: str,
    key: str,
    body: Any,
    by: str,
    at: datetime,
    expected: int | None = None,
) -> Edition:
    """Write the next version; it is live at once. `expected` is the version that was edited.

    Raises:
        Conflict: somebody else saved a version in between.
    """
    last = (
        connection.execute(
            select(func.max(catalogue.c.version)).where(
                catalogue.c.tenant == tenant, catalogue.c.kind == kind, catalogue.c.key == key
            )
        ).scalar()
        or 0
    )
    if expected is not None and expected != last:
        raise Conflict(
            f"{kind} {key!r}",
            why=f"version {last} was saved since version {expected} was read",
            do="Read it again and repeat the edit.",
        )
    edition = Edition(
        kind=kind,
        key=key,
        version=last + 1,
        epoch=epoch_of(connection, tenant) + 1,
        by=by,
        at=at,
        body=body,
    )
    connection.execute(
        insert(catalogue).values(
            tenant=tenant,
            kind=kind,
            key=key,
            version=edition.version,
            epoch=edition.epoch,
            body=json.dumps(body, ensure_ascii=False, sort_keys=True),
            by=by,
            at=at,
        )
    )
    return edition


def _edition(row: Any) -> Edition:
    return Edition(
        kind=row.kind,
        key=row.key,
        version=row.version,
        epoch=row.epoch,
        by=row.by,
        at=row.at,
        body=json.loads(row.body),
    )
