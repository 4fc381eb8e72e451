"""The desk of an import: what its first pass found and what waits to be written, on disk.

A file about one patient may be of any size, so nothing that grows with it is held in memory. The
desk is a SQLite database without a name: private to its connection, gone with it, and unlinked
while in use, so that a kill leaves nothing behind.
"""

from __future__ import annotations

import pickle
import sqlite3
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import lru_cache
from typing import Generic, TypeVar

from bedside.core.errors import Unavailable
from bedside.core.value import value
from bedside.record.fhir.around import Around, Visit, key_of
from bedside.record.writing import MANY, Prepared, batches

__all__ = ["Desk", "Located", "Look", "Seen", "open_desk"]

T = TypeVar("T")
_BYTES = 4 * 1024 * 1024
_KEPT = 4_096
_EVERY = -1
"""In place of a file's number: names that hold for all files."""

_TABLES = """
PRAGMA synchronous=OFF;
PRAGMA cache_size=-8000;
PRAGMA temp_store=FILE;
CREATE TABLE seen (file, start, "end", type, key, subject, name, provider, shown, class);
CREATE TABLE place (
    seq INTEGER PRIMARY KEY, file, start, "end", type, key, patient, name, provider, class
);
CREATE INDEX owner ON place (patient, key, seq);
CREATE INDEX binary ON place (key) WHERE type = 'Binary';
CREATE TABLE link (url, file, key, PRIMARY KEY (url, file)) WITHOUT ROWID;
CREATE TABLE told (key, file, name, PRIMARY KEY (key, file)) WITHOUT ROWID;
CREATE TABLE ready (seq INTEGER PRIMARY KEY, batch);
"""
_SEEN = ("start", "end", "type", "key", "subject", "name", "provider", "shown", "group")
_PLACE = 'file, start, "end", type, key, patient'


@value
class Located:
    """One resource: where it stands, its key ("Observation/1") and whose it is ("" nobody's)."""

    file: int
    start: int
    end: int
    type: str
    key: str
    patient: str


@value
class Seen:
    """A resource before its file's references can be resolved, and what others may call it.

    An Encounter has the reference to its provider, what the provider is shown as, and its class.
    """

    start: int
    end: int
    type: str
    key: str
    subject: str
    name: str = ""
    provider: str = ""
    shown: str = ""
    group: str = ""


class Look(Generic[T]):
    """Looked up one by one; what was asked lately is remembered."""

    def __init__(self, find: Callable[[str], T | None]) -> None:
        self._find = lru_cache(_KEPT)(find)

    def get(self, key: str, default: T, /) -> T:
        """What is known by this key."""
        found = self._find(key)
        return default if found is None else found


@contextmanager
def open_desk() -> Iterator[Desk]:
    """A desk for one import, and the disk given back at its end.

    Raises:
        Unavailable: there is no room for temporary files. Nothing of what was laid there is kept.
    """
    try:
        with closing(sqlite3.connect("", isolation_level=None)) as database:
            database.executescript(_TABLES)
            yield Desk(database)
    except sqlite3.Error as error:
        raise Unavailable(
            "room for temporary files",
            why=f"SQLite reports {error.sqlite_errorname}",
            do="Free some space, or name a roomy folder in TMPDIR.",
        ) from error


