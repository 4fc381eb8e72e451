"""The sentences of passages that bear on a question, best first, with their exact spans. Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

from bedside.clinical.vocabulary import expand
from bedside.core.context import Item
from bedside.core.source import Span
from bedside.core.value import value
from bedside.knowledge.needs import Hit
from bedside.language.sentences import sentences
from bedside.language.stems import stems

__all__ = ["Excerpt", "Passage", "best_passages", "best_sentences", "opening_sentences", "terms_of"]

_SHORTEST, _LONGEST = 12, 420
_OF_ONE_PASSAGE = 2
_ROW_BARS = 2
_FEWEST_WORDS = 2
_RULE = frozenset("|-: ")
_LABEL = 60
_SHORT_PASSAGE = 6
_SHORT_TABLE = 9
_HEADER = re.compile(
    r"\**(?:patient|name|dob|date of birth|mrn|nhs|address|re|ref|dear)\b[ :*]", re.IGNORECASE
)
_ASKED = 0.6
"""From this weight on a term is the question's own, not a guess from the record."""
_SOURCES = re.compile(r"\b(?:sources?|references?|bibliography|further reading)\b", re.IGNORECASE)
_POINTS_ON = re.compile(
    r"\b(?:these|the following|as follows|listed below|shown below|see (?:the )?(?:table|section))\b|:\Z",
    re.IGNORECASE,
)
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
    hits: Sequence[Hit],
    terms: Mapping[str, float],
    *,
    most: int,
    about: Sequence[frozenset[str]] = (),
    fewest: int = 2,
) -> tuple[Excerpt, ...]:
    """The sentences that hold most of the terms, from different places, best first.

    Rare terms count more than common ones. At most two sentences of one passage.

    Args:
        hits: Passages, best first; between equal sentences the better passage wins.
        terms: Stems with weights, from `terms_of`.
        most: So many sentences at most.
        about: Names that the question speaks of, each as its stems: a sentence, or the heading it
            stands under, holds at least one of them whole. Empty asks for none.
        fewest: So many of the terms a sentence holds at least (fewer where there are fewer).
    """
    needed = min(fewest, sum(1 for weight in terms.values() if weight >= 1.0) or 1)
    rows = [
        (place, hit, start, end, set(stems(hit.text[start:end])))
        for place, hit in enumerate(hits)
        for start, end in sentences(hit.text)
        if _readable(hit.text[start:end])
    ]
    rarity = _rarity(terms, [own for *_, own in rows])
    found: list[tuple[float, int, Excerpt]] = []
    for place, hit, start, end, own in rows:
        heading = set(stems(f"{hit.prefix} {hit.span.source.title} {hit.span.source.section}"))
        matched = [stem for stem in terms if stem in own]
        both = own | heading
        if sum(stem in both for stem in terms if terms[stem] >= _ASKED) < needed:
            continue
        named = sum(name <= own for name in about)
        if about and not any(name <= both for name in about):
            continue
        score = sum(terms[stem] * rarity[stem] for stem in matched)
        score += sum(0.4 * terms[stem] * rarity[stem] for stem in terms if stem in heading - own)
        score = score * (1 + named) / math.sqrt(4 + len(own)) / (1 + 0.08 * place)
        if hit.span.source.superseded:
            score *= 0.5
        found.append((-score, place, _excerpt(hit, start, end, score)))
    return _varied(sorted(found, key=lambda row: row[:2]), most)


def _readable(text: str) -> bool:
    """A whole statement or table row: no heading, rule, fragment, or pointer to something below."""
    if text.count("|") >= _ROW_BARS:
        return len(text) <= _LONGEST and not set(text) <= _RULE
    if sum(any(c.isalpha() for c in word) for word in text.split()) < _FEWEST_WORDS:
        return False
    plain = _SHORTEST <= len(text) <= _LONGEST and text[0] not in "#>"
    return plain and not _POINTS_ON.search(text)


def _rarity(terms: Mapping[str, float], found: Sequence[set[str]]) -> dict[str, float]:
    """How telling each term is among these sentences: above 0, higher is rarer."""
    return {
        stem: math.log(1 + len(found) / (1 + sum(stem in own for own in found))) + 0.2
        for stem in terms
    }


