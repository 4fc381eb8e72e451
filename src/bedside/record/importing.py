"""Import: files to patients, each patient whole or not at all.

Two passes. The first reads every file once and keeps places and names, so that a patient's
resources may be spread over files and an NDJSON export is never held in memory. The second takes
one patient at a time, reads that patient's resources again, makes facts, and writes them in one
transaction: a kill leaves a patient as before or as after.
"""

from __future__ import annotations

import hashlib
import zlib
from collections import ChainMap, Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, select

from bedside.core.clock import Clock
from bedside.core.errors import BadInput, Conflict
from bedside.core.ids import ActorId, PatientId, TenantId
from bedside.record.attachments import attachments_of
from bedside.record.fhir.around import Around, Visit
from bedside.record.fhir.decode import encode, parse
from bedside.record.fhir.person import read_person
from bedside.record.fhir.readers import DIRECTORY, READERS, read
from bedside.record.files import Bytes, RecordFile, found_files, open_file
from bedside.record.needs import Fact, Person
from bedside.record.report import Imported, ImportReport, Rejected
from bedside.record.rows import READER
from bedside.record.sorting import Located, Sorted, sort_file
from bedside.record.writing import (
    Kept,
    Known,
    Prepared,
    known_of,
    write_directory,
    write_patient,
    write_resources,
)
from bedside.storage import access
from bedside.storage.store import Store
from bedside.storage.tables.record import directory

__all__ = ["Progress", "import_bundle", "import_paths"]

Progress = Callable[[str, int, int], None]
"""Called with what is being done ("reading", "writing"), how many are done, of how many."""

IMPORTER = ActorId("import")
_TRIES = 8
_READ_ALONG = {"Binary"}


@dataclass(slots=True)
class _Own:
    """What one patient's own entries are called, and where that patient's visits were."""

    names: dict[str, str] = field(default_factory=dict)
    visits: dict[str, tuple[str, str]] = field(default_factory=dict)


@dataclass(slots=True)
class _Import:
    """The state of one import: what the first pass found."""

    store: Store
    tenant: TenantId
    actor: ActorId
    clock: Clock
    files: list[RecordFile] = field(default_factory=list)
    sorted: list[Sorted] = field(default_factory=list)
    rejected: list[Rejected] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)
    own: dict[str, _Own] = field(default_factory=dict)
    binaries: dict[str, list[Located]] = field(default_factory=dict)
    paths: list[str] = field(default_factory=list)


def import_paths(
    store: Store,
    paths: Sequence[Path],
    *,
    tenant: TenantId,
    clock: Clock,
    actor: ActorId = IMPORTER,
    progress: Progress | None = None,
) -> ImportReport:
    """Import files and folders of FHIR R4 bundles, NDJSON exports and simple patient JSON.

    A file that cannot be read is rejected with its reason, whole; the others are imported. One
    audit entry is written per patient. Importing the same again changes nothing.
    """
    files, missing = found_files(paths)
    job = _Import(store=store, tenant=tenant, actor=actor, clock=clock)
    job.rejected += [Rejected(path=str(path), reason=why) for path, why in missing]
    for done, path in enumerate(files):
        if progress:
            progress("reading", done, len(files))
        try:
            _take(job, open_file(path), str(path))
        except BadInput as error:
            job.rejected.append(Rejected(path=str(path), reason=str(error)))
    return _write_all(job, progress)


def import_bundle(
    store: Store,
    bundle: bytes | Mapping[str, Any],
    *,
    tenant: TenantId,
    clock: Clock,
    actor: ActorId = IMPORTER,
    what: str = "bundle",
) -> ImportReport:
    """Import one bundle (or simple patient JSON) from bytes or from plain objects.

    Raises:
        BadInput: it cannot be read; nothing is changed.
    """
    body = bundle if isinstance(bundle, bytes) else encode(bundle).encode()
    job = _Import(store=store, tenant=tenant, actor=actor, clock=clock)
    _take(job, Bytes(what, lambda: body), what)
    return _write_all(job, None)


