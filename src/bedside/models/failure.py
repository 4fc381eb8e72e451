"""How one model call fails, and what each kind means for the chain."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from bedside.core.value import value

__all__ = ["DOWN", "RULES", "Failure", "FailureKind", "Rule", "of_status"]

FailureKind = Literal[
    "rate_limited",
    "overloaded",
    "server_error",
    "refused",
    "reset",
    "timeout",
    "cut",
    "malformed",
    "empty",
    "too_large",
    "bad_request",
    "auth",
    "refusal",
    "no_key",
]


class Failure(Exception):
    """One call failed. Internal to the room: the gateway turns it into `Ended` or `NoModel`.

    `status` is the HTTP status, `None` where no answer came. `retry_after` is in seconds, `None`
    where the provider did not say. `usage` is what was reported before the failure. It never holds the provider's message: providers echo input.
    """

    def __init__(
        self,
        kind: FailureKind,
        *,
        status: int | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(kind if status is None else f"{kind} (HTTP {status})")
        self.kind: FailureKind = kind
        self.status, self.retry_after = status, retry_after
        self.usage: Mapping[str, int | None] = {}

    @property
    def free(self) -> bool:
        """True where nothing was computed: no provider was reached, or it answered with an error."""
        if any(count is not None for count in self.usage.values()):
            return False
        return self.status is not None or self.kind in {"refused", "no_key"}

    @property
    def outcome(self) -> str:
        """What `Ended.outcome` records: the kind, with the status where there is one."""
        return self.kind if self.status is None else f"{self.kind}_{self.status}"


@value
class Rule:
    """What follows a failure: `calls` is the most calls of one provider that it may use up."""

    calls: int
    breaker: bool = True
    """False for the caller's own fault, which says nothing about the provider's health."""


RULES: dict[FailureKind, Rule] = {
    # Passing trouble of the provider or the way to it: worth asking again.
    "overloaded": Rule(calls=3),
    "server_error": Rule(calls=3),
    "refused": Rule(calls=3),
    "reset": Rule(calls=3),
    "cut": Rule(calls=3),
    # With Retry-After only; without it a 429 may be a spending limit (see `Chain`).
    "rate_limited": Rule(calls=3),
    # A provider that talks nonsense gets one more chance.
    "malformed": Rule(calls=2),
    "empty": Rule(calls=2),
    # Asking again would spend the turn's time, or bring the same.
    "timeout": Rule(calls=1),
    "too_large": Rule(calls=1),
    "bad_request": Rule(calls=1, breaker=False),
    "auth": Rule(calls=1, breaker=False),
    "no_key": Rule(calls=1, breaker=False),
    "refusal": Rule(calls=1, breaker=False),
}

DOWN = (*(kind for kind, rule in RULES.items() if rule.breaker), "auth")
"""How outcomes begin that speak of the provider, and not of what it was asked."""

_OVERLOADED = 529
_UNAVAILABLE = (503, _OVERLOADED)
_TOO_MANY = 429
_TIMEOUTS = (408, 504)
_AUTH = (401, 402, 403)
_SERVER = 500


def of_status(status: int, *, retry_after: float | None = None) -> Failure:
    """The failure that an HTTP status means."""
    if status == _TOO_MANY:
        return Failure("rate_limited", status=status, retry_after=retry_after)
    if status in _UNAVAILABLE:
        return Failure("overloaded", status=status, retry_after=retry_after)
    if status in _TIMEOUTS:
        return Failure("timeout", status=status)
    if status in _AUTH:
        return Failure("auth", status=status)
    if status >= _SERVER:
        return Failure("server_error", status=status, retry_after=retry_after)
    return Failure("bad_request", status=status)
