"""The HTTP client under the Anthropic and OpenAI SDKs: no redirects, a bound on every reply."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from email.utils import parsedate_to_datetime
from typing import Any

import httpx2

from bedside.core.clock import Clock
from bedside.models.address import is_loopback
from bedside.models.config import Policy
from bedside.models.failure import Failure

__all__ = ["HTTP_ERRORS", "TooLarge", "http_client", "http_failure", "retry_after"]


_KEPT = 20
"""Idle connections that are kept for the next calls."""


class TooLarge(Exception):
    """The reply is over the bound."""


HTTP_ERRORS: tuple[type[Exception], ...] = (
    TooLarge,
    httpx2.HTTPError,
    httpx2.StreamError,
    ValueError,  # JSON and UTF-8 that do not parse
    AttributeError,  # a parsed answer without the fields of the protocol
    TypeError,
)
"""What can escape the SDKs while they read an answer."""


class _Bounded(httpx2.AsyncByteStream):
    def __init__(self, inner: httpx2.AsyncByteStream, most: int) -> None:
        self._inner, self._left = inner, most

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._inner:
            self._left -= len(chunk)
            if self._left < 0:
                raise TooLarge
            yield chunk

    async def aclose(self) -> None:
        await self._inner.aclose()


class _BoundedTransport(httpx2.AsyncBaseTransport):
    def __init__(self, inner: httpx2.AsyncBaseTransport, most: int) -> None:
        self._inner, self._most = inner, most

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        response = await self._inner.handle_async_request(request)
        if isinstance(response.stream, httpx2.AsyncByteStream):
            response.stream = _Bounded(response.stream, self._most)
        return response

    async def aclose(self) -> None:
        await self._inner.aclose()


def http_client(base_url: str, *, policy: Policy) -> httpx2.AsyncClient:
    """A client that goes where it is told and nowhere else.

    A redirect would carry patient text to an address nobody allowed, so none is followed. A
    proxy of the environment serves remote addresses only: loopback traffic must stay here.
    """
    local = is_loopback(base_url)
    client = httpx2.AsyncClient(
        timeout=httpx2.Timeout(policy.total_s, connect=policy.connect_s),
        # A turn holds a connection for as long as its answer streams: how many run at once is the
        # caller's to bound, and one that waited here in silence would pass for a slow provider.
        limits=httpx2.Limits(max_connections=None, max_keepalive_connections=_KEPT),
        follow_redirects=False,
        trust_env=not local,
    )
    client._transport = _BoundedTransport(client._transport, policy.reply_bytes)  # noqa: SLF001
    for pattern, mounted in client._mounts.items():  # noqa: SLF001
        if mounted is not None:
            client._mounts[pattern] = _BoundedTransport(mounted, policy.reply_bytes)  # noqa: SLF001
    return client


def http_failure(error: BaseException) -> Failure | None:
    """What an error of the HTTP layer means; `None` for one that is none of its own."""
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, TooLarge):
            return Failure("too_large")
        if isinstance(seen, httpx2.ConnectError):
            return Failure("refused")
        if isinstance(seen, httpx2.TimeoutException):
            return Failure("timeout")
        if isinstance(seen, (httpx2.TransportError, httpx2.StreamError)):
            return Failure("reset")
        if isinstance(seen, (httpx2.DecodingError, ValueError)):
            # JSON or UTF-8 that does not parse in an answer: the provider's doing, not ours.
            return Failure("malformed")
        seen = seen.__cause__
    return None


def retry_after(headers: Mapping[str, Any], *, clock: Clock) -> float | None:
    """Seconds to wait, from `retry-after-ms` or `retry-after` (seconds or an HTTP date)."""
    for name, scale in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        written = headers.get(name)
        if written is None:
            continue
        try:
            return max(float(written) * scale, 0.0)
        except (TypeError, ValueError):
            pass
        try:
            then = parsedate_to_datetime(str(written))
        except ValueError:
            continue
        return max((then - clock.now()).total_seconds(), 0.0) if then.tzinfo else None
    return None
