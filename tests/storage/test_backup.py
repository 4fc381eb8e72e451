"""Backup under load, restore, and that the erased stay erased."""

from __future__ import annotations

import asyncio
import hashlib
import io
import json
import shutil
import sqlite3
import tarfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bedside.cli import main
from bedside.core.errors import BadInput, Conflict, Unavailable
from bedside.core.ids import ActorId, TenantId
from bedside.settings import Settings, load_settings
from bedside.storage import access
from bedside.wiring import Ask, Engine, build_engine
from bedside.wiring.backups import backup, restore
from bedside.wiring.keeping import erase

T = TenantId("default")
QUESTION = "What is the latest HbA1c?"


def settings_of(home: Path) -> Settings:
    return load_settings(home=home, environ={"BEDSIDE_EMBEDDER": "none"})


def bundle(ident: str, value: float) -> bytes:
    resources = [
        {"resourceType": "Patient", "id": ident, "name": [{"family": f"Family{ident}"}]},
        {"resourceType": "Observation", "id": f"{ident}-o", "status": "final",
         "subject": {"reference": f"Patient/{ident}"}, "effectiveDateTime": "2026-01-05",
         "code": {"text": "HbA1c", "coding": [{"system": "http://loinc.org", "code": "4548-4"}]},
         "valueQuantity": {"value": value, "unit": "%"}},
    ]  # fmt: skip
    entries = [{"resource": item} for item in resources]
    return json.dumps({"resourceType": "Bundle", "type": "collection", "entry": entries}).encode()


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"

    async def fill(engine: Engine) -> None:
        files = [("a.json", bundle("ann", 7.1)), ("b.json", bundle("bob", 8.3))]
        await engine.import_bytes(files, engine.local())
        await engine.attach("ann", [("l.txt", b"Letter\n\nShe was well in May.\n")], engine.local())

    work(folder, fill)
    return folder


def work(home: Path, what: Any) -> Any:
    async def run() -> Any:
        engine = build_engine(settings_of(home))
        try:
            return await what(engine)
        finally:
            await engine.close()

    return asyncio.run(run())


def saved(home: Path, file: Path) -> dict[str, Any]:
    return work(home, lambda engine: backup(engine, file, engine.local()))


def restored(home: Path, file: Path, **more: Any) -> dict[str, Any]:
    return asyncio.run(restore(settings_of(home), file, **more))


def erased(home: Path, patient: str) -> dict[str, Any]:
    return work(home, lambda engine: erase(engine, patient, engine.local()))


def patients(home: Path) -> list[str]:
    async def listed(engine: Engine) -> list[str]:
        return sorted(item["id"] for item in await engine.patients(engine.local()))

    return work(home, listed)


@pytest.mark.requirement("RELIABILITY-6")
def test_a_backup_taken_while_others_write_restores_whole_with_the_same_answers(
    home: Path, tmp_path: Path
) -> None:
    stop, busy = threading.Event(), threading.Event()
    file = tmp_path / "b.tar"

    async def asked(engine: Engine) -> dict[str, Any]:
        turn = await engine.asker.ask(Ask(question=QUESTION, patient="bob"), engine.local())
        return {key: turn[key] for key in ("answer", "claims", "status")}

    async def under_load(engine: Engine) -> dict[str, Any]:
        def write() -> None:
            while not stop.is_set():
                engine.store.write_now(
                    lambda c: access.note(
                        c, tenant=T, actor=ActorId("w"), action="read", at=engine.clock.now()
                    )
                )
                busy.set()

        writer = threading.Thread(target=write)
        writer.start()
        try:
            assert await asyncio.to_thread(busy.wait, 30)
            made = await backup(engine, file, engine.local())
        finally:
            stop.set()
            writer.join()
        return {**made, "answer": await asked(engine)}

    made = work(home, under_load)
    there = tmp_path / "other"
    done = restored(there, file)
    assert (done["rows"], done["audit"]["ok"]) == (made["rows"], True)
    with sqlite3.connect(there / "bedside.db") as plain:
        assert plain.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert plain.execute("SELECT count(*) FROM audit").fetchone() == (made["rows"]["audit"],)
    assert work(there, asked) == made["answer"]
    assert patients(there) == ["ann", "bob"]


