"""What "yesterday" meant, and which days a question names; the dates are from a printed calendar."""

from __future__ import annotations

from datetime import date

import pytest

from bedside.memory.when import Asked, asked_days, fits, is_when, meant_days

MONDAY = date(2023, 5, 8)


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("I went there yesterday", "2023-05-07", "2023-05-07"),
        ("the day before yesterday", "2023-05-06", "2023-05-06"),
        ("tonight we eat out", "2023-05-08", "2023-05-08"),
        ("we met last week", "2023-05-01", "2023-05-07"),
        ("last weekend was fun", "2023-05-06", "2023-05-07"),
        ("next weekend", "2023-05-13", "2023-05-14"),
        ("last Friday", "2023-05-05", "2023-05-05"),
        ("last Monday", "2023-05-01", "2023-05-01"),
        ("next Monday", "2023-05-15", "2023-05-15"),
        ("this Monday", "2023-05-08", "2023-05-08"),
        ("last month", "2023-04-01", "2023-04-30"),
        ("next month I travel", "2023-06-01", "2023-06-30"),
        ("last year", "2022-01-01", "2022-12-31"),
        ("three days ago", "2023-05-05", "2023-05-05"),
        ("a few days ago", "2023-05-05", "2023-05-05"),
        ("two weeks ago", "2023-04-21", "2023-04-27"),
    ],
)
def test_relative_words_count_from_the_day_they_were_said(text: str, first: str, last: str) -> None:
    found = meant_days(text, MONDAY)
    assert [(one.first.isoformat(), one.last.isoformat()) for one in found] == [(first, last)]


def test_the_ends_of_months_are_days_that_exist() -> None:
    assert meant_days("last month", date(2024, 3, 31))[0].first == date(2024, 2, 1)
    assert meant_days("last month", date(2024, 3, 31))[0].last == date(2024, 2, 29)
    assert meant_days("a month ago", date(2024, 3, 31))
    assert meant_days("99 years ago", date(1900, 1, 1))[0].first.year == 1800
    assert meant_days("99 years ago", date(40, 1, 1)) == []
    assert meant_days("nothing of the kind", MONDAY) == []


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("Who did Maria dine with on May 3, 2023?", [Asked(month=5, day=3, year=2023)]),
        ("What happened on 21 December?", [Asked(month=12, day=21)]),
        ("What did he do in July 2022?", [Asked(month=7, year=2022)]),
        ("May I ask what may happen in the march of time?", [Asked(month=5)]),
        ("Between June and August", [Asked(month=6), Asked(month=8)]),
        ("What does she like?", []),
    ],
)
def test_the_days_that_a_question_names(question: str, asked: list[Asked]) -> None:
    assert asked_days(question) == asked


def test_a_message_fits_the_day_it_speaks_of_better_than_the_day_it_was_said() -> None:
    third = Asked(month=5, day=3, year=2023)
    assert fits(third, date(2023, 5, 3), []) == 1.5
    assert fits(third, date(2023, 5, 4), meant_days("yesterday", date(2023, 5, 4))) == 1.5
    assert fits(third, date(2023, 5, 9), []) == 1.0
    assert fits(third, date(2023, 5, 16), []) == 0.5
    assert fits(third, date(2023, 5, 2), []) == 0.0
    assert fits(Asked(month=2, day=30), date(2023, 3, 1), []) == 0.0
    assert fits(Asked(month=4), MONDAY, []) == 0.5
    assert fits(Asked(month=4), MONDAY, meant_days("last month", MONDAY)) == 1.0
    assert fits(Asked(month=5, year=2022), MONDAY, []) == 0.0


def test_a_question_for_a_time_is_known() -> None:
    assert is_when("When did she move?")
    assert is_when("how long have they been married?")
    assert not is_when("What did she say?")
