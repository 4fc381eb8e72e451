"""De-identification: a gateway round a gateway. Identifiers leave as placeholders and come back."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import replace

from bedside.core.context import Assembly, Item, Opaque, ToolCall, ToolResult
from bedside.core.turn import Delta, Ended, NoModel, Route, Tool
from bedside.models.config import ModelsConfig
from bedside.models.gateway import Chain
from bedside.models.identifiers import Unveiler, Veil
from bedside.models.images import Image

__all__ = ["Veiled"]

Event = Delta | ToolCall | Ended
Part = str | ToolCall | ToolResult | Opaque


class Veiled:
    """Takes direct identifiers out of what leaves this machine, and puts them back in the answer.

    A chain whose providers are all on loopback is passed through untouched, and so is everything
    where `egress.deidentify` is off.
    """

    def __init__(self, inner: Chain, *, config: ModelsConfig, remote: frozenset[str]) -> None:
        """Wrap a chain. `remote` names the providers whose address is not loopback."""
        self._inner, self._config, self._remote = inner, config, remote

    def leaves(self, route: Route) -> bool:
        """May this route's text reach a remote provider at all?"""
        return any(link.provider in self._remote for link in self._config.chain(route.role))

    async def stream(
        self,
        prompt: Assembly,
        *,
        route: Route,
        tools: Sequence[Tool] = (),
        may_call: bool = False,
        schema: object | None = None,
        output: int = 4_096,
        deadline_ms: int = 30_000,
        images: Sequence[Image] = (),
    ) -> AsyncGenerator[Event, None]:
        """Stream one answer, as `Chain.stream` does.

        `route.veil` names people, numbers and dates that no pattern can know; numbers, addresses
        and dates of birth are found by their shape as well.

        Raises:
            NoModel: as the chain; also for images that would leave this machine, unless
                `egress.images` lets them: pixels cannot be de-identified.
        """
        leaves = self.leaves(route)
        egress = self._config.egress
        if images and leaves and not egress.images:
            raise NoModel("images cannot be de-identified and egress.images does not let them go")
        if not leaves or not egress.deidentify:
            async with aclosing(
                self._inner.stream(
                    prompt,
                    route=route,
                    tools=tools,
                    may_call=may_call,
                    schema=schema,
                    output=output,
                    deadline_ms=deadline_ms,
                    images=images,
                )
            ) as plain:
                async for event in plain:
                    yield event
            return
        veil = Veil(route.veil, key=egress.secret)
        back = Unveiler(veil, in_json=schema is not None)

        async with aclosing(
            self._inner.stream(
                hidden(prompt, veil),
                route=route,
                tools=tools,
                may_call=may_call,
                schema=schema,
                output=output,
                deadline_ms=deadline_ms,
                images=images,
            )
        ) as events:
            async for event in events:
                text = back.feed(event.text) if isinstance(event, Delta) else back.finish()
                if text:
                    yield Delta(text=text)
                if isinstance(event, ToolCall):
                    yield replace(event, arguments=veil.show(event.arguments, in_json=True))
                elif isinstance(event, Ended):
                    yield event

    async def prepare(self) -> None:
        """Import what the chain needs, before the first turn asks for it."""
        await self._inner.prepare()

    async def aclose(self) -> None:
        """Close what the chain holds open in this event loop."""
        await self._inner.aclose()


def hidden(prompt: Assembly, veil: Veil) -> Assembly:
    """The same assembly with identifiers hidden in every text, tool call and tool result.

    Opaque parts hold what the provider itself wrote, placeholders and all.
    """
    return replace(
        prompt,
        messages=tuple(
            replace(message, parts=tuple(_part(part, veil) for part in message.parts))
            for message in prompt.messages
        ),
    )


def _part(part: Part, veil: Veil) -> Part:
    if isinstance(part, str):
        return veil.hide(part)
    if isinstance(part, ToolCall):
        return replace(part, arguments=veil.hide_json(part.arguments))
    if isinstance(part, ToolResult):
        return replace(
            part,
            items=tuple(Item(veil.hide(item.body), key=item.key) for item in part.items),
            error=None if part.error is None else veil.hide(part.error),
        )
    return part
