"""Briefing: one patient, as JSON or as server-sent events."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Header, Request
from fastapi.responses import JSONResponse, StreamingResponse
from pydantic import BaseModel, ConfigDict, Field

from bedside.server.auth import Caller
from bedside.server.sse import events
from bedside.wiring import Ask, Engine

__all__ = ["QUESTION", "BriefBody", "router"]

router = APIRouter(tags=["briefing"])
QUESTION = "Brief me on this patient."


class BriefBody(BaseModel):
    """Whom to brief on. `focus` is what the visit is about, for a model; rules read the record."""

    model_config = ConfigDict(extra="forbid")

    patient: str = Field(min_length=1, max_length=200)
    focus: str | None = Field(default=None, max_length=2_000)
    session: str | None = Field(default=None, max_length=200)
    model: str | None = Field(default=None, max_length=200)

    def ask(self, *, key: str | None) -> Ask:
        """The engine's form."""
        more = f" The visit is about: {self.focus}" if self.focus else ""
        return Ask(
            question=QUESTION + more,
            patient=self.patient,
            session=self.session,
            model=self.model,
            key=key,
            flow="briefing",
        )


@router.post("/brief", response_model=None)
async def brief(
    body: BriefBody,
    request: Request,
    who: Caller,
    idempotency_key: Annotated[str | None, Header(max_length=200)] = None,
) -> JSONResponse | StreamingResponse:
    """Brief on a patient. The turn holds `briefing`; with `Accept: text/event-stream` it streams."""
    engine: Engine = request.app.state.engine
    engine.may_see(who, body.patient)
    engine.may_ask(who, "clinician")
    wanted = body.ask(key=idempotency_key)
    wanted.request(deadline_ms=1)  # a bad request is a status, not an event
    if "text/event-stream" in request.headers.get("accept", ""):
        return StreamingResponse(
            events(engine.asker.stream(wanted, who)),
            media_type="text/event-stream",
            headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
        )
    return JSONResponse(await engine.asker.ask(wanted, who))
