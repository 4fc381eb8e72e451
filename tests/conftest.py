"""No test reaches the network: loopback and Unix sockets only."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest
from hypothesis import settings

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
