"""Words that rules read: countries, illnesses, people, refusals. Data files, compiled once. Pure."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Any

import yaml

from bedside.core.value import value

__all__ = ["RELATIVE", "Found", "conditions", "countries", "data", "phrase_pattern"]

RELATIVE = (
    r"(?:(?:grand|step)?(?:mother|father|mom|mum|dad|son|daughter)|mummy|daddy|wife|husband|spouse|"
    r"partner|parents?|brother|sister|uncle|aunt|aunty|auntie|cousin|friend|child|kid|baby|"
    r"grandma|grandpa|granny|grandad|granddad|nan|nana|niece|nephew|mother-in-law|father-in-law|papa|mama|"
    r"old man|old lady|fiancée?|fiancee|boyfriend|girlfriend|"
    r"ل?(?:والدتي|والدي|أمي|امي|أبي|ابي|زوجتي|زوجي|ابني|ابنتي|أختي|أخي|جدتي|جدي|طفلي))"
)
"""Words for somebody else, as a pattern."""


@value
class Found:
    """A value and the words at [start, end) that say it."""

    value: str
    start: int
    end: int


@functools.cache
def data(name: str) -> Any:
    """A data file of this flow, as YAML gives it."""
    path = resources.files("bedside.flows.intake") / "data" / f"{name}.yaml"
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def phrase_pattern(words: Sequence[str]) -> re.Pattern[str]:
    """Any of the phrases as whole words, the longest first, whatever their case and blanks."""
    return _compiled(tuple(words))


@functools.lru_cache(maxsize=2_048)
def _compiled(words: tuple[str, ...]) -> re.Pattern[str]:
    parts = [
        r"\s+".join(re.escape(bit) for bit in word.split())
        for word in sorted(set(words), key=len, reverse=True)
    ]
    return re.compile(r"(?<![\w-])(?:(?<!\w)و)?(?:" + "|".join(parts) + r")(?![\w])", re.IGNORECASE)


class _Index:
    def __init__(self, table: Mapping[str, Sequence[str] | None]) -> None:
        self._values = {
            " ".join(word.casefold().split()): name
            for name, others in table.items()
            for word in (name, *(others or ()))
        }
        self._pattern = phrase_pattern(tuple(self._values))

    def find(self, text: str) -> tuple[Found, ...]:
        """Every value that the text names, in its order."""
        return tuple(
            Found(
                value=self._values[_key(match.group(), self._values)],
                start=match.start(),
                end=match.end(),
            )
            for match in self._pattern.finditer(text)
        )


def _key(words: str, known: Mapping[str, str]) -> str:
    """The entry that the words stand for; an Arabic "and" written on to them is taken off."""
    flat = " ".join(words.casefold().split())
    return flat if flat in known else flat.removeprefix("و")


@functools.cache
def _index(name: str) -> _Index:
    return _Index(data(name))


_SPEECH = re.compile(
    r"\b(?:my|speak|speaks|speaking|good|bad|poor|broken|write|little) $", re.IGNORECASE
)


def countries(text: str) -> tuple[Found, ...]:
    """The countries that the text names, by name, people or large city.

    "us" counts in capitals alone, since it is a pronoun first; "my English" is a language.
    """
    return tuple(
        one
        for one in _index("countries").find(text)
        if text[one.start : one.end] not in {"us", "Us"}
        and not _SPEECH.search(text[max(0, one.start - 20) : one.start])
    )


def conditions(text: str) -> tuple[Found, ...]:
    """The illnesses that the text names, whether affirmed or denied; overlapping names once."""
    return _index("conditions").find(text)
