"""Notes behind the engine: a note in, stored as citable text, summarised by a turn."""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
from datetime import date
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, insert, or_, select

from bedside.core.access import Grant
from bedside.core.errors import BadInput, NotFound
from bedside.core.ids import PatientId, SessionId, SourceId
from bedside.core.source import Source
from bedside.core.turn import TurnRequest
from bedside.core.value import value
from bedside.flows.notes import Note, NoteNeed, StoredNote
from bedside.knowledge.parse.apart import parse_apart
from bedside.storage import access
from bedside.storage.store import Store
from bedside.storage.tables.source import source
from bedside.wiring import records
from bedside.wiring.ask import Ask, Who

if TYPE_CHECKING:
    from bedside.wiring.engine import Engine

__all__ = [
    "MOST_CHARACTERS",
    "NoteAsk",
    "note_of",
    "note_text",
    "only_summary",
    "read_note",
    "read_note_file",
    "read_summary",
    "summarise",
]

MOST_CHARACTERS = 10_000_000
"""A longer note is refused: it is an archive, not a note."""
DEADLINE_MS = 300_000
"""For a whole note: several calls, each of which writes thousands of tokens."""
_ASKED = "Summarise this note."


@value
class NoteAsk(Ask):
    """A note to summarise, stored already; `note` is its source id."""

    note: str

    def request(self, *, deadline_ms: int) -> TurnRequest:
        """The engine's request."""
        plain = Ask.request(self, deadline_ms=deadline_ms)
        options = (*plain.options, ("note", self.note))
        return TurnRequest(
            flow="notes",
            text=plain.text,
            session=plain.session,
            patient=plain.patient,
            options=options,
            idempotency_key=plain.idempotency_key,
            deadline_ms=max(deadline_ms, DEADLINE_MS),
        )


async def read_note_file(path: Path, *, most_bytes: int) -> tuple[str, str]:
    """A note's text and its file's name.

    Raises:
        BadInput: the file cannot be read, is empty, is no text, or is too long.
    """
    data = await asyncio.to_thread(_bytes, path, most_bytes)
    return await note_text(data, name=path.name), path.name


def _bytes(path: Path, most: int) -> bytes:
    try:
        if path.is_dir():
            raise BadInput(path.name, why="it is a folder")
        size = path.stat().st_size
        if size > most:
            raise BadInput(path.name, why=f"it has {size} bytes; at most {most} are read")
        return path.read_bytes()
    except OSError as error:
        why = f"it cannot be opened ({type(error).__name__})"
        raise BadInput(path.name, why=why) from None


async def note_text(data: bytes, *, name: str) -> str:
    """A note's text from a file's bytes: text, Markdown, HTML, PDF, DOCX or a picture.

    Raises:
        BadInput: the bytes hold no readable text.
    """
    parsed = await asyncio.to_thread(parse_apart, data, name=name)
    return parsed.text


def read_summary(data: bytes, *, name: str) -> Any:
    """A summary to evaluate, from its file: JSON, or plain text and Markdown as text.

    Of a turn of ours the summary, plan and chunks alone. What is called JSON, or begins as JSON, has
    to be JSON.

    Raises:
        BadInput: it is empty, not UTF-8, or not valid JSON.
    """
    try:
        text = data.decode("utf-8-sig").strip()
    except UnicodeDecodeError:
        raise BadInput(name, why="it is not UTF-8", do=_GIVE) from None
    if not text:
        raise BadInput(name, why="it is empty", do=_GIVE)
    if _PAGE.match(text):
        raise BadInput(name, why="it is an HTML page", do=_GIVE)
    if text[0] not in "{[" and not name.lower().endswith(".json"):
        return text
    try:
        tree = json.loads(text)
    except json.JSONDecodeError as error:
        if text[0] == "[" and _LINK.match(text):
            return text
        why = f"it is not valid JSON (line {error.lineno}, column {error.colno}: {error.msg})"
        raise BadInput(name, why=why, do=_GIVE) from None
    except (ValueError, RecursionError):
        raise BadInput(name, why="it is not valid JSON", do=_GIVE) from None
    if isinstance(tree, dict):
        return only_summary(tree)
    if isinstance(tree, list):
        return tree
    raise BadInput(name, why="it is no JSON object or array", do=_GIVE)


_GIVE = "Give a summary as JSON, Markdown or plain text."
_PAGE = re.compile(r"<(?:!doctype html|html)\b", re.IGNORECASE)
_LINK = re.compile(r"\[[^\[\]{}\"\n]+\][(\s:]")
"""How a Markdown text may begin that is no JSON: "[x] Done", "[Title](...)"."""


def only_summary(tree: dict[str, Any]) -> dict[str, Any]:
    """Of a turn of ours its summary, plan and chunks; anything else as it is."""
    if "turn_id" not in tree or not isinstance(tree.get("summary"), dict):
        return tree
    plan = tree.get("plan")
    items = plan.get("recommendations", []) if isinstance(plan, dict) else []
    return {
        "summary": tree["summary"],
        "plan": {"recommendations": items},
        "chunks": tree.get("chunks"),
    }


