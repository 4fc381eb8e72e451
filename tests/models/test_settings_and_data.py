"""Chains, prices, profiles, the router and the breaker: values and data."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bedside.core.errors import BadInput, InvalidArgument
from bedside.core.turn import Ended
from bedside.models.breaker import Breaker
from bedside.models.config import Link, Policy, parse_chain
from bedside.models.prices import bundled_prices, read_prices, total
from bedside.models.profiles import bundled_profiles, read_profiles
from bedside.models.router import Weights, route


class HandClock:
    def __init__(self) -> None:
        self.at = 100.0

    def now(self) -> datetime:
        return datetime(2026, 1, 1, tzinfo=UTC)

    def monotonic(self) -> float:
        return self.at


# ---- chains


@pytest.mark.requirement("CO-15")
def test_a_chain_is_parsed_in_order_and_extractive_ends_it() -> None:
    text = "openrouter:anthropic/claude-sonnet-4.6, anthropic:claude-sonnet-4-6,extractive"
    assert parse_chain(text) == (
        Link(provider="openrouter", model="anthropic/claude-sonnet-4.6"),
        Link(provider="anthropic", model="claude-sonnet-4-6"),
    )


def test_a_model_name_may_hold_colons() -> None:
    (link,) = parse_chain("bedrock:anthropic.claude-3-5-sonnet-20241022-v2:0")
    assert link.model == "anthropic.claude-3-5-sonnet-20241022-v2:0"
    assert link.spec == "bedrock:anthropic.claude-3-5-sonnet-20241022-v2:0"


@pytest.mark.parametrize("text", ["", "extractive", " extractive "])
def test_no_model_is_the_empty_chain(text: str) -> None:
    assert parse_chain(text) == ()


@pytest.mark.parametrize(
    "text",
    [
        "gpt-4.1",
        "openai:",
        "nobody:model",
        "extractive,openai:gpt-4.1",
        "openai:a,openai:a",
        "OpenAI:gpt",
    ],
)
def test_a_chain_that_cannot_be_meant_is_refused(text: str) -> None:
    with pytest.raises(InvalidArgument):
        parse_chain(text)


@pytest.mark.parametrize("calls", [0, 4])
def test_a_provider_never_gets_more_than_three_calls(calls: int) -> None:
    with pytest.raises(InvalidArgument):
        Policy(calls_per_provider=calls)


# ---- prices


PRICES = """
as_of: 2026-01-01
currency: USD
prices:
  - {match: "a:m", input: "3", output: "15", cache_read: "0.3", cache_write: "3.75"}
  - {match: "a:half", input: "1", output: "5"}
  - {match: "a:tier", input: "1", output: "5", over: {tokens: 1000, input: "2", output: "10"}}
