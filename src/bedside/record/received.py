"""Resources as they were received, byte for byte as text, read or not."""

from __future__ import annotations

import zlib

from sqlalchemy import Connection, func, select

from bedside.core.access import Grant
from bedside.core.errors import AccessDenied, NotFound
from bedside.storage.tables.record import resource

__all__ = ["received", "unread"]


def received(connection: Connection, grant: Grant, key: str) -> str:
    """The JSON of one resource ("Observation/1") of the granted patient, as it came.

    Raises:
        AccessDenied: the grant names no patient.
        NotFound: the patient has no such resource.
    """
    found = connection.execute(
        select(resource.c.raw).where(
            resource.c.tenant == grant.tenant,
            resource.c.patient == _patient(grant),
            resource.c.key == key,
        )
    ).scalar()
    if found is None:
        raise NotFound("resource", key)
    return zlib.decompress(found).decode()


def unread(connection: Connection, grant: Grant) -> tuple[tuple[str, int], ...]:
    """The types that are kept of the patient and that no reader understands, with their counts.

    Raises:
        AccessDenied: the grant names no patient.
    """
    rows = connection.execute(
        select(resource.c.type, func.count())
        .where(
            resource.c.tenant == grant.tenant,
            resource.c.patient == _patient(grant),
            resource.c.known.is_(False),
        )
        .group_by(resource.c.type)
        .order_by(resource.c.type)
    )
    return tuple((row[0], row[1]) for row in rows)


def _patient(grant: Grant) -> str:
    if not grant.patient:
        raise AccessDenied("reading a patient's resources", need="a grant for that patient")
    return grant.patient
