"""A real engine on a fresh home, without a model unless a provider is given."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import anyio
import pytest

from bedside.settings import load_settings
from bedside.testing.provider import FakeProvider
from bedside.wiring import Engine, build_engine
from bedside.wiring.intake import send, start_case

Talk = Callable[..., list[dict[str, Any]]]


def settings(home: Path, provider: FakeProvider | None = None, **more: str):
    environ = {"BEDSIDE_EMBEDDER": "none", **more}
    if provider is not None:
        environ |= {
            "BEDSIDE_MECHANIC": "openai:small",
            "OPENAI_BASE_URL": provider.address("openai"),
            "OPENAI_API_KEY": "k",
        }
    return load_settings(home=home, environ=environ)


def with_engine(home: Path, work: Callable[[Engine], Any], provider: FakeProvider | None = None):
    async def go() -> Any:
        engine = build_engine(settings(home, provider))
        try:
            found = await work(engine)
            await engine.turning.settled()
            return found
        finally:
            await engine.close()

    return anyio.run(go)


@pytest.fixture
def talk(tmp_path: Path) -> Talk:
    """Say these messages in a case of one's own; the turns."""

    def run(
        messages: Sequence[str], *, case: str | None = None, provider: FakeProvider | None = None,
        procedure: str = "",
    ) -> list[dict[str, Any]]:  # fmt: skip
        async def work(engine: Engine) -> list[dict[str, Any]]:
            who = engine.local()
            ident = case or await start_case(engine, who)
            turns = []
            for message in messages:
                turns.append(await send(engine, who, ident, message, procedure=procedure))
                await engine.turning.settled()
            return turns

        return with_engine(tmp_path / "home", work, provider)

    return run


@pytest.fixture
def engine_work(tmp_path: Path) -> Callable[..., Any]:
    """Run some work on an engine of this test's own home."""
    return lambda work, provider=None: with_engine(tmp_path / "home", work, provider)
