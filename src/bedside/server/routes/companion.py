"""The companion: one person's turns in a conversation of two, as JSON or as server-sent events.

Who writes is the token's subject. Without tokens (loopback, a demo) a request may name its person.
"""

from __future__ import annotations

import uuid
from dataclasses import replace
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Header, Path, Request
from fastapi.responses import JSONResponse, StreamingResponse
from pydantic import BaseModel, ConfigDict, Field

from bedside.core.errors import AccessDenied, InvalidArgument
from bedside.core.ids import ActorId
from bedside.server.auth import Caller
from bedside.server.sse import events
from bedside.wiring import Engine, Who
from bedside.wiring.companion import checked, enabled, overview, send, sessions, stream, talk
from bedside.wiring.leaving import erase_side

__all__ = ["ActBody", "TurnBody", "router"]

router = APIRouter(tags=["companion"])
Session = Annotated[str, Path(max_length=200, pattern=r"^[A-Za-z0-9._:@-]{1,200}$")]
Person = Annotated[str | None, Field(default=None, max_length=100)]


class ActBody(BaseModel):
    """A deed: what is done, and to what. `id` is a draft's or a share's, or whom to invite."""

    model_config = ConfigDict(extra="forbid")

    do: Literal[
        "invite", "draft", "edit", "approve", "share", "acknowledge", "withdraw", "consent",
        "prefer", "forget", "link", "unlink", "resume",
    ]  # fmt: skip
    id: str = Field(default="", max_length=200)
    text: str = Field(default="", max_length=20_000)
    kind: Literal["", "statement", "need", "agreement", "invitation"] = ""
    given: bool | None = None

    def act(self) -> tuple[str, str]:
        """The engine's form: the name, and the id or a JSON object of what was given."""
        given = None if self.given is None else "yes" if self.given else "no"
        more = {"text": self.text, "kind": self.kind, "given": given}
        parts = {name: one for name, one in more.items() if one}
        if not parts:
            return self.do, self.id
        import json

        return self.do, json.dumps({"id": self.id, **parts}, ensure_ascii=False)


class TurnBody(BaseModel):
    """A message, or a deed. `space` "inner" begins a space of one's own, `link` with the conversation it belongs to. `side` names a side flow (gratitude, inner_work ...). `person` is for a demo without tokens, where anybody may be anyone."""

    model_config = ConfigDict(extra="forbid")

    text: str = Field(default="", max_length=20_000)
    act: ActBody | None = None
    person: Person
    side: str = Field(default="", max_length=40, pattern=r"^[a-z_]*$")
    space: Literal["", "inner"] = ""
    link: str = Field(default="", max_length=200)
    model: str | None = Field(default=None, max_length=200)


def _who(engine: Engine, who: Who, person: str | None) -> Who:
    """The login that writes.

    Raises:
        AccessDenied: the companion is off, or a token's bearer names another person.
    """
    enabled(engine)
    if person is None or person == who.actor:
        return who
    if engine.settings.token_secret:
        raise AccessDenied("writing as another person", need="a login of that person")
    return replace(who, actor=ActorId(person))


@router.get("/companion")
async def of_person(
    request: Request, who: Caller, person: str | None = None
) -> list[dict[str, Any]]:
    """The conversations in which the caller takes part or is invited, newest first."""
    engine: Engine = request.app.state.engine
    return await sessions(engine, _who(engine, who, person))


@router.post("/companion", response_model=None)
async def begin(
    body: TurnBody,
    request: Request,
    who: Caller,
    idempotency_key: Annotated[str | None, Header(max_length=200)] = None,
) -> JSONResponse | StreamingResponse:
    """Begin a conversation with a first message or an invitation; the turn has its `session_id`."""
    session = f"companion-{uuid.uuid4().hex[:16]}"
    return await _answer(session, body, request, who, idempotency_key)


@router.get("/companion/{session}")
async def one(
    session: Session, request: Request, who: Caller, person: str | None = None
) -> dict[str, Any]:
    """What the caller may see: the shared part and their own, never the other's."""
    engine: Engine = request.app.state.engine
    return await overview(engine, _who(engine, who, person), session)


@router.delete("/companion/{session}")
async def erase(
    session: Session, request: Request, who: Caller, person: str | None = None
) -> dict[str, Any]:
    """Remove the caller's side for good, or as an administrator that of `person`; a receipt.

    What they shared is taken from the other's side too; the other's own things stay.
    """
    engine: Engine = request.app.state.engine
    enabled(engine)
    return await erase_side(engine, person or str(who.actor), who, session=session)


@router.post("/companion/{session}/turns", response_model=None)
async def turn(
    session: Session,
    body: TurnBody,
    request: Request,
    who: Caller,
    idempotency_key: Annotated[str | None, Header(max_length=200)] = None,
) -> JSONResponse | StreamingResponse:
    """One turn of the caller's; with `Accept: text/event-stream` it streams."""
    return await _answer(session, body, request, who, idempotency_key)


async def _answer(
    session: str, body: TurnBody, request: Request, who: Who, key: str | None
) -> JSONResponse | StreamingResponse:
    engine: Engine = request.app.state.engine
    person = _who(engine, who, body.person)
    if bool(body.text.strip()) == (body.act is not None):
        raise InvalidArgument("body", found="both or neither", want="either a text or an act")
    given = talk(
        person,
        text=body.text,
        act=body.act.act() if body.act is not None else None,
        session=session,
        key=key,
        model=body.model,
        side=body.side,
        space=body.space,
        link=body.link,
    )
    given.request(deadline_ms=1)  # a bad request is a status, not an event
    await checked(engine, given, person)
    if "text/event-stream" in request.headers.get("accept", ""):
        return StreamingResponse(
            events(stream(engine, given, person)),
            media_type="text/event-stream",
            headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
        )
    return JSONResponse(await send(engine, given, person))
