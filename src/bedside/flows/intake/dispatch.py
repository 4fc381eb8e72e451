"""Which architecture serves a turn (IN-14): forced, sticky, by flag, by language, or fallen back. Pure.

`choose` is a function of the case and the flags alone. Its choice is pinned on the conversation at
the first turn; later flags do not move it. Only an override, or a fallback of one turn, differs.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, Literal

from bedside.core.value import value

__all__ = [
    "DEFAULT", "ORDER", "SAFE", "SPEAKS", "VERSIONS", "Choice", "Facts", "check_flag", "choose",
    "resolve",
]  # fmt: skip

Name = Literal["flexible", "staged", "minimal"]
ORDER: tuple[Name, ...] = ("flexible", "staged", "minimal")
"""Also the order of fallback; the last needs nothing."""
VERSIONS: Mapping[str, str] = {"flexible": "1", "staged": "1", "minimal": "1"}
DEFAULT: Name = "flexible"
"""Where no flag says otherwise."""
SAFE: Name = "staged"
"""Where the flags cannot be read."""
SPEAKS: Mapping[str, frozenset[str]] = {
    "flexible": frozenset({"en"}),
    "staged": frozenset({"en"}),
    "minimal": frozenset({"en", "ar", "hi"}),
}
_BUCKETS = 10_000
_WHOLE = 100


@value
class Facts:
    """What the choice hangs on.

    `pinned` is what the first turn chose, "" before it; `can` are the routed model's abilities.
    """

    case: str
    tenant: str = "default"
    pinned: str = ""
    forced: str = ""
    language: str = "en"
    can: frozenset[str] = frozenset()


@value
class Choice:
    """The architecture of a turn, and the whole chain behind it, itself first.

    `skipped` are (architecture, why) that lacked a prerequisite; `language_reason` says why the
    turn left its own architecture for a language, "" where it did not.
    """

    architecture: Name
    source: Literal["force", "sticky", "flag", "default", "unreachable"]
    chain: tuple[Name, ...]
    own: Name
    skipped: tuple[tuple[str, str], ...] = ()
    language_reason: str = ""


def resolve(
    case: str, tenant: str, flags: Mapping[str, Any] | None
) -> tuple[Name, Literal["flag", "default", "unreachable"]]:
    """A new case's architecture: the first whose flag is on for it; `None` flags are unreachable."""
    if flags is None:
        return SAFE, "unreachable"
    said = False
    for name in ORDER:
        row = flags.get(f"intake.{name}")
        if not isinstance(row, Mapping):
            if name == DEFAULT and not any(f"intake.{one}" in flags for one in ORDER):
                return DEFAULT, "default"
            continue
        said = True
        if _on(row, name, case, tenant):
            return name, "flag"
    return (SAFE, "default") if said and not _off(flags, SAFE) else (ORDER[-1], "default")


def _off(flags: Mapping[str, Any], name: str) -> bool:
    row = flags.get(f"intake.{name}")
    return isinstance(row, Mapping) and not row.get("on")


def _on(row: Mapping[str, Any], name: str, case: str, tenant: str) -> bool:
    if not row.get("on"):
        return False
    tenants = row.get("tenants") or ()
    if tenants and tenant not in tenants:
        return False
    percent = float(row.get("percent", 100))
    if percent >= _WHOLE:
        return True
    digest = hashlib.sha256(f"{name}:{case}".encode()).digest()
    return int.from_bytes(digest[:4], "big") % _BUCKETS < percent * _BUCKETS / _WHOLE


def choose(facts: Facts, flags: Mapping[str, Any] | None) -> Choice:
    """The turn's architecture and its chain.

    Forced before sticky before flags. A language that the architecture does not speak moves the
    turn, and that turn alone, to one that does. A flag may require "model"; without one the next
    architecture serves the turn.
    """
    source: Literal["force", "sticky", "flag", "default", "unreachable"]
    if facts.forced in ORDER:
        own, source = _name(facts.forced), "force"
    elif facts.pinned in ORDER:
        own, source = _name(facts.pinned), "sticky"
    else:
        own, source = resolve(facts.case, facts.tenant, flags)
    chain = ORDER[ORDER.index(own) :]
    skipped: list[tuple[str, str]] = []
    left: list[Name] = []
    for name in chain:
        row = (flags or {}).get(f"intake.{name}")
        needs = row.get("requires", ()) if isinstance(row, Mapping) else ()
        lacking = [one for one in needs if one not in facts.can]
        if lacking and name != ORDER[-1]:
            skipped.append((name, f"prerequisite: {lacking[0]}"))
        else:
            left.append(name)
    reason = ""
    if facts.language not in SPEAKS[left[0]]:
        speaking: list[Name] = [name for name in ORDER if facts.language in SPEAKS[name]]
        if speaking:
            reason = f"language: {facts.language}"
            left = [*speaking]
    return Choice(
        architecture=left[0],
        source=source,
        chain=tuple(left),
        own=own,
        skipped=tuple(skipped),
        language_reason=reason,
    )


def _name(text: str) -> Name:
    return ORDER[ORDER.index(text)]


def check_flag(key: str, body: Any) -> dict[str, Any]:
    """A flag as it is stored.

    Raises:
        ValueError: what is wrong with it.
    """
    if key.partition(".")[2] not in ORDER or not key.startswith("intake."):
        raise ValueError("the key must be one of " + ", ".join(f"intake.{name}" for name in ORDER))
    if not isinstance(body, Mapping) or not isinstance(body.get("on"), bool):
        raise ValueError(  # noqa: TRY004 - a value of the caller's JSON
            'the flag must be {"on": true or false, "percent": 0 to 100, "tenants": []}'
        )
    percent = body.get("percent", 100)
    if (
        isinstance(percent, bool)
        or not isinstance(percent, (int, float))
        or not 0 <= percent <= _WHOLE
    ):
        raise ValueError("percent must be a number from 0 to 100")
    tenants, requires = body.get("tenants", []), body.get("requires", [])
    if not all(
        isinstance(one, list) and all(isinstance(x, str) for x in one)
        for one in (tenants, requires)
    ):
        raise ValueError("tenants and requires must be lists of names")
    unknown = set(body) - {"on", "percent", "tenants", "requires"}
    if unknown or not set(requires) <= {"model"}:
        raise ValueError(
            "a flag has on, percent, tenants and requires (of: model), and nothing else"
        )
    return {"on": body["on"], "percent": percent, "tenants": tenants, "requires": requires}
