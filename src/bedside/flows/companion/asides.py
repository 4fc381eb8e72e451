"""Hidden steps inside a turn: the memory validator and formatter, on the small model's role. Pure.

What they write is never shown; the turn's own text says what was kept, or why it was not.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from bedside.core.context import Block, Budget, Item
from bedside.core.turn import Draft, Quote, Route
from bedside.flows.companion.kept import Kept
from bedside.flows.companion.state import Pair
from bedside.flows.companion.tables import Tables
from bedside.flows.companion.wishes import Wish, formatted, kept_of, validated
from bedside.flows.flow import Step, View

__all__ = ["JsonDecoder", "hidden", "memory_step", "route_of", "settled"]


class JsonDecoder:
    """Collects one JSON answer; nothing of it is shown."""

    def __init__(self) -> None:
        self._text = ""

    def feed(self, delta: str) -> Sequence[str | Quote]:
        """Keep what came."""
        self._text += delta
        return ()

    def finish(self) -> Draft:
        """`payload` is the JSON object, `None` where there is none."""
        start, end = self._text.find("{"), self._text.rfind("}")
        try:
            tree = json.loads(self._text[start : end + 1]) if 0 <= start < end else None
        except (ValueError, RecursionError):
            tree = None
        return Draft(text=self._text, payload=tree if isinstance(tree, dict) else None, by="model")


def route_of(declared: Mapping[str, Any], otherwise: Route) -> Route:
    """The role that a side flow declares; where the router gave it that role too, its points stand."""
    role = declared["route"]
    return otherwise if otherwise.role == role else Route(role=role, veil=otherwise.veil)


def hidden(
    name: str, tables: Tables, blocks: Sequence[Block], *, declared: str, thinking: int = 0
) -> Step[Pair]:
    """A step that nobody sees, as the side flow `declared` says."""
    row = tables.side[declared]
    task = Block(
        "task", Item(tables.prompt(row["prompt"]), key="task"), slot="system", zone="primacy",
        stability="static", protected=True, priority=100, trust="ours",
    )  # fmt: skip
    return Step(
        name=name,
        blocks=(task, *blocks),
        budget=Budget(tables.rules["budget"]["target"], output=row["output"]),
        layout="balanced",
        route=Route(role=row["route"], thinking=thinking),
        decoder=JsonDecoder,
        checks=(),
        unaided=_nothing,
        release="never",
        repairs=0,
    )


def _nothing(view: View[Pair]) -> Draft:
    del view
    return Draft(text="", by="rules")


def memory_step(view: View[Pair], tables: Tables, wish: Wish | None) -> Step[Pair] | None:
    """The next of validator and formatter for a wish that the rules would keep; `None` after both."""
    if wish is None or wish.why:
        return None
    names = [done.step.name for done in view.done if done.step]
    words = Block("words", Item(wish.quote, key="words"), protected=True, priority=90)
    if "memory_validator" not in names:
        return hidden("memory_validator", tables, (words,), declared="memory_validator")
    if "memory_formatter" not in names and not _judged(view, wish).why:
        return hidden("memory_formatter", tables, (words,), declared="memory_formatter")
    return None


def _tree(view: View[Pair], name: str) -> dict[str, Any]:
    for done in view.done:
        if done.step is not None and done.step.name == name:
            return done.draft.payload if isinstance(done.draft.payload, dict) else {}
    return {}


def _judged(view: View[Pair], wish: Wish) -> Wish:
    return validated(_tree(view, "memory_validator"), wish)


def settled(view: View[Pair], tables: Tables, wish: Wish) -> tuple[Wish, Kept | None]:
    """The wish after the hidden steps, and what is kept of it; without a model as the rules have it."""
    made = wish if wish.why else _judged(view, wish)
    if made.why:
        return made, None
    made = formatted(_tree(view, "memory_formatter"), made, tables)
    return made, kept_of(made, source=str(view.opened.turn))
