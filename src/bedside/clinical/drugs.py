"""Medicines in text: generics, brands, combinations, classes."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator, Mapping

from pydantic import BaseModel, ConfigDict, Field

from bedside.clinical.lexicon import Lexicon
from bedside.clinical.packs import Pack, PackFile, load_pack
from bedside.core.errors import NotFound
from bedside.core.value import value

__all__ = [
    "ClassMention",
    "Drug",
    "DrugMention",
    "brand_names",
    "class_name",
    "class_of",
    "drug",
    "drug_packs",
    "drugs",
    "drugs_in",
    "find_classes",
    "find_drugs",
    "generic_of",
    "ingredients_of",
]

_PACKAGE = "bedside.clinical"
# Words one slip away from a medicine that are not a misspelling of it.
_SPEECH = frozenset(
    {"cystatin", "inulin", "pentobarbital", "erythropoiesis", "leucocoria", "quinidine"}
)
# A brand that is also a name or a word counts only when one of these follows within a few words.
_DOSED = re.compile(
    r"[^.\n]{0,24}?(?:\d|\b(?:mg|mcg|tab|tablets?|caps?|capsules?|pills?|pack|inhaler|injection"
    r"|cream|drops|twice|once|daily|bd|od|tds|bid|tid|qd)\b)",
    re.IGNORECASE,
)


@value
class Drug:
    """One medicine. `classes` are keys such as "ace_inhibitor"; `brands` and `other` are names."""

    generic: str
    classes: tuple[str, ...]
    brands: tuple[str, ...]
    other: tuple[str, ...]


@value
class DrugMention:
    """A medicine named at `text[start:end]`, offsets in code points, half-open.

    `generic` is the generic name, or of a combination its ingredients joined by "-".
    `ingredients` are generics, one or more. `brand` is True for a trade name. `exact` is False when
    a misspelling was repaired.
    """

    start: int
    end: int
    text: str
    generic: str
    ingredients: tuple[str, ...]
    brand: bool
    exact: bool


@value
class ClassMention:
    """A group of medicines named at `text[start:end]`; `name` is the group's, `classes` its keys."""

    start: int
    end: int
    text: str
    name: str
    classes: tuple[str, ...]
    exact: bool


