"""The compiler on real guidelines and real records, judged by the bare tokenizer."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bedside.context import Block, Budget, Item, assemble, receipt, text_of, unescape
from bedside.core.source import Source, Span

SHARED = Path(__file__).resolve().parents[2] / ".." / "shared" / "data"


def passages(folder, count):
    made = []
    for path in sorted(folder.rglob("*.md"))[:count]:
        text = path.read_text(encoding="utf-8")
        source = Source(id=path.stem, revision=1, kind="guideline", title=path.stem)
        for start in range(0, len(text), 900):
            # Passages begin with text, as chunks do: a line break there may join the fence's.
            body = text[start : start + 900].strip()
            first = text.index(body, start)
            span = Span(source=source, start=first, end=first + len(body))
            made.append((text, Item(body, key=f"{path.stem}:{start}", span=span, rank=-len(made))))
    return made


@pytest.fixture(scope="module")
def guidelines():
    folder = SHARED / "guidelines" / "nigeria_stg_2022"
    if not folder.is_dir():
        pytest.skip("../shared/data/guidelines is not here: this test reads real guidelines")
    return passages(folder, 60)


@pytest.mark.requirement("EN-C9")
def test_on_real_guidelines_the_ledger_adds_up_to_the_count(bare, guidelines):
    items = [item for _, item in guidelines]
    for limit in (2_000, 6_000, 20_000):
        made = assemble(
            [
                Block("guidelines", items, shrink="cut_mark"),
                Block("question", "Why?", protected=True),
            ],
            budget=Budget(limit),
        )
        counted = sum(bare(text_of(message)) for message in made.messages)
        told = receipt(made)
        assert sum(row["given"] for row in told["blocks"]) == counted
        assert 0.98 * limit <= told["total"] <= limit


def test_what_is_shown_of_a_real_guideline_is_its_text_at_its_span(guidelines):
    whole = {item.span.source.id: text for text, item in guidelines}
    items = [item for _, item in guidelines]
    made = assemble([Block("guidelines", items, shrink="cut_mark")], budget=Budget(4_000))
    prompt = unescape("".join(text_of(message) for message in made.messages))
    slices = [item for shown in made.shown.values() for item in shown]
    assert len(slices) > 5
    for item in slices:
        assert item.span is not None
        assert whole[item.span.source.id][item.span.start : item.span.end] == item.body
        assert item.body in prompt


def test_a_whole_real_record_falls_to_the_budget_with_every_entry_accounted_for(bare):
    folder = SHARED / "records" / "synthea_r4"
    bundles = sorted(folder.rglob("*.json")) if folder.is_dir() else []
    if not bundles:
        pytest.skip("../shared/data/records is not here: this test reads real-shaped records")
    entries = json.loads(bundles[0].read_text(encoding="utf-8"))["entry"]
    lines = [json.dumps(entry["resource"].get("code") or {}) for entry in entries]
    items = [
        Item(
            line,
            key=str(number),
            span=Span(
                source=Source(id=str(number), revision=1, kind="record", title=""),
                start=0,
                end=len(line),
            ),
        )
        for number, line in enumerate(lines)
    ]
    made = assemble([Block("record", items)], budget=Budget(6_000))
    assert sum(bare(text_of(message)) + 4 for message in made.messages) == made.tokens <= 6_000
    (row,) = made.ledger
    assert row.items + len(row.dropped) == len(entries) > 100
