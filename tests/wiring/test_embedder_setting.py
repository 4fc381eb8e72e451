"""BEDSIDE_EMBEDDER: a server on this machine embeds; one elsewhere and anything else is refused."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest

from bedside.core.errors import InvalidArgument, Unavailable
from bedside.settings import Settings, load_settings
from bedside.wiring.embedding import make_embedder


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


def settings(home: Path, embedder: str, address: str) -> Settings:
    environ = {"BEDSIDE_EMBEDDER": embedder, "OPENAI_BASE_URL": address}
    return load_settings(home=home, environ=environ)


def test_a_server_on_this_machine_gives_the_vectors(tmp_path: Path, address: str) -> None:
    embedder = make_embedder(settings(tmp_path, "openai:letters@4", address))
    assert embedder.dim == 4
    found = embedder.embed(["aab", "cd"], kind="passage")
    want = np.array([[2, 1, 0, 0], [0, 0, 1, 1]]) / np.sqrt([[5], [2]])
    assert np.allclose(found, want, atol=1e-6)


def test_an_answer_of_other_columns_than_were_set_is_refused(tmp_path: Path, address: str) -> None:
    embedder = make_embedder(settings(tmp_path, "openai:letters@8", address))
    with pytest.raises(Unavailable, match="columns"):
        embedder.embed(["aab"], kind="query")


@pytest.mark.parametrize("address", ["", "https://api.openai.com/v1", "http://10.0.0.7:8080/v1"])
def test_a_server_elsewhere_is_refused_since_patients_texts_would_go_there(
    tmp_path: Path, address: str
) -> None:
    with pytest.raises(InvalidArgument, match="this machine"):
        make_embedder(settings(tmp_path, "openai:text-embedding-3-small@1536", address))


@pytest.mark.parametrize("name", ["openai:letters", "google:text-embedding-005", "titan"])
def test_another_kind_is_refused_with_what_there_is(tmp_path: Path, name: str) -> None:
    with pytest.raises(InvalidArgument, match="local, none, or openai:MODEL@COLUMNS"):
        make_embedder(settings(tmp_path, name, ""))
