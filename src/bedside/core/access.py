"""What one actor may read. Rooms take a `Grant`, never a bare patient id."""

from __future__ import annotations

from bedside.core.ids import ActorId, PatientId, PersonId, SessionId, TenantId
from bedside.core.value import value

__all__ = ["Grant"]


@value
class Grant:
    """What one actor may read in one turn or one request.

    Made by `bedside.storage.access` alone, which writes the audit row first; a wider read needs
    another grant and another audit row. `patient` is `None` for work that touches no patient;
    `audit_seq` is the number of the audit row, from 1.
    """

    tenant: TenantId
    actor: ActorId
    audit_seq: int
    patient: PatientId | None = None
    session: SessionId | None = None
    person: PersonId | None = None
