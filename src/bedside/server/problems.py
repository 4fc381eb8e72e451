"""Errors as RFC 9457 problem details, without patient content."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from bedside.core.errors import (
    AccessDenied,
    BadInput,
    BedsideError,
    BudgetTooSmall,
    CallerError,
    Conflict,
    DeadlineExceeded,
    InvalidArgument,
    NotFound,
    OutsideError,
    Refusal,
    Unavailable,
)
from bedside.server.auth import Unauthenticated

__all__ = [
    "install",
    "nothing_taken",
    "of",
    "of_request",
    "problem",
    "status_of",
    "unexpected",
]

log = logging.getLogger("bedside.server")

_STATUS: tuple[tuple[type[BedsideError], int], ...] = (
    (Unauthenticated, 401),
    (NotFound, 404),
    (Conflict, 409),
    (BadInput, 422),
    (BudgetTooSmall, 422),
    (InvalidArgument, 422),
    (CallerError, 400),
    (AccessDenied, 403),
    (Refusal, 403),
    (DeadlineExceeded, 504),
    (Unavailable, 503),
    (OutsideError, 502),
)


_HEADERS = {
    401: {"WWW-Authenticate": 'Bearer realm="bedside"'},
    503: {"Retry-After": "1"},
}


def status_of(error: BedsideError) -> int:
    """The HTTP status of an error: the most specific family that names it."""
    return next((status for kind, status in _STATUS if isinstance(error, kind)), 500)


def problem(
    status: int, *, kind: str, title: str, detail: str = "", report: Mapping[str, Any] | None = None
) -> JSONResponse:
    """One problem document; the members of `report` stand beside its own."""
    headers = _HEADERS.get(status)
    said = {"title": title, "status": status, "detail": detail}
    return JSONResponse(
        {**(report or {}), "type": f"urn:bedside:problem:{kind}", **said},
        status_code=status,
        headers=headers,
        media_type="application/problem+json",
    )


def of(error: BedsideError, *, chat: bool = False) -> JSONResponse:
    """The problem document of one of our errors; for a chat client with OpenAI's `error` in it."""
    kind, detail = type(error).__name__, str(error)
    report = _for_chat(kind, detail) if chat else None
    return problem(status_of(error), kind=kind, title=error.title, detail=detail, report=report)


def of_request(error: RequestValidationError, *, chat: bool = False) -> JSONResponse:
    """The problem document of a request that does not fit its schema: places, and what would fit."""
    places = "; ".join(
        f"{'.'.join(str(part) for part in found['loc'])}: {_said(found)}"
        for found in error.errors()
    )
    kind, report = "InvalidRequest", None
    if chat:
        report = _for_chat(kind, places)
    return problem(422, kind=kind, title="The request is not valid", detail=places, report=report)


def _for_chat(kind: str, detail: str) -> dict[str, Any]:
    return {"error": {"message": detail, "type": kind, "param": None, "code": None}}


def nothing_taken(report: Mapping[str, Any]) -> JSONResponse:
    """The problem document of an import or ingest that rejected every file, with its whole report."""
    first = report["rejected"][0]["reason"]
    others = len(report["rejected"]) - 1
    return problem(
        422,
        kind=BadInput.__name__,
        title=BadInput.title,
        detail=first + (f" {others} more files were rejected." if others else ""),
        report=report,
    )


def unexpected(request: Request, error: Exception) -> JSONResponse:
    """Log and answer a failure that nobody foresaw: its kind and its route, never its message."""
    route = getattr(request.scope.get("route"), "path", "?")
    log.error("request failed: %s on %s", type(error).__name__, route)
    return problem(500, kind="Unexpected", title="Unexpected failure", detail=type(error).__name__)


def _said(found: Mapping[str, Any]) -> str:
    """What pydantic says of one place; messages that may repeat the input, patient text, are left out.

    The kinds whose message speaks of the rule alone are those named here.
    """
    kind = str(found["type"])
    if kind in {"missing", "extra_forbidden", "literal_error", "too_short", "too_long"} or (
        kind.startswith(("string_", "less_than", "greater_than")) or kind.endswith("_type")
    ):
        return str(found["msg"])
    return kind


def install(app: FastAPI) -> None:
    """Every error leaves as a problem document."""

    async def known(_request: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, BedsideError)
        return of(error)

    async def invalid(_request: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, RequestValidationError)
        return of_request(error)

    async def http(_request: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, HTTPException)
        answer = problem(error.status_code, kind="Http", title=str(error.detail))
        for name, item in (error.headers or {}).items():
            answer.headers[name] = item
        return answer

    app.add_exception_handler(BedsideError, known)
    app.add_exception_handler(RequestValidationError, invalid)
    app.add_exception_handler(HTTPException, http)
