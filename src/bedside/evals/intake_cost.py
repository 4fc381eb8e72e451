"""What the cache saves: one prefix over a long case, and the checklist below against above it (IN-06).

The same person talks to the same scripted model twice, once with the checklist where it belongs,
once with it above the cache boundary. Each call's tokens are priced as a provider with a cache
break after the stable prefix would bill them; prices are the data of `bedside.models`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

from bedside.context import o200k
from bedside.core.context import Assembly, Block
from bedside.core.turn import TurnRequest
from bedside.evals.intake_model import Coordinator
from bedside.evals.intake_persona import Persona, persona
from bedside.evals.intake_seat import Seat
from bedside.evals.intake_simulate import converse
from bedside.flows.flow import Flow, Opened, Step, View
from bedside.flows.intake.case import Case
from bedside.flows.intake.flow import INTAKE
from bedside.models.config import Link
from bedside.models.fakes import FakeGateway
from bedside.models.prices import Price, bundled_prices

__all__ = ["MODELS", "above", "measure_cost", "replay_cost"]

MODELS = (
    ("anthropic", "claude-haiku-4-5"),
    ("anthropic", "claude-sonnet-4-6"),
    ("openai", "gpt-6-luna"),
)
"""Models whose four prices are known and that the figure is stated for."""
MINIMUM = {
    "anthropic:claude-haiku-4-5": 4_096,
    "anthropic:claude-sonnet-4-6": 1_024,
    "openai:gpt-6-luna": 1_024,
}
"""The least prefix that each caches, in tokens."""
OUTPUT = 150
"""Tokens written a call, the same for both."""
TURNS = 30


def above(flow: Flow[Case] = INTAKE) -> Flow[Case]:
    """The flow with the checklist above the cache boundary: the variant that is priced against."""
    plain = flow.chain
    if plain is None:
        raise AssertionError("intake has a chain")

    def chain(request: TurnRequest, opened: Opened[Case]) -> Sequence[Flow[Case]]:
        return [_moved(one) for one in plain(request, opened)]

    return replace(flow, chain=chain)


def _moved(flow: Flow[Case]) -> Flow[Case]:
    ask: Callable[[View[Case]], Step[Case] | None] = flow.next

    def step(view: View[Case]) -> Step[Case] | None:
        found = ask(view)
        if found is None or not found.blocks:
            return found
        return replace(found, blocks=tuple(_raised(one) for one in found.blocks))

    return replace(flow, next=step)


def _raised(block: Block) -> Block:
    if block.name != "checklist":
        return block
    return Block(
        block.name,
        block.items,
        slot="system",
        zone="primacy",
        stability="session",
        priority=block.priority,
        protected=block.protected,
        cap=block.cap,
        shrink=block.shrink,
        trust=block.trust,
    )


def _talker(name: str, procedure: str, *, seed: int) -> Persona:
    return persona(name, "sop", procedure, seed=seed, plain=True, language="en")


def _prompts(one: Persona, flow: Flow[Case], count: Any) -> list[Assembly]:
    """The prompts of one whole case of up to 30 turns, as a model was sent them."""
    gateway = FakeGateway(Coordinator(one.seed))
    seat = Seat(one.id, gateway=gateway, flow=flow, count=count)
    converse(one, seat, most=TURNS, stop_when_done=False)
    return [request.prompt for request in gateway.requests]


def replay_cost(prompts: Sequence[Assembly], price: Price, *, minimum: int) -> Decimal | None:
    """US dollars of these calls in a row; the prefix is read where the call before had the same."""
    total, before = Decimal(0), ""
    for prompt in prompts:
        prefix = _prefix(prompt)
        cached = prefix if prefix >= minimum else 0
        same = prompt.prefix_hash == before
        usage = {
            "input": prompt.tokens,
            "output": OUTPUT,
            "cache_read": cached if same else 0,
            "cache_write": 0 if same else cached,
        }
        cost = price.cost(usage)
        if cost is None:
            return None
        total, before = total + cost, prompt.prefix_hash
    return total


def _prefix(prompt: Assembly) -> int:
    return prompt.cacheable


def measure_cost(*, seed: int) -> dict[str, Any]:
    """Prefix hashes and replayed cost over one case of each procedure, and two of one."""
    count = o200k()
    procedures = ("TKR", "THR", "ACL", "CABG", "IVF", "CATARACT")
    per_sop: dict[str, Any] = {}
    below_all: list[list[Assembly]] = []
    above_all: list[list[Assembly]] = []
    raised = above()
    for number, name in enumerate(procedures):
        cases = [
            _talker(f"cost-{name}-{turn}", name, seed=seed + 31 * number + turn)
            for turn in range(2)
        ]
        runs = [_prompts(one, INTAKE, count) for one in cases]
        named = [[one for one in run if _sop(one) == name] for run in runs]
        hashes = {one.prefix_hash for run in named for one in run}
        per_sop[name] = {
            "cases": len(runs),
            "calls": sum(map(len, named)),
            "prefix_hashes": len(hashes),
            "prefix_tokens": max((one.cacheable for run in named for one in run), default=None),
        }
        below_all += runs
        above_all += [_prompts(one, raised, count) for one in cases]
    return {
        "seed": seed,
        "cases": len(below_all),
        "calls": {"below": sum(map(len, below_all)), "above": sum(map(len, above_all))},
        "by_sop": per_sop,
        "prefix_constant": all(one["prefix_hashes"] == 1 for one in per_sop.values()),
        "tokens_per_call": {
            "below": _mean([one.tokens for run in below_all for one in run]),
            "above": _mean([one.tokens for run in above_all for one in run]),
        },
        "prices_as_of": bundled_prices().as_of.isoformat(),
        "usd": {f"{p}:{m}": _priced(p, m, below_all, above_all) for p, m in MODELS},
    }


def _sop(prompt: Assembly) -> str:
    """Which SOP's definition stands in the prefix."""
    for message in prompt.messages:
        for part in message.parts:
            if isinstance(part, str) and "\nSOP " in part:
                return part.split("\nSOP ", 1)[1].split(",", 1)[0].strip()
    return ""


def _priced(
    provider: str,
    model: str,
    below: Sequence[Sequence[Assembly]],
    over: Sequence[Sequence[Assembly]],
) -> Mapping[str, Any]:
    price = bundled_prices().of(Link(provider=provider, model=model))
    if price is None:
        return {"below": None, "above": None, "saved": None}
    minimum = MINIMUM[f"{provider}:{model}"]
    costs = [[replay_cost(run, price, minimum=minimum) for run in runs] for runs in (below, over)]
    if any(one is None for run in costs for one in run):
        return {"below": None, "above": None, "saved": None}
    # A case's calls differ in number where the model's words do: the figure is a call's.
    lengths = [sum(map(len, runs)) for runs in (below, over)]
    sums = [sum((one or Decimal(0) for one in run), Decimal(0)) for run in costs]
    each = [total / length for total, length in zip(sums, lengths, strict=True)]
    return {
        "below": float(round(each[0], 8)),
        "above": float(round(each[1], 8)),
        "saved": float(round(1 - each[0] / each[1], 4)),
        "case_below": float(round(sums[0] / len(below), 6)),
        "case_above": float(round(sums[1] / len(over), 6)),
    }


def _mean(values: Sequence[int]) -> float | None:
    return round(sum(values) / len(values), 1) if values else None
