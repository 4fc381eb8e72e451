"""What must stop the process, and what must not be passed on. By rule, before any model. Pure.

Patterns and texts are data (`data/safety.yaml`); this file holds how they are read: idioms, quoted
speech, other people, the past and denials take a match away.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Literal

from bedside.core.value import value

__all__ = ["Danger", "attacking", "danger_in", "help_text", "wants_to_resume"]

Level = Literal["stop", "concern"]
_QUOTED = re.compile(r"[\"“”«»][^\"“”«»]{1,300}[\"“”«»]|(?<!\w)'[^'\n]{3,300}'(?!\w)")
_CLAUSE = re.compile(r"[.!?;\n]+")
_DENIAL = re.compile(r"\b(never|not|nobody|no one|wouldn't|didn't|doesn't|isn't|neither)\b")
_TELLING = re.compile(
    r"\b(he|she|they|my [a-z]+|a friend|someone|somebody|mum|mom|dad|the [a-z]+|lyrics?|song|film|"
    r"movie|book|novel|line|quote|poem|show|text|titled|called|said|says|wrote|reads)\b"
)


@value
class Danger:
    """What was found: its kind (self_harm, abuse, violence) and whether it stops the process."""

    kind: str
    level: Level


def danger_in(text: str, rules: Mapping[str, Any]) -> Danger | None:
    """The gravest danger that a message speaks of; `None` where it speaks of none.

    "stop" is a danger to the person now, or from them. "concern" is one that is past, or somebody
    else's: help is named, and the conversation goes on.
    """
    found: Danger | None = None
    plain = _straight(text)
    for kind, patterns in rules["crisis"].items():
        for match in _every(plain, patterns):
            level = _level(plain, match, kind, rules)
            if level == "stop":
                return Danger(kind=kind, level="stop")
            if level == "concern":
                found = found or Danger(kind=kind, level="concern")
    if found is None:
        idioms = _every(plain, rules["idioms"])
        for match in _every(plain, (*rules["third"], *rules["near"])):
            if not any(_overlap(match, idiom) for idiom in idioms):
                return Danger(kind="self_harm", level="concern")
    return found


def _level(text: str, match: re.Match[str], kind: str, rules: Mapping[str, Any]) -> Level | None:
    if any(_overlap(match, idiom) for idiom in _every(text, rules["idioms"])):
        return None
    start = max((end.end() for end in _CLAUSE.finditer(text, 0, match.start())), default=0)
    end = _CLAUSE.search(text, match.end())
    clause = text[start : end.start() if end else len(text)]
    before = text[start : match.start()]
    for quoted in _QUOTED.finditer(text):
        if quoted.start() < match.start() and match.end() <= quoted.end():
            told = text[max(0, quoted.start() - 60) : quoted.start()]
            return None if kind == "violence" else "concern" if _TELLING.search(told) else None
    kept = _any(match[0], rules["keeps_denial"])
    if not kept and (_any(before, rules["denied"]) or _DENIAL.search(match[0])):
        return None
    of_another = (*rules["third"], *rules["told"])
    if kind == "self_harm" and _any(clause, of_another) and "i " not in f"{match[0]} ":
        return "concern"
    if _of_another(before, kind):
        return "concern"
    if any(_overlap(match, one) for one in _every(text, rules["mild"])):
        return "concern"
    if _any(clause, rules["past"]) and not _any(clause, rules["now"]):
        return "concern"
    return "stop"


def _of_another(before: str, kind: str) -> bool:
    """Is it somebody else who speaks of themselves ("my brother says i ...")?"""
    return kind == "self_harm" and bool(
        re.search(
            r"\b(he|she|they|my [a-z]+|a friend) (said|says|told me|texted|wrote)\b[^.]*$", before
        )
    )


def attacking(text: str, rules: Mapping[str, Any]) -> str:
    """The attacking words of a text that is to be passed on; "" where there are none."""
    plain = _straight(text)
    for match in _every(plain, rules["attack"]):
        before = plain[max(0, match.start() - 80) : match.start()]
        start = max((end.end() for end in _CLAUSE.finditer(before)), default=0)
        if _any(before[start:], rules["not_attack"]):
            continue
        if any(
            quoted.start() < match.start() and match.end() <= quoted.end()
            for quoted in _QUOTED.finditer(plain)
        ):
            continue
        return text[match.start() : match.end()]
    return ""


def help_text(rules: Mapping[str, Any], *, country: str) -> str:
    """Where help is, by country; the deployer's own where it is set."""
    known = rules["help"]
    return str(known.get(country.upper()) or known["default"])


def wants_to_resume(text: str, rules: Mapping[str, Any]) -> bool:
    """Did the person write the words that go on after a stop, and nothing that speaks against it?"""
    plain = " ".join(re.sub(r"[^\w' ]", " ", _straight(text)).split())
    return any(plain == phrase for phrase in rules["resume"])


def _straight(text: str) -> str:
    """Lower case with straight apostrophes; as long as the text, so that spans hold."""
    lower = "".join(one if len(one.lower()) != 1 else one.lower() for one in text)
    return lower.replace("’", "'").replace("‘", "'").replace("\u00a0", " ")


@lru_cache(maxsize=1024)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def _every(text: str, patterns: Sequence[str]) -> list[re.Match[str]]:
    return [match for one in patterns for match in _compiled(one).finditer(text)]


def _any(text: str, patterns: Sequence[str]) -> bool:
    return any(_compiled(one).search(text) for one in patterns)


def _overlap(one: re.Match[str], other: re.Match[str]) -> bool:
    return one.start() < other.end() and other.start() < one.end()
