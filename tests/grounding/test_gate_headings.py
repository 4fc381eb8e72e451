"""Headings come with what stands under them, and go with it."""

from __future__ import annotations

from bedside.grounding import SourceText, check

SOURCE = SourceText("1", "Potassium 5.1 mmol/L. Sodium 140 mmol/L.", kind="record")


def shown(answer: str) -> str:
    return check(answer, sources=[SOURCE]).text


def test_a_title_right_above_a_part_is_kept_with_it() -> None:
    text = shown("Results of the visit:\nElectrolytes:\n- Potassium 5.1 mmol/L [1]\n")
    assert "Results of the visit:" in text
    assert "Electrolytes:" in text


def test_a_part_whose_only_line_was_removed_goes_with_it() -> None:
    text = shown("First part:\n- Calcium 9.9 mg/dL [1]\nSecond part:\n- Sodium 140 mmol/L [1]\n")
    assert "First part" not in text
    assert "Second part:" in text
    assert "Sodium 140 mmol/L" in text


def test_a_lone_full_stop_is_no_unit_whatever_follows() -> None:
    """Found by hypothesis: the border moved when more text came."""
    from bedside.grounding.units import cut

    assert cut(". e.g. 1", final=False) == []
    assert cut(". e.g. 1. ", final=True) == [10]
