"""How much is remembered in a turn: intent by rule, depth by stage, windows, the router. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from bedside.context.windows import turns
from bedside.core.context import Count, Item
from bedside.core.turn import Route
from bedside.core.value import value
from bedside.flows.companion.reading import Said, is_act
from bedside.flows.companion.state import Mine
from bedside.flows.companion.tables import Stage, Tables
from bedside.models.router import Weights, route

__all__ = ["Intent", "Memory", "intent_of", "parted", "routed"]

Intent = Literal["avoid", "enforce", "light", "full"]


@value
class Memory:
    """What a turn may remember. `buffer` is in turns, `threshold` a similarity from 0 to 1."""

    intent: Intent
    depth: str
    buffer: int
    threshold: float
    cross_session: bool
    why: str
    summary: bool = False
    facts: int = 0
    hits: int = 0
    turns: int = 0
    protected: int = 0


def intent_of(said: Said, mine: Mine, stage: Stage, tables: Tables, *, consent: bool) -> Memory:
    """Decide by rule. Distress beats everything; consent is needed for any other session."""
    rules = tables.rules
    intent, depth, why = _chosen(said, mine, stage, rules["distress"])
    crossing = intent != "avoid" and depth != "none" and consent
    given = rules["depths"][depth]
    buffers = rules["buffers"]
    buffer = {"avoid": buffers["avoid"], "enforce": buffers["enforce"]}.get(intent, stage.buffer)
    budget = rules["budget"]
    most = budget["turns_with_summary" if mine.summary else "turns_without_summary"]
    bounded = intent in {"avoid", "enforce"}
    return Memory(
        intent=intent,
        depth=depth,
        buffer=buffer,
        threshold=stage.threshold,
        cross_session=crossing and (stage.cross_session or said.commitment),
        why=why,
        summary=given["summary"],
        facts=given["facts"],
        hits=given["hits"],
        turns=buffer if bounded else min(most, budget["messages"] // 2),
        protected=buffer if bounded else budget["protected_turns"],
    )


def _chosen(said: Said, mine: Mine, stage: Stage, distress: int) -> tuple[Intent, str, str]:
    if said.intensity >= distress:
        return "light", "none", "distress"
    if said.foreign:
        return "avoid", "none", "a request about memory"
    if said.commitment:
        return "full", "full", "a reference to a commitment"
    if said.skip:
        return "enforce", "minimal", "an attempt to leave the stage"
    if said.reference or mine.told == "reference":
        return "full", "full" if stage.id >= 3 else "light", "a reference to earlier talk"  # noqa: PLR2004
    depth = stage.depth
    if stage.light_after is not None and mine.since >= stage.light_after:
        depth = "light"
    return ("full" if depth == "full" else "light"), depth, f"stage {stage.id}"


def parted(
    history: Sequence[Item],
    memory: Memory,
    *,
    messages: int,
    before: int = 0,
    before_most: int = 0,
    step: int = 1,
) -> tuple[tuple[Item, ...], tuple[Item, ...]]:
    """(older, protected): whole turns, oldest first; what the first trim leaves of a conversation.

    A deed's message goes with its answer: what it did stands in the blocks of what is known. Of the `before` first
    messages, which were said before the person began, the latest `before_most` stay. What stays
    begins on a multiple of `step` turns, so that a provider's cache of it serves as many turns.
    """
    if memory.turns < 1:
        return (), ()
    history = history[max(0, min(before, len(history)) - before_most) :]
    items = list(turns(history))
    acts = {item.unit for item in items if item.role == "user" and is_act(item.body)}
    items = [item for item in items if item.body.strip() and item.unit not in acts]
    units = list(dict.fromkeys(item.unit for item in items))
    whole = {
        unit
        for unit in units
        if {item.role for item in items if item.unit == unit} >= {"user", "assistant"}
    }
    units = [unit for unit in units if unit in whole]
    first = max(0, len(units) - memory.turns)
    first = min(-(-first // step) * step, max(first, len(units) - memory.protected))
    units = units[first:]
    while len([item for item in items if item.unit in units]) > messages:
        units = units[min(step, max(1, len(units) - memory.protected)) :]
    kept = set(units[-memory.protected :]) if memory.protected else set()
    older = tuple(item for item in items if item.unit in units and item.unit not in kept)
    return older, tuple(item for item in items if item.unit in kept)


def routed(
    said: Said, tables: Tables, *, drafting: bool, mediating: bool, veil: tuple[str, ...] = ()
) -> Route:
    """Which model: declared points added up; the trace shows each factor."""
    rules = tables.rules["router"]
    return route(
        {
            "mediation": mediating,
            "intensity": said.intensity >= rules["intense"],
            "ambiguous": said.unsure or said.brief or (said.yes and said.no),
            "long": len(said.text) > rules["long_characters"],
            "draft": drafting,
        },
        weights=Weights(threshold=rules["threshold"], points=rules["points"]),
        veil=veil,
    )


def counted(items: Sequence[Item], count: Count) -> int:
    """The tokens of bodies."""
    return sum(count(item.body) for item in items)