def _take(job: _Import, file: RecordFile, path: str) -> None:
    number = len(job.files)
    found = sort_file(file, number)
    file.release()
    job.files.append(file)
    job.paths.append(path)
    job.sorted.append(found)
    job.names.update(found.directory)


def _write_all(job: _Import, progress: Progress | None) -> ImportReport:
    groups = _grouped(job)
    loose = groups.pop("", [])
    if job.names:
        job.store.write_now(lambda connection: write_directory(connection, job.tenant, job.names))
    known_names = job.store.read_now(lambda connection: _directory(connection, job.tenant))
    job.names = {**known_names, **job.names}
    imported: list[Imported] = []
    waiting: list[str] = []
    last: int | None = None
    for done, (ident, located) in enumerate(groups.items()):
        if progress:
            progress("writing", done, len(groups))
        if last is not None and last != located[0].file:
            job.files[last].release()
        last = located[0].file
        outcome = _write_one(job, ident, located)
        if outcome is not None:
            person, kept = outcome
            waiting += kept.documents
            imported.append(
                Imported(id=ident, name=person, changed=kept.changed, unchanged=kept.unchanged)
            )
    _write_loose(job, loose)
    for file in job.files:
        file.release()
    return _report(job, imported, waiting)


def _grouped(job: _Import) -> dict[str, list[Located]]:
    """The resources by patient, "" for nobody; names and visits are kept for their owner only."""
    groups: dict[str, list[Located]] = defaultdict(list)
    for found in job.sorted:
        for item in found.located:
            if item.type in _READ_ALONG:
                job.binaries.setdefault(item.key, []).append(item)
            if item.type not in DIRECTORY:
                groups[item.patient].append(item)
            own = job.own.setdefault(item.patient, _Own())
            if item.key in found.names:
                own.names[item.key] = found.names[item.key]
            if item.key in found.visits:
                own.visits[item.key] = found.visits[item.key]
    return groups


def _directory(connection: Connection, tenant: TenantId) -> dict[str, str]:
    rows = connection.execute(
        select(directory.c.key, directory.c.name).where(directory.c.tenant == tenant)
    )
    return {key: name for key, name in rows}  # noqa: C416 - rows are not tuples to dict()


def _report(job: _Import, imported: list[Imported], waiting: list[str]) -> ImportReport:
    counts: Counter[str] = Counter()
    for found in job.sorted:
        counts.update(found.counts)
    known = READERS.keys() | DIRECTORY | _READ_ALONG
    return ImportReport(
        patients=tuple(imported),
        resources=tuple(sorted(counts.items())),
        unknown=tuple(sorted((kind, n) for kind, n in counts.items() if kind not in known)),
        rejected=tuple(job.rejected),
        documents=tuple(waiting),
    )


def _write_one(job: _Import, ident: str, located: Sequence[Located]) -> tuple[str, Kept] | None:
    """Prepare and write one patient; `None` when there is nobody to write to."""
    for attempt in range(_TRIES):
        known = job.store.read_now(lambda connection: known_of(connection, job.tenant, ident))
        person, prepared = _prepare(job, ident, located, known)
        if person is None and known.revision == 0:
            paths = dict.fromkeys(job.paths[item.file] for item in located)
            for path in paths:
                count = sum(job.paths[item.file] == path for item in located)
                reason = f"{count} resources are about a patient who is neither here nor stored"
                job.rejected.append(Rejected(path=path, reason=reason))
            return None
        if person is not None and known.revision and _is_another(person, known):
            path = job.paths[located[0].file]
            reason = "a Patient's id belongs to another person in the store; nothing of it was kept"
            job.rejected.append(Rejected(path=path, reason=reason))
            return None
        if not prepared:
            return known.name, Kept(changed=0, unchanged=len(located))
        try:
            kept = job.store.write_now(
                lambda c, p=person, r=prepared, k=known: _commit(job, c, ident, p, r, k)
            )
        except Conflict:
            if attempt + 1 == _TRIES:
                raise
            continue
        name = person.name if person else known.name
        skipped = len({item.key for item in located}) - len(prepared)
        return name, replace(kept, unchanged=kept.unchanged + skipped)
    return None


