"""Recorded consent to be remembered beyond one conversation; withdrawing it takes the data along."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Literal

from sqlalchemy import Connection, delete, insert, select

from bedside.core.access import Grant
from bedside.core.errors import AccessDenied
from bedside.memory.owner import owned, owner_of, patient_of
from bedside.storage.tables.memory import (
    memory_consent,
    memory_fact,
    memory_message,
    memory_session,
)

__all__ = ["What", "consented", "consents", "give", "require", "withdraw"]

What = Literal["across", "profile", "notes"]
"""`across`: other sessions are searched. `profile`: a few facts are kept across sessions. `notes`: notes
about the work.

`across` and `profile` are given for the patient of the grant, or for conversations about none; `notes` are about the
clinician's work, so that consent holds with every patient, and its withdrawal too.
"""


def _scope(grant: Grant, what: What) -> Grant:
    return replace(grant, patient=None) if what == "notes" else grant


def give(connection: Connection, grant: Grant, what: What, *, at: datetime) -> None:
    """Record that the person of the grant consents; again is no error, the first date stays."""
    if consented(connection, grant, what):
        return
    grant = _scope(grant, what)
    connection.execute(
        insert(memory_consent).values(
            tenant=grant.tenant,
            owner=owner_of(grant),
            patient=patient_of(grant),
            what=what,
            actor=grant.actor,
            at=at,
        )
    )


def consented(connection: Connection, grant: Grant, what: What) -> bool:
    """Is the person's consent on record? Absence of a record is no consent."""
    query = select(memory_consent.c.at).where(
        owned(memory_consent, _scope(grant, what)), memory_consent.c.what == what
    )
    return connection.execute(query).first() is not None


def consents(connection: Connection, grant: Grant) -> dict[str, datetime]:
    """What the person consented to, and when."""
    rows = connection.execute(select(memory_consent).where(owned(memory_consent, grant)))
    return {row.what: row.at for row in rows}


def require(connection: Connection, grant: Grant, what: What) -> None:
    """Raises: AccessDenied where the consent is not on record."""
    if not consented(connection, grant, what):
        raise AccessDenied("remembering beyond this conversation", need=f"consent to {what!r}")


def withdraw(connection: Connection, grant: Grant, what: What) -> dict[str, int]:
    """Remove the consent and everything that was kept under it; how many rows, by table.

    Call inside a write transaction. For `across` these are all vectors, for `profile` the profile, for
    `notes` the notes. Facts and summaries of single conversations are no part of it: they serve those alone.
    """
    tables = {
        "profile": (
            delete(memory_fact).where(owned(memory_fact, grant), memory_fact.c.kind == "profile"),
        ),
        "across": (
            delete(memory_session).where(owned(memory_session, grant)),
            delete(memory_message).where(owned(memory_message, grant)),
        ),
        "notes": (
            delete(memory_fact).where(
                memory_fact.c.tenant == grant.tenant,
                memory_fact.c.owner == owner_of(grant),
                memory_fact.c.kind == "note",
            ),
        ),
    }[what]
    removed = {order.table.name: connection.execute(order).rowcount for order in tables}
    gone = delete(memory_consent).where(owned(memory_consent, grant), memory_consent.c.what == what)
    removed["memory_consent"] = connection.execute(gone).rowcount
    return removed
