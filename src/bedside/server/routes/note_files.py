"""Notes as files: the text of an upload, and a summarised note to take away."""

from __future__ import annotations

import asyncio
import json
from typing import Annotated, Any, Literal

from fastapi import APIRouter, File, Request, Response, UploadFile

from bedside.core.errors import BadInput, NotFound
from bedside.flows.notes.outputs import ENDINGS, rendered
from bedside.server.auth import Caller
from bedside.server.routes.patients import read_limited
from bedside.wiring import Engine
from bedside.wiring.notes import note_text

__all__ = ["router"]

router = APIRouter(prefix="/notes", tags=["notes"])
_TYPES = {
    "json": "application/json",
    "md": "text/markdown; charset=utf-8",
    "html": "text/html; charset=utf-8",
    "fhir": "application/fhir+json",
}


@router.post("/text")
async def text(
    request: Request, who: Caller, file: Annotated[UploadFile, File()]
) -> dict[str, Any]:
    """The text of an uploaded note (text, Markdown, HTML, PDF, DOCX, picture); nothing is kept."""
    engine: Engine = request.app.state.engine
    engine.may_ask(who, "clinician")
    name = file.filename or "note"
    data = await read_limited(file, limit=engine.settings.upload_bytes)
    return {"title": name, "text": await note_text(data, name=name)}


@router.get("/{turn}/file")
async def download(
    turn: str,
    request: Request,
    who: Caller,
    format: Literal["json", "md", "html", "fhir"] = "json",  # noqa: A002 - as `summarise` calls it
) -> Response:
    """A summarised note as a file: the turn's JSON, Markdown, a page of its own, or a FHIR bundle."""
    engine: Engine = request.app.state.engine
    body = await engine.turn(turn, who)
    if body["flow"] != "notes":
        raise NotFound("summarised note", turn)
    if body["status"] != "complete" or "summary" not in body:
        raise BadInput(f"turn {turn}", why="it has no complete summary", do="Summarise it again.")
    if format == "json":
        made = json.dumps(body, ensure_ascii=False, indent=1) + "\n"
    else:
        note = await engine.source(body["note"]["id"], who, revision=body["note"]["revision"])
        made = await asyncio.to_thread(rendered, body, note["text"], format, at=engine.clock.now())
    name = f"{turn}{ENDINGS[format]}"
    return Response(
        made,
        media_type=_TYPES[format],
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )
