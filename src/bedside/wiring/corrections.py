"""What providers' usage teaches about our token counts, kept per model (EN-C8)."""

from __future__ import annotations

import json

from sqlalchemy import Connection, insert, select, update

from bedside.context import Correction
from bedside.storage.tables.jobs import meta

__all__ = ["correction_of", "learn"]


def _key(model: str) -> str:
    return f"correction:{model}"


def correction_of(connection: Connection, model: str, *, prior: float) -> Correction:
    """What is known of a model ("provider:model"); its profile's `prior` before any usage."""
    found = connection.execute(select(meta.c.value).where(meta.c.key == _key(model))).scalar()
    if found is None:
        return Correction(factor=prior, samples=0)
    read = json.loads(found)
    return Correction(factor=read["factor"], samples=read["samples"])


def learn(
    connection: Connection, model: str, *, prior: float, counted: int, reported: int | None
) -> Correction:
    """Take one usage report: our raw count of a call's input, and what the provider reported."""
    before = correction_of(connection, model, prior=prior)
    after = before.learn(counted=counted, reported=reported)
    if after == before:
        return before
    value = json.dumps({"factor": after.factor, "samples": after.samples})
    changed = connection.execute(update(meta).where(meta.c.key == _key(model)).values(value=value))
    if changed.rowcount == 0:
        connection.execute(insert(meta).values(key=_key(model), value=value))
    return after
