"""kill -9 while documents come in: nothing acknowledged is lost, nothing is half there (row 1)."""

from __future__ import annotations

import contextlib
import os
import random
import select
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest

MODEL = "hashed:64"
FILES = 8


def corpus(folder: Path, edition: int) -> Path:
    """Files of several sections; every second one differs between editions."""
    folder.mkdir()
    rng = random.Random(7)
    for number in range(FILES):
        changed = edition if number % 2 else 1
        parts = [f"# Guideline {number}\n\nThis is mark-{number}-{changed}.\n"]
        for section in range(rng.randint(2, 9)):
            words = " ".join(
                rng.choice(["dose", "renal", "asthma", "daily", "lower"]) for _ in range(120)
            )
            parts.append(f"## Section {section}\n\n{words} {changed}.\n")
        (folder / f"g{number}.md").write_text("\n".join(parts), encoding="utf-8")
    return folder


@contextlib.contextmanager
def rows(home: Path):
    connection = sqlite3.connect(home / "bedside.db")
    connection.row_factory = sqlite3.Row
    try:
        yield lambda sql: connection.execute(sql).fetchall()
    finally:
        connection.close()


def check(home: Path, acks: list[str]) -> None:
    """Ask the database itself, past every line of the engine."""
    with rows(home) as ask:
        assert ask("PRAGMA integrity_check")[0][0] == "ok"
        assert ask("PRAGMA foreign_key_check") == []
        found: dict[str, list[Any]] = {}
        for row in ask("SELECT * FROM source ORDER BY id, revision"):
            found.setdefault(row["id"], []).append(row)
        for name, revisions in found.items():
            assert [row["revision"] for row in revisions] == list(range(1, len(revisions) + 1))
            assert [row["superseded"] for row in revisions] == [1] * (len(revisions) - 1) + [0]
            for row in revisions:
                whole(ask, row, live=row is revisions[-1])
            number = revisions[-1]["title"].split()[-1]
            assert all(f"mark-{number}-" in row["text"] for row in revisions), name
        assert len({rs[-1]["title"] for rs in found.values()}) == len(found), "a phantom"
        live = {rs[-1]["title"].split()[-1]: rs[-1] for rs in found.values()}
        for ack in acks:
            kind, _, name = ack.partition(" ")
            if kind in {"words", "skipped"}:
                number = Path(name).stem.removeprefix("g")
                assert number in live, f"{ack!r} was acknowledged and is lost"
                edition = 2 if int(number) % 2 else 1
                assert f"mark-{number}-{edition}." in live[number]["text"], ack
            elif kind == "ready":
                assert any(r["id"] == name for rs in found.values() for r in rs), ack


def whole(ask, row: Any, *, live: bool) -> None:
    """A live revision has all its chunks and words, and vectors of all or of none in sight."""
    where = f"source = '{row['id']}' AND revision = {row['revision']}"
    chunks = ask(f"SELECT * FROM chunk WHERE {where} ORDER BY ordinal")
    if not live:
        assert chunks == []
        return
    assert chunks
    assert [piece["ordinal"] for piece in chunks] == list(range(chunks[0]["total"]))
    for piece in chunks:
        own = f"chunk = '{piece['id']}'"
        assert len(ask(f"SELECT 1 FROM chunk_words WHERE {own}")) == 1
        if row["state"] == "ready":
            assert ask(f"SELECT 1 FROM chunk_vector WHERE {own} AND model = '{MODEL}'")


def final(home: Path) -> dict[str, list[tuple[Any, ...]]]:
    """What must not depend on how often the work was cut."""
    with rows(home) as ask:
        return {
            "source": [tuple(r) for r in ask(
                "SELECT id, revision, title, superseded, text, sha256, meta, state FROM source"
                " ORDER BY id, revision")],
            "chunk": [tuple(r) for r in ask("SELECT * FROM chunk ORDER BY id")],
            "chunk_words": [tuple(r) for r in ask("SELECT * FROM chunk_words ORDER BY chunk")],
            "chunk_vector": [tuple(r) for r in ask("SELECT * FROM chunk_vector ORDER BY chunk, window")],
        }  # fmt: skip


def read_acks(path: Path) -> list[str]:
    return path.read_text("utf-8").splitlines() if path.exists() else []


def after(lines: int, seconds: float):
    """Return when the child has told of so many lines, and a moment later."""

    def wait(pipe: Path) -> None:
        listening = os.open(pipe, os.O_RDWR)
        heard = 0
        while heard < lines and select.select([listening], [], [], 10)[0]:
            heard += len(os.read(listening, 100))
        select.select([], [], [], seconds)
        os.close(listening)

    return wait


