"""Erasing one person's side of companion conversations, and what is left of their words looked for."""

from __future__ import annotations

import asyncio
import json
import uuid
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, select

from bedside.core.errors import AccessDenied, NotFound
from bedside.core.ids import PatientId, SessionId
from bedside.core.turn import Change
from bedside.flows.companion import COMPANION
from bedside.flows.companion.state import Pair
from bedside.flows.states import load_state, reduce_state
from bedside.memory.erase import erase_person
from bedside.storage import access, ledger, persons, residue
from bedside.storage.ledger import reconcile
from bedside.storage.scrub import database_file, scrub
from bedside.storage.tables.source import source
from bedside.storage.tables.turn import message, state, turn
from bedside.wiring.ask import Who
from bedside.wiring.companion import take_back
from bedside.wiring.companion_after import cut_links
from bedside.wiring.companion_elsewhere import scrub_elsewhere

if TYPE_CHECKING:
    from bedside.wiring.engine import Engine

__all__ = ["erase_side"]


async def erase_side(
    engine: Engine, person: str, who: Who, *, session: str | None = None
) -> dict[str, Any]:
    """Remove a person's side of one conversation, or of all of theirs, and prove it.

    Their private part, messages with their sources, turns with traces, citations and prompts, jobs and
    what is remembered go; what they shared goes as by withdrawal, from the other's side too. What is
    the other's own stays. All of it in one transaction with a tombstone and an audit entry, which keeps
    that this login acted and nothing of what was said. Then every file of the home is searched for
    the person's words.

    Returns:
        A receipt: `removed` counts rows by table, `taken_back` texts that were taken from others,
        `residual_bytes` what was found of the words and `residual` where; `said_by_others` counts strings
        that other people wrote themselves in the same words, which stay.

    Raises:
        AccessDenied: the caller is neither this person nor an administrator.
        NotFound: the person takes part in no such conversation, and no such side was erased.
        Unavailable: the store or the disk fails; before the receipt nothing is promised.
    """
    bound = who.patients is not None
    if who.actor != person and (bound or "admin" not in who.roles):
        raise AccessDenied("erasing this side", need="that person's login, or an administrator's")
    return await asyncio.to_thread(_erase, engine, person, who, session)


def _erase(engine: Engine, person: str, who: Who, session: str | None) -> dict[str, Any]:
    def work(connection: Connection) -> tuple[residue.Needles, dict[str, int], list[str], int]:
        found = persons.sessions_of(
            connection, tenant=who.tenant, person=person, flow=COMPANION.name, only=session
        )
        if not found:
            if not persons.has_side_erased(
                connection, tenant=who.tenant, person=person, only=session
            ):
                raise NotFound("session" if session else "person", session or person)
            return residue.of_texts(()), {}, [], 0
        own = persons.words(connection, tenant=who.tenant, person=person, sessions=found)
        taken = sum(_take_back(connection, engine, person, who, one) for one in found)
        removed = _remove(connection, person, who, found, only=session)
        persons.bury_side(
            connection, tenant=who.tenant, person=person, only=session, actor=who.actor,
            ident=uuid.uuid4().hex, at=engine.clock.now(),
        )  # fmt: skip
        return residue.of_texts(own), removed, found, taken

    needles, removed, found, taken = engine.store.write_now(work)
    home = engine.settings.home
    if home.is_dir():
        reconcile(engine.store, home / ledger.NAME, now=engine.clock.now())
    files = residue.files_of(home, database_file(engine.store))
    left, same = _verify(engine, needles)
    return {
        "person": person,
        "sessions": found,
        "removed": removed,
        "taken_back": taken,
        "residual_bytes": sum(item["bytes"] for item in left),
        "residual": left,
        "said_by_others": same,
        "searched": {"strings": len(needles), "files": len(files)},
        "verified_at": engine.clock.now().isoformat(),
    }


