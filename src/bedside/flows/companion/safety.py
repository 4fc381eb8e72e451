"""What must stop the process, and what must not be passed on. By rule, before any model. Pure.

What is heard is `bedside.clinical.danger`'s; here it is mapped to what the companion does: stop, or
name help and go on. Fixed texts and attacking words are data (`data/safety.yaml`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Literal, cast

from bedside.clinical.danger import Heard, heard
from bedside.core.errors import BadInput
from bedside.core.value import value

__all__ = ["Danger", "attacking", "check_rules", "danger_in", "help_text", "wants_to_resume"]

Level = Literal["stop", "concern"]
Kind = Literal["self_harm", "abuse", "violence", "emergency"]
_QUOTED = re.compile(r"[\"“”«»][^\"“”«»]{1,300}[\"“”«»]|(?<!\w)'[^'\n]{3,300}'(?!\w)")
_CLAUSE = re.compile(r"[.!?;\n]+")
_TELLING = re.compile(
    r"\b(he|she|they|my [a-z]+|a friend|someone|somebody|mum|mom|dad|the [a-z]+|lyrics?|song|film|"
    r"movie|book|novel|line|quote|poem|show|text|titled|called|said|says|wrote|reads)\b"
)


_KIND: dict[str, Kind] = {"suicide": "self_harm", "abuse": "abuse", "threat": "violence"}
_GRAVEST: tuple[Kind, ...] = ("self_harm", "violence", "abuse", "emergency")


@value
class Danger:
    """What was found: its kind, and whether it stops the process."""

    kind: Kind
    level: Level


def danger_in(text: str, rules: Mapping[str, Any] | None = None) -> Danger | None:
    """The gravest danger that a message speaks of; `None` where it speaks of none.

    What a tenant's own patterns hear (`rules["crisis"]`) is a "stop", however it is said.

    "stop" is a danger to the person now, or from them. "concern" is one that is past, or somebody
    else's: help is named, and the conversation goes on.
    """
    levels: dict[Kind, Level] = {}
    for one in heard(text):
        level, kind = _level(one, text), _KIND.get(one.danger, "emergency")
        if level is not None and levels.get(kind) != "stop":
            levels[kind] = level
    own: Mapping[Kind, Sequence[str]] = (rules or {}).get("crisis", {})
    plain = _straight(text) if own else ""
    levels |= {kind: "stop" for kind, patterns in own.items() if _any(plain, patterns)}
    for wanted in ("stop", "concern"):
        for kind in _GRAVEST:
            if levels.get(kind) == wanted:
                return Danger(kind=kind, level=wanted)
    return None


def _level(one: Heard, text: str) -> Level | None:
    if one.how == "now":
        return "concern" if one.mild or one.who == "other" else "stop"
    if one.danger == "emergency":
        return None
    if one.how == "quoted":
        told = _TELLING.search(_straight(text[max(0, one.start - 60) : one.start]))
        return "concern" if told and one.danger != "threat" else None
    return "concern" if one.how == "over" else None


def check_rules(rules: Mapping[str, Any], known: Mapping[str, Any]) -> None:
    """Refuse a tenant's rules that nothing reads.

    Raises:
        BadInput: a part is none of the `known`, or its dangers are no patterns by kind.
    """
    gone = sorted(set(rules) - set(known))
    if gone:
        raise BadInput(
            f"companion/safety: {', '.join(gone)}",
            why="nothing reads it; what a danger is, is bedside.clinical.danger's, and patterns of "
            f"yours stand under crisis. Known here: {', '.join(sorted(known))}",
        )
    own = rules["crisis"]
    if not isinstance(own, Mapping) or not set(own) <= set(_GRAVEST):
        raise BadInput(
            "companion/safety: crisis", why=f"it wants patterns by {', '.join(_GRAVEST)}"
        )
    for kind, patterns in cast("Mapping[str, Any]", own).items():
        if not _are_patterns(patterns):
            raise BadInput(
                f"companion/safety: crisis.{kind}", why="it wants a list of regular expressions"
            )


def _are_patterns(given: object) -> bool:
    try:
        return isinstance(given, list) and all(map(_compiled, cast("list[str]", given)))
    except (TypeError, re.error):
        return False


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
