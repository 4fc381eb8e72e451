"""Errors as RFC 9457 problem details, without patient content."""

from __future__ import annotations

import logging

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

__all__ = ["BAD_HOST", "install", "of", "problem", "status_of", "unexpected"]

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


def problem(status: int, *, kind: str, title: str, detail: str = "") -> JSONResponse:
    """One problem document."""
    headers = _HEADERS.get(status)
    return JSONResponse(
        {"type": f"urn:bedside:problem:{kind}", "title": title, "status": status, "detail": detail},
        status_code=status,
        headers=headers,
        media_type="application/problem+json",
    )


BAD_HOST = "This server answers to this machine only: localhost, 127.0.0.1 or [::1]."


def of(error: BedsideError) -> JSONResponse:
    """The problem document of one of our errors."""
    return problem(
        status_of(error), kind=type(error).__name__, title=error.title, detail=str(error)
    )


def unexpected(request: Request, error: Exception) -> JSONResponse:
    """Log and answer a failure that nobody foresaw: its kind and its route, never its message."""
    route = getattr(request.scope.get("route"), "path", "?")
    log.error("request failed: %s on %s", type(error).__name__, route)
    return problem(500, kind="Unexpected", title="Unexpected failure", detail=type(error).__name__)


def install(app: FastAPI) -> None:
    """Every error leaves as a problem document."""

    async def known(_request: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, BedsideError)
        return of(error)

    async def invalid(_request: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, RequestValidationError)
        # Only places and kinds: pydantic would repeat the input, which may hold patient text.
        places = "; ".join(
            f"{'.'.join(str(part) for part in found['loc'])}: {found['type']}"
            for found in error.errors()
        )
        return problem(422, kind="InvalidRequest", title="The request is not valid", detail=places)

    async def http(_request: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, HTTPException)
        answer = problem(error.status_code, kind="Http", title=str(error.detail))
        for name, item in (error.headers or {}).items():
            answer.headers[name] = item
        return answer

    app.add_exception_handler(BedsideError, known)
    app.add_exception_handler(RequestValidationError, invalid)
    app.add_exception_handler(HTTPException, http)
