"""The ledger: only a person's own words become a fact, and a diff changes what it names."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bedside.memory.facts import MOST_FACTS, Diff, Fact, Own, Upsert, apply, merge, read_diff

MINE = Own(source="m1", text="My sister Anna moved to Leeds in May. I feel left out since then.")


def one(text: str, quote: str, category: str = "People", **more: str) -> Diff:
    return Diff(upsert=(Upsert(category=category, text=text, quote=quote, **more),))


@pytest.mark.requirement("EN-Y3")
def test_a_fact_keeps_the_very_words_it_came_from() -> None:
    facts, refused = apply((), one("Sister Anna lives in Leeds", "Anna moved to Leeds"), [MINE])
    assert refused == ()
    fact = facts[0]
    assert MINE.text[fact.start : fact.end] == fact.quote == "Anna moved to Leeds"
    assert (fact.source, fact.category) == ("m1", "People")


@pytest.mark.requirement("EN-Y3")
@pytest.mark.parametrize(
    ("diff", "why"),
    [
        (one("Anna is ill", ""), "no source words"),
        (one("Anna is ill", "Anna is very ill now"), "not the person's words"),
        (one("Anna", "Anna moved to Leeds", "Gossip"), "unknown category"),
        (one("", "Anna moved to Leeds"), "empty"),
        (one("x" * 301, "Anna moved to Leeds"), "too long"),
        (one("Anna moved 40 miles away", "Anna moved to Leeds"), "adds figures"),
        (one("Anna moved", "Anna moved to Leeds", source="m2"), "not the person's words"),
    ],
)
def test_what_has_no_words_of_the_person_behind_it_is_refused(diff: Diff, why: str) -> None:
    facts, refused = apply((), diff, [MINE, Own(source="m2", text="Nothing of the kind.")])
    assert facts == ()
    assert [item.why for item in refused] == [why]


def test_ids_are_stable_and_an_update_keeps_its_place() -> None:
    first, _ = apply((), one("Anna lives in Leeds", "Anna moved to Leeds"), [MINE])
    again, _ = apply((), one("Anna lives in Leeds", "Anna moved to Leeds"), [MINE])
    assert first[0].id == again[0].id
    both, _ = apply(first, one("Feels left out", "I feel left out", "Emotional"), [MINE])
    better = one("Anna moved in May", "Anna moved to Leeds in May", id=first[0].id)
    after, refused = apply(both, better, [MINE])
    assert refused == ()
    assert [fact.text for fact in after] == ["Anna moved in May", "Feels left out"]
    assert after[0].id == first[0].id


def test_a_fact_that_is_known_is_not_kept_twice() -> None:
    first, _ = apply((), one("Anna lives in Leeds.", "Anna moved to Leeds"), [MINE])
    after, refused = apply(first, one("anna LIVES in leeds", "Anna moved to Leeds in May"), [MINE])
    assert (after, refused) == (first, ())


def test_a_full_ledger_refuses_and_a_deletion_makes_room() -> None:
    own = [Own(source=f"m{n}", text=f"Fact number {n} was said here") for n in range(25)]
    facts: tuple[Fact, ...] = ()
    for n in range(25):
        diff = one(f"Said {n}", f"Fact number {n} was said", "History", source=f"m{n}")
        facts, refused = apply(facts, diff, own)
        assert [item.why for item in refused] == ([] if n < MOST_FACTS else ["full"])
    more = Diff(
        upsert=one("Said 24", "Fact number 24 was said", "History", source="m24").upsert,
        delete=(facts[0].id, "fact-unknown"),
    )
    after, refused = apply(facts, more, own)
    assert len(after) == MOST_FACTS
    assert [item.why for item in refused] == ["unknown id"]
    assert after[-1].text == "Said 24"


def test_what_a_model_writes_wrongly_is_left_out_and_nothing_is_raised() -> None:
    assert read_diff("nonsense") == Diff()
    assert read_diff({"upsert": "no list", "delete": [1, "fact-1"]}) == Diff(delete=("fact-1",))
    read = read_diff({"upsert": [{"category": "People", "fact": " a ", "quote": "b"}, 7]})
    assert read == Diff(upsert=(Upsert(category="People", text="a", quote="b"),))


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=60), st.integers(0, 50), st.integers(9, 60))
def test_every_kept_fact_stands_in_its_message(text: str, start: int, length: int) -> None:
    said = f"{text} and then she left the house at noon without a word {text}"
    quote = said[start : start + length]
    facts, _ = apply((), one("She left", quote), [Own(source="m", text=said)])
    for fact in facts:
        assert said[fact.start : fact.end] == fact.quote


def test_a_profile_keeps_the_newest_fifty_each_once() -> None:
    def fact(n: int) -> Fact:
        return Fact(
            id=f"f{n}", category="History", text=f"text {n}", source="m", start=0, end=1, quote="q"
        )

    merged = merge([fact(n) for n in range(50)], [fact(n) for n in range(48, 60)])
    assert len(merged) == 50
    assert merged[-1].text == "text 59"
    assert len({item.text for item in merged}) == 50
