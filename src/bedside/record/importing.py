"""Import: files to patients, each patient whole or not at all.

Two passes. The first reads every file once and keeps places and names on the desk, so that a
patient's resources may be spread over files and an NDJSON export is never held in memory. The
second takes one patient at a time, reads that patient's resources again, makes facts, lays them on
the desk, and writes them in one transaction: a kill leaves a patient as before or as after.
"""

from __future__ import annotations

import hashlib
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, select

from bedside.core.clock import Clock
from bedside.core.errors import BadInput, Conflict
from bedside.core.ids import ActorId, PatientId, TenantId
from bedside.record.attachments import attachments_of
from bedside.record.desk import Desk, Located, open_desk
from bedside.record.fhir.around import Around
from bedside.record.fhir.decode import encode, parse
from bedside.record.fhir.person import read_person
from bedside.record.fhir.readers import DIRECTORY, READERS, read
from bedside.record.files import Bytes, RecordFile, found_files, open_file
from bedside.record.needs import Person
from bedside.record.report import Imported, ImportReport, Rejected
from bedside.record.sorting import sort_file
from bedside.record.writing import (
    Kept,
    Known,
    Prepared,
    batches,
    known_of,
    lines_of,
    stored_of,
    write_directory,
    write_patient,
    write_resources,
)
from bedside.storage import access
from bedside.storage.store import Store
from bedside.storage.tables.record import directory

__all__ = ["Also", "Progress", "import_bundle", "import_paths"]

Progress = Callable[[str, int, int], None]
"""Called with what is being done ("reading", "writing"), how many are done, of how many."""
Also = Callable[[Connection, str], None]
"""Called with the id of a patient to whom something is written, in the transaction that writes it."""

IMPORTER = ActorId("import")
_TRIES = 8
_READ_ALONG = {"Binary"}


@dataclass(slots=True)
class _Import:
    """The state of one import: its files, and on the desk what the first pass found in them."""

    store: Store
    tenant: TenantId
    actor: ActorId
    clock: Clock
    desk: Desk
    files: list[RecordFile] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    rejected: list[Rejected] = field(default_factory=list)
    also: Also | None = None


def import_paths(
    store: Store,
    paths: Sequence[Path],
    *,
    tenant: TenantId,
    clock: Clock,
    actor: ActorId = IMPORTER,
    progress: Progress | None = None,
    also: Also | None = None,
) -> ImportReport:
    """Import files and folders of FHIR R4 bundles, NDJSON exports and simple patient JSON.

    A file that cannot be read is rejected with its reason, whole; the others are imported. One
    audit entry is written per patient. Importing the same again changes nothing.

    Raises:
        Unavailable: the store fails, or there is no room for temporary files. Patients that were
            written before are whole, the others are as they were.
    """
    files, missing = found_files(paths)
    with open_desk() as desk:
        job = _Import(store=store, tenant=tenant, actor=actor, clock=clock, desk=desk, also=also)
        job.rejected += [Rejected(path=str(path), reason=why) for path, why in missing]
        for done, path in enumerate(files):
            if progress:
                progress("reading", done, len(files))
            try:
                _take(job, open_file(path), str(path))
            except BadInput as error:
                job.rejected.append(Rejected(path=str(path), reason=str(error)))
        try:
            return _write_all(job, progress)
        finally:
            for file in job.files:
                file.release()


def import_bundle(
    store: Store,
    bundle: bytes | Mapping[str, Any],
    *,
    tenant: TenantId,
    clock: Clock,
    actor: ActorId = IMPORTER,
    what: str = "bundle",
    also: Also | None = None,
) -> ImportReport:
    """Import one bundle (or simple patient JSON) from bytes or from plain objects.

    Raises:
        BadInput: it cannot be read; nothing is changed.
        Unavailable: as for `import_paths`.
    """
    body = bundle if isinstance(bundle, bytes) else encode(bundle).encode(errors="replace")
    with open_desk() as desk:
        job = _Import(store=store, tenant=tenant, actor=actor, clock=clock, desk=desk, also=also)
        _take(job, Bytes(what, lambda: body), what)
        return _write_all(job, None)


