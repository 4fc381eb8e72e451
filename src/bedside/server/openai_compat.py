"""An OpenAI-compatible chat endpoint: existing chat front-ends can use a flow as a model.

The patient comes from the `Bedside-Patient` header or a token that names exactly one patient,
never from message text. Sources, Removed and Degraded stand as plain text at the end of the
content, since front-ends drop extra fields.
"""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Header, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, StreamingResponse
from fastapi.routing import APIRoute
from pydantic import BaseModel, ConfigDict, Field

from bedside.core.errors import BedsideError, InvalidArgument, NotFound
from bedside.core.turn import Delta
from bedside.flows.trace import TurnResult
from bedside.server import problems
from bedside.server.auth import Caller
from bedside.server.sse import failure
from bedside.wiring import Ask, Engine, Who

__all__ = ["router"]


class ChatRoute(APIRoute):
    """Errors carry OpenAI's `error` beside the problem's own members: its clients show that one."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The route's handler, with its errors answered here."""
        handle = super().get_route_handler()

        async def answered(request: Request) -> Response:
            try:
                return await handle(request)
            except BedsideError as error:
                return problems.of(error, chat=True)
            except RequestValidationError as error:
                return problems.of_request(error, chat=True)

        return answered


router = APIRouter(tags=["openai"], route_class=ChatRoute)
MODELS = ("bedside/copilot", "bedside/briefing")


class TextPart(BaseModel):
    """A text part of a message."""

    model_config = ConfigDict(extra="ignore")
    type: Literal["text"]
    text: str = Field(max_length=20_000)


class ChatMessage(BaseModel):
    """One message of the client's own history: untrusted."""

    model_config = ConfigDict(extra="ignore")
    role: Literal["system", "developer", "user", "assistant"]
    content: Annotated[str, Field(max_length=200_000)] | list[TextPart]

    def text(self) -> str:
        """The message's text."""
        if isinstance(self.content, str):
            return self.content
        return "\n".join(part.text for part in self.content)


class StreamOptions(BaseModel):
    """What a stream should carry besides the answer."""

    model_config = ConfigDict(extra="ignore")
    include_usage: bool = False


class ChatBody(BaseModel):
    """The part of the chat request that has a meaning here; the rest is ignored."""

    model_config = ConfigDict(extra="ignore")
    model: str
    messages: list[ChatMessage] = Field(min_length=1, max_length=400)
    stream: bool = False
    stream_options: StreamOptions | None = None

    def wants_usage(self) -> bool:
        """Whether a stream ends with a chunk of its own that holds the usage."""
        return self.stream_options is not None and self.stream_options.include_usage


@router.get("/models")
async def models(request: Request, _who: Caller) -> dict[str, Any]:
    """The flows, as models."""
    del request
    return {"object": "list", "data": [_model(name) for name in MODELS]}


@router.get("/models/{model:path}")
async def model(model: str, request: Request, _who: Caller) -> dict[str, Any]:
    """One of them by its name."""
    del request
    return _model(_known(model))


def _known(name: str) -> str:
    """Raises: NotFound for a name that is no flow's."""
    if name not in MODELS:
        raise NotFound("model", name, hint=f"Use {', '.join(MODELS)}.")
    return name


