"""Tombstones kept beside the database, so that a restored backup brings nobody back."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import Path

from sqlalchemy import Connection

from bedside.core.errors import BadInput
from bedside.core.ids import ActorId, PatientId, TenantId
from bedside.core.value import value
from bedside.storage import access
from bedside.storage.erasure import Tombstone, bury, known_patients, put, tombstones
from bedside.storage.scrub import scrub
from bedside.storage.secret import reference, secret
from bedside.storage.store import Store

__all__ = ["NAME", "Replayed", "append", "read_ledger", "reconcile"]

NAME = "erasures.jsonl"
"""The file's name in the home. One line an erasure; it holds keyed hashes and times, no content."""


@value
class Line:
    """A tombstone with the mark of the key that its hash was made with."""

    stone: Tombstone
    key: str


@value
class Replayed:
    """What `reconcile` did. `erased` patients had come back; `foreign` tombstones are another store's."""

    erased: int
    written: int
    foreign: int


def read_ledger(path: Path) -> list[Line]:
    """The lines of a ledger in order; none where there is no file. A torn last line is left out.

    Raises:
        BadInput: a line inside is not one of ours.
    """
    if not path.exists():
        return []
    lines = path.read_bytes().split(b"\n")
    found: list[Line] = []
    for n, text in enumerate(lines, start=1):
        if not text.strip():
            continue
        line = _read(text)
        if line is not None:
            found.append(line)
        elif n < len(lines):  # the last one may be torn: the process was killed as it wrote
            raise BadInput(
                path.name,
                why=f"line {n} is no tombstone",
                do="Put back the copy that you keep of it.",
            )
    return found


def _read(text: bytes) -> Line | None:
    try:
        item = json.loads(text)
        stone = Tombstone(
            tenant=item["tenant"],
            id=item["id"],
            patient=item["patient"],
            actor=item["actor"],
            at=datetime.fromisoformat(item["at"]),
        )
        return Line(stone=stone, key=item["key"])
    except (ValueError, KeyError, TypeError):
        return None


def append(path: Path, lines: Iterable[Line]) -> None:
    """Write lines to the end; when this returns, they are on the disk."""
    body = b"".join(
        json.dumps(
            {
                "tenant": line.stone.tenant,
                "id": line.stone.id,
                "patient": line.stone.patient,
                "actor": line.stone.actor,
                "at": line.stone.at.isoformat(),
                "key": line.key,
            },
            ensure_ascii=False,
        ).encode()
        + b"\n"
        for line in lines
    )
    with path.open("ab+") as file:
        file.seek(0)
        whole = file.read()
        tail = whole[whole.rfind(b"\n") + 1 :]
        if tail and _read(tail) is not None:
            body = b"\n" + body
        elif tail:  # torn: what it was to say is in the database, and is written now
            file.truncate(len(whole) - len(tail))
        file.write(body)
        file.flush()
        os.fsync(file.fileno())


def reconcile(store: Store, path: Path, *, now: datetime) -> Replayed:
    """Make the ledger and the database agree; call before anything is served.

    A tombstone that the ledger has and the database lacks is of a time after the backup that the
    database came from: the patient is erased again. One that the database has and the ledger lacks
    is written there.

    Raises:
        BadInput: the ledger cannot be read.
        Unavailable: the store or the disk fails.
    """
    kept = read_ledger(path)
    there = store.read_now(tombstones)
    known = {(line.stone.tenant, line.stone.id) for line in kept}
    have = {(stone.tenant, stone.id) for stone in there}
    missing = [line for line in kept if (line.stone.tenant, line.stone.id) not in have]
    erased = foreign = 0
    if missing:
        erased, foreign = store.write_now(lambda c: _replay(c, missing, now))
        if erased:
            scrub(store, rebuild=True)
    unwritten = [stone for stone in there if (stone.tenant, stone.id) not in known]
    if unwritten:
        mark = store.write_now(lambda c: mark_of(secret(c, "patient")))
        append(path, [Line(stone=stone, key=mark) for stone in unwritten])
    return Replayed(erased=erased, written=len(unwritten), foreign=foreign)


def mark_of(key: bytes) -> str:
    """What names a key without giving it away."""
    return hashlib.sha256(b"bedside tombstone key\0" + key).hexdigest()[:12]


def _replay(connection: Connection, missing: Sequence[Line], now: datetime) -> tuple[int, int]:
    key = secret(connection, "patient")
    mark = mark_of(key)
    erased = foreign = 0
    for line in missing:
        stone = line.stone
        if line.key != mark:
            foreign += 1
            continue
        tenant = TenantId(stone.tenant)
        back = [
            who
            for who in sorted(known_patients(connection, tenant))
            if reference(key, tenant, who) == stone.patient
        ]
        if not back:
            put(connection, stone)
            access.note(
                connection,
                tenant=tenant,
                actor=ActorId(stone.actor),
                action="erase",
                at=now,
                patient=PatientId(stone.patient),
                purpose="replayed: not in this store",
            )
        for who in back:
            bury(
                connection,
                tenant=tenant,
                who=PatientId(who),
                actor=ActorId(stone.actor),
                ident=stone.id,
                at=stone.at,
                now=now,
                purpose="replayed",
            )
            erased += 1
    return erased, foreign
