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
from pathlib import Path

import httpx

ROOT = Path(__file__).resolve().parents[1]
PATIENT = "demo-adeyemi"
QUERIES = (
    "metformin and kidney function", "potassium and ACE inhibitors", "asthma step up", "fever in a child",
    "hypertension in pregnancy", "cough for three weeks", "dose of amoxicillin", "snake bite",
)  # fmt: skip
SEED = 7
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


@contextlib.contextmanager
def served(home: Path, **environ: str) -> Iterator[str]:
    """`bedside serve` in a process of its own, and its address."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        port = held.getsockname()[1]
    command = [sys.executable, "-m", "bedside", "serve", "--home", str(home), "--port", str(port)]
    given = {**os.environ, "BEDSIDE_EMBEDDER": "none", **environ}
    with subprocess.Popen(command, env=given) as server:
        base = f"http://127.0.0.1:{port}"
        try:
            for _ in range(300):
                with contextlib.suppress(httpx.HTTPError):
                    httpx.get(f"{base}/readyz", timeout=2).raise_for_status()
                    break
                if server.poll() is not None:
                    raise SystemExit("the server stopped before it was ready")
                time.sleep(0.2)
            yield base
        finally:
            server.terminate()


@contextlib.contextmanager
def provider(sentence: str) -> Iterator[str]:
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
                yield f"http://127.0.0.1:{port}"
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


class Mix:
    """Requests of the mix, with their times by status."""

    def __init__(self, client: httpx.AsyncClient, turns: list[str]) -> None:
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
                answer = await self._client.post("/v1/search", json=body)
            else:
                paths = (
                    f"/v1/patients/{PATIENT}/documents",
                    "/v1/documents",
                    f"/v1/turns/{rng.choice(self._turns)}",
                )
                answer = await self._client.get(rng.choice(paths))
            kind = str(answer.status_code)
            if answer.status_code in {429, 503} and "retry-after" not in answer.headers:
                self.mute += 1
        except httpx.HTTPError as error:
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


@contextlib.asynccontextmanager
async def client(base: str) -> AsyncIterator[httpx.AsyncClient]:
    """A client that holds no request back."""
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=200)
    async with httpx.AsyncClient(base_url=base, timeout=60, limits=limits) as made:
        yield made


async def mixed(base: str, *, seconds: float, rate: float) -> dict[str, object]:
    """The mix at its rate."""
    async with client(base) as asking:
        body = {"question": "Any allergies?", "patient": PATIENT}
        turns = [(await asking.post("/v1/ask", json=body)).json()["turn_id"] for _ in range(3)]
        await asking.post("/v1/search", json={"query": QUERIES[0], "retriever": "lexical"})
        mix = Mix(asking, turns)
        await paced(rate, seconds, mix.once)
        return {"asked_per_second": rate, **mix.figures(), "target": "p95 <= 250 ms, no errors"}


async def beyond(base: str, *, seconds: float) -> dict[str, object]:
    """The mix at twice the rate at which it is answered without a pause."""
    async with client(base) as asking:
        body = {"question": "Any allergies?", "patient": PATIENT}
        turns = [(await asking.post("/v1/ask", json=body)).json()["turn_id"]]
        free = Mix(asking, turns)
        begun = time.perf_counter()

        async def follow() -> None:
            while time.perf_counter() - begun < 8:
                await free.once()

        await asyncio.gather(*(follow() for _ in range(32)))
        capacity = len(free.times["200"]) / (time.perf_counter() - begun)
        mix = Mix(asking, turns)
        await paced(2 * capacity, seconds, mix.once)
        refused = [*mix.times.get("503", []), *mix.times.get("429", [])]
        return {
            "capacity_per_second": round(capacity, 1),
            **mix.figures(),
            **quantiles("refusal_ms", refused),
            "refusals_without_retry_after": mix.mute,
            "target": "429 or 503 with Retry-After within 100 ms",
        }


async def streams(base: str, *, most: int) -> dict[str, object]:
    """Turns open at once, and when each released its first sentence."""
    first: list[float] = []
    ends: Counter[str] = Counter()
    open_now = peak = 0
    async with client(base) as asking:

        async def once(*, only_first: bool = False) -> None:
            nonlocal open_now, peak
            open_now += 1
            peak = max(peak, open_now)
            body = {"question": QUESTION, "patient": PATIENT}
            start, event = time.perf_counter(), ""
            headers = {"Accept": "text/event-stream"}
            async with asking.stream("POST", "/v1/ask", json=body, headers=headers) as answer:
                seen = False
                async for line in answer.aiter_lines():
                    event = line[7:] if line.startswith("event: ") else event
                    if event == "delta" and not seen:
                        seen = True
                        first.append((time.perf_counter() - start) * 1000)
                        if only_first:
                            break
            ends[f"{answer.status_code} {event}"] += 1
            open_now -= 1

        for _ in range(3):
            await once(only_first=True)
        alone = statistics.median(first)
        first.clear()
        ends.clear()
        await paced(most / 40, 40, once)
    added = [one - alone for one in first]
    return {
        "asked": most,
        "open_at_once": peak,
        "ended": dict(ends),
        "first_sentence_alone_ms": round(alone, 1),
        **quantiles("added_ms", added),
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
        with served(home) as base:
            found = {"mixed": asyncio.run(mixed(base, seconds=options.seconds, rate=options.rate))}
        with served(home) as base:
            found["beyond"] = asyncio.run(beyond(base, seconds=min(options.seconds, 20)))
        with provider(sentence_of(home)) as model:
            told = {
                "BEDSIDE_WRITER": "openai:fake", "OPENAI_BASE_URL": f"{model}/v1", "OPENAI_API_KEY": "k",
            }  # fmt: skip
            with served(home, **told) as base:
                found["streams"] = asyncio.run(streams(base, most=options.streams))
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
