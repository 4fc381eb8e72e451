"""A query as the searchers need it: weighed stems, clinical synonyms, and a vector."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from bedside.clinical.drugs import class_name, class_of
from bedside.clinical.vocabulary import Expansion, expand
from bedside.core.value import value
from bedside.knowledge.sought import Sort, sought
from bedside.language.stems import stem as stem_of
from bedside.language.stems import stems, words

__all__ = ["Question", "read_question"]

_MOST_WORDS = 64
_SURE = 0.7
"""From this weight on `expand` is certain enough to spell the term out before embedding."""
_DIRECT_MARKED, _DIRECT = 6, 4
"""Telling words up to which a question asks for one thing: with a question mark, and without."""
_ASKING = re.compile(
    r"\s*(?:what|how|who|whom|whose|which|when|where|why|is|are|was|were|do|does|did|can|could|"
    r"should|would|will|may|has|have)\b",
    re.IGNORECASE,
)
_SYNONYM = 0.5
"""What a synonym weighs beside a written word; spellings and spelt-out abbreviations weigh more."""
_CLASS = 0.4
"""What the words of a medicine's class weigh together."""


@value
class Question:
    """One query.

    `terms` weighs each stem, written ones from 1 and added ones at most 1. `groups` holds, for each
    written stem, the stems that say the same: a chunk with one of them covers it. `spoken` is the
    text with certain abbreviations and lay terms spelt out, which is what gets embedded. `vector`
    has norm 1; `None` where no embedder serves. `names` are the words of the text as written;
    `sorts` the sorts of sections that it asks for.
    """

    text: str
    spoken: str
    terms: Mapping[str, float]
    groups: tuple[frozenset[str], ...]
    names: frozenset[str]
    sorts: Sort = Sort.NONE
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


def read_question(text: str) -> Question:
    """Read a query; the vector is added by whoever has an embedder. Words after the 64th fall.

    Letters of other widths and marks that cannot be seen (zero-width spaces, directions) do not part a
    word from itself.
    """
    text = _plain(text)
    written = stems(text)[:_MOST_WORDS]
    terms: dict[str, float] = {}
    groups: dict[str, set[str]] = {}
    for stem in written:
        terms[stem] = terms.get(stem, 0.0) + 1.0
        groups.setdefault(stem, {stem})
    added: dict[str, float] = {}
    spelt: list[str] = []
    for expansion in expand(text):
        found = stems(expansion.replacement)
        weight = _weight(expansion) / max(len(found), 1) ** 0.5
        for own in stems(expansion.term):
            groups.get(own, set()).update(found)
        for stem in found:
            if stem not in terms:
                added[stem] = max(added.get(stem, 0.0), weight)
        if expansion.kind in {"abbreviation", "lay", "brand"} and expansion.weight >= _SURE:
            spelt.append(expansion.replacement)
    for word in dict.fromkeys(words(text)):
        for key in class_of(word):  # "dapagliflozin" also finds "SGLT2 inhibitor"
            found = stems(class_name(key))
            groups.get(stem_of(word), set()).update(found)
            for stem in found:
                if stem not in terms:
                    added[stem] = max(added.get(stem, 0.0), _CLASS / max(len(found), 1) ** 0.5)
    spoken = f"{text} ({', '.join(dict.fromkeys(spelt))})" if spelt else text
    return Question(
        text=text,
        spoken=spoken,
        terms={**terms, **added},
        groups=tuple(frozenset(group) for group in groups.values()),
        names=frozenset(words(text)),
        sorts=sought(text),
    )


def _plain(text: str) -> str:
    """Compatibility forms as common letters, and no invisible marks."""
    if text.isascii():
        return text
    composed = unicodedata.normalize("NFKC", text)
    return "".join(char for char in composed if unicodedata.category(char) != "Cf")


def _weight(expansion: Expansion) -> float:
    if expansion.kind == "spelling":
        return 1.0
    return expansion.weight * (1.0 if expansion.kind == "abbreviation" else _SYNONYM)
