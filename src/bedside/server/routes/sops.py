"""The contracts of the intake: listed, as YAML, and linted. Saved by `PUT /v1/catalogue/sop/{id}`."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict, Field

from bedside.server.auth import Caller
from bedside.wiring import Engine
from bedside.wiring.contracts import contract_text, contracts_listed, lint_contract

__all__ = ["router"]

router = APIRouter(prefix="/sops", tags=["intake"])


class ContractBody(BaseModel):
    """A contract's text, saved or not."""

    model_config = ConfigDict(extra="forbid")

    yaml: str = Field(max_length=200_000)


@router.get("")
async def listed(request: Request, who: Caller) -> list[dict[str, Any]]:
    """The live contracts of the intake, and which of them were edited here."""
    engine: Engine = request.app.state.engine
    return await contracts_listed(engine, who)


@router.get("/{sop}")
async def text(sop: str, request: Request, who: Caller) -> dict[str, Any]:
    """One contract as YAML, with the number of its saved version (0: as shipped)."""
    engine: Engine = request.app.state.engine
    return await contract_text(engine, who, sop)


@router.post("/lint")
async def check(body: ContractBody, request: Request, who: Caller) -> dict[str, Any]:
    """The problems of a contract's text; nothing is saved."""
    engine: Engine = request.app.state.engine
    return await lint_contract(engine, who, body.yaml)
