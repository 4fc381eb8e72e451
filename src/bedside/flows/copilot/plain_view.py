"""The patient's own view of an answer: what a result means in everyday words (CO-10). Pure.

The laboratory's own range decides first; without one, the reference pack. Where neither says, the
text says that it cannot tell. The words are fixed text of a pack, never composed.
"""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

from bedside.clinical.ranges import Flag, flag, range_for
from bedside.core.context import Block, Item
from bedside.core.ids import SourceId
from bedside.core.source import Source, Span
from bedside.core.turn import Draft
from bedside.flows.copilot.names import panel_members
from bedside.flows.copilot.plain import evidence_for, explain, plain_result
from bedside.flows.copilot.plan import Nothing, facts_of, parsed_of
from bedside.flows.copilot.query import Entity
from bedside.flows.copilot.tools.readings import Reading, readings_of
from bedside.flows.flow import View
from bedside.record.needs import RecordFacts

__all__ = [
    "ASK_YOUR_DOCTOR",
    "evidence_items_for",
    "explained",
    "for_patient",
    "in_plain_words",
    "plain_blocks",
]

_MOST_EXPLAINED = 3
_DAYS_A_YEAR = Decimal("365.25")
ASK_YOUR_DOCTOR = "Ask your own doctor what this means for you."


def for_patient(view: View[Nothing]) -> bool:
    """True when the reader is the person whom the record is about."""
    return view.request.option("audience") == "patient"


def in_plain_words(view: View[Nothing], draft: Draft) -> Draft:
    """The draft with what its results mean, for a patient; unchanged for a clinician."""
    record = facts_of(view)
    if not for_patient(view) or record is None:
        return draft
    texts: list[str] = []
    for entity in parsed_of(view).entities:
        for key in (entity.key, *panel_members(entity.key)):
            if entity.kind in {"analyte", "panel"} and len(texts) < _MOST_EXPLAINED:
                texts += explained(key, record)
    lines = [*dict.fromkeys(texts), ASK_YOUR_DOCTOR]
    items = tuple(Item(line, key="plain words") for line in lines)
    return replace(draft, text="\n\n".join((draft.text, *lines)), items=(*draft.items, *items))


def explained(key: str, record: RecordFacts) -> list[str]:
    """What the newest reading of an analyte means, in everyday words; empty where no text has it."""
    found = readings_of(Entity(kind="analyte", key=key, said=key), record.of("observations"))
    if not found:
        return []
    newest = found[-1]
    codes = [code.split("|", 1)[-1] for code in (*newest.fact.codes, newest.fact.code) if code]
    known = next((one for one in (key, *codes, newest.name) if plain_result(one)), None)
    if known is None:
        return []
    plain = plain_result(known)
    text = explain(known, _standing(newest, known, record))
    return [f"{plain.name}: {text[:1].lower()}{text[1:]}"] if text and plain else []


def _standing(reading: Reading, key: str, record: RecordFacts) -> Flag | None:
    """Where the reading stands: by the laboratory's range, else by the pack's."""
    fact = reading.fact
    if reading.value is None:
        return None
    if fact.low is not None and reading.value < fact.low:
        return "low"
    if fact.high is not None and reading.value > fact.high:
        return "high"
    if fact.low is not None and fact.high is not None:
        return "normal"
    birth = record.person.birth_date
    age = (
        Decimal((reading.day - birth).days) / _DAYS_A_YEAR
        if birth is not None and reading.day is not None
        else None
    )
    reference = range_for(key, sex=record.person.sex or None, age_years=age)
    return flag(reading.value, reading.unit, reference, comparator=fact.comparator)


def plain_blocks(view: View[Nothing]) -> list[Block]:
    """The patient's own evidence bank: statements in plain words that fit the question."""
    items = evidence_items_for(view)
    return [Block("plain evidence", items, zone="middle", priority=15)] if items else []


def evidence_items_for(view: View[Nothing]) -> list[Item]:
    """The statements in plain words that fit the question, each citable; none for a clinician."""
    if not for_patient(view):
        return []
    items: list[Item] = []
    for one in evidence_for(view.request.text):
        source = Source(
            id=SourceId(f"pack:plain:{one.id}"), revision=1, kind="guideline", title=one.source
        )
        span = Span(source=source, start=0, end=len(one.text))
        items.append(Item(one.text, key=one.id, span=span, note=one.label))
    return items
