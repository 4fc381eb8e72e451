"""Entries that cannot both be right, found by rule and put before the model with both sides."""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from itertools import combinations

from bedside.clinical.allergy import AllergyConflict, conflicts_with_allergy
from bedside.clinical.drugs import class_of, ingredients_of
from bedside.clinical.units import compare
from bedside.record.fhir.shapes import unit_shown
from bedside.record.needs import Contradiction, Fact
from bedside.record.provenance import kind_of
from bedside.record.rows import no_known_allergy, says_none_known

__all__ = ["allergy_conflict", "contradictions_in", "is_current"]

_ACTIVE = {"active", "recurrence", "relapse"}
_OVER = {"resolved", "inactive", "remission"}
_TAKEN = {"active", "on-hold", "intended"}
_CONSTANT = {"882-1", "883-9", "10331-7"}
"""What does not change in a life: blood group and rhesus factor (LOINC)."""


_ONE_OF: Mapping[str, frozenset[str]] = {
    "anticoagulant": frozenset(("vka", "doac")),
    "renin-angiotensin blocker": frozenset(("ace_inhibitor", "arb", "arni")),
    "statin": frozenset(("statin",)),
    "NSAID": frozenset(("nsaid",)),
    "proton pump inhibitor": frozenset(("ppi",)),
    "beta blocker": frozenset(("beta_blocker",)),
    "sulfonylurea": frozenset(("sulfonylurea",)),
    "DPP-4 inhibitor": frozenset(("dpp4",)),
    "SGLT2 inhibitor": frozenset(("sglt2",)),
    "GLP-1 receptor agonist": frozenset(("glp1",)),
    "SSRI or SNRI": frozenset(("ssri", "snri")),
}
"""Classes of which one medicine is taken at a time: a second is usually left over from a change."""

_APART = {"aspirin"}
"""Taken for another purpose than its class says."""


def contradictions_in(facts: Sequence[Fact], *, as_of: date) -> tuple[Contradiction, ...]:
    """Every contradiction among these facts, gravest rule first, each with the entries it is about.

    The facts are about the patient already: what was entered in error or refuted is not among them.
    """
    kinds: dict[str, list[Fact]] = defaultdict(list)
    for fact in facts:
        kinds[fact.category].append(fact)
    return (
        *_allergy_and_medicine(kinds["allergies"], kinds["medications"], as_of=as_of),
        *_allergy_and_none(kinds["allergies"]),
        *_two_values(kinds["observations"]),
        *_active_and_over(kinds["conditions"]),
        *_active_past_its_end(kinds["conditions"], kinds["medications"], as_of=as_of),
        *_given_twice(kinds["medications"], as_of=as_of),
        *_class_twice(kinds["medications"], as_of=as_of),
    )


def is_current(fact: Fact, *, as_of: date) -> bool:
    """Whether a medicine is to be taken now, as far as the record says."""
    if fact.status not in _TAKEN:
        return False
    return fact.end is None or fact.end.date() >= as_of


@functools.lru_cache(maxsize=4096)
def allergy_conflict(medicine: str, allergen: str) -> AllergyConflict | None:
    """`conflicts_with_allergy`, remembered: the same pair is asked at every fetch."""
    return conflicts_with_allergy(medicine, allergen)


def _allergy_and_medicine(
    allergies: Sequence[Fact], medicines: Sequence[Fact], *, as_of: date
) -> Iterator[Contradiction]:
    for allergy in allergies:
        if allergy.status in {"resolved", "inactive"} or says_none_known(allergy):
            continue
        for medicine in medicines:
            if not is_current(medicine, as_of=as_of):
                continue
            conflict = allergy_conflict(medicine.name, allergy.name)
            if conflict is not None and conflict.severity != "info":
                yield Contradiction(
                    rule="allergy-medicine",
                    text=f"{medicine.name} is {medicine.status}, and an allergy is recorded: "
                    f"{allergy.name}. {conflict.text}",
                    facts=(medicine, allergy),
                )


def _allergy_and_none(allergies: Sequence[Fact]) -> Iterator[Contradiction]:
    none = [fact for fact in allergies if no_known_allergy(fact)]
    real = [
        fact
        for fact in allergies
        if not says_none_known(fact) and fact.status not in {"resolved", "inactive"}
    ]
    if none and real:
        yield Contradiction(
            rule="no-known-allergies",
            text=f"No known allergies is recorded, and so is: {', '.join(f.name for f in real)}.",
            facts=(*none, *real),
        )


