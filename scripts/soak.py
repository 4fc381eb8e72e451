"""Load on the served API (RELIABILITY row 8): requests, open streams, and twice what it can do.

    python scripts/soak.py [--seconds 60] [--rate 150] [--streams 200] [--chunks 10000]

Server, the fake provider and this client share the machine's cores; the output says how many there
are. Requests are started at a fixed rate whether or not earlier ones have ended, so a slow server
cannot hide its queue. Three runs:

- mixed: 80 % read (a patient's documents, the guidelines, a turn), 20 % search by words, over so
  many chunks;
- streams: so many turns, begun within 40 s, open at once against a model that writes a sentence a second; what is
  reported is how much later the first released sentence comes than with one stream alone;
- beyond: the mix at twice the rate at which the server answers when nothing holds it back; how soon
  a refusal comes, and whether it says when to come back.

The client is a plain reader of HTTP/1.1 on kept connections, since a comfortable one costs as much as
the server on the same cores. `processor_s` says what each process spent, so that nobody mistakes one
for the other.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import random
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.request import urlopen

ROOT = Path(__file__).resolve().parents[1]
PATIENT = "demo-adeyemi"
QUERIES = (
    "metformin and kidney function", "potassium and ACE inhibitors", "asthma step up", "fever in a child",
    "hypertension in pregnancy", "cough for three weeks", "dose of amoxicillin", "snake bite",
)  # fmt: skip
SEED = 7
IDLE_S = 3.0
"""After so long a connection is not used again: a server closes one that has rested for five."""
QUESTION = "Considering everything, is her metformin dose reasonable given her kidneys?"
SHOWN = "37 mL/min/1.73m2 (5 Nov 2026"


def home_of(folder: Path, chunks: int) -> None:
    """The demonstration, and made guidelines until the store holds so many chunks."""
    bedside(folder, "demo", "--no-serve")
    rng = random.Random(SEED)
    texts = sorted((ROOT / "src/bedside/demo/guidelines").glob("*.md"))
    words = " ".join(one.read_text(encoding="utf-8") for one in texts).split()
    made = folder / "made"
    made.mkdir()
    for n in range(chunks // 200):
        parts = [f"# Made guideline {n}\n"]
        for k in range(200):
            body = " ".join(rng.choices(words, k=80))
            parts.append(f"\n## Section {k}\n\n{body}.\n")
        (made / f"made-{n:04d}.md").write_text("".join(parts), encoding="utf-8")
    bedside(folder, "ingest", str(made))


def bedside(home: Path, *arguments: str) -> str:
    """Run one command; words alone are searched, so that no time goes into vectors."""
    return subprocess.run(
        [sys.executable, "-m", "bedside", *arguments, "--home", str(home)],
        check=True, stdout=subprocess.PIPE, text=True, env={**os.environ, "BEDSIDE_EMBEDDER": "none"},
    ).stdout  # fmt: skip


def sentence_of(home: Path) -> str:
    """A sentence that the checks let pass: a figure of the record, quoted from where it is shown."""
    shown = json.loads(bedside(home, "context", QUESTION, "--patient", PATIENT, "--json"))
    text = "\n".join(part["content"] for part in shown["prompt"])
    number = re.findall(r'<source id="(\d+)"', text[: text.index(SHOWN)])[-1]
    return f'eGFR was 37 mL/min/1.73m2 on 5 Nov 2026 [{number}: "{SHOWN}"]. '


@dataclass(frozen=True)
class Process:
    """One that listens on this machine."""

    port: int
    pid: int

    @property
    def base(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.port}"

    def processor_s(self) -> float:
        """Seconds that it has spent on the processor, in user and kernel; -1 where nobody says."""
        try:
            text = Path(f"/proc/{self.pid}/stat").read_text(encoding="ascii")
        except OSError:
            return -1.0
        fields = text.rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextlib.contextmanager
def spent(**processes: Process) -> Iterator[dict[str, object]]:
    """What the client and these processes spend inside, and in how long; filled in at the end."""
    found: dict[str, object] = {}
    before = {name: one.processor_s() for name, one in processes.items()}
    own, begun = time.process_time(), time.perf_counter()
    yield found
    used = {name: round(one.processor_s() - before[name], 1) for name, one in processes.items()}
    found["elapsed_s"] = round(time.perf_counter() - begun, 1)
    found["processor_s"] = {**used, "client": round(time.process_time() - own, 1)}


@contextlib.contextmanager
def served(home: Path, **environ: str) -> Iterator[Process]:
    """`bedside serve` in a process of its own."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        port = held.getsockname()[1]
    command = [sys.executable, "-m", "bedside", "serve", "--home", str(home), "--port", str(port)]
    given = {**os.environ, "BEDSIDE_EMBEDDER": "none", **environ}
    with subprocess.Popen(command, env=given) as server:
        running = Process(port=port, pid=server.pid)
        try:
            for _ in range(300):
                with contextlib.suppress(OSError), urlopen(f"{running.base}/readyz", timeout=2):
                    break
                if server.poll() is not None:
                    raise SystemExit("the server stopped before it was ready")
                time.sleep(0.2)
            yield running
        finally:
            server.terminate()


