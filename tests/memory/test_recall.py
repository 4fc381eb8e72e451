"""Recall: what comes back, under which consent, in how many tokens, and never another person's."""

from __future__ import annotations

import itertools
from datetime import datetime
from typing import Any

import pytest

from bedside.core.access import Grant
from bedside.core.errors import AccessDenied
from bedside.memory import consent, ledger
from bedside.memory.facts import Diff, Upsert
from bedside.memory.needs import Depth, RecallNeed
from bedside.memory.recall import Memory
from bedside.memory.summaries import Summary
from bedside.storage.store import Store

ANA = [
    ("ana", "user", "My mother fell in the garden yesterday and broke her wrist."),
    ("ana", "assistant", "That sounds frightening. How is she now?"),
    ("ana", "user", "She is better. We agreed that Tom drives her to physiotherapy on Mondays."),
]
LATER = [
    ("ana", "user", "I started a pottery course last week, it calms me."),
    ("ana", "assistant", "What do you like about pottery?"),
]


def ask(query: str, **fields: Any) -> RecallNeed:
    return RecallNeed(name="recall", query=query, **{"depth": "full", "across": True, **fields})


def agree(store: Store, grant: Grant, at: datetime) -> None:
    store.write_now(lambda c: consent.give(c, grant, "across", at=at))


@pytest.mark.requirement("EN-Y4")
def test_what_was_said_in_another_session_is_found_with_its_words_and_day(
    room: Memory, store: Store, talks: Any, at: datetime
) -> None:
    ids = talks.say("s1", ANA)
    talks.say("s2", LATER)
    grant = talks.grant("ana", session="s2")
    agree(store, grant, at)
    found = room.recall_now(ask("When did my mother break her wrist?"), grant)
    best = found.of("message")[0]
    assert best.key == ids[0]
    assert best.text == ANA[0][2]
    assert best.span is not None
    assert ANA[0][2][best.span.start : best.span.end] == best.text
    assert best.label == "2 Mar 2026, you; yesterday = 1 Mar 2026"


@pytest.mark.requirement("EN-Y5")
def test_without_consent_no_other_session_is_searched(room: Memory, talks: Any) -> None:
    talks.say("s1", ANA)
    talks.say("s2", LATER)
    found = room.recall_now(ask("mother wrist physiotherapy"), talks.grant("ana", session="s2"))
    assert not [item for item in found.items if item.session == "s1"]
    assert "no consent" in found.why_empty


@pytest.mark.requirement("EN-Y4")
def test_a_message_of_a_moment_ago_is_found_before_it_has_a_vector(
    room: Memory, talks: Any, embedder: Any
) -> None:
    talks.say("s1", ANA)
    grant = talks.grant("ana", session="s1")
    room.catch_up_now(grant)
    talks.say("s1b", [("ana", "user", "The plumber comes on Friday.")])
    found = room.recall_now(ask("plumber", across=False), talks.grant("ana", session="s1b"))
    assert [item.text for item in found.of("message")] == ["The plumber comes on Friday."]
    assert found.degraded == ("vectors not ready: 1 messages",)
    assert room.catch_up_now(grant) == 1
    assert room.catch_up_now(grant) == 0, "what has a vector is not embedded again"


@pytest.mark.requirement("CM-11")
def test_nobody_elses_words_are_in_reach_whatever_is_asked(
    room: Memory, store: Store, talks: Any, at: datetime
) -> None:
    secret = "I am afraid of the zebrafinch letter"
    talks.say("both", [
        ("ana", "user", secret), ("ana", "assistant", f"You said: {secret}"),
        ("ben", "user", "I only want quiet evenings."),
    ])  # fmt: skip
    talks.say("own", [("ana", "user", secret)], patient="p1", actor="other")
    ana, ben = talks.grant("ana", session="both"), talks.grant("ben", session="both")
    quote = Upsert(category="Emotional", text="Afraid of the zebrafinch letter", quote=secret)
    store.write_now(lambda c: ledger.learn(c, ana, Diff(upsert=(quote,)), at=at))
    store.write_now(lambda c: ledger.save_summary(c, ana, Summary(narrative=f"{secret}."), at=at))
    for grant in (ana, ben):
        agree(store, grant, at)
        store.write_now(lambda c, grant=grant: consent.give(c, grant, "profile", at=at))
        room.catch_up_now(grant)
    store.write_now(lambda c: ledger.consolidate(c, ana, at=at))
    strangers = [
        ben,
        talks.grant("ben", session="own"),
        talks.grant("ben"),
        talks.grant("ana", session="both", tenant="u"),
        talks.grant("ana", session="both", patient="p2"),
        talks.grant(None, session="both"),
        talks.grant(None, session="own", patient="p1"),
    ]
    depths: tuple[Depth, ...] = ("none", "minimal", "light", "full")
    for grant, depth in itertools.product(strangers, depths):
        found = room.recall_now(ask(secret, depth=depth, linked=("both", "own")), grant)
        assert "zebrafinch" not in repr(found), grant
    assert "zebrafinch" in repr(room.recall_now(ask(secret), ana)), "its owner finds it"


