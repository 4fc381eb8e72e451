"""How long a document that waits will still take, from what reading took so far."""

from __future__ import annotations

import statistics
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, func, select

from bedside.storage.tables.jobs import job
from bedside.storage.tables.uploads import upload

__all__ = ["pace", "remaining"]

_RECENT = 30
_FIRST = {0: 2.0, 1: 12.0}
"""Seconds a page before any was measured: a text PDF (0), a picture by OCR (1)."""


def pace(connection: Connection, tenant: str, *, picture: int) -> float:
    """Seconds a page: the median of the latest thirty documents of this kind.

    Args:
        connection: Where to read.
        tenant: Whose documents.
        picture: 1 for pictures that OCR reads, 0 for files with text.
    """
    rows = connection.execute(
        select(upload.c.seconds, upload.c.pages)
        .where(
            upload.c.tenant == tenant,
            upload.c.picture == picture,
            upload.c.seconds.is_not(None),
            upload.c.pages > 0,
        )
        .order_by(upload.c.created_at.desc())
        .limit(_RECENT)
    ).all()
    return statistics.median(row.seconds / row.pages for row in rows) if rows else _FIRST[picture]


def remaining(connection: Connection, row: Row[Any], *, now: datetime) -> int:
    """Seconds until this document should be read, at least 1: those before it, then itself.

    `row` is a row of `record_upload` with its job's `attempts`, `job_state` and `lease_until`.
    """
    ahead = connection.execute(
        select(upload.c.picture, func.sum(upload.c.pages))
        .join(job, (job.c.tenant == upload.c.tenant) & (job.c.id == upload.c.job))
        .where(
            upload.c.tenant == row.tenant,
            job.c.state.in_(("queued", "running")),
            (upload.c.created_at < row.created_at)
            | ((upload.c.created_at == row.created_at) & (upload.c.id < row.id)),
        )
        .group_by(upload.c.picture)
    ).all()
    seconds = pace(connection, row.tenant, picture=row.picture) * max(row.pages, 1)
    seconds += sum(pace(connection, row.tenant, picture=one[0]) * one[1] for one in ahead)
    due = connection.execute(
        select(job.c.run_after).where(job.c.tenant == row.tenant, job.c.id == row.job)
    ).scalar()
    if due is not None and due > now:  # it rests after a failure
        seconds += (due - now).total_seconds()
    return max(round(seconds), 1)