class Desk:
    """Places, names and prepared entries of one import. Of one thread."""

    def __init__(self, database: sqlite3.Connection) -> None:
        """Take an empty database with the tables of a desk; see `open_desk`."""
        self._db = database

    @contextmanager
    def _whole(self) -> Iterator[None]:
        self._db.execute("BEGIN")
        with self._db:  # commits, or rolls back what a full disk has not ended already
            yield

    # The first pass

    def take(
        self, number: int, entries: Iterable[tuple[str, Seen]], *, directory: Collection[str]
    ) -> Counter[str]:
        """Keep a file's resources, each with its full URL, and count them; whole or not at all.

        `directory` names the types that are nobody's: only their names are kept.
        """
        counts: Counter[str] = Counter()
        with self._whole():
            for some in batches(entries):
                self._see(number, some, directory)
                counts.update(seen.type for _, seen in some)
            self._place(number)
        return counts

    def _see(self, file: int, some: list[tuple[str, Seen]], directory: Collection[str]) -> None:
        self._db.executemany(
            "INSERT OR REPLACE INTO link VALUES (?, ?, ?)",
            [(url, file, seen.key) for url, seen in some if url],
        )
        self._db.executemany(
            "INSERT OR REPLACE INTO told VALUES (?, ?, ?)",
            [(s.key, file, s.name) for _, s in some if s.type in directory],
        )
        self._db.executemany(
            "INSERT INTO seen VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [
                (file, *(getattr(s, name) for name in _SEEN))
                for _, s in some
                if s.type not in directory
            ],
        )

    def _place(self, file: int) -> None:
        """The file is read: whose each resource is, and what a visit's provider is called."""
        patients = self._db.execute(
            "SELECT DISTINCT key FROM seen WHERE type = 'Patient' LIMIT 2"
        ).fetchall()
        only = patients[0][0] if len(patients) == 1 else ""
        links, names = self.links(file), self._told(file, file)

        @lru_cache(_KEPT)
        def owner(subject: str) -> str:
            found = key_of(subject, links) if subject else only
            return found.removeprefix("Patient/") if found.startswith("Patient/") else ""

        @lru_cache(_KEPT)
        def provider(written: str, shown: str) -> str:
            found = key_of(written, links)
            return names.get(found, "") or shown or found

        rows = self._db.execute("SELECT * FROM seen ORDER BY rowid")
        self._db.executemany(
            "INSERT INTO place VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                (
                    *(number, start, end, kind, key),
                    key.removeprefix("Patient/") if kind == "Patient" else owner(subject),
                    name,
                    provider(written, shown) if kind == "Encounter" else "",
                    group,
                )
                for number, start, end, kind, key, subject, name, written, shown, group in rows
            ),
        )
        self._db.execute("DELETE FROM seen")
        self._db.execute(
            "INSERT OR REPLACE INTO told SELECT key, ?, name FROM told WHERE file = ? AND name <> ''",
            (_EVERY, file),
        )

    # Names

    def names(self) -> Iterator[tuple[str, str]]:
        """What the files call organisations, people and places, by key."""
        yield from self._db.execute(
            "SELECT key, name FROM told WHERE file = ? ORDER BY key", (_EVERY,)
        )

    def tell(self, names: Iterable[tuple[str, str]]) -> None:
        """Names that were stored before; what the files say wins."""
        with self._whole():
            self._db.executemany(
                "INSERT OR IGNORE INTO told VALUES (?, ?, ?)",
                ((key, _EVERY, name) for key, name in names),
            )

    def links(self, file: int) -> Look[str]:
        """The keys behind the full URLs of a file."""
        return Look(
            lambda url: self._one("SELECT key FROM link WHERE url = ? AND file = ?", url, file)
        )

    def _told(self, file: int, other: int) -> Look[str]:
        query = """SELECT name FROM told WHERE key = ? AND file IN (?, ?) AND name <> ''
            ORDER BY file DESC LIMIT 1"""
        return Look(lambda key: self._one(query, key, file, other))

    def around(self, patient: str, file: int) -> Around:
        """What one patient's resources in one file may refer to: never another patient's entries."""
        told = self._told(file, _EVERY)
        own = """SELECT name FROM place WHERE patient = ? AND key = ? AND name <> ''
            ORDER BY seq DESC LIMIT 1"""
        visit = """SELECT provider, class FROM place WHERE patient = ? AND key = ?
            AND type = 'Encounter' ORDER BY seq DESC LIMIT 1"""
        names = Look[str](lambda key: self._one(own, patient, key) or told.get(key, "") or None)

        def been(key: str) -> Visit | None:
            found = self._db.execute(visit, (patient, key)).fetchone()
            if found is None:
                return None
            provider, group = found
            facility = names.get(provider, "" if "/" in provider else provider)
            return Visit(facility=facility, group=group)

        return Around(patient=patient, links=self.links(file), names=names, visits=Look(been))

    def _one(self, query: str, *values: object) -> str | None:
        found = self._db.execute(query, values).fetchone()
        return None if found is None else found[0]

    # The second pass

    def patients(self) -> list[tuple[str, int]]:
        """Every owner in the order of the files ("" for nobody), with the first file."""
        return self._db.execute(
            "SELECT patient, file FROM (SELECT patient, file, min(seq) AS first FROM place"
            " GROUP BY patient) ORDER BY first"
        ).fetchall()

    def files(self, patient: str, types: Collection[str] = ()) -> list[tuple[int, int]]:
        """The files that hold this patient's resources (of these types), and how many each."""
        some = f" AND type IN ({', '.join('?' * len(types))})" if types else ""
        return self._db.execute(
            f"SELECT file, count(*) FROM place WHERE patient = ?{some} GROUP BY file",  # noqa: S608
            (patient, *types),
        ).fetchall()

    def of(self, patient: str) -> Iterator[Located]:
        """A patient's resources, each key once: where it stands last, in the order of the files."""
        rows = self._db.execute(
            f"SELECT {_PLACE} FROM (SELECT *, max(seq) AS last FROM place WHERE patient = ?"  # noqa: S608
            " GROUP BY key) ORDER BY last",
            (patient,),
        )
        return map(_located, rows)

    def at(self, patient: str, key: str) -> Located | None:
        """Where one of a patient's resources stands last."""
        row = self._db.execute(
            f"SELECT {_PLACE} FROM place WHERE patient = ? AND key = ? ORDER BY seq DESC LIMIT 1",  # noqa: S608
            (patient, key),
        ).fetchone()
        return None if row is None else _located(row)

    def binary(self, key: str, file: int) -> Located | None:
        """The Binary of a key: of the same file, else the only one by that key in the import."""
        rows = self._db.execute(
            f"SELECT {_PLACE} FROM place WHERE key = ? AND type = 'Binary'"  # noqa: S608
            " ORDER BY file = ? DESC, seq DESC LIMIT 2",
            (key, file),
        ).fetchall()
        found = [_located(row) for row in rows]
        return found[0] if found and (found[0].file == file or len(found) == 1) else None

    # What waits to be written

    def lay(self, prepared: Iterable[Prepared]) -> int:
        """Keep prepared entries until they are written, in place of any before; says how many."""
        count = 0
        with self._whole():
            self._db.execute("DELETE FROM ready")
            for some in _parcels(prepared):
                self._db.execute("INSERT INTO ready VALUES (NULL, ?)", (pickle.dumps(some),))
                count += len(some)
        return count

    def ready(self) -> Iterator[Sequence[Prepared]]:
        """The prepared entries in their order, some at a time."""
        for (batch,) in self._db.execute("SELECT batch FROM ready ORDER BY seq"):
            yield pickle.loads(batch)  # noqa: S301 - written by `lay`


def _located(row: tuple[int, int, int, str, str, str]) -> Located:
    file, start, end, kind, key, patient = row
    return Located(file=file, start=start, end=end, type=kind, key=key, patient=patient)


def _parcels(prepared: Iterable[Prepared]) -> Iterator[list[Prepared]]:
    """Some entries at a time: as many as one statement takes, and of a bounded size."""
    some: list[Prepared] = []
    size = 0
    for item in prepared:
        some.append(item)
        size += len(item.raw) + sum(len(found.content or b"") for found in item.attachments)
        if len(some) == MANY or size >= _BYTES:
            yield some
            some, size = [], 0
    if some:
        yield some
