"""The room put together from its settings."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import Literal

from bedside.core.clock import Clock
from bedside.core.errors import InvalidArgument
from bedside.models.config import Link, ModelsConfig, Policy, ProviderConfig
from bedside.models.deidentify import Veiled
from bedside.models.gateway import Chain
from bedside.models.prices import LivePrices, Prices, bundled_prices
from bedside.models.profiles import Profile, Profiles, bundled_profiles
from bedside.models.provider import Provider

__all__ = ["MakeProvider", "Role", "build_gateway", "build_providers", "profile_of"]

Role = Literal["writer", "mechanic"]
MakeProvider = Callable[[ProviderConfig, Policy, Clock], Provider]
"""What a plug-in gives for a provider of its own (entry points `bedside.providers`)."""


def build_gateway(
    config: ModelsConfig,
    *,
    clock: Clock,
    rng: random.Random,
    profiles: Profiles | None = None,
    prices: Prices | LivePrices | None = None,
    makers: Mapping[str, MakeProvider] | None = None,
) -> Veiled:
    """The gateway that a turn streams from: the chain, within de-identification.

    With no link in any chain it is complete too: it raises `NoModel`, and the extractive writer
    answers. SDKs are looked for, not imported.

    Raises:
        MissingExtra: a chain names a provider whose SDK is not installed.
        InvalidArgument: an address is none, or a chain names an unknown provider.
    """
    providers = build_providers(config, clock=clock, makers=makers)
    chain = Chain(
        config,
        providers=providers,
        profiles=profiles or bundled_profiles(config.window),
        prices=prices or bundled_prices(),
        clock=clock,
        rng=rng,
    )
    remote = frozenset(name for name, provider in providers.items() if provider.remote)
    return Veiled(chain, config=config, remote=remote)


def build_providers(
    config: ModelsConfig, *, clock: Clock, makers: Mapping[str, MakeProvider] | None = None
) -> dict[str, Provider]:
    """Those providers that the chains name, by name."""
    names = dict.fromkeys(link.provider for link in (*config.writer, *config.mechanic))
    known: dict[str, MakeProvider] = {**_MAKERS, **(makers or {})}
    made: dict[str, Provider] = {}
    for name in names:
        if name not in known:
            raise InvalidArgument("provider", found=name, want="among " + ", ".join(sorted(known)))
        made[name] = known[name](config.provider(name), config.policy, clock)
    return made


def profile_of(
    config: ModelsConfig,
    role: Role,
    *,
    profiles: Profiles | None = None,
) -> tuple[Link, Profile] | None:
    """The first link of a role and what it can do; `None` where no model is configured."""
    chain = config.chain(role)
    if not chain:
        return None
    return chain[0], (profiles or bundled_profiles(config.window)).of(chain[0])


def _anthropic(config: ProviderConfig, policy: Policy, clock: Clock) -> Provider:
    from bedside.models.providers.anthropic.client import Anthropic

    return Anthropic(config, policy=policy, clock=clock)


def _openai(config: ProviderConfig, policy: Policy, clock: Clock) -> Provider:
    from bedside.models.providers.openai.client import OpenAI

    return OpenAI(config, policy=policy, clock=clock)


def _openrouter(config: ProviderConfig, policy: Policy, clock: Clock) -> Provider:
    from bedside.models.providers.openrouter.client import OpenRouter

    return OpenRouter(config, policy=policy, clock=clock)


def _bedrock(config: ProviderConfig, policy: Policy, clock: Clock) -> Provider:
    from bedside.models.providers.bedrock.client import Bedrock

    return Bedrock(config, policy=policy, clock=clock)


_MAKERS: dict[str, MakeProvider] = {
    "anthropic": _anthropic,
    "openai": _openai,
    "openrouter": _openrouter,
    "bedrock": _bedrock,
}
