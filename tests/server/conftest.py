from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from bedside.server.app import create_app
from bedside.settings import load_settings
from bedside.wiring import Engine, build_engine


@pytest.fixture
def home(demo_home: Path, tmp_path: Path) -> Path:
    """A copy of the demonstration that a test may change."""
    copy = tmp_path / "home"
    shutil.copytree(demo_home, copy)
    return copy


def engine_of(home: Path, **environ: str) -> Engine:
    return build_engine(load_settings(home=home, environ={"BEDSIDE_EMBEDDER": "none", **environ}))


@pytest.fixture
def client(home: Path) -> Iterator[TestClient]:
    with TestClient(
        create_app(engine_of(home)), base_url="http://127.0.0.1", raise_server_exceptions=False
    ) as made:
        yield made
