"""Erasure leaves no byte of the patient, touches no neighbour, and says so truthfully."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import subprocess
import sys
import zlib
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from bedside.cli import main
from bedside.core.errors import AccessDenied, Conflict, NotFound
from bedside.core.ids import ActorId, PatientId, TenantId
from bedside.settings import load_settings
from bedside.storage import turns
from bedside.storage.erasure import KEPT, bury, leftovers, reached, scope
from bedside.storage.tables import metadata
from bedside.wiring import Ask, Engine, Who, build_engine
from bedside.wiring.keeping import erase

T = TenantId("default")
ADA, BEN = "pt-quokka-77120", "pt-narwhal-88231"
CANARIES = {
    "id": ADA,
    "family name": "Quokkasdottir",
    "record number": "MRN-5550001777",
    "telephone": "+44 20 7946 0991",
    "letter": "She keeps four zebrafinches beside her window in Tavistock",
    "question": "Does the pelargonium remark about her HbA1c matter?",
    "note in a result": "pelargonium remark of the laboratory",
}
NEIGHBOUR = "He mends barometers in Whitstable and sleeps badly since March."


def bundle(ident: str, family: str, number: str, phone: str, remark: str) -> bytes:
    subject = {"reference": f"Patient/{ident}"}
    resources = [
        {"resourceType": "Patient", "id": ident, "gender": "female", "birthDate": "1961-04-02",
         "identifier": [{"type": {"coding": [{"code": "MR"}]}, "value": number}],
         "name": [{"family": family, "given": ["Ada"]}],
         "telecom": [{"system": "phone", "value": phone}]},
        {"resourceType": "Condition", "id": f"{ident}-c", "subject": subject,
         "code": {"text": "Type 2 diabetes"}, "onsetDateTime": "2015-02-03",
         "clinicalStatus": {"coding": [{"code": "active"}]}},
        {"resourceType": "Observation", "id": f"{ident}-o", "subject": subject, "status": "final",
         "code": {"text": "HbA1c", "coding": [{"system": "http://loinc.org", "code": "4548-4"}]},
         "effectiveDateTime": "2026-01-05", "valueQuantity": {"value": 8.2, "unit": "%"},
         "note": [{"text": remark}]},
    ]  # fmt: skip
    entries = [{"resource": item} for item in resources]
    return json.dumps({"resourceType": "Bundle", "type": "collection", "entry": entries}).encode()


def opened(home: Path) -> Engine:
    return build_engine(load_settings(home=home, environ={"BEDSIDE_EMBEDDER": "none"}))


async def fill(engine: Engine) -> dict[str, Any]:
    """Two patients with records, letters, turns and a report."""
    who = engine.local()
    ada = bundle(ADA, CANARIES["family name"], CANARIES["record number"], CANARIES["telephone"],
                 CANARIES["note in a result"])  # fmt: skip
    ben = bundle(BEN, "Narwhalson", "MRN-8880002", "+44 20 7946 0123", "haemolysed sample")
    await engine.import_bytes([("ada.json", ada), ("ben.json", ben)], who)
    letter = f"Discharge letter\n\n{CANARIES['letter']}. Amoxicillin was given.\n"
    await engine.attach(ADA, [("ada letter.txt", letter.encode())], who)
    await engine.attach(BEN, [("ben letter.txt", f"Clinic letter\n\n{NEIGHBOUR}\n".encode())], who)
    asked = await engine.asker.ask(Ask(question=CANARIES["question"], patient=ADA), who)
    other = await engine.asker.ask(Ask(question="What is the latest HbA1c?", patient=BEN), who)
    await engine.report(
        asked["turn_id"], target="answer", kind="wrong", note=CANARIES["letter"], who=who
    )
    return {"ada": asked, "ben": other}


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    made = opened(tmp_path)
    yield made
    asyncio.run(made.close())


def found_in(home: Path) -> set[tuple[str, str]]:
    """(canary, file): an own search, plain and in UTF-16, also inside what is compressed."""
    seen: set[tuple[str, str]] = set()
    for file in home.rglob("*"):
        if file.is_file():
            body = file.read_bytes()
            for name, text in CANARIES.items():
                if any(text.encode(c) in body for c in ("utf-8", "utf-16-le", "utf-16-be")):
                    seen.add((name, file.name))
    return seen


def dump(home: Path) -> dict[str, list[tuple[Any, ...]]]:
    with sqlite3.connect(home / "bedside.db") as plain:
        names = [
            row[0] for row in plain.execute("SELECT name FROM sqlite_master WHERE type='table'")
        ]
        return {name: sorted(plain.execute(f"SELECT * FROM {name}").fetchall(), key=repr)
                for name in names}  # fmt: skip


def rows_of(ident: str, held: dict[str, list[tuple[Any, ...]]]) -> dict[str, list[tuple[Any, ...]]]:
    """Rows in which the id stands, or whose compressed body has it."""

    def has(row: tuple[Any, ...]) -> bool:
        for item in row:
            if isinstance(item, str) and ident in item:
                return True
            if (
                isinstance(item, bytes)
                and item[:1] == b"\x78"
                and ident.encode() in zlib.decompress(item)
            ):
                return True
        return False

    return {name: [row for row in rows if has(row)] for name, rows in held.items()}


@pytest.mark.requirement("RELIABILITY-20")
def test_no_byte_of_an_erased_patient_is_in_any_file(engine: Engine, tmp_path: Path) -> None:
    asyncio.run(fill(engine))
    before = {name for name, _ in found_in(tmp_path)}
    assert before >= set(CANARIES) - {"telephone"}, "the search itself must find them"
    receipt = asyncio.run(erase(engine, ADA, engine.local()))
    assert found_in(tmp_path) == set()
    assert receipt["residual_bytes"] == 0
    assert receipt["residual"] == []
    assert receipt["searched"]["strings"] > 50
    assert set(receipt) >= {"patient", "removed", "residual_bytes", "verified_at"}


@pytest.mark.requirement("RELIABILITY-20")
def test_a_neighbour_keeps_every_row_as_it_was(engine: Engine, tmp_path: Path) -> None:
    asyncio.run(fill(engine))
    before = dump(tmp_path)
    receipt = asyncio.run(erase(engine, ADA, engine.local()))
    after = dump(tmp_path)
    assert rows_of(BEN, after) == rows_of(BEN, before)
    assert not any(rows_of(ADA, after).values())
    for name, n in receipt["removed"].items():
        if name != "record_directory":
            assert len(before[name]) - len(after[name]) == n, name
    assert receipt["removed"]["record_resource"] == 3
    assert receipt["removed"]["turn"] == receipt["removed"]["report"] == 1
    again = asyncio.run(
        engine.asker.ask(Ask(question="What is the latest HbA1c?", patient=BEN), engine.local())
    )
    assert "8.2" in again["answer"]


@pytest.mark.requirement("EN-S3")
def test_afterwards_nothing_is_found_and_the_trail_still_verifies(engine: Engine) -> None:
    async def work() -> None:
        who, made = engine.local(), await fill(engine)
        cited = made["ada"]["citations"][0]["source"]["id"] if made["ada"]["citations"] else "x"
        entries = len(await engine.audit(who, patient=ADA))
        await erase(engine, ADA, who)
        assert [item["id"] for item in await engine.patients(who)] == [BEN]
        for gone in (
            engine.asker.ask(Ask(question="What is the latest HbA1c?", patient=ADA), who),
            engine.source(cited, who),
            engine.turn(made["ada"]["turn_id"], who),
            engine.opening(ADA, who),
            engine.documents(ADA, who),
        ):
            with pytest.raises(NotFound):
                await gone
        assert (await engine.verify_audit(who))["ok"]
        trail = await engine.audit(who, patient=None)
        assert ADA not in json.dumps(trail, default=str)
        known = await engine.audit(
            who, patient=ADA
        )  # whoever knows the id can still account for it
        assert len(known) == entries + 1
        assert known[-1]["action"] == "erase"
        assert {item["patient"] for item in known} == {known[-1]["patient"]}

    asyncio.run(work())


def test_a_file_that_still_holds_the_patient_is_named_with_its_bytes(
    engine: Engine, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asyncio.run(fill(engine))
    (tmp_path / "exports").mkdir()
    left = tmp_path / "exports" / "old.txt"
    wide = tmp_path / "exports" / "wide.txt"
    left.write_text(f"for {CANARIES['record number']} only", encoding="utf-8")
    wide.write_text(f"for {CANARIES['record number']} only", encoding="utf-16-le")
    receipt = asyncio.run(erase(engine, ADA, engine.local()))
    sizes = {item["place"]: item["bytes"] for item in receipt["residual"]}
    assert sizes.pop("exports/old.txt") == len(CANARIES["record number"])
    # A byte more: the zero before it makes it big-endian as well.
    assert sizes.pop("exports/wide.txt") == 2 * len(CANARIES["record number"]) + 1
    assert sizes == {}
    assert receipt["residual_bytes"] == 3 * len(CANARIES["record number"]) + 1
    wide.unlink()
    left.write_text(f"and {ADA}", encoding="utf-8")
    assert main(["erase", ADA, "--home", str(tmp_path), "--json"]) == 3
    assert json.loads(capsys.readouterr().out)["residual_bytes"] == len(ADA)
    left.unlink()
    assert main(["erase", ADA, "--home", str(tmp_path)]) == 0


def test_text_about_the_patient_in_a_neighbours_letter_is_left_and_counted(
    engine: Engine, tmp_path: Path
) -> None:
    async def work() -> dict[str, Any]:
        await fill(engine)
        letter = (
            f"Family history\n\nHis sister has the record number {CANARIES['record number']}.\n"
        )
        await engine.attach(BEN, [("kin.txt", letter.encode())], engine.local())
        return await erase(engine, ADA, engine.local())

    receipt = asyncio.run(work())
    assert receipt["mentioned_elsewhere"]["source"] == 1
    assert receipt["residual_bytes"] == 0
    assert {name for name, _ in found_in(tmp_path)} == {"record number"}


@pytest.mark.slow
def test_a_reader_of_an_older_moment_makes_the_receipt_say_what_is_left(
    engine: Engine, tmp_path: Path
) -> None:
    asyncio.run(fill(engine))
    reader = sqlite3.connect(tmp_path / "bedside.db")
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM source").fetchone()
    held = asyncio.run(erase(engine, ADA, engine.local()))
    assert held["residual_bytes"] > 0
    assert found_in(tmp_path)
    reader.close()
    assert asyncio.run(erase(engine, ADA, engine.local()))["residual_bytes"] == 0
    assert found_in(tmp_path) == set()


SECOND = """
import asyncio, sys
from pathlib import Path
from bedside.core.errors import NotFound
from bedside.settings import load_settings
from bedside.wiring import Ask, build_engine

