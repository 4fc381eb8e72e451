"""What entries mean together, by the shipped and deployed tables: medicines, problems, results."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from decimal import Decimal
from itertools import combinations

from bedside.clinical.cautions import cautions_for
from bedside.clinical.combinations import Bound, CombinationRule, combination_rules
from bedside.clinical.drugs import ingredients_of
from bedside.clinical.duplicates import duplicate_groups
from bedside.clinical.interactions import Interactions
from bedside.clinical.rules import GRAVITY, Reference, Severity
from bedside.clinical.units import IncompatibleUnits, UnknownUnit, convert
from bedside.record.abnormal import figure_of, short_name
from bedside.record.fhir.dates import spoken_date
from bedside.record.limits import pregnancy_lasts
from bedside.record.monitoring import Readings
from bedside.record.needs import Fact, Insight

__all__ = ["acts_locally", "combinations_met", "interplay", "results_together"]

_LOCAL = re.compile(
    r"\b(?:topical|cream|ointment|gel|lotion|ophthalmic|otic|nasal|shampoo|eye drops?|ear drops?)\b",
    re.IGNORECASE,
)
_OPEN = {"active", "recurrence", "relapse"}
_Product = tuple[tuple[str, ...], Fact]


def acts_locally(name: str) -> bool:
    """Does a medicine of this name act where it is put (a cream)? Rules of the body leave it out."""
    return _LOCAL.search(name) is not None


def interplay(
    medicines: Sequence[Fact],
    conditions: Sequence[Fact],
    *,
    tables: Interactions,
    as_of: date,
) -> Iterator[Insight]:
    """Current medicines that a rule names together, of which one is usually taken, or with a problem.

    Of several rules on one pair the gravest speaks. `medicines` are current, newest first. Nothing
    found is no statement of safety.
    """
    products = _products(medicines)
    for (one, a), (other, b) in combinations(products, 2):
        met = () if set(one) & set(other) else tables.between(one, other)
        if met:
            rule = met[0][0]
            said = f"{a.name} and {b.name} are both current: {rule.text}"
            yield _insight("drug_drug", rule.id, rule.severity, said, rule.reference, (a, b))
    for group in duplicate_groups():
        members = {
            generic: fact
            for generics, fact in reversed(products)
            if (generic := group.member(generics))
        }
        some = tuple(reversed(list({fact.source.id: fact for fact in members.values()}.values())))
        if len(some) > 1:
            names = "; ".join(fact.name for fact in some)
            said = f"{len(some)} current medicines are {group.name}, of which one is usually taken at a time: {names}"
            key = f"duplicate-{group.id}"
            yield _insight("drug_drug", key, group.severity, said, group.reference, some)
    for generics, medicine in products:
        yield from _with_problems(generics, medicine, conditions, as_of=as_of)


def _products(medicines: Sequence[Fact]) -> list[_Product]:
    """What acts on the whole body and has known generics: the newest entry of each set of them."""
    found: dict[tuple[str, ...], _Product] = {}
    for fact in medicines:
        generics = ingredients_of(fact.name)
        if generics and not acts_locally(fact.name):
            found.setdefault(tuple(sorted(generics)), (generics, fact))
    return list(found.values())


def _with_problems(
    generics: tuple[str, ...], medicine: Fact, conditions: Sequence[Fact], *, as_of: date
) -> Iterator[Insight]:
    seen: set[str] = set()
    for rule in sorted(cautions_for(generics), key=lambda one: GRAVITY[one.severity]):
        for problem in conditions:
            if problem.status not in _OPEN or not rule.concerns(problem.name):
                continue
            if rule.of_pregnancy and pregnancy_lasts(problem, as_of=as_of) is False:
                continue
            if problem.name not in seen:
                seen.add(problem.name)
                said = f"{medicine.name} is current, and {problem.name} is an open problem: {rule.text}"
                about = (medicine, problem)
                yield _insight(
                    "drug_condition", rule.id, rule.severity, said, rule.reference, about
                )
            break


def _insight(
    kind: str,
    rule: str,
    severity: Severity,
    said: str,
    reference: Reference,
    facts: tuple[Fact, ...],
) -> Insight:
    old = [fact for fact in facts if fact.category == "medications" and fact.stale and fact.when]
    names = ", ".join(f"{one.name} ({spoken_date(one.when.date())})" for one in old if one.when)
    aged = f"; ordered long ago, so check that it is still taken: {names}" if names else ""
    title = " and ".join(fact.name for fact in facts)
    return Insight(
        kind=kind,  # type: ignore[arg-type]
        severity=severity,
        title=title,
        text=f"{said}{aged} (source: {reference.source}).",
        facts=facts,
        rule=rule,
        reference=reference,
    )


def results_together(readings: Readings, *, pregnant: bool | None) -> Iterator[Insight]:
    """Newest results that mean more together than each alone, as an insight each; of adults."""
    for rule, found in combinations_met(readings, pregnant=pregnant):
        said = ", ".join(
            f"{short_name(one)} {figure_of(one)} ({spoken_date(one.when.date())})"
            for one in found
            if one.when is not None
        )
        yield Insight(
            kind="combination",
            severity=rule.severity,
            title=rule.title,
            text=f"{said}; {rule.text} (source: {rule.reference.source}).",
            facts=found,
            rule=rule.id,
            reference=rule.reference,
        )


def combinations_met(
    readings: Readings, *, pregnant: bool | None
) -> Iterator[tuple[CombinationRule, tuple[Fact, ...]]]:
    """Each rule whose every part the newest fresh readings fill, with those readings, each once.

    The rules are of adults; whoever asks knows the age. A rule of pregnancy speaks only in one.
    """
    for rule in combination_rules():
        if rule.pregnant and pregnant is not True:
            continue
        found = _together(readings, rule)
        if found:
            yield rule, found


def _together(readings: Readings, rule: CombinationRule) -> tuple[Fact, ...]:
    """The readings that fill the rule; empty where a part is open or they lie too far apart."""
    found: list[Fact] = []
    for part in rule.parts:
        crossed = [fact for bound in part for fact in _crossing(readings, bound)]
        if not crossed:
            return ()
        found += [fact for fact in crossed if fact not in found]
    days = [fact.when for fact in found if fact.when is not None]
    apart = max(days) - min(days)
    return tuple(found) if apart <= timedelta(days=rule.within_days) else ()


def _crossing(readings: Readings, bound: Bound) -> Iterator[Fact]:
    newest = next((one for one in readings.get(bound.analyte, ()) if one.when), None)
    if newest is None or newest.stale or newest.value is None or newest.comparator:
        return
    figure = _in(newest, newest.value, bound)
    if figure is not None and bound.crossed(figure):
        yield newest


def _in(fact: Fact, figure: Decimal, bound: Bound) -> Decimal | None:
    try:
        return convert(figure, fact.unit, bound.unit, bound.analyte)
    except (UnknownUnit, IncompatibleUnits):
        return None
