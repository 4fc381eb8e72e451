"""`bedside serve` in a process of its own, with a token secret and everything that it writes kept."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx

from bedside.server.auth import token

SECRET = "a secret of at least thirty-two characters"
EVERYTHING = ("clinician", "patient", "coordinator", "safety", "admin", "engineer")


@dataclass
class Served:
    """A running server."""

    base: str
    log: Path
    pid: int

    def bearer(self, *, roles: tuple[str, ...] = EVERYTHING, actor: str = "dr") -> dict[str, str]:
        """The header of a token with these roles."""
        signed = token(SECRET, actor=actor, roles=roles, expires=int(time.time()) + 3_600)
        return {"Authorization": f"Bearer {signed}"}


@contextlib.contextmanager
def serve(home: Path, log: Path, **environ: str) -> Iterator[Served]:
    """Serve a home until the block ends; standard output and error go to `log`."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        port = held.getsockname()[1]
    given = {
        **os.environ,
        "BEDSIDE_EMBEDDER": "none",
        "BEDSIDE_TOKEN_SECRET": SECRET,
        "BEDSIDE_COMPANION": "true",
        **environ,
    }
    with (
        log.open("wb") as out,
        subprocess.Popen(
            [sys.executable, "-m", "bedside", "serve", "--home", str(home), "--port", str(port)],
            stdout=out, stderr=subprocess.STDOUT, env=given,
        ) as process,
    ):  # fmt: skip
        made = Served(base=f"http://127.0.0.1:{port}", log=log, pid=process.pid)
        try:
            _await(made.base, process)
            yield made
        finally:
            process.terminate()
            process.wait(timeout=30)


def _await(base: str, process: subprocess.Popen[bytes]) -> None:
    for _ in range(600):
        with contextlib.suppress(httpx.HTTPError):
            httpx.get(f"{base}/readyz", timeout=2).raise_for_status()
            return
        assert process.poll() is None, "the server stopped before it was ready"
        time.sleep(0.05)
    raise AssertionError("the server was not ready in time")
