"""Does a medicine conflict with a recorded allergy? By ingredient, family and cited cross-reaction."""

from __future__ import annotations

import functools
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from bedside.clinical.drugs import class_of, find_classes, find_drugs
from bedside.clinical.lexicon import words
from bedside.clinical.packs import Pack, PackFile, load_pack
from bedside.core.value import value

__all__ = ["AllergyConflict", "allergy_pack", "conflicts_with_allergy"]

Severity = Literal["critical", "warning", "info"]
_RANK = {"critical": 0, "warning": 1, "info": 2}


@value
class AllergyConflict:
    """Why a medicine and an allergy do not go together.

    `ingredient` is the medicine's part that conflicts, `allergen` the drug, class or substance of
    the allergy. `kind` is "same" for the very drug, "family" within a class, "cross" between them.
    `text` is one sentence; `source` cites it ("" for the very drug, which needs none).
    """

    ingredient: str
    allergen: str
    kind: Literal["same", "family", "cross"]
    severity: Severity
    text: str
    source: str


class _Family(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    severity: Severity
    source: str
    text: str


class _Cross(_Family):
    origin: str = Field(alias="from")
    to: str


class _Substance(_Family):
    terms: tuple[str, ...]
    drugs: tuple[str, ...]


class _Rules(PackFile):
    sources: dict[str, str]
    families: dict[str, _Family]
    cross: tuple[_Cross, ...]
    substances: dict[str, _Substance]


@value
class _Allergen:
    """What an allergy entry names: `drug` is "" for a whole class."""

    drug: str
    classes: tuple[str, ...]
    name: str


def allergy_pack() -> Pack:
    """The pack that the rules come from."""
    return _rules().pack


def conflicts_with_allergy(drug: str, allergen: str) -> AllergyConflict | None:
    """The gravest conflict between a medicine and an allergy entry.

    Args:
        drug: A medicine as a record or a question has it; strengths and forms are ignored.
        allergen: The allergy entry's text, such as "Penicillin V", "sulfa drugs", "Shellfish".

    Returns:
        The conflict, or `None` when the rules know none. `None` is not a statement of safety: a
        medicine or an allergen that is not in the pack gives `None` as well.
    """
    found: list[AllergyConflict] = []
    ingredients = _ingredients(drug)
    if not ingredients:
        return None
    allergens = _allergens(allergen)
    for ingredient in ingredients:
        for one in allergens:
            conflict = _between(ingredient, one)
            if conflict is not None:
                found.append(conflict)
        found.extend(_substances(ingredient, allergen))
    return min(found, key=lambda item: _RANK[item.severity], default=None)


@functools.lru_cache(maxsize=2048)
def _ingredients(drug: str) -> tuple[str, ...]:
    """What is in it, each once; remembered, since every medicine is held against every allergy."""
    return tuple(
        dict.fromkeys(part for mention in find_drugs(drug) for part in mention.ingredients)
    )


@functools.lru_cache(maxsize=2048)
def _allergens(text: str) -> tuple[_Allergen, ...]:
    named = [
        _Allergen(drug=part, classes=class_of(part), name=part)
        for mention in find_drugs(text)
        for part in mention.ingredients
    ]
    named.extend(
        _Allergen(drug="", classes=(key,), name=mention.name)
        for mention in find_classes(text)
        for key in mention.classes
    )
    return tuple(named)


def _between(ingredient: str, allergen: _Allergen) -> AllergyConflict | None:
    rules = _rules()
    if ingredient == allergen.drug:
        return AllergyConflict(
            ingredient=ingredient,
            allergen=allergen.name,
            kind="same",
            severity="critical",
            text=f"{ingredient} is itself the recorded allergen.",
            source="",
        )
    own = class_of(ingredient)
    hits: list[AllergyConflict] = []
    for key in own:
        family = rules.families.get(key)
        if key in allergen.classes and (family is not None or not allergen.drug):
            hits.append(_shared(ingredient, allergen, family))
    hits.extend(
        AllergyConflict(
            ingredient=ingredient,
            allergen=allergen.name,
            kind="cross",
            severity=rule.severity,
            text=f"Allergy to {allergen.name}; {ingredient}: {rule.text}.",
            source=rules.sources[rule.source],
        )
        for rule in rules.cross
        if rule.origin in {allergen.drug, *allergen.classes} and rule.to in {ingredient, *own}
    )
    return min(hits, key=lambda item: _RANK[item.severity], default=None)


def _shared(ingredient: str, allergen: _Allergen, family: _Family | None) -> AllergyConflict:
    if allergen.drug and family is not None:
        text = f"Allergy to {allergen.name}; {ingredient}: {family.text}."
    else:
        text = f"{ingredient} belongs to the recorded allergen group {allergen.name}."
    return AllergyConflict(
        ingredient=ingredient,
        allergen=allergen.name,
        kind="family",
        severity=family.severity if family is not None else "critical",
        text=text,
        source=_rules().sources[family.source] if family is not None else "",
    )


def _substances(ingredient: str, allergen: str) -> list[AllergyConflict]:
    said = " ".join(word for _, _, word in words(allergen))
    return [
        AllergyConflict(
            ingredient=ingredient,
            allergen=name,
            kind="cross",
            severity=rule.severity,
            text=f"Allergy to {name}; {ingredient}: {rule.text}.",
            source=_rules().sources[rule.source],
        )
        for name, rule in _rules().substances.items()
        if ingredient in rule.drugs
        and any(f" {term} " in f" {said} " for term in rule.terms)
        and "shellfish" not in said
    ]


@functools.cache
def _rules() -> _Rules:
    return load_pack(_Rules, "bedside.clinical", "data/allergies.yaml")
