"""`bedside eval grounding`: quotes, doses, guards and attacks, each figure with its n."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bedside.evals.grounding_doses import doses
from bedside.evals.grounding_fuzz import compare as compare_aligners
from bedside.evals.grounding_fuzz import fuzz, texts
from bedside.evals.grounding_turns import false_alarms, injections

__all__ = ["run"]


def run(
    data: Path, *, cases: int = 100_000, seed: int = 7, turns: int = 2_000, compare: bool = False
) -> dict[str, Any]:
    """Measure grounding on the public data in `data`.

    Args:
        data: The folder of measuring data; what needs it is skipped, and says so, where it is absent.
        cases: Fuzzed quotes to resolve.
        seed: Of every random choice; the same seed gives the same figures but for times.
        turns: Benign turns for false alarms and time.
        compare: Also align the first 2,000 cases with LangExtract, where it is installed.

    Returns:
        `quotes` (promise: `wrong` 0), `doses` (0 falsified pass, at least 0.98 of true ones do),
        `guards` (false alarms at most 0.01, p95 at most 5 ms a turn), `injection` (`blocked` 1.0),
        and `side_by_side` or `None`.
    """
    corpus = texts(data)
    missing = {"n": 0, "skipped": "the measuring data is not here"}
    here = data.is_dir()
    return {
        "suite": "grounding",
        "quotes": fuzz(corpus, count=cases, seed=seed),
        "doses": doses(data) if here else missing,
        "guards": false_alarms(data, count=turns) if here else missing,
        "injection": injections(data),
        "side_by_side": (
            compare_aligners(corpus, count=min(2_000, cases), seed=seed) if compare else None
        ),
    }
