"""What an erased side left in the same person's other conversations: prompts, traces and answers.

Thoughts of a linked space, and what is recalled of an earlier conversation, stand in the prompts of the
conversation that they were shown in. They go with the side that they come from.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Iterable
from typing import Any

from sqlalchemy import Connection, delete, select, update

from bedside.flows.companion import COMPANION
from bedside.flows.companion.state import Pair
from bedside.flows.companion.wall import RUN, runs
from bedside.flows.states import load_state
from bedside.storage import persons, residue
from bedside.storage.tables.memory import memory_message
from bedside.storage.tables.source import source
from bedside.storage.tables.turn import message, turn
from bedside.storage.tables.turn import session as session_table
from bedside.wiring.companion import drop_prompts

__all__ = ["ERASED", "scrub_elsewhere"]

ERASED = "[erased by its author]"
Holds = Callable[[str], bool]


def scrub_elsewhere(
    connection: Connection, tenant: str, person: str, sessions: Collection[str]
) -> int:
    """Take the person's words of `sessions` out of what their turns elsewhere keep; of how many turns.

    What the person also wrote where it stays is left there. A turn that runs now in a conversation linked
    with one of `sessions` can no longer commit: it may have read what goes. Call inside a write
    transaction, before the rows of `sessions` go.
    """
    every = persons.sessions_of(connection, tenant=tenant, person=person, flow=COMPANION.name)
    staying = [one for one in every if one not in sessions]
    if not staying:
        return 0
    _stop_linked(connection, tenant, person, sessions)
    gone = persons.words(connection, tenant=tenant, person=person, sessions=sessions)
    kept = persons.words(connection, tenant=tenant, person=person, sessions=staying)
    holds = _holding(gone, kept)
    _scrub_answers(connection, tenant, person, staying, holds)
    rows = connection.execute(
        select(turn.c.id, turn.c.result, turn.c.trace).where(
            turn.c.tenant == tenant, turn.c.session.in_(staying), turn.c.actor == person
        )
    ).all()
    touched = 0
    for row in rows:
        changed = drop_prompts(connection, tenant, row.id, holds)
        for column, body in ((turn.c.result, row.result), (turn.c.trace, row.trace)):
            tree = json.loads(body) if body else None
            clean = _without(tree, holds)
            if clean != tree:
                changed += 1
                connection.execute(
                    update(turn)
                    .where(turn.c.tenant == tenant, turn.c.id == row.id)
                    .values({column.name: json.dumps(clean, ensure_ascii=False)})
                )
        touched += changed > 0
    return touched


def _stop_linked(
    connection: Connection, tenant: str, person: str, sessions: Collection[str]
) -> None:
    linked: set[str] = set()
    for one in sessions:
        state: Pair = load_state(COMPANION, connection, tenant, one, person)
        linked |= {state.mine.link, *state.mine.linked} - {"", *sessions}
    connection.execute(
        update(session_table)
        .where(session_table.c.tenant == tenant, session_table.c.id.in_(sorted(linked)))
        .values(
            fence=session_table.c.fence + 1, lease_turn=None, lease_owner=None, lease_until=None
        )
    )


def _holding(gone: Iterable[str], kept: Iterable[str]) -> Holds:
    """Does a text hold words that go, and that stand nowhere in what stays?

    Five words in a row are somebody's own; of a shorter text, all of it where it is no common one.
    """
    texts, stays = tuple(gone), tuple(kept)
    there = "\0".join(stays).encode("utf-8", "surrogatepass")
    needles = residue.Needles(
        needle
        for part in (residue.of_texts(texts),)
        for group in (*part.long.values(), part.short)
        for needle in group
        if needle not in there
    )
    own: set[tuple[str, ...]] = set()
    for one in texts:
        own |= {run for run in runs(one) if len(run) == RUN}
    for one in stays:
        own -= runs(one)

    def holds(text: str) -> bool:
        if not own.isdisjoint(runs(text)):
            return True
        return next(needles.find(text.encode("utf-8", "surrogatepass")), None) is not None

    return holds


def _scrub_answers(
    connection: Connection, tenant: str, person: str, sessions: Collection[str], holds: Holds
) -> None:
    """The guide's answers to the person that hold such words, and the vectors made of them."""
    rows = connection.execute(
        select(message.c.source, source.c.text)
        .join(source, (source.c.tenant == message.c.tenant) & (source.c.id == message.c.source))
        .where(message.c.tenant == tenant, message.c.session.in_(sessions))
        .where(message.c.person == person, message.c.role == "assistant")
    ).all()
    for row in rows:
        if not holds(row.text):
            continue
        connection.execute(
            update(source)
            .where(source.c.tenant == tenant, source.c.id == row.source)
            .values(text=ERASED, sha256=hashlib.sha256(ERASED.encode()).hexdigest())
        )
        connection.execute(
            delete(memory_message).where(
                memory_message.c.tenant == tenant, memory_message.c.source == row.source
            )
        )


def _without(tree: Any, holds: Holds) -> Any:
    if isinstance(tree, str):
        return ERASED if holds(tree) else tree
    if isinstance(tree, list):
        return [_without(one, holds) for one in tree]
    if isinstance(tree, dict):
        return {key: _without(one, holds) for key, one in tree.items()}
    return tree
