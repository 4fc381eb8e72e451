"""Emergencies that a message names, by rule, before any model (IN-24). Pure."""

from __future__ import annotations

import re

from bedside.core.value import value

__all__ = ["RedFlag", "red_flags"]


@value
class RedFlag:
    """One emergency: its rule, and the words at [start, end) of the message that named it."""

    id: str
    start: int
    end: int


_RULES = (
    (
        "chest_pain",
        re.compile(
            r"\b(?:crushing|severe|bad|tight(?:ness)?)\b[^.!?]{0,20}\bchest\b|\bchest (?:pain|tightness|pressure)\b",
            re.IGNORECASE,
        ),
    ),
    ("suicide", re.compile(r"\b(?:kill myself|end my life|suicidal|want to die)\b", re.IGNORECASE)),
)


def red_flags(message: str) -> tuple[RedFlag, ...]:
    """The emergencies that stand in the message, in their order."""
    found = [
        RedFlag(id=name, start=match.start(), end=match.end())
        for name, form in _RULES
        for match in form.finditer(message)
    ]
    return tuple(sorted(found, key=lambda one: one.start))
