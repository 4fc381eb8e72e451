"""The receipt adds up, and layouts have a price."""

from __future__ import annotations

from decimal import Decimal

import pytest

from bedside.context import Block, Budget, Item, Rates, assemble, price_layouts, receipt
from bedside.core.context import Assembly

BLOCKS = [
    Block("rules", "Answer from the sources. " * 60, zone="primacy", stability="static",
          protected=True, echo="Cite."),
    Block("guardrails", "Never guess. " * 60, zone="recency", stability="static", protected=True),
    Block("docs", [Item("word " * 60, key=f"d{n}", rank=-n) for n in range(9)], zone="middle"),
    Block("question", "Why?", zone="recency", protected=True, bookend=True),
]  # fmt: skip
RATES = Rates(input=Decimal(3), cache_read=Decimal("0.3"), cache_write=Decimal("3.75"))


def test_the_receipt_has_the_contracts_fields_and_its_figures_add_up():
    made = assemble(BLOCKS, budget=Budget(900, overhead=50))
    told = receipt(made)
    assert {"limit", "total", "tokenizer", "cacheable", "prefix_hash", "layout", "blocks"} <= set(
        told
    )
    assert told["limit"] == 900
    assert told["tokenizer"] == "o200k_base"
    assert receipt(made, tokenizer="mine")["tokenizer"] == "mine"
    framing = 4 * len(told["strip"])
    assert told["total"] == sum(b["given"] for b in told["blocks"]) + framing + 50
    assert told["total"] == sum(one["tokens"] for one in told["strip"]) + told["overhead"]
    assert sum(told["zones"].values()) == sum(b["given"] for b in told["blocks"])
    assert (told["reported"], told["margin"]) == (None, 0.0)
    assert receipt(made, reported=913)["reported"] == 913
    assert told["unused"] == 900 - told["total"]
    docs = told["blocks"][2]
    assert docs["wanted"] > docs["given"]
    assert docs["items"] + len(docs["dropped"]) == 9
    first = docs["dropped"][0]
    assert (first["item"], first["why"]) == (f"d{docs['items']}", "budget")
    assert first["tokens"] > 60
    starts = [one["start"] for one in told["strip"]]
    assert starts[0] == 0
    assert starts == sorted(starts)
    assert told["layouts"] == []


@pytest.mark.requirement("EN-C7")
def test_layouts_are_priced_by_what_each_could_cache():
    prices = price_layouts(BLOCKS, budget=Budget(5_000), rates=RATES)
    by_name = {price.layout: price for price in prices}
    assert set(by_name) == {"attention", "cache", "balanced"}
    assert by_name["attention"].cacheable < by_name["cache"].cacheable
    cheap = by_name["cache"]
    rest = cheap.tokens - cheap.cacheable
    assert cheap.first == (rest * Decimal(3) + cheap.cacheable * Decimal("3.75")) / 1_000_000
    assert cheap.later == (rest * Decimal(3) + cheap.cacheable * Decimal("0.3")) / 1_000_000
    made = assemble(BLOCKS, budget=Budget(5_000))
    told = receipt(made, layouts=prices)
    assert [one["layout"] for one in told["layouts"]] == ["attention", "cache", "balanced"]
    assert told["layouts"][1]["later_usd"] == float(cheap.later)


def test_an_unknown_rate_makes_an_unknown_price_never_nothing():
    prices = price_layouts(BLOCKS, budget=Budget(5_000), rates=Rates(input=Decimal(3)))
    assert [price.first for price in prices] == [None, None, None]
    told = receipt(assemble(BLOCKS, budget=Budget(5_000)), layouts=prices)
    assert told["layouts"][0]["first_usd"] is None
    short = price_layouts(
        BLOCKS, budget=Budget(5_000), rates=Rates(input=Decimal(3)), minimum=4_096
    )
    assert short[0].first is not None


def test_the_receipt_of_a_plain_assembly_says_what_it_does_not_know():
    plain = Assembly(
        messages=(),
        tokens=0,
        limit=9,
        layout="cache",
        ledger=(),
        numbering={},
        shown={},
        segments=(),
    )
    told = receipt(plain)
    assert (told["tokenizer"], told["overhead"], told["prompt_hash"]) == (None, None, None)