def _take(job: _Import, file: RecordFile, path: str) -> None:
    counts = sort_file(file, len(job.files), job.desk)
    file.release()
    job.files.append(file)
    job.paths.append(path)
    job.counts.update(counts)


def _write_all(job: _Import, progress: Progress | None) -> ImportReport:
    if next(job.desk.names(), None):
        job.store.write_now(lambda c: write_directory(c, job.tenant, job.desk.names()))
    job.store.read_now(lambda c: job.desk.tell(_directory(c, job.tenant)))
    owners = [owner for owner in job.desk.patients() if owner[0]]
    imported: list[Imported] = []
    waiting: list[str] = []
    last: int | None = None
    for done, (ident, first) in enumerate(owners):
        if progress:
            progress("writing", done, len(owners))
        if last is not None and last != first:
            job.files[last].release()
        last = first
        outcome = _write_one(job, ident, first)
        if outcome is not None:
            person, kept = outcome
            waiting += kept.documents
            imported.append(
                Imported(id=ident, name=person, changed=kept.changed, unchanged=kept.unchanged)
            )
    _write_loose(job)
    return _report(job, imported, waiting)


def _directory(connection: Connection, tenant: TenantId) -> Iterator[tuple[str, str]]:
    rows = connection.execute(
        select(directory.c.key, directory.c.name).where(directory.c.tenant == tenant),
        execution_options={"yield_per": 1000},
    )
    return ((key, name) for key, name in rows)


def _report(job: _Import, imported: list[Imported], waiting: list[str]) -> ImportReport:
    known = READERS.keys() | DIRECTORY | _READ_ALONG
    return ImportReport(
        patients=tuple(imported),
        resources=tuple(sorted(job.counts.items())),
        unknown=tuple(sorted((kind, n) for kind, n in job.counts.items() if kind not in known)),
        rejected=tuple(job.rejected),
        documents=tuple(waiting),
    )


def _write_one(job: _Import, ident: str, first: int) -> tuple[str, Kept] | None:
    """Prepare and write one patient; `None` when there is nobody to write to."""
    person = _person(job, ident)
    for attempt in range(_TRIES):
        known = job.store.read_now(lambda connection: known_of(connection, job.tenant, ident))
        if person is None and known.revision == 0:
            for file, count in job.desk.files(ident):
                reason = f"{count} resources are about a patient who is neither here nor stored"
                job.rejected.append(Rejected(path=job.paths[file], reason=reason))
            return None
        if person is not None and known.revision and _is_another(person, known):
            reason = "a Patient's id belongs to another person in the store; nothing of it was kept"
            job.rejected.append(Rejected(path=job.paths[first], reason=reason))
            return None
        changes = _Changes(job, ident, known)
        laid = job.desk.lay(changes)
        name = person.name if person else known.name
        if not laid:
            return known.name, Kept(changed=0, unchanged=changes.seen)
        try:
            kept = job.store.write_now(
                lambda c, k=known, newest=changes.newest: _commit(job, c, ident, person, k, newest)
            )
        except Conflict:
            if attempt + 1 == _TRIES:
                raise
            continue
        return name, replace(kept, unchanged=kept.unchanged + changes.seen - laid)
    return None


def _commit(
    job: _Import,
    connection: Connection,
    ident: str,
    person: Person | None,
    known: Known,
    newest: datetime | None,
) -> Kept:
    now = job.clock.now()
    if job.also:
        job.also(connection, ident)
    access.note(
        connection,
        tenant=job.tenant,
        actor=job.actor,
        action="import",
        at=now,
        patient=PatientId(ident),
    )
    return write_patient(
        connection,
        job.tenant,
        ident,
        person=person,
        prepared=job.desk.ready(),
        newest=newest,
        known=known,
        now=now,
    )


