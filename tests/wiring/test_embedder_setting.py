"""BEDSIDE_EMBEDDER: which embedder a setting makes, and that a remote one needs `egress.allow`."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bedside.core.errors import EgressRefused, InvalidArgument, Unavailable
from bedside.settings import Settings, load_settings
from bedside.testing.provider import closed_port
from bedside.wiring.embedding import Elsewhere, Sent, make_embedder
from bedside.wiring.models import models_config


class _Server(BaseHTTPRequestHandler):
    """Four columns: how often each of the letters a, b, c, d stands in the text."""

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        rows = [
            {"index": at, "embedding": [float(text.count(letter)) for letter in "abcd"]}
            for at, text in enumerate(asked["input"])
        ]
        body = json.dumps({"data": rows}).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as the base has it
        """Say nothing."""


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Server)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    thread.join()
    server.server_close()


def settings(home: Path, embedder: str, address: str, **more: str) -> Settings:
    environ = {"BEDSIDE_EMBEDDER": embedder, "OPENAI_BASE_URL": address, **more}
    return load_settings(home=home, environ=environ)


class Clock:
    """Stands still until it is moved."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def now(self) -> datetime:
        return datetime(2026, 3, 1, 9, tzinfo=UTC)

    def monotonic(self) -> float:
        return self.seconds


def make(made: Settings) -> Any:
    return make_embedder(made, config=models_config(made, secret=b"s"), clock=Clock())


def test_a_server_on_this_machine_gives_the_vectors(tmp_path: Path, address: str) -> None:
    embedder = make(settings(tmp_path, "openai:letters@4", address))
    assert embedder.dim == 4
    found = embedder.embed(["aab", "cd"], kind="passage")
    want = np.array([[2, 1, 0, 0], [0, 0, 1, 1]]) / np.sqrt([[5], [2]])
    assert np.allclose(found, want, atol=1e-6)


def test_an_answer_of_other_columns_than_were_set_is_refused(tmp_path: Path, address: str) -> None:
    embedder = make(settings(tmp_path, "openai:letters@8", address))
    with pytest.raises(Unavailable, match="columns"):
        embedder.embed(["aab"], kind="query")


REMOTE = [
    ("openai:text-embedding-3-small@1536", "openai", 1536),
    ("google:text-embedding-005", "google", 768),
    ("bedrock:amazon.titan-embed-text-v2:0", "bedrock", 1024),
]


def keys(folder: Path) -> dict[str, str]:
    """Credentials for everybody, of a form that is read and used by nobody here."""
    account = folder / "account.json"
    named = ("project_id", "client_email", "private_key", "token_uri")
    account.write_text(json.dumps(dict.fromkeys(named, "x")))
    return {"OPENAI_API_KEY": "k", "GOOGLE_APPLICATION_CREDENTIALS": str(account)}


@pytest.mark.requirement("EN-S7")
@pytest.mark.parametrize("address", ["", "http://10.0.0.7:8080/v1"])
@pytest.mark.parametrize(("name", "provider", "dim"), REMOTE)
def test_a_remote_embedder_is_made_only_where_egress_allow_names_its_provider(
    tmp_path: Path, address: str, name: str, provider: str, dim: int
) -> None:
    others = ",".join({"openai", "google", "bedrock", "anthropic"} - {provider})
    for allowed in ("", others):
        told = settings(tmp_path, name, address, BEDSIDE_EGRESS_ALLOW=allowed, **keys(tmp_path))
        with pytest.raises(EgressRefused, match=f"'{provider}' is not in egress.allow"):
            make(told)
    told = settings(tmp_path, name, address, BEDSIDE_EGRESS_ALLOW=provider, **keys(tmp_path))
    made = make(told)
    assert isinstance(made, Elsewhere)
    assert (made.provider, made.dim) == (provider, dim)


@pytest.mark.requirement("EN-S7")
def test_a_question_goes_elsewhere_only_with_what_to_hide_and_never_after_the_turn_has_told(
    tmp_path: Path, address: str
) -> None:
    away = address.replace("127.0.0.1", "0.0.0.0")  # by its name it is not this machine
    made = make(settings(tmp_path, "openai:letters@4", away, BEDSIDE_EGRESS_ALLOW="openai"))
    with pytest.raises(Unavailable, match="what to remove"):
        made.embed(["a"], kind="query")
    sent = Sent()
    asking = made.asking(lambda text: text.replace("a", ""), sent)
    found = asking.embed(["aab"], kind="query")
    assert found.tolist() == [[0.0, 1.0, 0.0, 0.0]]
    assert sent.tell() == ("openai",)
    with pytest.raises(Unavailable, match="turn has ended"):
        asking.embed(["b"], kind="query")


def test_an_embedder_elsewhere_that_failed_is_left_alone_for_half_a_minute(tmp_path: Path) -> None:
    port = closed_port()
    told = settings(
        tmp_path, "openai:letters@4", f"http://0.0.0.0:{port}/v1", BEDSIDE_EGRESS_ALLOW="openai"
    )
    clock = Clock()
    made = make_embedder(told, config=models_config(told, secret=b"s"), clock=clock)
    first, second, third = Sent(), Sent(), Sent()
    with pytest.raises(Unavailable, match="ConnectError"):
        made.asking(str, first).embed(["a"], kind="query")
    with pytest.raises(Unavailable, match="just failed"):
        made.asking(str, second).embed(["a"], kind="query")
    clock.seconds += 31
    with pytest.raises(Unavailable, match="ConnectError"):
        made.asking(str, third).embed(["a"], kind="query")
    assert (first.tell(), second.tell(), third.tell()) == (("openai",), (), ("openai",))


def test_google_needs_the_file_of_a_service_account(tmp_path: Path) -> None:
    told = settings(tmp_path, "google:text-embedding-005", "", BEDSIDE_EGRESS_ALLOW="google")
    with pytest.raises(InvalidArgument, match="GOOGLE_APPLICATION_CREDENTIALS"):
        make(told)


@pytest.mark.parametrize("name", ["openai:letters", "google:other", "titan", "openai:m@0"])
def test_another_kind_is_refused_with_what_there_is(tmp_path: Path, name: str) -> None:
    with pytest.raises(InvalidArgument, match="local, none, openai:MODEL@COLUMNS, google:text"):
        make(settings(tmp_path, name, ""))
