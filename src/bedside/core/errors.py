"""Every error that Bedside raises on purpose, in three families.

    BedsideError
    |- CallerError          the caller's mistake: correct the call
    |  |- InvalidArgument
    |  |- BudgetTooSmall
    |  |- NotFound
    |  |- BadInput          a file or a message that cannot be read
    |  |- Conflict          the thing exists, or changed meanwhile
    |- OutsideError         the outside world failed: trying again may help
    |  |- Unavailable       a store, provider or source did not answer
    |  |- DeadlineExceeded
    |  |- ProviderError     a model provider answered with a failure
    |- Refusal              policy says no: trying again will not help
       |- AccessDenied
       |- EgressRefused
       |- MissingExtra      an optional part is not installed

Messages say what was asked, what was found and what to do. They name identifiers, sizes and
limits, never patient content.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

__all__ = [
    "AccessDenied",
    "BadInput",
    "BedsideError",
    "BudgetTooSmall",
    "CallerError",
    "Conflict",
    "DeadlineExceeded",
    "EgressRefused",
    "InvalidArgument",
    "MissingExtra",
    "NotFound",
    "OutsideError",
    "ProviderError",
    "Refusal",
    "Unavailable",
]


class BedsideError(Exception):
    """The root. `title` is a short, constant name for the kind of failure."""

    title = "Bedside failed"


class CallerError(BedsideError):
    """The call was wrong."""

    title = "The request is wrong"


class OutsideError(BedsideError):
    """Something outside Bedside failed."""

    title = "An outside service failed"


class Refusal(BedsideError):
    """Policy forbids what was asked."""

    title = "Refused by policy"


class InvalidArgument(CallerError):
    """An argument is out of its range."""

    title = "Invalid argument"

    def __init__(self, name: str, *, found: object, want: str) -> None:
        super().__init__(f"{name} is {found!r}; it must be {want}.")
        self.name, self.found, self.want = name, found, want


class BudgetTooSmall(CallerError):
    """The protected blocks alone do not fit, even in their short forms."""

    title = "The budget is too small"

    def __init__(self, *, needed: int, available: int, blocks: Mapping[str, int]) -> None:
        sizes = ", ".join(f"{name} {tokens}" for name, tokens in blocks.items())
        super().__init__(
            f"Protected blocks need {needed} tokens; the budget leaves {available} ({sizes}). "
            "Raise the limit or protect fewer blocks."
        )
        self.needed, self.available, self.blocks = needed, available, dict(blocks)


_OPAQUE = re.compile(
    r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}"
    r"|(?:(?:case|companion|decision|fact|session|turn)-)?(?=\d*[a-f])(?=[a-f]*\d)[0-9a-f]{16,64}"
)
"""What Bedside makes: a UUID or a hash, alone or behind its kind. No name and no date has its form."""


class NotFound(CallerError):
    """A named thing does not exist, or is outside the caller's scope (the two look alike).

    A name that is no opaque identifier may be a person's or hold a date of birth: its length is said.
    """

    title = "Not found"

    def __init__(self, kind: str, name: str, *, hint: str = "") -> None:
        told = f"{name!r}" if _OPAQUE.fullmatch(name) else f"of that name ({len(name)} characters)"
        super().__init__(f"No {kind} {told}." + (f" {hint}" if hint else ""))
        self.kind, self.name = kind, name


class BadInput(CallerError):
    """A file or body that cannot be read. `what` names it by file name or kind, never content."""

    title = "The input cannot be read"

    def __init__(self, what: str, *, why: str, do: str = "") -> None:
        super().__init__(f"{what}: {why}." + (f" {do}" if do else ""))
        self.what, self.why = what, why


class Conflict(CallerError):
    """The thing exists already, or has changed since it was read."""

    title = "Conflict"

    def __init__(self, what: str, *, why: str, do: str = "") -> None:
        super().__init__(f"{what}: {why}." + (f" {do}" if do else ""))
        self.what, self.why = what, why


class Unavailable(OutsideError):
    """A store, provider or source did not answer."""

    title = "Unavailable"

    def __init__(self, what: str, *, why: str, do: str = "Try again.") -> None:
        super().__init__(f"{what}: {why}. {do}")
        self.what, self.why = what, why


class DeadlineExceeded(OutsideError):
    """The time given ran out. `seconds` is the deadline."""

    title = "Deadline exceeded"

    def __init__(self, what: str, *, seconds: float) -> None:
        super().__init__(f"{what} took longer than {seconds:g} s.")
        self.what, self.seconds = what, seconds


class ProviderError(OutsideError):
    """A model provider failed. `status` is its HTTP status, `None` where no answer came.

    `retry_after` is in seconds, `None` when the provider did not say.
    """

    title = "The model provider failed"

    def __init__(
        self,
        provider: str,
        *,
        kind: str,
        status: int | None = None,
        retry_after: float | None = None,
    ) -> None:
        found = f"{kind}" if status is None else f"{kind} (HTTP {status})"
        super().__init__(f"{provider}: {found}.")
        self.provider, self.kind = provider, kind
        self.status, self.retry_after = status, retry_after


class AccessDenied(Refusal):
    """The actor may not do this. The message does not say whether the thing exists."""

    title = "Access denied"

    def __init__(self, action: str, *, need: str = "") -> None:
        super().__init__(f"Not allowed: {action}." + (f" It needs {need}." if need else ""))
        self.action, self.need = action, need


class EgressRefused(Refusal):
    """A remote provider is not on the egress allow list (EN-S7)."""

    title = "Egress refused"

    def __init__(self, provider: str) -> None:
        super().__init__(
            f"{provider!r} is not in egress.allow, so no text is sent to it. "
            f"Add it to BEDSIDE_EGRESS_ALLOW or to [egress] in bedside.toml."
        )
        self.provider = provider


class MissingExtra(Refusal):
    """An optional part is not installed."""

    title = "An optional part is not installed"

    def __init__(self, what: str, *, extra: str) -> None:
        super().__init__(f"{what} needs an optional part: pip install 'bedside[{extra}]'.")
        self.what, self.extra = what, extra
