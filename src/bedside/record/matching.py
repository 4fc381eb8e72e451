"""Whether an observation is one of the asked names, codes or analytes."""

from __future__ import annotations

import re
from collections.abc import Sequence

from bedside.record.needs import Fact

__all__ = ["matches"]

_WORDS = re.compile(r"[a-z0-9]+")


def matches(fact: Fact, names: Sequence[str]) -> bool:
    """Whether the fact, or a component of it, goes by one of these names or codes."""
    return any(_fits(fact, name) or any(_fits(part, name) for part in fact.parts) for name in names)


def _fits(fact: Fact, name: str) -> bool:
    if any(name == code or code.endswith(f"|{name}") for code in fact.codes):
        return True
    asked = set(_WORDS.findall(name.casefold()))
    shown = (fact.name, *fact.synonyms)
    return bool(asked) and any(asked <= set(_WORDS.findall(text.casefold())) for text in shown)
