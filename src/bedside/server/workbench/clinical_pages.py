"""Briefing and notes in the workbench. The pages hold no data of their own: scripts ask the API."""

from __future__ import annotations

from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse

from bedside.core.errors import NotFound
from bedside.server.auth import Caller
from bedside.server.workbench.templates import Templates
from bedside.wiring import Engine

__all__ = ["install"]


def install(app: FastAPI, templates: Templates) -> None:
    """Add the pages."""

    @app.get("/patients/{patient}/briefing", include_in_schema=False)
    async def briefing(patient: str, request: Request, who: Caller) -> HTMLResponse:
        engine: Engine = request.app.state.engine
        engine.may_ask(who, "clinician")
        opening = await engine.opening(patient, who)
        made = [
            item["turn_id"]
            for item in await engine.turns_of(patient, who)
            if item["flow"] == "briefing" and item["status"] == "complete"
        ]
        return templates.page(
            "briefing.html",
            request,
            who,
            banner=opening["banner"],
            turn=made[0] if made else "",
        )

    @app.get("/patients/{patient}/notes", include_in_schema=False)
    async def notes_of(patient: str, request: Request, who: Caller) -> HTMLResponse:
        engine: Engine = request.app.state.engine
        engine.may_ask(who, "clinician")
        opening = await engine.opening(patient, who)
        earlier = [
            item
            for item in await engine.turns_of(patient, who)
            if item["flow"] == "notes" and item["status"] == "complete"
        ]
        return templates.page(
            "notes.html",
            request,
            who,
            banner=opening["banner"],
            patient=patient,
            earlier=earlier,
        )

    @app.get("/notes", include_in_schema=False)
    async def notes(request: Request, who: Caller) -> HTMLResponse:
        engine: Engine = request.app.state.engine
        engine.may_ask(who, "clinician")
        return templates.page("notes.html", request, who, patient="", earlier=[])

    @app.get("/notes/evaluate", include_in_schema=False)
    async def evaluate(request: Request, who: Caller) -> HTMLResponse:
        engine: Engine = request.app.state.engine
        engine.may_ask(who, "clinician")
        return templates.page("evaluate.html", request, who)

    @app.get("/notes/{turn}", include_in_schema=False)
    async def note(turn: str, request: Request, who: Caller) -> HTMLResponse:
        engine: Engine = request.app.state.engine
        body = await engine.turn(turn, who)
        if body["flow"] != "notes":
            raise NotFound("summarised note", turn)
        opening = await engine.opening(body["patient"], who) if body["patient"] else None
        return templates.page(
            "note.html", request, who, banner=opening["banner"] if opening else None, turn=turn
        )
