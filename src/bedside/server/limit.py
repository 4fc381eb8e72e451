"""How much a request may send, counted as it comes."""

from __future__ import annotations

from fastapi import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bedside.server.problems import problem

__all__ = ["BodyLimit"]

FRAMING = 1_000_000
"""Bytes that a form may take round its files, and most that a request without files may have."""
UPLOADS = ("/v1/import", "/v1/documents", "/documents", "/v1/notes/text")


class BodyLimit:
    """Refuses a body that is too large with 413, before it is kept anywhere."""

    def __init__(self, app: ASGIApp, *, most: int) -> None:
        """Take the application and the most bytes that uploads may have in all."""
        self._app, self._most = app, most

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Count what comes in."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        most = FRAMING + (self._most if str(scope["path"]).endswith(UPLOADS) else 0)
        files = most > FRAMING
        told = dict(scope["headers"]).get(b"content-length", b"0")
        if told.isdigit() and int(told) > most:
            await _refusal(most, files=files)(scope, receive, send)
            return
        seen = 0

        async def counted() -> Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > most:
                raise HTTPException(413, detail=f"{_TOO_LARGE.format(most=most)}. {_DO[files]}")
            return message

        await self._app(scope, counted, send)


_TOO_LARGE = "The request is larger than {most:,} bytes"


_DO = {
    True: "Split the file, or raise BEDSIDE_UPLOAD_BYTES. Nothing was kept.",
    False: "Attach longer text as a document. Nothing was kept.",
}
"""What to do, by whether the route takes files."""


def _refusal(most: int, *, files: bool) -> ASGIApp:
    return problem(413, kind="TooLarge", title=_TOO_LARGE.format(most=most), detail=_DO[files])
