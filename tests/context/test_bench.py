"""The bench's figures on five thousand random inputs; a million run in the nightly."""

from __future__ import annotations

import random

import pytest

from bedside.evals.bench_context import Case, bare_counter, check, random_case, run


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.requirement("EN-C2")
def test_five_thousand_random_assemblies_break_no_promise():
    figures = run(assemblies=5_000, seed=7, runs=3, processes=1)
    bounds = figures["bounds"]
    assert bounds["n"] == 5_000
    assert bounds["overruns"] == 0
    assert bounds["protected_evictions"] == 0
    assert bounds["unused_more_than_the_cut_off_unit"] == 0
    assert bounds["cut_at_a_word"]["below_98_percent"] == 0
    assert bounds["cut_at_a_word"]["n"] > 20
    assert bounds["refused"] < 1_000
    assert figures["latency"]["n"] == 3
    assert figures["others"] is None


def test_the_random_inputs_are_the_same_for_the_same_seed_and_of_every_kind():
    cases = [random_case(random.Random(n)) for n in range(300)]
    again = [random_case(random.Random(n)) for n in range(300)]
    assert cases == again
    blocks = [block for case in cases for block in case.blocks]
    assert {block.slot for block in blocks} == {"system", "history", "tail"}
    assert {case.layout for case in cases} == {"attention", "cache", "balanced"}
    assert any(case.budget.pools for case in cases)
    assert max(sum(len(block.items) for block in case.blocks) for case in cases) <= 40


def test_the_check_sees_an_overrun_when_there_is_one():
    """With a counter that sees more than the compiler's own, prompts are over their limit."""
    count = bare_counter()
    cases = [random_case(random.Random(n)) for n in range(40)]
    found = [check(case, lambda text: 3 * count(text)) for case in cases]
    assert any(one.overrun for one in found)
    assert all(isinstance(case, Case) for case in cases)