@pytest.mark.requirement("EN-Y3")
def test_a_quote_of_an_answer_or_of_the_other_person_is_no_fact(
    store: Store, talks: Any, at: datetime
) -> None:
    talks.say("s", [*ANA, ("ben", "user", "She never listens to me at dinner.")])
    grant = talks.grant("ana", session="s")
    for words in ("That sounds frightening", "She never listens to me"):
        diff = Diff(upsert=(Upsert(category="Conflict", text="Something", quote=words),))
        facts, refused = store.write_now(lambda c, diff=diff: ledger.learn(c, grant, diff, at=at))
        assert facts == ()
        assert [item.why for item in refused] == ["not the person's words"]


@pytest.mark.requirement("EN-Y4")
def test_a_session_is_a_hit_from_the_threshold_on_and_a_linked_private_space_weighs_more(
    room: Memory, store: Store, talks: Any, at: datetime
) -> None:
    talks.say("now", [("ana", "user", "Hello again, it is me.")])
    talks.say("inner", [("ana", "user", "I dream of a quiet garden with roses and a bench.")])
    here, inner = talks.grant("ana", session="now"), talks.grant("ana", session="inner")
    agree(store, here, at)
    quote = Upsert(category="Emotional", text="Dreams of a quiet garden with roses and a bench",
                   quote="I dream of a quiet garden with roses and a bench")  # fmt: skip
    store.write_now(lambda c: ledger.learn(c, inner, Diff(upsert=(quote,)), at=at))
    room.catch_up_now(here)
    query = "garden roses moon river stone"
    plain = room.recall_now(ask(query, threshold=-1.0), here).of("summary")[0]
    assert plain.similarity is not None
    between = plain.similarity * 1.15
    assert not room.recall_now(ask(query, threshold=between), here).of("summary")
    linked = room.recall_now(ask(query, threshold=between, linked=("inner",)), here)
    assert linked.of("summary")[0].score == pytest.approx(plain.similarity * 1.3)


@pytest.mark.requirement("EN-Y4")
def test_memory_never_takes_more_than_its_tokens(
    room: Memory, store: Store, talks: Any, at: datetime
) -> None:
    long = " ".join(
        f"The garden number {n} has roses and a bench near the wall." for n in range(60)
    )
    for number in range(12):
        talks.say(f"s{number}", [("ana", "user", long), ("ana", "assistant", long)])
    grant = talks.grant("ana", session="s3")
    agree(store, grant, at)
    for tokens in (0, 40, 300, 700):
        found = room.recall_now(ask("garden roses", tokens=tokens), grant)
        counted = sum(len(item.line.split()) + 1 for item in found.items)
        assert counted == found.tokens <= tokens
    assert found.left_out or len(found.items) == 10


def test_a_question_that_nothing_fits_brings_no_message(
    room: Memory, store: Store, talks: Any, at: datetime
) -> None:
    talks.say("s1", ANA)
    grant = talks.grant("ana", session="s9")
    agree(store, grant, at)
    found = room.recall_now(ask("xylophone quarterly spreadsheet"), grant)
    assert (found.items, found.why_empty) == ((), "nothing remembered that fits")


def test_what_the_prompt_holds_already_is_not_recalled(words_alone: Memory, talks: Any) -> None:
    ids = talks.say("s1", ANA)
    grant = talks.grant("ana", session="s1")
    need = ask("mother wrist", across=False, shown=(ids[0],))
    assert ids[0] not in {item.key for item in words_alone.recall_now(need, grant).items}


@pytest.mark.requirement("EN-Y5")
def test_a_profile_needs_consent_and_goes_with_it(
    room: Memory, store: Store, talks: Any, at: datetime
) -> None:
    talks.say("s1", ANA)
    grant = talks.grant("ana", session="s1")
    diff = Diff(upsert=(Upsert(category="Logistics", text="Tom drives on Mondays",
                               quote="Tom drives her to physiotherapy on Mondays"),))  # fmt: skip
    store.write_now(lambda c: ledger.learn(c, grant, diff, at=at))
    with pytest.raises(AccessDenied):
        store.write_now(lambda c: ledger.consolidate(c, grant, at=at))
    agree(store, grant, at)
    with pytest.raises(AccessDenied, match="profile"):
        store.write_now(lambda c: ledger.consolidate(c, grant, at=at))
    store.write_now(lambda c: consent.give(c, grant, "profile", at=at))
    store.write_now(lambda c: ledger.consolidate(c, grant, at=at))
    elsewhere = talks.grant("ana", session="s2")
    assert room.recall_now(ask("who drives?"), elsewhere).of("profile")
    room.catch_up_now(grant)
    removed = store.write_now(lambda c: consent.withdraw(c, elsewhere, "across"))
    assert removed == {"memory_session": 1, "memory_message": 3, "memory_consent": 1}
    assert room.recall_now(ask("who drives?"), elsewhere).of("profile")
    removed = store.write_now(lambda c: consent.withdraw(c, elsewhere, "profile"))
    assert removed == {"memory_fact": 1, "memory_consent": 1}
    assert room.recall_now(ask("who drives?"), elsewhere).items == ()
    assert store.read_now(lambda c: ledger.facts_of(c, grant, "profile")) == ()
