"""Answers about allergies: never "none" without a positive record of it. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from bedside.clinical.allergy import conflicts_with_allergy
from bedside.clinical.drugs import drugs_in
from bedside.clinical.vocabulary import expand
from bedside.flows.copilot.names import matching
from bedside.flows.copilot.query import Entity, Query
from bedside.flows.copilot.tools.events import thing_name
from bedside.flows.copilot.tools.sheet import Sheet, on_text, plain_name
from bedside.language.stems import stems
from bedside.record.needs import Fact, RecordFacts
from bedside.record.rows import no_known_allergy, says_none_known

__all__ = [
    "allergy_line",
    "answer_allergies",
    "named_in",
    "orders_against",
    "warn_of_alert",
    "warn_of_allergy",
    "warn_of_orders",
]


_AGAINST = re.compile(r"\bDO NOT (?:PERFORM|GIVE)\b")
_USUAL = {"", "active", "confirmed"}
_OVER = {"resolved", "inactive"}


def allergy_line(fact: Fact) -> str:
    """Substance, criticality and reactions as recorded."""
    parts = [plain_name(fact)]
    if fact.severity:
        parts.append(f"criticality {fact.severity}")
    if fact.reactions:
        parts.append("reaction: " + ", ".join(fact.reactions))
    parts += [word for word in (fact.status, fact.verification) if word not in _USUAL]
    return ", ".join(parts)


def named_in(entity: Entity, facts: Sequence[Fact]) -> list[Fact]:
    """The allergies to the thing itself, a class of medicines by its own name among them."""
    name = thing_name(entity).lower()
    whole = re.compile(rf"\b{re.escape(name.removesuffix('s'))}(?:e?s)?\b")
    return matching(entity, facts) or [
        one for one in facts if whole.search(plain_name(one).lower())
    ]


def warn_of_alert(entity: Entity, record: RecordFacts, sheet: Sheet) -> None:
    """Say that an alert names the thing: an order not to give or do it above all."""
    for fact in matching(entity, record.of("alerts"))[:3]:
        if not sheet.cites(fact):
            line = fact.line.rstrip(".").removeprefix("Alert: ")
            sheet.say(f"Alert: {line} {sheet.cite(fact)}.")


def orders_against(record: RecordFacts) -> list[Fact]:
    """The alerts that are orders not to give or do something, as the record's lines word them."""
    return [fact for fact in record.of("alerts") if _AGAINST.search(fact.line)]


_EVERY = re.compile(
    r"\b(?:must|should|may|can|to) (?:we |i |she |he |they )?(?:not|never)\b|\bmustn'?t\b|\bavoid\b"
    r"|\bsafety\b|\bred flags?\b|\bdo[- ]not\b",
    re.IGNORECASE,
)
_MOST_ALERTS = 8


def warn_of_orders(text: str, record: RecordFacts, sheet: Sheet) -> bool:
    """Say an order not to do what the question speaks of, by its head word: "DNR?", "is CPR ...".

    Every alert is said where what is safe, or not to be done, is asked for as such.

    Returns:
        True when one was said, and nothing else was asked for.
    """
    meant = set(stems(" ".join([text, *(one.replacement for one in expand(text))])))
    said = False
    every = _EVERY.search(text) is not None
    for fact in record.of("alerts")[:_MOST_ALERTS] if every else orders_against(record):
        head = stems(plain_name(fact).split(" of ")[0])[-1:]
        if (every or meant.intersection(head)) and not sheet.cites(fact):
            sheet.say(f"Alert: {fact.line.rstrip('.').removeprefix('Alert: ')} {sheet.cite(fact)}.")
            said = not every
    return said


def warn_of_allergy(entity: Entity, record: RecordFacts, sheet: Sheet) -> None:
    """Say beside an answer about a medicine that an allergy to it, or to its kind, is recorded."""
    facts, _ = _parted(record)
    facts = [one for one in facts if one.status not in _OVER]
    direct = named_in(entity, facts)
    found = direct or [fact for fact, _ in _related(entity, facts)]
    if found and entity.kind in {"drug", "drug_class"}:
        listed = "; ".join(f"{allergy_line(fact)} {sheet.cite(fact)}" for fact in found[:3])
        sheet.say(f"Allergy or intolerance recorded: {listed}.")


