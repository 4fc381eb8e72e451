"""What the model writes: one JSON object, decoded into checkable sentences (BR-08). Pure.

The object's texts carry inline quotes (`[3: "exact words"]`). They become lines of prose with a lead
that says what each is, so that the gate judges every sentence like any other answer's; `pieces` say
which line was what, and `kept` finds again what the gate left.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bedside.core.context import Assembly
from bedside.core.turn import Check, Citation, Draft, Finding, Quote, Verdict
from bedside.core.value import value
from bedside.flows.briefing.findings import Category, Flag, Level, Severity
from bedside.grounding.prose import Prose
from bedside.language.stems import stems

__all__ = ["SCHEMA", "Kept", "Piece", "WrittenBriefing", "checks_of", "kept"]

_MOST_FLAGS, _MOST_OPTIONS, _MOST_CHANGES = 12, 8, 6
_MARKER = re.compile(r"\s*\[\d{1,4}\]")
_OBJECT = re.compile(r"\{.*\}", re.DOTALL)
_HEAD = 24
_CALMS = re.compile(
    r"\b(?:is|are|appears?|seems?|looks?|remains?)\s+(?:\w+\s+)?(?:safe|healthy|unremarkable|fine|reassuring)\b"
    r"|\bno (?:concerns?|issues?|problems? (?:were|was) (?:found|identified)|interactions?|risks?)\b"
    r"|\b(?:nothing|no cause) (?:to|for) (?:worry|concern)\b|\ball (?:is )?(?:well|normal|clear)\b",
    re.IGNORECASE,
)
_DISMISSES = re.compile(
    r"\b(?:safe|normal|within (?:the )?(?:normal )?range|acceptable|appropriate|well tolerated|can continue"
    r"|may continue|should continue|no (?:change|action|adjustment)|not (?:significant|relevant|needed|contraindicated)"
    r"|insignificant|harmless|ignore|disregard|false (?:alarm|positive))\b",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"[^\n.!?]+(?:[.!?](?!\s|$)[^\n.!?]*)*[.!?]?")
_NOT_JSON = (
    "It was not the one JSON object that was asked for: write that object now, and nothing before or "
    "after it. No search is left"
)


class _Model(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class _Flag(_Model):
    category: Category
    severity: Severity
    title: str = Field(min_length=1, max_length=200)
    description: str = Field(min_length=1, max_length=2_000)
    suggested_action: str | None = Field(default=None, max_length=1_000)


class _Option(_Model):
    text: str = Field(min_length=1, max_length=1_000)
    priority: Level = "medium"


class _Summary(_Model):
    one_liner: str = Field(default="", max_length=1_000)
    changes: tuple[str, ...] = ()


class _Written(_Model):
    summary: _Summary = _Summary()
    flags: tuple[_Flag, ...]
    suggested_actions: tuple[_Option, ...] = ()


_TEXT = {"type": "string"}
SCHEMA: dict[str, object] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["summary", "flags", "suggested_actions"],
    "properties": {
        "summary": {
            "type": "object",
            "additionalProperties": False,
            "required": ["one_liner", "changes"],
            "properties": {
                "one_liner": _TEXT,
                "changes": {"type": "array", "items": _TEXT},
            },
        },
        "flags": {
            "type": "array",
            "items": {
                "type": "object",
                "additionalProperties": False,
                "required": ["category", "severity", "title", "description", "suggested_action"],
                "properties": {
                    "category": {
                        "enum": ["labs", "medications", "conditions", "screening", "other"]
                    },
                    "severity": {"enum": ["critical", "warning", "info"]},
                    "title": _TEXT,
                    "description": _TEXT,
                    "suggested_action": {"type": ["string", "null"]},
                },
            },
        },
        "suggested_actions": {
            "type": "array",
            "items": {
                "type": "object",
                "additionalProperties": False,
                "required": ["text", "priority"],
                "properties": {"text": _TEXT, "priority": {"enum": ["high", "medium", "low"]}},
            },
        },
    },
}


@value
class Piece:
    """One text of the object: what it is, the lead of its line, and its first words without markers.

    `flag` is the place of the flag that it belongs to, -1 for none.
    """

    kind: Literal["one_liner", "change", "flag", "flag_action", "option"]
    lead: str
    begins: str
    flag: int = -1
    category: Category = "other"
    severity: Severity = "info"
    title: str = ""
    level: Level = "medium"


@value
class Kept:
    """A piece as the gate left it: its text with markers, and the citations inside."""

    piece: Piece
    text: str
    start: int
    citations: tuple[Citation, ...]


class WrittenBriefing:
    """Decodes the object when it is whole. Implements `bedside.core.turn.Decoder`.

    Nothing is certain before the end, so `feed` gives nothing. What is no such object gives an empty
    draft with the payload `None`, which the check of this step sends back.
    """

    def __init__(self) -> None:
        self._parts: list[str] = []

    def feed(self, delta: str) -> Sequence[str | Quote]:
        """Take more of the stream."""
        self._parts.append(delta)
        return ()

    def finish(self) -> Draft:
        """The object as lines of prose, with its quotes; `payload` are the pieces, in order."""
        found = _read("".join(self._parts))
        if found is None:
            return Draft(text="", by="model", payload=None)
        pieces, raw = _lines(found)
        decoder = Prose()
        decoder.feed("\n".join(raw))
        draft = decoder.finish()
        return Draft(text=draft.text, quotes=draft.quotes, by="model", payload=pieces)


def _read(text: str) -> _Written | None:
    match = _OBJECT.search(text)
    if match is None:
        return None
    try:
        return _Written.model_validate(json.loads(match.group()))
    except (ValueError, ValidationError, RecursionError):
        return None


def _lines(found: _Written) -> tuple[tuple[Piece, ...], list[str]]:
    pieces: list[Piece] = []
    raw: list[str] = []

    def add(text: str, lead: str, **more: object) -> None:
        said = _flat(text)
        if not said:
            return
        begins = _MARKER.sub("", _plain(said))[:_HEAD].strip()
        pieces.append(Piece(lead=lead, begins=begins, **more))  # type: ignore[arg-type]
        raw.append(f"{lead}{said}" if said[-1] in ".!?" else f"{lead}{said}.")

    add(found.summary.one_liner, "", kind="one_liner")
    for change in found.summary.changes[:_MOST_CHANGES]:
        add(change, "- ", kind="change")
    seen: set[str] = set()
    for place, flag in enumerate(found.flags[:_MOST_FLAGS]):
        title = _MARKER.sub("", _plain(_flat(flag.title))).rstrip(".:")
        if title.casefold() in seen or not title:
            continue
        seen.add(title.casefold())
        about = {"category": flag.category, "severity": flag.severity, "title": title}
        add(flag.description, f"- {title}: ", kind="flag", flag=place, **about)
        if flag.suggested_action:
            add(flag.suggested_action, "- ", kind="flag_action", flag=place, **about)
    for option in found.suggested_actions[:_MOST_OPTIONS]:
        add(option.text, "- ", kind="option", level=option.priority)
    return tuple(pieces), raw


def _flat(text: str) -> str:
    return " ".join(text.split())


def _plain(text: str) -> str:
    """The text with bare markers in place of quotes, as the reader will see it."""
    decoder = Prose()
    decoder.feed(text)
    return decoder.finish().text


def kept(pieces: Sequence[Piece], verdict: Verdict) -> tuple[Kept, ...]:
    """The pieces that the gate left, in order, each with what is left of its text.

    A piece whose first sentence was removed is gone: its lead, and what its title says, rest on it.
    One without a citation is gone too.
    """
    found: list[Kept] = []
    lines: list[tuple[int, str]] = []
    at = 0
    for line in verdict.text.split("\n"):
        lines.append((at, line))
        at += len(line) + 1
    place = 0
    for piece in pieces:
        for index in range(place, len(lines)):
            start, line = lines[index]
            if not _MARKER.sub("", line).startswith(piece.lead + piece.begins):
                continue
            inside = tuple(
                one
                for one in verdict.citations
                if start <= one.at[0] and one.at[1] <= start + len(line)
            )
            if inside:
                begin = start + len(piece.lead)
                found.append(
                    Kept(piece=piece, text=line[len(piece.lead) :], start=begin, citations=inside)
                )
            place = index + 1
            break
    return tuple(found)


def checks_of(flags: Sequence[Flag]) -> tuple[Check, ...]:
    """The form of the answer, and that it takes nothing back that a rule says.

    `flags` are the rules' own: a sentence that names what a grave one is about and calls it
    harmless is sent back once, then removed.
    """
    subjects = [frozenset(stems(flag.title)) for flag in flags if flag.severity != "info"]

    def form(draft: Draft, assembly: Assembly) -> Sequence[Finding]:
        del assembly
        if not draft.by.startswith("model") or draft.payload is not None:
            return ()
        return (Finding(id="EN-G5", want="repair", otherwise="flag", detail=_NOT_JSON),)

    def takes_back(draft: Draft, assembly: Assembly) -> Sequence[Finding]:
        del assembly
        if not draft.by.startswith("model"):
            return ()
        found: list[Finding] = []
        for match in _SENTENCE.finditer(draft.text):
            said = match.group()
            why = "calls_safe" if _CALMS.search(said) else ""
            if not why and _DISMISSES.search(said):
                own = set(stems(said))
                if any(len(subject & own) >= min(2, len(subject)) for subject in subjects):
                    why = "contradicts_rule"
            if why:
                found.append(
                    Finding(
                        id="BR-09", want="repair", otherwise="remove", detail=why, at=match.span()
                    )
                )
        return found

    return (form, takes_back)
