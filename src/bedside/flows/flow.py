"""What a flow is: pure functions over one pipeline.

A flow folder holds no await, clock or store (import-linter keeps it so). `flows.turn` calls these
functions in the order of the turn: plan, gather, more, answer or steps, compose, changes, jobs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from datetime import date, datetime
from typing import Any, Generic, Literal, TypeVar

from bedside.core.access import Grant
from bedside.core.context import Assembly, Block, Budget, Count, Item, Layout, Numbering
from bedside.core.ids import SessionId, TurnId
from bedside.core.turn import (
    Change,
    Check,
    Decoder,
    Draft,
    Ended,
    Gathered,
    Job,
    Need,
    Plan,
    Route,
    Tool,
    ToolUse,
    TurnRequest,
    Verdict,
)
from bedside.core.value import value

__all__ = [
    "Done", "Flow", "Opened", "Release", "Step", "View", "last_step", "no_changes", "no_jobs", "no_more",
    "no_rule", "same_state",
]  # fmt: skip

S = TypeVar("S")
Release = Literal["plain", "sentence", "whole", "never"]


@value
class Opened(Generic[S]):
    """A turn that has begun: its row, lease, grant and everything pinned for it.

    `history` is oldest first, one item per message with its role, `[n]` markers stripped.
    `numbering` is the session's, append-only. `as_of` was pinned when the session began: ages in
    session blocks count from it, so that midnight does not change a prefix. `pinned` holds the
    architecture, editions and settings of the session; `can` the abilities of the routed model
    ("model", "tools", "json", "images"); empty when none is configured. `data` is hot data by
    name (catalogue rows), read by epoch at open. `minimum` is the provider's smallest cacheable
    prefix, in tokens. `windows` are the context windows of the models that the roles are routed to,
    in tokens; a role without a model has none. `margin` is the share of every limit that is kept
    free, because placeholders for identifiers may be longer than what they stand for.
    """

    turn: TurnId
    session: SessionId
    grant: Grant
    state: S
    revision: int
    history: tuple[Item, ...]
    numbering: Numbering
    now: datetime
    as_of: date
    count: Count
    pinned: Mapping[str, str]
    can: frozenset[str] = frozenset()
    data: Mapping[str, Any] | None = None
    minimum: int = 0
    windows: Mapping[str, int] = field(default_factory=dict)
    margin: float = 0.0


@value
class View(Generic[S]):
    """All that a flow may look at. `done` holds the checked results of earlier steps.

    `once` is where a flow's pure functions put what they would work out again from the same
    values; it goes with the turn, and so does what it holds of a patient.
    """

    request: TurnRequest
    opened: Opened[S]
    plan: Plan
    gathered: Gathered
    done: tuple[Done[S], ...] = ()
    once: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)


@value
class Step(Generic[S]):
    """One model call (or `calls` of them with tools), its context, checks and release.

    `unaided` is what stands when no model can: the flow's own pure writer. `release` says in
    which units text is shown after its checks. `repairs` is the most model calls that failed
    checks may cost. With `calls` 0 no model is asked: `unaided` writes the step. `uses` is the most
    tool calls that are answered, parallel ones counted singly (`None`: no limit but `calls`);
    `spent` is what the model is told where it asks for one more.
    """

    name: str
    blocks: tuple[Block, ...]
    budget: Budget
    layout: Layout
    route: Route
    decoder: Callable[[], Decoder]
    checks: tuple[Check, ...]
    unaided: Callable[[View[S]], Draft]
    release: Release = "sentence"
    tools: tuple[Tool, ...] = ()
    calls: int = 1
    uses: int | None = None
    spent: str = "No tool call is left. Write the answer now."
    schema: object | None = None
    repairs: int = 1


@value
class Done(Generic[S]):
    """A finished step. `step` and `prompt` are `None` where rules took the whole question.

    `lost` names what a tool looked for and a source did not give, as "name: why"; `used` are all
    tool calls in order, those refused too. `own_limit` is the limit that the flow declares, where
    the model's window left less of it.
    """

    step: Step[S] | None
    draft: Draft
    verdict: Verdict
    prompt: Assembly | None
    calls: tuple[Ended, ...] = ()
    why_unaided: str = ""
    lost: tuple[str, ...] = ()
    used: tuple[ToolUse, ...] = ()
    own_limit: int | None = None


def no_more(view: View[Any]) -> tuple[Need[Any], ...]:
    """No second round of needs."""
    del view
    return ()


def no_rule(view: View[Any]) -> Draft | None:
    """No rule takes the whole question."""
    del view


def last_step(view: View[S]) -> Done[S]:
    """What the last step gave is the turn's answer."""
    return view.done[-1]


def no_changes(view: View[Any]) -> tuple[Change, ...]:
    """Nothing of the state changes."""
    del view
    return ()


def same_state(state: S, change: Change) -> S:
    """The state of a flow that keeps none."""
    del change
    return state


def no_jobs(view: View[Any]) -> tuple[Job, ...]:
    """Nothing is left to do after the answer."""
    del view
    return ()


@value
class Flow(Generic[S]):
    """One application, declared. Every function is pure.

    `more` names the second and last round of needs. `answer` takes the whole question by rule, or
    returns `None`. `next` sees the checked results of earlier steps and gives the next step, or
    `None`. `reduce` runs inside the commit, on the state as it is then. `checks` are those of a
    drafted answer by rule.

    `dump` and `load` turn a state into JSON and back. A state with a private part (`private`) is the
    tree `{"shared": ..., "mine": ...}`, kept as two rows: one for all, one per person, and the other
    person's row is never loaded; `load` then gets `None` for a row that was never written. `admits`
    says whether an actor takes part in a conversation that somebody else began; without it a
    conversation is its first actor's alone.

    `observers` are flows over the same state, by the kind of the job that runs them after the
    answer; each of their steps has `release="never"`. `pin` chooses what a session keeps from its
    first turn on, given (session, tenant, hot data, live settings): the architecture, say. `chain`
    gives the flows to try in turn, all over one state; without it the flow stands alone.
    """

    name: str
    version: str
    initial: Callable[[], S]
    plan: Callable[[TurnRequest, Opened[S]], Plan]
    more: Callable[[View[S]], tuple[Need[Any], ...]] = no_more
    answer: Callable[[View[S]], Draft | None] = no_rule
    next: Callable[[View[S]], Step[S] | None]
    compose: Callable[[View[S]], Done[S]] = last_step
    changes: Callable[[View[S]], tuple[Change, ...]] = no_changes
    reduce: Callable[[S, Change], S] = same_state
    jobs: Callable[[View[S]], tuple[Job, ...]] = no_jobs
    checks: tuple[Check, ...] = ()
    dump: Callable[[S], object] | None = None
    load: Callable[[Any], S] | None = None
    private: bool = False
    admits: Callable[[S, str], bool] | None = None
    observers: Mapping[str, Flow[S]] | None = None
    pin: Callable[[str, str, Mapping[str, Any], Mapping[str, str]], Mapping[str, str]] | None = None
    chain: Callable[[TurnRequest, Opened[S]], Sequence[Flow[S]]] | None = None
