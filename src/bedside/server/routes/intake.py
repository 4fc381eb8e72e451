"""Intake over HTTP: the patient's conversation, the coordinator's desk, contracts with their lint."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, File, Header, Request, Response, UploadFile
from fastapi.responses import JSONResponse, StreamingResponse
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Gauge, generate_latest
from pydantic import BaseModel, ConfigDict, Field

from bedside.context.tokens import o200k
from bedside.core.errors import AccessDenied, BadInput, InvalidArgument, NotFound
from bedside.server.auth import Caller, token
from bedside.server.routes.patients import read_limited
from bedside.server.sse import events
from bedside.sop.lint import lint, lint_file
from bedside.sop.reading import read_contract
from bedside.wiring import Engine, Who
from bedside.wiring import intake as conversation
from bedside.wiring import intake_desk as desk
from bedside.wiring.intake_figures import figures

__all__ = ["router"]

router = APIRouter(tags=["intake"])
LINK_SECONDS = 14 * 86_400


class CaseBody(BaseModel):
    """A new case."""

    model_config = ConfigDict(extra="forbid")

    procedure: str = Field(default="", max_length=200)
    language: Literal["", "en", "ar", "hi"] = ""


class MessageBody(BaseModel):
    """One message, or a deed that a page has a button for. The text never travels in an address."""

    model_config = ConfigDict(extra="forbid")

    text: str = Field(default="", max_length=20_000)
    language: Literal["", "en", "ar", "hi"] = ""
    act: Literal["", "person", "skip", "language"] = ""


class ValueBody(BaseModel):
    """A field's value, in words, as a coordinator was told it."""

    model_config = ConfigDict(extra="forbid")

    text: str = Field(min_length=1, max_length=1_000)


class ForceBody(BaseModel):
    """An architecture to force; "" lets the case go back to its own."""

    model_config = ConfigDict(extra="forbid")

    architecture: Literal["", "flexible", "staged", "minimal"]


class RollbackBody(BaseModel):
    """Move cases in bulk: those named, or all that are on `of` and not yet in consultation."""

    model_config = ConfigDict(extra="forbid")

    to: Literal["", "flexible", "staged", "minimal"]
    of: Literal["", "flexible", "staged", "minimal"] = ""
    cases: list[str] = Field(default_factory=list, max_length=10_000)


class SopBody(BaseModel):
    """A contract as YAML; `expected` is the version that was edited, to notice another's edit."""

    model_config = ConfigDict(extra="forbid")

    yaml: str = Field(max_length=200_000)
    expected: int | None = Field(default=None, ge=0)


def _may_talk(who: Who, case: str) -> None:
    if not (who.sees(case) or who.leads(case)):
        raise AccessDenied("this case", need="a token that names it")


# ---- the patient


@router.post("/intake/cases")
async def begin(body: CaseBody, request: Request, who: Caller) -> dict[str, Any]:
    """Begin a case; the opening turn says who writes, and asks the first question.

    `link` is a token that resumes this case and opens nothing else; `null` where no token secret is
    set, since then everybody on this machine is the local user.
    """
    engine: Engine = request.app.state.engine
    case = await conversation.start_case(engine, who)
    turn = await conversation.send(
        engine, who, case, "(opened)", language=body.language, procedure=body.procedure,
        act=("open", ""),
    )  # fmt: skip
    return {"case": case, "turn": turn, "link": _link(engine, who, case)}


def _link(engine: Engine, who: Who, case: str) -> str | None:
    secret = engine.settings.token_secret
    if not secret:
        return None
    return token(
        secret, actor=f"patient:{case}", tenant=str(who.tenant), roles=("patient",),
        patients=(case,), expires=int(engine.clock.now().timestamp()) + LINK_SECONDS,
    )  # fmt: skip


