"""The guideline passages that answer a question, best first. Pure.

Search finds candidates; here a passage counts by what it covers: every thing that the question
names, the document that is about it, and a heading of the kind that was asked for (a dose, a
target, a first choice).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from bedside.core.value import value
from bedside.flows.copilot.excerpts import Excerpt, excerpt_of, rarity_of, readable_spans
from bedside.knowledge.needs import Hit
from bedside.language.stems import stems

__all__ = ["Passage", "asked_for", "best_passages", "defines", "ranked_hits"]

_LABEL = 90
_SHORT_PASSAGE = 6
_SHORT_TABLE = 3
_ASKED = 0.6
"""From this weight on a term is the question's own, not a guess from the record."""
_ROW_BARS = 2
_OF_KIND = 2.5
_SPECIAL = frozenset(
    stem for word in ("pregnancy", "children", "breastfeeding") for stem in stems(word)
)
"""A passage on these people answers a question only where it speaks of them."""
_OF_THE_BEST = 0.3
_BY_PLACE = 0.3
"""How much each place in the search's own order counts."""
_SMALL = frozenset(stems("and or of the in on an a at to for"))
"""A passage far below the best one is left out."""
_SOURCES = re.compile(r"\b(?:sources?|references?|bibliography|further reading)\b", re.IGNORECASE)
Name = frozenset[str]
Group = tuple[Name, ...]
"""One thing that the question names: its names, each as stems."""

_DEFINING = "definition diagnosis tests"
_KINDS: tuple[tuple[str, str, str], ...] = (
    (
        r"first[- ]line|treat\w*|therap\w*|manag\w*|drug of choice|which (?:drug|medicine|antibiotic)",
        r"treat\w*|first[- ](?:line|choice)|first step|choice|therap\w*|oral|how to give",
        "treatment first choice of drug",
    ),
    (
        r"step[- ]?up|step[- ]?down|escalat\w*|next step|uncontrolled|add(?:[- ]on)?",
        r"steps?|track|add\w*|go on|resistant|step[- ]up",
        "steps step up treatment",
    ),
    (
        r"dos(?:e|es|ing|age)|how much|start\w*",
        r"start\w*|dos\w*|first choice|kidney function|adjust",
        "starting dose adjustment",
    ),
    (r"targets?|goals?|aim", r"targets?|aim|warfarin", "target"),
    (
        r"criteria|diagnos\w*|defin\w*|when is",
        r"defin\w*|diagnos\w*|tests?|criteria|assess",
        _DEFINING,
    ),
    (
        r"monitor\w*|how often|follow[- ]up|check",
        r"monitor\w*|tests?|how often|follow[- ]up",
        "monitoring how often",
    ),
    (
        r"refer\w*|red flags?|urgent\w*|admit|emergency",
        r"refer\w*|red flags?|emergenc\w*|place",
        "red flags refer urgently",
    ),
    (
        r"interact\w*|safe|avoid|contraindicat\w*|stop|withhold|can (?:i|she|he|they)|continue",
        r"interact\w*|avoid|leave|harm|cautions?|safety|allerg\w*|kidney function|hyperkal\w*",
        "avoid caution interactions",
    ),
    (
        r"switch\w*|chang(?:e|ing)|convert\w*|swap\w*",
        r"switch\w*|chang(?:e|ing)|from",
        "changing from one to another",
    ),
    (r"how long|duration|course", r"treat\w*|how to give|how long|duration", "treatment duration"),
    (
        r"acute|attacks?|flares?|exacerbations?|severe",
        r"acute|attacks?|flares?|exacerbations?|severe",
        "acute attack",
    ),
)
_ASKS = tuple(
    (
        re.compile(rf"\b(?:{asked})\b", re.IGNORECASE),
        re.compile(rf"\b(?:{heading})\b", re.IGNORECASE),
        words,
    )
    for asked, heading, words in _KINDS
)


def asked_for(text: str) -> str:
    """The kinds of answer that a question asks for, as the words of headings; "" for none known."""
    return " ".join(words for asked, _, words in _ASKS if asked.search(text))


def defines(text: str) -> bool:
    """Does a question ask for a definition, a test or criteria, and for nothing else known?"""
    return asked_for(text) == _DEFINING


@value
class Passage:
    """A passage worth quoting: where it stands, and its readable sentences in their order."""

    label: str
    sentences: tuple[Excerpt, ...]
    superseded: bool

    @property
    def tabular(self) -> bool:
        """True when most of it is a table: a row without its neighbours may mislead."""
        rows = sum(one.text.count("|") >= _ROW_BARS for one in self.sentences)
        return rows * 2 > len(self.sentences)

    def best(self, most: int) -> tuple[Excerpt, ...]:
        """At most so many sentences, the ones that bear most on the question, in their own order."""
        if len(self.sentences) <= most:
            return self.sentences
        ranked = sorted(range(len(self.sentences)), key=lambda at: (-self.sentences[at].score, at))
        return tuple(self.sentences[at] for at in sorted(ranked[:most]))


@value
class _Scored:
    hit: Hit
    score: float
    covered: float
    headed: bool


