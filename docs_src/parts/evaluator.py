"""Any vendor's summary of a note, checked in pytest: run `pytest evaluator.py`."""

from __future__ import annotations

from pathlib import Path

from bedside.grounding import evaluate_note

NOTE = """HISTORY

Left knee pain for two weeks. Denies fever. Takes metformin 500 mg twice daily.
Her mother had breast cancer.

PLAN

Order an X-ray of the left knee."""

GOOD = [
    {"text": "Left knee pain for 2 weeks", "source": "Left knee pain for two weeks."},
    {"text": "No fever", "source": "Denies fever."},
    {"text": "X-ray of the left knee ordered", "source": "Order an X-ray of the left knee."},
]
BAD = [
    {"text": "Right knee pain for 2 weeks", "source": "Left knee pain for two weeks."},
    {"text": "Metformin 5000 mg twice daily", "source": "Takes metformin 500 mg twice daily."},
    {"text": "History of breast cancer", "source": "Her mother had breast cancer."},
    {"text": "Known epilepsy", "source": None},
]


def test_every_item_of_the_summary_holds(tmp_path: Path) -> None:
    """The assertion to put beside a summariser: nothing wrong, everything cited."""
    result = evaluate_note(GOOD, note=NOTE)
    result.to_html(tmp_path / "report.html")
    assert result.ok, result.table()
    assert result.citation_coverage == 1.0


def test_what_is_wrong_is_named() -> None:
    """What the evaluator says of a bad summary."""
    result = evaluate_note(BAD, note=NOTE)
    found = [[finding.kind for finding in one.findings] for one in result.items]
    assert found[0] == ["laterality"]
    assert found[1] == ["doses"]
    assert found[2] == ["subject"]
    assert "orphan_claim" in found[3]
