"""The coordinator's desk: cases by what blocks them, provenance, corrections, and rollback."""

from __future__ import annotations

import json
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import Any

from sqlalchemy import Connection, select

from bedside.core.errors import AccessDenied, InvalidArgument, NotFound
from bedside.core.ids import PatientId, SessionId
from bedside.core.turn import Change
from bedside.flows.intake import INTAKE
from bedside.flows.intake.book import Book
from bedside.flows.intake.case import Case, change
from bedside.flows.intake.case import load as load_case
from bedside.flows.intake.dispatch import ORDER
from bedside.flows.intake.fields import Context, read_asked
from bedside.flows.intake.readiness import readiness
from bedside.flows.intake.situation import as_they_are
from bedside.flows.intake.turn import STAFF
from bedside.flows.intake.view import as_checklist, as_readiness, as_state
from bedside.flows.states import reduce_state
from bedside.sop.state import Known
from bedside.storage import access, conversations
from bedside.storage.tables.turn import message, session, state
from bedside.wiring.ask import Who
from bedside.wiring.engine import Engine
from bedside.wiring.uploads import read_uploads, read_uploads_of

__all__ = ["blocks_of", "case_of", "cases", "force", "rollback", "set_field"]

MOST_CASES = 500
DESK = frozenset({"coordinator", "clinician", "admin"})


def _may(who: Who) -> None:
    if not who.roles & DESK or who.patients is not None:
        raise AccessDenied("the coordinator's desk", need="the role 'coordinator'")


async def cases(engine: Engine, who: Who) -> list[dict[str, Any]]:
    """The tenant's cases, those that a person must look at first, then by what blocks them.

    Raises:
        AccessDenied: the caller is no coordinator.
    """
    _may(who)
    book = Book(await engine.turning.hot.of(who.tenant))

    def work(connection: Connection) -> list[dict[str, Any]]:
        access.note(
            connection, tenant=who.tenant, actor=who.actor, action="list",
            at=engine.clock.now(), purpose="intake cases",
        )  # fmt: skip
        rows = connection.execute(
            select(session.c.id, session.c.created_at, session.c.pinned, state.c.body)
            .join(state, (state.c.tenant == session.c.tenant) & (state.c.session == session.c.id))
            .where(session.c.tenant == who.tenant, session.c.flow == "intake")
            .where(state.c.person == "")
            .order_by(session.c.created_at.desc())
            .limit(MOST_CASES)
        ).all()
        papers = read_uploads_of(
            connection, str(who.tenant), [row.id for row in rows], now=engine.clock.now()
        )
        return [_row(row, book, papers.get(row.id, ())) for row in rows]

    found = await engine.store.write(work)
    return sorted(found, key=lambda one: (-one["urgent"], one["blocked_by"] == [], one["case"]))


def _row(row: Any, book: Book, papers: Sequence[Any]) -> dict[str, Any]:
    """The case in one line, its documents as they are now and not as of its last turn."""
    case = as_they_are(load_case(json.loads(row.body)), papers)
    contract = book.get(case.facts.sop)
    pinned = json.loads(row.pinned)
    return {
        "case": row.id,
        "begun_at": row.created_at.isoformat(),
        "sop": case.facts.sop,
        "review_status": contract.review_status,
        "status": case.status,
        "turns": case.facts.turn,
        "readiness": as_readiness(readiness(contract, case.facts)),
        "urgent": sum(one.kind.startswith(("red_flag", "person")) for one in case.alerts),
        "alerts": [{"kind": one.kind, "turn": one.turn} for one in case.alerts],
        "blocked_by": blocks_of(case, book),
        "architecture": case.forced or pinned.get("architecture"),
        "consent": case.consent.state,
    }


def blocks_of(case: Case, book: Book) -> list[str]:
    """What stands between this case and matching, or booking once it is matched."""
    contract = book.get(case.facts.sop)
    found = [f"conflict: {one.field}" for one in case.conflicts]
    gaps = (
        contract.missing_for_matching(case.facts)
        if case.status == "intake"
        else contract.missing_for_booking(case.facts)
    )
    for gap in gaps:
        status = case.facts.get(gap.id).status if gap.kind == "field" else "missing"
        found.append(f"{gap.kind}: {gap.id} ({status.replace('_', ' ')})")
    if contract.generic:
        found.append("procedure: no contract")
    if case.status == "intake" and not gaps and case.consent.state != "confirmed":
        found.append(f"consent: {case.consent.state}")
    return found


async def case_of(engine: Engine, who: Who, case: str) -> dict[str, Any]:
    """One case with where every field comes from: the person may read back their own.

    Raises:
        AccessDenied: the caller is neither a coordinator nor this person.
        NotFound: no such case.
    """
    if not (who.roles & DESK and who.patients is None) and not who.sees(case):
        raise AccessDenied("this case", need="a token that names it")
    book = Book(await engine.turning.hot.of(who.tenant))

    def work(connection: Connection) -> dict[str, Any]:
        grant = access.grant(
            connection, tenant=who.tenant, actor=who.actor, action="read",
            at=engine.clock.now(), patient=PatientId(case), session=SessionId(case),
            purpose="intake case",
        )  # fmt: skip
        row = connection.execute(
            select(session.c.id, session.c.created_at, session.c.pinned, state.c.body)
            .join(state, (state.c.tenant == session.c.tenant) & (state.c.session == session.c.id))
            .where(session.c.tenant == who.tenant, session.c.id == case)
            .where(session.c.flow == "intake", state.c.person == "")
        ).first()
        if row is None:
            raise NotFound("case", case)
        papers = read_uploads(connection, grant, now=engine.clock.now())
        found = as_they_are(load_case(json.loads(row.body)), papers)
        contract = book.get(found.facts.sop)
        shown = as_state(found, contract)
        told = _messages(connection, who, case)
        for body in shown["fields"].values():
            body["message"] = told.get(body["source"]) or (
                body["source"] if body["source"].startswith("msg-") else None
            )
        talk = conversations.history_of(connection, who.tenant, case, person="", but="")
        staff = {source for turn, source in told.items() if f"{STAFF}:{turn}" in found.told}
        return {
            **_row(row, book, papers),
            "state": shown,
            "checklist": as_checklist(found, contract),
            "consent": {
                "state": found.consent.state,
                "recipients": list(found.consent.recipients),
                "purpose": found.consent.purpose,
                "fields": list(found.consent.fields),
            },
            "matches": [
                {
                    "id": one.id,
                    "provider": one.name,
                    "score": one.score,
                    "reasons": list(one.reasons),
                }
                for one in found.matches
            ],
            "conversation": [
                {"role": role, "text": text, "source": key, "by": _by(role, key, staff)}
                for role, text, key in talk
            ],
        }

    return await engine.store.write(work)