@router.post("/intake/cases/{case}/messages", response_model=None)
async def message(
    case: str,
    body: MessageBody,
    request: Request,
    who: Caller,
    idempotency_key: Annotated[str | None, Header(max_length=200)] = None,
) -> JSONResponse | StreamingResponse:
    """One message and its turn; with `Accept: text/event-stream` as events."""
    engine: Engine = request.app.state.engine
    _may_talk(who, case)
    act = (body.act, body.language) if body.act else None
    words = {"person": "(talk to a person)", "skip": "(skipped)", "language": "(language)"}
    text = body.text if not act else words[body.act]
    if not text.strip():
        raise InvalidArgument("text", found="", want="at least one word")
    if "text/event-stream" in request.headers.get("accept", ""):
        await conversation.require_case(engine, who, case)
        return StreamingResponse(
            events(
                conversation.stream(
                    engine, who, case, text, language=body.language, key=idempotency_key, act=act
                )
            ),
            media_type="text/event-stream",
            headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
        )
    return JSONResponse(
        await conversation.send(
            engine, who, case, text, language=body.language, key=idempotency_key, act=act
        )
    )


@router.post("/intake/cases/{case}/documents")
async def add_document(
    case: str, request: Request, who: Caller, file: Annotated[UploadFile, File()]
) -> dict[str, Any]:
    """Add a file; the turn says what became of it. It is read by a worker."""
    engine: Engine = request.app.state.engine
    _may_talk(who, case)
    body = await read_limited(file, limit=engine.settings.upload_bytes)
    return await conversation.upload(engine, who, case, file.filename or "upload", body)


@router.get("/intake/cases/{case}")
async def one_case(case: str, request: Request, who: Caller) -> dict[str, Any]:
    """A case read back: every field with its words and where they stand, documents, messages."""
    engine: Engine = request.app.state.engine
    return await desk.case_of(engine, who, case)


# ---- the coordinator


@router.get("/intake/cases")
async def all_cases(request: Request, who: Caller) -> list[dict[str, Any]]:
    """The tenant's cases: what a person must see first, then by what blocks them."""
    engine: Engine = request.app.state.engine
    return await desk.cases(engine, who)


@router.put("/intake/cases/{case}/fields/{field}")
async def put_field(
    case: str, field: str, body: ValueBody, request: Request, who: Caller
) -> dict[str, Any]:
    """A coordinator's value for a field; kept with who said it, and audited."""
    engine: Engine = request.app.state.engine
    return await desk.set_field(engine, who, case, field, body.text)


@router.put("/intake/cases/{case}/architecture")
async def force(case: str, body: ForceBody, request: Request, who: Caller) -> dict[str, Any]:
    """Force a case's architecture from its next turn on."""
    engine: Engine = request.app.state.engine
    return await desk.force(engine, who, case, body.architecture)


@router.post("/intake/rollback")
async def rollback(body: RollbackBody, request: Request, who: Caller) -> dict[str, Any]:
    """Move cases in bulk to another architecture; one audit entry each."""
    engine: Engine = request.app.state.engine
    if not body.cases and not body.of:
        raise InvalidArgument("of", found="", want="an architecture, or a list of cases")
    return await desk.rollback(engine, who, body.to, cases=body.cases, of=body.of)


@router.get("/intake/figures", response_model=None)
async def counts(
    request: Request,
    who: Caller,
    seconds: int = 3_600,
    form: Literal["json", "prometheus"] = "json",
) -> Response:
    """Counts of intake's turns, its funnel and the alerts that stand; nothing of any case."""
    engine: Engine = request.app.state.engine
    if not 1 <= seconds <= 31 * 86_400:
        raise InvalidArgument("seconds", found=seconds, want="1 to 2678400")
    found = await figures(engine, who, seconds=seconds)
    if form == "json":
        return JSONResponse(found)
    return Response(_prometheus(found), media_type=CONTENT_TYPE_LATEST)