def _is_another(person: Person, known: Known) -> bool:
    """Whether a stored patient by this id is plainly somebody else: name and birth date differ."""
    if set(person.identifiers) & set(known.identifiers):
        return False
    same_name = person.name.casefold() == known.name.casefold()
    same_birth = (
        person.birth_date is None
        or known.birth_date is None
        or person.birth_date == known.birth_date
    )
    return not same_name and not same_birth


def _person(job: _Import, ident: str) -> Person | None:
    """Who the patient is by the files, `None` where they hold no Patient by this id."""
    found = job.desk.at(ident, f"Patient/{ident}")
    return None if found is None else read_person(_parsed(job, found), ident=ident)


def _raw(job: _Import, item: Located) -> str:
    return job.files[item.file].raw(item.start, item.end).strip()


def _parsed(job: _Import, item: Located) -> dict[str, Any]:
    return parse(_raw(job, item), what=job.paths[item.file])


@dataclass(slots=True)
class _Changes:
    """A patient's resources that are new, differ, or were read by an older reader, prepared in turn.

    Once through, `seen` counts all resources, and `newest` is the latest moment in what was read.
    """

    job: _Import
    ident: str
    known: Known
    seen: int = 0
    newest: datetime | None = None

    def __iter__(self) -> Iterator[Prepared]:
        now = self.job.clock.now()
        arounds: dict[int, Around] = {}
        for some in batches(self.job.desk.of(self.ident)):
            self.seen += len(some)
            stored = self._stored([item.key for item in some])
            for item in some:
                raw = _raw(self.job, item)
                sha = hashlib.sha256(raw.encode()).hexdigest()
                before, older = stored.get(item.key, ("", False))
                if before == sha and not older:
                    continue
                if item.file not in arounds:
                    arounds = {item.file: self.job.desk.around(self.ident, item.file)}
                prepared = _prepared(self.job, item, raw, arounds[item.file], sha, before)
                for line in prepared.lines or ():
                    if line.counted and line.when and line.when <= now:
                        self.newest = max(self.newest or line.when, line.when)
                yield prepared

    def _stored(self, keys: list[str]) -> dict[str, tuple[str, bool]]:
        if not self.known.revision:
            return {}
        tenant, outdated = self.job.tenant, self.known.outdated
        return self.job.store.read_now(
            lambda c: stored_of(c, tenant, self.ident, keys, outdated=outdated)
        )


def _prepared(
    job: _Import, item: Located, raw: str, around: Around, sha: str, before: str
) -> Prepared:
    resource = parse(raw, what=job.paths[item.file])
    resource["id"] = item.key.split("/", 1)[1]

    def binary(key: str) -> Mapping[str, Any] | None:
        found = job.desk.binary(key, item.file)
        return None if found is None else _parsed(job, found)

    attached = attachments_of(resource, around, binary=binary)
    if attached:
        around = replace(around, documents={item.key: attached[0].id})
    facts = read(resource, around)
    return Prepared(
        key=item.key,
        type=item.type,
        sha256=sha,
        before=before,
        raw=zlib.compress(raw.encode(), 1),
        lines=None if facts is None else lines_of(facts),
        attachments=attached,
    )


def _write_loose(job: _Import) -> None:
    """Keep what belongs to nobody: it is stored as received, and read by nothing."""
    for file, count in job.desk.files("", READERS):
        reason = f"{count} resources name no patient; nothing of them was kept"
        job.rejected.append(Rejected(path=job.paths[file], reason=reason))
    if job.desk.lay(_loose(job)):
        job.store.write_now(
            lambda c: [write_resources(c, job.tenant, "", some) for some in job.desk.ready()]
        )


def _loose(job: _Import) -> Iterator[Prepared]:
    for item in job.desk.of(""):
        if item.type in _READ_ALONG or item.type in READERS:
            continue
        raw = _raw(job, item)
        yield Prepared(
            key=item.key,
            type=item.type,
            sha256=hashlib.sha256(raw.encode()).hexdigest(),
            raw=zlib.compress(raw.encode(), 1),
            lines=None,
        )
