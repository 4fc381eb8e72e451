"""What the gateway asks of one provider: a call in, pieces and one reply out."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import field
from decimal import Decimal
from typing import Literal, Protocol

from bedside.core.context import Assembly, Opaque, ToolCall
from bedside.core.turn import Tool
from bedside.core.value import value
from bedside.models.config import Link
from bedside.models.images import Image
from bedside.models.profiles import Profile

__all__ = ["NO_USAGE", "Call", "Provider", "Reply", "Stop", "Usage"]

LEAST_THINKING = 1_024
"""The least budget that providers take."""
Usage = Mapping[str, "int | None"]
"""Keys input, output, cache_read, cache_write. `input` is the whole prompt; the two cache counts
are parts of it. `None` where the provider did not say."""

NO_USAGE: Usage = {"input": None, "output": None, "cache_read": None, "cache_write": None}
Stop = Literal["end", "tools", "length", "refusal"]


@value
class Call:
    """One call as a provider's wire maps it. `output` is in tokens, bounded by the profile."""

    link: Link
    profile: Profile
    prompt: Assembly
    tools: tuple[Tool, ...] = ()
    may_call: bool = False
    schema: object | None = None
    output: int = 4_096
    thinking: int = 0
    images: tuple[Image, ...] = ()

    @property
    def budget(self) -> int:
        """Tokens to think in; 0 where none are asked for, or the model takes no such budget.

        Beside a schema there is none: what is asked for as JSON is small work.
        """
        if not self.profile.thinks or self.thinking < 1 or self.schema is not None:
            return 0
        most = self.profile.output - min(self.output, self.profile.output // 2)
        return min(max(self.thinking, LEAST_THINKING), most)

    @property
    def limit(self) -> int:
        """The most tokens to ask for, those of thinking among them, that the window has room for."""
        return max(min(self.output + self.budget, self.profile.output, self.room), 1)

    @property
    def room(self) -> int:
        """Tokens that the prompt leaves of the model's window; below 0 where it is too long."""
        return self.profile.window - self.prompt.tokens


@value
class Reply:
    """The whole end of a call. `calls` are complete; `cost` is the provider's own figure, if any."""

    stop: Stop
    usage: Usage = field(default_factory=lambda: NO_USAGE)
    calls: tuple[ToolCall, ...] = ()
    opaque: tuple[Opaque, ...] = ()
    cost: Decimal | None = None


class Provider(Protocol):
    """One provider behind its official SDK, retries off."""

    @property
    def name(self) -> str:
        """As chains and the egress allow list name it."""
        ...

    @property
    def remote(self) -> bool:
        """False where its address is loopback: nothing leaves this machine."""
        ...

    async def prepare(self) -> None:
        """Import the SDK and make its client, so that no call's time is spent on it."""
        ...

    def stream(self, call: Call) -> AsyncIterator[str | Reply]:
        """Yield text as it comes ("" is a sign of life), then exactly one `Reply`.

        Raises `Failure` (with `usage` as far as known) for everything that can go wrong.
        """
        ...

    async def aclose(self) -> None:
        """Close what this event loop holds open."""
        ...
