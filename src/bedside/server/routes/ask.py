"""Asking: the turn as JSON, or as server-sent events."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Header, Request
from fastapi.responses import JSONResponse, StreamingResponse
from pydantic import BaseModel, ConfigDict, Field

from bedside.server.auth import Caller
from bedside.server.sse import events
from bedside.wiring import Ask, Engine

__all__ = ["AskBody", "router"]

router = APIRouter(tags=["ask"])


class AskBody(BaseModel):
    """A question. The text never travels in an address."""

    model_config = ConfigDict(extra="forbid")

    question: str = Field(max_length=20_000)
    patient: str | None = Field(default=None, max_length=200)
    documents: list[str] = Field(default_factory=list, max_length=50)
    select: list[str] = Field(default_factory=list, max_length=50)
    mode: Literal["casual", "default", "synopsis", "plan", "broad", "detail"] | None = None
    session: str | None = Field(default=None, max_length=200)
    audience: Literal["clinician", "patient"] = "clinician"
    model: str | None = Field(default=None, max_length=200)

    def ask(self, *, key: str | None, call: bool) -> Ask:
        """The engine's form."""
        return Ask(
            question=self.question,
            patient=self.patient,
            documents=tuple(self.documents),
            selected=tuple(self.select),
            mode=self.mode,
            session=self.session,
            audience=self.audience,
            model=self.model,
            key=key,
            call=call,
        )


@router.post("/ask", response_model=None)
async def ask(
    body: AskBody,
    request: Request,
    who: Caller,
    idempotency_key: Annotated[str | None, Header(max_length=200)] = None,
) -> JSONResponse | StreamingResponse:
    """Ask. With `Accept: text/event-stream` the answer streams sentence by checked sentence."""
    engine: Engine = request.app.state.engine
    engine.may_see(who, body.patient)
    engine.may_ask(who, body.audience)
    wanted = body.ask(key=idempotency_key, call=True)
    if "text/event-stream" in request.headers.get("accept", ""):
        wanted.request(deadline_ms=1)  # a bad request is a status, not an event
        return StreamingResponse(
            events(engine.asker.stream(wanted, who)),
            media_type="text/event-stream",
            headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
        )
    return JSONResponse(await engine.asker.ask(wanted, who))


@router.post("/context")
async def context(body: AskBody, request: Request, who: Caller) -> dict[str, Any]:
    """Assemble the context of a question and call no model."""
    engine: Engine = request.app.state.engine
    engine.may_see(who, body.patient)
    engine.may_ask(who, body.audience)
    return await engine.asker.ask(body.ask(key=None, call=False), who)
