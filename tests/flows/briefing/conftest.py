"""A demonstration home, and briefings in it: by rule, and by a scripted model on a socket."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import anyio
import pytest

from bedside.settings import load_settings
from bedside.testing.provider import FakeProvider
from bedside.wiring import Ask, build_engine

KEYS = {
    "OPENAI_API_KEY": "k", "ANTHROPIC_API_KEY": "k", "OPENROUTER_API_KEY": "k",
    "AWS_ACCESS_KEY_ID": "k", "AWS_SECRET_ACCESS_KEY": "k",
}  # fmt: skip
QUESTION = "Brief me on this patient."


@pytest.fixture
def home(demo_home: Path, tmp_path: Path) -> Path:
    """A copy of the demonstration home for one test."""
    copy = tmp_path / "home"
    shutil.copytree(demo_home, copy)
    return copy


def briefed(home: Path, patient: str, **more: Any) -> dict[str, Any]:
    """One briefing. `environ` adds settings; the rest goes to `Ask`."""
    environ = {"BEDSIDE_EMBEDDER": "none", **more.pop("environ", {})}

    async def go() -> dict[str, Any]:
        engine = build_engine(load_settings(home=home, environ=environ))
        try:
            ask = Ask(question=QUESTION, patient=patient, flow="briefing", **more)
            return await engine.asker.ask(ask, engine.local())
        finally:
            await engine.close()

    return anyio.run(go)


def imported(home: Path, *paths: Path) -> dict[str, Any]:
    """Import records into a home."""

    async def go() -> dict[str, Any]:
        engine = build_engine(load_settings(home=home, environ={"BEDSIDE_EMBEDDER": "none"}))
        try:
            return await engine.import_paths(list(paths), engine.local())
        finally:
            await engine.close()

    return anyio.run(go)


def by_model(
    home: Path, patient: str, provider: FakeProvider, name: str = "anthropic", **more: Any
) -> dict[str, Any]:
    """One briefing by a model of the fake provider."""
    models = {
        "anthropic": "claude-sonnet-4-6",
        "openai": "gpt-4.1",
        "bedrock": "anthropic.claude-haiku-4-5-20251001-v1:0",
    }
    environ = {
        "BEDSIDE_WRITER": f"{name}:{models[name]}",
        "OPENAI_BASE_URL": provider.address("openai"),
        "ANTHROPIC_BASE_URL": provider.address("anthropic"),
        "AWS_ENDPOINT_URL_BEDROCK_RUNTIME": provider.address("bedrock"),
        **KEYS,
        **more.pop("environ", {}),
    }
    return briefed(home, patient, environ=environ, **more)


def written(
    *flags: Mapping[str, Any],
    one_liner: str = "",
    options: Sequence[Mapping[str, Any]] = (),
) -> str:
    """The object that a model writes."""
    return json.dumps(
        {
            "summary": {"one_liner": one_liner, "changes": []},
            "flags": [
                {"category": "labs", "severity": "warning", "suggested_action": None, **flag}
                for flag in flags
            ],
            "suggested_actions": list(options),
        }
    )


def number_of(text: str, words: str) -> int:
    """The number of the first source with these words in a request's text."""
    for number, body in re.findall(
        r'<source (?:n|id)="(\d+)"[^>]*>\n(.*?)</source>', text, re.DOTALL
    ):
        if words in body:
            return int(number)
    raise AssertionError(f"no source shown holds {words!r}")