@contextlib.contextmanager
def provider(sentence: str) -> Iterator[Process]:
    """The fake provider in a process of its own: a sentence a second for a minute."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        port = held.getsockname()[1]
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "script.json"
        said = {"pieces": [sentence] * 60, "delay_s": 1.0}
        script.write_text(json.dumps([said]), encoding="utf-8")
        command = [
            sys.executable, "-m", "bedside.testing.provider", "--port", str(port), "--script", str(script),
        ]  # fmt: skip
        with subprocess.Popen(command, stdout=subprocess.DEVNULL) as running:
            time.sleep(2)
            try:
                yield Process(port=port, pid=running.pid)
            finally:
                running.terminate()


async def paced(rate: float, seconds: float, once: Callable[[], Awaitable[None]]) -> None:
    """Start one after another at a fixed rate, and wait for all of them."""
    begun, tasks = time.perf_counter(), []
    for n in range(int(seconds * rate)):
        wait = begun + n / rate - time.perf_counter()
        if wait > 0:
            await asyncio.sleep(wait)
        tasks.append(asyncio.ensure_future(once()))
    await asyncio.gather(*tasks)


@dataclass
class Client:
    """Connections to one server, as many as are wanted at once; idle ones are used again."""

    port: int
    idle: list[tuple[float, asyncio.StreamReader, asyncio.StreamWriter]] = field(
        default_factory=list
    )

    async def open(
        self, method: str, path: str, body: object = None, *, accept: str = "application/json"
    ) -> Answer:
        """Send one request; the answer's head has come when this returns."""
        reader, writer = self._rested() or await asyncio.open_connection(
            "127.0.0.1", self.port, limit=2**24
        )
        sent = b"" if body is None else json.dumps(body).encode()
        writer.write(
            f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\nAccept: {accept}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(sent)}\r\n\r\n".encode()
            + sent
        )
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).lower()
        except BaseException:
            writer.close()
            raise
        return Answer(client=self, reader=reader, writer=writer, status=int(head[9:12]), head=head)

    def _rested(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter] | None:
        """The connection used last; those that the server may be closing are let go."""
        while self.idle and time.perf_counter() - self.idle[0][0] > IDLE_S:
            self.idle.pop(0)[2].close()
        return self.idle.pop()[1:] if self.idle else None

    async def ask(self, method: str, path: str, body: object = None) -> tuple[Answer, bytes]:
        """One request and the whole answer to it."""
        answer = await self.open(method, path, body)
        return answer, await answer.body()

    def close(self) -> None:
        """Let the idle connections go."""
        for _, _, writer in self.idle:
            writer.close()


@dataclass
class Answer:
    """A status and a head, and what follows them."""

    client: Client
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    status: int
    head: bytes

    async def body(self) -> bytes:
        """The bytes of an answer that says its length; the connection may then be used again."""
        found = re.search(rb"\r\ncontent-length: *(\d+)", self.head)
        if found is None:
            raise ValueError("an answer without its length")
        body = await self.reader.readexactly(int(found[1]))
        self.client.idle.append((time.perf_counter(), self.reader, self.writer))
        return body

    async def events(self) -> AsyncIterator[str]:
        """Names of the events of a stream; the connection goes with it.

        A chunk's size ends in CR LF, a line of an event in LF alone.
        """
        try:
            async for line in self.reader:
                if line.startswith(b"event: "):
                    yield line[7:].decode().strip()
                elif line == b"0\r\n":
                    return
        finally:
            self.writer.close()


class Mix:
    """Requests of the mix, with their times by status."""

    def __init__(self, client: Client, turns: list[str]) -> None:
        self._client, self._turns = client, turns
        self._rng = random.Random(SEED)
        self.times: dict[str, list[float]] = {}
        self.mute = 0

    async def once(self) -> None:
        """One request."""
        rng = self._rng
        search = rng.random() < 0.2
        start = time.perf_counter()
        try:
            if search:
                body = {"query": rng.choice(QUERIES), "retriever": "lexical"}
                answer, _ = await self._client.ask("POST", "/v1/search", body)
            else:
                paths = (
                    f"/v1/patients/{PATIENT}/documents",
                    "/v1/documents",
                    f"/v1/turns/{rng.choice(self._turns)}",
                )
                answer, _ = await self._client.ask("GET", rng.choice(paths))
            kind = str(answer.status)
            if answer.status in {429, 503} and b"\r\nretry-after:" not in answer.head:
                self.mute += 1
        except (OSError, EOFError, ValueError) as error:
            kind = type(error).__name__
        self.times.setdefault(kind, []).append((time.perf_counter() - start) * 1000)

    def figures(self) -> dict[str, object]:
        """How many of each status, and the times of the answers that came."""
        n = sum(map(len, self.times.values()))
        return {
            "n": n,
            "errors": n - len(self.times.get("200", [])),
            "statuses": dict(Counter({kind: len(held) for kind, held in self.times.items()})),
            **quantiles("answer_ms", self.times.get("200", [])),
        }


