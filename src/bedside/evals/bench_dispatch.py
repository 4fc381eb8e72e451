"""Measures the dispatcher: a million simulated dispatches, and flags across two processes.

Cases open, talk and fall while flags flip, go out and come back; every choice is held against an
oracle of this file's own: what a case was given at its first turn is what it keeps.
"""

from __future__ import annotations

import json
import multiprocessing
import random
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Mapping
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from bedside.flows.intake.architectures import pin
from bedside.flows.intake.dispatch import ORDER, SAFE, SPEAKS, Choice, Facts, choose
from bedside.storage import catalogue
from bedside.storage.engine import open_engine, sqlite_url
from bedside.storage.schema import migrate
from bedside.storage.store import Store
from bedside.wiring.clock import SystemClock
from bedside.wiring.hot import HotData

__all__ = ["run", "simulate", "two_processes"]

SEED = 20_261_122
DISPATCHES = 1_000_000
OPEN_CASES = 4_000
FLIP_EVERY, OUTAGE_EVERY, OUTAGE_LENGTH = 500, 20_000, 1_500
CASE_LIFE = 30
_LANGUAGES = ("en",) * 18 + ("ar", "hi")
_TENANTS = ("north", "south", "east")


def run(*, assemblies: int = 0, tell: Callable[[str], None] = lambda _line: None) -> dict[str, Any]:
    """Both measures, as one JSON value.

    Args:
        assemblies: How many dispatches, where it is above the default's tenth; else a million.
        tell: Where progress goes.
    """
    wanted = max(DISPATCHES, assemblies)
    tell(f"{wanted:,} dispatches")
    found = simulate(wanted, seed=SEED)
    tell("flags across two processes")
    with tempfile.TemporaryDirectory() as home:
        found["two_processes"] = two_processes(Path(home), edits=50)
    return found


def simulate(
    dispatches: int,
    *,
    seed: int,
    chooser: Callable[[Facts, Mapping[str, Any] | None], Choice] = choose,
) -> dict[str, Any]:
    """So many turns of overlapping cases under changing flags.

    Returns:
        Counts, with `stickiness_violations`, `unsafe_defaults` and `chain_faults` as 0 where the
        dispatcher keeps its word, and how often each thing was tried.
    """
    rng = random.Random(seed)
    flags: dict[str, Any] | None = _flags(rng)
    kept: dict[str, str] = {}
    alive: list[list[Any]] = []
    told: Counter[str] = Counter()
    born = 0
    outage = 0
    start = time.perf_counter()
    for number in range(dispatches):
        if number % FLIP_EVERY == 0:
            flags = _flags(rng)
            told["flips"] += 1
        if number % OUTAGE_EVERY == OUTAGE_EVERY // 2:
            outage = OUTAGE_LENGTH
            told["outages"] += 1
        live = None if outage > 0 else flags
        outage -= 1
        if len(alive) < OPEN_CASES or rng.random() < 1 / CASE_LIFE:
            case = [f"case-{born}", rng.choice(_TENANTS), 0]
            born += 1
            if len(alive) < OPEN_CASES:
                alive.append(case)
            else:
                gone = rng.randrange(OPEN_CASES)
                kept.pop(alive[gone][0], None)
                alive[gone] = case
        else:
            case = alive[rng.randrange(len(alive))]
        _dispatch(case, live, rng, kept, told, chooser)
    seconds = time.perf_counter() - start
    return {
        "dispatches": dispatches,
        "seed": seed,
        "cases": born,
        "flag_flips": told["flips"],
        "outages": told["outages"],
        "dispatches_in_outage": told["in_outage"],
        "first_turns": told["first"],
        "forced": told["forced"],
        "exceptions_simulated": told["exceptions"],
        "prerequisites_missing": told["skipped"],
        "other_language_turns": told["language"],
        "by_architecture": {name: told[f"served:{name}"] for name in ORDER},
        "stickiness_violations": told["violation"],
        "unsafe_defaults": told["unsafe"],
        "chain_faults": told["chain"],
        "language_faults": told["tongue"],
        "seconds": round(seconds, 2),
        "dispatches_per_second": round(dispatches / seconds),
    }


