"""Amazon Bedrock's ConverseStream over boto3, its retries off.

boto3 is synchronous: one daemon thread per call reads the stream and hands events to the event
loop. A consumer that leaves shuts the connection down, which ends the thread.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from importlib.util import find_spec
from typing import Any, Literal

from bedside.core.clock import Clock
from bedside.core.errors import MissingExtra
from bedside.models.address import address_of, is_loopback
from bedside.models.config import Policy, ProviderConfig
from bedside.models.failure import Failure, of_status
from bedside.models.provider import Call, Reply
from bedside.models.providers.bedrock.wire import ConverseReader, request
from bedside.models.providers.quiet import quiet

__all__ = ["Bedrock"]

_Sent = tuple[Literal["event", "end", "failed"], Any]


class Bedrock:
    """Amazon Bedrock, or any server that speaks Converse."""

    name = "bedrock"

    def __init__(self, config: ProviderConfig, *, policy: Policy, clock: Clock) -> None:
        """Take the settings; nothing is opened and boto3 is not imported yet.

        Raises:
            MissingExtra: boto3 is not installed.
            InvalidArgument: neither a region nor a base address.
        """
        if find_spec("boto3") is None:
            raise MissingExtra("The Bedrock provider", extra="bedrock")
        self._config, self._policy, self._clock = config, policy, clock
        self._url = address_of(self.name, config)
        self._client: Any = None
        self._lock = threading.Lock()

    @property
    def remote(self) -> bool:
        """False where its address is loopback."""
        return not is_loopback(self._url)

    def _open(self) -> Any:
        with self._lock:
            if self._client is None:
                self._client = self._make()
            return self._client

    def _make(self) -> Any:
        from boto3.session import Session
        from botocore.config import Config

        quiet()
        config, local = self._config, not self.remote
        key, secret = config.access_key, config.secret_key
        if key is None and local:
            key, secret = "local", "local"
        options: dict[str, Any] = {
            "retries": {"total_max_attempts": 1, "mode": "standard"},
            "connect_timeout": self._policy.connect_s,
            "read_timeout": max(self._policy.attempt_s, self._policy.idle_s),
            "ignore_configured_endpoint_urls": True,
        }
        if local:
            options["proxies"] = {}
        return Session(
            aws_access_key_id=key,
            aws_secret_access_key=secret,
            aws_session_token=config.session_token,
            region_name=config.region or "us-east-1",
        ).client("bedrock-runtime", endpoint_url=self._url, config=Config(**options))

    async def prepare(self) -> None:
        """Import boto3, in a thread, and make the client."""
        await asyncio.to_thread(self._open)

    async def stream(self, call: Call) -> AsyncIterator[str | Reply]:
        """Yield text, then one `Reply`; raises `Failure`."""
        reader = ConverseReader(spec=call.link.spec)
        reading = _Reading(self, request(call), most=self._policy.reply_bytes)
        try:
            async for event in reading:
                yield reader.feed(event)
            reply = reader.finish()
        except Failure as failure:
            told = Failure("cut") if failure.kind == "reset" and reader.seen else failure
            told.usage = reader.usage
            raise told from failure.__cause__
        finally:
            reading.leave()
        yield reply

    def read(self, arguments: dict[str, Any], reading: _Reading) -> None:
        """The thread's work: open the stream and hand over each event."""
        from botocore.eventstream import ParserError
        from botocore.exceptions import BotoCoreError, ClientError
        from botocore.parsers import ResponseParserError
        from urllib3.exceptions import HTTPError

        stream: Any = None
        try:
            stream = self._open().converse_stream(**arguments)["stream"]
            reading.opened(stream)
            for event in stream:
                if not reading.put(("event", event)):
                    break
        except ClientError as error:
            reading.put(("failed", _said(error.response)))
        except (
            *(BotoCoreError, ParserError, ResponseParserError, HTTPError),
            *(OSError, ValueError, KeyError, AttributeError),
        ) as error:
            reading.put(("failed", _lost(error)))
        finally:
            reading.put(("end", None))  # whatever happened, the loop does not wait for ever
            if stream is not None:
                stream.close()

    async def aclose(self) -> None:
        """Close the connections."""
        with self._lock:
            client, self._client = self._client, None
        if client is not None:
            await asyncio.to_thread(client.close)


