"""The dispatcher: forced, sticky, by flag, fallen back; and flags that another process changed."""

from __future__ import annotations

import random
import subprocess
import sys
from dataclasses import replace

import pytest

from bedside.core.errors import AccessDenied, InvalidArgument
from bedside.flows.intake import architectures
from bedside.flows.intake.dispatch import Facts, choose
from bedside.wiring import Who
from bedside.wiring.intake import send, start_case
from bedside.wiring.intake_desk import force, rollback

ON = {"on": True, "percent": 100, "tenants": [], "requires": []}
OFF = {**ON, "on": False}


@pytest.mark.requirement("IN-14")
def test_a_case_never_moves_with_the_flags_over_many_random_histories():
    rng = random.Random(7)
    for number in range(3_000):
        case = f"case-{number}"
        first = choose(Facts(case=case), _flags(rng)).own
        for _ in range(4):
            flags = None if rng.random() < 0.2 else _flags(rng)
            later = choose(Facts(case=case, pinned=first), flags)
            assert later.own == first
            assert later.source == "sticky"
            assert later.chain[-1] == "minimal"


def _flags(rng: random.Random):
    return {
        f"intake.{name}": {
            "on": rng.random() < 0.5, "percent": rng.choice([0, 10, 50, 100]),
            "tenants": rng.choice([[], ["default"], ["other"]]), "requires": [],
        }
        for name in ("flexible", "staged", "minimal") if rng.random() < 0.8
    }  # fmt: skip


@pytest.mark.requirement("IN-14")
def test_a_percentage_takes_about_that_share_of_cases_and_always_the_same_ones():
    flags = {"intake.flexible": {**ON, "percent": 30}, "intake.staged": ON}
    got = [choose(Facts(case=f"c{n}"), flags).own for n in range(4_000)]
    assert 0.27 < got.count("flexible") / len(got) < 0.33
    assert got == [choose(Facts(case=f"c{n}"), flags).own for n in range(4_000)]


@pytest.mark.parametrize(
    ("facts", "flags", "own", "source"),
    [
        (Facts(case="c"), {}, "flexible", "default"),
        (Facts(case="c"), None, "staged", "unreachable"),
        (Facts(case="c"), {"intake.flexible": OFF, "intake.staged": ON}, "staged", "flag"),
        (Facts(case="c", tenant="a"), {"intake.flexible": {**ON, "tenants": ["b"]}}, "staged", "default"),
        (Facts(case="c", pinned="minimal"), {"intake.flexible": ON}, "minimal", "sticky"),
        (Facts(case="c", pinned="minimal", forced="staged"), None, "staged", "force"),
    ],
)  # fmt: skip
@pytest.mark.requirement("IN-14")
def test_forced_before_sticky_before_flags_and_a_safe_default(facts, flags, own, source):
    found = choose(facts, flags)
    assert (found.own, found.source) == (own, source)


@pytest.mark.requirement("IN-14")
def test_a_missing_prerequisite_passes_to_the_next_with_the_reason():
    flags = {"intake.flexible": {**ON, "requires": ["model"]}}
    without = choose(Facts(case="c"), flags)
    assert without.architecture == "staged"
    assert without.skipped == (("flexible", "prerequisite: model"),)
    assert choose(Facts(case="c", can=frozenset({"model"})), flags).architecture == "flexible"


@pytest.mark.requirement("IN-14", "IN-19")
def test_an_exception_falls_back_for_that_turn_only_and_says_why(talk, monkeypatch):
    first = talk(["I need a left knee replacement"])[0]
    assert first["architecture"] == "flexible"
    real = architectures.architecture

    def broken(name, choice, failed=()):
        flow = real(name, choice, failed)
        if name != "flexible":
            return flow

        def fails(_view):
            raise RuntimeError("broken on purpose")

        return replace(flow, next=fails)

    monkeypatch.setattr(architectures, "architecture", broken)
    second = talk(["62"], case=first["case"])[0]
    assert second["architecture"] == "staged"
    assert second["dispatch"]["fallback_reason"] == "exception: RuntimeError"
    assert second["stamps"]["fallback_reason"] == "exception: RuntimeError"
    assert second["state"]["fields"]["age"]["value"] == 62
    monkeypatch.undo()
    third = talk(["Kenya"], case=first["case"])[0]
    assert third["architecture"] == "flexible"
    assert third["dispatch"]["fallback_reason"] is None


