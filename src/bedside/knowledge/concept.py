"""What a query asks about, each thing with the other ways to say it. Pure.

A passage says a thing in one way and is as good as one that says it in another: of a thing and its
other names the best match counts, not their sum (a disjunction by its maximum). Added up, an
abbreviation with five longer forms would outweigh the medicine beside it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from bedside.clinical.drugs import class_name, class_of
from bedside.clinical.vocabulary import Expansion
from bedside.core.value import value
from bedside.language.stems import stems, words

__all__ = ["Concept", "concepts"]

Weights = Mapping[str, float]
_SYNONYM = 0.5
"""What a synonym weighs beside a written word; spellings, brands and abbreviations weigh more."""
_CLASS = 0.4
"""What the words of a medicine's class weigh together."""
_SAME_THING = frozenset({"abbreviation", "brand"})


@value
class Concept:
    """One thing that a query names.

    `written` weighs its stems as written, from 1 each; `others` are other ways to say it, each with
    the weights of its stems, in (0, 1]. No stem of the query as written is among them.
    """

    written: Weights
    others: tuple[Weights, ...] = ()


def concepts(text: str, written: Weights, expansions: Sequence[Expansion]) -> tuple[Concept, ...]:
    """The things that a query names, together holding every written stem once.

    A phrase that has other names is one thing ("chronic kidney disease": "CKD", "renal failure"); of
    phrases that share a stem the longest comes first; one that lies within it adds its names to it, and
    one that goes beyond it is a thing of its own with the stems that are left ("acute kidney injury and
    acute coronary syndrome").

    Args:
        text: The query.
        written: Its stems, with how often each stands there.
        expansions: What `expand` gives for it.
    """
    by_term: dict[str, list[Weights]] = {}
    for term, other in _other_ways(text, expansions):
        by_term.setdefault(term, []).append(other)
    left = dict(written)
    things: list[tuple[dict[str, float], dict[frozenset[str], Weights]]] = []
    for term in sorted(by_term, key=lambda term: -len(stems(term))):
        own = [stem for stem in dict.fromkeys(stems(term)) if stem in written]
        new = {stem: left.pop(stem) for stem in own if stem in left}
        if new:
            things.append((new, {}))
        thing = next((one for one in things if any(stem in one[0] for stem in new or own)), None)
        if thing is None:
            continue
        for other in by_term[term]:
            added = {stem: weight for stem, weight in other.items() if stem not in written}
            known = thing[1].get(frozenset(added))
            if added and (known is None or max(known.values()) < max(added.values())):
                thing[1][frozenset(added)] = added
    return (
        *(Concept(written=own, others=tuple(others.values())) for own, others in things),
        *(Concept(written={stem: weight}) for stem, weight in left.items()),
    )


def _other_ways(text: str, expansions: Sequence[Expansion]) -> Iterator[tuple[str, Weights]]:
    """Parts of the text, and another way to say each."""
    for expansion in expansions:
        yield expansion.term, _weighed(expansion.replacement, _trust(expansion))
    for word in dict.fromkeys(words(text)):
        for key in class_of(word):  # "dapagliflozin" also finds "SGLT2 inhibitor"
            yield word, _weighed(class_name(key), _CLASS)


def _weighed(phrase: str, weight: float) -> Weights:
    found = stems(phrase)
    return dict.fromkeys(found, weight / math.sqrt(max(len(found), 1)))


def _trust(expansion: Expansion) -> float:
    if expansion.kind == "spelling":
        return 1.0
    return expansion.weight * (1.0 if expansion.kind in _SAME_THING else _SYNONYM)
