"""Documents in: read, cut, made searchable by words at once and by meaning soon after.

Idempotent by content, resumable after a kill at any point, and never half visible: a document is
absent, or has its words, or is ready.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Literal, Protocol

from sqlalchemy import Connection

from bedside.core.clock import Clock
from bedside.core.errors import BadInput, Unavailable
from bedside.core.value import value
from bedside.knowledge.cut import cut
from bedside.knowledge.document import Labels, Upload, collect, identify, labelled, passed_over
from bedside.knowledge.embed.protocol import Embedder, Floats2d
from bedside.knowledge.parse import MOST_BYTES, Parsed, parse
from bedside.knowledge.writing import (
    Draft,
    Kind,
    Outcome,
    Pending,
    finish,
    next_pending,
    stage,
    unembedded,
    write_words,
)
from bedside.storage.store import Store

__all__ = [
    "IngestReport",
    "Labels",
    "Progress",
    "Rejected",
    "Upload",
    "add_parsed",
    "drafted",
    "embed_pending",
    "ingest",
]

_AT_ONCE = 32
"""Chunks embedded between two writes; what a kill can cost."""
_MOST_NAMED = 5


@value
class Progress:
    """One step of long work. `stage` is "words", "vectors", "ready", "skipped" or "rejected".

    `done` of `total` counts files for words, and chunks of the document `name` for vectors.
    """

    stage: Literal["words", "vectors", "ready", "skipped", "rejected"]
    name: str
    done: int
    total: int


Listener = Callable[[Progress], None]


class Reader(Protocol):
    """Reads one file, as `bedside.knowledge.parse.parse` does."""

    def __call__(self, data: bytes, *, name: str) -> Parsed:
        """The file as text with structure; BadInput where it cannot be read."""
        ...


@value
class Rejected:
    """A file that was not taken in, and why; `reason` never holds its content."""

    path: str
    reason: str


@value
class IngestReport:
    """What came of an ingest. `ids` are those of every document asked for, skipped ones included."""

    documents: int
    chunks: int
    skipped: int
    rejected: tuple[Rejected, ...]
    ids: tuple[str, ...]
    warnings: tuple[str, ...] = ()


def ingest(
    store: Store,
    files: Iterable[Path | Upload],
    *,
    tenant: str,
    clock: Clock,
    patient: str | None = None,
    kind: Kind | None = None,
    labels: Labels | None = None,
    embedder: Embedder | None = None,
    count: Callable[[str], int] | None = None,
    progress: Listener | None = None,
    read: Reader = parse,
) -> IngestReport:
    """Take files in.

    Args:
        store: Where rows go.
        files: Paths (folders are walked) or uploads.
        tenant: Whose knowledge, or whose patient.
        clock: For the time of arrival.
        patient: `None` for shared knowledge; else the patient whose documents these are.
        kind: "guideline" for knowledge and "document" for a patient unless given.
        labels: Metadata that goes before front matter; `id`, `title` and `supersedes` only make
            sense for a single file.
        embedder: `None` leaves the vectors to `embed_pending` in the background.
        count: Counts tokens for the chunk size and the stored sizes; `None` estimates.
        progress: Told after every step; what it raises stops the work between two steps.
        read: Reads one file; `bedside.knowledge.parse.apart.parse_apart` does so in a limited process.

    Raises:
        BadInput: A path that does not exist. Files that cannot be read are in the report instead.
    """
    given = list(files)
    uploads = _uploads(given)
    tell = progress or (lambda _: None)
    report = _Tally()
    report.warnings += [
        _left_out(folder, others)
        for folder in given
        if isinstance(folder, Path) and (others := passed_over(folder))
    ]
    for number, upload in enumerate(uploads, 1):
        try:
            parsed = read(_data(upload), name=Path(upload.name).name)
            done = add_parsed(
                store,
                parsed,
                name=upload.name,
                tenant=tenant,
                clock=clock,
                patient=patient,
                kind=kind,
                labels=labels,
                count=count,
            )
        except BadInput as error:
            report.rejected.append(Rejected(path=upload.name, reason=str(error)))
            tell(Progress(stage="rejected", name=upload.name, done=number, total=len(uploads)))
            continue
        report.take(*done, warnings=[f"{upload.name}: {w}" for w in parsed.warnings])
        stage_name = "skipped" if done[0].what == "skipped" else "words"
        tell(Progress(stage=stage_name, name=upload.name, done=number, total=len(uploads)))
    if embedder is not None:
        embed_pending(store, embedder, tenant=tenant, progress=progress)
    return report.closed()


def drafted(
    parsed: Parsed,
    *,
    name: str,
    tenant: str,
    patient: str | None = None,
    kind: Kind | None = None,
    labels: Labels | None = None,
    count: Callable[[str], int] | None = None,
) -> Draft:
    """One parsed document, cut and labelled, ready for `write_words` in the caller's transaction."""
    full = labelled(labels or Labels(), parsed.meta, title=parsed.title, name=name)
    profile = "guideline" if patient is None and kind in {None, "guideline"} else "note"
    rows = cut(parsed.text, parsed.sections, profile=profile, title=full.title, count=count)
    return Draft(
        tenant=tenant,
        id=identify(full, name=name, patient=patient),
        kind=kind or ("guideline" if patient is None else "document"),
        patient=patient,
        text=parsed.text,
        media_type=parsed.media_type,
        labels=full,
        chunks=rows,
    )


