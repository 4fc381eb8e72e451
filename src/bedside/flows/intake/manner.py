"""A model's manner: voice, one question, nothing asked again; and which language a message is in. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from bedside.core.value import value
from bedside.flows.intake.phrases import phrase
from bedside.flows.intake.questions import TIMES
from bedside.flows.intake.situation import Situation
from bedside.sop import voice as rules
from bedside.sop.contract import Contract, Field
from bedside.sop.languages import detect

__all__ = ["Fitted", "Voiced", "asked_field", "detected", "disclosure", "english", "fit", "voice"]

_SENTENCE = re.compile(r"[^.!?\n؟।]+[.!?؟।]?\s*")
_SURE = 0.4
"""The share of a message's words that must speak for a language in Latin letters."""
_ENGLISH = re.compile(
    r"\b(?:the|and|is|my|of|for|soon|please|it|we|have|need|would|with|you|your|this|that|not|but|what|how)\b",
    re.IGNORECASE,
)
_AI = re.compile(r"\b(?:an? )?(?:AI|artificial intelligence|automated)\b")
_NOT_DOCTOR = re.compile(r"\bnot (?:a |your )?(?:doctor|physician|clinician)\b", re.IGNORECASE)


@value
class Voiced:
    """A failing of voice at [start, end)."""

    id: str
    start: int
    end: int


@value
class Fitted:
    """A model's text with at most one question; `question` is it, "" for none."""

    text: str
    question: str = ""
    asking: str = ""


def detected(text: str) -> str:
    """The language of a message, "" where it cannot be told."""
    found = detect(text)
    if found.why != "script" and english(text):
        return "en"
    sure = found.why == "script" or found.share >= _SURE
    return found.code if sure and found.code != "unknown" else ""


def english(text: str) -> bool:
    """Does a word stand in the text that English alone has?"""
    return _ENGLISH.search(text) is not None


def voice(text: str, now: Situation, history: Sequence[str] = ()) -> Sequence[Voiced]:
    """Every failing of a model's message: the voice rules, the questions, what is asked again."""
    answered = [
        field.ask["en"]
        for field in now.contract.fields
        if "en" in field.ask and now.case.facts.get(field.id).status not in {"unasked", "asked"}
    ]
    found = [
        *rules.voice(text),
        *rules.one_question(text),
        *rules.repeated(text, history, answered=answered),
    ]
    out = [Voiced(id=one.kind, start=one.start, end=one.end) for one in found]
    for match in _SENTENCE.finditer(text):
        if "?" not in match.group():
            continue
        name = asked_field(match.group(), now.contract)
        if name and now.case.facts.get(name).status not in {"unasked", "asked"}:
            out.append(Voiced(id="repeated_question", start=match.start(), end=match.end()))
    return tuple(dict.fromkeys(out))


def asked_field(question: str, contract: Contract) -> str:
    """The field that a question asks for: the one with most of its cues in it; "" for none."""
    low = question.casefold()
    best: tuple[int, str] = (0, "")
    for field in contract.fields:
        score = sum(
            len(cue) for cue in _names(field) if re.search(rf"(?<!\w){re.escape(cue)}(?!\w)", low)
        )
        if len(field.choices) > 1:
            named = sum(
                bool(re.search(rf"(?<!\w){re.escape(one.replace('_', ' '))}(?!\w)", low))
                for one in field.choices
            )
            score += 10 * named if named > 1 else 0
        if score > best[0]:
            best = (score, field.id)
    return best[1]


def _names(field: Field) -> set[str]:
    return {cue.casefold() for cue in (*field.cues, field.label) if len(cue) > 2}  # noqa: PLR2004


def fit(text: str, now: Situation, *, likely: str = "") -> Fitted:
    """The text with one question that is still open; others are left out.

    `likely` is the field that a question asks for whose words name none.
    """
    kept: list[str] = []
    question = asking = ""
    for match in _SENTENCE.finditer(text):
        sentence = match.group()
        if "?" not in sentence and "؟" not in sentence:
            kept.append(sentence)
            continue
        name = asked_field(sentence, now.contract) or likely
        name = name if now.contract.field(name) is not None else ""
        held = now.case.facts.get(name) if name else None
        known = held is not None and held.status not in {"unasked", "asked"}
        often = held is not None and held.asked >= TIMES  # a skipped question returns once
        if question or known or often:
            continue
        question, asking = sentence.strip(), name
        kept.append(sentence)
    return Fitted(text="".join(kept).strip(), question=question, asking=asking)


def disclosure(text: str, now: Situation) -> str:
    """The first message says what writes it; where a model's does not, ours goes before it."""
    if "hello" in now.case.told or (_AI.search(text) and _NOT_DOCTOR.search(text)):
        return ""
    return phrase("hello", now.case.facts.language)
