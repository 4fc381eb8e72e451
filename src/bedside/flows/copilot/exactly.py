"""What the extractive writer tells exactly of a question that no rule takes whole. Pure.

The readings of the time or the bound that the question names, the person's own data, visits of the
class it names; so that the answer leads with what was asked and not with what is newest.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date

from bedside.flows.copilot.query import Entity, Parsed, Query
from bedside.flows.copilot.tools.person import answer_person
from bedside.flows.copilot.tools.readings import Reading, in_window, passing, readings_of, units_of
from bedside.flows.copilot.tools.sheet import Sheet
from bedside.flows.copilot.tools.visits import answer_visits
from bedside.record.needs import RecordFacts

__all__ = ["tell_level", "tell_of_time", "tell_person_and_visits"]

_MOST_READINGS = 6
_FEWEST = 2
_EITHER = {"worst", "best"}
_OWN_ALONE = {"age", "address", "phone"}
"""What a word that is not understood may turn to somebody else, or to another time."""
_LEVEL = r"\W+(?:level|concentration|trough)s?\b"


def tell_person_and_visits(
    parsed: Parsed, record: RecordFacts, sheet: Sheet, *, today: date
) -> bool:
    """The person's data and the visits that the question names; True where there is either."""
    before = len(sheet.lines)
    for field in parsed.fields:
        if field in _OWN_ALONE and parsed.unknown:
            continue  # "next of kin contact number", "when did he arrest, and how old was he then"
        answer_person(Query(topic="person", ask="field", field=field), record, sheet, today=today)
    looked = not record.total or "timeline" in dict(record.total)
    for visit in parsed.visits if looked else ():
        window = parsed.windows[0] if parsed.windows else None
        query = Query(topic="timeline", ask="list", visit=visit, window=window)
        answer_visits(query, record, sheet)
    return len(sheet.lines) > before


def tell_of_time(entity: Entity, parsed: Parsed, record: RecordFacts, sheet: Sheet) -> bool:
    """The readings of an analyte in the times or past the bounds that were asked for.

    Returns:
        False where the question names neither, or nothing was ever measured.
    """
    found = readings_of(entity, record.of("observations")) if entity.kind == "analyte" else []
    extreme = bool(_extremes(parsed)) and len(found) >= _FEWEST
    if not found or not (parsed.windows or parsed.bounds or extreme):
        return False
    chosen = {
        str(one.fact.source.id): one
        for window in parsed.windows or (None,)
        for one in in_window(found, window)
    }
    kept: Sequence[Reading] = list(chosen.values())
    said = [one.said for one in parsed.windows]
    for bound in parsed.bounds:
        within = passing(kept, bound)
        if within is None:
            return False
        if within == kept and sum(one.kind == "analyte" for one in parsed.entities) > 1:
            if "same" not in parsed.unknown:
                return False  # the bound is another's: creatinine below 90 with an eGFR below 90
            continue  # "creatinine on the same day"
        kept, said = within, [*said, bound.said]
    name = f"{found[-1].name} {' and '.join(said)}".rstrip()
    if not kept:
        sheet.say(f"Not recorded: {name}.")
        sheet.missing(name)
        return False
    newest = list(reversed(kept))
    sheet.count(f"{name}, newest first:")
    for one in newest[:_MOST_READINGS]:
        sheet.say(f"- {one.dated} {sheet.cite(one.fact)}")
    if len(newest) > _MOST_READINGS:
        sheet.say(f"- the first: {newest[-1].dated} {sheet.cite(newest[-1].fact)}")
        if between := len(newest) - _MOST_READINGS - 1:
            sheet.count(f"- and {between} between")
    _tell_extreme(kept, parsed, sheet)
    return True


def _extremes(parsed: Parsed) -> set[str]:
    """Which of the highest and the lowest are asked for; the worst may be either."""
    if _EITHER & set(parsed.unknown):
        return {"highest", "lowest"}
    return {"highest", "lowest"} & set(parsed.asks)


def _tell_extreme(readings: Sequence[Reading], parsed: Parsed, sheet: Sheet) -> None:
    """The highest or lowest of the readings, where the question asks for one.

    A word that is not understood may bound it ("top systolic since she turned ten"): then it is
    called the highest of all readings, whatever their time.
    """
    of_all = " of all, whatever the time" if set(parsed.unknown) - _EITHER else ""
    figures = [(one.value, one) for one in readings if one.value is not None]
    if len(figures) != len(readings) or len(figures) < _FEWEST or len(units_of(readings)) > 1:
        return
    for ask, choose in (("highest", max), ("lowest", min)):
        if ask in _extremes(parsed):
            found = choose(figures, key=lambda row: row[0])[1]
            sheet.say(f"- the {ask}{of_all}: {found.dated} {sheet.cite(found.fact)}")


def tell_level(entity: Entity, text: str, sheet: Sheet) -> None:
    """That no level of a medicine is recorded, where it is asked for and is no analyte."""
    if entity.kind == "drug" and re.search(re.escape(entity.said) + _LEVEL, text.lower()):
        sheet.say(f"Not recorded: a level of {entity.said}.")
        sheet.missing(f"a level of {entity.said}")
