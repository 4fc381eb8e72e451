"""Which analyte an observation is, and whether it is one of the asked names, codes or analytes."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence

from bedside.clinical.analytes import analyte_of, analytes, panel
from bedside.record.needs import Fact

__all__ = ["analyte_key", "keys_of", "matches"]

_WORDS = re.compile(r"[a-z0-9]+")


def analyte_key(fact: Fact) -> str:
    """The analyte of an observation by its codes, else by its name; "" when it is not known."""
    return _known(fact.codes, fact.name)


@functools.lru_cache(maxsize=4096)
def _known(codes: tuple[str, ...], name: str) -> str:
    for code in codes:
        found = analyte_of(loinc=code.rsplit("|", 1)[-1])
        if found is not None:
            return found.key
    found = analyte_of(name=name)
    return found.key if found else ""


@functools.lru_cache(maxsize=1024)
def keys_of(name: str) -> frozenset[str]:
    """The analyte keys that a name, key, code or panel stands for; empty when it is not known."""
    if name in _all_keys():
        return frozenset((name,))
    group = panel(name)
    if group is not None:
        return frozenset(group.of)
    found = analyte_of(loinc=name.rsplit("|", 1)[-1], name=name)
    return frozenset((found.key,)) if found else frozenset()


@functools.cache
def _all_keys() -> frozenset[str]:
    return frozenset(item.key for item in analytes())


def matches(fact: Fact, names: Sequence[str]) -> bool:
    """Whether the fact, or a component of it, goes by one of these names, codes or analytes.

    A name that stands for known analytes matches those only ("hemoglobin" is not HbA1c, "glucose"
    is not glucose in urine); another name matches every display that holds all of its words.
    """
    return any(_fits(item, name) for name in names for item in (fact, *fact.parts))


def _fits(fact: Fact, name: str) -> bool:
    if any(name == code or code.endswith(f"|{name}") for code in fact.codes):
        return True
    asked = name.casefold().strip()
    shown = [text.casefold() for text in (fact.name, *fact.synonyms)]
    keys = keys_of(name)
    if keys:
        return analyte_key(fact) in keys or asked in shown
    words = set(_WORDS.findall(asked))
    return bool(words) and any(words <= set(_WORDS.findall(text)) for text in shown)
