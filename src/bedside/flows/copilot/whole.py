"""What heads the answer to a question about the patient as a whole: abnormal results, findings. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date

from bedside.clinical.vocabulary import expand
from bedside.flows.copilot.lexicon import is_plain
from bedside.flows.copilot.names import scores_in
from bedside.flows.copilot.plan import ABNORMAL, INTERACTION, Nothing, parsed_of
from bedside.flows.copilot.query import Parsed, Window
from bedside.flows.copilot.room import MOST_GAPS, say_if_fits, short_text
from bedside.flows.copilot.standing import (
    shown_line,
)
from bedside.flows.copilot.tools.sheet import Sheet, day_of, joined
from bedside.flows.flow import View
from bedside.flows.parts import rule_item
from bedside.record.abnormal import abnormal_now, short_name
from bedside.record.abnormal import readings_of as readings_by_analyte
from bedside.record.insights import priorities
from bedside.record.needs import Fact, Insight, RecordFacts

__all__ = ["tell_gravest", "tell_insight", "tell_whole"]

_ALSO = 20
"""Words kept back for the names of what found no room."""
_BROAD = {"plan", "unknown", "risk", "diagnosis", "question", "drug", "protocol"}
_OF_MEDICINES = {"drug_allergy", "drug_lab", "drug_drug", "drug_condition"}
_GENERIC = frozenset(
    [
        "who",
        "status",
        "score",
        "scores",
        "level",
        "result",
        "results",
        "test",
        "tests",
        "value",
        "can",
        "could",
        "will",
        "would",
        "may",
        "might",
        "must",
        "shall",
        "should",
        "not",
        "done",
        "about",
        "with",
        "from",
        "been",
    ]
)
_ABBREVIATED = 4
"""A replacement as short as this would be found inside other words."""
_BEGINS = 4
"""So many letters may begin a word of the record: "car" begins too many."""
_LOOKUP = 6


def tell_whole(
    view: View[Nothing], record: RecordFacts, sheet: Sheet, limit: int, *, medicines: bool
) -> bool:
    """What heads the answer to a question that names no entry; True where that is all of it."""
    parsed = parsed_of(view)
    if _abnormal(view, record, sheet, limit) or _interacting(view, record, sheet, limit):
        return True
    words = _own_words(view, parsed)
    having = _having(words, record)
    if words and not having:
        _say_unmatched(words, sheet)
    elif _lookup(view):
        for fact in having[:MOST_GAPS]:
            sheet.say(f"{shown_line(fact)} {sheet.cite(fact)}")
    alone = bool(words) and (_lookup(view) or not having)
    if view.plan.intent in _BROAD and not alone:
        _leading(record, sheet, limit, medicines=medicines)
    return alone


def _lookup(view: View[Nothing]) -> bool:
    """A question of so few words looks one thing up."""
    return len(view.request.text.split()) <= _LOOKUP


def _abnormal(view: View[Nothing], record: RecordFacts, sheet: Sheet, limit: int) -> bool:
    """The newest results that stand outside their range, of the time asked for, where asked for."""
    asked = ABNORMAL.search(view.request.text) and "labs" in parsed_of(view).topics
    if not asked:
        return False
    windows = parsed_of(view).windows
    found = _abnormal_in(windows, record) if windows else _newest_abnormal(record)
    left: list[Fact] = []
    for one in found:
        before = sheet.words
        tell_insight(one, sheet, limit - _ALSO)
        if sheet.words == before:
            left.append(one.facts[0])
    if left:
        names = joined([f"{short_name(fact)} {sheet.cite(fact)}" for fact in left])
        sheet.say(f"Also outside their range: {names}.")
    if not found:
        span = f" {windows[0].said}" if windows else ""
        sheet.say(f"No rule finds a newest result{span} outside its range.")
    return True


def _interacting(view: View[Nothing], record: RecordFacts, sheet: Sheet, limit: int) -> bool:
    """What the tables say of the current medicines with one another, where that was asked."""
    if not INTERACTION.search(view.request.text):
        return False
    found = [one for one in record.insights if one.kind == "drug_drug"]
    for one in found:
        if not all(sheet.cites(fact) for fact in one.facts) or "duplicate" not in one.rule:
            tell_insight(one, sheet, limit)
    if not found:
        sheet.say("No rule of the tables names two of the current medicines together.")
    sheet.count("What no table names is not thereby safe.")
    return True


def _newest_abnormal(record: RecordFacts) -> list[Insight]:
    return [one for one in record.insights if one.kind == "abnormal"]


def _abnormal_in(windows: Sequence[Window], record: RecordFacts) -> list[Insight]:
    """The same of a time: the newest of each measurement in it, a newer one after it or not."""

    def inside(fact: Fact) -> bool:
        return any(window.holds(day_of(fact)) for window in windows)

    now = [one for one in _newest_abnormal(record) if inside(one.facts[0])]
    told = {str(one.facts[0].source.id) for one in now}
    within = readings_by_analyte(filter(inside, record.of("observations")), as_of=date.max)
    then = abnormal_now(within, record.person, pregnant=None)
    return [*now, *(one for one in then if str(one.facts[0].source.id) not in told)]


def _say_unmatched(words: Sequence[str], sheet: Sheet) -> None:
    said = joined([f'"{word}"' for word in words[:MOST_GAPS]])
    sheet.count(f"Nothing in the record was matched to {said}.")
    for word in words[:MOST_GAPS]:
        sheet.missing(word)


def _own_words(view: View[Nothing], parsed: Parsed) -> list[str]:
    """The words that carry a question of no known kind, which names nothing that rules know."""
    if view.plan.intent not in {"unknown", "labs"} or parsed.entities or parsed.topics:
        return []
    if scores_in(view.request.text):
        return []
    words = [word for word in parsed.unknown if word not in _GENERIC and len(word) > 1]
    return [one for one in words if view.plan.intent == "unknown" or not is_plain(one)]


def _having(words: Sequence[str], record: RecordFacts) -> list[Fact]:
    """The entries that have one of the words, or what an abbreviation among them stands for.

    A word of four letters or more may begin a longer one; a shorter one stands alone. The person's
    own data are no entry: "next of kin contact" is nobody's number that is told there.
    """
    meant = [one.replacement.lower() for one in expand(" ".join(words))]
    meant = [one for one in meant if len(one) > _ABBREVIATED]
    forms = [
        re.compile(rf"(?<!\w){re.escape(one)}" + ("" if len(one) >= _BEGINS else r"(?!\w)"))
        for one in (*words, *meant)
    ]
    return [
        fact
        for fact in record.facts
        if fact.category != "demographics" and any(one.search(fact.line.lower()) for one in forms)
    ]


def _leading(record: RecordFacts, sheet: Sheet, limit: int, *, medicines: bool) -> None:
    """The gravest findings by rule head a question about the patient as a whole."""
    for one in _of_first_rank(record, medicines=medicines):
        if all(sheet.cites(fact) for fact in one.facts):
            continue
        tell_insight(one, sheet, limit)


def tell_gravest(record: RecordFacts, sheet: Sheet, limit: int) -> None:
    """The gravest critical finding of entries together, where the answer does not tell it yet."""
    for one in priorities(record):
        if one.severity == "critical" and one.reference is not None:
            if not all(sheet.cites(fact) for fact in one.facts):
                tell_insight(one, sheet, limit)
            return


def _of_first_rank(record: RecordFacts, *, medicines: bool) -> Sequence[Insight]:
    if not medicines:
        return [one for one in priorities(record) if one.severity != "info"]
    return [one for one in record.insights if one.kind in _OF_MEDICINES][:3]


def tell_insight(one: Insight, sheet: Sheet, limit: int) -> None:
    """Say what an insight rule found, with what it rests on, where there is room."""
    marks = sheet.cite(*one.facts[:3])
    if one.reference is not None:
        marks += sheet.cite_item(rule_item(one.reference))
    if say_if_fits(f"By rule: {short_text(one.text)} {marks}", sheet, limit):
        sheet.calculated(one.text)
