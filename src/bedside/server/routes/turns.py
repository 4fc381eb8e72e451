"""Turns after they ended: result, prompt, trace, review, reports."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Header, Request
from pydantic import BaseModel, ConfigDict, Field

from bedside.server.auth import Caller
from bedside.wiring import Engine
from bedside.wiring.costs import cost_of

__all__ = ["router"]

router = APIRouter(tags=["turns"])


class ReviewBody(BaseModel):
    """A clinician's decision about a draft."""

    model_config = ConfigDict(extra="forbid")

    state: Literal["accepted", "edited", "rejected"]


class ReportBody(BaseModel):
    """A report that something is wrong."""

    model_config = ConfigDict(extra="forbid")

    target: str = Field(default="answer", max_length=40, pattern=r"^(answer|(claim|flag):\d{1,4})$")
    kind: Literal["wrong", "missing", "unsafe", "other"] = "wrong"
    note: str = Field(default="", max_length=2_000)


@router.get("/turns/{turn}")
async def turn(turn: str, request: Request, who: Caller) -> dict[str, Any]:
    """The turn as it was answered."""
    engine: Engine = request.app.state.engine
    return await engine.turn(turn, who)


@router.delete("/turns")
async def stop(
    request: Request,
    who: Caller,
    idempotency_key: Annotated[str, Header(min_length=1, max_length=200)],
) -> dict[str, bool]:
    """Stop the caller's turn that runs under this key: its model call is closed.

    It is kept as incomplete, with what was released before; whoever waits for it is told. The audit
    trail says who stopped it.
    """
    engine: Engine = request.app.state.engine
    await engine.stop_turn(idempotency_key, who)
    return {"stopped": True}


@router.get("/turns/{turn}/prompt")
async def prompt(turn: str, request: Request, who: Caller) -> list[dict[str, Any]]:
    """The prompt, byte for byte, per model call (or as compiled, where none was called)."""
    engine: Engine = request.app.state.engine
    return await engine.prompt(turn, who)


@router.get("/turns/{turn}/trace")
async def trace(turn: str, request: Request, who: Caller) -> dict[str, Any]:
    """What happened, in order, without patient content."""
    engine: Engine = request.app.state.engine
    return await engine.trace(turn, who)


@router.get("/sessions/{session}/cost")
async def cost(session: str, request: Request, who: Caller) -> dict[str, Any]:
    """What the models of a conversation cost, those of the jobs after its answers included."""
    engine: Engine = request.app.state.engine
    return await cost_of(engine, who, session)


@router.get("/patients/{patient}/turns")
async def of_patient(patient: str, request: Request, who: Caller) -> list[dict[str, Any]]:
    """The patient's turns, newest first."""
    engine: Engine = request.app.state.engine
    return await engine.turns_of(patient, who)


@router.post("/turns/{turn}/review")
async def review(turn: str, body: ReviewBody, request: Request, who: Caller) -> dict[str, Any]:
    """Accept, edit or reject a draft."""
    engine: Engine = request.app.state.engine
    engine.needs_role(who, "clinician")
    return await engine.review(turn, body.state, who)


@router.post("/turns/{turn}/reports")
async def report(turn: str, body: ReportBody, request: Request, who: Caller) -> dict[str, Any]:
    """Report an answer or a claim as wrong; it reaches the safety inbox."""
    engine: Engine = request.app.state.engine
    return await engine.report(turn, target=body.target, kind=body.kind, note=body.note, who=who)


@router.get("/reports")
async def reports(request: Request, who: Caller) -> list[dict[str, Any]]:
    """The safety inbox."""
    engine: Engine = request.app.state.engine
    engine.needs_role(who, "safety")
    return await engine.reports(who)
