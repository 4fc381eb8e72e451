"""Intake behind the engine: cases begun, messages sent, files added.

A case is one conversation about one person: the case's id is its session's and its patient's, so
that grants, documents, audit and erasure work on it as on any patient.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import AsyncIterator, Mapping
from importlib import resources
from pathlib import PurePath
from typing import Any

from sqlalchemy import Connection, insert, select

from bedside.core.errors import AccessDenied, InvalidArgument, NotFound
from bedside.core.ids import PatientId
from bedside.core.turn import TurnRequest
from bedside.core.value import value
from bedside.flows.intake.book import Book
from bedside.flows.intake.case import load as load_case
from bedside.flows.trace import TurnResult
from bedside.sop.find import bundled
from bedside.storage import access, catalogue, conversations
from bedside.storage.tables.record import patient as patient_table
from bedside.wiring.ask import Ask, Who
from bedside.wiring.cases import is_case
from bedside.wiring.engine import Engine
from bedside.wiring.running import Event
from bedside.wiring.uploads import intake_upload

__all__ = [
    "LONGEST_MESSAGE", "Say", "contract_text",
    "contracts", "finished", "require_case", "saved_version", "send", "start_case",
    "stream", "upload",
]  # fmt: skip

LONGEST_MESSAGE = 20_000


@value
class Say(Ask):
    """A message of an intake case. `act` is ("upload", document) or ("open", ""), else `None`.

    `by` is "coordinator" where one of the staff writes it, and not the person.
    """

    language: str = ""
    procedure: str = ""
    by: str = ""
    act: tuple[str, str] | None = None

    def request(self, *, deadline_ms: int) -> TurnRequest:
        """The engine's request.

        Raises:
            InvalidArgument: an empty or overlong message, or text that is no Unicode.
        """
        if len(self.question) > LONGEST_MESSAGE:
            raise InvalidArgument(
                "text",
                found=f"{len(self.question):,} characters",
                want=f"at most {LONGEST_MESSAGE:,} characters; add longer text as a file",
            )
        if not self.question.strip():
            raise InvalidArgument("text", found="", want="at least one word")
        made = Ask.request(self, deadline_ms=deadline_ms)
        options = [("language", self.language), ("procedure", self.procedure), ("by", self.by)]
        return TurnRequest(
            flow="intake",
            text=made.text,
            session=made.session,
            patient=made.patient,
            act=self.act,
            options=(*made.options, *(one for one in options if one[1])),
            idempotency_key=made.idempotency_key,
            deadline_ms=made.deadline_ms,
        )


async def start_case(engine: Engine, who: Who, *, case: str | None = None) -> str:
    """Begin a case and return its id.

    Raises:
        AccessDenied: the caller's token is bound to other cases.
    """
    ident = case or f"case-{uuid.uuid4().hex[:16]}"
    if who.patients is not None and ident not in who.patients:
        raise AccessDenied("a new case", need="a token that may begin one")

    def work(connection: Connection) -> None:
        found = connection.execute(
            select(patient_table.c.id).where(
                patient_table.c.tenant == who.tenant, patient_table.c.id == ident
            )
        ).first()
        if found is not None:
            return
        now = engine.clock.now()
        access.note(
            connection, tenant=who.tenant, actor=who.actor, action="write", at=now,
            patient=PatientId(ident), purpose="intake: begin a case",
        )  # fmt: skip
        connection.execute(
            insert(patient_table).values(
                tenant=who.tenant, id=ident, name=ident, name_key=ident.casefold(), sex="",
                identifiers="[]", revision=0, updated_at=now,
            )
        )  # fmt: skip

    await engine.store.write(work)
    return ident


async def require_case(engine: Engine, who: Who, case: str) -> None:
    """Check that there is such a case.

    Raises:
        NotFound: there is none in this scope, or it is the record of a patient and no case.
    """
    if not await engine.store.read(lambda c: is_case(c, who.tenant, case)):
        raise NotFound("case", case, hint="Leave the case out to begin a new one.")


def _say(
    who: Who,
    case: str,
    text: str,
    *,
    language: str,
    procedure: str,
    key: str | None,
    model: str | None,
    act: tuple[str, str] | None,
) -> Say:
    return Say(
        question=text,
        patient=case,
        session=case,
        flow="intake",
        key=key,
        model=model,
        language=language,
        procedure=procedure,
        act=act,
        by="coordinator" if _is_staff(who, case) else "",
    )


def _is_staff(who: Who, case: str) -> bool:
    """Is it a coordinator who writes? The local user has every role, and stands for the person."""
    return who.leads(case) and "patient" not in who.roles and who.actor != Who().actor


async def send(
    engine: Engine,
    who: Who,
    case: str,
    text: str,
    *,
    language: str = "",
    procedure: str = "",
    key: str | None = None,
    model: str | None = None,
    act: tuple[str, str] | None = None,
) -> dict[str, Any]:
    """One message of the person, and the turn that answers it.

    Raises:
        InvalidArgument: an empty or overlong message, or a language that nobody speaks here.
        NotFound: no such case.
    """
    say = _say(
        who, case, text, language=language, procedure=procedure, key=key, model=model, act=act
    )
    say.request(deadline_ms=1)
    await require_case(engine, who, case)
    return finished(await engine.asker.ask(say, who))


async def stream(
    engine: Engine,
    who: Who,
    case: str,
    text: str,
    *,
    language: str = "",
    key: str | None = None,
    act: tuple[str, str] | None = None,
) -> AsyncIterator[Event | TurnResult]:
    """The events of a turn as they come, then its result as `send` gives it."""
    say = _say(who, case, text, language=language, procedure="", key=key, model=None, act=act)
    async for event in engine.asker.stream(say, who):
        if isinstance(event, TurnResult):
            yield TurnResult(turn=event.turn, status=event.status, body=finished(event.body))
        else:
            yield event


def finished(body: Mapping[str, Any]) -> dict[str, Any]:
    """The turn as intake's doors give it: `status` is the case's, `turn_status` the turn's own."""
    return {
        **body,
        "turn_status": body["status"],
        "status": body.get("case_status", "intake"),
    }


