"""What `bedside doctor` looks at."""

from __future__ import annotations

import asyncio
import shutil
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import and_, delete, func, select, text

from bedside import __version__
from bedside.clinical.packs import Pack, PackFile, parse_pack
from bedside.core.errors import BedsideError, OutsideError
from bedside.knowledge.index.snapshot import MOST_VECTORS
from bedside.knowledge.writing import lacking
from bedside.storage import turns
from bedside.storage.tables.knowledge import chunk_vector
from bedside.storage.tables.source import chunk
from bedside.storage.tables.turn import turn
from bedside.wiring.hints import why_deaf
from bedside.wiring.leftovers import kept

if TYPE_CHECKING:
    from bedside.wiring.engine import Engine

__all__ = ["examine", "packs"]

SMALL_DISK = 500_000_000
_SAME_CHUNK = and_(chunk_vector.c.tenant == chunk.c.tenant, chunk_vector.c.chunk == chunk.c.id)


async def examine(engine: Engine, *, repair: bool) -> dict[str, Any]:
    """Checks, each with what was found, and every setting with where it came from."""
    checks = [
        {"name": "version", "ok": True, "detail": f"Bedside {__version__}"},
        await _store(engine),
        await _cut(engine, repair=repair),
        await _waiting(engine, repair=repair),
        await _size(engine),
        *await _outside(engine, repair=repair),
        *await kept(engine, repair=repair),
        _disk(engine),
        _embedder(engine),
        _hints(engine),
        _models(engine),
        await _audit(engine),
        _packs(),
        _tables(engine),
    ]
    return {
        "ok": all(check["ok"] for check in checks),
        "checks": checks,
        "tables": engine.turning.tables,
        "settings": [
            {
                "name": item.name,
                "shown": item.shown,
                "origin": item.origin,
                "variable": item.variable,
                "about": item.about,
            }
            for item in engine.settings.origins
        ],
    }


def _check(name: str, detail: str, *, ok: bool = True) -> dict[str, Any]:
    return {"name": name, "ok": ok, "detail": detail}


async def _store(engine: Engine) -> dict[str, Any]:
    try:
        if engine.store.is_sqlite:
            found = await engine.store.read(
                lambda c: c.execute(text("PRAGMA integrity_check")).scalar()
            )
            mode = await engine.store.read(
                lambda c: c.execute(text("PRAGMA journal_mode")).scalar()
            )
            return _check("store", f"SQLite, {mode}, integrity {found}", ok=found == "ok")
        await engine.store.read(lambda c: c.execute(text("SELECT 1")).scalar())
    except OutsideError as error:
        return _check("store", str(error), ok=False)
    return _check("store", engine.store.engine.dialect.name)


async def _cut(engine: Engine, *, repair: bool) -> dict[str, Any]:
    if not repair:
        n = await engine.store.read(
            lambda c: c.execute(
                select(func.count()).select_from(turn).where(turn.c.status == "open")
            ).scalar_one()
        )
        if not n:
            return _check("turns", "none is open")
        return _check("turns", f"open: {n:,}; --repair closes those whose process died")
    closed = await engine.store.write(lambda c: turns.recover(c, now=engine.clock.now()))
    return _check("turns", f"cut short and closed: {closed:,}")


async def _waiting(engine: Engine, *, repair: bool) -> dict[str, Any]:
    """Documents without vectors of the embedder in use; `repair` removes those of other models."""
    embedder = engine.texts.embedder
    if embedder is None:
        return _check("index", "every document is searchable by words; embeddings are switched off")
    model = str(embedder.id)
    shared = bool(engine.texts.embedded_elsewhere)
    n = await engine.store.read(lambda c: lacking(c, model, shared=shared))
    if n:
        return _check(
            "index",
            f"{n:,} of the documents by words only: a running server or worker makes their vectors",
        )
    said = "every document is searchable by words and vectors"
    if shared:
        said = (
            "every guideline is searchable by words and vectors, patients' documents by words alone"
        )
    others = chunk_vector.c.model != model
    if repair:
        gone = await engine.store.write(
            lambda c: c.execute(delete(chunk_vector).where(others)).rowcount
        )
        return _check("index", f"{said}; vectors of other models removed: {gone:,}")
    old = await engine.store.read(
        lambda c: c.execute(select(func.count()).where(others)).scalar_one()
    )
    more = f"; {old:,} vectors of other models, which --repair removes" if old else ""
    return _check("index", said + more)


async def _size(engine: Engine) -> dict[str, Any]:
    """Vectors of shared knowledge: a patient's own are read for each question, and weigh nothing here."""
    n = await engine.store.read(
        lambda c: c.execute(
            select(func.count())
            .select_from(chunk_vector.join(chunk, _SAME_CHUNK))
            .where(chunk.c.patient.is_(None))
        ).scalar_one()
    )
    if engine.settings.vectors != "memory":
        most = engine.settings.vectors_in_memory
        where = "memory" if n <= most else engine.settings.vectors
        return _check("size", f"{n:,} vectors of knowledge, searched in {where} (bound {most:,})")
    if n <= MOST_VECTORS:
        return _check("size", f"{n:,} vectors of knowledge, searched in memory")
    return _check(
        "size",
        f"{n:,} vectors of knowledge: above the tested bound of {MOST_VECTORS:,} for search in "
        "memory. Set BEDSIDE_VECTORS to pgvector (in a PostgreSQL store) or to qdrant.",
        ok=False,
    )


