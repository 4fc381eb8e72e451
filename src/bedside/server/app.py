"""The HTTP door: one FastAPI application over one engine."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from fastapi import Depends, FastAPI, Request, Response
from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Counter,
    Histogram,
    generate_latest,
)

from bedside import __version__
from bedside.server import openai_compat, problems
from bedside.server.admission import Admission
from bedside.server.auth import ours, same_origin
from bedside.server.limit import BodyLimit
from bedside.server.openapi import describe
from bedside.server.routes import (
    admin,
    ask,
    briefing,
    catalogue,
    companion,
    decisions,
    intake,
    keeping,
    knowledge,
    note_files,
    notes,
    patients,
    safety,
    turns,
)
from bedside.server.workbench import pages
from bedside.wiring import Engine

__all__ = ["create_app"]

SECURITY_HEADERS = {
    "Content-Security-Policy": "default-src 'self'; img-src 'self' data:; object-src 'none'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
}

_PARTS = (
    ask,
    briefing,
    patients,
    keeping,
    knowledge,
    turns,
    decisions,
    intake,
    companion,
    safety,
    admin,
    catalogue,
    notes,
    note_files,
)


def create_app(engine: Engine) -> FastAPI:
    """Build the application; it closes the engine when it stops."""

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        await engine.start_background()
        yield
        await engine.close()

    app = FastAPI(
        title="Bedside",
        version=__version__,
        description="The context engine for clinical language-model applications. "
        "Not a medical device.",
        lifespan=lifespan,
        dependencies=[Depends(same_origin)],
        docs_url=None,
        redoc_url=None,
    )
    app.state.engine = engine
    problems.install(app)
    describe(app)
    app.add_middleware(BodyLimit, most=engine.settings.upload_bytes)
    app.add_middleware(
        Admission, requests=engine.settings.max_requests, turns=engine.settings.max_turns
    )
    _observe(app)
    for part in _PARTS:
        app.include_router(part.router, prefix="/v1")
    app.include_router(openai_compat.router, prefix="/v1")
    pages.install(app)

    @app.get("/healthz", tags=["health"])
    async def healthz() -> dict[str, str]:
        """The process answers."""
        return {"status": "ok"}

    @app.get("/readyz", tags=["health"])
    async def readyz() -> dict[str, Any]:
        """The stores answer."""
        await engine.ready()
        return {"status": "ready"}

    return app


def _observe(app: FastAPI) -> None:
    """Metrics and headers. Labels are route templates, so no identifier reaches a metric."""
    registry = CollectorRegistry()
    requests = Counter(
        "bedside_requests_total",
        "Requests by route and status.",
        ["route", "status"],
        registry=registry,
    )
    seconds = Histogram(
        "bedside_request_seconds",
        "Seconds to the first byte by route.",
        ["route"],
        registry=registry,
    )

    @app.middleware("http")
    async def measure(
        request: Request, call_next: Callable[[Request], Awaitable[Response]]
    ) -> Response:
        start = time.monotonic()
        response: Response
        if not ours(request):
            response = problems.problem(
                421, kind="Host", title="Not for this server", detail=problems.BAD_HOST
            )
        else:
            try:
                response = await call_next(request)
            except Exception as error:  # noqa: BLE001 - the process edge: else its text is logged
                response = problems.unexpected(request, error)
        route = getattr(request.scope.get("route"), "path", "unmatched")
        requests.labels(route=route, status=str(response.status_code)).inc()
        seconds.labels(route=route).observe(time.monotonic() - start)
        for name, item in SECURITY_HEADERS.items():
            response.headers.setdefault(name, item)
        if request.url.path.startswith("/v1/"):
            response.headers.setdefault("Cache-Control", "no-store")
        return response

    @app.get("/metrics", tags=["health"], include_in_schema=False)
    async def metrics() -> Response:
        """Counts and durations; nothing about any patient."""
        return Response(generate_latest(registry), media_type=CONTENT_TYPE_LATEST)
