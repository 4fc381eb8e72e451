"""A query as the searchers need it: weighed stems, clinical synonyms, and a vector."""

from __future__ import annotations

import functools
import math
import re
import unicodedata
from collections.abc import Container, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from bedside.clinical.vocabulary import expand
from bedside.core.value import value
from bedside.knowledge.concept import Concept, concepts
from bedside.knowledge.index.segment import Segment
from bedside.knowledge.sought import Sort, sought
from bedside.language.stems import stems, words

__all__ = ["Question", "borne", "prepare", "read_question"]

_MOST_WORDS = 64
_SPELT_FROM = {"abbreviation": 0.7, "lay": 0.7, "brand": 0.7, "sign": 0.4}
"""From which weight on what `expand` gives is spelt out before embedding. A diagnosis that the signs
suggest is embedded beside the signs, never for them: their own words stay."""
_DIRECT_MARKED, _DIRECT = 6, 4
"""Telling words up to which a question asks for one thing: with a question mark, and without."""
_WHOM = frozenset(
    [
        "woman",
        "women",
        "man",
        "men",
        "ladi",
        "gentleman",
        "patient",
        "person",
        "peopl",
        "year",
        "old",
        "yo",
    ]
)
_WHOM_WEIGHT = 0.25
"""What a word weighs that tells of whom is asked and not what."""
_ASKING = re.compile(
    r"\s*(?:what|how|who|whom|whose|which|when|where|why|is|are|was|were|do|does|did|can|could|"
    r"should|would|will|may|has|have)\b",
    re.IGNORECASE,
)


@value
class Question:
    """One query.

    `concepts` are the things that it names, with other ways to say each; `terms` weighs each of their
    stems, written ones from 1 and added ones at most 1. `groups` holds, for each written stem, the stems
    that say the same: a chunk with one of them covers it. `spoken` is the
    text with certain abbreviations, lay terms and suggested diagnoses spelt out, which is what gets
    embedded. `vector`
    has norm 1; `None` where no embedder serves. `names` are the words of the text as written;
    `sorts` the sorts of sections that it asks for; `suggested` the names, each once, that its signs
    suggest to look under.
    """

    text: str
    spoken: str
    terms: Mapping[str, float]
    concepts: tuple[Concept, ...]
    groups: tuple[frozenset[str], ...]
    names: frozenset[str]
    sorts: Sort = Sort.NONE
    suggested: tuple[str, ...] = ()
    vector: NDArray[np.float32] | None = None

    @property
    def direct(self) -> bool:
        """Whether one thing is asked for in few words ("What causes gout?").

        By its form alone: it ends with a question mark and holds at most 6 telling words, or opens
        with a question word and holds at most 4. Such a question wants the one passage that answers
        it; a topic, or a question with its circumstances, wants whatever bears on it.
        """
        if self.marked:
            return len(self.groups) <= _DIRECT_MARKED
        return len(self.groups) <= _DIRECT and _ASKING.match(self.text) is not None

    @property
    def marked(self) -> bool:
        """Whether it ends with a question mark: it wants its answer, more than what bears on a topic."""
        return self.text.rstrip().endswith("?")

    def with_vector(self, vector: NDArray[np.float32] | None) -> Question:
        """The same question with its vector."""
        return replace(self, vector=vector)


@functools.cache
def prepare() -> None:
    """Load the vocabulary that queries are read with, once in a process: a fifth of a second."""
    read_question("paracetamol, a word and another")


def read_question(text: str, *, among: Container[str] | None = None) -> Question:
    """Read a query; the vector is added by whoever has an embedder. Words after the 64th fall.

    Of the diagnoses that its signs suggest those count that are `among` these; `None` takes all.

    Letters of other widths and marks that cannot be seen (zero-width spaces, directions) do not part a
    word from itself.
    """
    text = _plain(text)
    written = stems(text)[:_MOST_WORDS]
    terms: dict[str, float] = {}
    groups: dict[str, set[str]] = {}
    for stem in written:
        terms[stem] = terms.get(stem, 0.0) + (_WHOM_WEIGHT if stem in _WHOM else 1.0)
        groups.setdefault(stem, {stem})
    expansions = [
        one
        for one in expand(text, suggest=True)
        if one.kind != "sign" or among is None or one.replacement in among
    ]
    things = concepts(text, terms, expansions)
    for thing in things:
        for other in thing.others:
            for stem in thing.written:
                groups[stem].update(other)
    added: dict[str, float] = {}
    for stem, weight in (pair for one in things for way in one.others for pair in way.items()):
        added[stem] = max(added.get(stem, 0.0), weight)
    spelt = [
        expansion.replacement
        for expansion in expansions
        if expansion.weight >= _SPELT_FROM.get(expansion.kind, math.inf)
    ]
    spoken = f"{text} ({', '.join(dict.fromkeys(spelt))})" if spelt else text
    return Question(
        text=text,
        spoken=spoken,
        terms={**terms, **added},
        concepts=things,
        groups=tuple(frozenset(group) for group in groups.values()),
        names=frozenset(words(text)),
        sorts=sought(text),
        suggested=tuple(dict.fromkeys(one.replacement for one in expansions if one.kind == "sign")),
    )


def borne(question: Question, segments: Sequence[Segment]) -> Question:
    """The question with those of its suggestions that one passage of the library bears, all words of it.

    A suggestion that nothing here bears would only draw what is unlike the words as asked.
    """
    if not question.suggested:
        return question
    found = {
        name
        for name in question.suggested
        if any(segment.holds_all(stems(name)) for segment in segments)
    }
    return read_question(question.text, among=found)


def _plain(text: str) -> str:
    """Compatibility forms as common letters, and no invisible marks."""
    if text.isascii():
        return text
    composed = unicodedata.normalize("NFKC", text)
    return "".join(char for char in composed if unicodedata.category(char) != "Cf")
