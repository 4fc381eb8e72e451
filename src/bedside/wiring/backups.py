"""Backup, restore, and the move to another database."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import make_url, text
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from bedside.core.clock import Clock
from bedside.core.errors import BedsideError, Conflict, InvalidArgument, Unavailable
from bedside.core.ids import TenantId
from bedside.settings import Settings
from bedside.storage import access, ledger
from bedside.storage.backup import DATABASE, unpack, write_backup
from bedside.storage.copying import Tell, copy_store
from bedside.storage.engine import open_engine, sqlite_url
from bedside.storage.ledger import append, read_ledger, reconcile
from bedside.storage.schema import migrate
from bedside.storage.store import Store
from bedside.wiring.ask import Who
from bedside.wiring.clock import SystemClock

if TYPE_CHECKING:
    from bedside.wiring.engine import Engine

__all__ = ["backup", "migrate_store", "restore"]


async def backup(engine: Engine, file: Path, who: Who, *, force: bool = False) -> dict[str, Any]:
    """Write one file that holds the home, verified; the store goes on working meanwhile.

    Raises:
        AccessDenied: the caller is no administrator.
        Conflict: the file exists and `force` is false.
        Unavailable: it cannot be written or does not verify; no file is left.
    """
    engine.needs_role(who, "admin")
    await asyncio.to_thread(_noted, engine.store, who, engine.clock, "backup")
    made = await asyncio.to_thread(
        write_backup,
        engine.store,
        file,
        home=engine.settings.home,
        now=engine.clock.now(),
        force=force,
    )
    return {
        "file": str(file),
        "bytes": made.size,
        "schema": made.schema,
        "made_at": made.made_at,
        "rows": made.rows,
        "sha256": made.sha256,
        "verified": ["sha256 of every file", "integrity_check", "foreign keys", "audit chain"],
        "verified_at": engine.clock.now().isoformat(),
    }


def _noted(store: Store, who: Who, clock: Clock, purpose: str) -> None:
    store.write_now(
        lambda c: access.note(
            c,
            tenant=who.tenant,
            actor=who.actor,
            action="export",
            at=clock.now(),
            purpose=purpose,
        )
    )


async def restore(
    settings: Settings, file: Path, *, force: bool = False, erasures: Path | None = None
) -> dict[str, Any]:
    """Put a backup where the settings say a home is. Nothing may have the home open.

    Patients who were erased after the backup was made stay erased: the home's ledger of erasures,
    that of the store which `force` replaces, and `erasures` (a copy kept elsewhere) are replayed
    before this returns.

    Raises:
        BadInput: the file is no backup or is damaged; nothing was changed.
        Conflict: a store is there and `force` is false, or another process has it open.
        Unavailable: the disk or the store fails.
    """
    return await asyncio.to_thread(_restore, settings, file, force, erasures)


def _restore(
    settings: Settings,
    file: Path,
    force: bool,  # noqa: FBT001
    erasures: Path | None,
) -> dict[str, Any]:
    clock, home = SystemClock(), settings.home
    given = read_ledger(erasures) if erasures is not None else []
    if erasures is not None and not erasures.exists():
        raise InvalidArgument("--erasures", found=str(erasures), want="a file that exists")
    there = home / DATABASE
    if not settings.database and there.exists() and not force:
        raise Conflict(
            "the home",
            why="a store is there already",
            do="Choose another --home, or give --force to replace it.",
        )
    try:
        home.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".restore-", dir=home) as folder:
            into = Path(folder)
            found = unpack(file, into)
            if not settings.database and there.exists():
                _closed(there)
            unread = _keep_tombstones(settings, there, clock)
            _merge(home / ledger.NAME, [into / "home" / ledger.NAME], given)
            _place(settings, into, home)
            with _store(settings.database or sqlite_url(home)) as store:
                migrate(store)
                replayed = reconcile(store, home / ledger.NAME, now=clock.now())
                verdict = store.read_now(
                    lambda c: access.verify(c, tenant=TenantId(settings.tenant))
                )
    except OSError as error:
        raise Unavailable(
            "the restore",
            why=f"the home cannot be written ({type(error).__name__})",
            do="Check its rights and the free space, then begin again.",
        ) from None
    return {
        "file": str(file),
        "home": str(home),
        "made_at": found.made_at,
        "rows": found.rows,
        "sha256": found.sha256,
        "erased_again": replayed.erased,
        "foreign_tombstones": replayed.foreign,
        "unread": unread,
        "audit": {"ok": verdict.ok, "entries": verdict.entries, "first_bad": verdict.first_bad},
        "verified_at": clock.now().isoformat(),
    }


@contextlib.contextmanager
def _store(url: str) -> Iterator[Store]:
    store = Store(open_engine(url))
    try:
        yield store
    finally:
        store.close()


def _closed(database: Path) -> None:
    """Check that no process has the database open, and bring its log into the file.

    Raises:
        Conflict: one has.
    """
    try:
        with contextlib.closing(sqlite3.connect(database, timeout=1)) as plain:
            plain.execute("PRAGMA journal_mode=DELETE")
    except sqlite3.OperationalError as error:
        if getattr(error, "sqlite_errorname", "").startswith("SQLITE_BUSY"):
            raise Conflict(
                "the home",
                why="another process has its store open",
                do="Stop `bedside serve` and every other process on it, then begin again.",
            ) from None
    except sqlite3.DatabaseError:
        return  # damaged: all the more reason to restore


def _keep_tombstones(settings: Settings, there: Path, clock: Clock) -> list[str]:
    """Bring erasures that only the store to be replaced knows of into the ledger."""
    if settings.database or not there.exists():
        return []
    try:
        with _store(f"sqlite:///{there}") as old:
            migrate(old)
            reconcile(old, settings.home / ledger.NAME, now=clock.now())
    except (BedsideError, SQLAlchemyError):
        return ["the store that was replaced: its own tombstones could not be read"]
    return []


def _merge(to: Path, others: list[Path], given: list[Any]) -> None:
    known = {(line.stone.tenant, line.stone.id) for line in read_ledger(to)}
    new = [
        line
        for line in [*(line for path in others for line in read_ledger(path)), *given]
        if (line.stone.tenant, line.stone.id) not in known
    ]
    if new:
        append(to, {(line.stone.tenant, line.stone.id): line for line in new}.values())


def _place(settings: Settings, into: Path, home: Path) -> None:
    """Move the files in; the database last and at once."""
    for path in sorted((into / "home").rglob("*")) if (into / "home").is_dir() else []:
        name = path.relative_to(into / "home")
        if path.is_file() and str(name) != ledger.NAME:
            (home / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.move(path, home / name)
    if settings.database:
        with _store(f"sqlite:///{into / DATABASE}") as old, _store(settings.database) as new:
            migrate(new)
            copy_store(old, new)
        return
    for end in ("-wal", "-shm", "-journal"):
        (home / f"{DATABASE}{end}").unlink(missing_ok=True)
    (into / DATABASE).replace(home / DATABASE)


async def migrate_store(
    engine: Engine, url: str, who: Who, *, tell: Tell | None = None
) -> dict[str, Any]:
    """Copy the whole store into an empty database of another address; nothing here changes.

    Raises:
        AccessDenied: the caller is no administrator.
        Conflict: the target holds rows.
        InvalidArgument: the address is none, or of an engine that Bedside does not know.
        Unavailable: a store fails, or a table does not read back as it was; nothing is kept.
    """
    engine.needs_role(who, "admin")
    shown = _shown(url)
    return await asyncio.to_thread(_migrate, engine, url, shown, who, tell)


def _shown(url: str) -> str:
    try:
        address = make_url(url)
    except ArgumentError:
        raise InvalidArgument(
            "--to", found="no address", want="postgresql://... or sqlite:///..."
        ) from None
    if address.get_backend_name() not in ("postgresql", "postgres", "sqlite"):
        raise InvalidArgument(
            "--to", found=address.get_backend_name(), want="postgresql://... or sqlite:///..."
        )
    return address.render_as_string(hide_password=True)


def _reached(target: Store) -> None:
    try:
        target.read_now(lambda c: c.execute(text("SELECT 1")))
    except Unavailable:
        raise Unavailable(
            "the target",
            why="no database answers at that address; nothing was copied",
            do="Check --to: the server, the name of the database, the user and the password.",
        ) from None


def _migrate(engine: Engine, url: str, shown: str, who: Who, tell: Tell | None) -> dict[str, Any]:
    try:
        with _store(url) as target:
            _reached(target)
            migrate(target)
            copied = copy_store(engine.store, target, tell=tell)
            _noted(target, who, engine.clock, "migrate-store")
            verdict = target.read_now(lambda c: access.verify(c, tenant=who.tenant))
    except SQLAlchemyError as error:
        raise Unavailable(
            "the target", why=f"it cannot be opened ({type(error).__name__})", do="Check --to."
        ) from None
    return {
        "to": shown,
        "rows": copied.rows,
        "digests": copied.digests,
        "total": sum(copied.rows.values()),
        "verified": ["rows and content of every table", "audit chain"],
        "audit": {"ok": verdict.ok, "entries": verdict.entries, "first_bad": verdict.first_bad},
        "verified_at": engine.clock.now().isoformat(),
    }