def ranked_hits(
    hits: Sequence[Hit],
    terms: Mapping[str, float],
    *,
    text: str,
    about: Sequence[Group] = (),
    must: Sequence[Group] = (),
) -> tuple[Hit, ...]:
    """The passages that bear on the question, best first; current editions before superseded ones.

    Args:
        hits: Candidates, best of the search first.
        terms: Stems with weights, from `terms_of`.
        text: The question, for the kind of answer that it asks for.
        about: What the question names; a passage holds, with its headings, at least one of them.
        must: Of these a passage holds one: medicines.
    """
    return tuple(one.hit for one in _scored(hits, terms, text=text, about=about, must=must))


def _scored(
    hits: Sequence[Hit],
    terms: Mapping[str, float],
    *,
    text: str,
    about: Sequence[Group],
    must: Sequence[Group],
    least: int = 1,
) -> list[_Scored]:
    of_kind = {stem for asks, *_ in _ASKS for said in asks.findall(text) for stem in stems(said)}
    terms = {stem: weight for stem, weight in terms.items() if stem not in of_kind} or terms
    asked = [stem for stem, weight in terms.items() if weight >= 1.0]
    needed = 1 if about else min(2, len(asked) or 1)
    rows = [
        (hit, set(stems(hit.text)), set(stems(f"{hit.prefix} {hit.span.source.title}")))
        for hit in hits
    ]
    rarity = rarity_of(terms, [own | heading for _, own, heading in rows])
    written = set(stems(text))
    wanted = [kind for asks, kind, _ in _ASKS if asks.search(text)]
    found: list[_Scored] = []
    for hit, own, heading in rows:
        both = own | heading
        last = hit.prefix.strip(" []").rpartition(">")[2]
        if _SOURCES.search(last):
            continue  # a list of papers answers nothing
        if sum(stem in both for stem in terms if terms[stem] >= _ASKED) < needed:
            continue
        held = sum(_holds(group, both) for group in about)
        if (about and held < least) or (must and not any(_holds(group, both) for group in must)):
            continue
        covered = held / len(about) if about else 1.0
        title = set(stems(hit.span.source.title))
        titled = sum(_holds(group, title) for group in about) / len(about) if about else 0.0
        score = sum(terms[stem] * rarity[stem] for stem in terms if stem in both)
        score += 0.5 * sum(terms[stem] * rarity[stem] for stem in terms if stem in own)
        score += 0.5 * sum(terms[stem] * rarity[stem] for stem in terms if stem in set(stems(last)))
        score *= (0.3 + covered) ** 2 * (1 + titled) / (1 + _BY_PLACE * (hit.rank - 1))
        below = hit.prefix.strip(" []").partition(">")[2]
        score *= _OF_KIND ** sum(1 for kind in wanted if kind.search(below))
        said = bool(tail := set(stems(last)) - _SMALL) and tail <= written
        score *= _OF_KIND ** (said + bool(_SPECIAL & set(terms) & set(stems(below))))
        headed = any(_holds(group, set(stems(last))) for group in must)
        score *= 1.5 if headed else 1.0
        special = _SPECIAL & (heading if "adult" not in title else set(stems(below)))
        score *= 0.3 if special - set(terms) else 1.0
        score *= 1.0 if ">" in hit.prefix else 0.2  # a preamble answers little
        found.append(_Scored(hit=hit, score=score, covered=covered, headed=headed))
    return sorted(found, key=lambda one: (one.hit.span.source.superseded, -one.score))


def _holds(group: Group, words: set[str]) -> bool:
    return any(name <= words for name in group)


def best_passages(
    hits: Sequence[Hit],
    terms: Mapping[str, float],
    *,
    most: int,
    text: str,
    about: Sequence[Group] = (),
    must: Sequence[Group] = (),
    least: int = 1,
) -> tuple[Passage, ...]:
    """At most so many passages to quote, the best first; what is far below the best is left out.

    Arguments as for `ranked_hits`; `least` of the names in `about` stand in a passage.
    """
    scored = _scored(hits, terms, text=text, about=about, must=must, least=least)
    if not scored:
        return ()
    top = max(one.score for one in scored)
    fullest = max(one.covered for one in scored)
    kept = [
        one
        for one in scored
        if one.score >= top * _OF_THE_BEST and (one.covered >= fullest or one.headed)
    ]
    made = (_passage(one.hit, terms, about) for one in kept)
    return tuple(one for one in made if one.sentences)[:most]


def _passage(hit: Hit, terms: Mapping[str, float], about: Sequence[Group]) -> Passage:
    spans = readable_spans(hit)
    rows = [span for span in spans if span[2] is not None]
    naming = [
        span
        for span in rows
        if any(_holds(group, set(stems(hit.text[span[0] : span[1]]))) for group in about)
    ]
    headed = any(
        span[2] and any(_holds(group, set(stems(" ".join(span[2].names)))) for group in about)
        for span in rows
    )
    if naming and not headed and len(rows) > _SHORT_TABLE:
        # Of a long table the rows that name what was asked for, and what stands around the table.
        spans = [span for span in spans if span[2] is None or span in naming]
    holds = [any(stem in terms for stem in stems(hit.text[a:b])) for a, b, _ in spans]
    start = holds.index(True) if True in holds and len(spans) > _SHORT_PASSAGE else 0
    return Passage(
        label=_label(hit),
        sentences=tuple(
            excerpt_of(hit, a, b, _bearing(hit.text[a:b], terms), header=columns)
            for a, b, columns in spans[start:]
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
