"""Audit, health, schemas, the doctor."""

from __future__ import annotations

from typing import Any, Literal

from fastapi import APIRouter, Request

from bedside.server.auth import Caller
from bedside.wiring import Engine

__all__ = ["router"]

router = APIRouter(tags=["admin"])


@router.get("/audit")
async def audit(request: Request, who: Caller, patient: str | None = None) -> list[dict[str, Any]]:
    """The audit trail of the tenant, or of one patient."""
    engine: Engine = request.app.state.engine
    engine.needs_role(who, "safety")
    return await engine.audit(who, patient=patient)


@router.get("/audit/verify")
async def verify(request: Request, who: Caller) -> dict[str, Any]:
    """Whether the chain is whole, and the first entry that does not fit."""
    engine: Engine = request.app.state.engine
    engine.needs_role(who, "safety")
    return await engine.verify_audit(who)


@router.get("/doctor")
async def doctor(request: Request, who: Caller) -> dict[str, Any]:
    """The state of the installation and the stores."""
    engine: Engine = request.app.state.engine
    engine.needs_role(who, "engineer")
    return await engine.doctor()


@router.get("/schema/{name}")
async def schema(name: Literal["patient", "turn"], request: Request) -> dict[str, Any]:
    """A JSON Schema of the contract."""
    engine: Engine = request.app.state.engine
    return engine.schema(name)
