"""Taking back reaches both sides of a share, every table, and no neighbour."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest
from sqlalchemy import select

from bedside.core.ids import TenantId
from bedside.memory import consent, ledger
from bedside.memory.erase import erase_person, purge, repeats
from bedside.memory.facts import Diff, Upsert
from bedside.memory.needs import RecallNeed
from bedside.memory.recall import Memory
from bedside.memory.summaries import Summary
from bedside.storage.erasure import remove_rows
from bedside.storage.store import Store
from bedside.storage.tables import metadata

T = TenantId("t")
SHARED = "I felt alone in the hospital corridor when you walked away from me"
MEMORY = [table for table in metadata.sorted_tables if table.name.startswith("memory_")]


def rows(store: Store) -> dict[str, list[Any]]:
    return {t.name: store.read_now(lambda c, t=t: c.execute(select(t)).all()) for t in MEMORY}


def remember(
    room: Memory, store: Store, talks: Any, person: str, quote: str, at: datetime, **of: Any
) -> None:
    grant = talks.grant(person, session=of.get("session", "s"), patient=of.get("patient"))
    diff = Diff(upsert=(Upsert(category="Emotional", text=quote, quote=quote),))
    facts, refused = store.write_now(lambda c: ledger.learn(c, grant, diff, at=at))
    assert facts
    assert refused == ()
    store.write_now(lambda c: ledger.save_summary(c, grant, Summary(narrative=quote), at=at))
    store.write_now(lambda c: consent.give(c, grant, "across", at=at))
    store.write_now(lambda c: consent.give(c, grant, "profile", at=at))
    store.write_now(lambda c: ledger.consolidate(c, grant, at=at))
    room.catch_up_now(grant)


@pytest.mark.requirement("CM-12")
def test_a_withdrawn_share_takes_what_was_learned_from_it_on_both_sides(
    room: Memory, store: Store, talks: Any, at: datetime
) -> None:
    ids = talks.say("s", [
        ("ana", "user", f"{SHARED}."),
        ("ben", "assistant", f"Ana wants you to know: {SHARED}."),
        ("ben", "user", f"She says: {SHARED}. I never knew. I sleep badly since spring."),
    ])  # fmt: skip
    remember(room, store, talks, "ana", SHARED, at)
    remember(room, store, talks, "ben", SHARED, at)
    quiet = Diff(upsert=(Upsert(category="History", text="Sleeps badly since spring",
                                quote="I sleep badly since spring"),))  # fmt: skip
    ben = talks.grant("ben", session="s")
    store.write_now(lambda c: ledger.learn(c, ben, quiet, at=at))
    talks.say("later", [("ben", "user", f"I still hear it: {SHARED}, every night.")])
    remember(room, store, talks, "ben", SHARED, at, session="later")
    talks.say("other", [("cleo", "user", "I felt alone in the mountains when it rained.")])
    remember(room, store, talks, "cleo", "I felt alone in the mountains", at, session="other")
    before = rows(store)
    removed = store.write_now(
        lambda c: purge(c, tenant=T, session="s", sources=[ids[0]], texts=[SHARED], at=at)
    )
    # one of Ana's and two of Ben's in the conversation, one of Ben's in the later one, and a profile
    # entry of each: how Ben sleeps was said in the same breath, and goes too
    assert removed == {
        "memory_fact": 6, "memory_summary": 3, "memory_session": 3, "memory_message": 4,
        "memory_hidden": 4,
    }  # fmt: skip
    after = rows(store)
    assert "corridor" not in repr(after)
    for name, kept in after.items():
        mine = [row for row in before[name] if "cleo" in row]
        assert [row for row in kept if "cleo" in row] == mine, "the neighbour lost nothing"
    for person in ("ana", "ben"):
        need = RecallNeed(
            name="r", query="alone in the hospital corridor", depth="full", across=True
        )
        assert "corridor" not in repr(room.recall_now(need, talks.grant(person, session="s")))
    again = store.write_now(
        lambda c: purge(c, tenant=T, session="s", sources=[ids[0]], texts=[SHARED], at=at)
    )
    assert set(again.values()) == {0}, "a second time finds nothing"


def test_a_fact_from_the_same_message_as_the_share_goes_with_it(
    room: Memory, store: Store, talks: Any, at: datetime
) -> None:
    ids = talks.say("s", [("ana", "user", f"{SHARED}. The dog is called Rufus.")])
    remember(room, store, talks, "ana", "The dog is called Rufus", at)
    removed = store.write_now(
        lambda c: purge(c, tenant=T, session="s", sources=ids, texts=[], at=at)
    )
    assert removed["memory_fact"] == 2  # of the session, and of the profile


@pytest.mark.requirement("EN-Y5")
def test_erasing_a_person_leaves_nothing_of_them_and_all_of_the_others(
    room: Memory, store: Store, talks: Any, at: datetime
) -> None:
    talks.say(
        "s", [("ana", "user", "I keep four zebrafinches."), ("ben", "user", "I mend clocks daily.")]
    )
    remember(room, store, talks, "ana", "I keep four zebrafinches", at)
    remember(room, store, talks, "ben", "I mend clocks daily", at)
    before = rows(store)
    removed = store.write_now(lambda c: erase_person(c, tenant=T, person="ana"))
    after = rows(store)
    assert sum(removed.values()) == sum(len(b) - len(after[n]) for n, b in before.items()) > 0
    assert not [row for kept in after.values() for row in kept if "ana" in row]
    for name, kept in after.items():
        assert kept == [row for row in before[name] if "ana" not in row]


@pytest.mark.requirement("RELIABILITY-20")
def test_the_erasure_of_a_patient_reaches_every_table_of_memory(
    room: Memory, store: Store, talks: Any, at: datetime
) -> None:
    for who in ("p-ada", "p-ben"):
        lines = [("ana", "user", f"I look after {who} daily."), ("ana", "user", "Only for you.")]
        ids = talks.say(f"s-{who}", lines, patient=who)
        store.write_now(
            lambda c, s=f"s-{who}", ids=ids: purge(
                c, tenant=T, session=s, sources=ids[1:], texts=[], at=at
            )
        )
        remember(
            room, store, talks, "ana", f"I look after {who} daily", at,
            session=f"s-{who}", patient=who,
        )  # fmt: skip
    assert all(any("p-ada" in repr(row) for row in held) for held in rows(store).values())
    before = rows(store)
    assert before["memory_hidden"]
    assert before["memory_consent"]
    store.write_now(lambda c: remove_rows(c, tenant=T, who="p-ada"))
    after = rows(store)
    assert "p-ada" not in repr(after)
    for name, kept in after.items():
        assert kept == [row for row in before[name] if "p-ada" not in repr(row)]


@pytest.mark.parametrize(
    ("withdrawn", "text", "same"),
    [
        (SHARED, f"so {SHARED.upper()}!", True),
        (SHARED, "when you walked away from me, I", True),
        (SHARED, "I felt alone in the garden", False),
        ("I was wrong", "he said that I was wrong about it", True),
        ("Yes, always", "yes, always", False),
        ("", "anything", False),
    ],
)
def test_six_words_in_a_row_are_the_same_words(withdrawn: str, text: str, same: bool) -> None:
    assert repeats(withdrawn, text) is same
