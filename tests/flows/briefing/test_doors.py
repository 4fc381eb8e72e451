"""The briefing through its doors: command line, HTTP, server-sent events, and as a chat model."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from bedside.server.app import create_app
from bedside.server.auth import token
from bedside.settings import load_settings
from bedside.wiring import build_engine

P = "demo-herrera"
SECRET = "a-secret-of-at-least-thirty-two-bytes"


def client_of(home: Path, **environ: str) -> TestClient:
    engine = build_engine(load_settings(home=home, environ={"BEDSIDE_EMBEDDER": "none", **environ}))
    return TestClient(
        create_app(engine), base_url="http://127.0.0.1", raise_server_exceptions=False
    )


@pytest.fixture
def client(home: Path) -> Iterator[TestClient]:
    with client_of(home) as made:
        yield made


def test_the_command_prints_the_turn_with_its_briefing_and_nothing_else(home):
    done = subprocess.run(
        [sys.executable, "-m", "bedside", "brief", P, "--json", "--home", str(home)],
        capture_output=True, text=True, timeout=120, check=False,
        env={"PATH": "", "BEDSIDE_EMBEDDER": "none"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    turn = json.loads(done.stdout)
    assert turn["flow"] == "briefing"
    assert set(turn["briefing"]) >= {"flags", "summary", "suggested_actions", "sources"}
    assert set(turn["briefing"]["summary"]) == {"one_liner", "conditions", "changes"}
    assert turn["status"] == "complete"


def test_an_unknown_patient_is_an_error_and_not_an_empty_briefing(home):
    done = subprocess.run(
        [sys.executable, "-m", "bedside", "brief", "nobody", "--json", "--home", str(home)],
        capture_output=True, text=True, timeout=120, check=False,
        env={"PATH": "", "BEDSIDE_EMBEDDER": "none"},
    )  # fmt: skip
    assert done.returncode == 1
    assert "error" in json.loads(done.stdout)


def test_http_gives_the_same_flags_and_sources_can_be_read_back(client):
    turn = client.post("/v1/brief", json={"patient": P}).json()
    flags = turn["briefing"]["flags"]
    assert flags[0]["severity"] == "critical"
    for one in flags[0]["evidence"]:
        source = client.get(
            f"/v1/sources/{one['source']['id']}", params={"start": one["start"], "end": one["end"]}
        )
        assert source.status_code == 200, source.text
        assert source.json()["text"] == one["quote"]
    again = client.get(f"/v1/turns/{turn['turn_id']}").json()
    assert again["briefing"] == turn["briefing"]


def test_a_stream_ends_with_the_same_briefing(client):
    with client.stream(
        "POST", "/v1/brief", json={"patient": P}, headers={"Accept": "text/event-stream"}
    ) as answer:
        text = "".join(answer.iter_text())
    last = text.strip().split("\n\n")[-1]
    assert last.startswith("event: done")
    body = json.loads(last.split("data: ", 1)[1])
    assert body["briefing"]["flags"]
    assert "Three priorities:" in text


@pytest.mark.parametrize("body", [{}, {"patient": ""}, {"patient": P, "other": 1}])
def test_a_bad_request_is_refused(client, body):
    assert client.post("/v1/brief", json=body).status_code == 422


def test_an_unknown_patient_is_not_found_over_http(client):
    assert client.post("/v1/brief", json={"patient": "nobody"}).status_code == 404


def test_a_chat_front_end_takes_the_briefing_as_a_model(client):
    names = [one["id"] for one in client.get("/v1/models").json()["data"]]
    assert "bedside/briefing" in names
    chat = client.post(
        "/v1/chat/completions",
        json={"model": "bedside/briefing", "messages": [{"role": "user", "content": "Brief me."}]},
        headers={"Bedside-Patient": P},
    ).json()
    content = chat["choices"][0]["message"]["content"]
    assert "Three priorities:" in content
    assert "\n\nSources\n" in content


def test_a_chat_without_a_patient_is_told_that_none_was_named(client):
    chat = client.post(
        "/v1/chat/completions",
        json={"model": "bedside/briefing", "messages": [{"role": "user", "content": P}]},
    ).json()
    assert "none was named" in chat["choices"][0]["message"]["content"]


@pytest.mark.requirement("EN-S3")
def test_a_token_for_one_patient_briefs_on_no_other(home):
    bearer = token(SECRET, actor="dr", patients=("demo-chow",), expires=int(time.time()) + 600)
    with client_of(home, BEDSIDE_TOKEN_SECRET=SECRET) as client:
        headers = {"Authorization": f"Bearer {bearer}"}
        assert client.post("/v1/brief", json={"patient": P}, headers=headers).status_code == 403
        own = client.post("/v1/brief", json={"patient": "demo-chow"}, headers=headers)
        assert own.status_code == 200
        assert client.post("/v1/brief", json={"patient": P}).status_code in {401, 403}
