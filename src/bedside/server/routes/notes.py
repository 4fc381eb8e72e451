"""Notes: summarise, evaluate, sections."""

from __future__ import annotations

import asyncio
import datetime as dt
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Header, Request
from pydantic import BaseModel, ConfigDict, Field

from bedside.flows.notes.outputs import rendered
from bedside.grounding.evaluate import evaluate_note
from bedside.server.auth import Caller
from bedside.wiring import Engine
from bedside.wiring.notes import MOST_CHARACTERS, note_of, only_summary, summarise

__all__ = ["router"]

router = APIRouter(prefix="/notes", tags=["notes"])


class NoteBody(BaseModel):
    """A note. Its text never travels in an address."""

    model_config = ConfigDict(extra="forbid")

    text: str = Field(max_length=MOST_CHARACTERS)


class SummariseBody(NoteBody):
    """A note to summarise; without a patient the turn sees no record."""

    title: str = Field(default="Note", max_length=200)
    patient: str | None = Field(default=None, max_length=200)
    date: dt.date | None = None
    model: str | None = Field(default=None, max_length=200)
    format: Literal["json", "md", "html", "fhir"] = "json"
    call: bool = True


class EvaluateBody(BaseModel):
    """A summary and the note that it is of; `summary` may hold its plan and chunks, or be text."""

    model_config = ConfigDict(extra="forbid")

    note: str = Field(max_length=MOST_CHARACTERS)
    summary: dict[str, Any] | list[Any] | Annotated[str, Field(max_length=MOST_CHARACTERS)]
    plan: dict[str, Any] | list[Any] | None = None
    html: bool = False


@router.post("/summarise")
async def summarise_note(
    body: SummariseBody,
    request: Request,
    who: Caller,
    idempotency_key: Annotated[str | None, Header(max_length=200)] = None,
) -> dict[str, Any]:
    """Summary and plan, every item traced; in another format than JSON, `rendered` holds it."""
    engine: Engine = request.app.state.engine
    turn = await summarise(
        engine,
        who,
        text=body.text,
        title=body.title,
        patient=body.patient,
        dated=body.date,
        model=body.model,
        key=idempotency_key,
        call=body.call,
    )
    if body.format == "json" or turn["status"] != "complete" or "summary" not in turn:
        return turn
    made = await asyncio.to_thread(rendered, turn, body.text, body.format, at=engine.clock.now())
    return {**turn, "rendered": made}


@router.post("/evaluate")
async def evaluate(body: EvaluateBody, request: Request, who: Caller) -> dict[str, Any]:
    """Hold any summary and plan against its note; nothing is kept."""
    engine: Engine = request.app.state.engine
    engine.may_ask(who, "clinician")
    found = await asyncio.to_thread(
        evaluate_note,
        only_summary(body.summary) if isinstance(body.summary, dict) else body.summary,
        note=body.note,
        plan=body.plan,
    )
    report = found.to_dict()
    return {**report, "html": found.html()} if body.html else report


@router.post("/sections")
async def sections(body: NoteBody, request: Request, who: Caller) -> list[dict[str, Any]]:
    """The sections of a note; nothing is kept."""
    engine: Engine = request.app.state.engine
    engine.may_ask(who, "clinician")
    note = await asyncio.to_thread(note_of, body.text)
    return note.sections_json()
