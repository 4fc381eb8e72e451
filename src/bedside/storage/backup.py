"""One file that holds a home: a snapshot of the database, the other files, and what they must be."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import sqlite3
import tarfile
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import Any

from sqlalchemy import select

from bedside import __version__
from bedside.core.errors import BadInput, Conflict, Unavailable
from bedside.core.ids import TenantId
from bedside.core.value import value
from bedside.storage import access
from bedside.storage.copying import copy_store
from bedside.storage.engine import open_engine
from bedside.storage.schema import HEAD, migrate
from bedside.storage.store import Store
from bedside.storage.tables.access import audit

__all__ = ["DATABASE", "Contents", "examine", "unpack", "write_backup"]

DATABASE = "bedside.db"
MANIFEST = "manifest.json"
FORMAT = 1
_LEFT_OUT = ("cache", "backups")
"""Folders of the home that can be built again, or are backups themselves."""
_PIECE = 1024 * 1024


@value
class Contents:
    """What a backup says of itself; everything here was checked against its bytes."""

    made_at: str
    engine: str
    schema: str
    rows: dict[str, int]
    sha256: dict[str, str]
    size: int


def write_backup(store: Store, file: Path, *, home: Path, now: datetime, force: bool) -> Contents:
    """Write a backup and read it back before it counts; writers may go on meanwhile.

    It holds the database as of one moment (on a server: copied into SQLite), the ledger of erasures
    and every other file of the home but `bedside.toml` (it may hold keys), `cache` and `backups`.
    It is made beside `file` and moved there when it has been verified.

    Raises:
        Conflict: the file exists and `force` is false.
        Unavailable: the store or the disk fails, or the snapshot does not verify; no file is left.
    """
    if file.exists() and not force:
        raise Conflict(str(file), why="it exists", do="Name another file, or give --force.")
    part = file.with_name(f".{file.name}.part")
    snapshot = file.with_name(f".{file.name}.db")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        _snapshot(store, snapshot)
        rows = _verified(snapshot)
        _pack(part, snapshot, _others(home, {file, part, snapshot}), rows=rows, now=now)
        found = examine(part)
        part.replace(file)
    except OSError as error:
        raise Unavailable(
            "the backup",
            why=f"it cannot be written ({type(error).__name__})",
            do="Check the folder, its rights and the free space.",
        ) from None
    finally:
        for left in (part, *(snapshot.with_name(snapshot.name + end) for end in _ENDS)):
            left.unlink(missing_ok=True)
    return found


_ENDS = ("", "-wal", "-shm", "-journal")


def _snapshot(store: Store, to: Path) -> None:
    to.unlink(missing_ok=True)
    if store.is_sqlite:
        held = store.engine.raw_connection()
        try:
            held.cursor().execute("VACUUM INTO ?", (str(to),))
        except sqlite3.Error as error:
            raise Unavailable(
                "the backup",
                why=f"the snapshot failed ({getattr(error, 'sqlite_errorname', 'sqlite')})",
                do="Check the free space, then try again.",
            ) from None
        finally:
            held.close()
        return
    with _opened(f"sqlite:///{to}") as copy:
        migrate(copy)
        copy_store(store, copy)


@contextlib.contextmanager
def _opened(url: str) -> Iterator[Store]:
    store = Store(open_engine(url))
    try:
        yield store
    finally:
        store.close()


def _verified(database: Path) -> dict[str, int]:
    """Check a database file whole: pages, keys, schema, audit chains. Returns rows by table.

    Raises:
        Unavailable: it does not hold.
    """
    try:
        with contextlib.closing(sqlite3.connect(database)) as plain:
            said = plain.execute("PRAGMA integrity_check").fetchone()[0]
            torn = plain.execute("PRAGMA foreign_key_check").fetchone()
            rows = _counted(plain)
    except sqlite3.DatabaseError as error:
        raise Unavailable("the snapshot", why=type(error).__name__, do="Use another.") from None
    if said != "ok" or torn is not None:
        raise Unavailable(
            "the snapshot", why="its pages or keys do not hold", do="Run `bedside doctor`."
        )
    with _opened(f"sqlite:///{database}") as store:
        migrate(store)
        tenants = store.read_now(
            lambda c: c.execute(select(audit.c.tenant).distinct()).scalars().all()
        )
        for tenant in tenants:
            verdict = store.read_now(lambda c, t=tenant: access.verify(c, tenant=TenantId(t)))
            if not verdict.ok:
                raise Unavailable(
                    "the snapshot",
                    why=f"its audit chain is broken at entry {verdict.first_bad}",
                    do="`bedside audit verify` says the same of the store itself.",
                )
    return rows


def _counted(plain: sqlite3.Connection) -> dict[str, int]:
    """Rows of every table, as it stands: a backup of an older schema has fewer."""
    names = plain.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%' ORDER BY 1"
    ).fetchall()
    counted = 'SELECT count(*) FROM "{}"'
    return {name: plain.execute(counted.format(name)).fetchone()[0] for (name,) in names}


def _others(home: Path, own: set[Path]) -> dict[str, Path]:
    """The files of the home beside the database, by their names in the backup."""
    found: dict[str, Path] = {}
    if not home.is_dir():
        return found
    skipped = {path.resolve() for path in own}
    for path in sorted(home.rglob("*")):
        name = path.relative_to(home)
        aside = name.parts[0] in _LEFT_OUT or str(name) == "bedside.toml"
        database = name.parent == Path() and name.name.startswith(DATABASE)
        hidden = name.name.startswith(".")
        if path.is_file() and not (aside or database or hidden or path.resolve() in skipped):
            found[f"home/{name.as_posix()}"] = path
    return found


def _pack(
    part: Path, snapshot: Path, others: dict[str, Path], *, rows: dict[str, int], now: datetime
) -> None:
    files = {DATABASE: snapshot, **others}
    manifest = {
        "format": FORMAT,
        "engine": __version__,
        "schema": HEAD,
        "made_at": now.isoformat(),
        "rows": rows,
        "sha256": {},
    }
    with tarfile.open(part, "w") as tar:
        for name, path in files.items():
            body = io.BytesIO(path.read_bytes()) if name != DATABASE else path.open("rb")
            with body:
                digest = hashlib.sha256()
                while piece := body.read(_PIECE):
                    digest.update(piece)
                size = body.tell()
                body.seek(0)
                head = tarfile.TarInfo(name)
                head.size, head.mtime, head.mode = size, int(now.timestamp()), 0o600
                tar.addfile(head, body)
            manifest["sha256"][name] = digest.hexdigest()
        text = json.dumps(manifest, indent=1).encode()
        head = tarfile.TarInfo(MANIFEST)
        head.size, head.mtime, head.mode = len(text), int(now.timestamp()), 0o600
        tar.addfile(head, io.BytesIO(text))
    part.chmod(0o600)
    with part.open("rb+") as file:
        os.fsync(file.fileno())


def examine(file: Path, *, into: Path | None = None) -> Contents:
    """Check every byte of a backup against its manifest; with `into`, write its files there.

    Raises:
        BadInput: it is no backup, is damaged, or a newer Bedside wrote it. What is `into` then
            counts for nothing.
    """
    found: dict[str, str] = {}
    manifest: dict[str, Any] | None = None
    try:
        with tarfile.open(file, "r:") as tar:
            for member in tar:
                stream = tar.extractfile(member) if member.isfile() else None
                if stream is None or not _safe(member.name):
                    raise _bad(file, f"it holds {member.name!r}, which no backup does")
                if member.name == MANIFEST:
                    manifest = json.loads(stream.read())
                    continue
                found[member.name] = _take(stream, into, member.name)
        if manifest is None or manifest["format"] != FORMAT:
            raise _bad(file, "it has no manifest that this version can read")
        wanted, rows = dict(manifest["sha256"]), dict(manifest["rows"])
        contents = Contents(
            made_at=str(manifest["made_at"]),
            engine=str(manifest["engine"]),
            schema=str(manifest["schema"]),
            rows={str(name): int(n) for name, n in rows.items()},
            sha256={str(name): str(digest) for name, digest in wanted.items()},
            size=file.stat().st_size,
        )
    except (tarfile.TarError, ValueError, KeyError, TypeError, EOFError) as error:
        raise _bad(file, f"it is no backup, or it is damaged ({type(error).__name__})") from None
    except FileNotFoundError:
        raise _bad(file, "there is no such file") from None
    if found != contents.sha256 or DATABASE not in found:
        raise _bad(file, "its content is not what its manifest says: it is damaged")
    return contents


def _bad(file: Path, why: str) -> BadInput:
    return BadInput(file.name, why=why, do="Use another backup; nothing was changed.")


def _safe(name: str) -> bool:
    path = PurePosixPath(name)
    plain = not path.is_absolute() and ".." not in path.parts
    return plain and (name in (DATABASE, MANIFEST) or path.parts[0] == "home")


def _take(stream: Any, into: Path | None, name: str) -> str:
    digest = hashlib.sha256()
    with contextlib.ExitStack() as stack:
        file = None
        if into is not None:
            path = into / name
            path.parent.mkdir(parents=True, exist_ok=True)
            file = stack.enter_context(path.open("wb"))
        while piece := stream.read(_PIECE):
            digest.update(piece)
            if file is not None:
                file.write(piece)
    return digest.hexdigest()


def unpack(file: Path, into: Path) -> Contents:
    """Write a backup's files into an empty folder and check the database whole.

    Raises:
        BadInput: it is no backup, is damaged, or its rows are not those of its manifest.
        Unavailable: the disk fails, or a newer Bedside wrote the database.
    """
    found = examine(file, into=into)
    rows = _verified(into / DATABASE)
    if rows != found.rows:
        raise _bad(file, "its rows are not those of its manifest")
    return found
