"""Sums of money as people say them: amount, currency, and what is left open."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bedside.clinical.money import Money, Rates, amounts, currency_of, rates, shown, usd

# text | country | amount | upper end | currency ("" is open)
CASES = """
5 lakh INR||500000||INR
I have around 5 lakhs|India|500000||INR
₹5,00,000||500000||INR
20,00,000 rupees|India|2000000||INR
Rs 450000|Pakistan|450000||PKR
Rs. 3 lakh||300000||INR
rupees 450000||450000||
2.5 crore||25000000||INR
half a crore||5000000||INR
five lakh rupees|India|500000||INR
8 to 10 lakh|India|800000|1000000|INR
6 or 7 lakh||600000|700000|INR
५ लाख रुपये||500000||INR
12k euros||12000||EUR
10.000 €||10000||EUR
1.250,50 EUR||1250.50||EUR
€7,500||7500||EUR
$8,000||8000||USD
$8,000|Canada|8000||CAD
$8,000|Australia|8000||AUD
US$ 9,500|Canada|9500||USD
usd 9k||9000||USD
7-8k USD||7000|8000|USD
8 to 10 thousand dollars||8000|10000|USD
twenty five thousand dollars||25000||USD
1.2 million dollars||1200000||USD
$ 12 000||12000||USD
£7.5k||7500||GBP
10000 pounds|UK|10000||GBP
10000 pounds|Egypt|10000||EGP
10000 pounds||10000||
50,000 dirhams|UAE|50000||AED
50,000 dirhams||50000||
٥٠ ألف درهم|UAE|50000||AED
30000 riyals|Saudi Arabia|30000||SAR
KES 800,000||800000||KES
800000 shillings|Kenya|800000||KES
a million naira||1000000||NGN
2 million taka||2000000||BDT
R$ 20 000||20000||BRL
"""
NONE = """
I am 54 years old
I walk 500 metres
I won a prize and I try 3 times
diagnosed in 2019
the code 27447
HbA1c 8.2 %
two left knees
I have 2 children
since 5 months
take 400 mg
call me on 0700 123456
a le 2
"""


@pytest.mark.requirement("IN-09")
@pytest.mark.parametrize("row", CASES.strip().splitlines())
def test_a_sum_is_read_with_its_currency_and_its_words(row: str) -> None:
    text, country, amount, most, currency = row.split("|")
    (found,) = amounts(text, country=country)
    assert found.amount == Decimal(amount)
    assert found.most == (Decimal(most) if most else None)
    assert found.currency == currency
    assert text[found.start : found.end] == found.said
    assert bool(found.candidates) == (not currency)


@pytest.mark.requirement("IN-09")
@pytest.mark.parametrize("text", NONE.strip().splitlines())
def test_a_figure_that_is_no_money_is_none(text: str) -> None:
    assert amounts(text) == ()


@pytest.mark.requirement("IN-09")
def test_a_bare_number_counts_only_as_the_answer_to_a_question_about_money() -> None:
    assert amounts("8000") == ()
    assert amounts("around 8000", asked=True)[0].currency == ""
    assert amounts("around 800000", country="Kenya", asked=True)[0].currency == "KES"
    assert amounts("I am 61", asked=True) == ()
    assert amounts("500 metres", asked=True) == ()


@pytest.mark.requirement("IN-09")
@pytest.mark.parametrize(
    ("text", "country", "want"),
    [
        ("5 lakh INR", "", "5 lakh INR (~$6,000)"),
        ("8 to 10 lakh", "India", "8 to 10 lakh INR (~$9,600 to $12,000)"),
        ("$8,000", "", "$8,000 USD"),
        ("50,000 dirhams", "", "50,000 dirhams (currency open: AED or MAD)"),
    ],
)
def test_a_sum_is_shown_as_said_with_its_code_and_dollars(
    text: str, country: str, want: str
) -> None:
    (found,) = amounts(text, country=country)
    assert shown(found) == want
    assert found.as_value()["shown"] == want


def test_a_sum_is_kept_with_its_digits_as_text_and_open_parts_as_none() -> None:
    (one,) = amounts("$8,000")
    assert one.as_value() == {
        "amount": "8000", "most": None, "currency": "USD", "usd": "8000.00",
        "said": "$8,000", "assumed": True, "shown": "$8,000 USD",
    }  # fmt: skip
    (many,) = amounts("8 to 10 thousand dirhams")
    assert [many.as_value()[name] for name in ("amount", "most", "currency", "usd")] == [
        "8000", "10000", "", None,
    ]  # fmt: skip


@pytest.mark.requirement("IN-09")
def test_rates_have_a_date_and_a_source_and_can_be_the_deployers_own() -> None:
    assert rates().as_of == date(2024, 12, 31)
    assert "2024" in rates().source
    own = Rates(per_usd={"INR": Decimal(100)}, as_of=date(2026, 1, 1), source="ours")
    (found,) = amounts("5 lakh INR")
    assert usd(found, own) == Decimal(5000)
    assert shown(found, own) == "5 lakh INR (~$5,000)"
    (other,) = amounts("100 EUR")
    assert usd(other, own) is None
    assert shown(other, own) == "100 EUR"


def test_every_currency_of_a_country_has_a_rate() -> None:
    for name in ("India", "UAE", "the United Kingdom", "kenya", "Türkiye", "de", "الإمارات"):
        assert currency_of(name) in rates().per_usd
    assert currency_of("Atlantis") == ""


@settings(max_examples=80, deadline=None)
@given(st.text(max_size=80), st.sampled_from(["", "India", "Nowhere"]), st.booleans())
def test_any_text_is_read_and_every_span_slices_back(text: str, country: str, asked: bool) -> None:
    for found in amounts(text, country=country, asked=asked):
        assert isinstance(found, Money)
        assert text[found.start : found.end] == found.said
        assert found.amount > 0
        assert shown(found)


def test_two_scales_in_one_sum_both_count_and_a_year_is_no_sum() -> None:
    (found,) = amounts("two hundred thousand shillings", country="Kenya")
    assert (found.amount, found.currency) == (200_000, "KES")
    (found,) = amounts("five hundred dollars")
    assert found.amount == 500
    assert amounts("in 2024", asked=True) == ()
    assert amounts("2000", asked=True)[0].amount == 2000
