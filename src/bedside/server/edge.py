"""The outermost layer of the HTTP door: whom it answers, the headers of every answer, counts and times."""

from __future__ import annotations

import time
from functools import lru_cache

from fastapi import Request
from prometheus_client import CollectorRegistry, Counter, Histogram
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bedside.models.address import is_loopback
from bedside.server import problems

__all__ = ["Edge"]

_HEADERS = {
    "Content-Security-Policy": "default-src 'self'; img-src 'self' data:; object-src 'none'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
}
"""What every answer says that does not say it itself."""
_RAW = tuple((name.lower().encode(), text.encode()) for name, text in _HEADERS.items())
_PRIVATE = (*_RAW, (b"cache-control", b"no-store"))


class Edge:
    """Wraps the application. Nothing of a request is logged but its route and the kind of a failure.

    Metrics go to `registry`; their labels are route templates, so no identifier reaches a metric.
    """

    def __init__(self, app: ASGIApp, *, registry: CollectorRegistry, any_host: bool) -> None:
        """Take the application. `any_host` is true where tokens say who asks (see `ours`)."""
        self._app, self._any_host = app, any_host
        self._requests = Counter(
            "bedside_requests_total",
            "Requests by route and status.",
            ["route", "status"],
            registry=registry,
        )
        self._seconds = Histogram(
            "bedside_request_seconds",
            "Seconds to the first byte by route.",
            ["route"],
            registry=registry,
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        start = time.monotonic()
        begun = False
        own = _PRIVATE if scope["path"].startswith("/v1/") else _RAW

        async def sent(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                route = getattr(scope.get("route"), "path", "unmatched")
                self._requests.labels(route, str(message["status"])).inc()
                self._seconds.labels(route).observe(time.monotonic() - start)
                said = list(message.get("headers", ()))
                names = {name.lower() for name, _ in said}
                message["headers"] = said + [pair for pair in own if pair[0] not in names]
            await send(message)

        if not (self._any_host or ours(Headers(scope=scope).get("host", ""))):
            await _ELSEWHERE(scope, receive, sent)
            return
        try:
            await self._app(scope, receive, sent)
        except Exception as error:  # noqa: BLE001 - the process edge: else its text is logged
            answer = problems.unexpected(Request(scope), error)
            if not begun:
                await answer(scope, receive, sent)


_ELSEWHERE = problems.problem(
    421,
    kind="Host",
    title="Not for this server",
    detail="This server answers to this machine only: localhost, 127.0.0.1 or [::1].",
)


@lru_cache(maxsize=64)
def ours(host: str) -> bool:
    """Is a request with this `Host` for this machine by name? Asked only where no token is.

    A page elsewhere can let its own name point here (DNS rebinding); the browser then takes it for
    the same site, but still sends that name as `Host`.
    """
    try:
        return is_loopback(f"http://{host}")
    except ValueError:
        return False