def _by(role: str, source: str, staff: AbstractSet[str]) -> str:
    """Who wrote a message: "person", "coordinator", or "bedside"."""
    if role != "user":
        return "bedside"
    return "coordinator" if source in staff else "person"


def _messages(connection: Connection, who: Who, case: str) -> dict[str, str]:
    """Turn -> the citable text of the person's message in it."""
    rows = connection.execute(
        select(message.c.turn, message.c.source).where(
            message.c.tenant == who.tenant, message.c.session == case, message.c.role == "user"
        )
    )
    return {row.turn: row.source for row in rows}


async def set_field(engine: Engine, who: Who, case: str, field: str, text: str) -> dict[str, Any]:
    """A coordinator's value for a field, in words, kept with who said it; audited.

    Raises:
        AccessDenied: the caller is no coordinator.
        InvalidArgument: no such field, or words that are no value of it.
        NotFound: no such case.
    """
    _may(who)
    book = Book(await engine.turning.hot.of(who.tenant))

    def made(found: Case) -> Sequence[Change]:
        contract = book.get(found.facts.sop)
        known = contract.field(field)
        if known is None:
            raise InvalidArgument("field", found=field, want=f"a field of {contract.id}")
        read = read_asked(known, Context(text=text, state=found.facts, contract=contract))
        if read is None:
            raise InvalidArgument(field, found="words that are no value", want=f"a {known.kind}")
        return (
            change(
                f"field:{field}",
                Known(
                    status="known", value=read.value, said=text, origin="coordinator",
                    source=str(who.actor), turn=found.facts.turn, by="settled",
                ),
                by="person",
            ),
            change(f"settled:{field}", None),
        )  # fmt: skip

    await _apply(engine, who, [case], made, purpose=f"intake: set {field}")
    return await case_of(engine, who, case)


async def force(engine: Engine, who: Who, case: str, architecture: str) -> dict[str, Any]:
    """Force a case's architecture, or with "" let it go back to its own; audited.

    Raises:
        AccessDenied: the caller is no administrator.
        InvalidArgument: no such architecture.
        NotFound: no such case.
    """
    changed = await rollback(engine, who, architecture, cases=[case])
    return {"case": case, "forced": architecture or None, "changed": changed["changed"]}


async def rollback(
    engine: Engine, who: Who, to: str, *, cases: Sequence[str] = (), of: str = ""
) -> dict[str, Any]:
    """Move cases in bulk to an architecture: these, or all open ones that are on `of`.

    Raises:
        AccessDenied: the caller is no administrator.
        InvalidArgument: no such architecture.
        NotFound: one of the cases does not exist; then nothing is changed.
    """
    engine.needs_role(who, "admin")
    for name in (to, of):
        if name and name not in ORDER:
            raise InvalidArgument("architecture", found=name, want="one of " + ", ".join(ORDER))
    chosen = list(cases) or await engine.store.read(lambda c: _on(c, who, of))
    await _apply(
        engine, who, chosen, lambda _case: (change("forced", to),),
        purpose=f"intake: force {to or 'none'}",
    )  # fmt: skip
    return {"to": to or None, "of": of or None, "changed": len(chosen), "cases": chosen}


def _on(connection: Connection, who: Who, of: str) -> list[str]:
    rows = connection.execute(
        select(session.c.id, session.c.pinned, state.c.body)
        .join(state, (state.c.tenant == session.c.tenant) & (state.c.session == session.c.id))
        .where(session.c.tenant == who.tenant, session.c.flow == "intake", state.c.person == "")
    )
    found = []
    for row in rows:
        case = load_case(json.loads(row.body))
        own = case.forced or json.loads(row.pinned).get("architecture")
        if case.status != "consultation" and own == of:
            found.append(row.id)
    return sorted(found)


async def _apply(
    engine: Engine, who: Who, chosen: Sequence[str], made: Any, *, purpose: str
) -> None:
    def work(connection: Connection) -> None:
        for ident in chosen:
            body = conversations.load_state(
                connection, tenant=who.tenant, session_id=ident, person=""
            )
            if body is None:
                raise NotFound("case", ident)
            access.note(
                connection, tenant=who.tenant, actor=who.actor, action="write",
                at=engine.clock.now(), patient=PatientId(ident), session=SessionId(ident),
                purpose=purpose,
            )  # fmt: skip
            reduce_state(
                INTAKE, connection, who.tenant, ident, "", tuple(made(load_case(json.loads(body))))
            )

    await engine.store.write(work)
