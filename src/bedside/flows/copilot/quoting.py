"""What documents, guidelines and papers say, chosen for a question and fitted to its length. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from bedside.clinical.vocabulary import expand
from bedside.core.context import Item
from bedside.flows.copilot.excerpts import (
    Excerpt,
    best_sentences,
    opening_sentences,
    sentences_under,
    terms_of,
)
from bedside.flows.copilot.hard import hard_data_of, hard_items
from bedside.flows.copilot.names import classes_of, ingredients, shown_name
from bedside.flows.copilot.passages import Group, Passage, best_passages, defines, ranked_hits
from bedside.flows.copilot.plan import Nothing, facts_of, hits_of, parsed_of
from bedside.flows.copilot.query import Entity
from bedside.flows.copilot.steps import is_own_step, of_another_age, step_of
from bedside.flows.copilot.tools.events import is_active, thing_name
from bedside.flows.copilot.tools.person import age_on
from bedside.flows.copilot.tools.sheet import Sheet, words_in
from bedside.flows.flow import View
from bedside.knowledge.needs import Hit
from bedside.language.quantities import Quantity
from bedside.language.stems import stems
from bedside.record.needs import RecordFacts

__all__ = [
    "document_sentences",
    "evidence_items",
    "guideline_passages",
    "in_order_of_worth",
    "of_a_letter",
    "papers_fit",
    "passage_lines",
]

_ADULT = 18
_ADULTS = re.compile(r"\badults?\b", re.IGNORECASE)
_CHILDREN = re.compile(
    r"\b(?:child(?:ren|hood)?|p(?:a)?ediatrics?|infants?|neonat\w+|newborns?|adolescents?|teenagers?)\b",
    re.IGNORECASE,
)
_A_CHILD = re.compile(
    r"\b(?:child(?:ren)?|kids?|infants?|bab(?:y|ies)|toddlers?|newborns?|neonat\w+|p(?:a)?ediatric"
    r"|(?:\d|1[0-7])[- ]?(?:(?:years?|yrs?|months?|weeks?)[- ]old|yo|y/o))\b",
    re.IGNORECASE,
)
_MANY_OF = r"(?:\d+|two|three|four|five|six|seven|eight|several|grown|young|small)"
_NO_CHILD = re.compile(
    r"\bchild[- ]?(?:(?:turcotte[- ]?)?pugh|bearing|birth|care|less|proof|resistant)\w*"
    r"|\bbab(?:y|ies)[- ]aspirin"
    rf"|\b(?:(?:mother|mum|mom|father|dad|parent|carer)s? (?:of|to)|has|have|had|with)(?: {_MANY_OF})+ "
    r"(?:child(?:ren)?|kids|babies|infants|toddlers)\b",
    re.IGNORECASE,
)
"""Names of scores, medicines and circumstances of an adult that have a child's word in them."""
_OF_MEDICINES = {"drug", "medications", "plan"}
_SURE = 0.6
_MOST_QUOTED = 4
_MOST_OPENING = 8
_MANY = 3
_CAUTIONS = ("contraindicated avoid stop withhold caution", "renal kidney function eGFR threshold")
_LETTER = re.compile(
    r"\b(?:letter|discharge|summary|report|note|clinic|document|scan|upload|labs?)s?\b",
    re.IGNORECASE,
)
_ADVICE = re.compile(
    r"\b(?:recommend\w*|advi[sc]e\w*|suggest\w*|plan\w*|want\w*|ask(?:ed)? (?:us|for))\b",
    re.IGNORECASE,
)
_ADVISING = re.compile(
    r"\b(?:plan|recommendations?|advice|actions?|follow[- ]up|requests?|to do|for the (?:gp|general))\b",
    re.IGNORECASE,
)
_SOMEONE_SAID = re.compile(
    r"\b(?:did|has|have|had|does|do)\b.*\b(?:recommend|advi[sc]e|suggest|say|said|write|written|want)",
    re.IGNORECASE,
)
_WHOLE = re.compile(
    r"\b(?:summar\w*|sum up|overview|key points?|gist|what(?:'s| is| does) (?:in|it say|this|the))\b",
    re.IGNORECASE,
)


# ---- documents


_TREATING = "seen reviewed examined by Dr doctor consultant nurse"
"""How a letter says who it was, where the question's own words do not occur in it."""


