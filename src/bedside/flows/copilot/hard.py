"""Hard data in the context, where the plan needs clinical reasoning (CO-04 L3, CO-08). Pure.

Every entry is citable: it has a source of its own, whose whole text is the entry as it stands in
its pack. `pack_text` gives that text back for a source id.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Iterable, Mapping

from bedside.clinical.analytes import analyte
from bedside.clinical.ranges import ranges_of
from bedside.core.context import Block, Cap, Item
from bedside.core.ids import SourceId
from bedside.core.source import Source, Span
from bedside.flows.copilot.hard_data import (
    HardData,
    RangeEntry,
    Specialty,
    for_plan,
    specialties,
)
from bedside.flows.copilot.plan import Nothing, grounded
from bedside.flows.flow import View

__all__ = ["hard_blocks", "hard_data_of", "hard_items", "pack_text", "range_item"]

_GUIDANCE_TOKENS = 600
_MOST_SPECIALTIES = 1


def hard_data_of(view: View[Nothing]) -> HardData:
    """What the question calls for; empty for a greeting or a look-up."""
    home = view.opened.pinned.get("specialty", "")
    return for_plan(view.request.text, clinical=view.plan.clinical, home=home)


def hard_blocks(view: View[Nothing]) -> list[Block]:
    """Specialty guidance in both modes; ranges, evidence and textbooks without a patient."""
    if view.opened.pinned.get("unreviewed") == "off":
        return []  # EN-K9: nobody has reviewed these packs, and no safety officer switched them on
    data = hard_data_of(view)
    if not data:
        return []
    blocks = _guidance(data)
    if grounded(view.opened):
        return blocks
    if data.ranges:
        ranges = [range_item(one) for one in data.ranges]
        blocks.append(_block("reference ranges", ranges, priority=25))
    if data.nodes:
        blocks.append(_block("evidence bank", hard_items(data), priority=15))
    if data.textbooks:
        books = [
            _item("textbook", f"{one.specialty}/{one.line()}", one.book, one.line())
            for one in data.textbooks
        ]
        blocks.append(_block("textbooks", books, priority=12))
    return blocks


def hard_items(data: HardData) -> list[Item]:
    """The decision nodes with their papers, as citable items, best first."""
    return [
        _item("node", f"{one.specialty}/{one.id}", one.decision, one.line(), rank=1.0 / (place + 1))
        for place, one in enumerate(data.nodes)
    ]


def range_item(entry: RangeEntry) -> Item:
    """An analyte's ranges as a citable item."""
    return _item("range", _range_key(entry), entry.name, entry.line())


def _guidance(data: HardData) -> list[Block]:
    items = [
        _item("guidance", f"{one.key}/{part}", f"{one.name}: {part}", text)
        for one in data.specialties[:_MOST_SPECIALTIES]
        for part, text in _parts(one)
    ]
    if not items:
        return []
    made = Block(
        "specialty guidance",
        items,
        zone="recency",
        priority=35,
        cap=Cap(tokens=_GUIDANCE_TOKENS),
        shrink="drop_lowest",
    )
    return [made]


def _parts(one: Specialty) -> Iterable[tuple[str, str]]:
    for name, lines in (
        ("red flags", one.red_flags),
        ("decision points", one.decision_points),
        ("markers", one.markers),
    ):
        yield name, "\n".join(lines)


def _block(name: str, items: list[Item], *, priority: int) -> Block:
    return Block(name, items, zone="middle", priority=priority, shrink="drop_lowest")


def _item(kind: str, key: str, title: str, text: str, *, rank: float = 0.5) -> Item:
    source = Source(
        id=SourceId(f"pack:{kind}:{key}"), revision=_revision(text), kind="guideline", title=title
    )
    return Item(
        text,
        key=str(source.id),
        span=Span(source=source, start=0, end=len(text)),
        note="content not clinically reviewed",
        rank=rank,
    )


def _revision(text: str) -> int:
    """A number of the text itself: another text is another revision, whatever the pack says."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big") >> 1


@functools.cache
def _texts() -> Mapping[str, str]:
    found: dict[str, str] = {}
    for one in specialties():
        for part, text in _parts(one):
            found[f"pack:guidance:{one.key}/{part}"] = text
        for node in one.nodes:
            found[f"pack:node:{one.key}/{node.id}"] = node.line()
        for book in one.textbooks:
            found[f"pack:textbook:{one.key}/{book.line()}"] = book.line()
    return found


def pack_text(source: str) -> str | None:
    """The text of a citable pack entry by its source id; `None` for an id that is none.

    A range is looked up by its analyte and populations.
    """
    if not source.startswith("pack:range:"):
        return _texts().get(source)
    key, _, populations = source.removeprefix("pack:range:").partition("/")
    rows = tuple(row for row in ranges_of(key) if row.population in populations.split("+"))
    if not rows:
        return None
    return RangeEntry(analyte=key, name=analyte(key).name, rows=rows).line()


def _range_key(entry: RangeEntry) -> str:
    populations = dict.fromkeys(row.population for row in entry.rows)
    return f"{entry.analyte}/{'+'.join(populations)}"
