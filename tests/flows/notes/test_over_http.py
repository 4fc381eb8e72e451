"""Notes over HTTP: the same operations; another actor's note stays theirs."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest
from fastapi.testclient import TestClient

from bedside.core.errors import NotFound
from bedside.core.ids import ActorId
from bedside.server.app import create_app
from bedside.settings import load_settings
from bedside.wiring import Who, build_engine
from bedside.wiring.notes import summarise

TEXT = "ALLERGIES\n\nPenicillin (rash).\n\nPLAN\n\nStart doxycycline 100 mg twice daily.\n"
P = "demo-adeyemi"


@pytest.fixture(scope="module")
def client(demo_home: Path, tmp_path_factory) -> Iterator[TestClient]:
    home = shutil.copytree(demo_home, tmp_path_factory.mktemp("notes") / "home")
    settings = load_settings(home=home, environ={"BEDSIDE_EMBEDDER": "none"})

    app = create_app(build_engine(settings))
    with TestClient(app, base_url="http://127.0.0.1", raise_server_exceptions=False) as made:
        yield made


def test_a_note_is_summarised_and_its_words_can_be_read_back(client):
    turn = client.post("/v1/notes/summarise", json={"text": TEXT}).json()
    assert turn["flow"] == "notes"
    assert turn["plan"]["recommendations"][0]["recommendation"].startswith("Start doxycycline")
    cited = turn["citations"][0]
    found = client.get(
        f"/v1/sources/{cited['source']['id']}",
        params={"start": cited["start"], "end": cited["end"]},
    ).json()
    assert found["text"] == cited["quote"]


@pytest.mark.parametrize("form", ["md", "html", "fhir"])
def test_other_formats_stand_beside_the_turn(client, form):
    turn = client.post("/v1/notes/summarise", json={"text": TEXT, "format": form}).json()
    assert "doxycycline" in turn["rendered"]
    if form == "fhir":
        assert json.loads(turn["rendered"])["resourceType"] == "Bundle"


def test_a_note_of_a_patient_belongs_to_the_patient(client):
    turn = client.post("/v1/notes/summarise", json={"text": TEXT, "patient": P}).json()
    assert turn["status"] == "complete"
    alone = client.post("/v1/notes/summarise", json={"text": TEXT}).json()
    assert alone["note"]["id"] != turn["note"]["id"]
    assert (
        client.post("/v1/notes/summarise", json={"text": TEXT, "patient": "nobody"}).status_code
        == 404
    )


def test_sections_and_the_evaluator_keep_nothing(client):
    found = client.post("/v1/notes/sections", json={"text": TEXT}).json()
    assert [one["title"] for one in found] == ["ALLERGIES", "PLAN"]
    turn = client.post("/v1/notes/summarise", json={"text": TEXT}).json()
    report = client.post("/v1/notes/evaluate", json={"note": TEXT, "summary": turn}).json()
    assert report["citation_coverage"] == 1.0
    turn["summary"]["medicines_allergies"][0]["source"] = "PLAN section, chunk_0:11-28"
    worse = client.post(
        "/v1/notes/evaluate", json={"note": TEXT, "summary": turn, "html": True}
    ).json()
    assert worse["section_mismatches"] == 1
    plain = {"note": TEXT, "summary": "## Plan\n\n- Fly to the moon.\n"}
    assert client.post("/v1/notes/evaluate", json=plain).json()["orphan_claims"] == 1
    assert client.post("/v1/notes/evaluate", json={"note": TEXT, "summary": 7}).status_code == 422
    assert worse["html"].lstrip().lower().startswith("<!doctype html")


@pytest.mark.parametrize("text", ["", " \n ", "\ud800", "a\u0000b"])
def test_a_note_that_cannot_be_kept_is_a_problem_and_no_crash(client, text):
    answer = client.post(
        "/v1/notes/summarise",
        content=json.dumps({"text": text}),
        headers={"content-type": "application/json"},
    )
    assert answer.status_code in {400, 422}
    assert answer.headers["content-type"].startswith("application/problem+json")


@pytest.mark.requirement("NO-10")
def test_a_note_without_a_patient_is_read_by_its_actor_alone(tmp_path):
    async def go() -> None:
        engine = build_engine(
            load_settings(home=tmp_path / "h", environ={"BEDSIDE_EMBEDDER": "none"})
        )
        try:
            first = Who(actor=ActorId("first"), roles=frozenset({"clinician"}))
            second = Who(actor=ActorId("second"), roles=frozenset({"clinician"}))
            turn = await summarise(engine, first, text=TEXT)
            note = turn["note"]["id"]
            assert (await engine.source(note, first))["text"] == TEXT
            with pytest.raises(NotFound):
                await engine.source(note, second)
        finally:
            await engine.close()

    anyio.run(go)
