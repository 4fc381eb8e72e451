"""The flows that this installation runs: the built-in ones and those of entry points."""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import Any

from bedside.core.errors import Conflict, NotFound
from bedside.flows.briefing import BRIEFING
from bedside.flows.companion import COMPANION
from bedside.flows.copilot import COPILOT
from bedside.flows.flow import Flow
from bedside.flows.intake import INTAKE
from bedside.flows.notes import NOTES

__all__ = ["BUILT_IN", "flow_named"]

BUILT_IN: dict[str, Flow[Any]] = {
    flow.name: flow for flow in (COPILOT, BRIEFING, NOTES, INTAKE, COMPANION)
}


def flow_named(name: str) -> Flow[Any]:
    """The flow of that name; a plug-in's entry point (`bedside.flows`) is loaded when asked for.

    Raises:
        NotFound: no flow has this name.
        Conflict: an entry point gives something that is no flow.
    """
    if name in BUILT_IN:
        return BUILT_IN[name]
    found = entry_points(group="bedside.flows", name=name)
    for entry in found:
        flow = entry.load()
        if not isinstance(flow, Flow):
            raise Conflict(f"flow {name!r}", why=f"{entry.value} is no bedside.flows.flow.Flow")
        return flow
    raise NotFound("flow", name, hint=f"Built in: {', '.join(BUILT_IN)}.")
