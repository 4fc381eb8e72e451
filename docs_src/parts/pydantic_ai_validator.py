"""The checker as a pydantic-ai output validator with retry."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic_ai import Agent, ModelRetry, RunContext

from bedside.grounding import SourceText, check


def grounded_agent(model: object, *, sources: Sequence[SourceText], retries: int = 1) -> Agent:
    """An agent whose answers hold: the model is asked again first, then sentences are removed."""
    shown = "\n\n".join(f"[{n}] {one.text}" for n, one in enumerate(sources, start=1))
    agent = Agent(
        model,
        instructions=f"Answer from these sources and cite them as [n].\n\n{shown}",
        retries=retries,
    )

    @agent.output_validator
    def holds(context: RunContext[None], answer: str) -> str:
        report = check(answer, sources=sources)
        if report.ok:
            return report.text
        if context.retry >= context.max_retries:
            return report.text  # what had no support is not in it
        lines = "\n".join(f"- {one.text} ({one.why})" for one in report.unsupported)
        raise ModelRetry(f"These sentences have no support in the sources:\n{lines}")

    return agent
