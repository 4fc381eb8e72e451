"""No room, or no right to write: a clear error, nothing partial, and then it goes on (row 7)."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event
from sqlalchemy.pool import Pool

CANARY = "Quagga7731"


@contextlib.contextmanager
def every_connection(*pragmas: str) -> Iterator[None]:
    """Every connection that is opened meanwhile has these limits."""

    def limit(connection: Any, _record: object) -> None:
        for pragma in pragmas:
            connection.execute(f"PRAGMA {pragma}")

    event.listen(Pool, "connect", limit)
    try:
        yield
    finally:
        event.remove(Pool, "connect", limit)


def pages(home: Path) -> int:
    with sqlite3.connect(home / "bedside.db") as connection:
        found = connection.execute("PRAGMA page_count").fetchone()[0]
    connection.close()
    return found


@pytest.fixture
def files(tmp_path: Path, bundle) -> dict[str, list[str]]:
    """Commands that need several pages each."""
    record = tmp_path / "eve.json"
    record.write_text(json.dumps(bundle("eve", CANARY, words=CANARY * 900)), encoding="utf-8")
    text = tmp_path / "long.md"
    words = f"{CANARY} and a daily dose for the kidney. " * 60
    text.write_text(
        "# Long\n\n" + "\n".join(f"## Part {n}\n\n{words}\n" for n in range(12)), encoding="utf-8"
    )
    return {
        "import": ["import", str(record)],
        "ingest": ["ingest", str(text)],
        "attach": ["attach", "ada", str(text)],
        "ask": ["ask", "What is the latest HbA1c?", "--patient", "ada"],
    }


@pytest.mark.requirement("RELIABILITY-7")
@pytest.mark.parametrize("command", ["import", "ingest", "attach", "ask"])
@pytest.mark.parametrize("room", [0, 2, 8, 20])
def test_a_full_disk_is_named_and_leaves_nothing_partial(
    run, dump, home: Path, files, command: str, room: int
) -> None:
    before = dump(home)
    with every_connection(f"max_page_count={pages(home) + room}"):
        said = run(home, *files[command])
    if said.code == 0:
        assert room, "what needs pages cannot work without any"
        assert dump(home) != before
        return
    assert said.code == 1
    assert CANARY not in said.out + said.err
    error = said.json["error"]
    assert (error["type"], error["title"]) == ("Unavailable", "Unavailable")
    assert "no room" in error["detail"]
    after = dump(home)
    if command in {"import", "ingest"}:
        assert after == before
    else:  # several transactions: what is in sight is whole, the rest says that it is not done
        assert len(after["chunk"]) - len(before["chunk"]) in {0, 12}
        assert all("complete" not in row for row in after["record_document"])
        new = [row for row in after["turn"] if row not in before["turn"]]
        assert all("complete" not in row for row in new)
    again = run(home, *files[command])
    assert again.code == 0
    if command == "attach":
        ((made,), listed) = again.json, dump(home)["record_document"]
        assert (made["status"], len(listed)) == ("complete", 1)
    with sqlite3.connect(home / "bedside.db") as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
    connection.close()


@pytest.mark.requirement("RELIABILITY-7")
@pytest.mark.parametrize("command", ["import", "ingest", "attach", "ask"])
def test_a_store_that_may_not_be_written_is_named_and_untouched(
    run, dump, home: Path, files, command: str
) -> None:
    before, size = dump(home), (home / "bedside.db").read_bytes()
    with every_connection("query_only=ON"):
        said = run(home, *files[command])
    assert said.code == 1
    assert "may not be written" in said.json["error"]["detail"]
    assert CANARY not in said.out + said.err
    assert dump(home) == before
    assert (home / "bedside.db").read_bytes() == size
    assert run(home, *files[command]).code == 0


def test_a_fresh_home_without_room_is_named_and_works_once_there_is_some(
    run, tmp_path: Path
) -> None:
    home = tmp_path / "fresh"
    with every_connection("max_page_count=12"):
        said = run(home, "patients")
    assert said.code == 1
    assert "no room" in said.json["error"]["detail"]
    assert run(home, "patients").json == []


def test_a_store_that_is_held_by_another_writer_is_named(run, home: Path) -> None:
    holder = sqlite3.connect(home / "bedside.db", isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    with every_connection("busy_timeout=50"):
        said = run(home, "patients")
    assert "another process is writing" in said.json["error"]["detail"]
    holder.execute("ROLLBACK")
    holder.close()
    assert run(home, "patients").code == 0
