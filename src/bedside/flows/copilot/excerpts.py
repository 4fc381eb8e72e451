"""The sentences of passages that bear on a question, best first, with their exact spans. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from bedside.clinical.vocabulary import expand
from bedside.core.context import Item
from bedside.core.source import Span
from bedside.core.value import value
from bedside.knowledge.needs import Hit
from bedside.language.sentences import sentences
from bedside.language.stems import stems

__all__ = ["Excerpt", "best_sentences", "terms_of"]

_SHORTEST, _LONGEST = 25, 420
_OF_ONE_PASSAGE = 2
_ASKING = frozenset(
    stem
    for word in [
        "what",
        "should",
        "do",
        "does",
        "did",
        "think",
        "tell",
        "give",
        "show",
        "patient",
        "please",
        "know",
        "would",
        "could",
        "any",
        "next",
        "explain",
        "mean",
        "say",
        "said",
        "recommend",
        "advise",
        "suggest",
        "guideline",
        "protocol",
        "treatment",
        "question",
        "help",
        "consider",
        "need",
        "new",
    ]
    for stem in stems(word)
)


@value
class Excerpt:
    """One sentence of a passage as a quotable item; `score` is above 0, higher is better."""

    item: Item
    text: str
    score: float
    superseded: bool


def terms_of(text: str, *, more: Sequence[str] = ()) -> dict[str, float]:
    """Stems to look for with their weights: the question's words at 1, other names for them less."""
    found: dict[str, float] = {}
    for extra in expand(text):
        for stem in stems(extra.replacement):
            found[stem] = max(found.get(stem, 0.0), extra.weight * 0.8)
    for stem in stems(text):
        if stem not in _ASKING:
            found[stem] = 1.0
    for other in more:
        for stem in stems(other):
            found.setdefault(stem, 0.4)
    return found


def best_sentences(
    hits: Sequence[Hit], terms: Mapping[str, float], *, most: int
) -> tuple[Excerpt, ...]:
    """The sentences that hold most of the terms, from different places, best first.

    A sentence needs two of the terms, or the only one there is. Between equal ones the better hit
    wins. At most two sentences of one passage.
    """
    needed = min(2, sum(1 for weight in terms.values() if weight >= 1.0) or 1)
    found: list[tuple[float, int, Excerpt]] = []
    for place, hit in enumerate(hits):
        heading = set(stems(hit.prefix))
        for start, end in sentences(hit.text):
            text = hit.text[start:end]
            if (
                not _SHORTEST <= len(text) <= _LONGEST
                or text.startswith("#")
                or text.count("|") > 1
            ):
                continue
            own = set(stems(text))
            matched = [stem for stem in terms if stem in own]
            if len(matched) < needed and not (matched and heading & set(terms) - own):
                continue
            score = sum(terms[stem] for stem in matched)
            score += 0.3 * sum(terms[stem] for stem in terms if stem in heading - own)
            score = score / math.sqrt(4 + len(own)) / (1 + 0.08 * place)
            if hit.span.source.superseded:
                score *= 0.5
            found.append((-score, place, _excerpt(hit, start, end, score)))
    return _varied(sorted(found, key=lambda row: row[:2]), most)


def _excerpt(hit: Hit, start: int, end: int, score: float) -> Excerpt:
    text = hit.text[start:end]
    offset = hit.span.start
    item = Item(
        text,
        key=f"{hit.chunk_id}:{start}",
        span=Span(source=hit.span.source, start=offset + start, end=offset + end),
        note="superseded edition" if hit.span.source.superseded else "",
        dated=hit.span.source.dated,
    )
    return Excerpt(item=item, text=text, score=score, superseded=hit.span.source.superseded)


def _varied(ranked: Sequence[tuple[float, int, Excerpt]], most: int) -> tuple[Excerpt, ...]:
    kept: list[Excerpt] = []
    passages: dict[int, int] = {}
    seen: set[str] = set()
    for _, place, excerpt in ranked:
        folded = " ".join(excerpt.text.lower().split())
        if passages.get(place, 0) >= _OF_ONE_PASSAGE or folded in seen:
            continue
        seen.add(folded)
        passages[place] = passages.get(place, 0) + 1
        kept.append(excerpt)
        if len(kept) == most:
            break
    return tuple(kept)
