"""The Messages API over the official SDK, its retries off."""

from __future__ import annotations

from collections.abc import AsyncIterator
from importlib.util import find_spec
from inspect import signature
from typing import TYPE_CHECKING, Any

from bedside.core.clock import Clock
from bedside.core.errors import MissingExtra
from bedside.models.address import address_of, is_loopback
from bedside.models.config import Policy, ProviderConfig
from bedside.models.failure import Failure, of_status
from bedside.models.provider import Call, Reply
from bedside.models.providers.anthropic.wire import EventReader, request, stream_failure
from bedside.models.providers.per_loop import PerLoop
from bedside.models.providers.quiet import quiet

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic

__all__ = ["Anthropic"]


class Anthropic:
    """Anthropic direct, or any server that speaks its Messages protocol."""

    name = "anthropic"

    def __init__(self, config: ProviderConfig, *, policy: Policy, clock: Clock) -> None:
        """Take the settings; nothing is opened and the SDK is not imported yet.

        Raises:
            MissingExtra: the SDK is not installed.
            InvalidArgument: the base address is no address.
        """
        if find_spec("anthropic") is None:
            raise MissingExtra("The Anthropic provider", extra="anthropic")
        self._config, self._policy, self._clock = config, policy, clock
        self._url = address_of(self.name, config)
        self._clients = PerLoop(self._open)

    @property
    def remote(self) -> bool:
        """False where its address is loopback."""
        return not is_loopback(self._url)

    def _open(self) -> AsyncAnthropic:
        from anthropic import AsyncAnthropic

        from bedside.models.providers.transport import http_client

        quiet()
        options: dict[str, Any] = {}
        if "open_telemetry" in signature(AsyncAnthropic).parameters:
            options["open_telemetry"] = False  # its spans can hold prompts; ours never do
        return AsyncAnthropic(
            api_key=self._config.key or "local",
            base_url=self._url,
            max_retries=0,
            http_client=http_client(self._url, policy=self._policy),
            **options,
        )

    async def prepare(self) -> None:
        """Import the SDK, in a thread, and make this event loop's client."""
        await self._clients.get()

    async def stream(self, call: Call) -> AsyncIterator[str | Reply]:
        """Yield text, then one `Reply`; raises `Failure`."""
        if self._config.key is None and self.remote:
            raise Failure("no_key")
        client = await self._clients.get()
        reader = EventReader(spec=call.link.spec)
        try:
            async with await client.messages.create(**_arguments(call)) as events:
                async for event in events:
                    yield reader.feed(event.to_dict())
            reply = reader.finish()
        except _expected() as error:
            failure = self._failure(error)
            if failure.kind == "reset" and reader.seen:
                failure = Failure("cut")
            failure.usage = reader.usage
            raise failure from error
        yield reply

    def _failure(self, error: Exception) -> Failure:
        """What an error of the SDK, of HTTP or of JSON means."""
        import anthropic

        from bedside.models.providers.transport import http_failure, retry_after

        if isinstance(error, Failure):
            return error
        if isinstance(error, anthropic.APIStatusError):
            if error.status_code < 300:  # noqa: PLR2004 - an error event inside a 200 stream
                return stream_failure(error.body)
            wait = retry_after(error.response.headers, clock=self._clock)
            return of_status(error.status_code, retry_after=wait)
        found = http_failure(error)
        if found is None and isinstance(error, anthropic.APITimeoutError):
            return Failure("timeout")
        if found is None and isinstance(error, anthropic.APIConnectionError):
            return Failure("reset")
        # What remains is JSON of another shape: the SDK builds its events unchecked.
        return found or Failure("malformed")

    async def aclose(self) -> None:
        """Close this event loop's client."""
        client = self._clients.pop()
        if client is not None:
            await client.close()


def _arguments(call: Call) -> dict[str, Any]:
    """The SDK's arguments: what its types do not know goes in `extra_body`."""
    body = request(call)
    made: dict[str, Any] = {"stream": True, "extra_body": {}}
    if call.profile.version is not None:
        made["extra_headers"] = {"anthropic-version": call.profile.version}
    for name, found in body.items():
        if name in _KNOWN:
            made[name] = found
        else:
            made["extra_body"][name] = found
    return made


_KNOWN = frozenset(
    {"model", "max_tokens", "messages", "system", "tools", "tool_choice", "output_config", "thinking"}
)  # fmt: skip


def _expected() -> tuple[type[Exception], ...]:
    """All that a call may raise: the SDK's, the network's, and what bad JSON makes of both."""
    import anthropic

    from bedside.models.providers.transport import HTTP_ERRORS

    return (Failure, anthropic.AnthropicError, *HTTP_ERRORS)
