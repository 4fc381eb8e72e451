"""A whole store copied into an empty one, table by table, and compared."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from datetime import date, datetime

from sqlalchemy import Connection, Row, Table, func, insert, select, text

from bedside.core.errors import Conflict, Unavailable
from bedside.core.value import value
from bedside.storage.store import Store
from bedside.storage.tables import metadata
from bedside.storage.tables.knowledge import knowledge_change

__all__ = ["Copied", "Tell", "copy_store", "fingerprint", "row_counts"]

Tell = Callable[[str, int, int], None]
"""Progress: the table, how many tables are done, of how many."""
_AT_ONCE = 500


@value
class Copied:
    """What stands in both stores, by table: rows, and a digest of their content."""

    rows: dict[str, int]
    digests: dict[str, str]


def copy_store(source: Store, target: Store, *, tell: Tell | None = None) -> Copied:
    """Copy every row of `source`, as of one moment, into `target`, which has the schema and no rows.

    One transaction of the target: where it is cut or a table differs afterwards, nothing is kept and
    it can be begun again. The source is only read.

    Raises:
        Conflict: the target holds rows.
        Unavailable: a store fails, or what was written does not read back as it was.
    """
    return source.read_now(lambda old: target.write_now(lambda new: _copy(old, new, tell)))


def _copy(old: Connection, new: Connection, tell: Tell | None) -> Copied:
    tables = metadata.sorted_tables
    held = sum(row_counts(new).values())
    if held:
        raise Conflict(
            "the target",
            why=f"it holds {held:,} rows already",
            do="Give an empty database; nothing was changed.",
        )
    rows: dict[str, int] = {}
    digests: dict[str, str] = {}
    for number, table in enumerate(tables):
        if tell is not None:
            tell(table.name, number, len(tables))
        read = old.execute(select(table).execution_options(yield_per=_AT_ONCE))
        for some in read.partitions(_AT_ONCE):
            new.execute(insert(table), [dict(row._mapping) for row in some])  # noqa: SLF001
        before, after = fingerprint(old, table), fingerprint(new, table)
        if before != after:
            raise Unavailable(
                "the target",
                why=f"table {table.name} reads back differently: {after[0]} of {before[0]} rows",
                do="Nothing was kept. Check the target's encoding (UTF-8) and try again.",
            )
        rows[table.name], digests[table.name] = after
    _continue_numbers(old, new)
    if tell is not None:
        tell("", len(tables), len(tables))
    return Copied(rows=rows, digests=digests)


def row_counts(connection: Connection, tables: Sequence[Table] | None = None) -> dict[str, int]:
    """How many rows each table has."""
    return {
        table.name: connection.execute(select(func.count()).select_from(table)).scalar_one()
        for table in (metadata.sorted_tables if tables is None else tables)
    }


def fingerprint(connection: Connection, table: Table) -> tuple[int, str]:
    """(rows, digest of their content): the same on both engines, whatever order they give rows in."""
    total, n = 0, 0
    for row in connection.execute(select(table).execution_options(yield_per=_AT_ONCE)):
        total = (total + int.from_bytes(_digest(row), "big")) % (1 << 256)
        n += 1
    return n, f"{total:064x}"


def _digest(row: Row[tuple[object, ...]]) -> bytes:
    whole = hashlib.sha256()
    for item in row:
        body = _plain(item)
        whole.update(len(body).to_bytes(8, "big"))
        whole.update(body)
    return whole.digest()


def _plain(item: object) -> bytes:
    if item is None:
        return b"n"
    if isinstance(item, bytes):
        return b"b" + item
    if isinstance(item, datetime | date):
        return b"t" + item.isoformat().encode()
    if isinstance(item, bool | int):
        return b"i" + str(int(item)).encode()
    return b"s" + str(item).encode("utf-8", "surrogatepass")


def _continue_numbers(old: Connection, new: Connection) -> None:
    """The change log's next number comes after every number that was ever given."""
    last = new.execute(select(func.max(knowledge_change.c.seq))).scalar() or 0
    name = knowledge_change.name
    if old.dialect.name == "sqlite":
        given = old.execute(text("SELECT seq FROM sqlite_sequence WHERE name = :n"), {"n": name})
    else:
        given = old.execute(text(f"SELECT last_value FROM {name}_seq_seq"))  # noqa: S608
    last = max(last, given.scalar() or 0)
    if not last:
        return
    if new.dialect.name != "sqlite":
        sequence = {"t": name, "v": last}
        new.execute(text("SELECT setval(pg_get_serial_sequence(:t, 'seq'), :v)"), sequence)
    elif not new.execute(
        text("UPDATE sqlite_sequence SET seq = :v WHERE name = :n"), {"v": last, "n": name}
    ).rowcount:
        new.execute(text("INSERT INTO sqlite_sequence VALUES (:n, :v)"), {"v": last, "n": name})