class _Row(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    c: tuple[str, ...]
    us: tuple[str, ...] = ()
    uk: tuple[str, ...] = ()
    india: tuple[str, ...] = Field(default=(), alias="in")
    aka: tuple[str, ...] = ()


class _Combination(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    of: tuple[str, ...]
    brands: tuple[str, ...]


class _Drugs(PackFile):
    classes: dict[str, str]
    drugs: dict[str, _Row]
    combinations: dict[str, _Combination]
    named: tuple[str, ...]


class _Group(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    classes: tuple[str, ...]
    terms: tuple[str, ...]


class _Groups(PackFile):
    groups: dict[str, _Group]


@value
class _Name:
    generic: str
    ingredients: tuple[str, ...]
    brand: bool
    named: bool


def drug_packs() -> tuple[Pack, ...]:
    """The packs that the functions of this module rest on."""
    return (_file().pack, _groups().pack)


def drugs() -> tuple[Drug, ...]:
    """Every single-ingredient medicine, by generic name."""
    return tuple(_table().values())


def drug(generic: str) -> Drug:
    """One medicine by its generic name, in any case.

    Raises:
        NotFound: No such generic; `find_drugs` and `generic_of` also know brands.
    """
    try:
        return _table()[generic.casefold()]
    except KeyError:
        raise NotFound("medicine", generic, hint="Give a generic name.") from None


def find_drugs(text: str, *, repair: bool = False) -> tuple[DrugMention, ...]:
    """The medicines named in `text`, in order, without overlaps.

    Understands generics, salts, US, UK and Indian brands, combinations, and record strings such as
    "24 HR Metformin hydrochloride 500 MG Extended Release Oral Tablet". Strengths and forms are not
    part of a mention. A brand that is also an ordinary name counts only beside a dose or a form.

    Args:
        text: Any text.
        repair: Also read misspelt names; such mentions have `exact` False. Leave it off for text
            that is checked, turn it on for questions people type.
    """
    found: list[DrugMention] = []
    for match in _lexicon().find(text, repair=repair):
        name = match.values[0]
        if name.named and not (match.exact and _DOSED.match(text, match.end)):
            continue
        found.append(
            DrugMention(
                start=match.start,
                end=match.end,
                text=match.phrase,
                generic=name.generic,
                ingredients=name.ingredients,
                brand=name.brand,
                exact=match.exact,
            )
        )
    return tuple(found)


def find_classes(text: str, *, repair: bool = False) -> tuple[ClassMention, ...]:
    """The groups of medicines named in `text` ("statin", "blood thinners"), in order."""
    return tuple(
        ClassMention(
            start=match.start,
            end=match.end,
            text=match.phrase,
            name=match.values[0][0],
            classes=match.values[0][1],
            exact=match.exact,
        )
        for match in _class_lexicon().find(text, repair=repair)
    )


def generic_of(name: str) -> str | None:
    """The generic name of a whole name (generic, salt, brand); `None` when it is not known.

    A combination gives its ingredients joined by "-", in the pack's order.
    """
    found = _lexicon().get(name)
    return found[0].generic if found else None


def ingredients_of(text: str) -> tuple[str, ...]:
    """The generics in a medicine's description, in order, each once; empty when none is known."""
    seen: dict[str, None] = {}
    for mention in find_drugs(text):
        seen.update(dict.fromkeys(mention.ingredients))
    return tuple(seen)


def class_of(name: str) -> tuple[str, ...]:
    """The class keys of a generic, brand or combination; empty when the name is not known."""
    found = _lexicon().get(name)
    if not found:
        return ()
    seen: dict[str, None] = {}
    for ingredient in found[0].ingredients:
        seen.update(dict.fromkeys(_table()[ingredient].classes))
    return tuple(seen)


def class_name(key: str) -> str:
    """How a class is called: "ace_inhibitor" gives "ACE inhibitor".

    Raises:
        NotFound: No such class.
    """
    try:
        return _file().classes[key]
    except KeyError:
        raise NotFound("drug class", key) from None


def drugs_in(classes: Iterable[str]) -> tuple[str, ...]:
    """The generics that belong to any of the classes, by name."""
    wanted = set(classes)
    return tuple(
        sorted(item.generic for item in _table().values() if wanted.intersection(item.classes))
    )


def brand_names() -> Mapping[str, str]:
    """Brand name to generic (or ingredients joined by "-"), ordinary names left out."""
    names: dict[str, str] = {}
    skip = set(_file().named)
    for generic, row in _file().drugs.items():
        for brand in (*row.us, *row.uk, *row.india):
            if brand not in skip:
                names.setdefault(brand, generic)
    for generic, product in _file().combinations.items():
        for brand in product.brands:
            if brand not in skip:
                names.setdefault(brand, generic)
    return names


@functools.cache
def _file() -> _Drugs:
    return load_pack(_Drugs, _PACKAGE, "data/drugs.yaml")


@functools.cache
def _groups() -> _Groups:
    return load_pack(_Groups, _PACKAGE, "data/drug_classes.yaml")


@functools.cache
def _table() -> Mapping[str, Drug]:
    return {
        generic: Drug(
            generic=generic,
            classes=row.c,
            brands=tuple(dict.fromkeys((*row.us, *row.uk, *row.india))),
            other=row.aka,
        )
        for generic, row in _file().drugs.items()
    }


@functools.cache
def _lexicon() -> Lexicon[_Name]:
    return Lexicon(
        _names(),
        repairable=(name for name, sense in _names() if not sense.brand),
        words_of_speech=_SPEECH,
    )


def _names() -> Iterator[tuple[str, _Name]]:
    ordinary = {brand.casefold() for brand in _file().named}
    for generic, row in _file().drugs.items():
        for name in (generic, *row.aka):
            yield (
                name,
                _Name(
                    generic=generic,
                    ingredients=(generic,),
                    brand=False,
                    named=name.casefold() in ordinary,
                ),
            )
    for generic, row in _file().drugs.items():
        for name in (*row.us, *row.uk, *row.india):
            yield (
                name,
                _Name(
                    generic=generic,
                    ingredients=(generic,),
                    brand=True,
                    named=name.casefold() in ordinary,
                ),
            )
    for generic, product in _file().combinations.items():
        for name in (generic, *product.brands):
            yield (
                name,
                _Name(
                    generic=generic,
                    ingredients=product.of,
                    brand=name != generic,
                    named=name.casefold() in ordinary,
                ),
            )


@functools.cache
def _class_lexicon() -> Lexicon[tuple[str, tuple[str, ...]]]:
    return Lexicon(
        (term, (name, group.classes))
        for name, group in _groups().groups.items()
        for term in (name, *group.terms)
    )
