"""A fake model provider on a real loopback socket, for tests and for trying things out.

It speaks the Anthropic Messages, OpenAI chat-completions (also as OpenRouter) and Bedrock Converse
protocols, streaming or not, says what a script tells it, and fails in fourteen ways (thirteen by
script; `closed_port` refuses connections).

    python -m bedside.testing.provider --port 8099 --script replies.json
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import socket
import struct
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self, cast
from urllib.parse import unquote

from bedside.core.errors import BedsideError
from bedside.testing import provider_wire as wire
from bedside.testing.provider_script import (
    Asked,
    Fault,
    Protocol,
    Received,
    Said,
    Script,
    Steps,
    Turn,
    read_script,
)

__all__ = ["Asked", "FakeProvider", "Fault", "Received", "Said", "closed_port", "main"]

_MOST_BODY = 64_000_000
_CHUNK = 1_000_000
_STATUS = {
    "rate_limited": 429,
    "rate_limited_bare": 429,
    "overloaded": 529,
    "server_error": 500,
}
_REASONS = {200: "OK", 404: "Not Found", 429: "Too Many Requests", 500: "Internal Server Error"}


def closed_port() -> int:
    """A port of this machine where nobody listens: a connection to it is refused."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        return int(held.getsockname()[1])


class FakeProvider:
    """The server, in a thread of its own; a context manager.

    `requests` holds what came, in order. With a mapping as script each protocol has its own turns;
    a protocol that it does not name answers 404.
    """

    def __init__(self, script: Script, *, host: str = "127.0.0.1", port: int = 0) -> None:
        """Take a script; nothing listens before `start` (or `with`). Port 0 takes a free one."""
        self._script, self._host, self._port = script, host, port
        self._given: dict[str, int] = {}
        self.requests: list[Received] = []
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._ready = threading.Event()
        self._stop: asyncio.Event | None = None
        self._failed: OSError | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def start(self) -> None:
        """Listen.

        Raises:
            OSError: the port is taken.
        """
        self._thread = threading.Thread(target=self._run, name="fake provider", daemon=True)
        self._thread.start()
        self._ready.wait()
        if self._failed is not None:
            raise self._failed

    def stop(self) -> None:
        """Drop every connection and end."""
        if self._loop is not None and self._stop is not None:
            with suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._stop.set)
        if self._thread is not None:
            self._thread.join()

    @property
    def port(self) -> int:
        """Where it listens."""
        return self._port

    @property
    def url(self) -> str:
        """The base address for Anthropic and Bedrock."""
        return f"http://{self._host}:{self._port}"

    def address(self, protocol: Protocol) -> str:
        """The base address as that protocol's SDK wants it."""
        return self.url + {"openai": "/v1", "openrouter": "/api/v1"}.get(protocol, "")

    def of(self, protocol: Protocol) -> list[Received]:
        """The requests that came by that protocol."""
        return [each for each in self.requests if each.protocol == protocol]

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        except OSError as error:
            self._failed = error
        finally:
            self._ready.set()

    async def _serve(self) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        open_: set[asyncio.Task[None]] = set()

        async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.current_task()
            if task is not None:
                open_.add(task)
                task.add_done_callback(open_.discard)
            try:
                await self._talk(reader, writer)
            except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
                pass
            finally:
                writer.close()
                with suppress(ConnectionError, asyncio.CancelledError):
                    await writer.wait_closed()

        server = await asyncio.start_server(connected, self._host, self._port, limit=_MOST_BODY)
        self._port = server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._stop.wait()
        server.close()
        for task in tuple(open_):
            task.cancel()
        await asyncio.gather(*open_, return_exceptions=True)

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while not reader.at_eof():
            try:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            except asyncio.IncompleteReadError:
                return
            start, *lines = head.split("\r\n")
            method, path, *_ = start.split(" ")
            headers = {
                name.strip().lower(): said.strip()
                for name, _, said in (line.partition(":") for line in lines if line)
            }
            raw = await reader.readexactly(int(headers.get("content-length", 0)))
            received = _received(method, path, headers, raw)
            if received is None:
                await _answer(writer, 404, {"error": {"message": "no such path"}}, {})
                continue
            self.requests.append(received)
            turn = self._next(received)
            if turn is None:
                await _answer(writer, 404, {"error": {"message": "nothing scripted"}}, {})
            elif not await _give(writer, received, turn):
                return

    def _next(self, received: Received) -> Turn | None:
        """The next turn of the script for this request's protocol."""
        key = ""
        if isinstance(self._script, Mapping):
            key = received.protocol
            found = self._script.get(key)
            if found is None:
                return None
            steps: Steps = found
        else:
            steps = self._script
        if callable(steps):
            return cast("Turn", steps(received))
        at = self._given.get(key, 0)
        self._given[key] = at + 1
        return steps[min(at, len(steps) - 1)] if steps else None


_BEDROCK = re.compile(r"/model/([^/]+)/converse(-stream)?\Z")