@pytest.mark.requirement("RELIABILITY-6")
def test_who_was_erased_after_the_backup_stays_erased(home: Path, tmp_path: Path) -> None:
    file = tmp_path / "b.tar"
    saved(home, file)
    erased(home, "ann")
    done = restored(home, file, force=True)
    assert done["erased_again"] == 1
    assert patients(home) == ["bob"]
    assert b"Familyann" not in (home / "bedside.db").read_bytes()
    again = restored(tmp_path / "elsewhere", file, erasures=home / "erasures.jsonl")
    assert again["erased_again"] == 1
    assert patients(tmp_path / "elsewhere") == ["bob"]


@pytest.mark.requirement("RELIABILITY-6")
def test_an_old_database_file_put_back_by_hand_brings_nobody_back(
    home: Path, tmp_path: Path
) -> None:
    shutil.copy(home / "bedside.db", tmp_path / "old.db")
    erased(home, "ann")
    shutil.copy(tmp_path / "old.db", home / "bedside.db")
    assert patients(home) == ["bob"]
    assert b"Familyann" not in (home / "bedside.db").read_bytes()
    assert work(home, lambda e: e.verify_audit(e.local()))["ok"]


def test_a_lost_ledger_is_written_again_from_the_store(home: Path, tmp_path: Path) -> None:
    file = tmp_path / "b.tar"
    saved(home, file)
    erased(home, "ann")
    (home / "erasures.jsonl").unlink()
    assert restored(home, file, force=True)["erased_again"] == 1
    assert patients(home) == ["bob"]


def test_a_torn_last_line_of_the_ledger_is_written_again(home: Path) -> None:
    erased(home, "ann")
    erased(home, "bob")
    ledger = home / "erasures.jsonl"
    whole = ledger.read_bytes()
    ledger.write_bytes(whole[:-40])
    assert patients(home) == []
    lines = [line for line in ledger.read_bytes().splitlines() if line.endswith(b"}")]
    assert {json.loads(line)["id"] for line in lines} == {
        json.loads(line)["id"] for line in whole.splitlines()
    }
    assert patients(home) == []


def test_a_ledger_with_a_line_that_is_none_of_ours_stops_the_start(home: Path) -> None:
    erased(home, "ann")
    ledger = home / "erasures.jsonl"
    ledger.write_bytes(b"{}\n" + ledger.read_bytes())
    with pytest.raises(BadInput, match="line 1"):
        patients(home)


def test_tombstones_of_another_store_are_counted_and_harm_nobody(
    home: Path, tmp_path: Path
) -> None:
    file = tmp_path / "b.tar"
    saved(home, file)
    other = tmp_path / "other"
    work(other, lambda e: e.import_bytes([("a.json", bundle("ann", 7.1))], e.local()))
    erased(other, "ann")
    done = restored(tmp_path / "new", file, erasures=other / "erasures.jsonl")
    assert (done["erased_again"], done["foreign_tombstones"]) == (0, 1)
    assert patients(tmp_path / "new") == ["ann", "bob"]


