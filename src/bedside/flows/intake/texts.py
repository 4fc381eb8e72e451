"""Words and dates as answers: what is kept as the person said it. Pure."""

from __future__ import annotations

import re

from bedside.flows.intake.answers import (
    SENTENCE,
    WHEN,
    Context,
    Value,
    clauses,
    cued,
    first_sentence,
    intact,
    question_at,
    short_answer,
    whole,
    without,
)
from bedside.flows.intake.kinds import NEAR
from bedside.flows.intake.moments import lengths, moments, names_time
from bedside.flows.intake.signals import agrees, corrects, nothing
from bedside.language.dates import dates
from bedside.sop.contract import Field

__all__ = ["asked_text", "date_asked", "date_free", "of_time", "text_free"]

_ELSEWHERE = re.compile(
    r"\b(?:pay(?:s|ing)?|paid|budget|soon as possible|want the|insurance|my name)\b", re.IGNORECASE
)
_WHEN_ASKED = re.compile(r"^when\b", re.IGNORECASE)
_LONG_ASKED = re.compile(r"^how long\b", re.IGNORECASE)


def of_time(field: Field) -> str:
    """Which time the field's own question asks for: "when", "how long", or "" for none."""
    asked = field.ask.get("en", "")
    if _WHEN_ASKED.match(asked):
        return "when"
    return "how long" if _LONG_ASKED.match(asked) else ""


def date_asked(field: Field, context: Context) -> Value | None:
    """The date of an answer, or its words where it is no one day."""
    written = dates(context.text)
    if not written:
        match = WHEN.search(context.text)
        if match:
            return Value(value=match.group(), start=match.start(), end=match.end())
        return None if _ELSEWHERE.search(context.text) else asked_text(field, context)
    one = written[0]
    shown = one.days[0].isoformat() if len(one.days) == 1 else context.text[one.start : one.end]
    return Value(value=shown, start=one.start, end=one.end)


def date_free(field: Field, context: Context) -> Value | None:
    """A date beside the field's cues."""
    for one in dates(context.text):
        lead = context.text[max(0, one.start - NEAR) : one.start]
        if cued(field, lead):
            shown = (
                one.days[0].isoformat() if len(one.days) == 1 else context.text[one.start : one.end]
            )
            return Value(value=shown, start=one.start, end=one.end)
    return None


def asked_text(field: Field, context: Context) -> Value | None:
    """The person's words, unless they are about something else.

    What other fields were read from is left out, clause by clause; a question about a time is
    answered by the first sentence that names one.
    """
    text = context.text
    if nothing(text):
        start, end = whole(text)
        return None if field.when == "optional" else Value(value="none", start=start, end=end)
    if context.others and corrects(text) and not cued(field, text):
        return None
    if agrees(text) and len(text.split()) < 3:  # noqa: PLR2004 - a bare yes is no description
        return None
    left = without(text, context.others)
    if of_time(field):
        timed = next((one for one in SENTENCE.finditer(left) if names_time(one.group())), None)
        if timed is None:
            return None
        left = " " * timed.start() + timed.group() + " " * (len(left) - timed.end())
    return intact(short_answer(first_sentence(left), most=40), text)


def text_free(field: Field, context: Context) -> Value | None:
    """Words behind a cue that announces the field, such as "my occupation is ..."."""
    text = context.text
    timed = of_time(field)
    if timed and (found := _timed(field, text, timed)) is not None:
        return found
    for cue in field.cues:
        if len(cue) < 4 or "?" in cue:  # noqa: PLR2004 - too short to tell
            continue
        match = re.search(
            rf"(?<!\w){re.escape(cue)}(?!\w)\s*(?:is|was|:|=|are)\s+(?P<w>[^.!?;,\n]{{2,80}})",
            text, re.IGNORECASE,
        )  # fmt: skip
        if match and not question_at(text, match.start()):
            return Value(value=match["w"].strip(), start=match.start("w"), end=match.end("w"))
    return None


_WISHED = re.compile(
    r"\b(?:want|wish|hope|hoping|plan|planning|would like|prefer|surgery|operation|operated)\b",
    re.IGNORECASE,
)
_FAR = 60
"""So many characters may lie between a cue and the time that is said of it."""


def _timed(field: Field, text: str, kind: str) -> Value | None:
    """The time in the sentence that names the field by a cue, the nearest to it."""
    read = lengths if kind == "how long" else moments
    for sentence in SENTENCE.finditer(text):
        said = sentence.group()
        if said.rstrip().endswith(("?", "؟")):
            continue
        cues = [
            match.span()
            for cue in field.cues
            for match in re.finditer(rf"(?<!\w){re.escape(cue)}(?!\w)", said, re.IGNORECASE)
        ]
        wished = [(a, b) for a, b in clauses(said) if _WISHED.search(said, a, b) is not None]
        near = sorted(
            (max(a - one.end, one.start - b), one.start, one.end)
            for one in read(said)
            for a, b in cues
            if max(a - one.end, one.start - b) <= _FAR
            and not any(c <= one.start < d for c, d in wished)
        )
        if near:
            _gap, start, end = near[0]
            at = sentence.start()
            return Value(value=said[start:end].strip(), start=at + start, end=at + end)
    return None
