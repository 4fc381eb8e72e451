"""Patients: list, open, import, attach."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, File, Request, UploadFile

from bedside.core.errors import BadInput
from bedside.server.auth import Caller
from bedside.server.problems import nothing_taken
from bedside.wiring import Engine

__all__ = ["read_limited", "router"]

router = APIRouter(tags=["patients"])


async def read_limited(upload: UploadFile, *, limit: int) -> bytes:
    """The upload's bytes.

    Raises:
        BadInput: it is larger than `limit` bytes.
    """
    body = await upload.read(limit + 1)
    if len(body) > limit:
        raise BadInput(
            "the upload",
            why=f"it is larger than {limit:,} bytes",
            do="Split it, or raise BEDSIDE_UPLOAD_BYTES.",
        )
    return body


@router.get("/patients")
async def patients(request: Request, who: Caller) -> list[dict[str, Any]]:
    """The patients that the caller may see."""
    engine: Engine = request.app.state.engine
    return await engine.patients(who)


@router.get("/patients/{patient}/opening")
async def opening(patient: str, request: Request, who: Caller) -> dict[str, Any]:
    """What opening a patient shows: banner, at most three priorities, what changed (CO-16)."""
    engine: Engine = request.app.state.engine
    return await engine.opening(patient, who)


@router.get("/patients/{patient}/documents")
async def documents(patient: str, request: Request, who: Caller) -> list[dict[str, Any]]:
    """The patient's documents with their states."""
    engine: Engine = request.app.state.engine
    return await engine.documents(patient, who)


@router.post("/patients/{patient}/documents")
async def attach(
    patient: str, request: Request, who: Caller, files: Annotated[list[UploadFile], File()]
) -> list[dict[str, Any]]:
    """Add documents to a patient; words are searchable at once, vectors follow."""
    engine: Engine = request.app.state.engine
    engine.needs_role(who, "clinician")
    limit = engine.settings.upload_bytes
    given = [(item.filename or "upload", await read_limited(item, limit=limit)) for item in files]
    return await engine.attach(patient, given, who)


@router.post("/import", response_model=dict[str, Any])
async def import_records(
    request: Request, who: Caller, files: Annotated[list[UploadFile], File()]
) -> Any:
    """Import FHIR R4 bundles, NDJSON or simple patient JSON."""
    engine: Engine = request.app.state.engine
    engine.needs_role(who, "admin")
    limit = engine.settings.upload_bytes
    given = [(item.filename or "upload", await read_limited(item, limit=limit)) for item in files]
    report = await engine.import_bytes(given, who)
    none = report["rejected"] and not report["patients"]
    return nothing_taken(report) if none else report
