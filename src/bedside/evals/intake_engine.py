"""The same conversations through the whole engine: a store on disk, the audit, the jobs.

The measure's seats keep a case in memory. Here each person's messages are sent again to an engine
with a store of its own, and every answer must be the same, word for word.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bedside.evals.intake_simulate import Talk
from bedside.settings import Settings
from bedside.wiring.ask import Who
from bedside.wiring.build import build_engine
from bedside.wiring.intake import send, start_case

__all__ = ["through_the_engine"]


def through_the_engine(talks: Sequence[Talk]) -> dict[str, Any]:
    """Send the messages of these talks to an engine without a model, one store for the batch.

    Talks with uploads are left out: their files are made up. A different answer is counted, and
    the first few are named by case and turn.
    """
    plain = [one for one in talks if not one.uploads and not one.error]
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as home:
        turns, same, different = asyncio.run(_all(plain, Path(home)))
    return {
        "cases": len(plain),
        "turns": turns,
        "same_answer": same,
        "same_share": round(same / turns, 4) if turns else None,
        "different": different[:10],
        "ms_a_turn": round((time.perf_counter() - start) * 1000 / turns, 1) if turns else None,
    }


async def _all(talks: Sequence[Talk], home: Path) -> tuple[int, int, list[tuple[str, int]]]:
    engine, who = build_engine(Settings(home=home)), Who()
    turns = same = 0
    different: list[tuple[str, int]] = []
    try:
        for one in talks:
            case = await start_case(engine, who, case=f"case-{one.persona.id}")
            for at, (said, seen) in enumerate(zip(one.said, one.seen, strict=False)):
                if not said.text.strip():
                    break
                body = await send(engine, who, case, said.text)
                turns += 1
                if body["answer"] == seen.answer:
                    same += 1
                else:
                    different.append((one.persona.id, at))
    finally:
        await engine.close()
    return turns, same, different
