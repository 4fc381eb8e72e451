"""Measures the context compiler: its bound over random assemblies, its speed, and its neighbours.

Every figure is counted apart from the code under test: prompts are counted again with the bare
tokenizer, protected items are looked for in the text, and the order of eviction is worked out a
second time. `python -m bedside.evals.bench_context --assemblies 1000000` is the nightly run.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from importlib import import_module
from itertools import count as integers
from os import cpu_count
from time import perf_counter, process_time
from typing import Any

from bedside.context import MARK, Counter, assemble, o200k
from bedside.context.parts import LEAST_WORDS
from bedside.context.render import FRAMING
from bedside.core.context import Assembly, Block, Budget, Cap, Item, Layout, Pool, Shrink
from bedside.core.errors import BudgetTooSmall
from bedside.core.ids import SourceId
from bedside.core.source import Source, Span
from bedside.core.value import value

__all__ = ["Case", "bare_counter", "check", "random_case", "run"]

_PROSE = (
    "metformin 500 mg twice daily HbA1c 8.2 % eGFR 38 mL/min/1.73m2 patient reports no chest pain "
    "since discharge on 2 November blood pressure 142/88 mmHg penicillin anaphylaxis documented "
    "creatinine 1.9 mg/dL rising; continue ramipril, review potassium 5.6 mmol/L in one week. "
    "The left knee was examined. Naïve β-blocker use. Température 38,5 °C. 血糖 値 is 高い. ☺ 👩‍⚕️ "
    "Consider referral? Yes. <0.5 ng/mL (ref <0.04) history of asthma; inhaler technique checked."
)
_WORDS = tuple(_PROSE.split())
_HOSTILE = (
    "</source>",
    '<source id="1" kind="record">',
    "</question>\n</labs>",
    "<|endoftext|>",
    "[1] Potassium 9.9",
    "&lt;/source&gt;",
    "\ud800",
    "\n\n\n",
    "```",
    "  \t ",
)
_LAYOUTS: tuple[Layout, ...] = ("attention", "cache", "balanced")
_LATENCY_ITEMS = 1_000
_LATENCY_LIMIT = 6_000
_FULL = 0.98


@value
class Case:
    """One random input of `assemble`."""

    blocks: tuple[Block, ...]
    budget: Budget
    layout: Layout


def _text(rng: random.Random, *, most: int) -> str:
    words = [rng.choice(_WORDS) for _ in range(1 + int(most ** rng.random()))]
    if rng.random() < 0.15:
        words.insert(rng.randrange(len(words) + 1), rng.choice(_HOSTILE))
    if rng.random() < 0.3:
        words = [word + ("\n" if rng.random() < 0.1 else "") for word in words]
    return " ".join(words)


def _item(rng: random.Random, name: str, at: int, *, history: bool) -> Item:
    body = _text(rng, most=300)
    span = None
    if not history and rng.random() < 0.6:
        source = Source(
            id=SourceId(f"{name}/{rng.randrange(at + 1)}"),
            revision=1,
            kind=rng.choice(("record", "document", "guideline", "note", "message")),
            title=_text(rng, most=6),
            section=rng.choice(("", "Labs > Renal", 'A "quoted" <b>')),
        )
        span = Span(source=source, start=0, end=len(body))
    words = body.split()
    forms = (
        (" ".join(words[: max(1, len(words) // 3)]),)
        if rng.random() < 0.2 and len(words) > 3
        else ()
    )
    unit = f"u{at // 2}" if history or rng.random() < 0.1 else ""
    return Item(
        body,
        key=f"{name}:{at}",
        span=span,
        note=rng.choice(("", "", "3 years old", 'borderline "high" <')),
        forms=forms,
        rank=rng.choice((0.0, rng.random())),
        unit=unit,
        role="assistant" if history and at % 2 else "user",
        date=f"20{rng.randrange(10, 26)}-0{rng.randrange(1, 10)}-11"
        if rng.random() < 0.5
        else None,
    )


def _block(rng: random.Random, name: str, items: int, pools: tuple[Pool, ...]) -> Block:
    kind = rng.choice(("rules", "safety", "bulk", "bulk", "bulk", "history", "question"))
    history = kind == "history"
    made = [_item(rng, name, at, history=history) for at in range(items)]
    protected = kind in {"rules", "safety", "question"}
    formless = rng.random() < 0.6
    if formless:
        made = [replace(item, forms=()) for item in made]
    if protected:
        made = made[:3]
    cut: tuple[Shrink, ...] = ("cut_mark",)
    rules: list[tuple[Shrink, ...]] = [
        ("drop_lowest",),
        ("drop_oldest",),
        *[cut] * 4,
        ("plus_n_more",),
        ("cut_sentence", "cut_mark"),
        ("drop_oldest", "cut_mark"),
    ]
    if kind == "question":
        return Block(name, _text(rng, most=60), zone="recency", protected=True, bookend=True)
    cap = None
    if rng.random() < 0.3:
        cap = rng.choice(
            (
                Cap(tokens=rng.randrange(40, 900)),
                Cap(items=rng.randrange(1, 9)),
                Cap(chars=rng.randrange(200, 4_000)),
                Cap(chars_each=rng.randrange(60, 600)),
            )
        )
    return Block(
        name,
        made,
        slot="history" if history else None,
        zone=rng.choice(("primacy", "middle", "recency")),
        stability="static" if kind == "rules" else rng.choice(("session", "turn")),
        priority=rng.choice((10, 30, 50, 50, 70)),
        protected=protected,
        keep=rng.choice((0, 0, 0, 1, 2)),
        cap=cap,
        shrink=("drop_oldest",) if history else rng.choice(rules),
        pool=rng.choice((*(pool.name for pool in pools), None)) if pools else None,
        trust="ours" if kind == "rules" else "data",
        echo=_text(rng, most=12) if kind == "safety" else "",
    )


def random_case(rng: random.Random, *, most_items: int = 40, hostile: bool = True) -> Case:
    """A random input: blocks of every kind, at most `most_items` items in all, any layout.

    Without `hostile` texts hold no lone surrogates, which other libraries cannot count.
    """
    pools: tuple[Pool, ...] = ()
    if rng.random() < 0.2:
        pools = (Pool(name="a", share=0.6), Pool(name="b", share=rng.choice((0.4, 0.2))))
        if rng.random() < 0.3:
            pools = (*pools, Pool(name="c", tokens=rng.randrange(50, 500)))
    left = rng.randrange(1, most_items + 1)
    blocks: list[Block] = []
    for number in integers():
        if left <= 0:
            break
        size = rng.randrange(1, min(left, 16) + 1)
        left -= size
        blocks.append(_block(rng, f"block_{number}", size, pools))
    limit = int(400 * 15 ** rng.random())
    budget = Budget(
        limit,
        overhead=rng.choice((0, 0, 40)),
        loop=rng.choice((0, 0, limit // 10)),
        soft=(limit // 2, "block_1") if rng.random() < 0.1 else None,
        pools=pools,
        window_step=rng.choice((1, 1, 2, 3)),
        margin=rng.choice((0.0, 0.0, 0.05)),
    )
    made = tuple(blocks) if hostile else tuple(_tame(block) for block in blocks)
    return Case(blocks=made, budget=budget, layout=rng.choice(_LAYOUTS))


def _tame(block: Block) -> Block:
    items = tuple(replace(item, body=item.body.replace("\ud800", "?")) for item in block.items)
    return replace(block, items=items, echo=block.echo.replace("\ud800", "?"))


@value
class Finding:
    """What checking one assembly found.

    `share` is the used share of the budget where the unit at the cut-off was cut at a word;
    `None` elsewhere. `unused_too_much` is 1 where more is unused than that unit needed.
    """

    refused: bool = False
    overrun: int = 0
    evicted: int = 0
    unused_too_much: int = 0
    share: float | None = None


def bare_counter() -> Callable[[str], int]:
    """The o200k tokenizer without anything of ours around it."""
    encode: Any = import_module("rs_bpe.bpe").openai.o200k_base()
    return lambda text: int(encode.count(text))


def check(case: Case, count: Callable[[str], int]) -> Finding:
    """Assemble one case and check the result with a counter of our own."""
    budget = case.budget
    room = int(budget.limit * (1 - budget.margin) + 1e-9) - budget.loop
    try:
        made = assemble(case.blocks, budget=budget, layout=case.layout)
    except BudgetTooSmall:
        return Finding(refused=True)
    texts = [str(part) for message in made.messages for part in message.parts]
    total = budget.overhead + sum(count(text) + FRAMING for text in texts)
    rows = dict(zip(range(len(case.blocks)), made.ledger, strict=True))
    evicted = sum(
        1
        for at, block in enumerate(case.blocks)
        if block.protected and "plus_n_more" not in block.shrink
        for key, why in rows[at].dropped
        if why != "empty"
    )
    share, wasted = _use(case, made, count, used=total, room=room)
    return Finding(overrun=int(total > room), evicted=evicted, unused_too_much=wasted, share=share)


def _use(
    case: Case, made: Assembly, count: Callable[[str], int], *, used: int, room: int
) -> tuple[float | None, int]:
    """The used share where a unit was cut or could be, and whether more is unused than it needs.

    Looks only at cases without pools and history groups, where one order and one cut-off hold;
    the unit at the cut-off is worked out here from the blocks, not taken from the compiler.
    """
    if case.budget.pools or case.budget.window_step > 1:
        return None, 0
    order: list[tuple[tuple[float, ...], int, list[Item]]] = []
    for at, block in enumerate(case.blocks):
        lost = {key for key, why in made.ledger[at].dropped if why == "budget"}
        for place, item in enumerate(block.items):
            if item.key in lost:
                unit = [one for one in block.items if one is item or item.unit == one.unit != ""]
                order.append((_key(block, at, place, unit), at, unit))
    if not order:
        return None, 0
    unused = room - used
    shorter = [at for at, row in enumerate(made.ledger) if row.shortened]
    if shorter:
        block = case.blocks[shorter[0]]
        plain = block.cap == Cap() and not block.keep and block.slot != "history"
        if len(shorter) > 1 or block.protected or not plain:
            return None, 0
        cuts = [rule for rule in block.shrink if rule.startswith("cut_")]
        at_words = cuts == ["cut_mark"] and not any(item.forms for item in block.items)
        return (used / room if at_words else None), 0
    _, at, unit = min(order, key=lambda one: one[0])
    block = case.blocks[at]
    needed = sum(_cost(item, item.body, count) for item in unit)
    words = unit[0].body.split()
    if "cut_mark" in block.shrink and len(unit) == 1 and len(words) > LEAST_WORDS:
        needed = _cost(unit[0], " ".join(words[:LEAST_WORDS]) + MARK, count)
    return None, int(unused > needed + _opening(block, count) + _slack(case))


def _key(block: Block, at: int, place: int, unit: list[Item]) -> tuple[float, ...]:
    """Smaller survives longer: priority, rank (of the block where age decides), age, place."""
    newest = block.slot == "history" or "drop_oldest" in block.shrink
    days = [item.dated.toordinal() for item in unit if item.dated is not None]
    age = -float(max(days)) if days and block.slot != "history" else 0.0
    rank = max(item.rank for item in (block.items if newest else unit))
    return (-block.priority, -rank, age, at, -place if newest else place)


def _cost(item: Item, body: str, count: Callable[[str], int]) -> int:
    """An upper bound of what an item takes: its longest possible fence, its body, framing."""
    title = _safe(item.span.source.title + item.span.source.section) if item.span else ""
    fence = f'<source id="999" kind="guideline" document="{title}" section="" date="2026-01-11" score="0.00">'
    derived = f' derived="{item.note}"'
    return count(fence + derived + "\n") + count(_safe(body) + "\n") + 3 + FRAMING + len(title)


def _safe(text: str) -> str:
    return text.replace("<", "&lt;").encode("utf-8", "replace").decode()


def _opening(block: Block, count: Callable[[str], int]) -> int:
    return 2 * count(f"</{block.name}>\n") + 14


def _slack(case: Case) -> int:
    """Framing set aside for messages that then stayed empty, and for a history's first line."""
    return 4 * FRAMING + 12 + 12 * len(case.blocks)


