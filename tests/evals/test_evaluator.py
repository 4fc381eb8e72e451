"""The measure of the evaluator: what it plants is wrong, what it leaves is right, and it is found."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from bedside.evals.evaluator import bench, run
from bedside.evals.evaluator_notes import Piece, VendorNote, notes, part_of, reworded
from bedside.evals.evaluator_seeds import CONTENT, EXPECTED, STRUCTURAL, plant

SHARED = Path(__file__).resolve().parents[2] / "../shared/data"
with_data = pytest.mark.skipif(not (SHARED / "notes").is_dir(), reason="the notes are not here")
ACI = """dataset,encounter_id,dialogue,note
virtassist,D2N001,"[doctor] hello","HISTORY

Left knee pain since March 2019. He denies fever, chills, and cough. Takes metformin 500 mg twice daily.
His mother had breast cancer. Blood pressure was 122/70 mmHg on Monday.

PLAN

Continue lisinopril 20 mg daily. Return in 2 weeks."
"""


@pytest.fixture
def small(tmp_path: Path) -> Path:
    folder = tmp_path / "notes" / "aci_bench"
    folder.mkdir(parents=True)
    (folder / "train.csv").write_text(ACI, encoding="utf-8")
    return tmp_path


def pieces(note: VendorNote) -> dict[str, Piece]:
    return {piece.text: piece for piece in note.pieces}


def test_a_notes_sentences_have_right_citations(small: Path) -> None:
    (note,) = notes(small)
    assert [chunk.section for chunk in note.chunks] == ["HISTORY", "PLAN"]
    assert "Takes metformin 500 mg twice daily." in pieces(note)
    for piece in note.pieces:
        assert note.text[piece.start : piece.end] == piece.text
        assert piece.chunk.start <= piece.start < piece.end <= piece.chunk.end


@pytest.mark.parametrize("kind", [*STRUCTURAL, *CONTENT])
def test_each_kind_of_error_fits_somewhere_and_changes_text_or_source(
    small: Path, kind: str
) -> None:
    (note,) = notes(small)
    made = [
        (piece, wrong)
        for piece in note.pieces
        if (wrong := plant(kind, piece, piece.text, note, random.Random(3))) is not None
    ]
    assert made
    for piece, wrong in made:
        assert (wrong.text, wrong.source) != (piece.text, piece.source)
        assert wrong.kind == kind
        assert EXPECTED[kind]


def test_planted_errors_are_the_ones_that_they_are_called(small: Path) -> None:
    (note,) = notes(small)
    found = pieces(note)
    rng = random.Random(1)

    def planted(kind: str, text: str) -> str:
        wrong = plant(kind, found[text], text, note, rng)
        assert wrong is not None
        return wrong.text

    assert (
        planted("left_right", "Left knee pain since March 2019.")
        == "Right knee pain since March 2019."
    )
    assert "mcg" in planted("mg_mcg", "Continue lisinopril 20 mg daily.") or " g " in planted(
        "mg_mcg", "Continue lisinopril 20 mg daily."
    )
    assert "reports" in planted("negation_flip", "He denies fever, chills, and cough.").lower()
    assert "breast cancer" in planted("family_as_patient", "His mother had breast cancer.")
    assert "mother" not in planted("family_as_patient", "His mother had breast cancer.")


def test_rewordings_keep_figures_and_lists_give_one_thing_with_its_denial() -> None:
    rng = random.Random(0)
    said = {part_of("He denies fever, chills, and cough.", rng) for _ in range(40)}
    assert said == {"Denies fever", "Denies chills", "Denies cough"}
    assert part_of("He denies fever but not cough, chills, and pain.", rng).startswith(
        "He denies fever but"
    )
    said = {reworded("Takes metformin 500 mg twice daily.", rng) for _ in range(40)}
    assert all("500" in one and "metformin" in one for one in said)
    assert len(said) > 2


@with_data
@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.requirement("NO-08")
def test_seeded_errors_are_found_and_correct_items_are_left_alone() -> None:
    figures = run(SHARED, each=12, seed=5)
    assert figures["structural"]["n"] >= 60
    assert figures["structural"]["found"] >= 0.99
    assert figures["dose_negation_side_drug"]["found"] >= 0.97
    assert figures["false_alarms"]["n"] >= 300
    assert figures["false_alarms"]["share"] <= 0.02


@with_data
@pytest.mark.requirement("NO-08")
def test_the_bench_gives_the_same_bytes_twice() -> None:
    figures = bench(SHARED, least=200)
    assert figures["same"]
    assert figures["claims_per_second"] > 0


def test_without_notes_it_says_so_and_gives_no_figure(tmp_path: Path) -> None:
    assert run(tmp_path) == {"n": 0, "skipped": "the notes are not here"}
    assert bench(tmp_path)["n"] == 0
