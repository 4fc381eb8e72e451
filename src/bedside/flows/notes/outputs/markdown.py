"""A summarised note as Markdown."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from bedside.flows.notes.summary import PARTS, TITLES, to_check

__all__ = ["to_markdown"]

_MARKS = re.compile(r"([\\`*_{}\[\]<>#|!~])")


def to_markdown(turn: Mapping[str, Any]) -> str:
    """Summary and plan with each item's citation, then what was removed or is missing."""
    title = (turn.get("note") or {}).get("title") or "Note"
    lines = [f"# {_plain(title)}", "", f"> {_by(turn)}", ""]
    for flagged in to_check(turn):
        lines += [f"> To check: {_plain(flagged)}", ""]
    for part in PARTS:
        items = turn["summary"][part]
        if not items:
            continue
        lines += [f"## {TITLES[part]}", ""]
        lines += [
            f"- {_about(item)}{_plain(item['text'])} `{_code(item['source'])}`" for item in items
        ]
        lines.append("")
    plan = turn["plan"]["recommendations"]
    if plan:
        lines += ["## Plan", ""]
        for item in plan:
            lines.append(
                f"{item['number']}. {_about(item)}{_plain(item['recommendation'])} `{_code(item['source'])}` "
                f"(confidence {item['confidence']:g})"
            )
            if item["hallucination_guard_note"]:
                lines.append(f"   > Look twice: {_plain(item['hallucination_guard_note'])}")
        lines.append("")
    for name, key in (("Removed", "removed"), ("Missing", "missing"), ("Degraded", "degraded")):
        found = turn.get(key) or []
        if found:
            lines += [f"## {name}", ""]
            lines += [
                f"- {_plain(item['claim'])} ({item['why']})"
                if isinstance(item, Mapping)
                else f"- {_plain(item)}"
                for item in found
            ]
            lines.append("")
    return "\n".join(lines).rstrip("\n") + "\n"


def _by(turn: Mapping[str, Any]) -> str:
    if turn.get("extractive"):
        return "Extracted word for word from the note by rule; no model wrote any of it. A draft."
    return f"Written by {_plain(str(turn['answered_by']))}, each item held to the note. A draft."


def _about(item: Mapping[str, Any]) -> str:
    """The note's own heading over an item that does not say what it is about."""
    return f"**{_plain(item['about'])}:** " if item.get("about") else ""


def _plain(text: str) -> str:
    """Text that stays text: no mark of Markdown acts."""
    return _MARKS.sub(r"\\\1", " ".join(text.split()))


def _code(text: str) -> str:
    return text.replace("`", "'")
