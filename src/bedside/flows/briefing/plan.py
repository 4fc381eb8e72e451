"""What a briefing needs: the whole record, then guideline passages for what stands in it. Pure."""

from __future__ import annotations

from typing import Any

from bedside.clinical.dosing import Dosing
from bedside.clinical.interactions import Interactions
from bedside.core.turn import Got, Need, Plan, TurnRequest
from bedside.core.value import value
from bedside.flows.briefing.guidance import Guidance, guidance_of, need_of, queries_of
from bedside.flows.briefing.reading import Chart, chart_of
from bedside.flows.flow import Opened, View
from bedside.record.insights import NEEDED
from bedside.record.needs import Category, RecordFacts, RecordNeed

__all__ = ["Nothing", "chart_in", "guidance_in", "plan_turn", "second_round"]

_CATEGORIES: tuple[Category, ...] = ("demographics", *NEEDED, "insights")


@value
class Nothing:
    """A briefing keeps no state: the record holds all there is."""


def plan_turn(request: TurnRequest, opened: Opened[Nothing]) -> Plan:
    """The whole record, without fetch limits: rules need every entry, the prompt takes its best."""
    del request
    if opened.grant.patient is None:
        return Plan(intent="briefing", needs=(), source="fallback")
    need = RecordNeed(name="record", categories=_CATEGORIES, limits=False)
    return Plan(intent="briefing", needs=(need,), categories=_CATEGORIES)


def second_round(view: View[Nothing]) -> tuple[Need[Any], ...]:
    """One search for each open problem, abnormal value and medicine (BR-07)."""
    chart = chart_in(view)
    return () if chart is None else tuple(need_of(one) for one in queries_of(chart))


def chart_in(view: View[Nothing]) -> Chart | None:
    """The record as gathered; `None` where there is no patient, or the record did not answer."""
    for need, found in view.gathered.items():
        if isinstance(need, RecordNeed) and isinstance(found, Got):
            record = found.value
            assert isinstance(record, RecordFacts)
            given = (view.opened.data or {}).get("interactions")
            assert given is None or isinstance(given, Interactions)
            dosing = (view.opened.data or {}).get("dosing")
            assert dosing is None or isinstance(dosing, Dosing)
            return chart_of(record, today=view.opened.as_of, interactions=given, dosing=dosing)
    return None


def guidance_in(view: View[Nothing], chart: Chart) -> Guidance:
    """What the searches of the second round brought."""
    return guidance_of(queries_of(chart), view.gathered)  # type: ignore[arg-type]
