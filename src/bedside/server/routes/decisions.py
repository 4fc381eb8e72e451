"""Decisions about single options and flags of a briefing: accept, edit, dismiss with a reason."""

from __future__ import annotations

from typing import Any, Literal

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict, Field

from bedside.server.auth import Caller
from bedside.wiring import Engine
from bedside.wiring.decisions import decide, decisions

__all__ = ["router"]

router = APIRouter(prefix="/turns", tags=["briefing"])


class DecisionBody(BaseModel):
    """What a clinician makes of one option or flag. It orders nothing."""

    model_config = ConfigDict(extra="forbid")

    target: str = Field(max_length=20, pattern=r"^(action|flag):\d{1,4}$")
    state: Literal["accepted", "edited", "dismissed"]
    text: str = Field(default="", max_length=2_000)
    reason: str = Field(default="", max_length=2_000)


@router.post("/{turn}/decisions")
async def put(turn: str, body: DecisionBody, request: Request, who: Caller) -> dict[str, Any]:
    """Accept, edit or dismiss one option or flag of a briefing; dismissing needs a reason."""
    engine: Engine = request.app.state.engine
    return await decide(
        engine,
        who,
        turn_id=turn,
        target=body.target,
        state=body.state,
        text=body.text,
        reason=body.reason,
    )


@router.get("/{turn}/decisions")
async def of_turn(turn: str, request: Request, who: Caller) -> list[dict[str, Any]]:
    """The decision that stands for each option and flag of a briefing."""
    engine: Engine = request.app.state.engine
    return await decisions(engine, who, turn_id=turn)
