"""Grants and the audit trail. A grant exists only after its audit row does."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Literal

from sqlalchemy import Connection, Row, bindparam, func, insert, select, update

from bedside.core.access import Grant
from bedside.core.ids import ActorId, PatientId, PersonId, SessionId, TenantId
from bedside.core.value import value
from bedside.storage.secret import reference, secret, stored_secret
from bedside.storage.tables.access import audit
from bedside.storage.tables.jobs import meta

__all__ = [
    "Action",
    "AuditEntry",
    "AuditVerdict",
    "entries",
    "grant",
    "note",
    "redact",
    "reference_of",
    "verify",
]

Action = Literal["read", "write", "ask", "import", "export", "erase", "list", "review", "report"]


_LAST = (
    select(audit.c.seq, audit.c.hash)
    .where(audit.c.tenant == bindparam("tenant"))
    .order_by(audit.c.seq.desc())
    .limit(1)
    .with_for_update()
)
_APPEND = insert(audit)
_MOVE_HEAD = update(meta).where(meta.c.key == bindparam("named"))


@value
class AuditEntry:
    """One row of the trail. `at` is aware UTC; `hash` chains to `previous`."""

    seq: int
    at: datetime
    actor: str
    action: str
    patient: str | None
    session: str | None
    purpose: str
    previous: str
    hash: str


@value
class AuditVerdict:
    """The chain's state. `first_bad` is the lowest sequence number that does not fit, or `None`."""

    ok: bool
    entries: int
    first_bad: int | None


def grant(
    connection: Connection,
    *,
    tenant: TenantId,
    actor: ActorId,
    action: Action,
    at: datetime,
    patient: PatientId | None = None,
    session: SessionId | None = None,
    person: PersonId | None = None,
    purpose: str = "",
) -> Grant:
    """Write the audit row, then make the grant. Call inside a write transaction."""
    seq = note(
        connection,
        tenant=tenant,
        actor=actor,
        action=action,
        at=at,
        patient=patient,
        session=session,
        purpose=purpose,
    )
    return Grant(
        tenant=tenant, actor=actor, audit_seq=seq, patient=patient, session=session, person=person
    )


def note(
    connection: Connection,
    *,
    tenant: TenantId,
    actor: ActorId,
    action: Action,
    at: datetime,
    patient: PatientId | None = None,
    session: SessionId | None = None,
    purpose: str = "",
) -> int:
    """Append one audit entry and return its sequence number. Call inside a write transaction."""
    last = connection.execute(_LAST, {"tenant": tenant}).first()
    seq, previous = (last.seq + 1, last.hash) if last else (1, "")
    row = {
        "tenant": tenant,
        "seq": seq,
        "at": at.astimezone(UTC),
        "actor": actor,
        "action": action,
        "patient": patient,
        "session": session,
        "purpose": purpose,
        "previous": previous,
    }
    digest = _digest(row, key=secret(connection, _SECRET))
    connection.execute(_APPEND, {**row, "hash": digest})
    _set_head(connection, tenant, f"{seq}:{digest}")
    return seq


def entries(
    connection: Connection, *, tenant: TenantId, patient: PatientId | None = None
) -> Iterator[AuditEntry]:
    """The trail in order; of one patient where one is named, also of one who was erased."""
    query = select(audit).where(audit.c.tenant == tenant).order_by(audit.c.seq)
    if patient is not None:
        key = stored_secret(connection, _SECRET) or b""
        query = query.where(audit.c.patient.in_((patient, reference(key, tenant, patient))))
    for row in connection.execute(query):
        yield _entry(row)


def verify(connection: Connection, *, tenant: TenantId) -> AuditVerdict:
    """Walk the chain. A changed, missing, inserted or reordered row is found by its number.

    A removed tail is found against the head that `meta` keeps beside the chain.
    """
    previous, expected, count = "", 1, 0
    key = stored_secret(connection, _SECRET) or b""
    for row in connection.execute(
        select(audit).where(audit.c.tenant == tenant).order_by(audit.c.seq)
    ):
        count += 1
        fields = {name: getattr(row, name) for name in _CHAINED}
        if row.seq != expected or row.previous != previous or row.hash != _digest(fields, key=key):
            return AuditVerdict(ok=False, entries=count, first_bad=min(row.seq, expected))
        previous, expected = row.hash, expected + 1
    head = connection.execute(select(meta.c.value).where(meta.c.key == _head(tenant))).scalar()
    if (head or "0:") != f"{expected - 1}:{previous}":
        return AuditVerdict(ok=False, entries=count, first_bad=expected)
    return AuditVerdict(ok=True, entries=count, first_bad=None)


def reference_of(connection: Connection, *, tenant: TenantId, patient: str) -> str:
    """What stands for the patient after an erasure. Call inside a write transaction."""
    return reference(secret(connection, _SECRET), tenant, patient)


def redact(
    connection: Connection, *, tenant: TenantId, patient: str, sessions: Sequence[str] = ()
) -> int:
    """Put references where the ids of the patient and of the sessions stand; how many entries.

    Nothing else of an entry changes, and the chain holds: it commits to references, not to ids.
    Call inside a write transaction.
    """
    key = secret(connection, _SECRET)
    own = audit.c.tenant == tenant
    here = own & ((audit.c.patient == patient) | audit.c.session.in_(sessions))
    total = connection.execute(select(func.count()).select_from(audit).where(here)).scalar_one()
    for column, known in ((audit.c.session, sessions), (audit.c.patient, (patient,))):
        for ident in known:
            connection.execute(
                update(audit)
                .where(own, column == ident)
                .values({column.name: reference(key, tenant, ident)})
            )
    return total


def _head(tenant: str) -> str:
    return f"audit.head:{tenant}"


def _set_head(connection: Connection, tenant: str, head: str) -> None:
    changed = connection.execute(_MOVE_HEAD, {"named": _head(tenant), "value": head})
    if changed.rowcount == 0:
        connection.execute(insert(meta).values(key=_head(tenant), value=head))


_CHAINED = ("tenant", "seq", "at", "actor", "action", "patient", "session", "purpose", "previous")


_SECRET = "patient"  # noqa: S105 - the name of one
"""The secret that patients' references are made with."""


def _digest(fields: dict[str, object], *, key: bytes) -> str:
    """The hash of an entry, over references of patient and session: an id can go, nothing else."""
    body = {
        name: item.astimezone(UTC).isoformat() if isinstance(item, datetime) else item
        for name, item in fields.items()
        if name in _CHAINED
    }
    for name in ("patient", "session"):
        if body[name] is not None:
            body[name] = reference(key, str(body["tenant"]), str(body[name]))
    text = json.dumps(body, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _entry(row: Row[tuple[object, ...]]) -> AuditEntry:
    return AuditEntry(**{name: getattr(row, name) for name in AuditEntry.__dataclass_fields__})
