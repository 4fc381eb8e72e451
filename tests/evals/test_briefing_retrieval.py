"""The pairs of situation and section: every gold is there, and failures are counted right."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from bedside.core.errors import BadInput
from bedside.evals.briefing_retrieval import FOLDER, Pair, pairs, run
from bedside.testing.embedder import HashedEmbedder

DATA = Path(__file__).parents[2] / "../shared/data"

PAIR = Pair(
    id="x",
    situation="Sore throat",
    documents=("TONSILLITIS",),
    sections=("Treatment > Drug", "Prevention"),
    split="dev",
)


def headings(text: str) -> set[str]:
    """Heading paths below the title, read line by line."""
    path: list[str] = []
    found: set[str] = set()
    for line in text.splitlines():
        if match := re.match(r"(#{2,4}) (.+)", line):
            path = [*path[: len(match[1]) - 2], match[2].strip()]
            found.add(" > ".join(path))
    return found


@pytest.mark.skipif(not (DATA / FOLDER).is_dir(), reason="the measuring data is not here")
def test_every_gold_section_is_in_one_of_its_documents() -> None:
    for pair in pairs():
        there: set[str] = set()
        for name in pair.documents:
            there |= headings((DATA / FOLDER / f"{name}.md").read_text(encoding="utf-8"))
        assert there & set(pair.sections), pair.id


def test_there_are_150_situations_and_more_over_many_chapters_half_of_them_held() -> None:
    found = pairs()
    assert len(found) >= 150
    assert len({pair.situation for pair in found}) == len({pair.id for pair in found}) == len(found)
    assert len({pair.documents for pair in found}) >= 120
    held = sum(1 for pair in found if pair.split == "held")
    assert abs(2 * held - len(found)) <= 1


@pytest.mark.parametrize(
    ("document", "section", "answered"),
    [
        ("TONSILLITIS", "Tonsillitis > Treatment > Drug", True),
        ("TONSILLITIS_2", "Tonsillitis > Treatment > Drug > Children", True),
        ("TONSILLITIS", "Tonsillitis > Prevention", True),
        ("TONSILLITIS", "Tonsillitis > Treatment", False),
        ("TONSILLITIS", "Tonsillitis > Treatment > Drugs of choice", False),
        ("PHARYNGITIS", "Pharyngitis > Treatment > Drug", False),
    ],
)
def test_a_passage_answers_by_document_and_heading(document, section, answered) -> None:
    assert PAIR.answered_by(document, section) is answered


def test_failures_are_counted_over_the_guidelines_that_are_there(tmp_path: Path) -> None:
    folder = tmp_path / FOLDER
    folder.mkdir(parents=True)
    (folder / "HYPERTENSION.md").write_text(
        "# Hypertension\n\n## Treatment\n\n### Drug\n\nBlood pressure tablets: amlodipine doses.\n",
        encoding="utf-8",
    )
    found = run(tmp_path, cache=tmp_path / "cache", embedder=HashedEmbedder(), tell=lambda _: None)
    answerable = sum(
        1 for p in pairs() if "HYPERTENSION" in p.documents and "Treatment > Drug" in p.sections
    )
    for retriever in ("lexical", "dense", "hybrid"):
        figures = found["with_heading_path"][retriever]
        assert figures["all"]["n"] == figures["dev"]["n"] + figures["held"]["n"] == len(pairs())
        failed = round(figures["all"]["failure_at_20"] * len(pairs()))
        assert failed == len(figures["failed_at_20"]) >= len(pairs()) - answerable


def test_without_the_guidelines_the_reader_is_told_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="--data"):
        run(tmp_path, cache=tmp_path, embedder=HashedEmbedder(), tell=lambda _: None)
