"""Every example of the earlier half of the pages runs, and prints what the page shows."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_the_examples_of_a_page_print_what_it_shows(
    earlier_page: str, wrong_examples: Callable[[str], list[str]]
) -> None:
    assert wrong_examples(earlier_page) == []


def test_the_first_answer_of_the_demo_is_a_whole_one(demo: Path) -> None:
    """Nothing was missing when it was made: the vectors were ready, as the pages' examples have it."""
    with closing(sqlite3.connect(demo / "bedside.db")) as store:
        (result,) = store.execute("SELECT result FROM turn ORDER BY started_at LIMIT 1").fetchone()
    turn = json.loads(result)
    assert turn["degraded"] == []
    assert any(cited["source"]["kind"] == "guideline" for cited in turn["citations"])