def _received(method: str, path: str, headers: Mapping[str, str], raw: bytes) -> Received | None:
    plain = path.partition("?")[0]
    bedrock = _BEDROCK.match(plain)
    if method != "POST":
        return None
    if plain.endswith("/messages"):
        protocol: Protocol = "anthropic"
    elif plain.endswith("/chat/completions"):
        protocol = "openrouter" if plain.startswith("/api/") else "openai"
    elif bedrock:
        protocol = "bedrock"
    else:
        return None
    try:
        body = json.loads(raw)
    except ValueError:
        return None
    if bedrock:
        body["model"] = unquote(bedrock[1])
        body["stream"] = bedrock[2] is not None
    return Received(protocol=protocol, path=plain, headers=dict(headers), body=body, raw=raw)


async def _answer(
    writer: asyncio.StreamWriter, status: int, body: object, headers: Mapping[str, str]
) -> None:
    payload = json.dumps(body).encode()
    named = {
        "content-type": "application/json",
        "content-length": str(len(payload)),
        **headers,
    }
    writer.write(_head(status, named) + payload)
    await writer.drain()


def _head(status: int, headers: Mapping[str, str]) -> bytes:
    lines = "".join(f"{name}: {said}\r\n" for name, said in headers.items())
    return f"HTTP/1.1 {status} {_REASONS.get(status, 'Scripted')}\r\n{lines}\r\n".encode("latin-1")


async def _give(writer: asyncio.StreamWriter, received: Received, turn: Turn) -> bool:
    """Answer one request; `False` where the connection is to be dropped after it."""
    protocol, model = received.protocol, str(received.body.get("model", ""))
    if isinstance(turn, Said):
        if not received.body.get("stream"):
            await asyncio.sleep(turn.first_s)
            await _answer(writer, 200, wire.whole_body(protocol, turn, model=model), {})
            return True
        await _begin(writer, protocol)
        for at, event in enumerate(wire.events(protocol, turn, model=model)):
            await asyncio.sleep(turn.delay_s if at else turn.first_s)
            await _send(writer, event)
        await _send(writer, b"")
        return True
    if turn.kind in _STATUS or turn.kind == "status":
        status = _STATUS.get(turn.kind, turn.status)
        body, headers = wire.error_body(protocol, status)
        if turn.retry_after is not None and turn.kind != "rate_limited_bare":
            headers["retry-after"] = f"{turn.retry_after:g}"
        if turn.location:
            headers["location"] = turn.location
        await _answer(writer, status, body, headers)
        return True
    if turn.kind == "reset":
        _reset(writer)
        return False
    return await _fail(writer, protocol, model, turn)


async def _fail(writer: asyncio.StreamWriter, protocol: Protocol, model: str, fault: Fault) -> bool:
    """A stream that begins well."""
    if fault.kind == "silence" and fault.after == 0:
        await asyncio.Event().wait()
    await _begin(writer, protocol)
    if fault.kind == "drip":
        whole = b"".join(wire.events(protocol, fault.said, model=model))
        for at in range(len(whole)):
            await _send(writer, whole[at : at + 1])
            await asyncio.sleep(fault.seconds)
        return False
    if fault.kind == "empty":
        empty = Said(input=fault.said.input, output=0)
        for event in wire.events(protocol, empty, model=model):
            await _send(writer, event)
        await _send(writer, b"")
        return True
    for event in wire.events(protocol, fault.said, model=model)[: fault.after]:
        await _send(writer, event)
        await asyncio.sleep(fault.said.delay_s)
    if fault.kind == "silence":
        await asyncio.Event().wait()
    elif fault.kind == "huge":
        for _ in range(0, fault.size, _CHUNK):
            await _send(writer, wire.filler(protocol, _CHUNK))
    elif fault.kind != "cut":
        odd = {
            "error_in_stream": wire.error_event,
            "malformed": wire.broken_event,
            "wrong_schema": wire.odd_event,
        }
        await _send(writer, odd[fault.kind](protocol))
        await _send(writer, b"")
        return True
    return False  # closed in the middle of a chunked body


async def _begin(writer: asyncio.StreamWriter, protocol: Protocol) -> None:
    headers = {
        "content-type": wire.content_type(protocol),
        "transfer-encoding": "chunked",
        "cache-control": "no-store",
    }
    writer.write(_head(200, headers))
    await writer.drain()


async def _send(writer: asyncio.StreamWriter, data: bytes) -> None:
    """One chunk; the empty one ends the body."""
    writer.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
    await writer.drain()


def _reset(writer: asyncio.StreamWriter) -> None:
    """Drop the connection with a RST in place of an orderly end."""
    held = writer.get_extra_info("socket")
    if held is not None:
        held.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until interrupted. Exit code 2 for a script that cannot be read."""
    parser = argparse.ArgumentParser(
        prog="python -m bedside.testing.provider", description="A fake model provider on loopback."
    )
    parser.add_argument("--port", type=int, default=8099, help="0 takes a free one")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument(
        "--script", type=Path, help="JSON turns; without it every reply is one line"
    )
    given = parser.parse_args(arguments)
    try:
        script = read_script(given.script) if given.script else [Said(text="This is a fake reply.")]
    except BedsideError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    provider = FakeProvider(script, host=given.host, port=given.port)
    provider.start()
    sys.stderr.write(f"listening on {provider.url}\n")
    sys.stderr.flush()
    with suppress(KeyboardInterrupt):
        threading.Event().wait()
    provider.stop()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