def _parted(record: RecordFacts) -> tuple[list[Fact], list[Fact]]:
    """The allergies of a record, and its statements of absence ("No known latex allergy")."""
    facts = record.of("allergies")
    denials = [one for one in facts if says_none_known(one)]
    return [one for one in facts if one not in denials], denials


def _listed(facts: Sequence[Fact], sheet: Sheet) -> None:
    for fact in facts:
        sheet.say(
            f"- {allergy_line(fact)}, recorded {on_text(fact).removeprefix('on ')} {sheet.cite(fact)}"
        )


def answer_allergies(query: Query, record: RecordFacts, sheet: Sheet) -> bool:
    """List allergies, or answer for one substance.

    Returns:
        False where those of one sort (foods, medicines) are asked and some are recorded: the record
        does not say reliably which are of it.
    """
    facts, denials = _parted(record)
    if query.entity is not None:
        return _one(query.entity, record, sheet)
    if not facts and not denials:
        sheet.missing("allergies")
        sheet.say(
            "No allergies are recorded. Nor does the record state that there are none: "
            "allergy status is not recorded."
        )
        return True
    if record.no_known_allergies:
        stated = next(filter(no_known_allergy, denials), denials[0])
        sheet.say(f"No known allergies, as positively recorded: {stated.line} {sheet.cite(stated)}")
        return True
    if facts and query.field == "sort":
        return False
    if facts:
        noun = "allergy" if len(facts) == 1 else "allergies"
        sheet.count(f"{len(facts)} {noun} recorded:")
        _listed(facts, sheet)
    else:
        sheet.missing("allergies")
        sheet.say("No allergy is recorded by name; of absence the record states:")
    for fact in denials:
        sheet.say(f"- {fact.line} {sheet.cite(fact)}")
    return True


def _one(entity: Entity, record: RecordFacts, sheet: Sheet) -> bool:
    facts, denials = _parted(record)
    name = thing_name(entity)
    direct = named_in(entity, facts)
    if direct:
        listed = "; ".join(f"{allergy_line(f)} {sheet.cite(f)}" for f in direct)
        sheet.say(f"Yes: {listed}.")
        return True
    related = _related(entity, facts)
    if related:
        fact, reason = related[0]
        sheet.say(
            f"Not recorded as such: {name}. But the record has {allergy_line(fact)} "
            f"{sheet.cite(fact)}; {reason} (class rule)."
        )
        sheet.missing(f"an allergy to {name}")
        return True
    sheet.missing(f"an allergy to {name}")
    standing = [one for one in denials if one.status not in _OVER]
    stated = named_in(entity, standing) or [one for one in standing if _of_its_kind(one, entity)]
    if record.no_known_allergies:
        stated = stated or list(filter(no_known_allergy, denials))
    if stated:
        sheet.say(
            f"Not recorded: an allergy to {name}. The record positively states: "
            f"{stated[0].line} {sheet.cite(stated[0])}"
        )
    else:
        sheet.say(f"Not recorded: an allergy to {name}.")
    if facts:
        sheet.say(
            "Recorded allergies: "
            + "; ".join(f"{allergy_line(f)} {sheet.cite(f)}" for f in facts)
            + "."
        )
    elif denials and not stated:
        sheet.say(f"The record states only: {denials[0].line} {sheet.cite(denials[0])}")
    elif not stated:
        sheet.say("No allergies are recorded; allergy status as a whole is not recorded.")
    return True


_KINDS = (("drug", re.compile(r"\bnkda\b|\b(?:drug|medic(?:ation|ine))s?\b", re.IGNORECASE)),)
"""The kinds of substance that a statement of absence may speak of, by its own words."""


def _of_its_kind(denial: Fact, entity: Entity) -> bool:
    """True of "no known drug allergy" where a medicine is asked about."""
    return any(entity.kind.startswith(kind) and said.search(denial.name) for kind, said in _KINDS)


def _related(entity: Entity, facts: Sequence[Fact]) -> list[tuple[Fact, str]]:
    """Recorded allergies that a class rule connects with the asked medicine."""
    if entity.kind == "drug":
        drugs: tuple[str, ...] = (entity.key,)
    elif entity.kind == "drug_class":
        drugs = drugs_in(entity.key.split(","))[:20]
    else:
        return []
    found: list[tuple[Fact, str]] = []
    for fact in facts:
        for drug in drugs:
            reason = conflicts_with_allergy(drug, plain_name(fact))
            if reason is not None:
                found.append((fact, str(getattr(reason, "text", reason)).rstrip(".")))
                break
    return found