def _prometheus(found: dict[str, Any]) -> bytes:
    registry = CollectorRegistry()
    plain = Gauge("bedside_intake_turns", "Turns in the window.", ["what"], registry=registry)
    for name, n in found.items():
        if isinstance(n, int) and name != "seconds":
            plain.labels(what=name).set(n)
    for name in ("fallback_reasons", "architectures", "sources", "documents"):
        gauge = Gauge(f"bedside_intake_{name}", f"Turns by {name}.", ["value"], registry=registry)
        for label, n in found[name].items():
            gauge.labels(value=label).set(n)
    funnel = Gauge(
        "bedside_intake_funnel", "Cases by step.", ["architecture", "step"], registry=registry
    )
    for architecture, steps in found["funnel"].items():
        for step, n in steps.items():
            funnel.labels(architecture=architecture, step=step).set(n)
    alert = Gauge("bedside_intake_alert", "1 where the alert stands.", ["alert"], registry=registry)
    for one in found["alerts"]:
        alert.labels(alert=one["alert"]).set(1)
    return generate_latest(registry)


# ---- contracts


@router.get("/sops")
async def sops(request: Request, who: Caller) -> list[dict[str, Any]]:
    """The live contracts."""
    engine: Engine = request.app.state.engine
    book = await conversation.contracts(engine, who)
    return [
        {
            "id": one.id,
            "version": one.version,
            "title": one.title,
            "review_status": one.review_status,
            "codes": list(one.codes),
        }
        for one in book.contracts
    ]


@router.get("/sops/{sop}")
async def one_sop(sop: str, request: Request, who: Caller) -> dict[str, Any]:
    """A live contract as YAML, with its lint; `saved` is what a save names as `expected`."""
    engine: Engine = request.app.state.engine
    _author(who)
    book = await conversation.contracts(engine, who)
    contract = next((one for one in book.contracts if one.id == sop), None)
    text = await conversation.contract_text(engine, who, sop)
    if contract is None or text is None:
        raise NotFound("contract", sop)
    return {
        "id": sop,
        "title": contract.title,
        "version": contract.version,
        "saved": await conversation.saved_version(engine, who, sop),
        "review_status": contract.review_status,
        "yaml": text,
        "findings": _findings(lint(contract, count=o200k())),
    }


@router.put("/sops/{sop}")
async def save_sop(sop: str, body: SopBody, request: Request, who: Caller) -> dict[str, Any]:
    """Save the next version, live at the next turn in every process; old versions are kept.

    It is refused where it cannot be read, and where its lint has errors.
    """
    engine: Engine = request.app.state.engine
    engine.needs_role(who, "admin")
    contract = read_contract(body.yaml, what=f"sop {sop!r}")
    problems = lint(contract, count=o200k())
    errors = [one for one in problems if one.severity == "error"]
    if errors:
        told = "; ".join(f"{one.where}: {one.message}" for one in errors[:5])
        raise BadInput(f"sop {sop!r}", why=f"its lint has {len(errors)} errors", do=told)
    saved = await engine.edit("sop", sop, {"yaml": body.yaml}, who, expected=body.expected)
    return {
        "id": sop,
        "version": saved["version"],
        "epoch": saved["epoch"],
        "findings": _findings(problems),
    }


@router.get("/sops/{sop}/history")
async def sop_history(sop: str, request: Request, who: Caller) -> list[dict[str, Any]]:
    """Every saved version, oldest first; the one that ships is not among them."""
    engine: Engine = request.app.state.engine
    return await engine.versions("sop", sop, who)


@router.post("/sops/lint")
async def lint_sop(body: SopBody, who: Caller) -> dict[str, Any]:
    """The lint of a contract that is not saved."""
    _author(who)
    return {"findings": _findings(lint_file(body.yaml, what="the contract", count=o200k()))}


def _author(who: Who) -> None:
    if not who.roles & {"admin", "coordinator", "clinician"}:
        raise AccessDenied("contracts", need="the role 'coordinator'")


def _findings(problems: Any) -> list[dict[str, str]]:
    return [
        {"level": one.severity, "rule": one.rule, "where": one.where, "text": one.message}
        for one in problems
    ]
