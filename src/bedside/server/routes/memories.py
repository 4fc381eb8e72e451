"""The copilot's notes about the caller's own work, and the consent to them (CO-12)."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request

from bedside.server.auth import Caller
from bedside.wiring import Engine, memories

__all__ = ["router"]

router = APIRouter(prefix="/memories", tags=["memories"])


def _engine(request: Request, who: Caller) -> Engine:
    engine: Engine = request.app.state.engine
    engine.needs_role(who, "clinician")
    return engine


@router.get("")
async def overview(request: Request, who: Caller) -> dict[str, Any]:
    """The caller's consent to notes about their work, and the notes."""
    return await memories.overview(_engine(request, who), who)


@router.put("/consent")
async def give_consent(request: Request, who: Caller) -> dict[str, Any]:
    """Let the copilot keep what the caller asks it to remember; 403 where it is switched off."""
    return await memories.give_consent(_engine(request, who), who)


@router.delete("/consent")
async def withdraw(request: Request, who: Caller) -> dict[str, Any]:
    """Take the consent back; every note of the caller's goes with it."""
    return await memories.withdraw(_engine(request, who), who)


@router.delete("/notes/{note}")
async def forget(note: str, request: Request, who: Caller) -> dict[str, Any]:
    """Remove one note of the caller's."""
    return await memories.forget(_engine(request, who), who, note)
