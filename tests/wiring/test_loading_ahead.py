"""A server holds its knowledge before anybody asks, and hands it to the next one as a file."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bedside.knowledge.index import snapshot
from bedside.settings import load_settings
from bedside.wiring import build_engine

GUIDES = [
    ("gout.md", b"# Gout\n\n## Attack\n\nColchicine relieves the acute attack of joint pain.\n"),
    ("asthma.md", b"# Asthma\n\n## Relief\n\nGive salbutamol by inhaler for acute wheeze.\n"),
]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    async def fill() -> None:
        engine = build_engine(settings(tmp_path))
        await engine.ingest_bytes(GUIDES, engine.local())
        await engine.close()

    asyncio.run(fill())
    return tmp_path


def settings(home: Path) -> Any:
    return load_settings(home=home, environ={"BEDSIDE_EMBEDDER": "none"})


@pytest.fixture
def read(monkeypatch) -> list[str]:
    """Tenants whose knowledge was read from rows, in order."""
    found: list[str] = []
    own = snapshot.load_knowledge

    def watched(connection, tenant, **how):
        found.append(tenant)
        return own(connection, tenant, **how)

    monkeypatch.setattr(snapshot, "load_knowledge", watched)
    monkeypatch.setattr(snapshot, "LEAST_KEPT", 1)
    return found


def start(home: Path, read: list[str]) -> tuple[list[str], list[str], dict[str, Any]]:
    """What had been read when a server was ready, and after a search; and the search."""

    async def go() -> tuple[list[str], list[str], dict[str, Any]]:
        engine = build_engine(settings(home))
        try:
            await engine.start_background()
            await engine._background[0]
            before = list(read)
            found = await engine.search(who=engine.local(), query="colchicine attack")
            return before, list(read), found
        finally:
            await engine.close()

    return asyncio.run(go())


def test_a_server_loads_before_the_first_search_and_the_next_one_from_its_file(home, read) -> None:
    before, after, found = start(home, read)
    assert before == after == ["default", "*"]
    assert found["hits"][0]["document_id"] == "gout"
    assert len(list((home / "cache" / "knowledge").iterdir())) == 1
    _, again, same = start(home, read)
    assert again == ["default", "*", "*"]  # nothing is shared here, so of that there is no file
    assert [hit["text"] for hit in same["hits"]] == [hit["text"] for hit in found["hits"]]


def test_a_home_without_knowledge_starts_without_loading_the_model(tmp_path, monkeypatch) -> None:
    from bedside.wiring.texts import Texts

    def never(self: Texts) -> str:
        raise AssertionError("the model was loaded")

    monkeypatch.setattr(Texts, "embedder_id", never)

    async def go() -> None:
        engine = build_engine(load_settings(home=tmp_path, environ={}))
        await engine.start_background()
        await engine._background[0]
        await engine.close()

    asyncio.run(go())


SERVED = """
import asyncio, sys
from pathlib import Path
from bedside.settings import load_settings
from bedside.wiring import build_engine

async def go():
    told = {"BEDSIDE_EMBEDDER": "none", "BEDSIDE_WRITER": "openai:some-model", "OPENAI_API_KEY": "k"}
    engine = build_engine(load_settings(home=Path(sys.argv[1]), environ=told))
    before = "openai" in sys.modules
    await engine.start_background()
    for _ in range(600):
        if "openai" in sys.modules:
            break
        await asyncio.sleep(0.1)
    print(before, "openai" in sys.modules)
    await engine.close()

asyncio.run(go())
"""


def test_the_sdk_of_a_model_is_imported_before_the_first_turn(home: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", SERVED, str(home)], capture_output=True, text=True, check=True
    )
    assert ran.stdout.split() == ["False", "True"]