def note_of(text: str, *, title: str = "Note") -> Note:
    """A note that is not stored: for its sections and chunks.

    Raises:
        BadInput: a blank text, one that is no Unicode, or one that is too long.
    """
    _check(text)
    kept = Source(id=SourceId("note"), revision=1, kind="note", title=title)
    return Note(StoredNote(source=kept, text=text))


def _check(text: str) -> None:
    if not any(char.isalnum() for char in text):
        raise BadInput("the note", why="it is empty", do="Give a note with text.")
    if len(text) > MOST_CHARACTERS:
        raise BadInput(
            "the note",
            why=f"it has {len(text)} characters; at most {MOST_CHARACTERS} are read",
            do="Split it into its notes.",
        )
    if "\0" in text or any("\ud800" <= char <= "\udfff" for char in text):
        raise BadInput("the note", why="it holds a character that is none", do="Give valid text.")


async def summarise(
    engine: Engine,
    who: Who,
    *,
    text: str,
    title: str = "Note",
    patient: str | None = None,
    dated: date | None = None,
    model: str | None = None,
    key: str | None = None,
    call: bool = True,
) -> dict[str, Any]:
    """Store a note and summarise it; the turn as the contract has it.

    Args:
        engine: The engine.
        who: Who asks.
        text: The note. The same note of the same patient and actor is stored once.
        title: A display title, such as the file's name; it is never sent to a model.
        patient: Whose note it is; without one the turn sees no record, and the note is its actor's.
        dated: The date of the note, `None` where it is unknown.
        model: `provider:model` for this turn.
        key: Idempotency key.
        call: False assembles the first call and sends nothing.

    Raises:
        BadInput: the note is empty or too long.
        NotFound: no such patient.
    """
    _check(text)
    engine.may_see(who, patient)
    engine.may_ask(who, "clinician")
    note_id = await engine.store.write(
        lambda c: _keep(c, engine, who, text=text, title=title, patient=patient, dated=dated)
    )
    asked = NoteAsk(
        question=_ASKED,
        patient=patient,
        session=SessionId(f"notes-{note_id}"),
        model=model,
        key=key,
        call=call,
        note=note_id,
    )
    return await engine.asker.ask(asked, who)


def _keep(
    connection: Connection,
    engine: Engine,
    who: Who,
    *,
    text: str,
    title: str,
    patient: str | None,
    dated: date | None,
) -> str:
    now = engine.clock.now()
    if patient is not None:
        records.check_patient(connection, who.tenant, PatientId(patient))
    owner = f"patient\n{patient}" if patient is not None else f"actor\n{who.actor}"
    digest = hashlib.sha256(f"{who.tenant}\n{owner}\n{text}".encode()).hexdigest()
    ident = f"note-{digest[:20]}"
    access.note(
        connection,
        tenant=who.tenant,
        actor=who.actor,
        action="write",
        at=now,
        patient=PatientId(patient) if patient else None,
        purpose="note",
    )
    known = connection.execute(
        select(source.c.id).where(source.c.tenant == who.tenant, source.c.id == ident)
    ).first()
    if known is None:
        connection.execute(
            insert(source).values(
                tenant=who.tenant,
                id=ident,
                revision=1,
                kind="note",
                patient=patient,
                session=None if patient is not None else f"notes-{ident}",
                title=PurePath(title).name or "Note",
                section="",
                dated=dated,
                sha256=hashlib.sha256(text.encode()).hexdigest(),
                media_type="text/plain",
                meta="{}",
                state="ready",
                created_at=now,
                text=text,
            )
        )
    return ident


async def read_note(store: Store, grant: Grant, need: NoteNeed) -> Note:
    """A note inside the grant's scope, cut into sections and chunks.

    Raises:
        NotFound: there is none.
    """
    stored = await store.read(lambda c: _stored(c, grant, need))
    return await asyncio.to_thread(Note, stored)  # no transaction waits for it


def _stored(connection: Connection, grant: Grant, need: NoteNeed) -> StoredNote:
    """The newest revision of a note inside the grant's scope.

    Raises:
        NotFound: there is none.
    """
    scope = source.c.patient == grant.patient
    if grant.patient is None:
        scope = source.c.patient.is_(None)
    row = connection.execute(
        select(source)
        .where(
            source.c.tenant == grant.tenant,
            source.c.id == need.note,
            source.c.kind == "note",
            scope,
            or_(source.c.session.is_(None), source.c.session == str(grant.session)),
        )
        .order_by(source.c.revision.desc())
    ).first()
    if row is None:
        raise NotFound("note", need.note)
    kept = Source(
        id=SourceId(row.id),
        revision=row.revision,
        kind="note",
        title=row.title,
        dated=row.dated,
    )
    return StoredNote(source=kept, text=row.text)
