"""The HTTP API and the workbench."""

from __future__ import annotations

import sys

from bedside.core.errors import InvalidArgument
from bedside.wiring import Engine

__all__ = ["serve"]

LOOPBACK = ("127.0.0.1", "::1", "localhost")


def serve(engine: Engine, *, host: str, port: int) -> None:
    """Say where on standard error, and serve until stopped.

    Raises:
        InvalidArgument: an address beyond this machine without a token secret.
    """
    if host not in LOOPBACK and not engine.settings.token_secret:
        raise InvalidArgument(
            "host",
            found=host,
            want="loopback, unless BEDSIDE_TOKEN_SECRET is set: without it nobody is asked who "
            "they are",
        )
    import uvicorn

    from bedside.server.app import create_app

    sys.stderr.write(f"Bedside serves on http://{host}:{port} (Ctrl+C stops)\n")
    uvicorn.run(
        create_app(engine, alone=True), host=host, port=port, log_level="warning", access_log=False
    )
