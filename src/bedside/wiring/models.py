"""From settings to the models room, and each turn's own way to it."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Any, cast, get_args

from bedside.context import Rates
from bedside.core.context import Assembly, ToolCall, ToolResult
from bedside.core.turn import Delta, Ended, Gateway, NoModel, Route, Tool
from bedside.grounding.phi import names_in
from bedside.models.address import is_local
from bedside.models.build import Role, profile_of
from bedside.models.config import EgressConfig, ModelsConfig, ProviderConfig, parse_chain
from bedside.models.failure import DOWN
from bedside.models.prices import Price
from bedside.settings import Settings

__all__ = ["Routed", "margin_of", "models_config", "rates_of", "spoken_of", "windows_of"]

_WORDS = re.compile(r"[^\W_]+")


def models_config(
    settings: Settings, *, secret: bytes, override: str | None = None
) -> ModelsConfig:
    """The models room's settings; `override` is the chain of one turn (`--model`).

    `secret` is the store's own: it salts the placeholders that stand for identifiers.

    Raises:
        InvalidArgument: a chain that is none.
    """
    return ModelsConfig(
        writer=parse_chain(override or settings.writer),
        mechanic=parse_chain(override or settings.mechanic),
        providers={
            "anthropic": ProviderConfig(
                base_url=settings.anthropic_base_url or None, key=settings.anthropic_api_key or None
            ),
            "openai": ProviderConfig(
                base_url=settings.openai_base_url or None, key=settings.openai_api_key or None
            ),
            "openrouter": ProviderConfig(
                base_url=settings.openrouter_base_url or None,
                key=settings.openrouter_api_key or None,
            ),
            "bedrock": ProviderConfig(
                base_url=settings.bedrock_base_url or None, region=settings.bedrock_region
            ),
            "google": ProviderConfig(base_url=settings.google_base_url or None),
        },
        egress=EgressConfig(
            allow=frozenset(settings.egress_allow),
            deidentify=settings.egress_identifiers == "remove",
            secret=secret,
        ),
        window=settings.model_window,
    )


def windows_of(config: ModelsConfig) -> dict[str, int]:
    """The context window of each role's first model, in tokens; a role without a model has none."""
    routed = {role: profile_of(config, role) for role in get_args(Role)}
    return {role: found[1].window for role, found in routed.items() if found is not None}


_PLACEHOLDERS = 0.03
"""Share of a prompt that placeholders may add: 2.4 % at most of 20 prompts over ten records."""


def margin_of(config: ModelsConfig) -> float:
    """The share of every limit that is kept free: identifiers are taken out after it was counted."""
    remote = any(
        not is_local(link.provider, config.provider(link.provider))
        for link in (*config.writer, *config.mechanic)
    )
    return _PLACEHOLDERS if remote and config.egress.deidentify else 0.0


def rates_of(price: Price | None) -> Rates:
    """What a model's input costs by its price; unknown rates stay unknown."""
    if price is None:
        return Rates()
    base = price.base
    return Rates(input=base.input, cache_read=base.cache_read, cache_write=base.cache_write)


@dataclass(frozen=True, slots=True)
class Routed:
    """One turn's gateway: what must not leave is named here, whatever the flow says.

    `veil` holds the patient's names, numbers and birth date; `others` the names of the tenant's
    other patients, veiled where the prompt speaks of them; `exempt` is true for a bundled synthetic
    patient. A provider that was given up is not asked again in the turn: the next call would spend
    the turn's time on it anew.
    """

    inner: Gateway
    veil: tuple[str, ...]
    exempt: bool
    others: tuple[str, ...] = ()
    _down: set[str] = field(default_factory=set)

    def stream(
        self,
        prompt: Assembly,
        *,
        route: Route,
        tools: Sequence[Tool] = (),
        may_call: bool = False,
        schema: object | None = None,
        output: int = 4_096,
        deadline_ms: int = 30_000,
    ) -> AsyncIterator[Delta | ToolCall | Ended]:
        """Stream one call with this turn's identifiers named."""
        said = (one for message in prompt.messages for part in message.parts for one in _said(part))
        veil = (*route.veil, *self.veil, *spoken_of(self.others, "\n".join(said)))
        told: dict[str, Any] = {"veil": veil, "exempt": self.exempt, "aside": frozenset(self._down)}
        events = self.inner.stream(
            prompt,
            route=replace(route, **told),
            tools=tools,
            may_call=may_call,
            schema=schema,
            output=output,
            deadline_ms=deadline_ms,
        )
        return self._heard(cast("AsyncGenerator[Delta | ToolCall | Ended, None]", events))

    async def _heard(
        self, events: AsyncGenerator[Delta | ToolCall | Ended, None]
    ) -> AsyncGenerator[Delta | ToolCall | Ended, None]:
        """The same events; who was given up is set aside. An answer that broke off is no such end."""
        try:
            async with aclosing(events):
                async for event in events:
                    if isinstance(event, Ended):
                        self._judge(event)
                    yield event
        except NoModel as error:
            for call in error.calls:
                self._judge(call)
            raise

    def _judge(self, call: Ended) -> None:
        if call.outcome.startswith(DOWN) and not call.cut:
            self._down.add(call.provider)
        elif not call.outcome.startswith("skipped"):
            self._down.discard(call.provider)


def spoken_of(names: tuple[str, ...], text: str) -> Iterator[str]:
    """Those names that stand in the text, in their order."""
    spoken = names_in(text, names)
    return (name for name in names if spoken and " ".join(_WORDS.findall(name.lower())) in spoken)


def _said(part: object) -> Iterator[str]:
    if isinstance(part, str):
        yield part
    elif isinstance(part, ToolCall):
        yield part.arguments
    elif isinstance(part, ToolResult):
        yield from (item.body for item in part.items)
