"""What the record says of a thing that the question names: allergy first, then where it stands. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from bedside.flows.copilot.names import (
    bearing_on,
    ingredients,
    matching,
    nearby,
    panel_members,
    shown_name,
    vaccinations,
)
from bedside.flows.copilot.query import Entity
from bedside.flows.copilot.tools.allergies import allergy_line, named_in, warn_of_alert
from bedside.flows.copilot.tools.converted import tell_converted
from bedside.flows.copilot.tools.events import is_active, mentions, thing_name
from bedside.flows.copilot.tools.readings import readings_of
from bedside.flows.copilot.tools.sheet import Sheet, when_text
from bedside.record.abnormal import figure_of, short_name
from bedside.record.abnormal import readings_of as readings_by_analyte
from bedside.record.contradictions import allergy_conflict
from bedside.record.monitoring import crossed_by
from bedside.record.needs import Fact, RecordFacts
from bedside.record.rows import says_none_known

__all__ = [
    "REPEATED",
    "against_range",
    "figure_line",
    "looked_at_results",
    "shown_line",
    "tell_allergies",
    "tell_conflicts",
    "tell_entity",
]

_MOST_STANDING = 3
_MOST_PANEL = 5
_MOST_SOUGHT = 3
_MOST_BEFORE = 5
REPEATED = {"immunizations", "procedures"}
"""Categories whose entries of one name are told in one line, with the dates of those before."""
_SEVERITY = {"critical": 0, "warning": 1, "info": 2}


def shown_line(fact: Fact) -> str:
    """An entry's own line, stale ones marked."""
    stale = " — stale" if fact.stale else ""
    return fact.line.replace("mm[Hg]", "mmHg").rstrip(".") + stale


def tell_conflicts(entity: Entity, record: RecordFacts, sheet: Sheet) -> bool:
    """What speaks against a medicine: recorded allergies and results that cross a rule.

    Returns:
        True when an allergy was told.
    """
    warn_of_alert(entity, record, sheet)
    if entity.kind not in {"drug", "drug_class"}:
        return False
    found = False
    standing = [one for one in matching(entity, record.of("medications")) if is_active(one)]
    for allergy in record.of("allergies"):
        if says_none_known(allergy) or allergy.status in {"resolved", "inactive"}:
            continue
        if named_in(entity, (allergy,)):
            line = (
                f"Allergy or intolerance recorded: {allergy_line(allergy)} {sheet.cite(allergy)}."
            )
            if not sheet.says(line):
                sheet.say(line)
            found = True
            continue
        conflict = allergy_conflict(entity.key, allergy.name) if entity.kind == "drug" else None
        if conflict is not None:
            sheet.say(f"Allergy recorded: {allergy_line(allergy)} {sheet.cite(allergy)}.")
            if not standing or conflict.severity == "info":  # else told as a contradiction
                _rule(f"{conflict.text.rstrip('.')}", sheet, allergy)
            found = True
    if entity.kind == "drug" and not standing:
        _crossed(entity, record, sheet)
    return found


def _crossed(entity: Entity, record: RecordFacts, sheet: Sheet) -> None:
    """The rules of the monitoring pack on a medicine that is thought of, not yet taken."""
    readings = readings_by_analyte(record.of("observations"), as_of=date.max)
    for rule, newest in list(crossed_by(entity.key.split("-"), readings))[:2]:
        stale = ", stale" if newest.stale else ""
        _rule(f"{short_name(newest)} is {figure_of(newest)}{stale}, and {rule.text}", sheet, newest)


def _rule(text: str, sheet: Sheet, *facts: Fact) -> None:
    sheet.say(f"By rule: {text} {sheet.cite(*facts)}.")
    sheet.calculated(text)


def tell_entity(
    entity: Entity, record: RecordFacts, sheet: Sheet, *, earlier: bool, unit: str = ""
) -> None:
    """The standing of one named thing, a figure in `unit` too; or that it is not recorded."""
    if entity.kind == "panel":
        members = panel_members(entity.key)
        told = [figure_line(key, record, sheet, earlier=earlier) for key in members]
        for line in [one for one in told if one][:_MOST_PANEL]:
            _say_once(line, sheet)
        if not any(told):
            sheet.say(f"Not recorded: {shown_name(entity.key)}.")
            sheet.missing(shown_name(entity.key))
        return
    if entity.kind == "analyte":
        line = figure_line(entity.key, record, sheet, earlier=earlier)
        if line:
            _say_once(line, sheet)
            newest = readings_of(entity, record.of("observations"))[-1]
            tell_converted(newest, entity, unit, sheet, alone=False)
        else:
            sheet.say(f"Not recorded: {shown_name(entity.key)}.")
            sheet.missing(shown_name(entity.key))
            _given(entity, record, sheet)
        return
    _event(entity, record, sheet)
    if entity.kind == "drug" and looked_at_results(record):
        for key in bearing_on("", (entity,)):
            seen = readings_of(Entity(kind="analyte", key=key, said=key), record.of("observations"))
            if not seen and len(sheet.gaps) < _MOST_SOUGHT:
                sheet.missing(shown_name(key))


def _say_once(line: str, sheet: Sheet) -> None:
    if not sheet.says(line):
        sheet.say(line)


