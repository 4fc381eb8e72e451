"""What the room is told by settings: chains, providers, policy, egress. Plain values."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field
from typing import Literal, get_args

from bedside.core.errors import InvalidArgument
from bedside.core.value import value

__all__ = [
    "EXTRACTIVE",
    "EgressConfig",
    "Link",
    "ModelsConfig",
    "Policy",
    "ProviderConfig",
    "ProviderName",
    "parse_chain",
]

ProviderName = Literal["anthropic", "openai", "openrouter", "bedrock"]
EXTRACTIVE = "extractive"
"""The last link of every chain: no model, each flow's own writer."""

_NAME = re.compile(r"[a-z][a-z0-9_-]*\Z")


@value
class Link:
    """One model of one provider. `spec` is "provider:model", as settings and traces write it."""

    provider: str
    model: str

    @property
    def spec(self) -> str:
        """The link as one string."""
        return f"{self.provider}:{self.model}"


def parse_chain(text: str, *, known: tuple[str, ...] = get_args(ProviderName)) -> tuple[Link, ...]:
    """Parse "openrouter:model,anthropic:model,extractive", first choice first.

    `extractive` ends the chain: nothing may follow it. An empty string and "extractive" are the
    same chain of no links. A model name may itself hold colons ("openai:llama3:8b").

    Raises:
        InvalidArgument: a link that is not `provider:model`, an unknown provider, a link that
            stands twice, or one that follows `extractive`.
    """
    links: list[Link] = []
    parts = [part.strip() for part in text.split(",") if part.strip()]
    for at, part in enumerate(parts):
        if part == EXTRACTIVE:
            if at + 1 < len(parts):
                raise InvalidArgument("model chain", found=text, want=f"ended by {EXTRACTIVE!r}")
            break
        provider, colon, model = part.partition(":")
        if not colon or not model.strip() or not _NAME.match(provider):
            raise InvalidArgument(
                "model chain", found=part, want="provider:model, for instance anthropic:NAME"
            )
        if provider not in known:
            raise InvalidArgument(
                "model chain", found=provider, want="a provider among " + ", ".join(known)
            )
        link = Link(provider=provider, model=model.strip())
        if link in links:
            raise InvalidArgument("model chain", found=part, want="named once")
        links.append(link)
    return tuple(links)


@value
class ProviderConfig:
    """How to reach one provider. `base_url` `None` is the provider's own public address.

    `key` is secret and hidden in every repr; `None` where settings hold none. `region`,
    `access_key`, `secret_key` and `session_token` are for Bedrock; without an access key the SDK's
    own credential chain decides who calls (never where).
    """

    base_url: str | None = None
    key: str | None = field(default=None, repr=False)
    region: str | None = None
    access_key: str | None = field(default=None, repr=False)
    secret_key: str | None = field(default=None, repr=False)
    session_token: str | None = field(default=None, repr=False)


@value
class Policy:
    """Retries and limits, in seconds unless said otherwise.

    `calls_per_provider`: most calls one provider gets in one stream, 1 to 3. `attempt_s`: most a
    single call may take to its first content (the turn's deadline holds besides). `idle_s`: most
    silence once content has come. `total_s`: most for one whole call. `backoff_s` doubles per
    retry and is multiplied by a random factor in [0.5, 1). `retry_after_s`: a longer wait than
    this is not waited for: the next provider is asked. `reply_bytes`: most bytes of one reply.
    The breaker opens after `breaker_failures` failures in a row, or when at least half of
    `breaker_minimum` or more calls within `breaker_window_s` failed; one probe after
    `breaker_cool_s`.
    """

    calls_per_provider: int = 3
    attempt_s: float = 20.0
    idle_s: float = 20.0
    total_s: float = 180.0
    backoff_s: float = 0.5
    retry_after_s: float = 8.0
    connect_s: float = 5.0
    reply_bytes: int = 8_000_000
    breaker_failures: int = 5
    breaker_minimum: int = 10
    breaker_window_s: float = 30.0
    breaker_cool_s: float = 15.0

    def __post_init__(self) -> None:
        """Check the bounds.

        Raises:
            InvalidArgument: a value outside its range.
        """
        if not 1 <= self.calls_per_provider <= 3:  # noqa: PLR2004 - the promise of RELIABILITY
            raise InvalidArgument("calls_per_provider", found=self.calls_per_provider, want="1-3")
        for name in ("attempt_s", "idle_s", "total_s", "connect_s"):
            if getattr(self, name) <= 0:
                raise InvalidArgument(name, found=getattr(self, name), want="above 0 seconds")
        for name in ("reply_bytes", "breaker_failures", "breaker_minimum"):
            if getattr(self, name) < 1:
                raise InvalidArgument(name, found=getattr(self, name), want="at least 1")


@value
class EgressConfig:
    """What may leave this machine. `allow` names providers; loopback addresses are always exempt.

    `deidentify` takes direct identifiers out of every remote call. `images` lets images go to a
    remote provider: their pixels cannot be de-identified. `secret` salts placeholders, so that a
    provider cannot guess an identifier from its placeholder; any stable bytes of the installation.
    """

    allow: frozenset[str] = frozenset()
    deidentify: bool = True
    images: bool = False
    secret: bytes = field(default=b"", repr=False)


@value
class ModelsConfig:
    """All of the room's settings. An empty chain means: no model, the extractive writer answers.

    `window` is the context window of models that no profile knows, in tokens.
    """

    writer: tuple[Link, ...] = ()
    mechanic: tuple[Link, ...] = ()
    providers: Mapping[str, ProviderConfig] = field(default_factory=dict)
    policy: Policy = field(default_factory=Policy)
    egress: EgressConfig = field(default_factory=EgressConfig)
    window: int = 8_192

    def chain(self, role: Literal["writer", "mechanic"]) -> tuple[Link, ...]:
        """The links of a role, first choice first."""
        return self.writer if role == "writer" else self.mechanic

    def provider(self, name: str) -> ProviderConfig:
        """How to reach that provider; the defaults where settings say nothing of it."""
        return self.providers.get(name, ProviderConfig())
