"""The chat-completions API over the official SDK, its retries off."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from bedside.core.clock import Clock
from bedside.core.errors import MissingExtra
from bedside.models.address import address_of, is_loopback
from bedside.models.config import Policy, ProviderConfig
from bedside.models.failure import Failure, of_status
from bedside.models.provider import Call, Reply
from bedside.models.providers.openai.wire import ChunkReader, request
from bedside.models.providers.per_loop import PerLoop
from bedside.models.providers.quiet import quiet

if TYPE_CHECKING:
    from openai import AsyncOpenAI, AsyncStream

__all__ = ["OpenAI"]


class OpenAI:
    """OpenAI, or any server that speaks its protocol (vLLM, Ollama, llama.cpp)."""

    name = "openai"

    def __init__(self, config: ProviderConfig, *, policy: Policy, clock: Clock) -> None:
        """Take the settings; nothing is opened and the SDK is not imported yet.

        Raises:
            MissingExtra: the SDK is not installed.
            InvalidArgument: the base address is no address.
        """
        if find_spec("openai") is None:
            raise MissingExtra(f"The {self.name} provider", extra="openai")
        self._config, self._policy, self._clock = config, policy, clock
        self._url = address_of(self.name, config)
        self._clients = PerLoop(self._open)

    @property
    def remote(self) -> bool:
        """False where its address is loopback."""
        return not is_loopback(self._url)

    def _open(self) -> AsyncOpenAI:
        from openai import AsyncOpenAI

        from bedside.models.providers.transport import http_client

        quiet()
        return AsyncOpenAI(
            api_key=self._config.key or "local",
            base_url=self._url,
            max_retries=0,
            http_client=http_client(self._url, policy=self._policy),
        )

    def body(self, call: Call) -> dict[str, Any]:
        """The request's body; OpenRouter adds to it."""
        return request(call)

    async def prepare(self) -> None:
        """Import the SDK, in a thread, and make this event loop's client."""
        await self._clients.get()

    async def stream(self, call: Call) -> AsyncIterator[str | Reply]:
        """Yield text, then one `Reply`; raises `Failure`."""
        if self._config.key is None and self.remote:
            raise Failure("no_key")
        client = await self._clients.get()
        reader = ChunkReader(spec=call.link.spec)
        try:
            async with await _chunks(client, self.body(call)) as chunks:
                async for chunk in chunks:
                    yield reader.feed(chunk)
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
        import openai

        from bedside.models.providers.transport import http_failure, retry_after

        if isinstance(error, Failure):
            return error
        if isinstance(error, openai.APIStatusError):
            wait = retry_after(error.response.headers, clock=self._clock)
            return of_status(error.status_code, retry_after=wait)
        found = http_failure(error)
        if found is None and isinstance(error, openai.APITimeoutError):
            return Failure("timeout")
        if found is None and isinstance(error, openai.APIConnectionError):
            return Failure("reset")
        if found is None and type(error) is openai.APIError:
            return _said(error.body)  # an error object inside a 200 stream
        # What remains is JSON of another shape.
        return found or Failure("malformed")

    async def aclose(self) -> None:
        """Close this event loop's client."""
        client = self._clients.pop()
        if client is not None:
            await client.close()


async def _chunks(client: AsyncOpenAI, body: Mapping[str, Any]) -> AsyncStream[Any]:
    """The chunks of an answer as parsed JSON: objects made of each would cost as much as checking it."""
    from openai import AsyncStream

    return await client.post(
        "/chat/completions",
        body=dict(body),
        options={"security": {"bearer_auth": True}},  # no other key that the environment may hold
        cast_to=object,
        stream=True,
        stream_cls=AsyncStream[object],
    )


def _said(body: object) -> Failure:
    """What an error object inside a stream means: its code where it is an HTTP status."""
    code = body.get("code") if isinstance(body, dict) else None
    if isinstance(code, str) and code.isdigit():
        code = int(code)
    if isinstance(code, int) and not isinstance(code, bool) and 400 <= code < 600:  # noqa: PLR2004
        return of_status(code)
    return Failure("rate_limited", status=429) if code == "rate_limit_exceeded" else of_status(500)


def _expected() -> tuple[type[Exception], ...]:
    """All that a call may raise: the SDK's, the network's, and what bad JSON makes of both."""
    import openai

    from bedside.models.providers.transport import HTTP_ERRORS

    return (Failure, openai.OpenAIError, *HTTP_ERRORS)