def add_parsed(
    store: Store,
    parsed: Parsed,
    *,
    name: str,
    tenant: str,
    clock: Clock,
    patient: str | None = None,
    kind: Kind | None = None,
    labels: Labels | None = None,
    count: Callable[[str], int] | None = None,
    also: Callable[[Connection], object] | None = None,
) -> tuple[Outcome, int]:
    """Write one parsed document with its words; returns what became of it and its chunks.

    `also` is done in the same transaction, so that both are kept or neither.
    """
    draft = drafted(
        parsed, name=name, tenant=tenant, patient=patient, kind=kind, labels=labels, count=count
    )

    def write(connection: Connection) -> Outcome:
        outcome = write_words(connection, draft, at=clock.now())
        if also is not None:
            also(connection)
        return outcome

    return store.write_now(write), len(draft.chunks)


def embed_pending(
    store: Store,
    embedder: Embedder,
    *,
    tenant: str | None = None,
    progress: Listener | None = None,
    stop: Callable[[], bool] | None = None,
    shared: bool = False,
) -> int:
    """Give every document its vectors, oldest first; how many became ready.

    Safe to stop and to run twice: what was embedded is kept, and a document's vectors come into
    sight together at its end.

    Args:
        store: Where rows are.
        embedder: Whose vectors are wanted.
        tenant: Only this tenant's documents; `None` for all.
        progress: Told after every batch and every document.
        stop: Asked between batches; True ends the work.
        shared: Guidelines alone, for an embedder that is not to read what is a patient's.

    Raises:
        Unavailable: The embedder does not answer, or gives vectors of another size.
    """
    work_on = _Embedding(store, embedder, progress or (lambda _: None), stop or (lambda: False))
    work_on.shared = shared
    ready, passed = 0, frozenset[tuple[str, str]]()
    while not work_on.ended():
        work = work_on.pick(tenant, passed)
        if work is None:
            break
        if work_on.embed(work):
            ready += 1
        else:
            passed |= {(work.tenant, work.id)}
    return ready


