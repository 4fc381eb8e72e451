"""BEDSIDE_VECTORS: the same calls with vectors in Qdrant or pgvector, and what doctor says of them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bedside.core.errors import InvalidArgument
from bedside.knowledge.index.protocol import Scope
from bedside.settings import load_settings
from bedside.wiring import Ask, build_engine, doctor

GUIDES = {
    "asthma.md": b"# Asthma\n\n## Relief\n\nGive salbutamol by inhaler for acute wheeze.\n",
    "gout.md": b"# Gout\n\n## Attack\n\nColchicine relieves the acute attack of joint pain.\n",
    "iron.md": b"# Anaemia\n\n## Tablets\n\nFerrous sulfate tablets treat iron deficiency.\n",
}


@pytest.fixture(
    params=["qdrant", pytest.param("pgvector", marks=[pytest.mark.slow, pytest.mark.timeout(180)])]
)
def environ(request: pytest.FixtureRequest, tmp_path: Path) -> dict[str, str]:
    common = {"BEDSIDE_VECTORS": request.param, "BEDSIDE_VECTORS_IN_MEMORY": "0"}
    if request.param == "qdrant":
        return {**common, "BEDSIDE_QDRANT": str(tmp_path / "qdrant")}
    return {**common, "BEDSIDE_DATABASE": request.getfixturevalue("database")}


def with_engine(home: Path, environ: dict[str, str], work: Callable[[Any], Any]) -> Any:
    async def go() -> Any:
        engine = build_engine(load_settings(home=home, environ=environ))
        try:
            return await work(engine)
        finally:
            await engine.close()

    home.mkdir(exist_ok=True)
    return asyncio.run(go())


def check(found: dict[str, Any], name: str) -> dict[str, Any]:
    (one,) = [each for each in found["checks"] if each["name"] == name]
    return one


@pytest.mark.requirement("EN-S2")
def test_knowledge_is_found_by_meaning_and_doctor_says_how_the_index_stands(
    tmp_path: Path, environ: dict[str, str]
) -> None:
    async def work(engine: Any) -> None:
        who = engine.local()
        await engine.ingest_bytes(list(GUIDES.items()), who)
        before = check(await engine.doctor(), "vectors")
        assert "0 of 0 vectors, 3 changes behind" in before["detail"]
        await engine.texts.embed_waiting()
        await engine.texts.warm()
        found = await engine.search(who=who, query="relief of breathlessness", retriever="dense")
        assert found["degraded"] == []
        assert found["hits"][0]["document_id"] == "asthma"
        turn = await engine.asker.ask(Ask(question="What relieves an acute attack of gout?"), who)
        assert "olchicine" in turn["answer"]
        said = await engine.doctor()
        assert check(said, "vectors")["ok"]
        assert "3 of 3 vectors, 0 changes behind" in check(said, "vectors")["detail"]
        assert environ["BEDSIDE_VECTORS"] in check(said, "size")["detail"]

    with_engine(tmp_path / "home", environ, work)


def test_what_a_kill_left_out_is_shown_and_mended(tmp_path: Path, environ: dict[str, str]) -> None:
    """The rows had their vectors, and the index had not heard: what a kill between them leaves."""

    async def fill(engine: Any) -> None:
        await engine.ingest_bytes(list(GUIDES.items()), engine.local())
        await engine.texts.embed_waiting()
        (index,) = engine.texts.indexes
        index.remove(Scope(tenant="default"), "gout")

    async def mend(engine: Any) -> None:
        spoilt = check(await engine.doctor(), "vectors")
        assert not spoilt["ok"]
        assert "2 of 3 vectors" in spoilt["detail"]
        assert "--repair" in spoilt["detail"]
        mended = check(await engine.doctor(repair=True), "vectors")
        assert mended["ok"]
        assert "3 of 3 vectors, 0 changes behind; documents mended: 1" in mended["detail"]

    with_engine(tmp_path / "home", environ, fill)
    with_engine(tmp_path / "home", environ, mend)


def test_an_index_that_is_down_is_named_by_doctor_and_words_still_serve(tmp_path: Path) -> None:
    environ = {
        "BEDSIDE_VECTORS": "qdrant",
        "BEDSIDE_VECTORS_IN_MEMORY": "0",
        "BEDSIDE_QDRANT": "http://127.0.0.1:9",
    }

    async def work(engine: Any) -> None:
        who = engine.local()
        await engine.ingest_bytes(list(GUIDES.items()), who)
        found = await engine.search(who=who, query="salbutamol for wheeze")
        assert found["hits"][0]["document_id"] == "asthma"
        down = check(await engine.doctor(), "vectors")
        assert not down["ok"]
        assert "Qdrant" in down["detail"]
        assert "BEDSIDE_QDRANT" in down["detail"]

    with_engine(tmp_path / "home", environ, work)


def test_above_the_bound_doctor_names_the_places_that_scale(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def work(engine: Any) -> None:
        await engine.ingest_bytes(list(GUIDES.items()), engine.local())
        await engine.texts.embed_waiting()
        small = check(await engine.doctor(), "size")
        assert (small["ok"], small["detail"][:12]) == (True, "3 vectors of")
        monkeypatch.setattr(doctor, "MOST_VECTORS", 2)
        large = check(await engine.doctor(), "size")
        assert not large["ok"]
        assert "pgvector" in large["detail"]
        assert "qdrant" in large["detail"]

    with_engine(tmp_path / "home", {}, work)


@pytest.mark.parametrize(
    ("environ", "name"),
    [
        ({"BEDSIDE_VECTORS": "faiss"}, "BEDSIDE_VECTORS"),
        ({"BEDSIDE_VECTORS": "pgvector"}, "BEDSIDE_VECTORS"),
        ({"BEDSIDE_VECTORS": "qdrant"}, "BEDSIDE_QDRANT"),
        ({"BEDSIDE_VECTORS_IN_MEMORY": "-1"}, "BEDSIDE_VECTORS_IN_MEMORY"),
    ],
)
def test_a_setting_that_cannot_serve_is_refused_by_name(
    tmp_path: Path, environ: dict[str, str], name: str
) -> None:
    with pytest.raises(InvalidArgument, match=name):
        load_settings(home=tmp_path, environ=environ)
