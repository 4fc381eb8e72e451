"""A budget inside a model's window: the answer gives way first, then the limit with its parts."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bedside.context import Budget, Pool, narrowed


def test_a_wide_window_changes_nothing_but_what_stands_beside() -> None:
    budget = Budget(6_000, output=4_096, loop=500, overhead=10)
    assert narrowed(budget, window=128_000) == budget
    assert narrowed(budget, window=None, beside=300).overhead == 310
    assert narrowed(budget, window=None, beside=300).limit == 6_000


def test_the_answer_gives_way_before_the_prompt() -> None:
    made = narrowed(Budget(6_000, output=4_096), window=8_192)
    assert (made.limit, made.output) == (6_000, 2_192)


def test_loop_soft_and_pools_shrink_by_the_same_share() -> None:
    budget = Budget(
        16_000,
        output=4_096,
        loop=8_000,
        soft=(12_000, "history"),
        pools=(Pool(name="a", tokens=4_000), Pool(name="b", share=0.5)),
    )
    made = narrowed(budget, window=8_192)
    assert (made.limit, made.output) == (6_144, 2_048)
    assert made.loop == 3_072
    assert made.soft == (4_608, "history")
    assert [(pool.tokens, pool.share) for pool in made.pools] == [(1_536, None), (None, 0.5)]


@pytest.mark.requirement("EN-C2")
@settings(max_examples=300, deadline=None)
@given(st.integers(1, 200_000), st.integers(0, 100_000), st.integers(8, 1_000_000))
def test_limit_and_answer_never_pass_the_window(limit: int, output: int, window: int) -> None:
    made = narrowed(Budget(limit, output=output), window=window)
    assert made.limit + made.output <= window
    assert made.limit <= limit
    assert made.output <= output
    assert made.output >= min(output, window // 4)