class _Reading:
    """One stream on its way from the thread to the loop."""

    def __init__(self, owner: Bedrock, arguments: dict[str, Any], *, most: int) -> None:
        self._loop = asyncio.get_running_loop()
        self._queue: asyncio.Queue[_Sent] = asyncio.Queue()
        self._left = self._over = False
        self._stream: Any = None
        self._room = most
        threading.Thread(
            target=owner.read, args=(arguments, self), name="bedrock", daemon=True
        ).start()

    def opened(self, stream: Any) -> None:
        """Called by the thread once there is something to close."""
        self._stream = stream
        if self._left:
            self._shut()

    def put(self, sent: _Sent) -> bool:
        """Called by the thread; `False` where nobody listens any more."""
        if self._left or self._loop.is_closed():
            return False
        try:
            self._loop.call_soon_threadsafe(self._queue.put_nowait, sent)
        except RuntimeError:  # the loop was closed meanwhile
            return False
        return True

    def leave(self) -> None:
        """Stop listening; end a connection that is still being read."""
        self._left = True
        if not self._over:
            self._shut()

    def _shut(self) -> None:
        raw = getattr(self._stream, "_raw_stream", None)
        shutdown = getattr(raw, "shutdown", None)
        if shutdown is not None:
            # Wakes a thread that waits for bytes; closing alone would not.
            with suppress(OSError, ValueError, RuntimeError):
                shutdown()

    async def __aiter__(self) -> AsyncIterator[Mapping[str, Any]]:
        while True:
            kind, found = await self._queue.get()
            self._over = kind != "event"
            if kind == "end":
                return
            if kind == "failed":
                raise found
            self._room -= len(str(found))
            if self._room < 0:
                raise Failure("too_large")
            yield found


_CODES = {
    "ThrottlingException": 429,
    "throttlingException": 429,
    "ServiceUnavailableException": 503,
    "serviceUnavailableException": 503,
    "ModelNotReadyException": 503,
    "InternalServerException": 500,
    "internalServerException": 500,
    "ModelErrorException": 500,
    "modelStreamErrorException": 500,
    "ModelTimeoutException": 504,
    "ValidationException": 400,
    "validationException": 400,
    "AccessDeniedException": 403,
}


def _said(response: Mapping[str, Any]) -> Failure:
    """What an error answer means, or an exception event inside a 200 stream."""
    said = response.get("ResponseMetadata") or {}
    status = said.get("HTTPStatusCode")
    code = (response.get("Error") or {}).get("Code")
    known = _CODES.get(code) if isinstance(code, str) else None
    if known is not None and (not isinstance(status, int) or status < 300):  # noqa: PLR2004
        return of_status(known)
    if not isinstance(status, int):
        return of_status(500)
    if status < 300:  # noqa: PLR2004
        return Failure("malformed")
    wait = (said.get("HTTPHeaders") or {}).get("retry-after")
    try:
        return of_status(status, retry_after=None if wait is None else float(wait))
    except ValueError:
        return of_status(status)


def _lost(error: Exception) -> Failure:
    """What an error without an answer means."""
    from botocore import exceptions as aws
    from urllib3 import exceptions as http

    if isinstance(error, (aws.ConnectTimeoutError, aws.ReadTimeoutError, http.TimeoutError)):
        return Failure("timeout")
    if isinstance(error, aws.EndpointConnectionError):
        return Failure("refused")
    if isinstance(error, (aws.NoCredentialsError, aws.PartialCredentialsError)):
        return Failure("no_key")
    if isinstance(error, aws.ParamValidationError):
        return Failure("bad_request")
    if isinstance(error, (aws.ConnectionClosedError, aws.HTTPClientError, http.HTTPError, OSError)):
        return Failure("reset")
    return Failure("malformed")
