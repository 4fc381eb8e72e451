"""One sentence is read once, however it is cut."""

from __future__ import annotations

import pytest

from bedside.grounding.reading import Memo


@pytest.mark.parametrize(
    "again",
    ["Potassium was 5.1 mmol/L.", "Potassium was 5.1 mmol/L.\n", " Potassium was 5.1 mmol/L "],
)
def test_a_sentence_with_and_without_its_end_is_one_reading(again: str) -> None:
    memo = Memo()
    assert memo(again) is memo("Potassium was 5.1 mmol/L")


@pytest.mark.parametrize("text", ["Ramipril 5 mg b.d.", "Potassium was 5.1?", "Sodium 1..."])
def test_an_end_that_means_something_stays(text: str) -> None:
    assert Memo()(text).text == text
