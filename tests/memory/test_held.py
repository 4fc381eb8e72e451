"""What stays read between two recalls: it follows the rows, and reads only what is new."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import anyio
import numpy as np
import pytest
from sqlalchemy import delete, event, insert

from bedside.memory import consent
from bedside.memory.held import Sentences
from bedside.memory.needs import RecallNeed
from bedside.storage.tables.memory import memory_hidden
from bedside.storage.tables.source import source
from bedside.storage.tables.turn import message, turn

TALK = [
    ("ana", "user", f"On day {n} we spoke about the garden and the {word} wall.")
    for n, word in enumerate(("red", "green", "blue", "white", "low", "high", "old", "new"))
]


def ask(query: str, **fields: Any) -> RecallNeed:
    return RecallNeed(name="recall", query=query, depth="full", across=True, **fields)


def add(store: Any, session: str, key: str, text: str, *, at: Any, ordinal: int) -> None:
    own = {"tenant": "t", "session": session}

    def write(c: Any) -> None:
        c.execute(insert(turn).values(**own, id=key, flow="companion", actor="actor",
                  request_sha256="", status="complete", fence=0, started_at=at))  # fmt: skip
        c.execute(insert(source).values(**own, id=key, revision=1, kind="message", title="m",
                  sha256="", text=text, created_at=at))  # fmt: skip
        c.execute(insert(message).values(**own, ordinal=ordinal, turn=key, person="ana",
                  role="user", source=key, at=at))  # fmt: skip

    store.write_now(write)


@pytest.mark.requirement("EN-Y4")
def test_a_recall_after_new_words_gives_what_a_fresh_reading_gives(
    room: Any, store: Any, talks: Any, another: Any, at: Any
) -> None:
    for name in ("s1", "s2", "s3"):
        talks.say(name, TALK)
    grant = talks.grant("ana", session="s9")
    store.write_now(lambda c: consent.give(c, grant, "across", at=at))
    room.catch_up_now(grant)
    room.recall_now(ask("garden"), grant)
    later = at + timedelta(days=9)
    add(store, "s2", "late-1", "The pergola is painted green now.", at=later, ordinal=50)
    add(store, "s1", "late-2", "A heron stood in the garden.", at=later + timedelta(1), ordinal=51)
    for embedded in (False, True):
        if embedded:
            room.catch_up_now(grant)
        for query in ("the green pergola", "which bird stood in the garden?", "blue wall"):
            assert room.recall_now(ask(query), grant) == another().recall_now(ask(query), grant)
    assert room.recall_now(ask("heron"), grant).of("message")[0].key == "late-2"


@pytest.mark.requirement("EN-Y4")
def test_words_that_were_hidden_or_erased_are_gone_at_the_next_recall(
    room: Any, store: Any, talks: Any, at: Any
) -> None:
    ids = talks.say("s1", TALK)
    grant = talks.grant("ana", session="s9")
    store.write_now(lambda c: consent.give(c, grant, "across", at=at))
    room.catch_up_now(grant)

    def keys() -> set[str]:
        return {item.key for item in room.recall_now(ask("garden wall"), grant).of("message")}

    assert {ids[0], ids[1], ids[2]} <= keys()
    hide = insert(memory_hidden).values(tenant="t", source=ids[0], session="s1", at=at)
    store.write_now(lambda c: c.execute(hide))
    assert ids[0] not in keys()
    store.write_now(lambda c: c.execute(delete(message).where(message.c.source == ids[1])))
    later = at + timedelta(days=9)
    add(store, "s1", "late", "Another garden wall.", at=later, ordinal=50)  # as many as before
    assert ids[1] not in keys()
    assert "late" in keys()
    store.write_now(lambda c: consent.withdraw(c, grant, "across"))
    assert keys() == set()


@pytest.mark.requirement("EN-Y4")
def test_the_texts_of_known_messages_are_not_read_again(
    room: Any, store: Any, talks: Any, at: Any
) -> None:
    talks.say("s1", TALK)
    grant = talks.grant("ana", session="s9")
    store.write_now(lambda c: consent.give(c, grant, "across", at=at))
    room.catch_up_now(grant)
    room.recall_now(ask("garden"), grant)
    asked: list[str] = []
    event.listen(store.engine, "before_cursor_execute", lambda *a: asked.append(a[2]))
    room.recall_now(ask("garden"), grant)
    assert asked
    assert not [one for one in asked if "source.text" in one or "memory_message.data" in one]


def test_sentences_grow_and_the_best_of_each_message_counts() -> None:
    one = Sentences.of({"a": np.eye(3, dtype=np.float32)[:2]}, dim=3)
    two = one.plus({"b": np.eye(3, dtype=np.float32)[2:]}).plus({})
    query = np.array([0.2, 0.7, 0.4], dtype=np.float32)
    assert list(two.sources) == ["a", "b"]
    assert two.best(query) == pytest.approx([0.7, 0.4])
    assert one.best(query) == pytest.approx([0.7])
    assert Sentences.of({}, dim=3).best(query).tolist() == []


@pytest.mark.requirement("EN-Y4")
@pytest.mark.parametrize("across", [True, False])
def test_the_first_recall_of_a_process_reads_nothing_anew_where_the_conversation_was_opened(
    room: Any, another: Any, store: Any, talks: Any, at: Any, across: bool
) -> None:
    """Opening a conversation reads what its first recall will need, with consent and without."""
    talks.say("s1", TALK)
    talks.say("s9", TALK[:3])
    grant = talks.grant("ana", session="s9")
    if across:
        store.write_now(lambda c: consent.give(c, grant, "across", at=at))
    room.catch_up_now(grant)
    fresh = another()
    assert anyio.run(fresh.warm, grant) == (11 if across else 3)
    asked: list[str] = []
    event.listen(store.engine, "before_cursor_execute", lambda *a: asked.append(a[2]))
    found = fresh.recall_now(ask("garden wall"), grant)
    assert found.items
    assert not [one for one in asked if "memory_message.data" in one]
    assert found == another().recall_now(ask("garden wall"), grant)


@pytest.mark.requirement("EN-Y4")
def test_nothing_recent_is_invisible_before_it_has_a_vector(
    room: Any, store: Any, talks: Any, at: Any
) -> None:
    """What was said a moment ago is found, in this session and in another, while its vectors lag."""
    talks.say("s1", TALK)
    grant = talks.grant("ana", session="s9")
    store.write_now(lambda c: consent.give(c, grant, "across", at=at))
    room.catch_up_now(grant)
    room.recall_now(ask("garden"), grant)
    add(
        store, "s1", "late", "The locksmith comes on Friday.", at=at + timedelta(days=2), ordinal=50
    )
    talks.say("s9", [("ana", "user", "My aunt sent the porcelain teapot.")])
    found = {one.key for one in room.recall_now(ask("locksmith Friday"), grant).items}
    own = {one.key for one in room.recall_now(ask("porcelain teapot"), grant).items}
    assert "late" in found
    assert "s9-m0" in own
