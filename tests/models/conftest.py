"""Fake providers that stop when their test ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from bedside.testing.provider import FakeProvider
from bedside.testing.provider_script import Script


@pytest.fixture
def fake() -> Iterator[Callable[[Script], FakeProvider]]:
    """Starts a fake provider with a script."""
    running: list[FakeProvider] = []

    def start(script: Script) -> FakeProvider:
        provider = FakeProvider(script)
        provider.start()
        running.append(provider)
        return provider

    yield start
    for provider in running:
        provider.stop()
