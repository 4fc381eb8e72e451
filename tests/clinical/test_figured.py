"""A figure outside its range is a name to look under; a dose, a time or a doubtful unit is none."""

from __future__ import annotations

import pytest

from bedside.clinical.figured import figured
from bedside.clinical.vocabulary import expand


def suggested(text: str) -> list[str]:
    return [sign.diagnosis for one in figured(text) for sign in one.signs]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("K 6.2 on ramipril", ["hyperkalemia"]),
        ("K+ 6.2 mmol/L", ["hyperkalemia"]),
        ("potassium of 2.9", ["hypokalemia"]),
        ("Na 118 confused", ["hyponatremia"]),
        ("Hb 96 egfr 22", ["anemia", "chronic kidney disease"]),
        ("Hb 8", ["anemia"]),
        ("Hb 9 g/dl", ["anemia"]),
        ("BP 168/104 what first", ["hypertension"]),
        ("tsh 62", ["hypothyroidism"]),
        ("urate 580", ["hyperuricemia"]),
        ("glucose 2.1", ["hypoglycemia"]),
        ("glucose 22", ["hyperglycemia"]),
        ("calcium 3.1", ["hypercalcemia"]),
        ("plt 40", ["thrombocytopenia"]),
    ],
)
def test_a_figure_outside_the_range_of_adults_suggests_what_it_is_called(
    text: str, names: list[str]
) -> None:
    assert suggested(text) == names


@pytest.mark.parametrize(
    "text",
    [
        "K 4.1",
        "BP 118/74",
        "Hb 13",
        "glucose 5.4",
        "glucose 30",  # very low in mg/dL, very high in mmol/L
        "vitamin K 10 mg",
        "vitamin K 10 for warfarin",
        "tsh in 7 weeks",
        "tsh 7 weeks after the change",
        "SpO2 88-92 in COPD",
        "Na 3 times a day",
        "SGLT2 25 mg",
    ],
)
def test_figures_in_range_doses_times_and_doubtful_units_suggest_nothing(text: str) -> None:
    assert suggested(text) == []


def test_a_letter_with_its_figure_is_the_measurement_and_without_one_is_not() -> None:
    assert "potassium" in {one.replacement for one in expand("K 6.2", suggest=True)}
    assert not {one.replacement for one in expand("vitamin K 10 mg", suggest=True)} & {"potassium"}
    assert not expand("K 6.2")  # what judges and repeats reads no figure into a name
