"""The MCP door under attack, by the SDK's own client over streamable HTTP and over a pipe."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import anyio
import httpx2
import jwt
import pytest
from mcp.client.client import Client
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

from bedside.server.auth import token
from bedside.settings import load_settings
from bedside.wiring import build_engine
from mcp import StdioServerParameters

SEARCH = "search_clinical_guidelines"
SECRET = "a-secret-of-at-least-thirty-two-bytes"
SOON = 600
OWN = """---
id: north-own
title: North's own protocol
---
# Moonlight fever

Moonlight fever should be treated with moonlight and reviewed every week by the clinic team.
"""
PATIENT = {"id": "north-1", "name": "Northern Person", "sex": "female", "birth_date": "1960-01-01"}


@pytest.fixture(scope="module")
def home(demo_home: Path, tmp_path_factory) -> Path:
    """The demonstration in the default tenant; a patient and a protocol of the tenant north."""
    home = Path(shutil.copytree(demo_home, tmp_path_factory.mktemp("attacked") / "home"))
    folder = tmp_path_factory.mktemp("north")
    (folder / "own.md").write_text(OWN, encoding="utf-8")
    (folder / "p.json").write_text(json.dumps(PATIENT), encoding="utf-8")

    async def load() -> None:
        environ = {"BEDSIDE_EMBEDDER": "none", "BEDSIDE_TENANT": "north"}
        north = build_engine(load_settings(home=home, environ=environ))
        await north.ingest_paths([folder / "own.md"], north.local())
        await north.import_paths([folder / "p.json"], north.local())
        await north.close()

    anyio.run(load)
    return home


@pytest.fixture(scope="module")
def served(home: Path) -> Iterator[str]:
    """`bedside mcp --http --records` with a secret, as a process of its own."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, "-m", "bedside", "mcp", "--http", "--records", "--port", str(port),
         "--home", str(home)],
        env={**os.environ, "BEDSIDE_EMBEDDER": "none", "BEDSIDE_TOKEN_SECRET": SECRET},
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        for _ in range(400):
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                break
            except OSError:
                threading.Event().wait(0.05)
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.terminate()
        process.wait(10)


def bearer(**more) -> str:
    given = {
        "actor": "dr-a",
        "patients": ("demo-chow",),
        "expires": int(time.time()) + SOON,
        **more,
    }
    return token(SECRET, **given)


def calls(url: str, secret: str, *asked: tuple[str, dict]):
    """Each call in turn, over one connection."""

    async def go():
        headers = {"authorization": f"Bearer {secret}"} if secret else {}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=60) as http,
            Client(streamable_http_client(url, http_client=http)) as client,
        ):
            return [await client.call_tool(name, arguments) for name, arguments in asked]

    return anyio.run(go)


def claims(**more) -> dict:
    return {
        "sub": "dr-a", "aud": "bedside", "exp": int(time.time()) + SOON, "roles": ["clinician"],
        "patients": "*", **more,
    }  # fmt: skip


FORGED = {
    "none": "",
    "nonsense": "nonsense",
    "another secret": jwt.encode(claims(), "another-secret-of-thirty-two-bytes", algorithm="HS256"),
    "unsigned": jwt.encode(claims(), "", algorithm="none"),
    "expired": jwt.encode(claims(exp=1), SECRET, algorithm="HS256"),
    "of another audience": jwt.encode(claims(aud="elsewhere"), SECRET, algorithm="HS256"),
    "without a role": jwt.encode(claims(roles=[]), SECRET, algorithm="HS256"),
    "of an unknown role": jwt.encode(claims(roles=["root"]), SECRET, algorithm="HS256"),
    "with odd patients": jwt.encode(claims(patients={"all": True}), SECRET, algorithm="HS256"),
    "without an end": jwt.encode(
        {name: one for name, one in claims().items() if name != "exp"}, SECRET, algorithm="HS256"
    ),
}


