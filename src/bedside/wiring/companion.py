"""The companion behind the engine: messages and deeds in, turns out, and what is kept afterwards.

Who writes is who is logged in: the person of a turn is always its actor, so that nobody writes, reads
or shares in another's name.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, delete, select, update

from bedside.core.access import Grant
from bedside.core.errors import AccessDenied, InvalidArgument, NotFound
from bedside.core.ids import PersonId, SessionId, TenantId
from bedside.core.turn import Change, TurnRequest
from bedside.core.value import value
from bedside.flows.companion import COMPANION
from bedside.flows.companion.deeds import DEEDS, parse_act
from bedside.flows.companion.gates import stage_of
from bedside.flows.companion.state import Pair, dump
from bedside.flows.companion.tables import tables_of
from bedside.flows.companion.wall import overlaps
from bedside.flows.states import load_state, reduce_state
from bedside.flows.trace import TurnResult
from bedside.memory import consent, erase
from bedside.storage import access, conversations
from bedside.storage.tables.jobs import job
from bedside.storage.tables.source import source as source_table
from bedside.storage.tables.turn import message, prompt_part, turn, turn_prompt
from bedside.storage.tables.turn import session as session_table
from bedside.wiring.ask import Ask, Who
from bedside.wiring.running import Event

__all__ = [
    "CONSENTS",
    "Talk",
    "checked",
    "cleared_only",
    "drop_prompts",
    "overview",
    "send",
    "sessions",
    "stream",
    "superseded",
    "take_back",
]

LONGEST_MESSAGE = 20_000
WITHDRAWN = "[withdrawn by its author]"
CONSENTS: Mapping[str, consent.What] = {"recall": "across", "profile": "profile"}
"""Consents as a person names them, and what they are on record as."""
_SHORTEST = 12
"""Characters; a shorter text may stand anywhere by chance."""
Write = Callable[[Connection], None]


@value
class Talk(Ask):
    """A message of one person's, or a deed: ("share", id) and the others of `DEEDS`.

    `space` "inner" begins a space of the person's own, `link` with the conversation that it belongs to.
    """

    act: tuple[str, str] | None = None
    person: str = ""
    side: str = ""
    space: str = ""
    link: str = ""

    def request(self, *, deadline_ms: int) -> TurnRequest:
        """The engine's request.

        Raises:
            InvalidArgument: an empty or overlong message, text that is no Unicode, or no such deed.
        """
        if self.act is not None and self.act[0] not in DEEDS:
            raise InvalidArgument("act", found=self.act[0][:40], want="one of " + ", ".join(DEEDS))
        if self.act is not None and len(self.act[1]) > LONGEST_MESSAGE:
            raise InvalidArgument("act", found="too long", want=f"{LONGEST_MESSAGE:,} characters")
        if len(self.question) > LONGEST_MESSAGE:
            raise InvalidArgument(
                "text",
                found=f"{len(self.question):,} characters",
                want=f"at most {LONGEST_MESSAGE:,} characters; send it in parts",
            )
        from dataclasses import replace

        said = f"[{self.act[0]}]" if self.act is not None else self.question
        made = Ask.request(replace(self, question=said), deadline_ms=deadline_ms)
        if self.space not in {"", "inner"}:
            raise InvalidArgument("space", found=self.space[:40], want="inner, or none")
        given = (("side", self.side), ("space", self.space), ("link", self.link))
        options = (*made.options, *(one for one in given if one[1]))
        return replace(made, act=self.act, person=PersonId(self.person), options=options)


def enabled(engine: Any) -> None:
    """Raises: AccessDenied where the deployer has not switched the companion on."""
    if not engine.settings.companion:
        raise AccessDenied("the companion", need="BEDSIDE_COMPANION=true, set by the deployer")


def talk(
    who: Who,
    *,
    text: str = "",
    act: tuple[str, str] | None = None,
    session: str | None = None,
    key: str | None = None,
    model: str | None = None,
    call: bool = True,
    side: str = "",
    space: str = "",
    link: str = "",
) -> Talk:
    """A message or a deed of the one who is logged in."""
    return Talk(
        question=text, act=act, person=str(who.actor), session=session, key=key, model=model,
        call=call, flow="companion", side=side, space=space, link=link,
    )  # fmt: skip


async def send(engine: Any, given: Talk, who: Who) -> dict[str, Any]:
    """One turn, finished."""
    await checked(engine, given, who)
    return dict(await engine.asker.ask(given, who))


async def checked(engine: Any, given: Talk, who: Who) -> None:
    """Look whether the conversation that a space is linked to is one of the caller's own.

    Raises:
        NotFound: there is no such conversation, or the caller takes no part in it.
        InvalidArgument: it is a space of one's own itself.
    """
    name, body = given.act or ("", "")
    to = str(parse_act(body).get("id", "")) if name == "link" else given.link if given.space else ""
    if not to:
        if name == "link":
            raise InvalidArgument("link", found="", want="the id of a conversation of yours")
        return

    def look(connection: Connection) -> Pair:
        if not conversations.session_exists(connection, tenant=who.tenant, session_id=to):
            raise NotFound("session", to)
        found: Pair = load_state(COMPANION, connection, who.tenant, to, str(who.actor))
        return found

    state: Pair = await engine.store.read(look)
    if str(who.actor) not in state.shared.people:
        raise NotFound("session", to)
    if state.mine.space:
        raise InvalidArgument(
            "link", found="a space of your own", want="a conversation with somebody"
        )


def stream(engine: Any, given: Talk, who: Who) -> AsyncIterator[Event | TurnResult]:
    """One turn as it comes."""
    found: AsyncIterator[Event | TurnResult] = engine.asker.stream(given, who)
    return found


def cleared_only(shared: dict[str, Any]) -> dict[str, Any]:
    """The shared part as either may see it: a gap stays out until both people have cleared it."""
    people = set(shared.get("people", ()))
    gaps = [one for one in shared.get("gaps", ()) if people and set(one["cleared"]) >= people]
    return {**shared, "gaps": gaps}


async def overview(engine: Any, who: Who, session: str) -> dict[str, Any]:
    """What the caller may see of a conversation: the shared part, their own, never the other's.

    Raises:
        NotFound: there is no such conversation, or the caller takes no part in it.
    """
    data = await engine.turning.hot.of(who.tenant)

    def look(connection: Connection) -> dict[str, Any]:
        if not conversations.session_exists(connection, tenant=who.tenant, session_id=session):
            raise NotFound("session", session)
        state: Pair = load_state(COMPANION, connection, who.tenant, session, str(who.actor))
        if COMPANION.admits is None or not COMPANION.admits(state, str(who.actor)):
            raise NotFound("session", session)
        stage = stage_of(state, tables_of(data))
        tree = dump(state)
        history = conversations.history_of(
            connection, who.tenant, session, person=str(who.actor), but=""
        )
        mine = tree["mine"]
        grant = access.grant(
            connection, tenant=who.tenant, actor=who.actor, action="read", at=engine.clock.now(),
            session=SessionId(session), person=PersonId(str(who.actor)), purpose="companion",
        )  # fmt: skip
        given = _consented(connection, grant)
        opened.append(grant)
        return {
            "session_id": session,
            "space": mine["space"] or "conversation",
            "link": mine["link"] or None,
            "linked": mine["linked"],
            "person": str(who.actor),
            "stage": stage.id,
            "stage_name": stage.name,
            "shared": cleared_only(tree["shared"]),
            "drafts": mine["drafts"],
            "facts": mine["facts"],
            "summary": mine["summary"],
            "consents": given,
            "preferences": list(state.mine.preferences),
            "kept": mine["kept"],
            "people": mine["people"],
            "reflections": mine["reflections"],
            "halted": mine["halted"] or None,
            "messages": [{"role": role, "text": text, "id": key} for role, text, key in history],
        }

    opened: list[Grant] = []
    found: dict[str, Any] = await engine.store.write(look)
    engine.turning.warm_memory(opened[-1])
    return found


def _consented(connection: Connection, grant: Grant) -> list[str]:
    """The consents of the person as they stand, those of acts that are still being recorded too."""
    found = consent.consents(connection, grant)
    given = {name: kept in found for name, kept in CONSENTS.items()}
    rows = connection.execute(
        select(job.c.id, job.c.payload)
        .where(job.c.tenant == grant.tenant, job.c.kind == "companion.kept")
        .where(job.c.state.in_(("queued", "running")))
        .order_by(job.c.created_at)
    ).all()
    for ident, payload in ((row.id, json.loads(row.payload)) for row in rows):
        if payload.get("person") != str(grant.person) or payload.get("consent") not in given:
            continue
        if not superseded(connection, grant.tenant, ident, payload):
            given[payload["consent"]] = payload.get("given") == "on"
    return [name for name, on in given.items() if on]


def superseded(connection: Connection, tenant: str, ident: str, payload: Mapping[str, str]) -> bool:
    """Did the person give or take back the same consent after the act that job `ident` records?

    In any of their conversations. Of two acts of the same moment, taking back counts as the later.
    """
    when = select(job.c.created_at).where(job.c.tenant == tenant, job.c.id == ident)
    rows = connection.execute(
        select(job.c.payload, job.c.created_at > when.scalar_subquery())
        .where(job.c.tenant == tenant, job.c.kind == "companion.kept", job.c.id != ident)
        .where(job.c.created_at >= when.scalar_subquery())
        .where(job.c.payload.contains('"consent"'))
    ).all()
    for body, later in rows:
        other = json.loads(body)
        same = all(other.get(name) == payload.get(name) for name in ("person", "consent"))
        if same and (later or other.get("given") == "off"):
            return True
    return False


async def sessions(engine: Any, who: Who) -> list[dict[str, Any]]:
    """The conversations in which the caller takes part, newest first."""

    def look(connection: Connection) -> list[dict[str, Any]]:
        rows = connection.execute(
            select(session_table.c.id, session_table.c.created_at)
            .where(session_table.c.tenant == who.tenant, session_table.c.flow == COMPANION.name)
            .order_by(session_table.c.created_at.desc())
            .limit(500)
        ).all()
        found: list[dict[str, Any]] = []
        for row in rows:
            state: Pair = load_state(COMPANION, connection, who.tenant, row.id, str(who.actor))
            shared = state.shared
            if str(who.actor) in (*shared.people, *shared.invited):
                found.append(
                    {
                        "session_id": row.id,
                        "at": row.created_at.isoformat(),
                        "people": list(shared.people),
                        "invited": list(shared.invited),
                        "space": state.mine.space or "conversation",
                        "link": state.mine.link or None,
                    }
                )
        return found

    found: list[dict[str, Any]] = await engine.store.read(look)
    return found


# ---- taking back


def take_back(
    connection: Connection,
    *,
    tenant: str,
    session: str,
    author: str,
    share: str,
    text: str,
    people: Sequence[str],
    at: datetime,
) -> None:
    """Take a text that `author` gave out from `people`'s private parts and the other's rows.

    Call inside a write transaction, with an audit entry for each of `people`; safe to repeat.
    """
    linked: list[str] = []
    for person in people:
        change = Change(part="mine", path="purge", op="remove", value=text, by="observer")
        state: Pair = load_state(COMPANION, connection, tenant, session, person)
        spaces = [
            one
            for one in state.mine.linked
            if conversations.session_exists(connection, tenant=tenant, session_id=one)
        ]
        linked += spaces
        for one in (session, *spaces):
            reduce_state(COMPANION, connection, tenant, one, person, (change,))
    own = _drafts_by_rule(connection, tenant, session, author)
    touched: set[str] = set()
    for one in (session, *linked):
        touched |= _scrub_messages(connection, tenant, one, author, text, own)
        _scrub_turns(connection, tenant, one, author, text, share, own)
    erase.purge(
        connection, tenant=TenantId(tenant), session=session, sources=sorted(touched),
        texts=(text,), at=at,
    )  # fmt: skip


def _drafts_by_rule(
    connection: Connection, tenant: str, session: str, author: str
) -> tuple[str, ...]:
    """Drafts of the other's that no model wrote, in every form that the other's turns showed.

    Rules make a draft of its author's words and a template that both people's drafts share, so its
    words are never taken for the withdrawn text's. A model may have had that text before it.
    """
    rows = connection.execute(
        select(turn.c.result)
        .where(turn.c.tenant == tenant, turn.c.session == session)
        .where(turn.c.actor != author, turn.c.flow == COMPANION.name)
        .order_by(turn.c.started_at)
    ).scalars()
    by_rule: dict[str, bool] = {}
    found: list[str] = []
    for tree in (json.loads(body) for body in rows if body):
        draft = tree.get("draft")
        if not draft:
            continue
        if by_rule.setdefault(draft["id"], draft.get("by") in {"rules", "person"}):
            found.append(draft["text"])
    return tuple(dict.fromkeys(found))


def _scrub_messages(
    connection: Connection,
    tenant: str,
    session: str,
    author: str,
    text: str,
    own: Sequence[str],
) -> set[str]:
    """The guide's messages to the other that hold the text, or five words of it in a row.

    Words that the other's `own` drafts have too are no sign of it.
    """
    rows = connection.execute(
        select(message.c.source, source_table.c.text)
        .join(
            source_table,
            (source_table.c.tenant == message.c.tenant) & (source_table.c.id == message.c.source),
        )
        .where(message.c.tenant == tenant, message.c.session == session)
        .where(message.c.person != author, message.c.role == "assistant")
    ).all()
    touched: set[str] = set()
    for row in rows:
        clean = _cut(row.text, text)
        if overlaps(clean.replace(WITHDRAWN, ""), (text,), given=own):
            clean = WITHDRAWN
        if clean == row.text:
            continue
        touched.add(row.source)
        digest = hashlib.sha256(clean.encode()).hexdigest()
        connection.execute(
            update(source_table)
            .where(source_table.c.tenant == tenant, source_table.c.id == row.source)
            .values(text=clean, sha256=digest)
        )
    return touched


def _scrub_turns(
    connection: Connection,
    tenant: str,
    session: str,
    author: str,
    text: str,
    share: str,
    own: Sequence[str],
) -> None:
    """Results, traces and prompts of the other's turns in which the text stands."""
    rows = connection.execute(
        select(turn.c.id, turn.c.result, turn.c.trace).where(
            turn.c.tenant == tenant, turn.c.session == session, turn.c.actor != author
        )
    ).all()
    for row in rows:
        for column, body in ((turn.c.result, row.result), (turn.c.trace, row.trace)):
            tree = json.loads(body) if body else None
            clean = _without(tree, text, own)
            if clean != tree:
                connection.execute(
                    update(turn)
                    .where(turn.c.tenant == tenant, turn.c.id == row.id)
                    .values({column.name: json.dumps(clean, ensure_ascii=False)})
                )
        drop_prompts(
            connection, tenant, row.id,
            lambda body: share in body
            or (len(text) >= _SHORTEST and text in body)
            or overlaps(body, (text,), given=own),
        )  # fmt: skip