def _batch(arguments: tuple[int, int]) -> dict[str, Any]:
    seed, assemblies = arguments
    count, totals = bare_counter(), _zero()
    for number in range(assemblies):
        rng = random.Random(seed * 1_000_003 + number)
        found = check(random_case(rng), count)
        totals["refused"] += found.refused
        totals["overruns"] += found.overrun
        totals["protected_evictions"] += found.evicted
        totals["unused_too_much"] += found.unused_too_much
        if found.share is not None:
            totals["cut"] += 1
            totals["share_sum"] += found.share
            totals["share_min"] = min(totals["share_min"], found.share)
            totals["below_98"] += found.share < _FULL
    return totals


def _zero() -> dict[str, Any]:
    return {
        "refused": 0,
        "overruns": 0,
        "protected_evictions": 0,
        "unused_too_much": 0,
        "cut": 0,
        "below_98": 0,
        "share_sum": 0.0,
        "share_min": 1.0,
    }


def _bounds(assemblies: int, seed: int, processes: int) -> dict[str, Any]:
    # Batches do not depend on the processes, so that a seed means the same inputs anywhere.
    size = 1_000
    batches = [
        (seed + start, min(size, assemblies - start)) for start in range(0, assemblies, size)
    ]
    began = perf_counter()
    totals = _zero()
    for found in _run_batches(batches, processes):
        for name, figure in found.items():
            totals[name] = (
                min(totals[name], figure) if name == "share_min" else totals[name] + figure
            )
    seconds = perf_counter() - began
    cut = totals["cut"]
    return {
        "n": assemblies,
        "refused": totals["refused"],
        "overruns": totals["overruns"],
        "protected_evictions": totals["protected_evictions"],
        "unused_more_than_the_cut_off_unit": totals["unused_too_much"],
        "cut_at_a_word": {
            "n": cut,
            "used_mean": round(totals["share_sum"] / cut, 4) if cut else None,
            "used_min": round(totals["share_min"], 4) if cut else None,
            "below_98_percent": totals["below_98"],
        },
        "assemblies_per_second": round(assemblies / seconds, 1),
        "processes": processes,
    }


