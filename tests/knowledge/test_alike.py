"""Passages that resemble each other lend each other a part of their score."""

from __future__ import annotations

import math
from collections import Counter
from itertools import pairwise
from random import Random

import numpy as np
import pytest

from bedside.knowledge.alike import NEIGHBOURS, NEIGHBOURS_SHARE, alike_in_words, with_neighbours
from bedside.knowledge.index.entry import Document, Entry
from bedside.knowledge.index.scoring import Place, Statistics
from bedside.knowledge.index.segment import Segment
from bedside.knowledge.question import read_question
from bedside.knowledge.words import pack

DIM = 4


def entry(name: str, words: Counter[str], vector: list[float] | None = None) -> Entry:
    document = Document(
        tenant="t", id=name, revision=1, kind="guideline", title=name, ready=True
    )  # fmt: skip
    rows = None
    if vector is not None:
        row = np.array([vector], dtype=np.float32)
        rows = row / np.linalg.norm(row)
    return Entry(
        id=name, document=document, words=pack(words), length=words.total(), vectors=rows
    )  # fmt: skip


def library(seed: int, size: int = 40) -> list[Counter[str]]:
    """Bags of words over a small vocabulary, common words commoner."""
    random = Random(seed)
    words = [f"w{number:03d}" for number in range(120)]
    weights = [1 / (number + 1) for number in range(120)]
    return [Counter(random.choices(words, weights, k=random.randint(5, 60))) for _ in range(size)]


def cosines(bags: list[Counter[str]], everything: list[Counter[str]]) -> list[list[float]]:
    """The same written plainly: log counts times rarity among all that lives."""
    held_by = Counter(word for bag in everything for word in bag)
    n = len(everything)
    rows = []
    for bag in bags:
        row = {
            word: (1 + math.log(times))
            * math.log(1 + (n - held_by[word] + 0.5) / (held_by[word] + 0.5))
            for word, times in bag.items()
        }
        norm = math.sqrt(sum(x * x for x in row.values()))
        rows.append({word: x / norm for word, x in row.items()})
    return [[sum(x * b.get(w, 0.0) for w, x in a.items()) for b in rows] for a in rows]


@pytest.mark.parametrize("cuts", [[], [25], [10, 11, 30]])
def test_likeness_in_words_is_a_cosine_however_the_library_is_cut(cuts: list[int]) -> None:
    bags = library(3)
    all_entries = [entry(f"d{number:02d}", bag) for number, bag in enumerate(bags)]
    bounds = [0, *cuts, len(bags)]
    segments = [Segment(all_entries[left:right], dim=DIM) for left, right in pairwise(bounds)]
    gone = "d07"  # dead passages are not counted as holding a word
    segments = [segment.without("t", gone) for segment in segments]
    at = {name: Place(s, c) for s, own in enumerate(segments) for c, name in enumerate(own.ids)}
    picked = ["d39", "d02", "d12", "d28", "d00"]
    found = alike_in_words(segments, [at[name] for name in picked], Statistics.of(segments))
    want = cosines(
        [bags[int(name[1:])] for name in picked],
        [bag for number, bag in enumerate(bags) if number != int(gone[1:])],
    )
    assert found == pytest.approx(np.array(want), abs=2e-5)


def test_a_removed_document_no_longer_counts_after_its_words_were_counted() -> None:
    segment = Segment([entry("a", Counter(x=1)), entry("b", Counter(x=1, y=2))], dim=DIM)
    assert dict(zip(segment.names, segment.frequencies.tolist(), strict=True)) == {"x": 2, "y": 1}
    left = segment.without("t", "b")
    assert dict(zip(left.names, left.frequencies.tolist(), strict=True)) == {"x": 1, "y": 0}
    assert dict(zip(segment.names, segment.frequencies.tolist(), strict=True)) == {"x": 2, "y": 1}


def test_a_twin_in_words_lifts_a_passage_and_a_stranger_does_not() -> None:
    """Equal vectors tell nothing apart here; the words do."""
    strangers = [Counter({f"own{n}": 3, "common": 1}) for n in range(NEIGHBOURS + 10)]
    good = Counter(lactate=3, sepsis=2, culture=1)
    bags = [good, good + Counter(bundle=1), *strangers]
    segment = Segment(
        [entry(f"d{n:02d}", bag, [1, 0, 0, 0]) for n, bag in enumerate(bags)], dim=DIM
    )
    places = [Place(0, n) for n in range(len(bags))]
    scores = np.zeros(len(bags))
    scores[0] = 3.0
    mixed = with_neighbours(
        [segment],
        np.array([1, 0, 0, 0], dtype=np.float32),
        places,
        scores,
        Statistics.of([segment]),
    )
    assert mixed[1] > 4 * max(mixed[2:])
    assert mixed[0] == pytest.approx((1 - NEIGHBOURS_SHARE) * 3.0)  # its neighbours have nothing


def test_without_a_vector_or_with_few_candidates_scores_stay() -> None:
    bags = library(5, NEIGHBOURS + 5)
    segment = Segment(
        [entry(f"d{n:02d}", bag, [1, n, 0, 1]) for n, bag in enumerate(bags)], dim=DIM
    )
    places = [Place(0, n) for n in range(len(bags))]
    scores = np.arange(len(bags), dtype=np.float64)
    own = Statistics.of([segment])
    vector = np.array([1, 0, 0, 0], dtype=np.float32)
    assert with_neighbours([segment], None, places, scores, own) is scores
    few = scores[:NEIGHBOURS]
    assert with_neighbours([segment], vector, places[:NEIGHBOURS], few, own) is few


def test_a_question_mark_tells_a_question_from_a_topic() -> None:
    assert read_question("does metformin cause lactic acidosis in renal failure? ").marked
    assert not read_question("metformin and lactic acidosis in renal failure").marked