def _take_back(connection: Connection, engine: Engine, person: str, who: Who, session: str) -> int:
    """Withdraw what the person gave out there; how many texts were taken from the other's side."""
    mine: Pair = load_state(COMPANION, connection, who.tenant, session, person)
    others = tuple(one for one in mine.shared.people if one != person)
    if others:
        access.note(
            connection, tenant=who.tenant, actor=who.actor, action="erase",
            at=engine.clock.now(), session=SessionId(session), purpose="companion.withdrawn",
        )  # fmt: skip
    out = {one.id: one.text for one in mine.mine.drafts if one.state in {"shared", "withdrawn"}}
    texts = {(one, text) for one, text in out.items() if text}
    texts |= {(one.id, one.text) for one in mine.shared.shares if one.author == person and one.text}
    for share, text in sorted(texts):
        take_back(
            connection, tenant=who.tenant, session=session, author=person, share=share, text=text,
            people=others, at=engine.clock.now(),
        )  # fmt: skip
    return len(texts)


def _remove(
    connection: Connection, person: str, who: Who, sessions: Sequence[str], *, only: str | None
) -> dict[str, int]:
    removed: dict[str, int] = {}
    staying: dict[str, str] = {}
    scrub_elsewhere(connection, who.tenant, person, sessions)
    for one in sessions:
        cut_links(connection, who.tenant, one, person)
    for one in sessions:
        shared = load_state(COMPANION, connection, who.tenant, one, person).shared
        other = next((name for name in shared.people if name != person), None)
        if other is not None:
            staying[one] = other
            gone = Change(part="shared", path="leave", op="remove", value=person, by="rule")
            reduce_state(COMPANION, connection, who.tenant, one, other, (gone,))
    _add(removed, erase_person(
        connection, tenant=who.tenant, person=person, patient=PatientId(""), session=only
    ))  # fmt: skip
    _add(removed, persons.remove_side(
        connection, tenant=who.tenant, person=person, sessions=sessions, heirs=staying
    ))  # fmt: skip
    left = [one for one in sessions if one not in staying]
    for one in left:
        _add(removed, persons.remove_session(connection, tenant=who.tenant, session_id=one))
    if left:
        access.redact(connection, tenant=who.tenant, patient=person, sessions=left)
    return removed


def _add(total: dict[str, int], more: dict[str, int]) -> None:
    for name, count in more.items():
        total[name] = total.get(name, 0) + count


def _verify(engine: Engine, needles: residue.Needles) -> tuple[list[dict[str, Any]], int]:
    """(what is left, by place; strings that stand in other people's own words as well)."""

    def look(connection: Connection) -> tuple[list[residue.Hit], set[bytes]]:
        rows = residue.in_rows(connection, needles)
        return rows, _of_others(connection, {hit.needle for hit in rows})

    rows, same = engine.store.read_now(look)
    home = engine.settings.home
    left = [hit for hit in rows if hit.needle not in same]
    for rebuild in (False, True) if engine.store.is_sqlite else (False,):
        scrub(engine.store, rebuild=rebuild)
        files = residue.files_of(home, database_file(engine.store))
        found = [hit for hit in residue.in_files(needles, files) if hit.needle not in same]
        if engine.store.is_sqlite:
            left = found
        else:
            left += found
        if not left:
            break
    places = sorted(residue.sizes(left).items())
    named = [{"place": place.removeprefix(f"{home}/"), "bytes": n} for place, n in places]
    return named, len(same)


def _of_others(connection: Connection, needles: Collection[bytes]) -> set[bytes]:
    """Those that other people wrote themselves, or that the person wrote where it stays."""
    if not needles:
        return set()
    query = (
        select(source.c.text)
        .join(message, (message.c.tenant == source.c.tenant) & (message.c.source == source.c.id))
        .where(message.c.role == "user")
    )
    texts = list(connection.execute(query).scalars())
    bodies = connection.execute(select(state.c.body).where(state.c.person != "")).scalars()
    for body in bodies:
        texts += [str(one.get("text", "")) for one in json.loads(body).get("drafts") or ()]
    texts += _drafted(connection)
    whole = "\0".join(texts).encode("utf-8", "surrogatepass")
    return {needle for needle in needles if needle in whole}


def _drafted(connection: Connection) -> list[str]:
    """Earlier forms of others' drafts, as their own turns showed them."""
    found: list[str] = []
    query = select(turn.c.result).where(turn.c.flow == COMPANION.name)
    for body in connection.execute(query).scalars():
        draft = json.loads(body).get("draft") if body else None
        if isinstance(draft, dict):
            found.append(str(draft.get("text", "")))
    return found
