"""What is left of a patient after an erasure: every file searched, byte for byte."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
from sqlalchemy import Connection, LargeBinary, String, Table, select

from bedside.core.value import value
from bedside.storage.erasure import reached, scope
from bedside.storage.tables import metadata

__all__ = ["Hit", "Needles", "collect", "files_of", "in_files", "in_rows", "of_texts", "sizes"]

WINDOW = 32
"""Bytes of a text or blob that stand for it; two different texts hardly share as many."""
SHORTEST = 5
"""Bytes of the shortest string that is looked for: shorter ones turn up by chance."""
_HASHED = 8  # bytes of a needle that the first look goes by
_BITS = 22
_AT_ONCE = 16 * 1024 * 1024
_ROWS = 500
_ODD = np.uint64(0x9E3779B97F4A7C15)


@value
class Hit:
    """One string of the patient's that was found: where, which, and at which bytes, ascending."""

    place: str
    needle: bytes
    offsets: Sequence[int]


class Needles:
    """Many byte strings, looked for at once.

    Strings of 8 bytes and more stand anywhere; shorter ones only where no letter or digit touches
    them. Those under `SHORTEST` bytes are left out.
    """

    def __init__(self, needles: Iterable[bytes]) -> None:
        kept = {needle for needle in needles if len(needle) >= SHORTEST}
        self.long: dict[bytes, list[bytes]] = {}
        self.short = sorted(needle for needle in kept if len(needle) < _HASHED)
        for needle in sorted(kept.difference(self.short)):
            self.long.setdefault(needle[:_HASHED], []).append(needle)
        self._table = np.zeros(1 << _BITS, dtype=bool)
        heads = np.frombuffer(b"".join(self.long), dtype="<u8")
        self._table[_slot(heads)] = True

    def __len__(self) -> int:
        return len(self.short) + sum(map(len, self.long.values()))

    def find(self, data: bytes) -> Iterator[tuple[int, bytes]]:
        """(offset, needle) of everything that stands in `data`, in no order."""
        if self.long:
            yield from self._long(data)
        for needle in self.short:
            at = data.find(needle)
            while at >= 0:
                if _apart(data, at, at + len(needle)):
                    yield at, needle
                at = data.find(needle, at + 1)

    def _long(self, data: bytes) -> Iterator[tuple[int, bytes]]:
        for phase in range(_HASHED):
            count = (len(data) - phase) // _HASHED
            if count <= 0:
                return
            words = np.frombuffer(data, dtype="<u8", count=count, offset=phase)
            for index in np.flatnonzero(self._table[_slot(words)]).tolist():
                at = phase + index * _HASHED
                for needle in self.long.get(data[at : at + _HASHED], ()):
                    if data.startswith(needle, at):
                        yield at, needle


def _slot(
    words: np.ndarray[tuple[int], np.dtype[np.uint64]],
) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
    return (words * _ODD) >> np.uint64(64 - _BITS)


def _apart(data: bytes, start: int, end: int) -> bool:
    around = data[max(0, start - 1) : start] + data[end : end + 1]
    return not any(bytes([byte]).isalnum() for byte in around)


def collect(connection: Connection, *, tenant: str, who: str, names: Sequence[str]) -> Needles:
    """What is distinctive of a patient, taken from the rows before they go.

    `names` are texts that identify the patient. Of each text and blob in the rows, windows of
    `WINDOW` bytes; ids and names whole; in UTF-8 and in both orders of UTF-16.
    """
    found: set[bytes] = set()
    for name in (who, *names):
        found.update(_forms(name))
    for table in reached():
        columns = [column for column in table.c if isinstance(column.type, (String, LargeBinary))]
        columns = [column for column in columns if column.name not in _SHARED]
        query = select(*columns).where(scope(table, tenant=tenant, who=who))
        for row in connection.execute(query):
            for item in row:
                found.update(_windows(item))
    return Needles(found)


def of_texts(texts: Iterable[str]) -> Needles:
    """Windows of these texts, as `collect` takes them from rows; short ones are left out."""
    return Needles(needle for text in texts for needle in _windows(text))