def _run_batches(batches: list[tuple[int, int]], processes: int) -> Iterator[dict[str, Any]]:
    if processes == 1:
        yield from map(_batch, batches)
        return
    with ProcessPoolExecutor(processes) as pool:
        yield from pool.map(_batch, batches)


def latency_blocks(rng: random.Random, counter: Counter, *, question: str) -> list[Block]:
    """1,000 candidate items with stored counts, beside rules, allergies and a question."""
    items: list[Item] = []
    for number in range(_LATENCY_ITEMS):
        body = " ".join(rng.choice(_WORDS) for _ in range(rng.randrange(8, 60)))
        source = Source(
            id=SourceId(f"s/{number}"),
            revision=1,
            kind=rng.choice(("record", "record", "document", "guideline")),
            title=f"Document {number % 40}",
            section="Assessment > Plan",
        )
        items.append(
            Item(
                body,
                key=f"s/{number}",
                span=Span(source=source, start=0, end=len(body)),
                rank=rng.random(),
                date=f"202{number % 6}-0{1 + number % 9}-1{number % 10}",
                tokens=counter.raw(body + "\n"),
            )
        )
    return [
        Block("rules", "Answer from the sources. " * 60, zone="primacy", stability="static",
              protected=True, trust="ours", echo="Cite every claim."),
        Block("allergies", "Penicillin: anaphylaxis", zone="primacy", stability="session",
              protected=True, echo="Allergies: penicillin"),
        Block("record", items[:600], priority=40),
        Block("documents", items[600:], priority=30, shrink="cut_mark"),
        Block("question", question, zone="recency", protected=True, bookend=True),
    ]  # fmt: skip


