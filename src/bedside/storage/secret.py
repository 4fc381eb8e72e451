"""Random secrets that belong to one store, made once, and the keyed hash that stands for a patient."""

from __future__ import annotations

import hashlib
import hmac
import secrets

from sqlalchemy import Connection, bindparam, insert, select

from bedside.storage.store import Store
from bedside.storage.tables.jobs import meta

__all__ = ["ERASED", "kept_secret", "reference", "secret", "stored_secret"]

ERASED = "erased:"
"""What a reference begins with, so that nobody takes it for a patient's id."""
_BYTES = 32
_STORED = select(meta.c.value).where(meta.c.key == bindparam("named"))


def secret(connection: Connection, name: str) -> bytes:
    """The store's secret of this name, 32 random bytes; made at its first use.

    Call inside a write transaction: two processes that ask at once get the same one.
    """
    found = stored_secret(connection, name)
    if found is None:
        found = secrets.token_bytes(_BYTES)
        connection.execute(insert(meta).values(key=f"secret:{name}", value=found.hex()))
    return found


def stored_secret(connection: Connection, name: str) -> bytes | None:
    """The secret as it stands, `None` where it was never made."""
    found = connection.execute(_STORED, {"named": f"secret:{name}"}).scalar()
    return None if found is None else bytes.fromhex(found)


def kept_secret(store: Store, name: str) -> bytes:
    """The secret of this name, made and kept at its first use. Writes only then.

    Raises:
        Unavailable: the store does not answer, or may not be written and has no such secret yet.
    """
    found = store.read_now(lambda c: stored_secret(c, name))
    return found or store.write_now(lambda c: secret(c, name))


def reference(key: bytes, tenant: str, ident: str) -> str:
    """What stands for a patient or session where the id may not: the same for the same id.

    A reference refers to itself, so that a trail in which ids have been replaced still verifies.
    """
    if ident.startswith(ERASED):
        return ident
    body = f"{tenant}\0{ident}".encode("utf-8", "surrogatepass")
    return ERASED + hmac.new(key, body, hashlib.sha256).hexdigest()[:32]
