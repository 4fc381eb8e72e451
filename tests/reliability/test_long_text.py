"""Texts that are long in one way, or count absurdly: an answer in little work, or a clear refusal."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from bedside.server.app import create_app
from bedside.settings import load_settings
from bedside.wiring import build_engine

LONGEST = 20_000
SECONDS = 20
"""Processor time. What these are here for took hours, or ended in a 500."""


@pytest.fixture(scope="module")
def door(_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    home = Path(shutil.copytree(_template, tmp_path_factory.mktemp("long") / "home"))
    settings = load_settings(home=home, environ={"BEDSIDE_EMBEDDER": "none"})
    with TestClient(create_app(build_engine(settings)), base_url="http://127.0.0.1") as client:
        yield client


@pytest.mark.parametrize(
    "question",
    [
        "x" * LONGEST,
        "7" * LONGEST,
        "HbA1c in the past 5000 years",
        "HbA1c in the last 999999 days",
        "HbA1c in the last 999999 months",
        f"HbA1c in the last {'9' * 5_000} weeks",
    ],
    ids=lambda text: f"{text[:28]}-{len(text)}",
)
def test_a_question_of_any_length_or_count_is_answered_in_little_work(door, question: str) -> None:
    begun = time.process_time()
    said = door.post("/v1/ask", json={"question": question, "patient": "ada"})
    assert time.process_time() - begun < SECONDS
    if len(question) == LONGEST:  # more tokens than its protected block may take
        assert (said.status_code, said.json()["title"]) == (422, "The budget is too small")
    else:
        assert said.json()["status"] == "complete"


def test_all_years_that_there_are_hold_every_result(door) -> None:
    """The one HbA1c of this record is 8.2 %, of January 2026."""
    body = {"question": "HbA1c in the past 5000 years", "patient": "ada"}
    assert "8.2 %" in door.post("/v1/ask", json=body).json()["answer"]


@pytest.mark.parametrize("text", ["? " * 10_000, "{[1]: 2}", "? [a]\n: b", "&a [*a]", "- " * 3_000])
def test_yaml_that_is_no_contract_gets_a_finding(door, text: str) -> None:
    said = door.post("/v1/sops/lint", json={"yaml": text})
    assert said.status_code == 200
    assert [found["level"] for found in said.json()["findings"]] == ["error"]
