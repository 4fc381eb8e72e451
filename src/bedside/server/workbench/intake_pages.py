"""Intake's pages: a bare one for the patient, and the coordinator's inside the shell."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse

from bedside.server.auth import Caller
from bedside.server.workbench.templates import Templates
from bedside.wiring import Engine

__all__ = ["install"]


def install(app: FastAPI, templates: Templates) -> None:
    """Add the pages."""

    @app.get("/intake", include_in_schema=False)
    async def begin(request: Request, who: Caller) -> HTMLResponse:
        return await patient("", request, who)

    @app.get("/intake/{case}", include_in_schema=False)
    async def patient(case: str, request: Request, who: Caller) -> HTMLResponse:
        engine: Engine = request.app.state.engine
        house: dict[str, Any] = (await engine.turning.hot.of(who.tenant)).get("pack") or {}
        said = (house.get("intake") or {}).get("emergency_number", "")
        return templates.bare("intake.html", case=case, emergency=str(said))