@pytest.mark.requirement("RELIABILITY-1")
@pytest.mark.timing
@pytest.mark.timeout(1800)
def test_no_kill_loses_or_halves_a_document(crasher, tmp_path: Path, kills: int) -> None:
    rng = random.Random(20260301)
    first, second = corpus(tmp_path / "one", 1), corpus(tmp_path / "two", 2)
    whole_home, start = tmp_path / "whole", tmp_path / "start"
    whole_home.mkdir()
    acks = tmp_path / "counted"
    assert crasher.run(do="ingest", home=str(whole_home), folder=str(first), acks=str(acks)) == 0
    shutil.copytree(whole_home, start)
    acks.unlink()
    assert crasher.run(do="ingest", home=str(whole_home), folder=str(second), acks=str(acks)) == 0
    statements = int(read_acks(acks)[-1].split()[1])
    wanted = final(whole_home)
    assert len(wanted["source"]) == FILES + FILES // 2
    cut = 0
    for number in range(kills):
        home, acks = tmp_path / f"home{number}", tmp_path / f"acks{number}"
        if number % 3:
            shutil.copytree(start, home)
        else:
            home.mkdir()  # killed in a fresh home too, where the tables themselves are made
        order = {"do": "ingest", "home": str(home), "folder": str(second), "acks": str(acks)}
        if number % 2:
            code = crasher.run(**order, at=rng.randint(1, statements))
        else:
            moment = after(rng.randint(0, FILES), rng.random() * 0.05)
            code = crasher.run(moment, **order)
        cut += code == -9
        if (home / "bedside.db").exists() and _has_tables(home):
            check(home, read_acks(acks))
        assert crasher.run(**{**order, "acks": str(tmp_path / "again")}) == 0
        check(home, read_acks(acks))
        again = final(home)
        if number % 3:
            assert again == wanted
        else:
            assert [row[3] for row in again["source"]] == [0] * FILES
        shutil.rmtree(home)
    assert cut >= kills * 0.8, "most of the kills must have hit"


def _has_tables(home: Path) -> bool:
    with rows(home) as ask:
        return bool(ask("SELECT 1 FROM sqlite_master WHERE name = 'source'"))


@pytest.mark.requirement("RELIABILITY-1")
@pytest.mark.timing
@pytest.mark.timeout(1800)
def test_no_kill_loses_an_attached_document_or_doubles_it(
    crasher, home: Path, tmp_path: Path, kills: int
) -> None:
    rng = random.Random(5)
    folder = tmp_path / "letters"
    folder.mkdir()
    for number in range(4):
        (folder / f"l{number}.txt").write_text(
            f"Discharge letter {number}.\n\nShe has mark-{number}-1.\n" * 9, encoding="utf-8"
        )
    base = tmp_path / "base"
    shutil.copytree(home, base)
    counted = tmp_path / "counted"
    assert crasher.run(do="attach", home=str(home), folder=str(folder), acks=str(counted)) == 0
    statements = int(read_acks(counted)[-1].split()[1])
    for number in range(max(8, kills // 3)):
        copy, acks = tmp_path / f"home{number}", tmp_path / f"acks{number}"
        shutil.copytree(base, copy)
        order = {"do": "attach", "home": str(copy), "folder": str(folder), "acks": str(acks)}
        assert crasher.run(**order, at=rng.randint(1, statements)) == -9
        check_attached(copy, read_acks(acks))
        assert crasher.run(**{**order, "acks": str(tmp_path / "again")}) == 0
        check_attached(copy, read_acks(acks))
        with rows(copy) as ask:
            states = [tuple(r) for r in ask('SELECT status, "index" FROM record_document')]
        assert states == [("complete", "words")] * 4
        shutil.rmtree(copy)


def check_attached(home: Path, acks: list[str]) -> None:
    """Every acknowledged document is complete; a complete one has its text, chunks and words."""
    with rows(home) as ask:
        assert ask("PRAGMA integrity_check")[0][0] == "ok"
        found = {row["id"]: row for row in ask("SELECT * FROM record_document")}
        assert len({row["sha256"] for row in found.values()}) == len(found), "a phantom"
        for row in found.values():
            source = ask(f"SELECT * FROM source WHERE id = '{row['id']}'")
            if row["status"] == "complete":
                assert len(source) == 1
            for one in source:
                number = row["file_name"].removeprefix("l").removesuffix(".txt")
                assert f"mark-{number}-1" in one["text"]
                whole(ask, one, live=True)
        for ack in acks:
            if ack.startswith("attached "):
                assert found[ack.split()[1]]["status"] == "complete", f"{ack!r} is lost"
