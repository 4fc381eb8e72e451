"""The compiler as LangChain middleware (`langchain` 1.x)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage

from bedside.context import Block, Budget, Item, assemble, o200k

_ROLES = {"user": HumanMessage, "assistant": AIMessage}


class CompiledContext(AgentMiddleware):
    """Every model call of the agent sees a compiled context of at most `tokens` tokens.

    It fits agents without tools: a tool's messages must stay as the model wrote them.
    """

    def __init__(self, *, rules: str, sources: Sequence[Item], tokens: int) -> None:
        super().__init__()
        self.rules, self.sources, self.tokens = rules, tuple(sources), tokens

    def wrap_model_call(
        self, request: ModelRequest, handler: Callable[[ModelRequest], ModelResponse]
    ) -> Any:
        """Compile, then call."""
        *earlier, last = request.messages
        blocks = [
            Block(
                "rules",
                self.rules,
                zone="primacy",
                stability="static",
                protected=True,
                trust="ours",
            ),
            Block(
                "history",
                [
                    Item(m.text, key=f"m{n}", role="user" if m.type == "human" else "assistant")
                    for n, m in enumerate(earlier)
                ],
                slot="history",
                stability="session",
                priority=30,
                keep=2,
                shrink="drop_oldest",
            ),
            Block("sources", self.sources, zone="middle", priority=50, shrink="drop_lowest"),
            Block("question", last.text, zone="recency", protected=True, bookend=True),
        ]
        assembly = assemble(blocks, budget=Budget(self.tokens, count=o200k()))
        messages = assembly.to_openai()["messages"]
        system = "".join(m["content"] for m in messages if m["role"] == "system")
        rest = [_ROLES[m["role"]](m["content"]) for m in messages if m["role"] != "system"]
        return handler(request.override(messages=rest, system_message=SystemMessage(system)))
