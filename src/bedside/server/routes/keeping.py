"""Erasure: an administrator removes a patient from every store."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request

from bedside.server.auth import Caller
from bedside.wiring import Engine
from bedside.wiring.keeping import erase

__all__ = ["router"]

router = APIRouter(tags=["keeping"])


@router.delete("/patients/{patient}")
async def erase_patient(patient: str, request: Request, who: Caller) -> dict[str, Any]:
    """Remove the patient with this id from every store, for good; the receipt says what is left.

    `residual_bytes` above 0 means that a file named in `residual` still holds some of it.
    """
    engine: Engine = request.app.state.engine
    return await erase(engine, patient, who, by_id=True)