def looked_at_results(record: RecordFacts) -> bool:
    """False where results were not fetched: then none of them is missing."""
    return not record.total or "observations" in dict(record.total)


def _given(entity: Entity, record: RecordFacts, sheet: Sheet) -> None:
    """A medicine that goes by the same name as a test ("B12 injections")."""
    words = frozenset(entity.key.replace("b12", "b 12").split())
    for fact in record.of("medications"):
        if words <= frozenset(fact.name.lower().split()) or words & ingredients(fact):
            sheet.say(f"{shown_line(fact)} {sheet.cite(fact)}")
            return


def _event(entity: Entity, record: RecordFacts, sheet: Sheet) -> None:
    pools = {
        "drug": record.of("medications"),
        "drug_class": record.of("medications"),
        "condition": record.of("conditions"),
        "procedure": (*record.of("procedures"), *record.of("reports")),
        "allergen": record.of("allergies"),
    }
    vaccine = entity.kind == "vaccine"
    found = (
        vaccinations(entity, record) if vaccine else matching(entity, pools.get(entity.kind, ()))
    )
    name = thing_name(entity)
    if not found:
        told = any(line.lower().startswith(entity.said) for line in sheet.lines)
        if told and entity.kind == "condition":
            return  # "smoking": told as what it is measured by
        among = {"drug": " among the medicines", "drug_class": " among the medicines"}
        line = f"Not recorded{among.get(entity.kind, '')}: {name}."
        if sheet.says(line):
            return
        sheet.say(line)
        sheet.missing(name)
        said = mentions(entity, record) if entity.kind == "condition" else []
        for fact in [*said, *nearby(entity, record.of("conditions"))][:2]:
            sheet.say(f"Related: {shown_line(fact)} {sheet.cite(fact)}")
        return
    standing = [fact for fact in found if is_active(fact)] or found[:1]
    seen: set[str] = set()
    for fact in standing:
        if fact.name in seen:
            continue
        seen.add(fact.name)
        _say_once(f"{shown_line(fact)} {sheet.cite(fact)}{_before(fact, found, sheet)}", sheet)
        if len(seen) == _MOST_STANDING:
            break


def _before(fact: Fact, found: Sequence[Fact], sheet: Sheet) -> str:
    """The dates on which the same was given or done before, newest first."""
    if fact.category not in REPEATED:
        return ""
    same = (one for one in found if (one.name, one.status) == (fact.name, fact.status))
    rest = [one for one in same if one.when != fact.when]
    if not rest:
        return ""
    told = ", ".join(f"{when_text(one)} {sheet.cite(one)}" for one in rest[:_MOST_BEFORE])
    left = f" and {len(rest) - _MOST_BEFORE} more" if len(rest) > _MOST_BEFORE else ""
    return f"; before that {told}{left}"


def figure_line(key: str, record: RecordFacts, sheet: Sheet, *, earlier: bool) -> str:
    """The newest reading of an analyte with its date, and the one before; "" for none.

    `earlier` adds the first of three or more, and says of a value inside its range that it is. A
    value outside the range that came with it always says so.
    """
    found = readings_of(Entity(kind="analyte", key=key, said=key), record.of("observations"))
    if not found:
        return ""
    newest = found[-1]
    stands = against_range(newest.fact) or (_inside_range(newest.fact) if earlier else "")
    marks = [stands, "stale" if newest.fact.stale else ""]
    said = "".join(f", {mark}" for mark in marks if mark)
    line = f"{shown_name(key)}: {newest.dated}{said} {sheet.cite(newest.fact)}"
    before = [one for one in found if one.fact.when != newest.fact.when]
    if before:
        line += f"; before that {before[-1].dated} {sheet.cite(before[-1].fact)}"
    if earlier and len(before) >= _MOST_STANDING:
        line += f"; first {before[0].dated} {sheet.cite(before[0].fact)}"
    return line + "."


def against_range(fact: Fact) -> str:
    """Where the value stands in the range that came with it; "" inside it or without one."""
    if fact.value is None or fact.comparator:
        return ""
    if fact.low is not None and fact.value < fact.low:
        return "below its range"
    if fact.high is not None and fact.value > fact.high:
        return "above its range"
    return ""


def _inside_range(fact: Fact) -> str:
    """That the value stands inside the range that came with it, at its border perhaps."""
    if fact.value is None or fact.comparator or (fact.low is None and fact.high is None):
        return ""
    return "within its range, borderline" if "borderline" in fact.note else "within its range"


def tell_allergies(record: RecordFacts, sheet: Sheet) -> None:
    """The recorded allergies in one line, those not told yet; or that none are recorded."""
    facts = record.of("allergies")
    if not facts:
        sheet.say("Allergies: not recorded.")
        sheet.missing("allergies")
        return
    if record.no_known_allergies:
        sheet.say(f"No known allergies, as recorded {sheet.cite(facts[0])}.")
        return
    left = [fact for fact in facts if not sheet.cites(fact)]
    if left:
        also = "Allergies" if len(left) == len(facts) else "Other allergies"
        listed = "; ".join(f"{allergy_line(fact)} {sheet.cite(fact)}" for fact in left)
        sheet.say(f"{also}: {listed}.")
