"""What a safety officer oversees besides reports and the audit trail."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request

from bedside.server.auth import Caller
from bedside.wiring import Engine
from bedside.wiring.overseeing import egress_log, erasures, evaluation_case, kept

__all__ = ["router"]

router = APIRouter(tags=["safety"])


@router.get("/reports/{report}/case")
async def case(report: str, request: Request, who: Caller) -> dict[str, Any]:
    """A report as an evaluation case: question, sources, answer, prompt, trace; audited as an export."""
    engine: Engine = request.app.state.engine
    return await evaluation_case(engine, report, who)


@router.get("/egress")
async def egress(request: Request, who: Caller) -> list[dict[str, Any]]:
    """The newest turns whose text left this machine: when, by whom, where to; never the text."""
    engine: Engine = request.app.state.engine
    return await egress_log(engine, who)


@router.get("/erasures")
async def erased(request: Request, who: Caller) -> list[dict[str, Any]]:
    """The erasures of the tenant, newest first; a patient is named by a reference alone."""
    engine: Engine = request.app.state.engine
    return await erasures(engine, who)


@router.get("/retention")
async def retention(request: Request, who: Caller) -> list[dict[str, Any]]:
    """What the store holds of the tenant, by kind: how many, since when, and what ends it."""
    engine: Engine = request.app.state.engine
    return await kept(engine, who)
