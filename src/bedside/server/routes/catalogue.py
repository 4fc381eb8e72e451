"""Hot data: prices, prompts and what flows keep there; versioned, live at the next turn."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Request
from pydantic import BaseModel, ConfigDict, Field

from bedside.server.auth import Caller
from bedside.wiring import Engine

__all__ = ["router"]

router = APIRouter(tags=["admin"], prefix="/catalogue")
Kind = Annotated[str, Path(max_length=40)]
Key = Annotated[str, Path(max_length=100)]


class EditBody(BaseModel):
    """The next version. `expected` is the version that was edited, to notice another's edit."""

    model_config = ConfigDict(extra="forbid")

    body: dict[str, Any] | None
    expected: int | None = Field(default=None, ge=0)


@router.get("/{kind}")
async def entries(kind: Kind, request: Request, who: Caller) -> list[dict[str, Any]]:
    """What is live of a kind: prompt, price, sop, flag or pack."""
    engine: Engine = request.app.state.engine
    return await engine.hot(kind, who)


@router.get("/{kind}/{key:path}")
async def versions(kind: Kind, key: Key, request: Request, who: Caller) -> list[dict[str, Any]]:
    """Every version of an entry, oldest first."""
    engine: Engine = request.app.state.engine
    return await engine.versions(kind, key, who)


@router.put("/{kind}/{key:path}")
async def save(
    kind: Kind, key: Key, edit: EditBody, request: Request, who: Caller
) -> dict[str, Any]:
    """Save the next version; `null` withdraws the entry. Old versions are kept."""
    engine: Engine = request.app.state.engine
    return await engine.edit(kind, key, edit.body, who, expected=edit.expected)
