"""The copilot's memories: notes about a clinician's work, by consent, off unless switched on (CO-12)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sqlalchemy import Connection, select

from bedside.core.access import Grant
from bedside.core.clock import Clock
from bedside.core.errors import AccessDenied, NotFound
from bedside.core.ids import PatientId, SessionId
from bedside.memory import consent, ledger
from bedside.memory.needs import NotesNeed
from bedside.memory.notes import read_note
from bedside.memory.recall import Memory
from bedside.storage import access
from bedside.storage.store import Store
from bedside.storage.tables.memory import memory_fact
from bedside.storage.tables.turn import message
from bedside.wiring.ask import Who

__all__ = ["forget", "give_consent", "keep_note", "notes_data", "overview", "withdraw"]


def _grant(
    connection: Connection,
    who: Who,
    clock: Clock,
    *,
    action: Any = "read",
    patient: str | None = None,
    session: str | None = None,
) -> Grant:
    return access.grant(
        connection,
        tenant=who.tenant,
        actor=who.actor,
        action=action,
        at=clock.now(),
        patient=PatientId(patient) if patient else None,
        session=SessionId(session) if session else None,
        purpose="memories",
    )


async def notes_data(
    store: Store, memory: Memory, who: Who, clock: Clock, *, patient: str | None
) -> dict[str, Any]:
    """What a turn of the copilot's is given: whether consent is on record, and the notes' words."""
    grant = await store.write(lambda c: _grant(c, who, clock, patient=patient))
    found = await memory.notes(NotesNeed(name="memories"), grant)
    agreed = await store.read(lambda c: consent.consented(c, grant, "notes"))
    return {
        "memories_consent": agreed,
        "memories": tuple(item.text for item in found.of("note")),
    }


async def keep_note(
    store: Store, who: Who, clock: Clock, *, text: str, turn: str, patient: str | None
) -> None:
    """Keep what the message of a finished turn asks to have remembered, where consent is on record."""
    found = read_note(text)
    if found is None or found.why:
        return

    def write(connection: Connection) -> None:
        row = connection.execute(
            select(message.c.source, message.c.session).where(
                message.c.tenant == who.tenant, message.c.turn == turn, message.c.role == "user"
            )
        ).first()
        if row is None:
            return  # erased while the turn ended
        grant = _grant(connection, who, clock, action="write", patient=patient, session=row.session)
        if consent.consented(connection, grant, "notes"):
            ledger.add_note(connection, grant, source=row.source, at=clock.now())

    await store.write(write)


async def give_consent(engine: Any, who: Who) -> dict[str, Any]:
    """Record that the caller wants notes kept.

    Raises:
        AccessDenied: the deployer has not switched memories on.
    """
    if not engine.settings.memories:
        raise AccessDenied("memories", need="BEDSIDE_MEMORIES=true, set by the deployer")

    def write(connection: Connection) -> None:
        grant = _grant(connection, who, engine.clock, action="write")
        consent.give(connection, grant, "notes", at=engine.clock.now())

    await engine.store.write(write)
    return await overview(engine, who)


async def withdraw(engine: Any, who: Who) -> dict[str, Any]:
    """Take the consent back; every note of the caller's goes with it. Always possible."""

    def write(connection: Connection) -> dict[str, int]:
        grant = _grant(connection, who, engine.clock, action="erase")
        return consent.withdraw(connection, grant, "notes")

    removed = await engine.store.write(write)
    return {"consent": None, "removed": removed, "notes": []}


async def forget(engine: Any, who: Who, note: str) -> dict[str, Any]:
    """Remove one note of the caller's.

    Raises:
        NotFound: the caller has no such note.
    """

    def write(connection: Connection) -> int:
        grant = _grant(connection, who, engine.clock, action="erase")
        patients = {row.patient for row in _rows(connection, who) if row.id == note}
        return sum(
            ledger.forget(
                connection, replace(grant, patient=PatientId(one) if one else None), [note]
            )
            for one in patients
        )

    if not await engine.store.write(write):
        raise NotFound("note", note, hint="`bedside memory list` shows them.")
    return await overview(engine, who)


async def overview(engine: Any, who: Who) -> dict[str, Any]:
    """The caller's consent and notes, newest first, each with the message that holds its words."""

    def look(connection: Connection) -> dict[str, Any]:
        grant = _grant(connection, who, engine.clock)
        given = consent.consents(connection, grant).get("notes")
        return {
            "switched_on": bool(engine.settings.memories),
            "consent": given.isoformat() if given else None,
            "notes": [
                {
                    "id": row.id,
                    "text": row.text,
                    "patient": row.patient or None,
                    "source": row.source,
                    "start": row.start,
                    "end": row.end,
                    "at": row.at.isoformat(),
                }
                for row in _rows(connection, who)
                if not row.patient or who.sees(row.patient)
            ],
        }

    found: dict[str, Any] = await engine.store.write(look)
    return found


def _rows(connection: Connection, who: Who) -> list[Any]:
    """The caller's own notes."""
    query = (
        select(memory_fact)
        .where(
            memory_fact.c.tenant == who.tenant,
            memory_fact.c.owner == who.actor,
            memory_fact.c.kind == "note",
        )
        .order_by(memory_fact.c.at.desc(), memory_fact.c.ordinal.desc())
    )
    return list(connection.execute(query).all())
