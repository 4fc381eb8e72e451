"""What a companion's turn leaves to do: withdrawal, what is remembered, links of a person's own spaces."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from sqlalchemy import Connection

from bedside.core.clock import Clock
from bedside.core.ids import ActorId, PersonId, SessionId, TenantId
from bedside.core.turn import Change
from bedside.flows.companion import COMPANION
from bedside.flows.companion.inner import thoughts
from bedside.flows.companion.state import Pair
from bedside.flows.ledger import message_item
from bedside.flows.states import load_state, reduce_state
from bedside.memory import consent, ledger
from bedside.storage import access, conversations
from bedside.storage.jobs import Claimed
from bedside.storage.store import Store
from bedside.wiring.companion import CONSENTS, superseded, take_back

__all__ = ["cut_links", "handlers"]

Write = Callable[[Connection], None]


def handlers(
    store: Store, clock: Clock, remember: Callable[[Any], Awaitable[int]] | None
) -> dict[str, Callable[[Claimed], Awaitable[Write]]]:
    """What the companion's turns leave to do: withdrawal on both sides, and what is remembered.

    `remember` makes vectors for the person of a grant; `None` where there is no embedder.
    """

    async def withdrawn(claimed: Claimed) -> Write:
        return lambda connection: _withdraw(connection, claimed, clock)

    async def kept(claimed: Claimed) -> Write:
        if remember is not None and claimed.payload.get("given") != "off":
            person = claimed.payload.get("person", "")
            grant = await store.write(lambda c: _grant(c, claimed, person, clock))
            await remember(grant)
        return lambda connection: _keep(connection, claimed, clock)

    async def linked(claimed: Claimed) -> Write:
        return lambda connection: _relink(connection, claimed, clock)

    return {
        "companion.withdrawn": withdrawn, "companion.kept": kept, "companion.linked": linked,
    }  # fmt: skip


def _keep(connection: Connection, claimed: Claimed, clock: Clock) -> None:
    """Bring what a turn left to its person's memory; consent is given and taken back by a deed alone."""
    person = claimed.payload.get("person", "")
    grant, at = _grant(connection, claimed, person, clock), clock.now()
    state: Pair = load_state(COMPANION, connection, claimed.tenant, str(claimed.session), person)
    what = CONSENTS.get(claimed.payload.get("consent", ""))
    if what is not None and not _stands(connection, claimed, state):
        what = None  # the person decided anew meanwhile: that act has a job of its own
    if what is not None and claimed.payload.get("given") == "off":
        consent.withdraw(connection, grant, what)
    elif what is not None:
        consent.give(connection, grant, what, at=at)
    if gone := claimed.payload.get("forget"):
        ledger.forget(connection, grant, [gone, *state.mine.forgotten])
    ledger.put_facts(
        connection, grant, "session", state.mine.facts, at=at, session=str(claimed.session)
    )
    if state.mine.summary is not None:
        ledger.save_summary(connection, grant, state.mine.summary, at=at)
    if consent.consented(connection, grant, "profile"):
        ledger.consolidate(connection, grant, at=at)
    if state.mine.link:
        _reflect(connection, claimed, person, state.mine.link)


def _stands(connection: Connection, claimed: Claimed, state: Pair) -> bool:
    """Is the consent that a job records still what the person wants, here and elsewhere?"""
    given = claimed.payload.get("consent", "") in state.mine.consents
    if given != (claimed.payload.get("given") == "on"):
        return False
    return not superseded(connection, claimed.tenant, claimed.id, claimed.payload)


def _relink(connection: Connection, claimed: Claimed, clock: Clock) -> None:
    """Tell the conversations of the same person that this space belongs to them no more, or now does."""
    person, space = claimed.payload.get("person", ""), str(claimed.session)
    _grant(connection, claimed, person, clock)
    before, after = claimed.payload["from"], claimed.payload["to"]
    if before:
        _link(connection, claimed.tenant, before, person, space, on=False)
    if after:
        _link(connection, claimed.tenant, after, person, space, on=True)
        _reflect(connection, claimed, person, after)


def _link(
    connection: Connection, tenant: str, session: str, person: str, space: str, *, on: bool
) -> None:
    """Say in the person's own part of a conversation that a space of theirs belongs to it, or no more."""
    if not conversations.session_exists(connection, tenant=tenant, session_id=session):
        return
    state: Pair = load_state(COMPANION, connection, tenant, session, person)
    if person not in state.shared.people or state.mine.space:
        return
    change = Change(part="mine", path="linked", op="set", value=(space, on), by="person")
    reduce_state(COMPANION, connection, tenant, session, person, (change,))


def _reflect(connection: Connection, claimed: Claimed, person: str, to: str) -> None:
    """Bring the latest thoughts of a linked space to its person's own part of the conversation."""
    space = str(claimed.session)
    if not conversations.session_exists(connection, tenant=claimed.tenant, session_id=to):
        return
    rows = conversations.history_of(connection, claimed.tenant, space, person=person, but="")
    found = thoughts([message_item(*row) for row in rows], space=space)
    change = Change(part="mine", path="reflections", op="set", value=(space, found), by="observer")
    reduce_state(COMPANION, connection, claimed.tenant, to, person, (change,))


def cut_links(connection: Connection, tenant: str, session: str, person: str) -> None:
    """Before a person's side goes: what it gave to, or got from, spaces linked with it goes too.

    Call inside a write transaction.
    """
    state: Pair = load_state(COMPANION, connection, tenant, session, person)
    if state.mine.link:
        _link(connection, tenant, state.mine.link, person, session, on=False)
    for space in state.mine.linked:
        if conversations.session_exists(connection, tenant=tenant, session_id=space):
            change = Change(part="mine", path="link", op="set", value="", by="rule")
            reduce_state(COMPANION, connection, tenant, space, person, (change,))


def _grant(connection: Connection, claimed: Claimed, person: str, clock: Clock) -> Any:
    return access.grant(
        connection,
        tenant=TenantId(claimed.tenant),
        actor=ActorId(person),
        action="read",
        at=clock.now(),
        session=SessionId(str(claimed.session)),
        person=PersonId(person),
        purpose=claimed.kind,
    )


def _withdraw(connection: Connection, claimed: Claimed, clock: Clock) -> None:
    """Take a withdrawn text out of everything that the other person keeps, and what came of it.

    The author's own messages stay the author's. Each side's row is changed under that side's name;
    nothing of the one is loaded into a turn of the other.
    """
    tenant, session = claimed.tenant, str(claimed.session)
    author, share = claimed.payload["author"], claimed.payload["share"]
    own: Pair = load_state(COMPANION, connection, tenant, session, author)
    text = next((one.text for one in own.mine.drafts if one.id == share), "")
    if not text:
        return
    for person in own.shared.people:
        _grant(connection, claimed, person, clock)
    take_back(
        connection, tenant=tenant, session=session, author=author, share=share, text=text,
        people=own.shared.people, at=clock.now(),
    )  # fmt: skip
