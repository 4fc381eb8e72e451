"""Where text may go, and what a turn says of where it went. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from bedside.core.errors import EgressRefused
from bedside.core.turn import Ended, Route
from bedside.models.address import is_local
from bedside.models.config import ModelsConfig

__all__ = ["allow", "may_go", "statement"]

_NOTHING_SENT = frozenset({"refused", "no_key"})


def may_go(provider: str, *, route: Route, config: ModelsConfig) -> bool:
    """May text of this route go to that provider?

    Yes where its address is loopback, where the patient is a bundled synthetic one, or where
    `egress.allow` names it. A credential plays no part.
    """
    if route.exempt or provider in config.egress.allow:
        return True
    return is_local(provider, config.provider(provider))


def allow(provider: str, *, route: Route, config: ModelsConfig) -> None:
    """Say no by raising, where `may_go` does.

    Raises:
        EgressRefused: the provider is remote and not on the list.
    """
    if not may_go(provider, route=route, config=config):
        raise EgressRefused(provider)


def statement(calls: Iterable[Ended], *, config: ModelsConfig, embedded: Iterable[str] = ()) -> str:
    """What left this machine in a turn, from the calls it made (failed ones included).

    `embedded` are the remote providers that its question was sent to before, for its vector.

    "none", or the remote providers that text was sent to, in order, and whether direct
    identifiers were removed: "openrouter, identifiers removed", "openrouter and anthropic, full".
    """
    names: list[str] = list(dict.fromkeys(embedded))
    for call in calls:
        if call.outcome.startswith("skipped") or call.outcome in _NOTHING_SENT:
            continue
        if not call.provider or call.provider in names:
            continue
        if not is_local(call.provider, config.provider(call.provider)):
            names.append(call.provider)
    if not names:
        return "none"
    how = "identifiers removed" if config.egress.deidentify else "full"
    return f"{' and '.join(names)}, {how}"
