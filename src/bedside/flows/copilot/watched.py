"""How a medicine is watched: the rules of the monitoring pack, and whether each test is in time. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date

from bedside.clinical.monitoring import MonitoringRule, rules_for_drug
from bedside.flows.copilot.names import ingredients, matching
from bedside.flows.copilot.query import Entity
from bedside.flows.copilot.standing import against_range
from bedside.flows.copilot.tools.events import is_active
from bedside.flows.copilot.tools.sheet import Sheet, day_of
from bedside.flows.copilot.whole import tell_insight
from bedside.record.abnormal import figure_of, readings_of, short_name
from bedside.record.needs import Fact, RecordFacts

__all__ = ["tell_watched"]

_WATCHED = re.compile(r"\bmonitor(?:ed|ing|s)?\b|\bsurveillance\b", re.IGNORECASE)
_MOST = 4


def tell_watched(
    text: str, entity: Entity, record: RecordFacts, sheet: Sheet, *, today: date, limit: int
) -> None:
    """For "is her methotrexate monitored?" each test that a rule asks for, and when it was done.

    Tests that are in time come with their newest result; one that the insights hold against the
    record is told as they tell it. A test that was not fetched is left out, never called missing.
    """
    taken = [one for one in matching(entity, record.of("medications")) if is_active(one)]
    if entity.kind != "drug" or not taken or not _WATCHED.search(text):
        return
    late = {one.rule: one for one in record.insights if one.kind == "overdue"}
    newest = readings_of(record.of("observations"), as_of=today)
    rules = [one for one in rules_for_drug(ingredients(taken[0])) if one.interval_days is not None]
    for rule in rules[:_MOST]:
        if rule.id in late:
            tell_insight(late[rule.id], sheet, limit)
            continue
        done = [newest[key][0] for key in rule.analytes if newest.get(key)]
        days = [day for one in done if (day := day_of(one)) is not None]
        if days and (today - max(days)).days <= (rule.interval_days or 0):
            _in_time(rule, done, (today - max(days)).days, sheet)


def _in_time(rule: MonitoringRule, done: Sequence[Fact], ago: int, sheet: Sheet) -> None:
    said = f"{rule.text[:1].upper()}{rule.text[1:]}: in time, {ago} days ago"
    results = [
        f"{short_name(one)} {figure_of(one)}{f', {stands}' if (stands := against_range(one)) else ''}"
        for one in done
    ]
    sheet.say(f"By rule: {said} ({'; '.join(results)}) {sheet.cite(*done)}.")
    sheet.calculated(said)