async def work():
    engine = build_engine(load_settings(home=Path(sys.argv[1]), environ={"BEDSIDE_EMBEDDER": "none"}))
    who = engine.local()
    ask = Ask(question="What does the letter say of zebrafinches?", patient=sys.argv[2])
    turn = await engine.asker.ask(ask, who)
    documents = await engine.documents(sys.argv[2], who)
    print("warm", "zebrafinches" in str(turn), len(documents), flush=True)
    await asyncio.to_thread(sys.stdin.readline)
    try:
        print("served", await engine.asker.ask(ask, who), flush=True)
    except NotFound:
        print("gone", flush=True)
    found = await engine.search(who=who, query="zebrafinches beside her window in Tavistock")
    print("hits", len(found["hits"]), len(await engine.patients(who)), flush=True)
    await engine.close()

asyncio.run(work())
"""


@pytest.mark.requirement("RELIABILITY-20")
def test_another_process_that_has_read_the_patient_serves_nothing_more(
    engine: Engine, tmp_path: Path
) -> None:
    asyncio.run(fill(engine))
    with subprocess.Popen(
        [sys.executable, "-c", SECOND, str(tmp_path), ADA],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as second:
        assert second.stdin is not None
        assert second.stdout is not None
        assert second.stdout.readline().split() == ["warm", "True", "1"]
        receipt = asyncio.run(erase(engine, ADA, engine.local()))
        second.stdin.write("\n")
        second.stdin.flush()
        said = second.stdout.read().splitlines()
    assert second.returncode == 0
    assert said == ["gone", "hits 0 1"]
    assert receipt["residual_bytes"] == 0
    assert found_in(tmp_path) == set()


def test_a_turn_that_was_running_commits_nothing_afterwards(engine: Engine, tmp_path: Path) -> None:
    asyncio.run(fill(engine))
    now = datetime.now(UTC)
    new = turns.NewTurn(
        tenant=T, turn="t-run", session="s-run", flow="copilot", actor="local", patient=ADA,
        key=None, request_sha256="", text=CANARIES["question"], person="", as_of=date(2026, 3, 1),
        pinned={},
    )  # fmt: skip
    begun = engine.store.write_now(
        lambda c: turns.begin(c, new, now=now, lease=timedelta(seconds=90))
    )
    assert isinstance(begun, turns.Begun)
    asyncio.run(erase(engine, ADA, engine.local()))
    with pytest.raises(Conflict):
        engine.store.write_now(
            lambda c: turns.finish(
                c, new=new, begun=begun, status="complete", answer=CANARIES["letter"],
                result={"answer": CANARIES["letter"]}, trace={}, numbering={}, prompts=[], now=now,
            )
        )  # fmt: skip
    assert found_in(tmp_path) == set()


def test_an_erasure_that_was_cut_after_its_commit_is_finished_by_asking_again(
    engine: Engine, tmp_path: Path
) -> None:
    asyncio.run(fill(engine))
    engine.store.write_now(
        lambda c: bury(
            c, tenant=T, who=PatientId(ADA), actor=ActorId("local"), ident="e1",
            at=datetime.now(UTC),
        )
    )  # fmt: skip
    receipt = asyncio.run(erase(engine, ADA, engine.local()))
    assert (receipt["removed"], receipt["residual_bytes"]) == ({}, 0)
    assert found_in(tmp_path) == set()
    assert "e1" in (tmp_path / "erasures.jsonl").read_text()


def test_part_of_a_name_erases_nobody(engine: Engine) -> None:
    async def work() -> None:
        await fill(engine)
        for text in ("Quokkasdottir", "Ada", "nobody"):
            with pytest.raises(NotFound):
                await erase(engine, text, engine.local())
        assert len(await engine.patients(engine.local())) == 2
        assert (await erase(engine, "ada quokkasdottir", engine.local()))["patient"] == ADA

    asyncio.run(work())


def test_erasing_takes_the_role_of_an_administrator_and_the_patient(engine: Engine) -> None:
    async def work() -> None:
        await fill(engine)
        for roles, patients in ((("clinician",), None), (("admin",), frozenset({BEN}))):
            who = Who(tenant=T, actor=ActorId("x"), roles=frozenset(roles), patients=patients)
            with pytest.raises(AccessDenied):
                await erase(engine, ADA, who)
        assert len(await engine.patients(engine.local())) == 2

    asyncio.run(work())


def test_a_patient_who_comes_back_is_a_new_patient_and_stays(tmp_path: Path) -> None:
    async def work() -> None:
        engine = opened(tmp_path)
        await fill(engine)
        await erase(engine, ADA, engine.local())
        await engine.import_bytes([("a.json", bundle(ADA, "Q", "N-1", "1", "x"))], engine.local())
        await engine.close()
        again = opened(tmp_path)  # what the ledger says was done is not done again
        assert len(await again.patients(again.local())) == 2
        await again.close()

    asyncio.run(work())


def test_the_neighbour_of_another_tenant_with_the_same_id_stays(tmp_path: Path) -> None:
    async def work() -> None:
        engine = opened(tmp_path)
        other = Who(tenant=TenantId("elsewhere"))
        same = bundle(ADA, "Elsewhere", "N-2", "2", "other remark")
        await fill(engine)
        await engine.import_bytes([("a.json", same)], other)
        await erase(engine, ADA, engine.local())
        assert [item["id"] for item in await engine.patients(other)] == [ADA]
        assert (await engine.opening(ADA, other))["banner"]["name"]
        await engine.close()

    asyncio.run(work())


def test_every_table_is_reached_by_an_erasure_or_named_as_kept() -> None:
    names = {table.name for table in reached()}
    assert names | KEPT == set(metadata.tables)
    assert names.isdisjoint(KEPT)
    for table in reached():
        scope(table, tenant="t", who="p")  # raises where nothing says whose its rows are


def test_rows_without_their_patient_are_counted_as_leftovers(
    engine: Engine, tmp_path: Path
) -> None:
    asyncio.run(fill(engine))
    assert engine.store.read_now(leftovers) == {}
    with sqlite3.connect(tmp_path / "bedside.db") as plain:
        plain.execute("DELETE FROM patient WHERE id = ?", (ADA,))
    found = engine.store.read_now(leftovers)
    assert list(found) == [("default", ADA)]
    assert found["default", ADA]["record_resource"] == 3
    assert asyncio.run(erase(engine, ADA, engine.local()))["residual_bytes"] == 0
    assert engine.store.read_now(leftovers) == {}


def test_the_doctor_finds_leftovers_and_removes_those_of_the_erased(
    engine: Engine, tmp_path: Path
) -> None:
    async def work() -> None:
        await fill(engine)
        assert said(await engine.doctor())["erasures"] == (True, "0 patients erased")
        await erase(engine, ADA, engine.local())
        with sqlite3.connect(tmp_path / "bedside.db") as plain:
            plain.execute(
                "INSERT INTO source (tenant, id, revision, kind, patient, title, section, "
                "superseded, sha256, media_type, meta, state, created_at, text) SELECT tenant, "
                "'back', 1, kind, ?, title, section, 0, sha256, media_type, meta, state, "
                "created_at, ? FROM source LIMIT 1",
                (ADA, CANARIES["letter"]),
            )
        ok, detail = said(await engine.doctor())["erasures"]
        assert not ok
        assert "1 rows of 1 patients" in detail
        assert ADA not in detail
        ok, detail = said(await engine.doctor(repair=True))["erasures"]
        assert (ok, detail) == (True, "1 patients erased; 1 leftover rows removed")
        assert (await engine.verify_audit(engine.local()))["ok"]

    asyncio.run(work())
    assert found_in(tmp_path) == set()


def test_the_doctor_finds_a_document_whose_bytes_have_changed(
    engine: Engine, tmp_path: Path
) -> None:
    async def work() -> None:
        await fill(engine)
        assert said(await engine.doctor(repair=True))["documents"][0]
        with sqlite3.connect(tmp_path / "bedside.db") as plain:
            plain.execute("UPDATE record_document SET content = x'00' WHERE patient = ?", (BEN,))
        ok, detail = said(await engine.doctor(repair=True))["documents"]
        assert not ok
        assert "1 whose bytes" in detail

    asyncio.run(work())


def said(report: dict[str, Any]) -> dict[str, tuple[bool, str]]:
    return {item["name"]: (item["ok"], item["detail"]) for item in report["checks"]}
