"""Rule flags and what is left of the model's, in one briefing: no rule's flag is ever lost. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from bedside.core.context import Item
from bedside.core.turn import Citation
from bedside.flows.briefing.findings import Action, Briefing, Cited, Flag
from bedside.flows.briefing.plan import Nothing
from bedside.flows.briefing.rules import in_order
from bedside.flows.briefing.written import Kept, Piece, kept
from bedside.flows.flow import Done
from bedside.language.stems import stems

__all__ = ["merged"]

_MARKER = re.compile(r"\s*\[\d{1,4}\]")
_ENDS = re.compile(r"(?<=[.!?])\s+")
_OWN_OPTIONS = 5
_WEIGHT = 5.5
Shown = Mapping[int, Sequence[Item]]
"""The items that the model saw, by source number."""


def merged(base: Briefing, wrote: Done[Nothing]) -> Briefing:
    """The rule briefing with the model's cited sentences.

    A flag of the model about what a rule flagged already explains that flag, which keeps its
    severity; another stands for itself. Nothing of the rule briefing is taken away.
    """
    pieces = wrote.draft.payload
    if not isinstance(pieces, tuple) or wrote.prompt is None:
        unusable = wrote.draft.by.startswith("model")
        return replace(base, notes=(*base.notes, _unusable(wrote))) if unusable else base
    rows = kept([one for one in pieces if isinstance(one, Piece)], wrote.verdict)
    shown = wrote.prompt.shown
    actions = {
        row.piece.flag: _whole(row, shown) for row in rows if row.piece.kind == "flag_action"
    }
    flags = list(base.flags)
    added: list[Flag] = []
    for row in rows:
        if row.piece.kind != "flag":
            continue
        said = _sentences(row, shown)
        if not said:
            continue
        place = _about(flags, row)
        if place is not None:
            flags[place] = replace(flags[place], description=(*flags[place].description, *said))
            continue
        added.append(
            Flag(
                category=row.piece.category,
                severity=row.piece.severity,
                title=row.piece.title,
                description=said,
                source="ai",
                action=actions.get(row.piece.flag),
                weight=_WEIGHT,
            )
        )
    lines = [_whole(row, shown) for row in rows if row.piece.kind == "one_liner"]
    changes = tuple(_whole(row, shown) for row in rows if row.piece.kind == "change")
    options = [
        Action(text=_whole(row, shown), priority=row.piece.level)
        for row in rows
        if row.piece.kind == "option"
    ]
    return replace(
        base,
        summary=replace(
            base.summary,
            one_liner=lines[0] if lines else base.summary.one_liner,
            changes=changes or base.summary.changes,
        ),
        flags=in_order([*flags, *added]),
        actions=(*base.actions, *options[:_OWN_OPTIONS]),
    )


def _unusable(wrote: Done[Nothing]) -> Cited:
    why = "broke off" if wrote.draft.cut else "was not of the form asked for"
    return Cited(text=f"The model's answer {why}, so this briefing is by rule alone")


def _about(flags: Sequence[Flag], row: Kept) -> int | None:
    """The place of the rule flag that a piece is about: shared evidence, and a shared title word."""
    mine = {str(cited.span.source.id) for cited in row.citations}
    words = set(stems(row.piece.title))
    for place, flag in enumerate(flags):
        theirs = {str(item.span.source.id) for item in flag.items if item.span is not None}
        if mine & theirs and words & set(stems(flag.title)):
            return place
    return None


def _whole(row: Kept, shown: Shown) -> Cited:
    """A piece as one sentence with all of its citations."""
    return _cited(row.text, row.citations, shown)


def _sentences(row: Kept, shown: Shown) -> tuple[Cited, ...]:
    """The sentences of a piece, each with its own citations; one without joins the one before."""
    found: list[Cited] = []
    at = 0
    for part in (*_ENDS.finditer(row.text), None):
        end = part.start() if part else len(row.text)
        inside = [
            one
            for one in row.citations
            if row.start + at < one.at[1] <= row.start + end or (at == 0 and one.at[1] <= row.start)
        ]
        piece = _cited(row.text[at:end], inside, shown)
        if inside or not found:
            found.append(piece)
        elif piece.text:
            found[-1] = replace(found[-1], text=f"{found[-1].text}. {piece.text}")
        at = part.end() if part else end
    return tuple(one for one in found if one.items)


def _cited(text: str, citations: Sequence[Citation], shown: Shown) -> Cited:
    items: list[Item] = []
    quotes: list[str] = []
    for one in citations:
        item = _item(one, shown)
        if item is not None:
            items.append(item)
            quotes.append(one.quote)
    plain = _MARKER.sub("", text).strip().rstrip(".")
    return Cited(text=plain, items=tuple(items), quotes=tuple(quotes), counted=False)


def _item(cited: Citation, shown: Shown) -> Item | None:
    """The item that held the quote, whole, so that its context counts at the last check too."""
    for item in shown.get(cited.n, ()):
        if (
            item.span is not None
            and item.span.source == cited.span.source
            and item.span.start <= cited.span.start
            and cited.span.end <= item.span.end
        ):
            return item
    return None
