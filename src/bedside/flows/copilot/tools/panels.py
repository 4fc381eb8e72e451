"""Answers about several analytes at once: a panel, the latest laboratory results, vital signs. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from bedside.flows.copilot.names import panel_members, panel_whole, shown_name
from bedside.flows.copilot.query import Entity, Query
from bedside.flows.copilot.tools.readings import Reading, in_window, readings_of
from bedside.flows.copilot.tools.sheet import Sheet, day_of, plain_name, when_text
from bedside.flows.copilot.windows import day_text
from bedside.record.needs import Fact, RecordFacts

__all__ = ["answer_group", "answer_panel"]

_GROUPS = {"labs": {"laboratory"}, "vitals": {"vital-signs", "vital-sign"}}
_MOST_LISTED = 20


def answer_panel(query: Query, record: RecordFacts, sheet: Sheet) -> bool:
    """The newest reading of each member, and which members are not recorded."""
    if query.entity is None:
        return False
    name = shown_name(query.entity.key)
    span = f" {query.window.said}" if query.window is not None else ""
    shown: list[tuple[str, list[Reading]]] = []
    missing: list[str] = []
    whole = shown_name(panel_whole(query.entity.key))
    for key in panel_members(query.entity.key):
        member = Entity(kind="analyte", key=key, said=key)
        found = in_window(readings_of(member, record.of("observations")), query.window)
        if found:
            shown.append((shown_name(key), found))
        else:
            missing.append(shown_name(key))
    if any(label == whole for label, _ in shown):
        missing = []
    missing = [label for label in missing if label != whole]
    if not shown:
        sheet.missing(f"{name}{span}")
        sheet.say(f"No {name} results are recorded{span}: looked for {', '.join(missing)}.")
        return True
    newest = max(
        (found[-1] for _, found in shown),
        key=lambda one: one.fact.when.timestamp() if one.fact.when else 0,
    )
    sheet.say(f"{name}{span}, latest of each, the newest on {_day(newest)}:")
    for label, found in shown:
        last = found[-1]
        stale = ", stale" if last.fact.stale else ""
        trend = ""
        if query.ask == "trend" and len(found) > 1:
            first = found[0]
            trend = f"; first {first.dated} {sheet.cite(first.fact)}"
        sheet.say(f"- {label}: {last.shown}, {_day(last)}{stale} {sheet.cite(last.fact)}{trend}")
    if missing:
        sheet.say(f"Not found in the record{span}: {', '.join(missing)}.")
        for label in missing:
            sheet.missing(f"{label}{span}")
    return True


def _day(reading: Reading) -> str:
    return day_text(reading.day) if reading.day is not None else "date not recorded"


def answer_group(query: Query, record: RecordFacts, sheet: Sheet) -> bool:
    """The newest entry of each kind in the laboratory or vital signs group."""
    groups = _GROUPS.get(query.topic, set())
    facts = [
        fact
        for fact in record.of("observations")
        if fact.group in groups and (query.window is None or query.window.holds(day_of(fact)))
    ]
    what = "laboratory results" if query.topic == "labs" else "vital signs"
    span = f" {query.window.said}" if query.window is not None else ""
    if not facts:
        sheet.missing(f"{what}{span}")
        sheet.say(f"No {what} are recorded{span}.")
        return True
    latest = _latest_of_each(facts)
    sheet.count(f"Latest {what}{span}, newest first:")
    for fact in latest[:_MOST_LISTED]:
        stale = ", stale" if fact.stale else ""
        sheet.say(
            f"- {plain_name(fact)}: {_value(fact)}, {when_text(fact)}{stale} {sheet.cite(fact)}"
        )
    if len(latest) > _MOST_LISTED:
        sheet.count(f"- and {len(latest) - _MOST_LISTED} more kinds, older")
    return True


def _latest_of_each(facts: Sequence[Fact]) -> list[Fact]:
    seen: dict[str, Fact] = {}
    for fact in facts:
        seen.setdefault(fact.code or plain_name(fact).lower(), fact)
    return list(seen.values())


def _value(fact: Fact) -> str:
    if fact.figure:
        unit = "" if fact.unit.startswith("{") else f" {fact.unit}"
        return f"{fact.comparator}{fact.figure}{unit if fact.unit else ''}"
    if fact.parts:
        return ", ".join(
            f"{part.name} {part.figure or part.text_value} {part.unit}".strip()
            for part in fact.parts
        )
    return fact.text_value or "no value recorded"
