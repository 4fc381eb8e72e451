"""The HTTP API and the workbench."""

from __future__ import annotations

import os
import socket
import sys

from bedside.core.errors import InvalidArgument, Unavailable
from bedside.wiring import Engine

__all__ = ["serve"]

LOOPBACK = ("127.0.0.1", "::1", "localhost")


def serve(engine: Engine, *, host: str, port: int) -> None:
    """Say where on standard error, and serve until stopped.

    Raises:
        InvalidArgument: an address beyond this machine without a token secret.
        Unavailable: the address is taken, or is none of this machine's.
    """
    if host not in LOOPBACK and not engine.settings.token_secret:
        raise InvalidArgument(
            "host",
            found=host,
            want="loopback, unless BEDSIDE_TOKEN_SECRET is set: without it nobody is asked who "
            "they are",
        )
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        held = socket.create_server((host, port), family=family, backlog=2_048)
    except OSError as error:
        raise Unavailable(
            f"port {port} of {host}",
            why=os.strerror(error.errno).lower() if error.errno else "it cannot be had",
            do="Give another one with --port.",
        ) from error
    import uvicorn

    from bedside.server.app import create_app

    port = held.getsockname()[1]
    sys.stderr.write(f"Bedside serves on http://{host}:{port} (Ctrl+C stops)\n")
    app = create_app(engine, alone=True)
    config = uvicorn.Config(app, host=host, port=port, log_level="warning", access_log=False)
    with held:
        uvicorn.Server(config).run(sockets=[held])
