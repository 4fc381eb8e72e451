"""One server over the demonstration, and one Chromium, for every page's tests."""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from bedside.server.app import create_app
from bedside.server.auth import token
from bedside.settings import load_settings
from bedside.wiring import build_engine

CHROMIUM = (
    shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)
ARGUMENTS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip
SECRET = "s" * 40
ENVIRON = {"BEDSIDE_EMBEDDER": "none", "BEDSIDE_COMPANION": "true"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Every test here that takes a page needs Chromium, and time to start it."""
    for item in items:
        if Path(__file__).parent not in item.path.parents:
            continue
        if {"page", "browser", "opened"} & set(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.browser)
            item.add_marker(pytest.mark.timeout(180))


def free_port() -> int:
    with socket.socket() as it:
        it.bind(("127.0.0.1", 0))
        return it.getsockname()[1]


@contextmanager
def served(home: Path, **environ: str) -> Iterator[str]:
    """The address of a server of its own over this home, once it answers."""
    port = free_port()
    with subprocess.Popen(
        [sys.executable, "-m", "bedside", "serve", "--home", str(home), "--port", str(port)],
        env={**ENVIRON, "PATH": "/usr/bin:/bin", **environ},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as server:
        base = f"http://127.0.0.1:{port}"
        until = time.monotonic() + 90
        while time.monotonic() < until:
            try:
                with urllib.request.urlopen(f"{base}/healthz", timeout=2):
                    break
            except OSError:
                time.sleep(0.2)
        yield base
        server.terminate()


@pytest.fixture(scope="package")
def address(demo_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    home = tmp_path_factory.mktemp("workbench") / "home"
    with served(shutil.copytree(demo_home, home)) as base:
        yield base


@pytest.fixture(scope="module")
def browser(address: str) -> Iterator[Any]:
    """Chromium for one file: its driver keeps an event loop in this thread, which others need."""
    assert address  # the server is up first
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed: .ci/run installs it")
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield opened
        opened.close()


@pytest.fixture
def opened(browser: Any, address: str) -> Iterator[Callable[..., Any]]:
    """Opens pages; at the end no page may have thrown, or loaded anything from elsewhere."""
    contexts: list[Any] = []
    errors: list[str] = []

    def make(*, width: int = 1280, scheme: str = "light", **more: Any) -> Any:
        context = browser.new_context(
            viewport={"width": width, "height": 900 if width > 400 else 740},
            base_url=address,
            color_scheme=scheme,
            **more,
        )
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(45_000)
        page.errors = errors
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", lambda said: errors.append(said.text) if said.type == "error" else None)
        page.on(
            "request",
            lambda asked: (
                None
                if asked.url.startswith((address, "data:", "blob:"))
                else errors.append(f"loaded from elsewhere: {asked.url}")
            ),
        )
        return page

    yield make
    for context in contexts:
        context.close()
    assert errors == []


@pytest.fixture
def page(opened: Callable[..., Any]) -> Any:
    return opened()


class Guarded(TestClient):
    """A client of a server that has a token secret."""

    @staticmethod
    def bearer(**more: Any) -> dict[str, str]:
        """Headers with a token of a clinician, unless told otherwise."""
        given = {"actor": "dr-1", "expires": int(time.time()) + 600, **more}
        return {"Authorization": f"Bearer {token(SECRET, **given)}"}


@pytest.fixture
def guarded(demo_home: Path, tmp_path: Path) -> Iterator[Guarded]:
    home = tmp_path / "home"
    shutil.copytree(demo_home, home)
    environ = {**ENVIRON, "BEDSIDE_TOKEN_SECRET": SECRET}
    engine = build_engine(load_settings(home=home, environ=environ))
    with Guarded(create_app(engine), raise_server_exceptions=False) as made:
        yield made


@pytest.fixture
def off(demo_home: Path, tmp_path: Path) -> Iterator[TestClient]:
    """A client of a server as it ships: no companion."""
    home = tmp_path / "home"
    shutil.copytree(demo_home, home)
    engine = build_engine(load_settings(home=home, environ={"BEDSIDE_EMBEDDER": "none"}))
    with TestClient(
        create_app(engine), base_url="http://127.0.0.1", raise_server_exceptions=False
    ) as made:
        yield made
