"""Tombstones of erasures; the audit chain commits to keyed hashes of ids.

The chain of the first schema hashed the ids themselves, so none could ever be taken out of it. Each
chain is walked and, as far as it is whole, chained anew; from the first entry that does not fit on,
nothing is changed, so that a trail that was tampered with stays visibly so.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

_meta = sa.table("meta", sa.column("key", sa.String), sa.column("value", sa.String))
_audit = sa.table(
    "audit",
    sa.column("tenant", sa.String),
    sa.column("seq", sa.Integer),
    sa.column("at", sa.DateTime(timezone=True)),
    *(
        sa.column(name, sa.String)
        for name in ("actor", "action", "patient", "session", "purpose", "previous", "hash")
    ),
)
_CHAINED = ("tenant", "seq", "at", "actor", "action", "patient", "session", "purpose", "previous")
Digest = Callable[[dict[str, Any]], str]


def upgrade() -> None:
    """Apply."""
    op.create_table(
        "erasure",
        sa.Column("tenant", sa.String(), nullable=False),
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("patient", sa.String(), nullable=False),
        sa.Column("actor", sa.String(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "id", name=op.f("pk_erasure")),
    )
    _rechain(op.get_bind(), old=_plain, new=_keyed(_key(op.get_bind())))


def downgrade() -> None:
    """Take back. References of erased patients stay as they are: the ids are gone for good."""
    _rechain(op.get_bind(), old=_keyed(_key(op.get_bind())), new=_plain)
    op.get_bind().execute(sa.delete(_meta).where(_meta.c.key == "secret:patient"))
    op.drop_table("erasure")


def _key(connection: sa.Connection) -> bytes:
    query = sa.select(_meta.c.value).where(_meta.c.key == "secret:patient")
    found = connection.execute(query).scalar()
    if found is None:
        found = secrets.token_bytes(32).hex()
        connection.execute(sa.insert(_meta).values(key="secret:patient", value=found))
    return bytes.fromhex(found)


def _plain(row: dict[str, Any]) -> str:
    body = {name: row[name] for name in _CHAINED}
    body["at"] = _utc(row["at"]).isoformat()
    text = json.dumps(body, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _keyed(key: bytes) -> Digest:
    def digest(row: dict[str, Any]) -> str:
        known = {name: row[name] for name in ("patient", "session")}
        for name, ident in known.items():
            if ident is not None and not ident.startswith("erased:"):
                body = f"{row['tenant']}\0{ident}".encode("utf-8", "surrogatepass")
                known[name] = "erased:" + hmac.new(key, body, hashlib.sha256).hexdigest()[:32]
        return _plain({**row, **known})

    return digest


def _utc(at: datetime) -> datetime:
    return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)


def _rechain(connection: sa.Connection, *, old: Digest, new: Digest) -> None:
    tenants = connection.execute(sa.select(_audit.c.tenant).distinct()).scalars().all()
    for tenant in tenants:
        _rechain_one(connection, tenant, old=old, new=new)


def _rechain_one(connection: sa.Connection, tenant: str, *, old: Digest, new: Digest) -> None:
    own = sa.select(_audit).where(_audit.c.tenant == tenant).order_by(_audit.c.seq)
    before, after, whole, n = "", "", True, 0
    for found in connection.execute(own).mappings().all():
        row = dict(found)
        n += 1
        if row["seq"] != n or row["previous"] != before or row["hash"] != old(row):
            whole = False
            break
        before = row["hash"]
        row["previous"] = after
        after = new(row)
        connection.execute(
            sa.update(_audit)
            .where(_audit.c.tenant == tenant, _audit.c.seq == n)
            .values(previous=row["previous"], hash=after)
        )
    head = _meta.c.key == f"audit.head:{tenant}"
    stands = connection.execute(sa.select(_meta.c.value).where(head)).scalar()
    if whole and stands == f"{n}:{before}":
        connection.execute(sa.update(_meta).where(head).values(value=f"{n}:{after}"))