def document_sentences(view: View[Nothing]) -> tuple[Excerpt, ...]:
    """What the patient's documents say to the question, current editions only."""
    hits = hits_of(view, "documents")
    if hits is None:
        return ()
    ids = {str(one) for one in (*view.request.documents, *view.request.selected)}
    chosen = [hit for hit in hits.hits if not ids or str(hit.span.source.id) in ids]
    chosen = [hit for hit in chosen if not hit.span.source.superseded]
    terms = terms_of(view.request.text)
    names = [name for group in groups_in(view) for name in group]
    if not ids and not of_a_letter(view):
        found = best_sentences(chosen, terms, most=2, about=names)
        if found or not any("who" in (one.ask, one.field) for one in parsed_of(view).queries):
            return found
        return best_sentences(chosen, terms_of(_TREATING), most=1, about=names)
    everything = chosen
    if not ids:
        chosen = _titled(chosen, view.request.text)
    if _ADVICE.search(view.request.text):
        advising = sentences_under(chosen, _ADVISING) or sentences_under(everything, _ADVISING)
        if advising:
            return advising[:_MOST_OPENING]
    if _WHOLE.search(view.request.text) and not names:
        return opening_sentences(chosen, most=_MOST_OPENING)
    about_names = best_sentences(chosen, terms, most=_MOST_QUOTED, about=names, fewest=1)
    if names:
        return about_names
    return about_names or opening_sentences(chosen, most=_MOST_OPENING)


def of_a_letter(view: View[Nothing]) -> bool:
    """Does the question ask what a document says?"""
    text = view.request.text
    if view.plan.intent == "letters" or (_SOMEONE_SAID.search(text) and _ADVICE.search(text)):
        return True
    if not _LETTER.search(text) or view.plan.intent == "synopsis":
        return False
    hits = hits_of(view, "documents")
    said = set(stems(text))
    return hits is not None and any(said & set(stems(hit.span.source.title)) for hit in hits.hits)


def _titled(hits: Sequence[Hit], text: str) -> list[Hit]:
    """The passages of the documents that the question names by title, else all of them."""
    said = set(stems(text))
    share = {
        str(hit.span.source.id): len(said & set(stems(f"{hit.span.source.title} {hit.prefix}")))
        for hit in hits
    }
    best = max(share.values(), default=0)
    return [hit for hit in hits if share[str(hit.span.source.id)] == best]


# ---- what the question names


def groups_in(view: View[Nothing], *kinds: str) -> tuple[Group, ...]:
    """What the question names, one group each: its usual name, as it was said, its classes."""
    found: list[Group] = []
    for entity in parsed_of(view).entities:
        if kinds and entity.kind not in kinds:
            continue
        names = tuple(dict.fromkeys(frozenset(stems(one)) for one in _names(entity) if stems(one)))
        if names:
            found.append(names)
    return tuple(found)


def _names(entity: Entity) -> list[str]:
    names = [thing_name(entity).split(" (")[0], entity.said, shown_name(entity.key)]
    names += [one.replacement for one in expand(entity.said) if one.weight > _SURE]
    return [*names, *classes_of(entity)]


def _named_fully(view: View[Nothing]) -> str:
    """The question, with the classes of its medicines: a guideline may speak of these alone."""
    classes = [name for entity in parsed_of(view).entities for name in classes_of(entity)]
    return " ".join([view.request.text, *dict.fromkeys(classes)])


# ---- guidelines


def _problems(view: View[Nothing]) -> list[str]:
    record = facts_of(view)
    if record is None:
        return []
    found = [fact.name for fact in record.of("conditions") if is_active(fact)][:6]
    return [*found, *(_CAUTIONS if view.plan.intent == "drug" else ())]


def in_order_of_worth(view: View[Nothing]) -> tuple[Hit, ...]:
    """The guideline passages found, those that answer the question first, each once."""
    hits = hits_of(view, "knowledge")
    if hits is None:
        return ()
    ranked = ranked_hits(
        hits.hits,
        terms_of(_named_fully(view), more=_problems(view)),
        text=view.request.text,
        about=groups_in(view),
        must=groups_in(view, "drug", "drug_class"),
    )
    return (*ranked, *(hit for hit in hits.hits if hit not in ranked))


_VACCINES: Group = tuple(frozenset(stems(one)) for one in ("vaccine", "vaccination", "immunisation", "immunization"))  # fmt: skip


def guideline_passages(view: View[Nothing], *, most: int) -> tuple[Passage, ...]:
    """The guideline passages worth quoting, the best first."""
    hits = hits_of(view, "knowledge")
    if hits is None:
        return ()
    hits = replace(hits, hits=tuple(hit for hit in hits.hits if not _of_another_age(view, hit)))
    about, must, least = groups_in(view), groups_in(view, "drug", "drug_class"), 1
    if view.plan.intent == "immunizations":
        must = (*must, _VACCINES)
    record = facts_of(view)
    if record is not None and not about:
        if view.plan.intent in {"drug", "medications"}:
            about, least = _taken(record), 2
        if not about and (view.plan.intent == "unknown" or not _says_enough(view, hits.hits)):
            return ()
    only_figures = all(one.kind in {"analyte", "panel"} for one in parsed_of(view).entities)
    unsaid = only_figures and least == 1 and not _says_enough(view, hits.hits, many=2)
    if record is not None and about and unsaid:
        return ()
    found = best_passages(
        hits.hits,
        terms_of(_named_fully(view), more=_problems(view)),
        most=most,
        text=view.request.text,
        about=about,
        must=must,
        least=least,
    )
    return tuple(kept for one in found if (kept := _of_this_age(one, view)).sentences)


