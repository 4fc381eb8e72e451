"""How much is done at once: what comes beyond it is told to come back, before any work is done for it."""

from __future__ import annotations

import re

from starlette.types import ASGIApp, Receive, Scope, Send

from bedside.server.problems import problem

__all__ = ["Admission"]

_TURN = re.compile(
    r"/v1/(?:ask|brief|chat/completions|notes/summarise|companion|companion/[^/]+/turns|"
    r"intake/cases|intake/cases/[^/]+/messages)"
)
"""Routes that take a turn: mostly they wait for a model, so many more of them fit."""


class Admission:
    """Counts what is under way and refuses the rest with 503 and `Retry-After` (RELIABILITY row 8).

    A queue without an end would answer everybody late; a short one answers those it takes in time.
    Only `/v1` is counted: health checks, metrics and the workbench's own files always pass.
    """

    def __init__(self, app: ASGIApp, *, requests: int, turns: int) -> None:
        """Take the application, and how many turns and how many other requests may be under way."""
        self._app = app
        self._most = {True: turns, False: requests}
        self._under_way = {True: 0, False: 0}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let it in, or refuse it at once."""
        path = str(scope.get("path", ""))
        if scope["type"] != "http" or not path.startswith("/v1/"):
            await self._app(scope, receive, send)
            return
        turn = scope["method"] == "POST" and _TURN.fullmatch(path) is not None
        if self._under_way[turn] >= self._most[turn]:
            await _FULL(scope, receive, send)
            return
        self._under_way[turn] += 1
        try:
            await self._app(scope, receive, send)
        finally:
            self._under_way[turn] -= 1


_FULL = problem(
    503, kind="Busy", title="Too much at once", detail="Nothing was done. Ask again in a second."
)