def _cut(within: str, text: str) -> str:
    """Without the text; a very short one only where it stands as a paragraph of its own."""
    if len(text) >= _SHORTEST:
        return within.replace(text, WITHDRAWN)
    return within.replace(f"\n\n{text}\n\n", f"\n\n{WITHDRAWN}\n\n")


def _without(tree: Any, text: str, own: Sequence[str]) -> Any:
    if isinstance(tree, str):
        clean = _cut(tree, text)
        held = overlaps(clean.replace(WITHDRAWN, ""), (text,), given=own)
        return WITHDRAWN if held else clean
    if isinstance(tree, list):
        return [_without(one, text, own) for one in tree]
    if isinstance(tree, dict):
        return {key: _without(one, text, own) for key, one in tree.items()}
    return tree


def drop_prompts(
    connection: Connection, tenant: str, turn_id: str, holds: Callable[[str], bool]
) -> int:
    """Keep no part of a turn's prompt that `holds` what must go; how many went.

    The turn can then not be rebuilt. Call inside a write transaction.
    """
    parts = connection.execute(
        select(prompt_part.c.sha256, prompt_part.c.body)
        .join(
            turn_prompt,
            (turn_prompt.c.tenant == prompt_part.c.tenant)
            & (turn_prompt.c.sha256 == prompt_part.c.sha256),
        )
        .where(turn_prompt.c.tenant == tenant, turn_prompt.c.turn == turn_id)
        .where(prompt_part.c.patient == "")
    ).all()
    gone = list(dict.fromkeys(part.sha256 for part in parts if holds(part.body)))
    for digest in gone:
        connection.execute(
            delete(turn_prompt).where(
                turn_prompt.c.tenant == tenant,
                turn_prompt.c.turn == turn_id,
                turn_prompt.c.sha256 == digest,
            )
        )
        kept = connection.execute(
            select(turn_prompt.c.turn).where(
                turn_prompt.c.tenant == tenant, turn_prompt.c.sha256 == digest
            )
        ).first()
        if kept is not None:
            continue  # other turns were sent the same part: theirs stays
        connection.execute(
            delete(prompt_part).where(
                prompt_part.c.tenant == tenant,
                prompt_part.c.patient == "",
                prompt_part.c.sha256 == digest,
            )
        )
    return len(gone)
