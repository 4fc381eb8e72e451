"""De-identification: a gateway round a gateway. Identifiers leave as placeholders and come back."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import replace

from bedside.core.context import Assembly, Message, Numbering, ToolCall, ToolResult
from bedside.core.turn import Delta, Ended, NoModel, Route, Tool
from bedside.models.config import ModelsConfig
from bedside.models.gateway import Chain
from bedside.models.identifiers import Unveiler, Veil
from bedside.models.images import Image

__all__ = ["Veiled"]

Event = Delta | ToolCall | Ended


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

        def render(result: ToolResult, numbering: Numbering) -> str:
            return veil.hide(self._inner.render(result, numbering))

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
                render=render,
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

    async def aclose(self) -> None:
        """Close what the chain holds open in this event loop."""
        await self._inner.aclose()


def hidden(prompt: Assembly, veil: Veil) -> Assembly:
    """The same assembly with identifiers hidden in every text and tool call.

    Tool results are hidden as they are rendered, titles and dates included; opaque parts hold
    what the provider itself wrote.
    """
    return replace(prompt, messages=tuple(_message(message, veil) for message in prompt.messages))


def _message(message: Message, veil: Veil) -> Message:
    return replace(
        message,
        parts=tuple(
            veil.hide(part)
            if isinstance(part, str)
            else replace(part, arguments=veil.hide_json(part.arguments))
            if isinstance(part, ToolCall)
            else part
            for part in message.parts
        ),
    )
