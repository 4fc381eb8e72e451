"""Guideline passages for a record without being asked: queries by rule, best sentences (BR-07). Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from bedside.clinical.drugs import find_drugs, ingredients_of
from bedside.clinical.monitoring import rules_for_condition
from bedside.clinical.vocabulary import expand
from bedside.core.context import Item
from bedside.core.source import Span
from bedside.core.turn import Got, Lost
from bedside.core.value import value
from bedside.flows.briefing.findings import Cited
from bedside.flows.briefing.fitting import Reader, advises, fits, stands_alone
from bedside.flows.briefing.reading import Chart, is_past, plain
from bedside.flows.parts import hit_item
from bedside.knowledge.needs import Hit, Hits, SearchNeed
from bedside.language.sentences import sentences
from bedside.language.stems import stems
from bedside.record.abnormal import short_name
from bedside.record.rows import says_none_known

__all__ = ["Guidance", "Query", "guidance_of", "hit_items", "need_of", "queries_of"]

_PROBLEMS, _RESULTS, _MEDICINES = 4, 3, 4
_HITS = 8
_MOST = 5
_SHORTEST, _LONGEST = 40, 320
_SURE = 0.7
_QUALIFIERS = frozenset(
    (
        "stage", "1", "2", "3", "3a", "3b", "4", "5", "mellitus", "essential", "primary", "chronic",
        "acute", "mild", "moderate", "severe", "type", "ii", "i", "localized,", "perennial", "of",
    )
)  # fmt: skip
_VAGUE = frozenset(
    (
        "pain",
        "disease",
        "disorder",
        "infection",
        "failure",
        "syndrome",
        "injury",
        "disorders",
        "bronchitis",
    )
)
"""What is left of a name without its qualifiers, and no longer says which illness is meant."""
_SUDDEN = re.compile(
    r"\b(?:stroke|infarction|embol\w+|h(?:a)?emorrhage|arrest|acute|attack)\b", re.IGNORECASE
)
_STAGE = re.compile(r"\bstage\s*(\d[ab]?)\b", re.IGNORECASE)
_NEW_DAYS = 60
_PAPER = re.compile(r"\bet al\b|\bdoi\b|\bISBN\b|^\d+\.\s", re.IGNORECASE)
_ADVICE = frozenset(
    stem
    for word in (
        "target", "recommend", "should", "monitor", "check", "offer", "avoid", "reduce", "stop",
        "start", "first", "review", "measure", "treat", "dose", "screen", "yearly", "consider",
    )
    for stem in stems(word)
)  # fmt: skip


@value
class Query:
    """One search: what it is about, the query text, and the names of which a passage holds one.

    With `strict` the sentence itself holds it, and the heading one of the problems; else the heading
    does, or the sentence begins with it. `reader` is for whom a sentence is looked for, `taken`
    are the generics of the current medicines.
    """

    about: str
    text: str
    names: tuple[str, ...]
    strict: bool = False
    reader: Reader = Reader(age=None, sex="", pregnant=False)
    taken: frozenset[str] = frozenset()


@value
class Guidance:
    """What the searches brought.

    `sentences` are quoted guideline sentences. `state` is "found", "none" (nothing relevant),
    "failed" (no search answered) or "not asked" (nothing to ask about). `superseded` names titles
    of superseded editions among them.
    """

    sentences: tuple[Cited, ...]
    state: Literal["found", "none", "failed", "not asked"]
    superseded: tuple[str, ...] = ()


def queries_of(chart: Chart) -> tuple[Query, ...]:
    """One query for each open problem, abnormal value and medicine, the gravest first; each once.

    None for who died, and none about what happened once and is over.
    """
    found: dict[str, Query] = {}
    if chart.died:
        return ()
    for one in (*_of_problems(chart), *_of_results(chart), *_of_medicines(chart)):
        found.setdefault(one.about.casefold(), one)
    return tuple(found.values())


def _of_problems(chart: Chart) -> Iterator[Query]:
    asked = sorted(
        (one for one in chart.problems if not is_past(one, chart.today)),
        key=lambda one: not rules_for_condition(plain(one.name)),  # first what wants watching
    )
    for fact in asked[:_PROBLEMS]:
        name = plain(fact.name)
        lasting = fact.when is None or (chart.today - fact.when.date()).days > _NEW_DAYS
        if "pregnan" in name.casefold():
            yield Query(
                about=name, text="antenatal care", names=("antenatal care",), reader=_reader(chart)
            )
            continue
        if lasting and _SUDDEN.search(name):
            continue  # guidelines speak of its first days, and the later illnesses have own names
        bare = " ".join(word for word in name.split() if word.casefold() not in _QUALIFIERS)
        others = [one.replacement for one in expand(name) if one.weight >= _SURE]
        names = dict.fromkeys(one for one in (name, bare, *others) if one)
        yield Query(
            about=name,
            text=f"{name} management",
            names=tuple(one for one in names if one.casefold() not in _VAGUE),
            reader=_reader(chart, name, lasting=lasting),
        )


def _reader(chart: Chart, name: str = "", *, lasting: bool = True) -> Reader:
    stage = _STAGE.search(name)
    return Reader(
        age=chart.age,
        sex=chart.sex,
        pregnant=chart.pregnant is True,
        stage=stage[1].casefold() if stage else "",
        lasting=lasting,
        barred=_barred(chart),
        allergies=tuple(
            one.name
            for one in chart.record.of("allergies")
            if one.status not in {"resolved", "inactive"} and not says_none_known(one)
        ),
    )


def _barred(chart: Chart) -> frozenset[str]:
    """The generics of current medicines that a result or an allergy speaks against."""
    return frozenset(
        generic
        for insight in chart.record.insights
        if insight.kind in {"drug_lab", "drug_allergy"} and insight.severity != "info"
        for generic in ingredients_of(insight.facts[0].name)
    )


def _of_results(chart: Chart) -> Iterator[Query]:
    found = [
        one
        for one in chart.record.insights
        if one.kind == "abnormal" and one.rule != "abnormal-minor"
    ]
    for insight in found[:_RESULTS]:
        name = short_name(insight.facts[0])
        yield Query(
            about=name,
            text=insight.title.rpartition(": ")[0],
            names=(name,),
            strict=True,
            reader=_reader(chart),
            taken=_taken(chart),
        )


def _taken(chart: Chart) -> frozenset[str]:
    return frozenset(generic for one in chart.medicines for generic in one.generics)


def _of_medicines(chart: Chart) -> Iterator[Query]:
    for medicine in chart.systemic[:_MEDICINES]:
        name = medicine.generics[0]
        yield Query(
            about=name,
            text=f"{name} dose monitoring",
            names=(name,),
            strict=True,
            reader=_reader(chart),
            taken=_taken(chart),
        )


def need_of(query: Query) -> SearchNeed:
    """The search that a query makes."""
    return SearchNeed(
        name="guidelines",
        query=query.text[:400],
        corpus="knowledge",
        limit=_HITS,
    )


def guidance_of(queries: Sequence[Query], gathered: Mapping[object, Got[Hits] | Lost]) -> Guidance:
    """The best sentence for each subject, from its own search, superseded editions last."""
    if not queries:
        return Guidance(sentences=(), state="not asked")
    answered = 0
    rows: list[Cited] = []
    old: list[str] = []
    seen: set[tuple[str, int]] = set()
    problems = [
        frozenset(stems(name))
        for one in queries
        if not one.strict
        for name in one.names
        if stems(name)
    ]
    for query in queries:
        found = gathered.get(need_of(query))
        if not isinstance(found, Got):
            continue
        answered += 1
        best = _best(found.value.hits, query, seen, problems)
        if best is None or len(rows) == _MOST:
            continue
        item, mark = best
        assert item.span is not None
        seen.add((str(item.span.source.id), item.span.start))
        if mark:
            old.append(item.span.source.title)
        rows.append(
            Cited(text=f"{query.about}: {_flat(item.body)}{mark}", items=(item,), counted=False)
        )
    state = "found" if rows else ("none" if answered else "failed")
    return Guidance(sentences=tuple(rows), state=state, superseded=tuple(dict.fromkeys(old)))


def _best(
    hits: Sequence[Hit],
    query: Query,
    seen: set[tuple[str, int]],
    problems: Sequence[frozenset[str]],
) -> tuple[Item, str] | None:
    wanted = [frozenset(stems(name)) for name in query.names if stems(name)]
    ranked: list[tuple[bool, float, Item]] = []
    for place, hit in enumerate(hits):
        path = f"{hit.span.source.title} > {hit.prefix}"
        heading = set(stems(path))
        about = any(name <= heading for name in (problems if query.strict else wanted))
        if query.strict and not about:
            continue  # of another illness: a medicine stands in many guidelines
        for start, end in sentences(hit.text):
            body = hit.text[start:end]
            if not _readable(body):
                continue
            own = set(stems(body))
            named = any(name <= own for name in wanted)
            said = _flat(body)
            if not named if query.strict else not (about or _opens_with(said, wanted)):
                continue
            if _PAPER.search(body) or not (advises(said) and stands_alone(said)):
                continue
            if not fits(path, said, query.reader) or (query.strict and _of_others(said, query)):
                continue
            at = (str(hit.span.source.id), hit.span.start + start)
            if at in seen:
                continue
            score = (2.0 * named + len(own & _ADVICE)) / math.sqrt(4 + len(own)) - 0.1 * place
            span = Span(source=hit.span.source, start=at[1], end=hit.span.start + end)
            item = Item(
                body,
                key=f"{hit.chunk_id}:{start}",
                span=span,
                note="superseded edition" if hit.span.source.superseded else "",
                dated=hit.span.source.dated,
            )
            ranked.append((not hit.span.source.superseded, score, item))
    if not ranked:
        return None
    current, _, item = max(ranked, key=lambda row: row[:2])
    return item, "" if current else " (superseded edition)"


def _of_others(said: str, query: Query) -> bool:
    """Does a sentence about a result or a medicine name medicines, and none that is taken?"""
    named = {drug for one in find_drugs(said) for drug in one.ingredients}
    return bool(named) and not named & query.taken


def _opens_with(said: str, names: Sequence[frozenset[str]]) -> bool:
    """Is the sentence about one of these: does it begin with its name?"""
    words = said.split()
    return any(name <= set(stems(" ".join(words[: len(name) + 2]))) for name in names)


def _readable(text: str) -> bool:
    return (
        _SHORTEST <= len(text) <= _LONGEST
        and text[0] not in "#>|"
        and "|" not in text
        and not text.rstrip().endswith((":", "?"))
    )


def _flat(text: str) -> str:
    return " ".join(text.lstrip("-*• ").split()).replace("**", "").rstrip(".")


def hit_items(hits: Hits) -> tuple[Item, ...]:
    """The passages of a search as the items that a model reads."""
    return tuple(hit_item(hit) for hit in hits.hits)
