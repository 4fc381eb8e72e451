"""What `bedside doctor` says of kept data: documents' bytes, cut uploads, leftovers of erasures."""

from __future__ import annotations

import asyncio
import hashlib
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, func, select

from bedside.core.errors import OutsideError
from bedside.core.ids import ActorId, TenantId
from bedside.storage import access
from bedside.storage.erasure import is_erased, leftovers, remove_rows, tombstones
from bedside.storage.scrub import scrub
from bedside.storage.tables.record import document

if TYPE_CHECKING:
    from bedside.wiring.engine import Engine

__all__ = ["kept"]

_AT_ONCE = 20
_WAITS = ("queued", "processing", "failed_transient")


async def kept(engine: Engine, *, repair: bool) -> list[dict[str, Any]]:
    """Two checks. `repair` reads every document's bytes, takes up cut uploads and removes leftovers."""
    return [
        await _documents(engine, repair=repair),
        await asyncio.to_thread(_erasures, engine, repair=repair),
    ]


async def _documents(engine: Engine, *, repair: bool) -> dict[str, Any]:
    if repair:
        await engine.texts.index_waiting((), engine.local())
    waiting, total = await engine.store.read(_waiting)
    said = [f"{total:,} documents"]
    if waiting:
        said.append(f"{waiting} not read yet (`--repair` reads them)")
    wrong = await engine.store.read(_unlike) if repair else 0
    if repair:
        said.append(f"{wrong} whose bytes are not what was received")
    return {"name": "documents", "ok": not wrong, "detail": "; ".join(said)}


def _waiting(connection: Connection) -> tuple[int, int]:
    count = select(func.count()).select_from(document)
    waits = connection.execute(count.where(document.c.status.in_(_WAITS))).scalar_one()
    return waits, connection.execute(count).scalar_one()


def _unlike(connection: Connection) -> int:
    """Documents whose kept bytes differ from their digest, or that were uploaded and have none."""
    query = select(document.c.sha256, document.c.content, document.c.origin)
    rows = connection.execute(query.execution_options(yield_per=_AT_ONCE))
    return sum(
        row.origin == "" if row.content is None else not _same(row.content, row.sha256)
        for row in rows
    )


def _same(content: bytes, sha256: str) -> bool:
    return hashlib.sha256(content).hexdigest() == sha256


def _erasures(engine: Engine, *, repair: bool) -> dict[str, Any]:
    removed = engine.store.write_now(lambda c: _remove(c, engine)) if repair else 0
    stones, found = engine.store.read_now(lambda c: (len(tombstones(c)), leftovers(c)))
    said = [f"{stones} patients erased"]
    clean = True
    if repair:
        said.append(f"{removed} leftover rows removed")
        try:
            clean = scrub(engine.store, rebuild=bool(stones or removed))
        except OutsideError as error:
            return {"name": "erasures", "ok": False, "detail": str(error)}
        if not clean:
            said.append("another process keeps the write-ahead log from being emptied")
    if found:
        rows = sum(sum(tables.values()) for tables in found.values())
        said.append(
            f"{rows} rows of {len(found)} patients who have no record: `--repair` removes those of "
            "erased patients; erase the others by id, or import their records again"
        )
    return {"name": "erasures", "ok": not found and clean, "detail": "; ".join(said)}


def _remove(connection: Connection, engine: Engine) -> int:
    """Remove rows of patients who were erased and have no record; others are left to a person."""
    total = 0
    for tenant, who in leftovers(connection):
        known = TenantId(tenant)
        if not is_erased(connection, tenant=known, who=who):
            continue
        total += sum(remove_rows(connection, tenant=tenant, who=who).values())
        access.redact(connection, tenant=known, patient=who)
        access.note(
            connection,
            tenant=known,
            actor=ActorId("doctor"),
            action="erase",
            at=engine.clock.now(),
            purpose="leftovers",
        )
    return total
