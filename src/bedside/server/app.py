"""The HTTP door: one FastAPI application over one engine."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import Depends, FastAPI, Response
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest

from bedside import __version__
from bedside.server import openai_compat, problems
from bedside.server.admission import Admission
from bedside.server.auth import same_origin
from bedside.server.edge import Edge
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
    memories,
    note_files,
    notes,
    patients,
    safety,
    turns,
)
from bedside.server.workbench import pages
from bedside.wiring import Engine

__all__ = ["create_app"]

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
    memories,
    notes,
    note_files,
)

_RARER = (5_000, 20, 5)
"""Objects made and not yet gone before a collection of the youngest, and how many of a generation
before one of the next. At 200 open turns a whole one stops the process for 0.3 s: by Python's own
measure every 30 turns, by this one every 250 or so, with the rubbish of as many turns kept till then.
"""


def create_app(engine: Engine, *, alone: bool = False) -> FastAPI:
    """Build the application; it closes the engine when it stops.

    `alone` says that the process is there for it: then what is loaded at the start, and stays, is
    left out of the collections of garbage, each of which would hold up every answer for it; and
    whole collections are rarer, since each reads all that the open turns hold (`_RARER`).
    """

    async def settle() -> None:
        await engine.loaded()
        gc.collect()
        gc.freeze()
        gc.set_threshold(*_RARER)

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        await engine.start_background()
        settling = asyncio.create_task(settle()) if alone else None
        yield
        if settling is not None:
            settling.cancel()
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
    _observe(app, engine)
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


def _observe(app: FastAPI, engine: Engine) -> None:
    """Put the outermost layer round it, and show what it counts."""
    registry = CollectorRegistry()
    app.add_middleware(Edge, registry=registry, any_host=bool(engine.settings.token_secret))

    @app.get("/metrics", tags=["health"], include_in_schema=False)
    async def metrics() -> Response:
        """Counts and durations; nothing about any patient."""
        return Response(generate_latest(registry), media_type=CONTENT_TYPE_LATEST)
