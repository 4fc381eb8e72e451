"""The compiler as middleware: it stands between a program and its model call, in plain Python."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from bedside.context import Block, Budget, Item, assemble, o200k

Message = dict[str, Any]
Call = Callable[[list[Message]], str]


def compiled(call: Call, *, rules: str, sources: Sequence[Item], tokens: int) -> Call:
    """Wrap a model call, so that what it sees always fits.

    The last user message is the question. Earlier messages are history, dropped oldest first;
    `sources` are dropped lowest rank first. The rules and the question always stay, or
    `BudgetTooSmall` says why they cannot.
    """

    def inner(messages: list[Message]) -> str:
        *earlier, last = messages
        blocks = [
            Block(
                "rules",
                rules,
                zone="primacy",
                stability="static",
                protected=True,
                trust="ours",
            ),
            Block(
                "history",
                [Item(m["content"], key=f"m{n}", role=m["role"]) for n, m in enumerate(earlier)],
                slot="history",
                stability="session",
                priority=30,
                keep=2,
                shrink="drop_oldest",
            ),
            Block("sources", sources, zone="middle", priority=50, shrink="drop_lowest"),
            Block("question", last["content"], zone="recency", protected=True, bookend=True),
        ]
        assembly = assemble(blocks, budget=Budget(tokens, count=o200k()))
        return call(assembly.to_openai()["messages"])

    return inner
