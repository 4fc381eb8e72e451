"""A flow's state in its rows: one that all share, and one per person where it has a private part."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, is_dataclass
from typing import Any, TypeVar

from sqlalchemy import Connection

from bedside.core.turn import Change
from bedside.flows.flow import Flow
from bedside.storage import conversations

__all__ = ["load_state", "reduce_state"]

S = TypeVar("S")
SHARED = ""
"""The person of the row that all share."""


def load_state(flow: Flow[S], connection: Connection, tenant: str, session: str, person: str) -> S:
    """The state as `person` may see it. Another person's private row is not read."""

    def row(of: str) -> Any:
        body = conversations.load_state(connection, tenant=tenant, session_id=session, person=of)
        return None if body is None else json.loads(body)

    if flow.private:
        if flow.load is None:
            raise TypeError(f"flow {flow.name!r} has a private part and no load")
        return flow.load({"shared": row(SHARED), "mine": row(person) if person else None})
    tree = row(person)
    if tree is None:
        return flow.initial()
    return flow.load(tree) if flow.load else tree


def reduce_state(
    flow: Flow[S],
    connection: Connection,
    tenant: str,
    session: str,
    person: str,
    changes: Sequence[Change],
) -> None:
    """Apply changes to the state as it is now; call inside the transaction that commits them."""
    state = load_state(flow, connection, tenant, session, person)
    for change in changes:
        state = flow.reduce(state, change)
    tree: Any = flow.dump(state) if flow.dump else state
    rows = {SHARED: tree["shared"], person: tree["mine"]} if flow.private else {person: tree}
    for of, part in rows.items():
        if flow.private and of == SHARED and not person and part is None:
            continue
        conversations.save_state(
            connection, tenant=tenant, session_id=session, person=of, body=_json(part)
        )


def _json(tree: Any) -> str:
    if is_dataclass(tree) and not isinstance(tree, type):
        tree = asdict(tree)
    return json.dumps(tree, sort_keys=True, ensure_ascii=False, default=str)