class _Embedding:
    """One run of the background work."""

    def __init__(
        self, store: Store, embedder: Embedder, tell: Listener, ended: Callable[[], bool]
    ) -> None:
        self.store, self.embedder, self.tell, self.ended = store, embedder, tell, ended
        self.model = embedder.id
        self.shared = False

    def pick(self, tenant: str | None, passed: frozenset[tuple[str, str]]) -> Pending | None:
        return self.store.read_now(
            lambda connection: next_pending(
                connection, self.model, tenant=tenant, skip=passed, shared=self.shared
            )
        )

    def embed(self, work: Pending) -> bool:
        """Embed what one document lacks; False where it was stopped or changed under our hands."""
        pieces, total = self.store.read_now(lambda c: unembedded(c, work, self.model))
        for at in range(0, len(pieces), _AT_ONCE):
            if self.ended():
                return False
            batch = pieces[at : at + _AT_ONCE]
            vectors = _embedded(self.embedder, batch)
            if not self._stage(work, vectors):
                return False
            done = total - len(pieces) + at + len(batch)
            self.tell(Progress(stage="vectors", name=work.id, done=done, total=total))
        if not self.store.write_now(lambda connection: finish(connection, work, self.model)):
            return False
        self.tell(Progress(stage="ready", name=work.id, done=total, total=total))
        return True

    def _stage(self, work: Pending, vectors: Sequence[tuple[str, int, Floats2d]]) -> bool:
        return self.store.write_now(lambda connection: stage(connection, work, self.model, vectors))


def _embedded(embedder: Embedder, batch: Sequence[tuple[str, str]]):
    texts: list[str] = []
    spans: list[tuple[str, int, int]] = []
    for name, text in batch:
        pieces = embedder.windows(text)
        spans.append((name, len(texts), len(texts) + len(pieces)))
        texts.extend(pieces)
    rows = embedder.embed(texts, kind="passage")
    if rows.shape != (len(texts), embedder.dim):
        raise Unavailable(
            f"embedder {embedder.id!r}",
            why=f"it gave vectors of shape {rows.shape}, not {(len(texts), embedder.dim)}",
            do="Check the embedder's settings.",
        )
    return [(name, 0, rows[start:end]) for name, start, end in spans]


def _uploads(files: Iterable[Path | Upload]) -> list[Upload]:
    found: list[Upload] = []
    for file in files:
        found.extend([file] if isinstance(file, Upload) else collect([file]))
    taken: dict[str, int] = {}
    unique: list[Upload] = []
    for upload in found:  # two files of one name in one run are two documents
        again = taken.get(upload.name, 0)
        taken[upload.name] = again + 1
        if again and upload.path is not None:
            name = f"{upload.path.parent.name}/{upload.name}"
            upload = Upload(name=name, data=upload.data, path=upload.path)  # noqa: PLW2901
        unique.append(upload)
    return unique


def _left_out(folder: Path, names: Sequence[str]) -> str:
    shown = ", ".join(names[:_MOST_NAMED])
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return f"of another format in {folder.name}, and not read: {shown}{more}"


def _data(upload: Upload) -> bytes:
    """The bytes of a file; its size is looked at first.

    Raises:
        BadInput: Too large, or not readable.
    """
    if upload.data is not None:
        return upload.data
    name = Path(upload.name).name
    if upload.path is None:
        raise BadInput(name, why="neither bytes nor a path came with it")
    try:
        size = upload.path.stat().st_size
        if size > MOST_BYTES:
            raise BadInput(
                name,
                why=f"it has {size} bytes; at most {MOST_BYTES} are read",
                do="Split the file.",
            )
        return upload.path.read_bytes()
    except OSError as error:
        raise BadInput(name, why=f"it cannot be opened ({type(error).__name__})") from error


class _Tally:
    """Counts while files come in."""

    def __init__(self) -> None:
        self.documents = self.chunks = self.skipped = 0
        self.rejected: list[Rejected] = []
        self.ids: list[str] = []
        self.absent: list[str] = []
        self.warnings: list[str] = []

    def take(self, outcome: Outcome, chunks: int, *, warnings: Sequence[str]) -> None:
        self.ids.append(outcome.id)
        self.absent += [outcome.absent] if outcome.absent else []
        self.warnings.extend(warnings)
        if outcome.what == "skipped":
            self.skipped += 1
        else:
            self.documents += 1
            self.chunks += chunks

    def closed(self) -> IngestReport:
        self.warnings += [
            f"the superseded document {older!r} is not here; should it come, it ranks below"
            for older in dict.fromkeys(self.absent)
            if older not in self.ids
        ]
        return IngestReport(
            documents=self.documents,
            chunks=self.chunks,
            skipped=self.skipped,
            rejected=tuple(self.rejected),
            ids=tuple(self.ids),
            warnings=tuple(self.warnings),
        )