def _model(name: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": 0, "owned_by": "bedside"}


@router.post("/chat/completions", response_model=None)
async def chat(
    body: ChatBody,
    request: Request,
    who: Caller,
    bedside_patient: Annotated[str | None, Header(max_length=200)] = None,
) -> JSONResponse | StreamingResponse:
    """Answer the last user message; earlier ones are history. A system message is not obeyed."""
    engine: Engine = request.app.state.engine
    _known(body.model)
    patient = _patient(who, bedside_patient)
    engine.may_see(who, patient)
    engine.may_ask(who, "clinician")
    spoken = [message for message in body.messages if message.role in ("user", "assistant")]
    if not spoken or spoken[-1].role != "user":
        raise InvalidArgument("messages", found="no user message at the end", want="ended by one")
    history: list[tuple[Literal["user", "assistant"], str]] = [
        ("assistant", _answer(message.text()))
        if message.role == "assistant"
        else ("user", message.text())
        for message in spoken[:-1]
    ]
    ask = Ask(
        question=spoken[-1].text(),
        patient=patient,
        history=tuple(history),
        flow=body.model.removeprefix("bedside/"),
    )
    ask.request(deadline_ms=1)
    created = int(engine.clock.now().timestamp())
    if body.stream:
        return StreamingResponse(
            _stream(engine.asker.stream(ask, who), body.model, created, usage=body.wants_usage()),
            media_type="text/event-stream",
            headers={"X-Accel-Buffering": "no"},
        )
    turn = await engine.asker.ask(ask, who)
    return JSONResponse(
        {
            "id": turn["turn_id"],
            "object": "chat.completion",
            "created": created,
            "model": body.model,
            "choices": [
                {
                    "index": 0,
                    "finish_reason": _finish(turn),
                    "message": {"role": "assistant", "content": turn["answer"] + footer(turn)},
                }
            ],
            "usage": _usage(turn),
            "bedside": turn,
        }
    )


def _patient(who: Who, header: str | None) -> str | None:
    if header:
        return header
    if who.patients is not None and len(who.patients) == 1:
        return next(iter(who.patients))
    return None


def _answer(text: str) -> str:
    """An earlier answer without its footer: what was removed must not come back as history."""
    return _FOOTER.split(text, maxsplit=1)[0]


_FOOTER = re.compile(r"\n\n(?:Sources|Removed|Degraded)\n")


def _finish(turn: Mapping[str, Any]) -> str:
    return "stop" if turn["status"] == "complete" else "length"


def _usage(turn: Mapping[str, Any]) -> dict[str, int] | None:
    """Tokens of the turn's calls that computed anything; `None` where a provider did not say."""
    counts = [
        (call["input"], call["output"])
        for call in turn["calls"]
        if call["outcome"] == "ok" or call["cost_usd"] != 0
    ]
    if any(None in pair for pair in counts):
        return None
    read, written = sum(pair[0] for pair in counts), sum(pair[1] for pair in counts)
    return {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}


def footer(turn: Mapping[str, Any]) -> str:
    """Sources, removed lines and degraded sources, as plain text."""
    lines: list[str] = []
    seen: set[int] = set()
    for cited in turn.get("citations", ()):
        if cited["n"] in seen:
            continue
        seen.add(cited["n"])
        source = cited["source"]
        when = f", {source['date']}" if source["date"] else ""
        lines.append(f"[{cited['n']}] {source['title']}{when}")
    out = "\n\nSources\n" + "\n".join(lines) if lines else ""
    if turn.get("removed"):
        out += "\n\nRemoved\n" + "\n".join(
            f"- {item['claim']} ({item['why']})" for item in turn["removed"]
        )
    if turn.get("degraded"):
        out += "\n\nDegraded\n" + "\n".join(f"- {item}" for item in turn["degraded"])
    return out


async def _stream(
    stream: AsyncIterator[Any], model: str, created: int, *, usage: bool
) -> AsyncIterator[bytes]:
    ident = f"chatcmpl-{uuid.uuid4().hex}"

    def chunk(
        delta: dict[str, str] | None, finish: str | None = None, **more: dict[str, int] | None
    ) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        body = {
            "id": ident,
            "object": "chat.completion.chunk",
            "created": created,
            "model": model,
            "choices": [] if delta is None else [choice],
            **more,
        }
        return f"data: {json.dumps(body, ensure_ascii=False)}\n\n".encode()

    yield chunk({"role": "assistant", "content": ""})
    turn: Mapping[str, Any] | None = None
    try:
        async for event in stream:
            if isinstance(event, Delta):
                yield chunk({"content": event.text})
            elif isinstance(event, TurnResult):
                turn = event.body
                yield chunk({"content": footer(turn)})
        yield chunk({}, "stop" if turn is None else _finish(turn))
        if usage and turn is not None:
            yield chunk(None, usage=_usage(turn))
    except Exception as error:  # noqa: BLE001 - the process edge; a stream never ends in silence
        said = failure(error)
        body = {"error": {"message": said["detail"], "type": said["type"]}}
        yield f"data: {json.dumps(body)}\n\n".encode()
    yield b"data: [DONE]\n\n"
