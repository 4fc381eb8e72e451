"""Intake's pages: a bare one for the patient, and the coordinator's inside the shell."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse

from bedside.core.errors import AccessDenied, NotFound
from bedside.server.auth import Caller, caller
from bedside.server.workbench import desk
from bedside.server.workbench.templates import Templates
from bedside.wiring import Engine, Who
from bedside.wiring.intake import contract_text, contracts, saved_version
from bedside.wiring.intake_desk import case_of, cases

__all__ = ["install"]


def install(app: FastAPI, templates: Templates) -> None:
    """Add the pages."""

    @app.get("/intake", include_in_schema=False)
    async def begin(request: Request) -> HTMLResponse:
        return await patient("", request)

    @app.get("/intake/{case}", include_in_schema=False)
    async def patient(case: str, request: Request) -> HTMLResponse:
        """Bare, and nothing of any case in it: a link's token is in the fragment, for the script."""
        engine: Engine = request.app.state.engine
        try:
            tenant = str((await caller(request)).tenant)
        except AccessDenied:
            tenant = engine.settings.tenant
        house: dict[str, Any] = (await engine.turning.hot.of(tenant)).get("pack") or {}
        said = (house.get("intake") or {}).get("emergency_number", "")
        return templates.bare("intake.html", case=case, emergency=str(said))

    @app.get("/coordinator", include_in_schema=False)
    async def board(request: Request, who: Caller) -> HTMLResponse:
        engine: Engine = request.app.state.engine
        found = await cases(engine, who)
        book = {one.id: one for one in (await contracts(engine, who)).contracts}
        groups = desk.grouped(found, book)
        return templates.page("desk.html", request, who, groups=groups, total=len(found))

    @app.get("/coordinator/sops", include_in_schema=False)
    async def procedures(request: Request, who: Caller) -> HTMLResponse:
        engine: Engine = request.app.state.engine
        _author(engine, who)
        live = (await engine.turning.hot.of(who.tenant)).get("sop") or {}
        found = (await contracts(engine, who)).contracts
        return templates.page("sops.html", request, who, contracts=found, edited=frozenset(live))

    @app.get("/coordinator/sops/{sop}", include_in_schema=False)
    async def procedure(sop: str, request: Request, who: Caller) -> HTMLResponse:
        engine: Engine = request.app.state.engine
        _author(engine, who)
        text = await contract_text(engine, who, sop)
        if text is None:
            raise NotFound("contract", sop)
        editor = "admin" in who.roles
        live = (await engine.turning.hot.of(who.tenant)).get("sop") or {}
        return templates.page(
            "sop.html",
            request,
            who,
            sop=sop,
            yaml=text,
            editor=editor,
            edited=sop in live,
            saved=await saved_version(engine, who, sop),
        )

    @app.get("/coordinator/{case}", include_in_schema=False)
    async def one(case: str, request: Request, who: Caller) -> HTMLResponse:
        engine: Engine = request.app.state.engine
        found = await case_of(engine, who, case)
        contract = (await contracts(engine, who)).get(found["sop"])
        return templates.page(
            "case.html",
            request,
            who,
            case=found,
            title=contract.title,
            alerts=desk.alerts(found["alerts"]),
            blockers=desk.blockers(found["blocked_by"], contract),
            sections=desk.sections(found["state"], contract),
            documents=desk.papers(found["state"], contract),
        )


def _author(engine: Engine, who: Who) -> None:
    if not who.roles & {"coordinator", "clinician"}:
        engine.needs_role(who, "admin")
