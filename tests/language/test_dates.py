"""Dates as written."""

from __future__ import annotations

from datetime import date

import pytest

from bedside.language.dates import dates


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("2024-11-02", [(date(2024, 11, 2),)]),
        ("2024-11-02T10:30:00Z", [(date(2024, 11, 2),)]),
        ("2 Nov 2024", [(date(2024, 11, 2),)]),
        ("2nd of November, 2024", [(date(2024, 11, 2),)]),
        ("Nov 2, 2024", [(date(2024, 11, 2),)]),
        ("13/04/2024", [(date(2024, 4, 13),)]),
        ("03/04/2024", [(date(2024, 3, 4), date(2024, 4, 3))]),
        ("31 February 2024", []),
        ("120/80/5 or 1.2.3", []),
    ],
)
def test_days_are_read_and_what_could_be_two_days_stays_two(text, days):
    assert [one.days for one in dates(text)] == days


@pytest.mark.parametrize(
    ("text", "month", "year"),
    [
        ("March 2024", (2024, 3), 2024),
        ("2024-05", (2024, 5), 2024),
        ("in 2019", None, 2019),
        ("(2021)", None, 2021),
    ],
)
def test_months_and_years_are_dates_too(text, month, year):
    (found,) = dates(text)
    assert (found.days, found.month, found.year) == ((), month, year)


@pytest.mark.parametrize("text", ["2019 mg", "8.2 %", "at 2000 mL", "eGFR 38"])
def test_figures_are_no_dates(text):
    assert dates(text) == []


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        ("2 Nov 2024", "2024-11-02", True),
        ("Nov 2024", "2024-11-02", True),
        ("in 2024", "2024-11-02", True),
        ("3 Nov 2024", "2024-11-02", False),
        ("Dec 2024", "2024-11-02", False),
        ("in 2023", "2024-11-02", False),
        ("02/11/2024", "2024-11-02", True),
    ],
)
def test_a_coarser_date_agrees_with_a_finer_one_inside_it(left, right, same):
    assert dates(left)[0].agrees(dates(right)[0]) is same
