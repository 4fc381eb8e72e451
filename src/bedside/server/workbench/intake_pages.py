"""Intake's pages: a bare one for the patient, and the coordinator's inside the shell."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse

from bedside.server.auth import Caller
from bedside.server.workbench import desk
from bedside.server.workbench.templates import Templates
from bedside.wiring import Engine
from bedside.wiring.contracts import contract_text, contracts_listed
from bedside.wiring.intake import contracts
from bedside.wiring.intake_desk import case_of, cases

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
        return templates.page(
            "sops.html", request, who, contracts=await contracts_listed(engine, who)
        )

    @app.get("/coordinator/sops/{sop}", include_in_schema=False)
    async def procedure(sop: str, request: Request, who: Caller) -> HTMLResponse:
        engine: Engine = request.app.state.engine
        text = await contract_text(engine, who, sop)
        return templates.page("sop.html", request, who, contract=text, editor="admin" in who.roles)

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