async def _outside(engine: Engine, *, repair: bool) -> list[dict[str, Any]]:
    """How the index outside the rows stands; `repair` compares every document and mends."""
    name = engine.settings.vectors
    if name == "memory":
        return []
    try:
        outside = engine.texts.outside
        if outside is None:
            return [_check("vectors", f"{name} is set, and embeddings are switched off")]
        mended = await asyncio.to_thread(outside.follower.repair) if repair else 0
        found = await asyncio.to_thread(outside.follower.standings)
    except BedsideError as error:
        return [_check("vectors", str(error), ok=False)]
    held, wanted = sum(one.held for one in found), sum(one.wanted for one in found)
    behind = sum(one.head - one.mark for one in found)
    detail = f"{name}: {held:,} of {wanted:,} vectors, {behind:,} changes behind"
    if repair:
        detail += f"; documents mended: {mended}"
    elif held != wanted:
        detail += "; `bedside doctor --repair` mends it"
    return [_check("vectors", detail, ok=all(one.held == one.wanted for one in found))]


def _disk(engine: Engine) -> dict[str, Any]:
    home = engine.settings.home.absolute()  # it need not exist where the store is elsewhere
    place = next(path for path in (home, *home.parents) if path.is_dir())
    free = shutil.disk_usage(place).free
    return _check("disk", f"{free / 1e9:.1f} GB free", ok=free > SMALL_DISK)


def _embedder(engine: Engine) -> dict[str, Any]:
    if engine.settings.embedder == "none":
        return _check("embeddings", "switched off: search by words only")
    try:
        said = engine.texts.embedder_id()
        if to := engine.texts.embedded_elsewhere:
            how = engine.models.egress.deidentify
            said += f"; guidelines and questions go to {to}, identifiers "
            said += "removed from questions" if how else "kept"
        return _check("embeddings", said)
    except BedsideError as error:
        return _check("embeddings", str(error), ok=False)


def _hints(engine: Engine) -> dict[str, Any]:
    deaf = why_deaf(engine.settings, engine.texts.embedder)
    said = f"rules alone: {deaf}" if deaf else "rules, and the local embedder behind them"
    return _check("danger", said)


def _models(engine: Engine) -> dict[str, Any]:
    links = [link.spec for link in engine.models.writer]
    if not links:
        return _check("models", "none: rules and the extractive writer answer")
    return _check("models", ", ".join([*links, "extractive"]) + f"; {engine.egress_notice()}")


async def _audit(engine: Engine) -> dict[str, Any]:
    found = await engine.verify_audit(engine.local())
    if found["ok"]:
        return _check("audit", f"{found['entries']:,} entries, the chain is whole")
    return _check("audit", f"the chain is broken at entry {found['first_bad']}", ok=False)


def _packs() -> dict[str, Any]:
    waiting = [pack["id"] for pack in packs() if pack["review_status"] != "reviewed"]
    if not waiting:
        return _check("content", "every clinical pack is reviewed")
    return _check("content", f"{len(waiting)} clinical packs are not reviewed by a clinician")


def _tables(engine: Engine) -> dict[str, Any]:
    """The tables that a deployer may add to, each with its version, rules and review state."""
    today = engine.clock.now().date().isoformat()
    return _check(
        "tables",
        "; ".join(
            f"{one['title']} {one['version']} ({one['table']}, {one['rows']} rule{'s' * (one['rows'] != 1)}, "
            + (f"reviewed by {one['reviewer']}" if one["reviewer"] else "not clinically reviewed")
            + (f", review was due {one['review_due']}" if one["review_due"] < today else "")
            + (f", not known here: {', '.join(one['unknown'][:5])}" if one["unknown"] else "")
            + ")"
            for one in engine.turning.tables
        ),
    )


@cache
def _bundled() -> tuple[Pack, ...]:
    """The head of every data file that ships with one."""
    found: list[Pack] = []
    for package in ("bedside.clinical", "bedside.flows.copilot", "bedside.grounding"):
        for file in sorted(Path(str(files(package))).rglob("*.yaml")):
            head = _head(file.read_text(encoding="utf-8"))
            if head is not None:
                found.append(head)
    return tuple(found)


def _head(text: str) -> Pack | None:
    """The pack header of a file: the lines from `pack:` to the next line that is not indented."""
    lines = text.splitlines()
    starts = [index for index, line in enumerate(lines) if line.startswith("pack:")]
    if not starts:
        return None
    end = starts[0] + 1
    while end < len(lines) and (not lines[end].strip() or lines[end][0] in " #"):
        end += 1
    return parse_pack(PackFile, "\n".join(lines[starts[0] : end]), what="pack header").pack


def packs() -> list[dict[str, Any]]:
    """Every clinical pack with its review state."""
    return [
        {
            "id": pack.id,
            "version": pack.version,
            "review_status": pack.review_status,
            "review_due": pack.review_due.isoformat(),
            "source": pack.source,
            "licence": pack.licence,
        }
        for pack in _bundled()
    ]
