"""The usual range of a test, from the reference pack, where nothing else is asked (CO-08). Pure."""

from __future__ import annotations

import re

from bedside.clinical.analytes import analyte_of
from bedside.clinical.ranges import Range, ranges_of
from bedside.core.turn import Draft
from bedside.flows.copilot.hard import range_item
from bedside.flows.copilot.hard_data import RangeEntry
from bedside.flows.copilot.lexicon import tokenise
from bedside.flows.copilot.names import panel_members, shown_name
from bedside.flows.copilot.query import Parsed
from bedside.flows.copilot.tools.sheet import Sheet

__all__ = ["reference_draft"]

_ASKS = frozenset({"normal", "range", "ranges", "reference", "limits", "normals", "interval"})
_FILL = frozenset(
    [
        "what",
        "whats",
        "what's",
        "s",
        "is",
        "are",
        "the",
        "a",
        "an",
        "of",
        "for",
        "in",
        "give",
        "me",
        "tell",
        "show",
        "please",
        "value",
        "values",
        "level",
        "levels",
        "blood",
        "serum",
        "plasma",
        "adult",
        "adults",
        "usual",
        "lab",
        "laboratory",
        "and",
        "or",
        "do",
        "you",
        "know",
        "healthy",
        "person",
        "people",
        "should",
        "be",
        "typical",
        "upper",
        "lower",
        "limit",
    ]
)
_PEOPLE = {
    "women": ("women", "female", "woman", "females"),
    "men": ("men", "male", "man", "males"),
    "pregnancy": ("pregnancy", "pregnant"),
    "child": ("child", "children", "kids", "paediatric", "pediatric"),
}
_MOST = 4
_ADDRESS = re.compile(r"\s*\([^)]*\.[a-z]{2,4}\b[^)]*\)")


def reference_draft(text: str, parsed: Parsed) -> Draft | None:
    """The range by population with its source, or `None` where more, or something else, is asked."""
    named = [one for one in parsed.entities if one.kind in {"analyte", "panel"}]
    if not named or len(named) != len(parsed.entities) or parsed.windows:
        return None
    said = {word for one in named for word in one.said.split()}
    words = [token.text for token in tokenise(text) if token.text[0].isalnum()]
    rest = [word for word in words if word not in said]
    wanted = [group for group, names in _PEOPLE.items() if set(names) & set(rest)]
    people = {name for group in wanted for name in _PEOPLE[group]}
    if not set(rest) & _ASKS or set(rest) - _ASKS - _FILL - people:
        return None
    sheet = Sheet()
    for key in dict.fromkeys(
        key for one in named for key in (panel_members(one.key) or (one.key,))
    ):
        _tell(key, wanted, sheet)
    return sheet.draft()


def _tell(key: str, wanted: list[str], sheet: Sheet) -> None:
    known = analyte_of(name=shown_name(key)) or analyte_of(name=key)
    rows = ranges_of(known.key) if known is not None else ()
    name = known.name if known is not None else shown_name(key)
    grown = [row for row in rows if "years" not in row.population] or list(rows)
    rows = tuple(rows) if "child" in wanted else tuple(grown)
    fitting = [row for row in rows if not wanted or any(_fits(row, one) for one in wanted)]
    if known is None or not fitting:
        whom = f" in {' or '.join(wanted)}".replace("child", "children") if wanted else ""
        sheet.say(f"No reference range for {name}{whom} is held here.")
        sheet.missing(f"a reference range for {name}{whom}")
        return
    entry = RangeEntry(analyte=known.key, name=name, rows=tuple(fitting[:_MOST]))
    item = range_item(entry)
    bands = "; ".join(f"{row.population} {row.text()}" for row in entry.rows)
    critical = next((row.critical_text() for row in entry.rows if row.critical_text()), "")
    sheet.say(f"{name}: {bands} {sheet.cite_item(item)}.")
    if critical:
        sheet.say(f"Critical: {critical} {sheet.cite_item(item)}.")
    source = _ADDRESS.sub("", entry.rows[0].source or entry.rows[0].critical_source)
    sheet.say(f"Source: {source} {sheet.cite_item(item)}. A laboratory's own range goes first.")


def _fits(row: Range, whom: str) -> bool:
    if whom == "child":
        return "years" in row.population
    if row.population == "adults" and whom in {"women", "men"}:
        return True
    first = row.population.split(",")[0]
    return {"female": "women", "male": "men"}.get(first, first) == whom
