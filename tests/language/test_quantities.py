"""Figures, units, frequencies as written."""

from __future__ import annotations

import pytest

from bedside.language.quantities import frequencies, quantities, unit_key


def read(text: str) -> list[tuple[str, str, str | None, str]]:
    return [(one.comparator, *one.figure, one.unit) for one in quantities(text)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("HbA1c 8.2 % on 2 Nov 2024", [("", "8.2", None, "%")]),
        ("eGFR 38 mL/min/{1.73_m2}", [("", "38", None, "ml/min/1.73m2")]),
        ("eGFR 38 ml/min/1.73m²", [("", "38", None, "ml/min/1.73m2")]),
        ("BP 120/80 mmHg", [("", "120", "80", "mmhg")]),
        ("BP 120/80 mm[Hg]", [("", "120", "80", "mmhg")]),
        ("72.50 kg", [("", "72.50", None, "kg")]),
        ("1,200 mg", [("", "1200", None, "mg")]),
        ("< 5 ng/mL", [("<", "5", None, "ng/ml")]),
        ("no more than 4 g", [("<=", "4", None, "g")]),
        ("at least 3 tablets", [(">=", "3", None, "tablet")]),
        ("5–10 mg", [("", "5", "10", "mg")]),
        ("5 to 10 mg", [("", "5", "10", "mg")]),
        ("10-20%", [("", "10", "20", "%")]),
        ("65 years and above", [(">=", "65", None, "a")]),
        ("0.5 mcg/kg/min", [("", "0.5", None, "mcg/kg/min")]),
        ("50 µg and 50 ug", [("", "50", None, "mcg"), ("", "50", None, "mcg")]),
        ("4.5 10*3/uL", [("", "4.5", None, "10^3/ul")]),
        ("150 x10^9/L", [("", "150", None, "10^9/l")]),
        ("38.5 °C", [("", "38.5", None, "°c")]),
        ("insulin 10 units at night", [("", "10", None, "iu")]),
    ],
)
def test_a_figure_is_read_with_its_digits_ends_and_unit(text, found):
    assert read(text) == found


@pytest.mark.parametrize(
    "text",
    [
        "COVID-19",
        "vitamin B12",
        "T2DM",
        "HbA1c",
        "SARS-CoV-2",
        "stage 3b",
        "seen [3] and [12]",
        "on 2024-05-01",
        "1. First\n2. Second",
        "12 March",
    ],
)
def test_names_dates_markers_and_counters_are_no_figures(text):
    assert read(text) == []


def test_digits_are_kept_as_written_so_that_rounding_shows():
    assert quantities("8.20 %")[0].figure != quantities("8.2 %")[0].figure


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        ("µg", "mcg", True),
        ("mm[Hg]", "mmHg", True),
        ("mL/min/{1.73_m2}", "ml / min / 1.73 m2", True),
        ("mg per dL", "mg/dL", True),
        ("mg", "g", False),
        ("mg", "mcg", False),
        ("mmol/L", "mg/dL", False),
    ],
)
def test_units_have_one_spelling_and_are_never_converted(left, right, same):
    assert (unit_key(left) == unit_key(right)) is same


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("twice daily", ["2/day"]),
        ("b.d.", ["2/day"]),
        ("BID", ["2/day"]),
        ("12 hourly", ["2/day"]),
        ("every 12 hours", ["2/day"]),
        ("three times a day", ["3/day"]),
        ("tds", ["3/day"]),
        ("q8h PRN", ["3/day", "prn"]),
        ("once weekly", ["1/week"]),
        ("daily", ["1/day"]),
        ("weekly", ["1/week"]),
        ("on alternate days", ["1/2day"]),
        ("at night", ["1/day"]),
        ("every 4-6 hours", ["every 4-6h"]),
        ("as needed", ["prn"]),
        ("as a single dose", ["stat"]),
    ],
)
def test_a_frequency_has_one_label_however_it_is_written(text, labels):
    assert [one.label for one in frequencies(text)] == labels


@pytest.mark.parametrize("gap", [" ", "\n", "  \n  ", "\t"])
def test_a_comparison_is_read_over_the_end_of_a_line(gap: str) -> None:
    (found,) = quantities(f"when the eGFR is{gap}below 45, yet still")
    assert (found.comparator, str(found.low)) == ("<", "45")