@pytest.mark.requirement("EN-S3")
@pytest.mark.parametrize("kind", list(FORGED))
def test_a_wrong_token_opens_no_tool(served, kind):
    asked = [
        (SEARCH, {"query": "atrial fibrillation"}),
        ("list_patients", {}),
        ("open_patient", {"patient": "demo-chow"}),
        ("brief_patient", {"patient": "demo-chow"}),
        ("read_source", {"id": "demo-chow"}),
    ]
    for found in calls(served, FORGED[kind], *asked):
        assert found.is_error
        said = found.content[0].text
        assert "token" in said
        for leak in ("Chow", "demo-chow", SECRET, "<source"):
            assert leak not in said


@pytest.mark.requirement("EN-S3")
def test_another_patients_id_opens_nothing_however_it_is_written(served):
    ids = (
        "demo-adeyemi",
        " demo-adeyemi ",
        "DEMO-ADEYEMI",
        "demo-chow' OR '1'='1",
        "*",
        "%",
        "../demo-adeyemi",
    )
    asked = [(name, {"patient": one}) for one in ids for name in ("open_patient", "brief_patient")]
    for found in calls(served, bearer(), *asked):
        assert found.is_error
        for leak in ("Adeyemi", "Metformin", "penicillin"):
            assert leak not in found.content[0].text
    (own,) = calls(served, bearer(), ("brief_patient", {"patient": "demo-chow"}))
    assert not own.is_error


@pytest.mark.requirement("EN-S3")
def test_another_tenant_sees_neither_patients_nor_protocols(served):
    everybody = None
    north = bearer(tenant="north", patients=everybody)
    ours = bearer(patients=everybody)
    moon = (SEARCH, {"query": "moonlight fever treatment"})
    listed, opened, found = calls(
        served, north, ("list_patients", {}), ("open_patient", {"patient": "demo-chow"}), moon
    )
    assert [one["id"] for one in listed.structured_content["patients"]] == ["north-1"]
    assert opened.is_error
    assert "Chow" not in opened.content[0].text
    assert {one["document_id"] for one in found.structured_content["hits"]} <= {"north-own"}
    listed, opened, found = calls(
        served, ours, ("list_patients", {}), ("open_patient", {"patient": "north-1"}), moon
    )
    assert "north-1" not in [one["id"] for one in listed.structured_content["patients"]]
    assert opened.is_error
    assert "Northern" not in opened.content[0].text
    assert "north-own" not in json.dumps(found.structured_content)
    (nowhere,) = calls(served, bearer(tenant="nobody", patients=everybody), ("list_patients", {}))
    assert nowhere.is_error or nowhere.structured_content["patients"] == []


BAD = [
    (SEARCH, {}),
    (SEARCH, {"query": ""}),
    (SEARCH, {"query": "   "}),
    (SEARCH, {"query": None}),
    (SEARCH, {"query": ["a"]}),
    (SEARCH, {"query": "x", "max_results": 0}),
    (SEARCH, {"query": "x", "max_results": 11}),
    (SEARCH, {"query": "x", "max_results": True}),
    (SEARCH, {"query": "x", "max_results": 2.5}),
    (SEARCH, {"query": "x", "specialty": 4}),
    (SEARCH, {"query": "x", "tenant": "north"}),
    (SEARCH, {"query": "x" * 401}),
    (SEARCH, {"query": "metformin " * 200_000}),
    ("open_patient", {}),
    ("open_patient", {"patient": 4}),
    ("open_patient", {"patient": "x" * 1_000_000}),
    ("open_patient", {"patient": "\x00"}),
    ("brief_patient", {"patient": ["demo-chow"]}),
    ("read_source", {"id": ""}),
    ("read_source", {"id": "x" * 1_000_000}),
    ("drop_tables", {}),
    ("", {}),
]


