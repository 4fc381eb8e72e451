"""What leaves for a remote model: no name, number or address of the patient, kin or anybody else."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import anyio
import pytest
from sqlalchemy import select

from bedside.core.errors import NotFound
from bedside.settings import load_settings
from bedside.storage.tables.jobs import meta
from bedside.testing.provider import FakeProvider, Said
from bedside.wiring import Ask, Engine, build_engine
from bedside.wiring.demo import PATIENT, load_demo
from bedside.wiring.records import mark_synthetic

ADA = {
    "resourceType": "Patient",
    "id": "ada",
    "name": [
        {"use": "official", "given": ["Adaeze"], "family": "Okonkwo"},
        {"use": "maiden", "family": "Balogun", "given": ["Adaeze"]},
    ],
    "gender": "female",
    "birthDate": "1961-02-03",
    "identifier": [{"system": "urn:national", "value": "QX 77 81 02 C"}],
    "telecom": [{"system": "phone", "value": "5550199123"}],
    "address": [{"line": ["Flat 3, Old Mill House"], "postalCode": "NG4 7QT"}],
    "contact": [
        {
            "relationship": [{"text": "mother"}],
            "name": {"given": ["Ngozi"], "family": "Eze"},
            "telecom": [{"system": "phone", "value": "5550144777"}],
        }
    ],
}
BEN = {
    "resourceType": "Patient",
    "id": "ben",
    "name": [{"given": ["Benedikt"], "family": "Marlowe"}],
}
LETTER = (
    "# Cardiology letter\n\nMrs Okonkwo (born Balogun, national number QX 77 81 02 C) came with her "
    "mother Ngozi Eze, telephone 5550144777. She lives at Flat 3, Old Mill House, NG4 7QT. "
    "Her neighbour Benedikt Marlowe brought her in. Ejection fraction was 35 %.\n"
)
SECRETS = (
    "Okonkwo", "Adaeze", "Balogun", "QX 77 81 02 C", "5550199123", "Ngozi", "Eze", "5550144777",
    "Old Mill House", "NG4 7QT", "Marlowe",
)  # fmt: skip
QUESTION = "Considering everything, what did the cardiology letter say of her ejection fraction?"


@pytest.mark.requirement("EN-S7")
def test_nothing_that_names_anybody_leaves_this_machine(tmp_path: Path) -> None:
    with FakeProvider([Said(text="I cannot tell."), Said(text="I cannot tell.")]) as provider:
        # By its name this address is not this machine, so it counts as remote.
        address = provider.address("openai").replace("127.0.0.1", "0.0.0.0")

        async def go() -> dict:
            engine = _engine(tmp_path / "home", address)
            try:
                await _load(engine)
                ask = Ask(question=f"{QUESTION} Is she like Benedikt Marlowe?", patient="ada")
                return await engine.asker.ask(ask, engine.local())
            finally:
                await engine.close()

        turn = anyio.run(go)
        sent = [json.dumps(asked.text, ensure_ascii=False) for asked in provider.of("openai")]
    assert turn["egress"] == "openai, identifiers removed"
    assert sent
    assert "35 %" in sent[0]
    for text in sent:
        assert [secret for secret in SECRETS if secret.casefold() in text.casefold()] == []


@pytest.mark.requirement("EN-S7")
def test_a_question_about_no_patient_names_no_patient_either(tmp_path: Path) -> None:
    with FakeProvider([Said(text="I cannot tell."), Said(text="I cannot tell.")]) as provider:
        address = provider.address("openai").replace("127.0.0.1", "0.0.0.0")

        async def go() -> dict:
            engine = _engine(tmp_path / "home", address)
            try:
                await _load(engine)
                ask = Ask(question="Why would Benedikt  Marlowe need a beta blocker, and how much?")
                return await engine.asker.ask(ask, engine.local())
            finally:
                await engine.close()

        anyio.run(go)
        sent = [json.dumps(asked.text) for asked in provider.of("openai")]
    assert sent
    assert "beta blocker" in sent[0]
    assert not [text for text in sent if "Marlowe" in text]


def _engine(home: Path, address: str, **more: str) -> Engine:
    environ = {
        "BEDSIDE_EMBEDDER": "none",
        "BEDSIDE_WRITER": "openai:m,extractive",
        "BEDSIDE_EGRESS_ALLOW": "openai",
        "OPENAI_BASE_URL": address,
        "OPENAI_API_KEY": "k",
        **more,
    }
    return build_engine(load_settings(home=home, environ=environ))


async def _load(engine: Engine) -> None:
    bundle = {
        "resourceType": "Bundle",
        "type": "collection",
        "entry": [{"resource": ADA}, {"resource": BEN}],
    }
    who = engine.local()
    await engine.import_bytes([("bundle.json", json.dumps(bundle).encode())], who)
    await engine.attach("ada", [("letter.md", LETTER.encode())], who)


@pytest.mark.requirement("EN-S7")
def test_a_bundled_patient_to_whom_something_was_added_is_exempt_no_more(
    demo_home: Path, tmp_path: Path
) -> None:
    shutil.copytree(demo_home, tmp_path / "home")
    with FakeProvider([Said(text="I cannot tell."), Said(text="I cannot tell.")]) as provider:
        address = provider.address("openai").replace("127.0.0.1", "0.0.0.0")

        async def go() -> tuple[dict, int, dict, int]:
            engine = _engine(tmp_path / "home", address, BEDSIDE_EGRESS_ALLOW="")
            try:
                who = engine.local()
                await load_demo(engine, who)
                ask = Ask(question=QUESTION, patient=PATIENT)
                before = await engine.asker.ask(ask, who)
                asked = len(provider.of("openai"))
                await engine.attach(PATIENT, [("letter.md", LETTER.encode())], who)
                await load_demo(engine, who)
                after = await engine.asker.ask(ask, who)
                return before, asked, after, len(provider.of("openai"))
            finally:
                await engine.close()

        before, asked, after, in_all = anyio.run(go)
    assert before["egress"].startswith("openai")
    assert asked >= 1
    assert after["egress"] == "none"
    assert in_all == asked


@pytest.mark.requirement("EN-S7")
def test_the_exemption_ends_with_what_an_import_writes_though_it_is_stopped_after(tmp_path) -> None:
    files = [tmp_path / "ada.json", tmp_path / "ben.json"]
    for file, person in zip(files, (ADA, BEN), strict=True):
        entries = [{"resource": person}]
        file.write_text(json.dumps({"resourceType": "Bundle", "type": "batch", "entry": entries}))

    def stop(stage: str, done: int, _of: int) -> None:
        if (stage, done) == ("writing", 1):
            raise TimeoutError

    async def go() -> set[tuple[str, str]]:
        engine = _engine(tmp_path / "home", "")
        try:
            who = engine.local()
            await engine.store.write(lambda c: mark_synthetic(c, who.tenant, ["ada", "ben"]))
            with pytest.raises(TimeoutError):
                await engine.import_paths(files, who, progress=stop)
            marks = select(meta.c.key, meta.c.value).where(meta.c.key.like("synthetic:%"))
            return {
                (row.key[-3:], row.value)
                for row in await engine.store.read(lambda c: c.execute(marks).all())
            }
        finally:
            await engine.close()

    assert anyio.run(go) == {("ada", "added to"), ("ben", "bundled")}


@pytest.mark.parametrize("name", ["nothing-by-this-name", "letter of another patient"])
def test_a_document_that_is_selected_and_is_not_there_is_not_passed_over(tmp_path, name) -> None:
    async def go() -> None:
        engine = _engine(tmp_path / "home", "", BEDSIDE_WRITER="extractive")
        try:
            await _load(engine)
            who = engine.local()
            (letter,) = await engine.documents("ada", who)
            selected = name if name.startswith("nothing") else letter["document_id"]
            other = Ask(question="What is in it?", patient="ben", selected=(selected,))
            with pytest.raises(NotFound):
                await engine.asker.ask(other, who)
            own = Ask(question=QUESTION, patient="ada", selected=(letter["document_id"],))
            assert (await engine.asker.ask(own, who))["status"] == "complete"
        finally:
            await engine.close()

    anyio.run(go)
