"""The dispatcher's measure: clean on the real one, and it sees what a broken one would do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bedside.evals.bench_dispatch import simulate, two_processes
from bedside.evals.intake_seat import Seat
from bedside.flows.intake.dispatch import Choice, Facts, choose

FAULTS = ("stickiness_violations", "unsafe_defaults", "chain_faults", "language_faults")
ON = {"on": True, "percent": 100, "tenants": [], "requires": []}
OFF = {**ON, "on": False}


@pytest.mark.requirement("IN-14")
@pytest.mark.slow
def test_forty_thousand_dispatches_break_no_promise() -> None:
    found = simulate(40_000, seed=4)
    assert {name: found[name] for name in FAULTS} == dict.fromkeys(FAULTS, 0)
    assert found["flag_flips"] == 80
    assert found["dispatches_in_outage"] > 0
    assert found["exceptions_simulated"] > 0
    assert all(count > 0 for count in found["by_architecture"].values())


def test_a_dispatcher_that_forgets_its_choice_is_seen() -> None:
    def forgetful(facts: Facts, flags: Mapping[str, Any] | None) -> Choice:
        return choose(replace(facts, pinned=""), flags)

    assert simulate(10_000, seed=4, chooser=forgetful)["stickiness_violations"] > 100


def test_a_dispatcher_that_leaves_out_the_next_in_line_is_seen() -> None:
    def short(facts: Facts, flags: Mapping[str, Any] | None) -> Choice:
        found = choose(facts, flags)
        return replace(found, chain=found.chain[:1])

    assert simulate(2_000, seed=4, chooser=short)["chain_faults"] > 0


@pytest.mark.requirement("IN-14")
def test_a_case_keeps_its_architecture_while_flags_flip_and_fail() -> None:
    seat = Seat("case-s", flags={"intake.flexible": OFF, "intake.staged": ON})
    served = [seat.send("I need a knee replacement").body["architecture"]]
    for flags in ({"intake.flexible": ON}, None, {"intake.minimal": ON, "intake.staged": OFF}, {}):
        seat.flags = flags
        served.append(seat.send("hm").body["architecture"])
    assert served == ["staged"] * 5


@pytest.mark.timing
def test_another_process_sees_a_flag_at_its_next_turn(tmp_path: Path) -> None:
    found = two_processes(tmp_path, edits=4)
    assert found["stale_at_next_turn"] == 0
    assert found["edits"] == 4
