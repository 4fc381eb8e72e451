"""One set of tests of the whole path, door to rows, on SQLite and on PostgreSQL."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select, text

from bedside.core.errors import BadInput, NotFound
from bedside.settings import load_settings
from bedside.storage.engine import open_engine, sqlite_url
from bedside.storage.store import Store
from bedside.storage.tables import metadata
from bedside.storage.tables.access import audit
from bedside.storage.tables.source import chunk, source
from bedside.wiring import Ask, Engine, build_engine
from bedside.wiring.ask import Who

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]
WORKER = Path(__file__).parents[1] / "reliability" / "crash_worker.py"
GUIDE = b"# Diabetes guideline\n\n## Targets\n\nAim for an HbA1c below 7 % in most adults.\n\n## Review\n\nReview every three months.\n"
LETTER = b"Discharge letter\n\nShe had pneumonia and was given amoxicillin for a week.\n"


@dataclass(frozen=True)
class Place:
    """Where an engine keeps its rows."""

    home: Path
    database: str

    @property
    def environ(self) -> dict[str, str]:
        return {"BEDSIDE_EMBEDDER": "none", "BEDSIDE_DATABASE": self.database}

    def store(self) -> Store:
        return Store(open_engine(self.database or sqlite_url(self.home)))

    @contextlib.asynccontextmanager
    async def engine(self):
        engine: Engine = build_engine(load_settings(home=self.home, environ=self.environ))
        try:
            yield engine
        finally:
            await engine.close()


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    home = tmp_path / "home"
    home.mkdir()
    postgres = request.param == "postgres"
    return Place(home=home, database=request.getfixturevalue("database") if postgres else "")


def bundle(ident: str, family: str, value: float = 8.25, *, note: str = "") -> bytes:
    subject = {"reference": f"Patient/{ident}"}
    entries = [
        {"resourceType": "Patient", "id": ident, "gender": "female", "birthDate": "1961-04-02",
         "name": [{"family": family, "given": ["Ada"]}]},
        {"resourceType": "Condition", "id": f"{ident}-c", "subject": subject,
         "code": {"text": f"Type 2 diabetes {note}".strip()},
         "clinicalStatus": {"coding": [{"code": "active"}]}, "onsetDateTime": "2015-02-03"},
        {"resourceType": "Observation", "id": f"{ident}-o", "subject": subject, "status": "final",
         "code": {"text": "HbA1c", "coding": [{"system": "http://loinc.org", "code": "4548-4"}]},
         "effectiveDateTime": "2026-01-05", "valueQuantity": {"value": value, "unit": "%"}},
    ]  # fmt: skip
    body = {
        "resourceType": "Bundle",
        "type": "collection",
        "entry": [{"resource": e} for e in entries],
    }
    return json.dumps(body).encode()


def counted(place: Place) -> dict[str, int]:
    """Rows of every table, the trail aside, read past the engine."""
    store = place.store()
    names = [table for table in metadata.sorted_tables if table.name not in {"audit", "meta"}]
    found = store.read_now(
        lambda c: {
            t.name: c.execute(select(func.count()).select_from(t)).scalar_one() for t in names
        }
    )
    store.close()
    return found


def run(work) -> Any:
    return asyncio.run(work)


async def filled(engine: Engine) -> Who:
    who = engine.local()
    await engine.import_bytes(
        [("ada.json", bundle("ada", "Lovelace")), ("bea.json", bundle("bea", "Quagga", 6.1))], who
    )
    await engine.ingest_bytes([("guide.md", GUIDE)], who)
    return who


def test_importing_and_ingesting_twice_leaves_the_same_rows(place: Place) -> None:
    async def once() -> tuple[Any, Any]:
        async with place.engine() as engine:
            who = engine.local()
            imported = await engine.import_bytes([("ada.json", bundle("ada", "Lovelace"))], who)
            return imported, await engine.ingest_bytes([("guide.md", GUIDE)], who)

    imported, taken = run(once())
    assert imported["rejected"] == []
    assert (taken["documents"], taken["chunks"]) == (1, 2)
    before = counted(place)
    again = run(once())[1]
    assert (again["documents"], again["skipped"], again["ids"]) == (0, 1, taken["ids"])
    assert counted(place) == before


def test_a_search_finds_the_stored_text_and_keeps_its_filters(place: Place) -> None:
    async def work() -> None:
        async with place.engine() as engine:
            who = await filled(engine)
            found = await engine.search(who=who, query="HbA1c target in adults")
            best = found["hits"][0]
            stored = await engine.source(best["document_id"], who)
            assert stored["text"][best["start"] : best["end"]] == best["text"]
            assert "below 7 %" in best["text"]
            none = await engine.search(who=who, query="HbA1c target", specialty="surgery")
            assert none["hits"] == []
            assert none["removed_by_filter"] == {"specialty": 2}

    run(work())


def test_a_turn_about_a_patient_cites_exact_characters_and_stays_with_the_patient(
    place: Place,
) -> None:
    async def work() -> None:
        async with place.engine() as engine:
            who = await filled(engine)
            turn = await engine.asker.ask(
                Ask(question="What is the latest HbA1c?", patient="ada", key="k"), who
            )
            assert "8.25" in turn["answer"]
            assert "6.1" not in json.dumps(turn)
            assert turn["citations"]
            for cited in turn["citations"]:
                stored = await engine.source(cited["source"]["id"], who)
                assert stored["text"][cited["start"] : cited["end"]] == cited["quote"]

    run(work())


def test_a_turn_without_a_patient_answers_from_the_knowledge(place: Place) -> None:
    async def work() -> None:
        async with place.engine() as engine:
            who = await filled(engine)
            turn = await engine.asker.ask(
                Ask(question="What is the target HbA1c in adults with diabetes?", key="k"), who
            )
            assert "7 %" in turn["answer"]
            assert "8.25" not in json.dumps(turn)

    run(work())


def test_an_attached_letter_is_answered_from_and_is_its_patients_alone(place: Place) -> None:
    async def work() -> None:
        async with place.engine() as engine:
            who = await filled(engine)
            (made,) = await engine.attach("ada", [("letter.txt", LETTER)], who)
            (twice,) = await engine.attach("ada", [("letter.txt", LETTER)], who)
            assert (made["index"], twice["document_id"]) == ("words", made["document_id"])
            asked = "What was she given for pneumonia?"
            turn = await engine.asker.ask(Ask(question=asked, patient="ada"), who)
            assert "amoxicillin" in turn["answer"].lower()
            other = await engine.asker.ask(Ask(question=asked, patient="bea"), who)
            assert "amoxicillin" not in json.dumps(other).lower()
            assert [len(await engine.documents(name, who)) for name in ("ada", "bea")] == [1, 0]
            with pytest.raises(BadInput):
                await engine.attach("ada", [("broken.pdf", b"%PDF-1.7 nothing")], who)
            assert len(await engine.documents("ada", who)) == 1

    run(work())


@pytest.mark.requirement("EN-S3")
def test_every_access_is_in_the_trail_and_a_changed_row_is_found_by_its_number(
    place: Place,
) -> None:
    async def work() -> None:
        async with place.engine() as engine:
            who = await filled(engine)
            before = (await engine.verify_audit(who))["entries"]
            await engine.asker.ask(Ask(question="List her conditions", patient="ada"), who)
            with pytest.raises(NotFound):
                await engine.opening("nobody", who)
            seen = await engine.verify_audit(who)
            assert seen["ok"]
            assert seen["entries"] > before
            await engine.store.write(
                lambda c: c.execute(audit.update().where(audit.c.seq == 2).values(actor="else"))
            )
            spoilt = await engine.verify_audit(who)
            assert (spoilt["ok"], spoilt["first_bad"]) == (False, 2)

    run(work())


def test_a_key_gives_one_turn_also_when_eight_ask_at_once(place: Place) -> None:
    async def work() -> None:
        async with place.engine() as engine:
            who = await filled(engine)
            ask = Ask(question="What is the latest HbA1c?", patient="ada", key="same")
            turns = await asyncio.gather(*(engine.asker.ask(ask, who) for _ in range(8)))
            assert len({turn["turn_id"] for turn in turns}) == 1
            assert len(await engine.turns_of("ada", who)) == 1
        async with place.engine() as engine:  # another process
            again = await engine.asker.ask(ask, engine.local())
            assert again == turns[0]

    run(work())


def test_eight_conversations_at_once_each_get_their_own_answer(place: Place) -> None:
    async def work() -> None:
        async with place.engine() as engine:
            who = await filled(engine)
            asks = [
                Ask(question="What is the latest HbA1c?", patient=name, key=f"{name}{n}")
                for n in range(4)
                for name in ("ada", "bea")
            ]
            turns = await asyncio.gather(*(engine.asker.ask(ask, who) for ask in asks))
            for ask, turn in zip(asks, turns, strict=True):
                mine, other = ("8.25", "6.1") if ask.patient == "ada" else ("6.1", "8.25")
                assert mine in turn["answer"]
                assert other not in json.dumps(turn)
            assert (await engine.verify_audit(who))["ok"]

    run(work())


@pytest.mark.requirement("RELIABILITY-15")
def test_canaries_of_other_patients_and_tenants_never_appear(place: Place) -> None:
    async def work() -> None:
        async with place.engine() as engine:
            who = await filled(engine)
            secret = "Zyzzyva77"
            elsewhere = Who(tenant="other", actor=who.actor)
            note = bundle("cyd", "Corvid", 9.9, note=secret)
            await engine.import_bytes([("cyd.json", note)], who)
            await engine.attach(
                "cyd", [("s.txt", f"Letter\n\n{secret} amoxicillin.\n".encode())], who
            )
            await engine.ingest_bytes(
                [("s.md", f"# Secret\n\n{secret} HbA1c.\n".encode())], elsewhere
            )
            said = [
                await engine.search(who=who, query=f"{secret} HbA1c"),
                await engine.asker.ask(Ask(question="HbA1c and conditions?", patient="ada"), who),
                await engine.asker.ask(Ask(question="What about HbA1c targets?"), who),
                await engine.opening("bea", who),
            ]
            assert secret not in json.dumps(said, default=str).replace(f'"{secret} HbA1c"', "")
            found = await engine.search(who=elsewhere, query=secret)
            assert secret in found["hits"][0]["text"]

    run(work())


# ---- kills


@pytest.fixture
def killed(place: Place, tmp_path: Path) -> Iterator[Any]:
    """Runs an order of the kill tests' worker in a process that dies before a statement."""
    worker = subprocess.Popen(
        [sys.executable, str(WORKER)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
        env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
    )
    acks = tmp_path / "acks"

    def order(**more: Any) -> int:
        acks.write_text("", encoding="utf-8")
        body = {"home": str(place.home), "acks": str(acks), "environ": place.environ, **more}
        if place.database:
            body["database"] = place.database
        assert worker.stdin is not None
        assert worker.stdout is not None
        worker.stdin.write(json.dumps(body) + "\n")
        worker.stdin.flush()
        worker.stdout.readline()
        return int(worker.stdout.readline())

    order.acks = lambda: acks.read_text(encoding="utf-8").splitlines()  # type: ignore[attr-defined]
    yield order
    assert worker.stdin is not None
    assert worker.stdout is not None
    worker.stdin.close()
    worker.wait(timeout=30)
    worker.stdout.close()


def statements(killed: Any) -> int:
    return int(killed.acks()[-1].removeprefix("statements "))


def steps(total: int, most: int = 6) -> list[int]:
    """Moments over the whole of a run, the first and the last among them."""
    return sorted({1 + round(n * (total - 1) / (most - 1)) for n in range(most)})


@pytest.mark.timing
@pytest.mark.requirement("RELIABILITY-1")
def test_a_kill_while_documents_come_in_leaves_none_half_there(
    place: Place, killed: Any, tmp_path: Path
) -> None:
    folder = tmp_path / "in"
    folder.mkdir()

    def write(edition: int) -> None:
        for number in range(3):
            body = f"# G{number}\n\n## A\n\nedition {edition} dose.\n\n## B\n\nedition {edition} renal.\n"
            (folder / f"g{number}.md").write_text(body, encoding="utf-8")

    write(0)
    assert killed(do="ingest", folder=str(folder)) == 0
    write(1)
    assert killed(do="ingest", folder=str(folder)) == 0
    total = statements(killed)
    store = place.store()
    for edition, at in enumerate(steps(total), 2):
        write(edition)
        killed(do="ingest", folder=str(folder), at=at)
        rows = store.read_now(
            lambda c: c.execute(
                select(source.c.id, source.c.revision, func.count(chunk.c.id).label("chunks"))
                .join(
                    chunk, (chunk.c.source == source.c.id) & (chunk.c.revision == source.c.revision)
                )
                .group_by(source.c.id, source.c.revision)
            ).all()
        )
        assert sorted((row.id, row.chunks) for row in rows) == [(f"g{n}", 2) for n in range(3)]
        assert killed(do="ingest", folder=str(folder)) == 0
        live = store.read_now(
            lambda c: c.execute(
                select(source.c.text, source.c.state).where(source.c.superseded.is_(False))
            ).all()
        )
        assert [row.state for row in live] == ["ready"] * 3
        assert all(f"edition {edition} " in row.text for row in live)
    store.close()


@pytest.mark.timing
@pytest.mark.requirement("RELIABILITY-2")
def test_a_kill_inside_a_turn_gives_one_whole_turn_when_asked_again(
    place: Place, killed: Any
) -> None:
    async def fill() -> None:
        async with place.engine() as engine:
            await filled(engine)

    run(fill())
    question = "What is the latest HbA1c?"
    assert killed(do="ask", question=question, key="whole", recover=True) == 0
    total = statements(killed)
    for at in steps(total):
        key = f"cut-{at}"
        killed(do="ask", question=question, key=key, recover=True, at=at)
        environ = {**place.environ, "BEDSIDE_LEASE_SECONDS": "1"}
        assert killed(do="ask", question=question, key=key, recover=True, environ=environ) == 0
        answered = [line for line in killed.acks() if line.startswith("answered ")]
        assert len(answered) == 1
        assert "8.25" in json.loads(answered[0].removeprefix("answered "))["answer"]

    async def look() -> None:
        async with place.engine() as engine:
            who = engine.local()
            assert (await engine.verify_audit(who))["ok"]
            if not place.database:
                check = await engine.store.read(
                    lambda c: c.execute(text("PRAGMA integrity_check")).scalar()
                )
                assert check == "ok"

    run(look())
