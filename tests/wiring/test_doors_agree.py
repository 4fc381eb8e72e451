"""Library, command line, HTTP, chat endpoint and MCP: five doors, one engine, one answer."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import anyio
import pytest
from fastapi.testclient import TestClient
from mcp.client.client import Client

import bedside
from bedside.cli import main
from bedside.mcp_server import build_server
from bedside.server.app import create_app
from bedside.settings import load_settings
from bedside.wiring import build_engine

P = "demo-adeyemi"
QUESTION = "What was her latest HbA1c?"
QUERY = "metformin and kidney function"


@pytest.fixture(scope="module")
def home(demo_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Path(shutil.copytree(demo_home, tmp_path_factory.mktemp("doors") / "home"))


@pytest.mark.requirement("EN-S1")
def test_five_doors_give_the_same_answer_and_the_same_passages(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("BEDSIDE_EMBEDDER", "none")

    def command(*arguments: str) -> Any:
        capsys.readouterr()
        assert main([*arguments, "--home", str(home), "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    told = command("ask", QUESTION, "--patient", P)
    found = [hit["chunk_id"] for hit in command("search", QUERY)["hits"]]
    assert "8.6 %" in told["answer"]
    with bedside.Bedside.open(home) as library:
        turn = library.ask(QUESTION, patient=P)
    engine = build_engine(load_settings(home=home, environ={"BEDSIDE_EMBEDDER": "none"}))
    with TestClient(create_app(engine), base_url="http://127.0.0.1") as client:
        over_http = client.post("/v1/ask", json={"question": QUESTION, "patient": P}).json()
        searched = client.post("/v1/search", json={"query": QUERY}).json()
        chat = client.post(
            "/v1/chat/completions",
            json={"model": "bedside/copilot", "messages": [{"role": "user", "content": QUESTION}]},
            headers={"Bedside-Patient": P},
        ).json()

    async def over_mcp() -> list[str]:
        engine = build_engine(load_settings(home=home, environ={"BEDSIDE_EMBEDDER": "none"}))
        try:
            async with Client(build_server(engine)) as client:
                said = await client.call_tool("search_clinical_guidelines", {"query": QUERY})
                return [hit["chunk_id"] for hit in said.structured_content["hits"]]
        finally:
            await engine.close()

    assert turn.answer == told["answer"] == over_http["answer"]
    assert chat["choices"][0]["message"]["content"].startswith(told["answer"])
    assert [hit["chunk_id"] for hit in searched["hits"]] == found
    assert anyio.run(over_mcp) == found
