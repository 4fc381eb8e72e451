"""A step made ready: its budget in the window of the model that it asks, and its prompt. Pure."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Generic, TypeVar

from bedside.context import assemble, narrowed
from bedside.core.context import Assembly, Count, Numbering
from bedside.core.errors import BudgetTooSmall
from bedside.core.turn import Tool
from bedside.core.value import value
from bedside.flows.flow import Step, View
from bedside.models.schema import in_words

__all__ = ["Ready", "beside", "ready"]

S = TypeVar("S")
_FRAME = 16
"""Tokens of the names and brackets around one schema on the wire."""


@value
class Ready(Generic[S]):
    """A step with the budget that holds for it, and its prompt.

    `own_limit` is the limit that the flow declares, where the model's window left less. `why` says
    why no model can be asked, "" where one can: the prompt is then that of the flow's own limit.
    """

    step: Step[S]
    prompt: Assembly
    own_limit: int | None = None
    why: str = ""


def beside(count: Count, *, schema: object | None = None, tools: Sequence[Tool] = ()) -> int:
    """Tokens that go with every call beside its messages: its tools, and the schema of the answer."""
    schemas = [
        json.dumps([tool.name, tool.description, dict(tool.schema)], ensure_ascii=False)
        for tool in tools
    ]
    if schema is not None:
        schemas.append(in_words(schema))
    return sum(count(text) + _FRAME for text in schemas)


def _inside(step: Step[S], view: View[S]) -> Step[S]:
    """The step with its budget in the window of the model that its role is routed to."""
    if step.calls < 1:
        return step
    window = view.opened.windows.get(step.route.role)
    extra = beside(view.opened.count, schema=step.schema, tools=step.tools)
    budget = narrowed(step.budget, window=window, beside=extra)
    return replace(step, budget=replace(budget, margin=max(budget.margin, view.opened.margin)))


def ready(step: Step[S], view: View[S], numbering: Numbering) -> Ready[S]:
    """Compile the step's prompt for the model that it will be sent to.

    Raises:
        BudgetTooSmall: what is protected does not fit the flow's own limit.
    """
    inside = _inside(step, view)
    shorter = inside.budget.limit < step.budget.limit
    try:
        prompt = _compile(inside, view, numbering)
    except BudgetTooSmall as error:
        if not shorter:
            raise
        window = view.opened.windows[step.route.role]
        why = (
            f"its window of {window:,} tokens leaves {error.available:,} for what must stand in the "
            f"prompt, which takes {error.needed:,}"
        )
        return Ready(step=step, prompt=_compile(step, view, numbering), why=why)
    own = step.budget.limit if shorter else None
    return Ready(step=inside, prompt=prompt, own_limit=own)


def _compile(step: Step[S], view: View[S], numbering: Numbering) -> Assembly:
    return assemble(
        step.blocks,
        budget=step.budget,
        layout=step.layout,
        numbering=numbering,
        count=view.opened.count,
        minimum=view.opened.minimum,
    )