_SHARED = frozenset({
    "tenant", "kind", "type", "category", "sex", "deceased", "media_type", "status", "state",
    "flow", "actor", "role", "index", "model", "review", "review_by", "by", "target", "pinned",
    "sha256", "facility", "lease_owner", "owner", "error",
})  # fmt: skip
"""Columns whose values say nothing of whom a row is about."""


def _forms(text: str) -> Iterator[bytes]:
    for coding in ("utf-8", "utf-16-le", "utf-16-be"):
        form = text.encode(coding, "surrogatepass")
        if len(text.encode("utf-8", "surrogatepass")) >= SHORTEST:
            yield form


def _windows(item: object) -> Iterator[bytes]:
    """A short text whole; of a long one, and of a blob, a window from each quarter."""
    if isinstance(item, str):
        if len(item) < WINDOW:
            if len(item) >= WINDOW // 2:
                yield from _forms(item)
            return
        body = item.encode("utf-8", "surrogatepass")
        yield from (
            item[: WINDOW // 2].encode(c, "surrogatepass") for c in ("utf-16-le", "utf-16-be")
        )
    elif isinstance(item, bytes):
        body = item
    else:
        return
    step = max(1, (len(body) - WINDOW) // 3)
    for at in range(0, max(1, len(body) - WINDOW + 1), step):
        window = body[at : at + WINDOW]
        if len(window) == WINDOW and len(set(window)) >= _HASHED:
            yield window


def files_of(home: Path, database: Path | None) -> list[Path]:
    """Every file of the home, and those of a SQLite database that stands elsewhere."""
    found = {path for path in home.rglob("*") if path.is_file()}
    if database is not None:
        beside = (
            database.with_name(database.name + end) for end in ("", "-wal", "-shm", "-journal")
        )
        found.update(path for path in beside if path.is_file())
    return sorted(found)


def in_files(needles: Needles, files: Iterable[Path]) -> list[Hit]:
    """What stands in the bytes of the files; the place is the file's path."""
    longest = max((len(n) for some in needles.long.values() for n in some), default=WINDOW)
    found: dict[tuple[str, bytes], list[int]] = {}
    for path in files:
        with path.open("rb") as file:
            tail, start = b"", 0  # where `data` begins in the file
            while part := file.read(_AT_ONCE):
                data = tail + part
                for at, needle in needles.find(data):
                    if at + len(needle) > len(tail):  # else the part before has counted it
                        found.setdefault((str(path), needle), []).append(start + at)
                tail = data[-longest:]
                start += len(data) - len(tail)
    return _hits(found)


def _hits(found: dict[tuple[str, bytes], list[int]]) -> list[Hit]:
    return [
        Hit(place=place, needle=needle, offsets=sorted(offsets))
        for (place, needle), offsets in found.items()
    ]


def sizes(hits: Iterable[Hit]) -> dict[str, int]:
    """Bytes found by place; where two strings overlap, a byte counts once."""
    spans: dict[str, list[tuple[int, int]]] = {}
    for hit in hits:
        size = len(hit.needle)
        spans.setdefault(hit.place, []).extend((at, at + size) for at in hit.offsets)
    found: dict[str, int] = {}
    for place, some in spans.items():
        total = reached_to = 0
        for start, end in sorted(some):
            total += max(0, end - max(start, reached_to))
            reached_to = max(reached_to, end)
        found[place] = total
    return found


def in_rows(
    connection: Connection, needles: Needles, tables: Iterable[Table] | None = None
) -> list[Hit]:
    """What stands in the values of rows; the place is the table's name, offsets order them."""
    found: dict[tuple[str, bytes], list[int]] = {}
    for table in metadata.sorted_tables if tables is None else tables:
        columns = [c for c in table.c if isinstance(c.type, (String, LargeBinary))]
        rows = connection.execute(select(*columns).execution_options(yield_per=_ROWS))
        start = 0
        for some in rows.partitions(_ROWS):
            data = b"\0".join(_bytes(item) for row in some for item in row if item)
            for at, needle in needles.find(data):
                found.setdefault((table.name, needle), []).append(start + at)
            start += len(data)
    return _hits(found)


def _bytes(item: object) -> bytes:
    return item if isinstance(item, bytes) else str(item).encode("utf-8", "surrogatepass")