def damaged(file: Path) -> Iterator[tuple[str, bytes]]:
    body = file.read_bytes()
    for part in (0.1, 0.3, 0.5, 0.7):
        at = int(len(body) * part)
        yield f"a byte at {part}", body[:at] + bytes([body[at] ^ 0xFF]) + body[at + 1 :]
    yield "cut in half", body[: len(body) // 2]
    yield "no tar", b"hello"
    yield "empty", b""
    db = (file.parent / "home" / "bedside.db").read_bytes()
    yield "a bare database", db
    yield "no manifest", tarred({"bedside.db": db})
    manifest = {"format": 1, "engine": "0", "schema": "0002", "made_at": "", "rows": {},
                "sha256": {"bedside.db": hashlib.sha256(db).hexdigest()}}  # fmt: skip
    yield "rows that are not there", tarred({"bedside.db": db}, manifest)
    yield "a way out", tarred({"../evil": b"x"}, manifest)


def tarred(files: dict[str, bytes], manifest: dict[str, Any] | None = None) -> bytes:
    out = io.BytesIO()
    if manifest is not None:
        files = {**files, "manifest.json": json.dumps(manifest).encode()}
    with tarfile.open(fileobj=out, mode="w") as tar:
        for name, body in files.items():
            head = tarfile.TarInfo(name)
            head.size = len(body)
            tar.addfile(head, io.BytesIO(body))
    return out.getvalue()


@pytest.mark.requirement("RELIABILITY-6")
def test_a_damaged_backup_is_refused_and_nothing_is_there_afterwards(
    home: Path, tmp_path: Path
) -> None:
    file = tmp_path / "b.tar"
    saved(home, file)
    bad, there = tmp_path / "bad.tar", tmp_path / "new"
    for what, body in damaged(file):
        bad.write_bytes(body)
        with pytest.raises((BadInput, Unavailable)):
            restored(there, bad)
        assert not [path for path in there.rglob("*") if path.is_file()], what
        assert not (tmp_path / "evil").exists()
    before = (home / "bedside.db").read_bytes()
    bad.write_bytes(file.read_bytes()[: file.stat().st_size // 3])
    with pytest.raises(BadInput):
        restored(home, bad, force=True)
    assert (home / "bedside.db").read_bytes() == before


def test_a_home_that_is_in_use_or_there_is_not_replaced(home: Path, tmp_path: Path) -> None:
    file = tmp_path / "b.tar"
    saved(home, file)
    with pytest.raises(Conflict, match="--force"):
        restored(home, file)
    engine = build_engine(settings_of(home))
    asyncio.run(engine.patients(engine.local()))
    with pytest.raises(Conflict, match="another process"):
        restored(home, file, force=True)
    asyncio.run(engine.close())
    assert restored(home, file, force=True)["audit"]["ok"]


def test_a_backup_holds_the_other_files_and_no_settings_nor_cache(
    home: Path, tmp_path: Path
) -> None:
    for name in ("bedside.toml", "cache/model.onnx", "backups/old.tar", "uploads/a/scan.png"):
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_bytes(b"")
    (home / "uploads/a/scan.png").write_bytes(b"picture")
    file = home / "backups" / "b.tar"
    made = saved(home, file)
    assert set(made["sha256"]) == {"bedside.db", "home/uploads/a/scan.png"}
    assert file.stat().st_mode & 0o077 == 0
    there = tmp_path / "new"
    restored(there, file)
    assert (there / "uploads/a/scan.png").read_bytes() == b"picture"
    with tarfile.open(file) as tar:
        inside = tar.extractfile("bedside.db")
        assert inside is not None
        assert hashlib.sha256(inside.read()).hexdigest() == made["sha256"]["bedside.db"]


def test_a_file_that_is_there_is_kept_unless_forced(home: Path, tmp_path: Path) -> None:
    file = tmp_path / "b.tar"
    file.write_bytes(b"mine")
    with pytest.raises(Conflict):
        saved(home, file)
    assert file.read_bytes() == b"mine"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["b.tar", "home"]


def test_the_commands_say_what_was_written_and_verified(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, there = str(tmp_path / "b.tar"), str(tmp_path / "new")
    assert main(["backup", file, "--home", str(home), "--json"]) == 0
    made = json.loads(capsys.readouterr().out)
    assert made["bytes"] == Path(file).stat().st_size
    assert main(["restore", file, "--home", there, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["rows"] == made["rows"]
    assert main(["restore", file, "--home", there]) == 1
    assert "--force" in capsys.readouterr().err
    target = f"sqlite:///{tmp_path / 'moved.db'}"
    assert main(["migrate-store", "--to", target, "--home", there, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["rows"]["patient"] == 2
    assert main(["migrate-store", "--to", target, "--home", there]) == 1
    assert main(["migrate-store", "--to", "mysql://x/y", "--home", there]) == 2