@pytest.mark.requirement("BR-06")
def test_bad_and_huge_arguments_get_a_short_error_and_the_server_goes_on(served):
    for (name, arguments), found in zip(BAD, calls(served, bearer(), *BAD), strict=True):
        assert found.is_error, (name, str(arguments)[:60])
        said = found.content[0].text
        assert len(said) < 1_000, (name, len(said))
        assert "Traceback" not in said
    (after,) = calls(served, bearer(), (SEARCH, {"query": "metformin dose"}))
    assert after.structured_content["hits"]


@pytest.mark.requirement("BR-10")
def test_parallel_calls_of_two_tokens_do_not_mix(served):
    """Twelve connections at once; each sees its own patient, and a passage has one number."""
    mine = [(bearer(patients=(one,)), one) for one in ("demo-chow", "demo-herrera")] * 6
    seen: list[tuple[str, dict]] = []

    async def one(secret: str, patient: str) -> None:
        async with (
            httpx2.AsyncClient(headers={"authorization": f"Bearer {secret}"}, timeout=60) as http,
            Client(streamable_http_client(served, http_client=http)) as client,
        ):
            listed = await client.call_tool("list_patients", {})
            found = await client.call_tool(SEARCH, {"query": "metformin in kidney disease"})
            assert [row["id"] for row in listed.structured_content["patients"]] == [patient]
            seen.append((patient, found.structured_content))

    async def go() -> None:
        async with anyio.create_task_group() as group:
            for secret, patient in mine:
                group.start_soon(one, secret, patient)

    anyio.run(go)
    assert len(seen) == len(mine)
    numbers = {(hit["chunk_id"], hit["n"]) for _, body in seen for hit in body["hits"]}
    assert len({chunk for chunk, _ in numbers}) == len({n for _, n in numbers}) == len(numbers)


@pytest.mark.requirement("BR-06")
def test_over_a_pipe_bad_arguments_broken_lines_and_parallel_calls(home):
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "bedside", "mcp", "--home", str(home), "--records", "--patient", "demo-chow"],
        env={"BEDSIDE_EMBEDDER": "none"},
    )
    some: list[bool] = []

    async def go():
        async with Client(stdio_client(server)) as client:
            for name, arguments in BAD:
                found = await client.call_tool(name, arguments)
                assert found.is_error
                assert len(found.content[0].text) < 1_000
            other = await client.call_tool("open_patient", {"patient": "demo-adeyemi"})
            assert other.is_error
            assert "Adeyemi" not in other.content[0].text

            async def ask(k: int) -> None:
                found = await client.call_tool(SEARCH, {"query": f"metformin {k}"})
                some.append(not found.is_error)

            async with anyio.create_task_group() as group:
                for k in range(10):
                    group.start_soon(ask, k)

    anyio.run(go)
    assert some == [True] * 10


def test_a_pipe_that_speaks_no_protocol_does_not_kill_the_server(home):
    lines = [
        "not json", "[]", "null", "{}", '{"jsonrpc": "2.0"}', "{" * 10_000,
        ('{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18",'
        ' "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}}'),
        '{"jsonrpc": "2.0", "method": "notifications/initialized"}',
        '{"jsonrpc": "2.0", "id": 2, "method": "tools/list"}',
    ]  # fmt: skip
    with subprocess.Popen(
        [sys.executable, "-m", "bedside", "mcp", "--home", str(home)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        env={"PATH": "", "BEDSIDE_EMBEDDER": "none"},
    ) as process:  # fmt: skip
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write("\n".join(lines) + "\n")
        process.stdin.flush()
        answers = []
        while not any(one.get("id") == 2 for one in answers):
            line = process.stdout.readline()
            assert line, "the server ended"
            answers.append(json.loads(line))
        process.stdin.close()
        assert process.wait(20) == 0
    (listed,) = [one for one in answers if one.get("id") == 2]
    assert [tool["name"] for tool in listed["result"]["tools"]] == [SEARCH]