def _dispatch(
    case: list[Any],
    flags: dict[str, Any] | None,
    rng: random.Random,
    kept: dict[str, str],
    told: Counter[str],
    chooser: Callable[[Facts, Mapping[str, Any] | None], Choice],
) -> None:
    name, tenant, _turns = case
    case[2] += 1
    pinned = kept.get(name, "")
    forced = rng.choice(ORDER) if rng.random() < 0.005 else ""
    language = rng.choice(_LANGUAGES)
    can = frozenset({"model"}) if rng.random() < 0.9 else frozenset[str]()
    found = chooser(
        Facts(case=name, tenant=tenant, pinned=pinned, forced=forced, language=language, can=can),
        flags,
    )
    told["in_outage"] += flags is None
    if not pinned:
        told["first"] += 1
        own = pin(name, tenant, {"flag": flags}, {})["architecture"]
        kept[name] = own
        told["violation"] += not forced and found.own != own
        told["unsafe"] += flags is None and own != SAFE
    elif forced:
        told["forced"] += 1
        told["violation"] += found.own != forced
    else:
        told["violation"] += found.own != pinned
    at = ORDER.index(found.own)
    allowed = ORDER[at:]
    told["skipped"] += bool(found.skipped)
    if found.language_reason:
        told["language"] += 1
        told["tongue"] += language not in SPEAKS[found.architecture]
    else:
        told["chain"] += found.architecture not in allowed or tuple(found.chain) != tuple(
            one for one in allowed if one not in {skip for skip, _why in found.skipped}
        )
    served = found.architecture
    if rng.random() < 0.02 and len(found.chain) > 1:
        told["exceptions"] += 1
        served = found.chain[1]
    told[f"served:{served}"] += 1


def _flags(rng: random.Random) -> dict[str, Any]:
    """Flags as an operator might leave them: percentages, tenants, prerequisites, some absent."""
    found: dict[str, Any] = {}
    for name in ORDER:
        if rng.random() < 0.1:
            continue
        found[f"intake.{name}"] = {
            "on": rng.random() < 0.8,
            "percent": rng.choice([0, 1, 10, 25, 50, 99, 100]),
            "tenants": rng.sample(_TENANTS, rng.choice([0, 0, 1, 2])),
            "requires": ["model"] if name == "flexible" and rng.random() < 0.5 else [],
        }
    return found


# ---- two processes


def two_processes(home: Path, *, edits: int) -> dict[str, Any]:
    """Edits of one process as the next reads of another, with the time from commit to sight.

    The reader is a process of its own over the same store. It opens a turn's hot data after every
    edit; how many reads it takes to see the edit must be one.
    """
    store, clock = Store(open_engine(sqlite_url(home))), SystemClock()
    migrate(store)
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    other = context.Process(target=_reader, args=(str(home), theirs), daemon=True)
    other.start()
    stale, waits = 0, []
    try:
        ours.send("ready?")
        ours.recv()
        for number in range(edits):
            body = {"on": number % 2 == 0, "percent": number % 101, "tenants": [], "requires": []}
            store.write_now(
                lambda c, body=body: catalogue.put(
                    c, tenant="default", kind="flag", key="intake.flexible", body=body,
                    by="bench", at=clock.now(),
                )
            )  # fmt: skip
            committed = time.perf_counter()
            ours.send("read")
            seen = json.loads(ours.recv())
            waits.append((time.perf_counter() - committed) * 1000)
            stale += seen != body
    finally:
        ours.send("end")
        other.join(timeout=10)
        if other.is_alive():
            other.kill()
        store.close()
    return {
        "edits": edits,
        "stale_at_next_turn": stale,
        "seen_ms_median": round(statistics.median(waits), 2),
        "seen_ms_max": round(max(waits), 2),
        "stated": "at the next turn of every process",
    }


def _reader(home: str, pipe: Connection) -> None:
    """The other process: it reads the hot data as a turn's opening does."""
    import asyncio

    from bedside.core.ids import TenantId

    store = Store(open_engine(sqlite_url(Path(home))))
    hot = HotData(store)
    while (asked := pipe.recv()) != "end":
        if asked == "ready?":
            pipe.send("ready")
            continue
        data = asyncio.run(hot.of(TenantId("default")))
        pipe.send(json.dumps(data["flag"].get("intake.flexible")))
    store.close()
