"""Identifiers. Each is a string of its own type, so one kind cannot be passed for another."""

from __future__ import annotations

from typing import NewType

__all__ = [
    "ActorId",
    "PatientId",
    "PersonId",
    "SessionId",
    "SourceId",
    "TenantId",
    "TurnId",
]

TenantId = NewType("TenantId", str)
ActorId = NewType("ActorId", str)
PatientId = NewType("PatientId", str)
SessionId = NewType("SessionId", str)
PersonId = NewType("PersonId", str)
TurnId = NewType("TurnId", str)
SourceId = NewType("SourceId", str)
