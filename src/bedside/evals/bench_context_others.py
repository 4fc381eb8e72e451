"""The same inputs through other libraries' nearest means, judged by the same tokenizer.

None of the three promises a bound over a whole prompt, so this counts how often each goes over:

- LangChain: `trim_messages` over one message for each item, newest kept, rules and question kept
  at the ends ("include_system"), our tokenizer as its counter.
- LlamaIndex: `PromptHelper.repack` packs the items into chunks for one prompt template; the first
  chunk is what one call sees, formatted with the template.
- Haystack: `PromptBuilder` renders every item, then the text is cut with `DocumentSplitter` by
  words to what the limit allows at 0.75 words a token, since Haystack counts no tokens itself.

What none of them is asked for: order by priority, protection, escaping, a ledger.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from importlib import import_module, metadata
from time import perf_counter
from typing import Any

from bedside.context import assemble
from bedside.core.errors import BudgetTooSmall
from bedside.evals.bench_context import Case, bare_counter, random_case

__all__ = ["others"]

_FRAMING = 4
_WORDS_PER_TOKEN = 0.75
Attempt = Callable[[Case, Callable[[str], int]], "tuple[int, bool] | None"]


def others(*, n: int, seed: int) -> dict[str, Any]:
    """Run each library that is installed over the same `n` random inputs.

    Returns:
        For each, and for Bedside: version, n, `fits` (inputs that need no trimming are counted in
        all), overruns, inputs where protected text was lost, median and p95 ms, and errors by
        name; `{"skipped": why}` where it is not installed.
    """
    makers: dict[str, tuple[str, Callable[[], Attempt]]] = {
        "bedside": ("bedside", _bedside),
        "langchain": ("langchain-core", _langchain),
        "llama_index": ("llama-index-core", _llama_index),
        "haystack": ("haystack-ai", _haystack),
    }
    made: dict[str, Any] = {}
    for name, (package, maker) in makers.items():
        try:
            attempt = maker()
        except ImportError as error:
            made[name] = {"skipped": f"{error.name} is not installed"}
            continue
        made[name] = {"version": metadata.version(package), **_measure(attempt, n=n, seed=seed)}
    return made


def _measure(attempt: Attempt, *, n: int, seed: int) -> dict[str, Any]:
    count = bare_counter()
    overruns = lost = refused = 0
    worst = 0.0
    errors: dict[str, int] = {}
    times: list[float] = []
    for number in range(n):
        case = random_case(random.Random(seed * 1_000_003 + number), hostile=False)
        began = perf_counter()
        try:
            result = attempt(case, count)
        except (ValueError, TypeError, KeyError, RuntimeError) as error:
            errors[type(error).__name__] = errors.get(type(error).__name__, 0) + 1
            continue
        times.append((perf_counter() - began) * 1_000)
        if result is None:
            refused += 1
            continue
        total, kept = result
        overruns += total > case.budget.limit
        worst = max(worst, total / case.budget.limit)
        lost += not kept
    times.sort()
    return {
        "n": n,
        "overruns": overruns,
        "worst_share_of_the_limit": round(worst, 2),
        "protected_text_lost": lost,
        "refused": refused,
        "errors": errors,
        "p50_ms": round(times[len(times) // 2], 2) if times else None,
        "p95_ms": round(times[int(len(times) * 0.95)], 2) if times else None,
    }


def _texts(case: Case) -> tuple[list[str], list[str]]:
    """Bodies of protected items and of all others, in declared order."""
    held = [item.body for block in case.blocks if block.protected for item in block.items]
    rest = [item.body for block in case.blocks if not block.protected for item in block.items]
    return held, rest


def _all_there(held: list[str], text: str) -> bool:
    return all(" ".join(body.split()) in " ".join(text.split()) for body in held)


def _bedside() -> Attempt:
    def attempt(case: Case, count: Callable[[str], int]) -> tuple[int, bool] | None:
        try:
            made = assemble(case.blocks, budget=case.budget, layout=case.layout)
        except BudgetTooSmall:
            return None
        texts = [str(part) for message in made.messages for part in message.parts]
        dropped = {(block, key) for block, key, _, _ in made.dropped}
        held = [
            (block.name, item.key)
            for block in case.blocks
            if block.protected and "plus_n_more" not in block.shrink
            for item in block.items
        ]
        total = case.budget.overhead + sum(count(text) + _FRAMING for text in texts)
        total += case.budget.loop
        return total, dropped.isdisjoint(held)

    return attempt


def _langchain() -> Attempt:
    messages: Any = import_module("langchain_core.messages")

    def attempt(case: Case, count: Callable[[str], int]) -> tuple[int, bool] | None:
        held, rest = _texts(case)

        def counter(given: list[Any]) -> int:
            return sum(count(str(message.content)) + _FRAMING for message in given)

        made = messages.trim_messages(
            [
                messages.SystemMessage("\n".join(held) or "."),
                *(messages.HumanMessage(body) for body in rest),
            ],
            max_tokens=case.budget.limit - case.budget.overhead - case.budget.loop,
            token_counter=counter,
            strategy="last",
            include_system=True,
            allow_partial=True,
        )
        text = "\n".join(str(message.content) for message in made)
        return case.budget.overhead + case.budget.loop + counter(made), _all_there(held, text)

    return attempt


def _llama_index() -> Attempt:
    helper: Any = import_module("llama_index.core.indices.prompt_helper").PromptHelper
    template: Any = import_module("llama_index.core.prompts").PromptTemplate

    def attempt(case: Case, count: Callable[[str], int]) -> tuple[int, bool] | None:
        held, rest = _texts(case)
        room = case.budget.limit - case.budget.overhead - case.budget.loop
        asked = template("\n".join(held).replace("{", "(").replace("}", ")") + "\n{context_str}\n")
        pack = helper(
            context_window=room,
            num_output=0,
            chunk_overlap_ratio=0.0,
            tokenizer=lambda text: [0] * count(text),
        )
        try:
            chunks = pack.repack(asked, [body for body in rest if body.strip()] or ["."])
        except ValueError:
            # Its own refusal: the template alone exceeds the context window.
            return None
        text = asked.format(context_str=chunks[0])
        total = case.budget.overhead + case.budget.loop + count(text) + _FRAMING
        return total, _all_there([body.replace("{", "(").replace("}", ")") for body in held], text)

    return attempt


def _haystack() -> Attempt:
    builder: Any = import_module("haystack.components.builders").PromptBuilder
    splitter: Any = import_module("haystack.components.preprocessors").DocumentSplitter
    document: Any = import_module("haystack").Document

    def attempt(case: Case, count: Callable[[str], int]) -> tuple[int, bool] | None:
        held, rest = _texts(case)
        room = case.budget.limit - case.budget.overhead - case.budget.loop
        build = builder(
            template="{% for text in held %}{{ text }}\n{% endfor %}"
            "{% for text in rest %}{{ text }}\n{% endfor %}",
            required_variables=["held", "rest"],
        )
        prompt = build.run(held=held, rest=rest)["prompt"]
        cut = splitter(split_by="word", split_length=max(1, int(room * _WORDS_PER_TOKEN)))
        cut.warm_up()
        pieces = cut.run(documents=[document(content=prompt)])["documents"]
        text = str(pieces[0].content) if pieces else ""
        total = case.budget.overhead + case.budget.loop + count(text) + _FRAMING
        return total, _all_there(held, text)

    return attempt
