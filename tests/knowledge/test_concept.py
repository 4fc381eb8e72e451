"""A thing and its other names count once, and short queries want all that they name."""

from __future__ import annotations

from collections import Counter

import numpy as np

from bedside.knowledge.concept import Concept
from bedside.knowledge.index.entry import Document, Entry
from bedside.knowledge.index.scoring import Statistics, lexical
from bedside.knowledge.index.segment import Segment
from bedside.knowledge.needs import Filters
from bedside.knowledge.question import read_question
from bedside.knowledge.rank import rank
from bedside.knowledge.words import pack
from bedside.language.stems import stems


def entry(name: str, text: str, *, document: str = "", title: str = "") -> Entry:
    """A passage of a guideline, with a vector that tells nothing."""
    found = stems(text)
    return Entry(
        id=name,
        document=Document(
            tenant="t",
            id=document or name,
            revision=1,
            kind="guideline",
            title=title or name,
            ready=True,
        ),
        words=pack(Counter(found)),
        length=len(found),
        vectors=np.array([[1.0, 0.0]], dtype=np.float32),
    )


def test_a_phrase_and_its_abbreviation_are_one_thing():
    named = {
        frozenset(one.written): {frozenset(other) for other in one.others}
        for one in read_question("metformin dose in CKD").concepts
    }
    assert {frozenset({"metformin"}), frozenset({"dose"}), frozenset({"ckd"})} == set(named)
    assert frozenset(stems("chronic kidney disease")) in named[frozenset({"ckd"})]
    assert named[frozenset({"dose"})] == set()


def test_every_written_word_is_in_one_thing_and_none_is_another_way():
    question = read_question("chronic kidney disease and CKD with htn, hypertension and Eliquis")
    written = Counter(stem for one in question.concepts for stem in one.written)
    assert set(written) == set(stems(question.text))
    assert set(written.values()) == {1}
    assert not set(written) & {s for c in question.concepts for way in c.others for s in way}


def test_saying_a_thing_in_two_ways_is_worth_its_best_way():
    segment = Segment(
        [entry("a", "ckd pad pad"), entry("b", "renal pad pad"), entry("c", "ckd renal pad")], dim=2
    )
    statistics = Statistics.of([segment])
    thing = Concept(written={"ckd": 1.0}, others=({"renal": 0.5},))
    both = lexical([segment], [thing], statistics=statistics).scores[0]
    alone = lexical([segment], [Concept(written={"ckd": 1.0})], statistics=statistics).scores[0]
    assert both[0] == both[2] == alone[0]
    assert 0 < both[1] < both[0]


def test_a_brand_stands_for_its_medicine_nearly_as_surely_as_its_own_name():
    (eliquis,) = read_question("Eliquis").concepts
    assert next(way["apixaban"] for way in eliquis.others if "apixaban" in way) >= 0.8


def test_a_short_query_puts_the_passage_with_all_of_it_before_one_that_repeats_a_part():
    pads = [
        entry(f"p{n}", f"pad{n} word{n} other{n} thing{n}", document=f"d{n // 2}")
        for n in range(40)
    ]
    segment = Segment(
        [
            *pads,
            entry("formula", "ckd formula ckd stage ckd muscle ckd exact dose", document="ckd"),
            entry(
                "metformin", "metformin halved stopped reduced filtration dose ckd", document="ckd"
            ),
        ],
        dim=2,
    )
    question = read_question("metformin dose in CKD")
    ranking = rank(
        [segment],
        question.with_vector(np.array([1.0, 0.0], dtype=np.float32)),
        filters=Filters(),
        retriever="hybrid",
        threshold=0.3,
        limit=2,
    )
    assert [hit.id for hit in ranking.ranked] == ["metformin", "formula"]


def test_of_two_things_that_share_a_word_each_keeps_its_own_names() -> None:
    """ "ACS" is a name of the syndrome, not of the kidney's injury: a passage may have both."""
    kidney, heart = read_question("acute kidney injury and acute coronary syndrome").concepts
    (aki,), (acs,) = stems("AKI"), stems("ACS")
    assert {acs} in [set(way) for way in heart.others]
    assert {aki} in [set(way) for way in kidney.others]
    assert not any(acs in way for way in kidney.others)
    assert set(heart.written) == set(stems("coronary syndrome"))
