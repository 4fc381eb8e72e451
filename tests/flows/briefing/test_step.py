"""The model's step as declared: with tools a loop, without them passages found by rule (BR-07)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest

from bedside.context.tokens import counter
from bedside.core.access import Grant
from bedside.core.ids import ActorId, PatientId, SessionId, TenantId, TurnId
from bedside.core.turn import Got, TurnRequest
from bedside.flows.briefing import BRIEFING
from bedside.flows.flow import Opened, View
from bedside.flows.ready import ready
from bedside.knowledge.needs import SearchNeed
from bedside.models.config import EgressConfig, ModelsConfig, parse_chain
from bedside.record.fetch import fetch
from bedside.settings import load_settings
from bedside.wiring import build_engine
from bedside.wiring.models import margin_of

from .conftest import QUESTION


def view_of(home: Path, can: frozenset[str]) -> View:
    """The turn of a demonstration patient, gathered from the real rooms."""

    async def go() -> View:
        engine = build_engine(load_settings(home=home, environ={"BEDSIDE_EMBEDDER": "none"}))
        grant = Grant(
            tenant=TenantId("default"),
            actor=ActorId("local"),
            audit_seq=1,
            patient=PatientId("demo-adeyemi"),
        )
        today = engine.clock.now().date()
        opened = Opened(
            turn=TurnId("t"), session=SessionId("s"), grant=grant, state=BRIEFING.initial(),
            revision=0, history=(), numbering={}, now=engine.clock.now(), as_of=today,
            count=counter("o200k_base"), pinned={}, can=can,
        )  # fmt: skip
        request = TurnRequest(flow="briefing", text=QUESTION)
        plan = BRIEFING.plan(request, opened)
        try:
            (record,) = plan.needs
            found = await engine.store.read(lambda c: fetch(c, grant, record, as_of=today))
            view = View(
                request=request, opened=opened, plan=plan, gathered={record: Got(value=found)}
            )
            searches = BRIEFING.more(view)
            assert all(isinstance(need, SearchNeed) for need in searches)
            hits = {
                need: Got(value=await engine.texts.search_need(need, grant)) for need in searches
            }
            return View(
                request=request, opened=opened, plan=plan, gathered={**view.gathered, **hits}
            )
        finally:
            await engine.close()

    return anyio.run(go)


@pytest.mark.requirement("BR-07")
def test_a_model_without_tools_gets_passages_that_rules_looked_up(demo_home):
    view = view_of(demo_home, frozenset({"model"}))
    asked = " | ".join(need.query for need in view.gathered if isinstance(need, SearchNeed))
    for part in ("Type 2 diabetes mellitus", "metformin", "Hemoglobin A1c"):
        assert part in asked
    step = BRIEFING.next(view)
    assert step is not None
    assert step.tools == ()
    assert step.calls == 1
    (passages,) = [block for block in step.blocks if block.name == "clinical_guidelines"]
    assert len(passages.items) >= 3
    assert all(item.span is not None for item in passages.items)


@pytest.mark.requirement("BR-17")
def test_a_model_with_tools_gets_the_loop_and_its_budget(demo_home):
    view = view_of(demo_home, frozenset({"model", "tools"}))
    step = BRIEFING.next(view)
    assert step is not None
    assert [tool.name for tool in step.tools] == ["search_clinical_guidelines"]
    assert (step.calls, step.uses, step.repairs) == (4, 3, 1)
    assert (step.budget.limit, step.budget.loop, step.budget.output) == (16_000, 7_500, 4_096)
    budget = ready(step, view, view.opened.numbering).step.budget
    assert budget.overhead > 400  # the tool's schema is counted, and the answer's
    assert "clinical_guidelines" not in [block.name for block in step.blocks]


def test_with_no_model_the_only_step_calls_none(demo_home):
    step = BRIEFING.next(view_of(demo_home, frozenset()))
    assert step is not None
    assert step.calls == 0


@pytest.mark.requirement("EN-G4")
def test_the_briefing_is_held_to_its_own_guardrails() -> None:
    from bedside.flows.briefing import BRIEFING

    (check,) = BRIEFING.checks
    wanted = {"G1", "G2", "G5", "G6", "G7", "G8", "G10", "G11", "G12", "G13"}  # EN-G4, as it stands
    assert set(check.policy.ids) == wanted


@pytest.mark.requirement("EN-C2")
def test_the_margin_for_placeholders_is_kept_free_of_every_limit(demo_home):
    view = view_of(demo_home, frozenset({"model"}))
    step = BRIEFING.next(view)
    assert step is not None
    tight = replace(step, budget=replace(step.budget, limit=5_000))
    plain = ready(tight, view, {}).prompt
    kept = ready(tight, replace(view, opened=replace(view.opened, margin=0.03)), {}).prompt
    assert 4_850 < plain.tokens <= 5_000
    assert kept.tokens <= 4_850


def test_only_a_chain_that_leaves_this_machine_needs_the_margin():
    def margin(chain: str, **egress: Any) -> float:
        return margin_of(ModelsConfig(writer=parse_chain(chain), egress=EgressConfig(**egress)))

    assert margin("anthropic:m") == 0.03
    assert margin("anthropic:m", deidentify=False) == 0
    assert margin("extractive") == 0