"""


def usage(**counts: int | None) -> dict[str, int | None]:
    return {"input": None, "output": None, "cache_read": None, "cache_write": None, **counts}


@pytest.mark.requirement("EN-M4")
def test_cost_adds_fresh_cached_and_written_tokens_at_their_prices() -> None:
    prices = read_prices(PRICES)
    found = prices.cost(
        Link(provider="a", model="m"),
        usage(input=10_000, output=1_000, cache_read=6_000, cache_write=2_000),
    )
    # by hand: 2,000 x 3 + 6,000 x 0.30 + 2,000 x 3.75 + 1,000 x 15, per million
    assert found == Decimal("0.0303")


@pytest.mark.requirement("EN-M4")
def test_unknown_is_none_and_never_zero() -> None:
    prices = read_prices(PRICES)
    half = Link(provider="a", model="half")
    assert prices.cost(Link(provider="a", model="none"), usage(input=1, output=1)) is None
    assert prices.cost(half, usage(input=10)) is None
    assert prices.cost(half, usage(input=10, output=1, cache_read=5)) is None
    assert prices.cost(half, usage(input=10, output=1, cache_read=0)) == Decimal("0.000015")


def test_a_long_prompt_pays_the_long_tariff_for_all_of_it() -> None:
    tier = Link(provider="a", model="tier")
    prices = read_prices(PRICES)
    assert prices.cost(tier, usage(input=1_000, output=0)) == Decimal("0.001")
    assert prices.cost(tier, usage(input=1_001, output=0)) == Decimal("0.002002")


def ended(cost: str | None, **counts: int | None) -> Ended:
    return Ended(usage=usage(**counts), model="m", cost_usd=cost)


def test_a_total_is_unknown_as_soon_as_one_call_is() -> None:
    assert total([]) == 0
    assert total([ended("0.1", input=1), ended("0.02", input=1)]) == Decimal("0.12")
    assert total([ended("0.1", input=1), ended("0")]) == Decimal("0.1")
    assert total([ended("0.1", input=1), ended(None)]) is None
    assert total([ended("0.1", input=1), ended(None, input=5)]) is None


@pytest.mark.parametrize("text", ["prices: [", "as_of: x", PRICES + "  - {match: m, inptu: '1'}"])
def test_a_price_file_with_a_mistake_is_refused(text: str) -> None:
    with pytest.raises(BadInput):
        read_prices(text)


def test_the_bundled_prices_are_dated_and_priced_in_both_directions() -> None:
    prices = bundled_prices()
    assert prices.as_of.year >= 2026
    for pattern, price in prices.rows:
        assert price.base.input is not None, pattern
        assert price.base.output is not None, pattern
        assert price.base.output > price.base.input, pattern
        if price.base.cache_read is not None:
            assert price.base.cache_read < price.base.input, pattern


# ---- profiles


def test_every_priced_model_has_a_profile_of_its_provider() -> None:
    profiles = bundled_profiles()
    for pattern, _ in bundled_prices().rows:
        provider, _, model = pattern.replace("*", "").partition(":")
        assert profiles.of(Link(provider=provider, model=model)) is not profiles.default


def test_a_small_local_model_gets_the_common_subset() -> None:
    profile = bundled_profiles().of(Link(provider="openai", model="smollm2-135m"))
    assert (profile.cache, profile.images, profile.limit) == ("none", False, "max_tokens")
    assert profile.temperature
    assert profile.can == {"model", "tools", "json"}


def test_the_first_matching_row_wins_and_defaults_fill_the_rest() -> None:
    profiles = read_profiles(
        "as_of: 2026-01-01\ndefaults: {window: 100, output: 7}\nprofiles:\n"
        '  - {match: "a:b*", minimum: 5}\n  - {match: "a:*", minimum: 9, tools: false}\n'
    )
    first = profiles.of(Link(provider="a", model="bc"))
    second = profiles.of(Link(provider="a", model="c"))
    assert (first.minimum, first.tools, first.window) == (5, True, 100)
    assert (second.minimum, second.tools, second.output) == (9, False, 7)
    assert profiles.of(Link(provider="x", model="c")).minimum == 0


@pytest.mark.parametrize("text", ["profiles: [", "as_of: 2026-01-01\nprofiles: [{minimum: 1}]"])
def test_a_profile_file_with_a_mistake_is_refused(text: str) -> None:
    with pytest.raises(BadInput):
        read_profiles(text)


# ---- router


WEIGHTS = Weights(
    threshold=4,
    points={"mediation": 2, "intense": 3, "ambiguous": 2, "long": 1, "draft": -1},
)


@pytest.mark.requirement("EN-M3")
@pytest.mark.parametrize(
    ("factors", "score", "role"),
    [
        ({}, 0, "mechanic"),
        ({"mediation": True}, 2, "mechanic"),
        ({"mediation": True, "long": True}, 3, "mechanic"),
        ({"mediation": True, "ambiguous": True}, 4, "writer"),
        ({"intense": True, "mediation": True, "draft": True}, 4, "writer"),
        ({"long": 5, "draft": True}, 4, "writer"),
    ],
)
def test_the_score_chooses_the_model(factors: dict[str, bool], score: int, role: str) -> None:
    found = route(factors, weights=WEIGHTS, veil=("A B",))
    assert (found.score, found.role, found.veil) == (score, role, ("A B",))
    assert sum(points for _, points in found.factors) == score


def test_a_factor_without_points_is_a_mistake() -> None:
    with pytest.raises(InvalidArgument):
        route({"mood": True}, weights=WEIGHTS)


# ---- breaker


def tell(breaker: Breaker, *outcomes: bool) -> None:
    for ok in outcomes:
        assert breaker.admit()
        breaker.record(ok=ok)


@pytest.mark.requirement("EN-M2")
def test_five_failures_in_a_row_open_it_and_one_probe_closes_it() -> None:
    clock = HandClock()
    breaker = Breaker(policy=Policy(), clock=clock)
    tell(breaker, False, False, False, False)
    assert breaker.admit()
    breaker.record(ok=False)
    assert not breaker.admit()
    clock.at += 14.9
    assert not breaker.admit()
    clock.at += 0.2
    assert breaker.state == "half_open"
    assert breaker.admit()
    assert not breaker.admit()  # one probe, not two
    breaker.record(ok=True)
    assert breaker.state == "closed"
    assert breaker.admit()


def test_a_failed_probe_opens_it_again_for_the_whole_time() -> None:
    clock = HandClock()
    breaker = Breaker(policy=Policy(), clock=clock)
    tell(breaker, *[False] * 5)
    clock.at += 16
    assert breaker.admit()
    breaker.record(ok=False)
    clock.at += 14
    assert not breaker.admit()
    clock.at += 2
    assert breaker.admit()


def test_half_of_ten_calls_within_the_window_open_it() -> None:
    breaker = Breaker(policy=Policy(), clock=HandClock())
    tell(breaker, *[True, False] * 4, True)
    assert breaker.state == "closed"
    tell(breaker, False)
    assert breaker.state == "open"


def test_failures_older_than_the_window_do_not_count_towards_the_half() -> None:
    clock = HandClock()
    breaker = Breaker(policy=Policy(), clock=clock)
    tell(breaker, False, True, False, True, False, True)
    clock.at += 31
    tell(breaker, True, False, True, False)
    assert breaker.state == "closed"


def test_a_probe_given_back_lets_the_next_one_through() -> None:
    clock = HandClock()
    breaker = Breaker(policy=Policy(), clock=clock)
    tell(breaker, *[False] * 5)
    clock.at += 16
    assert breaker.admit()
    breaker.forget()
    assert breaker.admit()


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.booleans(), st.floats(0, 20)), max_size=60))
def test_it_never_admits_while_open_and_always_after_cooling(
    story: list[tuple[bool, float]],
) -> None:
    clock = HandClock()
    breaker = Breaker(policy=Policy(), clock=clock)
    for ok, wait in story:
        clock.at += wait
        before = breaker.state
        admitted = breaker.admit()
        assert admitted == (before != "open")
        if admitted:
            breaker.record(ok=ok)
    clock.at += 15.1
    assert breaker.admit()