def _of_this_age(passage: Passage, view: View[Nothing]) -> Passage:
    """The passage without the sentences that are for another age than the patient's."""
    record, today = facts_of(view), view.opened.as_of
    own = (one for one in passage.sentences if not of_another_age(one.text, record, today=today))
    return replace(passage, sentences=tuple(own))


def _of_another_age(view: View[Nothing], hit: Hit) -> bool:
    """True of a passage that is not for this patient's age, where the patient, or with none open the question, is a child.

    That is a guideline whose title says adults; of medicines any passage that does not speak of
    children, since its doses would be read as the child's.
    """
    record = facts_of(view)
    born = record.person.birth_date if record is not None else None
    if born is None and not _A_CHILD.search(_NO_CHILD.sub("", view.request.text)):
        return False
    if born is not None and age_on(born, view.opened.as_of) >= _ADULT:
        return False
    source = hit.span.source
    if _CHILDREN.search(_NO_CHILD.sub("", f"{source.title} {hit.prefix} {hit.text}")):
        return False
    return view.plan.intent in _OF_MEDICINES or bool(_ADULTS.search(source.title))


def _taken(record: RecordFacts) -> tuple[Group, ...]:
    """The active medicines, one group each: a passage on two of them is on the two together."""
    generics = {
        generic
        for fact in record.of("medications")
        if is_active(fact)
        for generic in ingredients(fact)
    }
    return tuple((frozenset(stems(one)),) for one in sorted(generics))


def _says_enough(view: View[Nothing], hits: Sequence[Hit], *, many: int = _MANY) -> bool:
    """With a patient and no problem or medicine named: `many` of its words stand in one passage."""
    asked = {stem for stem, weight in terms_of(view.request.text).items() if weight >= 1.0}
    return any(len(asked & set(stems(f"{hit.prefix} {hit.text}"))) >= many for hit in hits)


def passage_lines(
    passage: Passage,
    sheet: Sheet,
    *,
    most: int,
    words: int,
    record: RecordFacts | None = None,
    said: Mapping[str, Quantity] | None = None,
) -> list[str]:
    """A passage under its place, within `words`; empty where not one sentence fits.

    A short table comes whole where it fits. Where it does not, and its rows are steps of a value
    that the question gives (`said`) or `record` holds, the row of that value comes and its neighbours do not: a step that is not
    the patient's would mislead. Else the rows and sentences that bear most.
    """
    old = ", superseded edition" if passage.superseded else ""
    label = f"{passage.label}{old}:"
    left = words - words_in(label)
    wanted = passage.sentences if passage.tabular else passage.best(most)
    if sum(words_in(one.shown) for one in wanted) > left:
        steps = [one for one in passage.sentences if step_of(one) is not None]
        if steps:
            own = [one for one in steps if is_own_step(one, record, said)]
            prose = [one for one in passage.sentences if one not in steps]
            fits = prose[: max(most - len(own), 0)]
            wanted = tuple(one for one in passage.sentences if one in own or one in fits)
            passage = replace(passage, sentences=wanted)
        wanted = passage.best(most)
    kept: list[Excerpt] = []
    for one in sorted(wanted, key=lambda one: (step_of(one) is None, -one.score)):
        need = words_in(one.shown)
        if need <= left:
            kept.append(one)
            left -= need
    shown = [one for one in wanted if one in kept]
    if not shown:
        return []
    return [label, *(f"- {one.shown} {sheet.cite_item(one.item, head=one.head)}" for one in shown)]


# ---- papers


def evidence_items(view: View[Nothing]) -> list[Item]:
    """Decision nodes that speak of what the question names; they decide on treatment, define nothing."""
    if view.opened.pinned.get("unreviewed") == "off" or defines(view.request.text):
        return []
    items = hard_items(hard_data_of(view))
    groups = groups_in(view)
    if groups:
        items = [one for one in items if _speaks_of(one, groups)]
    return items[:2]


def _speaks_of(item: Item, groups: Sequence[Group]) -> bool:
    words = set(stems(item.body))
    return all(any(name <= words for name in group) for group in groups)


_PAPER = re.compile(r"- (?P<finding>.*?) \[(?P<kind>[^:\]]+): .* (?P<year>\d{4}); (?P<id>[^\]]+)\]")


def papers_fit(item: Item, sheet: Sheet, *, words: int) -> list[str]:
    """The findings of a decision node, each with the kind of study and its identifier."""
    lines: list[str] = []
    for line in item.body.split("\n")[1:]:
        found = _PAPER.match(line)
        if found is None:
            continue
        mark = found["id"].split(", ")[-1]
        said = f"- {found['finding'].rstrip('.')} ({found['kind']}; {mark})"
        if words_in(said) <= words:
            words -= words_in(said)
            lines.append(f"{said} {sheet.cite_item(item)}")
    return lines
