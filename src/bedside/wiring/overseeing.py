"""What a safety officer oversees: what left this machine, erasures, what is kept, evaluation cases."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, Table, and_, func, or_, select

from bedside import __version__
from bedside.core.errors import NotFound
from bedside.core.ids import PatientId
from bedside.knowledge.search import SHARED_TENANT
from bedside.storage import access
from bedside.storage.tables.access import audit
from bedside.storage.tables.erasure import erasure
from bedside.storage.tables.memory import memory_fact
from bedside.storage.tables.record import document, resource
from bedside.storage.tables.source import source
from bedside.storage.tables.turn import message, prompt_part, report, turn
from bedside.storage.tables.uploads import upload
from bedside.wiring import reading
from bedside.wiring.ask import Who

if TYPE_CHECKING:
    from bedside.wiring.engine import Engine

__all__ = ["cited_texts", "egress_log", "erasures", "evaluation_case", "kept"]

_MOST = 200


async def egress_log(engine: Engine, who: Who) -> list[dict[str, Any]]:
    """The newest 200 turns whose text left this machine, newest first, without their texts.

    Each has `at`, `turn`, `flow`, `actor`, `egress` (where to, and whether identifiers were removed),
    and `calls` with provider, model, tokens in and out (`None`: not said) and outcome. A turn about a
    patient that the caller may not see is left out.

    Raises:
        AccessDenied: the caller is no safety officer.
    """
    engine.needs_role(who, "safety")
    return await engine.store.read(lambda c: _left(c, who))


def _left(connection: Connection, who: Who) -> list[dict[str, Any]]:
    rows = connection.execute(
        select(
            turn.c.id, turn.c.flow, turn.c.actor, turn.c.patient, turn.c.started_at, turn.c.result
        )
        .where(
            turn.c.tenant == who.tenant,
            turn.c.result.is_not(None),
            # A cheap sieve before the JSON is read: most turns send nothing.
            turn.c.result.not_like('%"egress": "none"%'),
        )
        .order_by(turn.c.started_at.desc())
    )
    found: list[dict[str, Any]] = []
    for row in rows:
        if row.patient is not None and not who.sees(row.patient):
            continue
        body = json.loads(row.result)
        if body.get("egress", "none") == "none":
            continue
        found.append(
            {
                "at": row.started_at.isoformat(),
                "turn": row.id,
                "flow": row.flow,
                "actor": row.actor,
                "egress": body["egress"],
                "calls": [_call(call) for call in body.get("calls") or []],
            }
        )
        if len(found) == _MOST:
            break
    return found


def _call(call: Mapping[str, Any]) -> dict[str, Any]:
    return {name: call.get(name) for name in ("provider", "model", "input", "output", "outcome")}


async def erasures(engine: Engine, who: Who) -> list[dict[str, Any]]:
    """The patients that were erased, newest first: `at`, `by`, and a reference that is no id.

    Raises:
        AccessDenied: the caller is no safety officer.
    """
    engine.needs_role(who, "safety")
    rows = await engine.store.read(
        lambda c: c.execute(
            select(erasure).where(erasure.c.tenant == who.tenant).order_by(erasure.c.at.desc())
        ).all()
    )
    return [{"at": row.at.isoformat(), "by": row.actor, "reference": row.patient} for row in rows]


async def kept(engine: Engine, who: Who) -> list[dict[str, Any]]:
    """What the store holds of the tenant, by kind: `n`, `oldest` (`None`: no date), and what ends it.

    Raises:
        AccessDenied: the caller is no safety officer.
    """
    engine.needs_role(who, "safety")
    return await engine.store.read(lambda c: [_kind(c, who, *one) for one in _KINDS])


_PATIENT = "until the patient is erased"
_KINDS: tuple[tuple[str, Table, str, str], ...] = (
    ("record entries", resource, "", _PATIENT),
    ("documents", document, "", _PATIENT),
    ("files of intake cases", upload, "created_at", "until they expire, or the case is erased"),
    ("turns, with question, answer and trace", turn, "started_at", _PATIENT),
    ("prompts as sent", prompt_part, "", _PATIENT),
    ("facts remembered of conversations", memory_fact, "", "until taken back, or erased"),
    ("reports", report, "at", _PATIENT),
    ("audit entries", audit, "at", "never: an erasure replaces ids by references"),
)


def _kind(connection: Connection, who: Who, name: str, table: Table, at: str, ends: str) -> Any:
    oldest = func.min(table.c[at]) if at else None
    columns = [func.count(), *([oldest] if oldest is not None else [])]
    row = connection.execute(select(*columns).where(table.c.tenant == who.tenant)).one()
    first = row[1] if at else None
    return {
        "kind": name,
        "n": row[0],
        "oldest": first.isoformat() if first is not None else None,
        "ends": ends,
    }


async def evaluation_case(engine: Engine, report_id: str, who: Who) -> dict[str, Any]:
    """A report as a case to evaluate by: what was asked, seen and answered, and what is said against it.

    `sources` are the cited texts whole, in the order of the answer's first citations; `answer` cites
    them as `[1]`, `[2]`..., as `bedside.grounding.check` takes both. `prompt` is byte for byte what a model
    saw, or would have seen. The case holds patient content: reading it is audited as an export.

    Raises:
        AccessDenied: the caller is no safety officer.
        NotFound: there is no such report among those that the caller may read.
    """
    engine.needs_role(who, "safety")
    return await engine.store.write(lambda c: _case(c, engine, report_id, who))


def _case(connection: Connection, engine: Engine, report_id: str, who: Who) -> dict[str, Any]:
    row = connection.execute(
        select(report).where(report.c.tenant == who.tenant, report.c.id == report_id)
    ).first()
    if row is None or row.state == reading.DECIDED:
        raise NotFound("report", report_id)
    body = reading.read_turn(connection, who=who, turn_id=row.turn, clock=engine.clock)
    access.note(
        connection,
        tenant=who.tenant,
        actor=who.actor,
        action="export",
        at=engine.clock.now(),
        patient=PatientId(row.patient) if row.patient else None,
        purpose="evaluation case",
    )
    question = _question(connection, who, row.turn)
    sources, numbers = cited_texts(connection, who, body["citations"])
    answer = _renumbered(body["answer"] or "", numbers)
    return {
        "case": row.id,
        "version": __version__,
        "flow": body["flow"],
        "reported": {
            "target": row.target,
            "kind": row.kind,
            "note": row.note,
            "by": row.by,
            "at": row.at.isoformat(),
        },
        "question": question,
        "answer": answer,
        "answered_by": body.get("answered_by"),
        "sources": sources,
        "claims": body["claims"],
        "removed": body["removed"],
        "missing": body["missing"],
        "guardrails": body.get("guardrails", []),
        "prompt": reading.read_prompt(connection, who=who, turn_id=row.turn, clock=engine.clock),
        "trace": reading.read_trace(connection, who=who, turn_id=row.turn, clock=None)["events"],
    }


def _question(connection: Connection, who: Who, turn_id: str) -> str:
    """What the person wrote in this turn; empty where the flow takes no words (a briefing)."""
    text = connection.execute(
        select(source.c.text)
        .join(message, and_(message.c.tenant == source.c.tenant, message.c.source == source.c.id))
        .where(message.c.tenant == who.tenant, message.c.turn == turn_id, message.c.role == "user")
        .order_by(message.c.ordinal)
    ).scalar()
    return text or ""


def cited_texts(
    connection: Connection, who: Who, citations: list[dict[str, Any]]
) -> tuple[list[dict[str, Any]], dict[int, int]]:
    """The cited texts in the order of their first citations, and their new numbers by the old."""
    found: list[dict[str, Any]] = []
    numbers: dict[int, int] = {}
    for cited in citations:
        if cited["n"] in numbers:
            continue
        one = cited["source"]
        text = connection.execute(
            select(source.c.text)
            .where(
                or_(
                    source.c.tenant == who.tenant,
                    and_(source.c.tenant == SHARED_TENANT, source.c.patient.is_(None)),
                ),
                source.c.id == one["id"],
                source.c.revision == one["revision"],
            )
            .order_by((source.c.tenant == who.tenant).desc())
        ).scalar()
        if text is None:
            continue
        ident = f"{one['id']}@{one['revision']}"
        if ident not in (known["id"] for known in found):
            found.append({"id": ident, "kind": one["kind"], "title": one["title"], "text": text})
        numbers[cited["n"]] = 1 + [known["id"] for known in found].index(ident)
    return found, numbers


def _renumbered(answer: str, numbers: Mapping[int, int]) -> str:
    parts: list[str] = []
    rest = answer
    while rest:
        before, bracket, after = rest.partition("[")
        parts.append(before)
        number, closed, left = after.partition("]")
        if bracket and closed and number.isdigit() and int(number) in numbers:
            parts.append(f"[{numbers[int(number)]}]")
            rest = left
        else:
            parts.append(bracket)
            rest = after
    return "".join(parts)
