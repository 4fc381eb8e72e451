"""The workbench's pages. Each shows what the JSON API gives; a page has no data of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from fastapi.staticfiles import StaticFiles

from bedside.core.errors import AccessDenied, BedsideError, NotFound
from bedside.server.auth import COOKIE, Caller, Unauthenticated, caller, holder
from bedside.server.problems import of, problem, status_of
from bedside.server.workbench import clinical_pages, companion_pages, intake_pages, picture
from bedside.server.workbench.templates import Templates
from bedside.wiring import Engine, Who
from bedside.wiring.costs import cost_of
from bedside.wiring.overseeing import egress_log, erasures, kept

__all__ = ["install"]

_ENTRIES = 100
_SUITES = (
    ("A doctor's questions, answered from the record", "bedside eval copilot"),
    ("Search of guidelines and abstracts", "bedside eval retrieval"),
    ("Quotes, doses, false alarms, injected orders", "bedside eval grounding"),
    ("Briefings and the guidelines they find", "bedside eval briefing"),
    ("Sections, summaries and plans of notes", "bedside eval notes"),
    ("The evaluator of summaries, on seeded errors", "bedside eval evaluator"),
    ("Identifiers removed before text leaves", "bedside eval deid"),
    ("What is recalled of long conversations", "bedside eval memory"),
    ("The companion: privacy, stages, fixed texts", "bedside eval companion"),
    ("Intake over simulated patients", "bedside eval intake"),
    ("Speed; also of ingest, search, evaluator, memory and dispatch", "bedside bench context"),
)
HERE = Path(__file__).parent


def install(app: FastAPI) -> None:
    """Add the pages and their static files."""
    app.mount("/static", StaticFiles(directory=HERE / "static"), name="static")
    templates = Templates()
    page = templates.page
    clinical_pages.install(app, templates)
    intake_pages.install(app, templates)
    companion_pages.install(app, templates)

    @app.get("/", include_in_schema=False)
    async def home(request: Request, who: Caller) -> HTMLResponse:
        engine: Engine = request.app.state.engine
        return page("patients.html", request, who, patients=await engine.patients(who))

    @app.get("/patients/{patient}", include_in_schema=False)
    async def patient_page(patient: str, request: Request, who: Caller) -> HTMLResponse:
        engine: Engine = request.app.state.engine
        opening = await engine.opening(patient, who)
        return page(
            "patient.html",
            request,
            who,
            opening=opening,
            banner=opening["banner"],
            documents=await engine.documents(patient, who),
        )

    @app.get("/ask", include_in_schema=False)
    async def knowledge_question(request: Request, who: Caller) -> HTMLResponse:
        return page("question.html", request, who)

    @app.get("/inspect/{turn}", include_in_schema=False)
    async def inspect(turn: str, request: Request, who: Caller) -> HTMLResponse:
        engine: Engine = request.app.state.engine
        body = await engine.turn(turn, who)
        return page(
            "inspect.html",
            request,
            who,
            turn=body,
            patient=body.get("patient"),
            receipt=picture.of(body.get("receipt"), await _before(engine, body, who)),
            titles=picture.guardrails(),
            trace=(await engine.trace(turn, who))["events"],
            case=await cost_of(engine, who, body["session_id"]),
            prompt=await engine.prompt(turn, who),
        )

    @app.get("/knowledge", include_in_schema=False)
    async def knowledge(request: Request, who: Caller) -> HTMLResponse:
        engine: Engine = request.app.state.engine
        return page("knowledge.html", request, who, documents=await engine.knowledge(who))

    @app.get("/safety", include_in_schema=False)
    async def safety(request: Request, who: Caller) -> HTMLResponse:
        engine: Engine = request.app.state.engine
        engine.needs_role(who, "safety")
        packs = sorted(engine.packs(), key=lambda pack: (pack["review_due"] or "9", pack["id"]))
        return page(
            "safety.html",
            request,
            who,
            reports=await engine.reports(who),
            audit=(await engine.audit(who, patient=None))[-_ENTRIES:][::-1],
            chain=await engine.verify_audit(who),
            packs=packs,
            today=engine.clock.now().date().isoformat(),
            egresses=await egress_log(engine, who),
            erased=await erasures(engine, who),
            retention=await kept(engine, who),
        )

    @app.get("/evaluations", include_in_schema=False)
    async def evaluations(request: Request, who: Caller) -> HTMLResponse:
        engine: Engine = request.app.state.engine
        engine.needs_role(who, "safety")
        cases = await engine.reports(who)
        return page("evaluations.html", request, who, cases=cases, suites=_SUITES)

    @app.get("/settings", include_in_schema=False)
    async def settings(request: Request, who: Caller) -> HTMLResponse:
        engine: Engine = request.app.state.engine
        engine.needs_role(who, "engineer")
        return page("settings.html", request, who, doctor=await engine.doctor())

    _login(app, templates)
    _errors(app, templates)


async def _before(engine: Engine, turn: dict[str, Any], who: Who) -> dict[str, Any] | None:
    """The receipt of the turn before this one; `None` where there is none to see."""
    if not turn.get("previous_turn"):
        return None
    try:
        return (await engine.turn(turn["previous_turn"], who)).get("receipt")
    except NotFound:
        return None


def _login(app: FastAPI, templates: Templates) -> None:
    """Signing in with a token, and out again."""

    @app.get("/login", include_in_schema=False)
    async def login() -> HTMLResponse:
        return templates.bare("login.html", refused=False)

    @app.post("/login", include_in_schema=False)
    async def sign_in(request: Request) -> Response:
        """Keep the token in a cookie that no script reads, where it opens anything at all."""
        given = str((await request.form()).get("token", "")).strip()
        try:
            holder(request.app.state.engine, given)
        except AccessDenied:
            return templates.bare("login.html", status=401, refused=True)
        answer = RedirectResponse("/", status_code=303)
        secure = request.url.scheme == "https"
        answer.set_cookie(COOKIE, given, httponly=True, samesite="strict", secure=secure)
        return answer

    @app.post("/logout", include_in_schema=False)
    async def sign_out() -> Response:
        answer = RedirectResponse("/login", status_code=303)
        answer.delete_cookie(COOKIE, httponly=True, samesite="strict")
        return answer


_OUTSIDE = "There is no such page, or it is outside what you may see."
_PROBLEMS = {
    403: ("Not for you", _OUTSIDE),
    404: ("Not found", _OUTSIDE),
    500: ("Something failed", "This page could not be made. The failure is in the server's log."),
    502: ("Not available now", "Something that this page needs did not answer. Try again."),
    503: ("Not available now", "The store does not answer. Try again in a moment."),
    504: ("Not available now", "This took too long. Try again."),
}


def _errors(app: FastAPI, templates: Templates) -> None:
    """Failures as pages where a person's browser asks for one."""

    def failed_page(status: int) -> HTMLResponse:
        title, text = _PROBLEMS.get(status, ("Not possible", "The address asks for too much."))
        return templates.bare("missing.html", status=status, title=title, text=text)

    @app.exception_handler(404)
    async def nowhere(request: Request, error: Exception) -> Response:
        del error
        if _is_page(request):
            return failed_page(404)
        return problem(404, kind="NotFound", title="Not found")

    @app.exception_handler(BedsideError)
    async def failed(request: Request, error: Exception) -> Response:
        assert isinstance(error, BedsideError)
        if not _is_page(request):
            return of(error)
        try:
            await caller(request)
        except Unauthenticated:
            return RedirectResponse("/login", status_code=303)
        except AccessDenied:
            pass
        return failed_page(status_of(error))


def _is_page(request: Request) -> bool:
    """Does a person's browser ask for a page, not for JSON?"""
    if request.method != "GET" or request.url.path.startswith("/v1/"):
        return False
    return "text/html" in request.headers.get("accept", "")