_OTHER = """
import sys, anyio
from pathlib import Path
from bedside.settings import load_settings
from bedside.wiring import build_engine

async def go():
    engine = build_engine(load_settings(home=Path(sys.argv[1]), environ={"BEDSIDE_EMBEDDER": "none"}))
    try:
        if sys.argv[2] == "flag":
            await engine.edit("flag", sys.argv[3], {"on": sys.argv[4] == "on"}, engine.local())
        else:
            text = Path(sys.argv[4]).read_text(encoding="utf-8")
            await engine.edit("sop", sys.argv[3], {"yaml": text}, engine.local())
    finally:
        await engine.close()

anyio.run(go)
"""


def other_process(home, *words: str) -> None:
    """Edit hot data in a process of its own."""
    subprocess.run([sys.executable, "-c", _OTHER, str(home), *words], check=True, timeout=60)


@pytest.mark.requirement("IN-14")
@pytest.mark.slow
def test_a_flag_set_in_another_process_holds_for_the_next_new_case_and_no_old_one(
    tmp_path, engine_work
):
    async def work(engine):
        who = engine.local()
        old = await start_case(engine, who)
        before = await send(engine, who, old, "I need a knee replacement")
        import anyio

        await anyio.to_thread.run_sync(
            other_process, tmp_path / "home", "flag", "intake.flexible", "off"
        )
        new = await start_case(engine, who)
        return (
            before["architecture"],
            (await send(engine, who, old, "left"))["architecture"],
            (await send(engine, who, new, "I need a knee replacement"))["dispatch"],
        )

    first, same, other = engine_work(work)
    assert (first, same) == ("flexible", "flexible")
    assert other["architecture"] == "staged"


@pytest.mark.requirement("IN-22")
@pytest.mark.slow
def test_a_contract_saved_in_another_process_is_live_at_the_next_turn(tmp_path, engine_work):
    async def work(engine):
        import anyio

        from bedside.wiring.intake import contract_text

        who = engine.local()
        case = await start_case(engine, who)
        before = await send(engine, who, case, "I need a knee replacement")
        text = await contract_text(engine, who, "TKR")
        edited = tmp_path / "TKR.yaml"
        edited.write_text(
            text.replace("Which knee is it: left, right, or both?", "On which side is the knee?"),
            encoding="utf-8",
        )
        await anyio.to_thread.run_sync(other_process, tmp_path / "home", "sop", "TKR", str(edited))
        after = await send(engine, who, case, "what happens next?")
        versions = await engine.versions("sop", "TKR", who)
        return before["answer"], after["answer"], len(versions)

    before, after, versions = engine_work(work)
    assert "Which knee is it" in before
    assert "On which side is the knee?" in after
    assert versions == 1


@pytest.mark.requirement("IN-14")
def test_cases_are_moved_in_bulk_and_every_move_is_audited(engine_work):
    async def work(engine):
        who = engine.local()
        cases = [await start_case(engine, who) for _ in range(3)]
        for case in cases:
            await send(engine, who, case, "I need a knee replacement")
        with pytest.raises(AccessDenied):
            await rollback(engine, Who(roles=frozenset({"coordinator"})), "minimal", of="flexible")
        with pytest.raises(InvalidArgument):
            await rollback(engine, who, "best", of="flexible")
        moved = await rollback(engine, who, "minimal", of="flexible")
        turns = [await send(engine, who, case, "left") for case in cases]
        await force(engine, who, cases[0], "")
        back = await send(engine, who, cases[0], "62")
        trail = [
            one for one in await engine.audit(who, patient=cases[1]) if "force" in one["purpose"]
        ]
        return moved, turns, back, trail

    moved, turns, back, trail = engine_work(work)
    assert moved["changed"] == 3
    assert {turn["architecture"] for turn in turns} == {"minimal"}
    assert {turn["dispatch"]["source"] for turn in turns} == {"force"}
    assert back["architecture"] == "flexible"
    assert len(trail) == 1