def quantiles(name: str, times: list[float]) -> dict[str, object]:
    """Median, p95 and the longest."""
    if len(times) < 2:
        return {f"{name}_n": len(times)}
    cuts = statistics.quantiles(times, n=100)
    return {
        f"{name}_p50": round(cuts[49], 1),
        f"{name}_p95": round(cuts[94], 1),
        f"{name}_max": round(max(times), 1),
    }


async def turns_of(client: Client, n: int) -> list[str]:
    """Ids of so many turns, asked now; and one search, so that the knowledge is loaded."""
    body = {"question": "Any allergies?", "patient": PATIENT}
    answers = [(await client.ask("POST", "/v1/ask", body))[1] for _ in range(n)]
    await client.ask("POST", "/v1/search", {"query": QUERIES[0], "retriever": "lexical"})
    return [json.loads(one)["turn_id"] for one in answers]


async def mixed(server: Process, *, seconds: float, rate: float) -> dict[str, object]:
    """The mix at its rate."""
    client = Client(server.port)
    mix = Mix(client, await turns_of(client, 3))
    with spent(server=server) as used:
        await paced(rate, seconds, mix.once)
    client.close()
    told = {"target": "p95 <= 250 ms, no errors"}
    return {"asked_per_second": rate, **mix.figures(), **used, **told}


async def beyond(server: Process, *, seconds: float) -> dict[str, object]:
    """The mix at twice the rate at which it is answered without a pause."""
    client = Client(server.port)
    turns = await turns_of(client, 1)
    free = Mix(client, turns)
    begun = time.perf_counter()

    async def follow() -> None:
        while time.perf_counter() - begun < 8:
            await free.once()

    await asyncio.gather(*(follow() for _ in range(32)))
    capacity = len(free.times["200"]) / (time.perf_counter() - begun)
    mix = Mix(client, turns)
    with spent(server=server) as used:
        await paced(2 * capacity, seconds, mix.once)
    client.close()
    refused = [*mix.times.get("503", []), *mix.times.get("429", [])]
    return {
        "capacity_per_second": round(capacity, 1),
        **mix.figures(),
        **quantiles("refusal_ms", refused),
        "refusals_without_retry_after": mix.mute,
        **used,
        "target": "429 or 503 with Retry-After within 100 ms",
    }


async def streams(server: Process, model: Process, *, most: int) -> dict[str, object]:
    """Turns open at once, and when each released its first sentence."""
    first: list[float] = []
    ends: Counter[str] = Counter()
    open_now = peak = 0
    client = Client(server.port)
    body = {"question": QUESTION, "patient": PATIENT}

    async def once(*, only_first: bool = False) -> None:
        nonlocal open_now, peak
        open_now += 1
        peak = max(peak, open_now)
        start, event, seen = time.perf_counter(), "", False
        answer = await client.open("POST", "/v1/ask", body, accept="text/event-stream")
        async with contextlib.aclosing(answer.events()) as events:
            async for event in events:
                if event == "delta" and not seen:
                    seen = True
                    first.append((time.perf_counter() - start) * 1000)
                    if only_first:
                        break
        ends[f"{answer.status} {event}"] += 1
        open_now -= 1

    for _ in range(3):
        await once(only_first=True)
    alone = statistics.median(first)
    first.clear()
    ends.clear()
    with spent(server=server, provider=model) as used:
        await paced(most / 40, 40, once)
    added = [one - alone for one in first]
    return {
        "asked": most,
        "open_at_once": peak,
        "ended": dict(ends),
        "first_sentence_alone_ms": round(alone, 1),
        **quantiles("added_ms", added),
        **used,
        "target": "<= 300 ms added to the first released sentence",
    }


def main() -> None:
    """Make a home, serve it, load it, print the figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--rate", type=float, default=150)
    parser.add_argument("--streams", type=int, default=200)
    parser.add_argument("--chunks", type=int, default=10_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        home_of(home, options.chunks)
        with served(home) as server:
            run = mixed(server, seconds=options.seconds, rate=options.rate)
            found = {"mixed": asyncio.run(run)}
        with served(home) as server:
            found["beyond"] = asyncio.run(beyond(server, seconds=min(options.seconds, 20)))
        with provider(sentence_of(home)) as model:
            told = {
                "BEDSIDE_WRITER": "openai:fake", "OPENAI_BASE_URL": f"{model.base}/v1", "OPENAI_API_KEY": "k",
            }  # fmt: skip
            with served(home, **told) as server:
                found["streams"] = asyncio.run(streams(server, model, most=options.streams))
    shared = "server, fake provider and client on the same cores"
    print(
        json.dumps(
            {
                "seed": SEED,
                "cores": os.cpu_count(),
                "on": shared,
                "chunks": options.chunks,
                **found,
            }
        )
    )


if __name__ == "__main__":
    main()