async def upload(
    engine: Engine, who: Who, case: str, filename: str, body: bytes, *, wait: bool = False
) -> dict[str, Any]:
    """Add a file to a case, and the turn that says what became of it.

    With `wait` the queue is worked at before the turn, so that a script sees the result.

    Raises:
        BadInput: the file is refused; the case goes on.
        NotFound: no such case.
    """
    await require_case(engine, who, case)
    document = await _keep(engine, who, case, PurePath(filename).name, body)
    if wait:
        await engine.turning.jobs.run_waiting()
    text = f"(added a file: {PurePath(filename).name})"
    return await send(engine, who, case, text, act=("upload", document))


async def _keep(engine: Engine, who: Who, case: str, filename: str, body: bytes) -> str:
    book = await contracts(engine, who)

    def sop(connection: Connection) -> str:
        kept = conversations.load_state(connection, tenant=who.tenant, session_id=case, person="")
        return load_case(json.loads(kept)).facts.sop if kept is not None else "_generic"

    contract = book.get(await engine.store.read(sop))
    return await intake_upload(engine, case, filename, body, who, contract=contract)


async def contracts(engine: Engine, who: Who) -> Book:
    """The live contracts of the tenant."""
    return Book(await engine.turning.hot.of(who.tenant))


async def contract_text(engine: Engine, who: Who, sop: str) -> str | None:
    """The YAML of a live contract: the saved one, else the one that ships; `None` for neither."""
    data = await engine.turning.hot.of(who.tenant)
    saved = (data.get("sop") or {}).get(sop)
    if saved is not None:
        return str(saved["yaml"])
    if sop not in bundled():
        return None
    path = resources.files("bedside.sop") / "data" / "contracts" / f"{sop}.yaml"
    return path.read_text(encoding="utf-8")


async def saved_version(engine: Engine, who: Who, sop: str) -> int:
    """The newest version that was saved of a contract, 0 where only the one that ships is there."""
    found = await engine.store.read(lambda c: catalogue.history(c, who.tenant, "sop", sop))
    return max((edition.version for edition in found), default=0)