def _commit(
    job: _Import,
    connection: Connection,
    ident: str,
    person: Person | None,
    prepared: Sequence[Prepared],
    known: Known,
) -> Kept:
    now = job.clock.now()
    access.note(
        connection,
        tenant=job.tenant,
        actor=job.actor,
        action="import",
        at=now,
        patient=PatientId(ident),
    )
    return write_patient(
        connection, job.tenant, ident, person=person, prepared=prepared, known=known, now=now
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


def _prepare(
    job: _Import,
    ident: str,
    located: Sequence[Located],
    known: Known,
) -> tuple[Person | None, list[Prepared]]:
    """The person, and every resource that is new, differs, or was read by an older reader."""
    person: Person | None = None
    surroundings = {number: _around(job, ident, number) for number in {i.file for i in located}}
    prepared: dict[str, Prepared] = {}
    for item in located:
        raw = job.files[item.file].raw(item.start, item.end).strip()
        sha = hashlib.sha256(raw.encode()).hexdigest()
        if item.type == "Patient":
            person = read_person(parse(raw, what=job.paths[item.file]), ident=ident)
        settled = known.resources.get(item.key) == sha
        if settled and known.readers.get(item.key, READER) == READER:
            prepared.pop(item.key, None)
            continue
        prepared[item.key] = _prepared(job, item, raw, sha, surroundings[item.file])
    return person, list(prepared.values())


def _prepared(
    job: _Import,
    item: Located,
    raw: str,
    sha: str,
    around: Around,
) -> Prepared:
    resource = parse(raw, what=job.paths[item.file])
    resource["id"] = item.key.split("/", 1)[1]

    def binary(key: str) -> Mapping[str, Any] | None:
        found = _binary(job, key, item.file)
        if found is None:
            return None
        text = job.files[found.file].raw(found.start, found.end)
        return parse(text, what=job.paths[found.file])

    attached = attachments_of(resource, around, binary=binary)
    if attached:
        around = replace(around, documents={item.key: attached[0].id})
    facts: tuple[Fact, ...] | None = read(resource, around)
    return Prepared(
        key=item.key,
        type=item.type,
        sha256=sha,
        raw=zlib.compress(raw.encode(), 1),
        facts=facts,
        attachments=attached,
    )


def _binary(job: _Import, key: str, number: int) -> Located | None:
    """The Binary of a key: of the same file, else the only one by that key in the import."""
    found = job.binaries.get(key, [])
    same = [item for item in found if item.file == number]
    if same:
        return same[-1]
    return found[0] if len(found) == 1 else None


def _write_loose(job: _Import, loose: Sequence[Located]) -> None:
    """Keep what belongs to nobody: it is stored as received, and read by nothing."""
    prepared: dict[str, Prepared] = {}
    strays: Counter[str] = Counter()
    for item in loose:
        if item.type in _READ_ALONG:
            continue
        if item.type in READERS:
            strays[job.paths[item.file]] += 1
            continue
        raw = job.files[item.file].raw(item.start, item.end).strip()
        prepared[item.key] = Prepared(
            key=item.key,
            type=item.type,
            sha256=hashlib.sha256(raw.encode()).hexdigest(),
            raw=zlib.compress(raw.encode(), 1),
            facts=None,
        )
    for path, count in strays.items():
        reason = f"{count} resources name no patient; nothing of them was kept"
        job.rejected.append(Rejected(path=path, reason=reason))
    if prepared:
        kept = list(prepared.values())
        job.store.write_now(lambda connection: write_resources(connection, job.tenant, "", kept))


def _around(job: _Import, ident: str, number: int) -> Around:
    """What one patient's resources in one file may refer to: never another patient's entries."""
    found = job.sorted[number]
    own = job.own.get(ident, _Own())
    names = ChainMap(own.names, dict(found.directory), job.names)
    visits = {
        key: Visit(facility=names.get(provider, "" if "/" in provider else provider), group=group)
        for key, (provider, group) in own.visits.items()
    }
    return Around(patient=ident, links=found.links, names=names, visits=visits)
