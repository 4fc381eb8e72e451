"""The companion's pages: one person's space, and in a demonstration two side by side."""

from __future__ import annotations

from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse

from bedside.core.errors import AccessDenied
from bedside.server.auth import Caller
from bedside.server.workbench.templates import Templates
from bedside.wiring import Engine
from bedside.wiring.companion import enabled, overview, sessions

__all__ = ["install"]

_DEMO = ("ana", "ben")


def install(app: FastAPI, templates: Templates) -> None:
    """Add the pages; each is refused until the deployer switches the companion on."""

    @app.get("/companion", include_in_schema=False)
    async def spaces(request: Request, who: Caller) -> HTMLResponse:
        engine: Engine = request.app.state.engine
        enabled(engine)
        return templates.bare(
            "companions.html",
            who=who,
            sessions=await sessions(engine, who),
            demo=not engine.settings.token_secret,
        )

    @app.get("/companion/demo", include_in_schema=False)
    @app.get("/companion/demo/{session}", include_in_schema=False)
    async def both(request: Request, who: Caller, session: str = "") -> HTMLResponse:
        """Both people on one screen: only on this machine, where nobody has a login."""
        engine: Engine = request.app.state.engine
        enabled(engine)
        if engine.settings.token_secret:
            raise AccessDenied("both people's spaces", need="a demonstration without logins")
        del who
        return templates.bare("companion.html", session=session, people=_DEMO, both=True)

    @app.get("/companion/{session}", include_in_schema=False)
    async def space(session: str, request: Request, who: Caller) -> HTMLResponse:
        engine: Engine = request.app.state.engine
        enabled(engine)
        await overview(engine, who, session)
        return templates.bare("companion.html", session=session, people=(), both=False)