@value
class Passage:
    """A passage worth quoting: where it stands, and its readable sentences in their order."""

    label: str
    sentences: tuple[Excerpt, ...]
    superseded: bool

    def best(self, most: int) -> tuple[Excerpt, ...]:
        """At most so many sentences, the ones that bear most on the question, in their own order.

        Rows of a short table come together: the row that matters is the reader's to see, and a
        row without its neighbours misleads.
        """
        rows = sum(one.text.count("|") >= _ROW_BARS for one in self.sentences)
        if rows * 2 > len(self.sentences) and len(self.sentences) <= _SHORT_TABLE:
            return self.sentences
        if len(self.sentences) <= most:
            return self.sentences
        ranked = sorted(range(len(self.sentences)), key=lambda at: (-self.sentences[at].score, at))
        return tuple(self.sentences[at] for at in sorted(ranked[:most]))


def best_passages(
    hits: Sequence[Hit],
    terms: Mapping[str, float],
    *,
    most: int,
    about: Sequence[frozenset[str]] = (),
    must: Sequence[frozenset[str]] = (),
) -> tuple[Passage, ...]:
    """The passages that bear on the question, best first, each read in order from where it begins to.

    A passage holds, with its headings, one of the names in `about` whole and two of the question's
    own terms (or the only one); where `must` names medicines, one of these too. Superseded editions
    come after current ones, and a document's preamble after its sections.
    """
    asked = [stem for stem, weight in terms.items() if weight >= 1.0]
    needed = 1 if about else min(2, len(asked) or 1)
    rows = [
        (place, hit, set(stems(hit.text)), set(stems(f"{hit.prefix} {hit.span.source.title}")))
        for place, hit in enumerate(hits)
    ]
    rarity = _rarity(terms, [own | heading for _, _, own, heading in rows])
    found: list[tuple[bool, float, int, Hit]] = []
    for place, hit, own, heading in rows:
        both = own | heading
        if _SOURCES.search(hit.prefix.rpartition(">")[2]):
            continue  # a list of papers answers nothing
        if sum(stem in both for stem in terms if terms[stem] >= _ASKED) < needed:
            continue
        named = sum(name <= both for name in about)
        if (about and not named) or (must and not any(name <= both for name in must)):
            continue
        score = sum(terms[stem] * rarity[stem] for stem in terms if stem in own)
        score += 1.5 * sum(terms[stem] * rarity[stem] for stem in terms if stem in heading)
        last = set(stems(hit.prefix.rpartition(">")[2]))
        score += 2 * sum(terms[stem] * rarity[stem] for stem in terms if stem in last)
        score *= (1 + named) / (1 + 0.15 * place) * (1.0 if ">" in hit.prefix else 0.2)
        found.append((hit.span.source.superseded, -score, place, hit))
    ranked = [hit for *_, hit in sorted(found, key=lambda row: row[:3])]
    made = (_passage(hit, terms) for hit in ranked)
    return tuple(one for one in made if one.sentences)[:most]


def _passage(hit: Hit, terms: Mapping[str, float]) -> Passage:
    spans = [span for span in sentences(hit.text) if _readable(hit.text[span[0] : span[1]])]
    holds = [any(stem in terms for stem in stems(hit.text[a:b])) for a, b in spans]
    start = holds.index(True) if True in holds and len(spans) > _SHORT_PASSAGE else 0
    return Passage(
        label=_label(hit),
        sentences=tuple(
            _excerpt(hit, a, b, _bearing(hit.text[a:b], terms)) for a, b in spans[start:]
        ),
        superseded=hit.span.source.superseded,
    )


def _bearing(text: str, terms: Mapping[str, float]) -> float:
    """How much of the question a sentence holds: at least 0."""
    own = set(stems(text))
    return sum(weight for stem, weight in terms.items() if stem in own)


def _label(hit: Hit) -> str:
    """Where the passage stands, short: the document's first words and the last heading."""
    path = [part.strip() for part in hit.prefix.strip(" []").split(">") if part.strip()]
    parts = path or [hit.span.source.title]
    shown = parts[0] if len(parts) == 1 else f"{parts[0]}, {parts[-1]}"
    year = f", {hit.span.source.dated.year}" if hit.span.source.dated is not None else ""
    if len(shown) > _LABEL:
        shown = shown[:_LABEL].rsplit(" ", 1)[0] + " ..."
    return (shown + year).replace(". ", " ").replace("?", "")


def opening_sentences(hits: Sequence[Hit], *, most: int) -> tuple[Excerpt, ...]:
    """The first readable sentences of the best passage: what a document says at all."""
    found: list[Excerpt] = []
    for hit in hits[:2]:
        for start, end in sentences(hit.text):
            text = hit.text[start:end]
            if _readable(text) and not _HEADER.match(text) and len(found) < most:
                found.append(_excerpt(hit, start, end, 1.0))
    return tuple(found)


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
