"""Random secrets that belong to one store, made once, and the keyed hash that stands for a patient."""

from __future__ import annotations

import hashlib
import hmac
import secrets

from sqlalchemy import Connection, insert, select

from bedside.storage.tables.jobs import meta

__all__ = ["ERASED", "reference", "secret", "stored_secret"]

ERASED = "erased:"
"""What a reference begins with, so that nobody takes it for a patient's id."""
_BYTES = 32


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
    found = connection.execute(select(meta.c.value).where(meta.c.key == f"secret:{name}")).scalar()
    return None if found is None else bytes.fromhex(found)


def reference(key: bytes, tenant: str, patient: str) -> str:
    """What stands for a patient where the id may not: the same for the same id, of no use without it.

    A reference refers to itself, so that a trail in which ids have been replaced still verifies.
    """
    if patient.startswith(ERASED):
        return patient
    body = f"{tenant}\0{patient}".encode("utf-8", "surrogatepass")
    return ERASED + hmac.new(key, body, hashlib.sha256).hexdigest()[:32]
