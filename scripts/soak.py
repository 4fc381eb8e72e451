"""Load on the served API (RELIABILITY row 8): mixed requests against a demonstration home.

    python scripts/soak.py [--seconds 60] [--rate 150] [--clients 40]

Server and client share this machine's cores, and the output says how many there are. 80 % of the
requests read, 20 % search by words. The requests are started at a fixed rate whether or not earlier
ones have ended, so a slow server cannot hide its queue.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import socket
import statistics
import subprocess
import sys
import tempfile
import time

import httpx

QUERIES = ("metformin and kidney function", "potassium and ACE inhibitors", "asthma step up", "CAP")


async def load(
    base: str, *, seconds: float, rate: int, clients: int, seed: int
) -> dict[str, object]:
    """Send the mix; times are in milliseconds."""
    rng = random.Random(seed)
    times: list[float] = []
    statuses: dict[str, int] = {}
    limits = httpx.Limits(max_connections=clients, max_keepalive_connections=clients)
    async with httpx.AsyncClient(base_url=base, timeout=30, limits=limits) as client:
        patients = [row["id"] for row in (await client.get("/v1/patients")).json()]

        async def one() -> None:
            start = time.perf_counter()
            try:
                if rng.random() < 0.2:
                    body = {"query": rng.choice(QUERIES), "retriever": "lexical"}
                    answer = await client.post("/v1/search", json=body)
                else:
                    patient = rng.choice(patients)
                    answer = await client.get(
                        rng.choice(
                            (f"/v1/patients/{patient}/documents", "/v1/documents", "/healthz")
                        )
                    )
                key = str(answer.status_code)
            except httpx.HTTPError as error:
                key = type(error).__name__
            statuses[key] = statuses.get(key, 0) + 1
            times.append((time.perf_counter() - start) * 1000)

        tasks = []
        begun = time.perf_counter()
        for n in range(int(seconds * rate)):
            wait = begun + n / rate - time.perf_counter()
            if wait > 0:
                await asyncio.sleep(wait)
            tasks.append(asyncio.create_task(one()))
        await asyncio.gather(*tasks)
    cuts = statistics.quantiles(times, n=100)
    return {
        "n": len(times),
        "seed": seed,
        "asked_per_second": rate,
        "cores": os.cpu_count(),
        "p50_ms": round(cuts[49], 1),
        "p95_ms": round(cuts[94], 1),
        "max_ms": round(max(times), 1),
        "statuses": statuses,
        "target": "150 requests a second at p95 <= 250 ms, no errors",
    }


def main() -> None:
    """Serve a demonstration home, load it, print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--rate", type=int, default=150)
    parser.add_argument("--clients", type=int, default=40)
    options = parser.parse_args()
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        port = held.getsockname()[1]
    with tempfile.TemporaryDirectory() as home:
        common = [sys.executable, "-m", "bedside"]
        subprocess.run(
            [*common, "demo", "--no-serve", "--home", home], check=True, stdout=subprocess.DEVNULL
        )
        with subprocess.Popen([*common, "serve", "--home", home, "--port", str(port)]) as server:
            base = f"http://127.0.0.1:{port}"
            for _ in range(200):
                try:
                    httpx.get(f"{base}/readyz", timeout=2)
                    break
                except httpx.HTTPError:
                    time.sleep(0.2)
            figures = asyncio.run(
                load(
                    base,
                    seconds=options.seconds,
                    rate=options.rate,
                    clients=options.clients,
                    seed=7,
                )
            )
            server.terminate()
    print(json.dumps(figures, indent=2))


if __name__ == "__main__":
    main()
