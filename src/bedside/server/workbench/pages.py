"""The workbench's pages. Each shows what the JSON API gives; a page has no data of its own."""

from __future__ import annotations

from pathlib import Path

from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from fastapi.staticfiles import StaticFiles

from bedside.core.errors import AccessDenied, BedsideError
from bedside.server.auth import COOKIE, Caller, caller
from bedside.server.problems import of, problem, status_of
from bedside.server.workbench import clinical_pages, companion_pages, intake_pages
from bedside.server.workbench.templates import Templates
from bedside.wiring import Engine

__all__ = ["install"]

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
            trace=(await engine.trace(turn, who))["events"],
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
        return page(
            "safety.html",
            request,
            who,
            reports=await engine.reports(who),
            audit=(await engine.audit(who, patient=None))[-100:][::-1],
            chain=await engine.verify_audit(who),
            packs=engine.packs(),
        )

    @app.get("/settings", include_in_schema=False)
    async def settings(request: Request, who: Caller) -> HTMLResponse:
        engine: Engine = request.app.state.engine
        engine.needs_role(who, "engineer")
        return page("settings.html", request, who, doctor=await engine.doctor())

    @app.get("/login", include_in_schema=False)
    async def login() -> HTMLResponse:
        return templates.bare("login.html")

    @app.post("/login", include_in_schema=False)
    async def sign_in(request: Request) -> Response:
        form = await request.form()
        answer = RedirectResponse("/", status_code=303)
        answer.set_cookie(
            COOKIE,
            str(form.get("token", "")),
            httponly=True,
            samesite="strict",
            secure=request.url.scheme == "https",
        )
        return answer

    _errors(app, templates)


def _errors(app: FastAPI, templates: Templates) -> None:
    """Failures as pages where a person's browser asks for one."""

    def missing(status: int) -> HTMLResponse:
        return templates.bare("missing.html", status=status)

    @app.exception_handler(404)
    async def nowhere(request: Request, error: Exception) -> Response:
        del error
        return (
            missing(404) if _is_page(request) else problem(404, kind="NotFound", title="Not found")
        )

    @app.exception_handler(BedsideError)
    async def failed(request: Request, error: Exception) -> Response:
        assert isinstance(error, BedsideError)
        if not _is_page(request):
            return of(error)
        try:
            caller(request)
        except AccessDenied:
            return RedirectResponse("/login", status_code=303)
        return missing(status_of(error))


def _is_page(request: Request) -> bool:
    """Does a person's browser ask for a page, not for JSON?"""
    if request.method != "GET" or request.url.path.startswith("/v1/"):
        return False
    return "text/html" in request.headers.get("accept", "")
