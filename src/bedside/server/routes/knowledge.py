"""Knowledge: search, ingest, and the stored text behind a citation."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Any, Literal

from fastapi import APIRouter, File, Form, Query, Request, Response, UploadFile
from pydantic import BaseModel, ConfigDict, Field

from bedside.server.auth import Caller
from bedside.server.problems import nothing_taken
from bedside.server.routes.patients import read_limited
from bedside.wiring import Engine

__all__ = ["router"]

router = APIRouter(tags=["knowledge"])


class SearchBody(BaseModel):
    """A search of the knowledge."""

    model_config = ConfigDict(extra="forbid")

    query: str = Field(min_length=1, max_length=2_000)
    limit: int = Field(default=5, ge=1, le=10)
    specialty: str | None = None
    type: str | None = None
    condition: str | None = None
    drug: str | None = None
    document: str | None = None
    since: date | None = None
    retriever: Literal["hybrid", "lexical", "dense"] = "hybrid"


@router.post("/search")
async def search(body: SearchBody, request: Request, who: Caller) -> dict[str, Any]:
    """Search the shared and the tenant's own knowledge."""
    engine: Engine = request.app.state.engine
    return await engine.search(who=who, **body.model_dump())


@router.post("/documents", response_model=dict[str, Any])
async def ingest(
    request: Request,
    who: Caller,
    files: Annotated[list[UploadFile], File()],
    id: Annotated[str | None, Form(max_length=200)] = None,  # noqa: A002 - the contract's name
    title: Annotated[str | None, Form()] = None,
    specialty: Annotated[str | None, Form()] = None,
    type: Annotated[str | None, Form()] = None,  # noqa: A002 - the contract's name
    conditions: Annotated[str | None, Form()] = None,
    drugs: Annotated[str | None, Form()] = None,
    published: Annotated[date | None, Form()] = None,
    supersedes: Annotated[str | None, Form()] = None,
) -> Any:
    """Add knowledge; `conditions` and `drugs` are separated by commas."""
    engine: Engine = request.app.state.engine
    engine.needs_role(who, "admin")
    limit = engine.settings.upload_bytes
    given = [(item.filename or "upload", await read_limited(item, limit=limit)) for item in files]
    meta = {
        "id": id,
        "conditions": conditions,
        "drugs": drugs,
        "title": title,
        "specialty": specialty,
        "type": type,
        "supersedes": supersedes,
        "published": published.isoformat() if published else None,
    }
    report = await engine.ingest_bytes(given, who, meta=meta)
    none = report["rejected"] and not report["documents"] and not report["skipped"]
    return nothing_taken(report) if none else report


@router.get("/documents", response_model=list[dict[str, Any]])
async def documents(request: Request, who: Caller) -> Response:
    """The knowledge that is here, with its editions and states."""
    engine: Engine = request.app.state.engine
    return Response(await engine.knowledge_json(who), media_type="application/json")


@router.delete("/documents/{document}")
async def remove(document: str, request: Request, who: Caller) -> dict[str, Any]:
    """Remove a document of the knowledge with all its editions, for good."""
    engine: Engine = request.app.state.engine
    return await engine.remove_document(document, who)


@router.get("/sources/{source}")
async def source(
    source: str,
    request: Request,
    who: Caller,
    start: Annotated[int | None, Query(ge=0)] = None,
    end: Annotated[int | None, Query(ge=0)] = None,
    revision: Annotated[int | None, Query(ge=1)] = None,
) -> dict[str, Any]:
    """Stored text, whole or from `start` to `end` (code points, half-open)."""
    engine: Engine = request.app.state.engine
    return await engine.source(source, who, start=start, end=end, revision=revision)
