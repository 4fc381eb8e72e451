"""Erasure: one patient removed from every store, and what is left looked for."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection

from bedside.core.errors import AccessDenied, NotFound
from bedside.core.ids import PatientId
from bedside.knowledge.index.erase import remove_patient
from bedside.record.fetch import find_patient
from bedside.storage import ledger, residue
from bedside.storage.erasure import bury, is_erased, known_patients
from bedside.storage.ledger import reconcile
from bedside.storage.scrub import database_file, scrub
from bedside.wiring.ask import Who
from bedside.wiring.identity import identifying

if TYPE_CHECKING:
    from bedside.wiring.engine import Engine

__all__ = ["erase"]

_OWN = frozenset({"audit", "erasure", "meta"})
"""Tables whose rows are about the store itself: what stands there is never somebody else's text."""


async def erase(engine: Engine, patient: str, who: Who, *, by_id: bool = False) -> dict[str, Any]:
    """Remove a patient from every store, and prove it.

    `patient` is an id, or unless `by_id` a record number or a whole name.

    The rows go in one transaction with a tombstone and an audit entry. Then the database's files
    are scrubbed, and every file of the home is searched for strings taken from the rows before they
    went. The receipt: `removed` counts rows by store; `residual_bytes` is what was found in files
    (on a server, in rows: its files are its own matter), `residual` says where; and
    `mentioned_elsewhere` counts rows of other people that hold the patient's name or id, which are
    not touched. Called again after it was cut, it searches and scrubs again.

    Raises:
        AccessDenied: the caller is no administrator, or is bound to other patients. (An
            administrator sees no record; a receipt shows none either.)
        NotFound: there is no such patient, and none was erased under this id.
        Unavailable: the store or the disk fails; before the receipt nothing is promised.
    """
    engine.needs_role(who, "admin")
    ident = patient if by_id else await engine.store.read(lambda c: _named(c, who, patient))
    if who.patients is not None and ident not in who.patients:
        raise AccessDenied("erasing this patient", need="a token that names the patient")
    return await asyncio.to_thread(_erase, engine, ident, who)


def _named(connection: Connection, who: Who, text: str) -> str:
    """The id of the patient; the text itself where no record has it: `_erase` looks further.

    It may be the id of rows without a record, which a failure left, or of somebody erased before.
    Part of a name is not enough here: what is erased does not come back.
    """
    try:
        found = find_patient(connection, who.tenant, text)
    except NotFound as error:
        if error.kind != "patient":  # more than one
            raise
        return text
    whole = " ".join(text.casefold().split()) == " ".join(found.name.casefold().split())
    if text == found.id or text in found.identifiers or whole:
        return found.id
    raise NotFound("patient", text, hint="Give the id, the record number or the whole name.")


def _erase(engine: Engine, ident: str, who: Who) -> dict[str, Any]:
    # Before anything goes: an index that cannot be reached is said now.
    indexes = () if engine.settings.vectors == "memory" else engine.texts.indexes

    def work(connection: Connection) -> tuple[residue.Needles, list[bytes], dict[str, int]]:
        tenant, patient = who.tenant, PatientId(ident)
        if ident not in known_patients(connection, tenant):
            if not is_erased(connection, tenant=tenant, who=ident):
                raise NotFound("patient", ident, hint="`bedside patients` lists them.")
            return residue.Needles([ident.encode()]), [ident.encode()], {}
        names = _names(connection, who, patient)
        needles = residue.collect(connection, tenant=tenant, who=ident, names=names)
        _, removed = bury(
            connection,
            tenant=tenant,
            who=patient,
            actor=who.actor,
            ident=uuid.uuid4().hex,
            at=engine.clock.now(),
        )
        return needles, [name.encode() for name in (ident, *names)], removed

    needles, names, removed = engine.store.write_now(work)
    home = engine.settings.home
    if home.is_dir():
        reconcile(engine.store, home / ledger.NAME, now=engine.clock.now())
    gone = remove_patient(indexes, tenant=who.tenant, patient=ident)
    removed.update({f"index:{name}": n for name, n in gone.items()})
    left, elsewhere = _verify(engine, needles, names)
    return {
        "patient": ident,
        "removed": removed,
        "residual_bytes": sum(item["bytes"] for item in left),
        "residual": left,
        "mentioned_elsewhere": elsewhere,
        "searched": {"strings": len(needles), "files": len(_files(engine))},
        "verified_at": engine.clock.now().isoformat(),
    }


def _names(connection: Connection, who: Who, patient: PatientId) -> list[str]:
    """What identifies the patient: names, record numbers, telephone numbers, addresses."""
    found = list(identifying(connection, who.tenant, patient))
    try:
        person = find_patient(connection, who.tenant, patient)
    except NotFound:
        return found
    return list(dict.fromkeys([person.name, person.name.casefold(), *person.identifiers, *found]))


def _verify(
    engine: Engine, needles: residue.Needles, names: Sequence[bytes]
) -> tuple[list[dict[str, Any]], dict[str, int]]:
    """(what is left, by place; rows of others that hold a name or the id, by table)."""
    rows = engine.store.read_now(lambda c: residue.in_rows(c, needles))
    own = [hit for hit in rows if hit.place in _OWN]
    others = {hit.needle for hit in rows if hit.place not in _OWN}
    elsewhere: dict[str, int] = {}
    for hit in rows:
        if hit.place not in _OWN and hit.needle in names:
            elsewhere[hit.place] = elsewhere.get(hit.place, 0) + len(hit.offsets)
    if not engine.store.is_sqlite:
        return _by_place([*own, *_in_files(engine, needles, others)], engine), elsewhere
    left: list[residue.Hit] = []
    for rebuild in (False, True):
        scrub(engine.store, rebuild=rebuild)
        left = _in_files(engine, needles, others)
        if not left:
            break
    return _by_place(left, engine), elsewhere


def _in_files(engine: Engine, needles: residue.Needles, others: set[bytes]) -> list[residue.Hit]:
    """Hits in files, but for what other people's rows rightly hold as well."""
    found = residue.in_files(needles, _files(engine))
    return [hit for hit in found if hit.needle not in others]


def _files(engine: Engine) -> list[Path]:
    return residue.files_of(engine.settings.home, database_file(engine.store))


def _by_place(hits: Sequence[residue.Hit], engine: Engine) -> list[dict[str, Any]]:
    home = f"{engine.settings.home}/"
    found = residue.sizes(hits).items()
    return [{"place": place.removeprefix(home), "bytes": n} for place, n in sorted(found)]
