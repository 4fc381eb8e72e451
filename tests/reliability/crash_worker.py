"""A process that forks workers which are meant to be killed; run by the kill tests.

Reads orders as JSON lines on standard input; for each it forks a child, writes the child's process
id, and when the child has ended its exit code. A child writes what it has had acknowledged to the
file `acks`, which is outside the database, and one byte to the pipe that the order names for each
line. `at` kills the child itself just before that statement (a transaction's BEGIN and COMMIT are
counted), so that every moment inside a transaction can be named.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

from sqlalchemy import event

from bedside.knowledge.ingest import Progress, ingest
from bedside.settings import load_settings
from bedside.storage.engine import open_engine, sqlite_url
from bedside.storage.schema import migrate
from bedside.storage.store import Store
from bedside.testing.embedder import HashedEmbedder
from bedside.wiring import Ask, build_engine
from bedside.wiring.clock import SystemClock

Order = dict[str, Any]


def acknowledge(order: Order, line: str) -> None:
    """Write a line to the file and wait until it is on the disk."""
    with Path(order["acks"]).open("a", encoding="utf-8") as file:
        file.write(line + "\n")
        file.flush()
        os.fsync(file.fileno())
    if order.get("tell"):
        with Path(order["tell"]).open("wb", buffering=0) as pipe:
            pipe.write(b".")


def arm(engine: Any, order: Order) -> None:
    """Count statements, and die before the one that was named."""
    left = order.get("at")
    seen = 0

    def step(*_: object) -> None:
        nonlocal seen
        seen += 1
        if left is not None and seen == left:
            os.kill(os.getpid(), signal.SIGKILL)

    event.listen(engine, "before_cursor_execute", step)
    event.listen(engine, "commit", step)
    order["count"] = lambda: seen


def take_in(order: Order) -> None:
    """Ingest a folder, then make every vector."""
    store = Store(open_engine(order.get("database") or sqlite_url(Path(order["home"]))))
    migrate(store)
    arm(store.engine, order)

    def heard(step: Progress) -> None:
        if step.stage in {"words", "skipped", "ready"}:
            acknowledge(order, f"{step.stage} {step.name}")

    ingest(
        store,
        [Path(order["folder"])],
        tenant="default",
        clock=SystemClock(),
        embedder=HashedEmbedder(),
        progress=heard,
    )
    acknowledge(order, f"statements {order['count']()}")
    store.close()


def _engine(order: Order) -> Any:
    environ = {"BEDSIDE_EMBEDDER": "none", **order.get("environ", {})}
    engine = build_engine(load_settings(home=Path(order["home"]), environ=environ))
    arm(engine.store.engine, order)
    return engine


def add(order: Order) -> None:
    """Attach each file of a folder to a patient, one call a file."""

    files = sorted(Path(order["folder"]).iterdir())

    async def run() -> None:
        engine = _engine(order)
        for path in files:
            (made,) = await engine.attach_paths("ada", [path], engine.local())
            acknowledge(order, f"attached {made['document_id']} {path.name}")
        acknowledge(order, f"statements {order['count']()}")
        await engine.close()

    asyncio.run(run())


def ask(order: Order) -> None:
    """Ask one question under a key; `recover` first, as a server does when it starts."""

    async def run() -> None:
        engine = _engine(order)
        if order.get("recover"):
            await engine.start_background()
        body = await engine.asker.ask(
            Ask(question=order["question"], patient="ada", key=order["key"]), engine.local()
        )
        acknowledge(order, "answered " + json.dumps(body))
        acknowledge(order, f"statements {order['count']()}")
        await engine.close()

    asyncio.run(run())


WORK = {"ingest": take_in, "attach": add, "ask": ask}


def main() -> None:
    """Serve orders until standard input ends."""
    for line in sys.stdin:
        order = json.loads(line)
        child = os.fork()
        if child == 0:
            code = 1
            try:
                WORK[order["do"]](order)
                code = 0
            finally:
                os._exit(code)
        sys.stdout.write(f"{child}\n")
        sys.stdout.flush()
        _, status = os.waitpid(child, 0)
        sys.stdout.write(f"{os.waitstatus_to_exitcode(status)}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
