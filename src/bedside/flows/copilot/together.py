"""A medicine that is thought of beside what the patient takes and has: the rule tables speak. Pure."""

from __future__ import annotations

from bedside.clinical.cautions import cautions_for
from bedside.clinical.interactions import Interactions, shipped
from bedside.clinical.rules import Reference
from bedside.flows.copilot.names import ingredients, matching
from bedside.flows.copilot.query import Entity
from bedside.flows.copilot.tools.events import is_active, thing_name
from bedside.flows.copilot.tools.sheet import Sheet, plain_name
from bedside.flows.parts import rule_item
from bedside.record.needs import Fact, RecordFacts

__all__ = ["tell_together"]

_MOST = 3
"""So many interactions, and as many cautions, are told: the gravest."""
_GRAVITY = {"critical": 0, "warning": 1, "info": 2}


def tell_together(
    entity: Entity, record: RecordFacts, sheet: Sheet, *, tables: Interactions | None = None
) -> None:
    """Say what the tables hold against the medicine with the patient's others and problems.

    `tables` are those in force, ours where none are given. Silence is no statement of safety.
    """
    if entity.kind != "drug":
        return
    generics = tuple(entity.key.split("-"))
    _interactions(entity, generics, record, sheet, tables or shipped())
    _cautions(entity, generics, record, sheet)


def _interactions(
    entity: Entity,
    generics: tuple[str, ...],
    record: RecordFacts,
    sheet: Sheet,
    tables: Interactions,
) -> None:
    own = matching(entity, record.of("medications"))
    found: dict[str, tuple[int, Fact, Reference, str]] = {}
    for fact in record.of("medications"):
        if fact in own or not is_active(fact):
            continue
        for rule, _, other in tables.between(generics, sorted(ingredients(fact)))[:1]:
            found.setdefault(other, (_GRAVITY[rule.severity], fact, rule.reference, rule.text))
    for _, fact, reference, text in sorted(found.values(), key=lambda row: row[0])[:_MOST]:
        name = thing_name(entity)
        if any(text in line and name in line.lower() for line in sheet.lines):
            continue  # told of the other medicine of the pair
        said = f"{_upper(name)} with {plain_name(fact)}: {text}"
        _say(said, sheet, fact, reference)


def _cautions(entity: Entity, generics: tuple[str, ...], record: RecordFacts, sheet: Sheet) -> None:
    told = 0
    rules = sorted(cautions_for(generics), key=lambda rule: _GRAVITY[rule.severity])
    for rule in rules:
        problem = next(
            (one for one in record.of("conditions") if is_active(one) and rule.concerns(one.name)),
            None,
        )
        if problem is None or told == _MOST:
            continue
        told += 1
        said = f"{_upper(thing_name(entity))} and {plain_name(problem)}: {rule.text}"
        _say(said, sheet, problem, rule.reference)


def _say(text: str, sheet: Sheet, fact: Fact, reference: Reference) -> None:
    marks = f"{sheet.cite(fact)}{sheet.cite_item(rule_item(reference))}"
    sheet.say(f"By rule: {text} {marks}.")
    sheet.calculated(text)


def _upper(name: str) -> str:
    return name[:1].upper() + name[1:]