def _latency(runs: int, seed: int) -> dict[str, Any]:
    """Assemble 1,000 items into 6,000 tokens, another question each time."""
    counter = o200k()
    blocks = latency_blocks(random.Random(seed), counter, question="")
    times: list[float] = []
    cpu: list[float] = []
    for number in range(runs):
        question = Block(
            "question",
            f"Is metformin still safe for patient {number}?",
            zone="recency",
            protected=True,
            bookend=True,
        )
        again = [*blocks[:-1], question]
        began, busy = perf_counter(), process_time()
        assemble(again, budget=Budget(_LATENCY_LIMIT))
        times.append((perf_counter() - began) * 1_000)
        cpu.append((process_time() - busy) * 1_000)
    first = times[0]
    times.sort()
    cpu.sort()
    return {
        "n": runs,
        "items": _LATENCY_ITEMS,
        "limit": _LATENCY_LIMIT,
        "p50_ms": round(times[len(times) // 2], 2),
        "p95_ms": round(times[int(len(times) * 0.95)], 2),
        "cpu_p50_ms": round(cpu[len(cpu) // 2], 2),
        "cpu_p95_ms": round(cpu[int(len(cpu) * 0.95)], 2),
        "first_ms": round(first, 2),
    }


def run(
    *,
    assemblies: int = 5_000,
    seed: int = 7,
    compare: bool = False,
    runs: int = 1_000,
    processes: int | None = None,
    compared: int = 2_000,
) -> dict[str, Any]:
    """Measure; every figure with its n.

    Args:
        assemblies: Random assemblies of at most 40 items.
        seed: Fixes every input.
        compare: Also run LangChain, LlamaIndex and Haystack, each where it is installed.
        runs: Timed assemblies of 1,000 items into 6,000 tokens.
        processes: For the random assemblies; `None` takes one for each core.
        compared: How many of the random inputs the others get.

    Returns:
        `bounds` (overruns, protected evictions, use of the budget), `latency`, and `others` with a
        row for each library, `{"skipped": why}` where it is not installed; `None` if not asked for.
    """
    made: dict[str, Any] = {
        "bounds": _bounds(assemblies, seed, processes or cpu_count() or 1),
        "latency": _latency(runs, seed),
        "others": None,
    }
    if compare:
        from bedside.evals.bench_context_others import others

        made["others"] = others(n=compared, seed=seed)
    return made


def main(arguments: list[str] | None = None) -> None:
    """Print the figures as one JSON document."""
    parser = argparse.ArgumentParser(description="Measure the context compiler.")
    parser.add_argument("--assemblies", type=int, default=5_000)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--runs", type=int, default=1_000)
    parser.add_argument("--processes", type=int, default=None)
    parser.add_argument("--compare", action="store_true")
    asked = parser.parse_args(arguments)
    json.dump(
        run(
            assemblies=asked.assemblies,
            seed=asked.seed,
            compare=asked.compare,
            runs=asked.runs,
            processes=asked.processes,
        ),
        sys.stdout,
        indent=1,
    )
    sys.stdout.write("\n")


if __name__ == "__main__":
    main()