def _two_values(observations: Sequence[Fact]) -> Iterator[Contradiction]:
    together: dict[tuple[str, object], list[Fact]] = defaultdict(list)
    constant: dict[str, list[Fact]] = defaultdict(list)
    for fact in observations:
        if fact.when is not None and fact.status not in {"preliminary", "registered"}:
            together[kind_of(fact), fact.when].append(fact)
        if {code.rsplit("|", 1)[-1] for code in fact.codes} & _CONSTANT and fact.text_value:
            constant[fact.code].append(fact)
    for some in together.values():
        for left, right in combinations(some, 2):
            if _differ(left, right):
                yield Contradiction(
                    rule="two-values",
                    text=f"Two different values of {left.name} are recorded for the same moment: "
                    f"{_shown(left)} and {_shown(right)}.",
                    facts=(left, right),
                )
    for some in constant.values():
        first = some[0]
        for other in some[1:]:
            if other.text_value.casefold() != first.text_value.casefold():
                yield Contradiction(
                    rule="constant-changed",
                    text=f"{first.name} cannot change, and two values are recorded: "
                    f"{first.text_value} and {other.text_value}.",
                    facts=(first, other),
                )


def _differ(left: Fact, right: Fact) -> bool:
    """Whether two entries state different values; an unknown unit is never compared."""
    if left.value is not None and right.value is not None:
        if left.comparator or right.comparator:
            return False
        order = compare((left.value, left.unit), (right.value, right.unit), left.name)
        return order not in {0, None}
    if left.parts and right.parts:
        theirs = {kind_of(part): part for part in right.parts}
        return any(
            kind_of(part) in theirs and _differ(part, theirs[kind_of(part)]) for part in left.parts
        )
    return bool(
        left.text_value
        and right.text_value
        and left.text_value.casefold() != right.text_value.casefold()
    )


def _shown(fact: Fact) -> str:
    if fact.parts:
        return ", ".join(_shown(part) for part in fact.parts)
    return f"{fact.comparator}{fact.figure} {unit_shown(fact.unit)}".strip() or fact.text_value


def _active_and_over(conditions: Sequence[Fact]) -> Iterator[Contradiction]:
    """One problem active in one entry and over in another, where the two overlap in time."""
    same: dict[str, list[Fact]] = defaultdict(list)
    for fact in conditions:
        same[fact.code or fact.name.casefold()].append(fact)
    for some in same.values():
        active = [fact for fact in some if fact.status in _ACTIVE]
        over = [fact for fact in some if fact.status in _OVER]
        for here in active:
            for there in over:
                if _overlap(here, there):
                    yield Contradiction(
                        rule="active-and-resolved",
                        text=f"{here.name} is {here.status} in one entry and {there.status} in "
                        "another that overlaps it.",
                        facts=(here, there),
                    )


def _overlap(active: Fact, over: Fact) -> bool:
    """An episode that began after another had ended is a new one, and no contradiction."""
    if active.when is None or over.when is None:
        return True
    ended = over.end or over.when
    return active.when <= ended


def _active_past_its_end(
    conditions: Sequence[Fact], medicines: Sequence[Fact], *, as_of: date
) -> Iterator[Contradiction]:
    for fact in (*conditions, *medicines):
        open_states = _ACTIVE if fact.category == "conditions" else {"active"}
        if fact.status in open_states and fact.end is not None and fact.end.date() < as_of:
            yield Contradiction(
                rule="active-past-end",
                text=f"{fact.name} is {fact.status}, and its end is recorded in the same entry.",
                facts=(fact,),
            )


def _given_twice(medicines: Sequence[Fact], *, as_of: date) -> Iterator[Contradiction]:
    """Two current entries of the same medicine: one may be left over from a change of dose."""
    same: dict[tuple[str, ...], list[Fact]] = defaultdict(list)
    for fact in medicines:
        if is_current(fact, as_of=as_of):
            ingredients = ingredients_of(fact.name) or (fact.name.casefold(),)
            same[tuple(sorted(ingredients))].append(fact)
    for some in same.values():
        if len(some) > 1:
            yield Contradiction(
                rule="medicine-twice",
                text=f"{len(some)} current entries name the same medicine: "
                f"{'; '.join(dict.fromkeys(fact.name for fact in some))}.",
                facts=tuple(some),
            )


def _class_twice(medicines: Sequence[Fact], *, as_of: date) -> Iterator[Contradiction]:
    current = [fact for fact in medicines if is_current(fact, as_of=as_of)]
    for name, classes in _ONE_OF.items():
        found: dict[str, Fact] = {}
        for fact in current:
            for ingredient in ingredients_of(fact.name):
                if ingredient not in _APART and classes & set(class_of(ingredient)):
                    found.setdefault(ingredient, fact)
        distinct = list({fact.source.id: fact for fact in found.values()}.values())
        if len(distinct) > 1:
            yield Contradiction(
                rule="class-twice",
                text=f"{len(distinct)} current medicines are of one kind ({name}), of which one is "
                f"usually taken at a time: {'; '.join(fact.name for fact in distinct)}.",
                facts=tuple(distinct),
            )
