"""What an answer is made of: sentences, spans, and the words that are no answer at all. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from bedside.core.value import value
from bedside.flows.intake.consent import speaks_of_matching
from bedside.flows.intake.lexicon import NO, phrase_pattern
from bedside.flows.intake.signals import (
    declines,
    defers,
    doubts,
    wants_person,
)
from bedside.language.negation import Scope, scopes
from bedside.sop.contract import Contract, Field
from bedside.sop.state import State

__all__ = [
    "NONE",
    "NOT_BEFORE",
    "SENTENCE",
    "WHEN",
    "Context",
    "Span",
    "Value",
    "clauses",
    "cued",
    "first_sentence",
    "goes_on",
    "intact",
    "judged",
    "over",
    "question_at",
    "short_answer",
    "statements",
    "whole",
    "within",
    "without",
]

Span = tuple[int, int]


@value
class Context:
    """The message, what is known around it, and words that were read as other fields."""

    text: str
    state: State
    contract: Contract
    country: str = ""
    others: tuple[Span, ...] = ()


@value
class Value:
    """A value and its words at `[start, end)`."""

    value: object
    start: int
    end: int
    strong: bool = True


LONGEST_WORDS = 300


SENTENCE = re.compile(r"[^.!?;\n؟।]+[.!?؟।]?")


_SUBJECT = (
    r"(?:i|i'm|i’m|i've|i’ve|im|ive|we|we're|we've|he|he's|she|she's|it|it's|they|there|there's|my|our|her|his|the|this|that|also|no|yes|not|"
    r"please|you|your)\b"
)
_AND = r"(?:and|but|also|plus|so|because|then|although|though|و|और)\s+"
_STATED = re.compile(
    rf"[,;،]\s*(?:{_AND})?(?={_SUBJECT})|\s+{_AND}(?={_SUBJECT})|\s+(?:but|although|though)\s+|[;]",
    re.IGNORECASE,
)
_NO_MORE = re.compile(r"\s*(?:no|nope|nah)\s+(?P<rest>(?:only|just)\b)", re.IGNORECASE)
"""Behind a no that answers: what follows is not denied by it."""
_APART = re.compile(rf"[,;،]\s*(?:{_AND})?|{_STATED.pattern}", re.IGNORECASE)


_PRONOUN = re.compile(r"\W*(?:he|she|they|his|her|their)\b", re.IGNORECASE)
_CERTAIN = re.compile(r"\b(?:as|if) (?:soon as )?possible\b", re.IGNORECASE)
"""Words that a doubt begins with elsewhere, and that doubt nothing here."""


NOT_BEFORE = re.compile(
    r"(?:\b(?:not|no|isn't|isn’t|wasn't|no longer|never|instead of|rather than)|n't)\s+"
    r"(?:(?:the|my|on|a|in|by|through|from|with|have|any|been|on the)\s+){0,3}$",
    re.IGNORECASE,
)


NONE = re.compile(
    rf"^\W*(?:{NO}|n(?=\W*$)|nothing|nil|nowt|not any|no others?|nothing else|none at all|not really|"
    r"none (?:of (?:these|those|them|that)|that i know(?: of)?)|not that i know(?: of)?|لا شيء|कोई नहीं|कुछ नहीं)\W*"
    r"(?:thanks|thank you|at all|else)?\W*$",
    re.IGNORECASE,
)


_LEAD = re.compile(
    r"^\W*(?:(?:well|so|um+|uh|oh|ok(?:ay)?|yes|yeah|sure|hi|hello|thanks|thank you|please|actually|sorry|maybe|probably|i think|i guess)\W+)*"
    r"(?:(?:it(?:'s| is| was)|that(?:'s| is| would be)|i(?:'m| am)|my name is|you can call me|call me|this is|i live in|"
    r"i(?:'d| would) (?:say|like|prefer)|about|around|i want|i need|we want|looking for)\s+)?",
    re.IGNORECASE,
)


WHEN = re.compile(
    r"\b(?:(?:with)?in (?:the )?(?:next |about |around |coming )?(?:a |an |\d+(?:\s?(?:-|to)\s?\d+)?|one|two|three|four|five|six|few|couple of)\s?(?:few )?(?:days?|weeks?|months?|years?)"
    r"|(?:next|this|coming|early|late|end of|beginning of|start of|by|before|after|around)\s+(?:the )?(?:week|month|year|spring|summer|autumn|winter|christmas|eid|ramadan|diwali|january|february|march|april|may|june|july|august|september|october|november|december)"
    r"|as soon as (?:possible|i can|we can)|asap|immediately|right away|urgent(?:ly)?|no (?:rush|hurry)|whenever|flexible|any ?time"
    r"|(?:in )?(?:january|february|march|april|june|july|august|september|october|november|december)(?: (?:20)\d\d)?)\b",
    re.IGNORECASE,
)


def without(text: str, spans: Sequence[Span]) -> str:
    """The text with those words blanked, every other character in its place."""
    left = list(text)
    for start, end in spans:
        left[start:end] = " " * (end - start)
    return "".join(left)


def clauses(text: str) -> tuple[Span, ...]:
    """The smallest parts that say something: sentences, cut at commas and before a new subject."""
    return _cut(text, _APART)


def statements(text: str) -> tuple[Span, ...]:
    """Sentences, cut only before a new subject: a list with commas stays one statement."""
    return _cut(text, _STATED)


def _cut(text: str, gap: re.Pattern[str]) -> tuple[Span, ...]:
    out: list[Span] = []
    for sentence in SENTENCE.finditer(text):
        start = sentence.start()
        nay = _NO_MORE.match(text, sentence.start(), sentence.end())
        if nay is not None:
            out.append((start, nay.start("rest")))
            start = nay.start("rest")
        for match in gap.finditer(text, start, sentence.end()):
            out.append((start, match.start()))
            start = match.end()
        out.append((start, sentence.end()))
    return tuple(one for one in out if text[one[0] : one[1]].strip())


def judged(text: str) -> list[Scope]:
    """What each statement denies, doubts or says of a relative: never beyond itself.

    "He" and "she" go on about the relative whom the statement before names.
    """
    out: list[Scope] = []
    kin: Scope | None = None
    for start, end in statements(text):
        said = _CERTAIN.sub(lambda match: "_" * len(match[0]), text[start:end])
        here = [
            replace(
                one,
                start=one.start + start,
                end=one.end + start,
                trigger=(one.trigger[0] + start, one.trigger[1] + start),
            )
            for one in scopes(said)
        ]
        if kin is not None and _PRONOUN.match(said):
            here.append(replace(kin, start=start, end=end))
        kin = next((one for one in here if one.kind == "family"), None)
        out += here
    return out


def over(found: tuple[str, ...], spans: Sequence[Span]) -> Value:
    """Several values as one, over the words of all of them."""
    return Value(value=found, start=min(a for a, _ in spans), end=max(b for _, b in spans))


def within(field: Field, found: float) -> bool:
    """Does the number lie in the field's bounds?"""
    low = field.low if field.low is not None else float("-inf")
    high = field.high if field.high is not None else float("inf")
    return low <= found <= high


def first_sentence(text: str) -> str:
    """The first sentence that has letters, in its place; what follows is blanked."""
    for match in SENTENCE.finditer(text):
        if any(char.isalnum() for char in match.group()):
            return " " * match.start() + match.group() + " " * (len(text) - match.end())
    return text


_FILLER = re.compile(
    r"^\W*(?:(?:ok(?:ay)?|alright|all right|sure|please|yes|fine|so|and|then|now|let's|lets|just|well)\W+)*"
    r"(?:ok(?:ay)?|actually|sorry|go on|go ahead|continue|carry on|proceed|next|what(?:'s| is)? next|what do you need(?: from me)?|what else|"
    r"one (?:moment|minute|second|sec)[^.!?]*|wait|hold on|hang on|let me (?:check|see|think|ask|find|look)[^.!?]*|"
    r"i(?:'ll| will) (?:check|ask|find out|look)[^.!?]*|i (?:already )?(?:said|told you|wrote|mentioned)(?: (?:that|it|so))?(?: (?:already|before|above))?|as i said|see above)"
    r"(?:\W+(?:please|then|now|thanks|thank you))*\W*$|^\W*(?:شكرا|شكرًا|شكراً|مشكور\S*|धन्यवाद|शुक्रिया|shukriya|shukran|merci|gracias|asante|thx|tnx|ty|ठीक है|अच्छा|हम्म|حسنا|حسنًا|حسناً|طيب|تمام|أكمل|आगे बढ़िए)\W*$",
    re.IGNORECASE,
)
"""What keeps a conversation going, and answers nothing."""


def goes_on(text: str) -> bool:
    """Does the message only keep the conversation going, such as "ok, what do you need"?"""
    return _FILLER.match(text) is not None


def short_answer(text: str, *, most: int) -> Value | None:
    """The message as an answer in words: at most so many, no question, nothing declined."""
    if goes_on(text):
        return None
    if declines(text) or doubts(text) or defers(text):
        return None
    if wants_person(text) or speaks_of_matching(text):
        return None
    start, end = whole(text)
    first = next(iter(SENTENCE.finditer(text, start)), None)
    body = text[start:end]
    if body.rstrip().endswith(("?", "؟")):
        if first is None or first.group().rstrip().endswith(("?", "؟")):
            return None
        end = first.start() + len(first.group().rstrip(" .!"))
    lead = _LEAD.match(text[start:end])
    if lead and lead.end() < end - start:
        start += lead.end()
    while end > start and text[end - 1] in " .,!;\n":
        end -= 1
    words = text[start:end].split()
    if not words or len(words) > most or end - start > LONGEST_WORDS:
        return None
    if not any(char.isalnum() for char in text[start:end]):
        return None
    return Value(value=text[start:end], start=start, end=end)


def intact(found: Value | None, text: str) -> Value | None:
    """The value, unless words were blanked out inside it."""
    if found is None or not isinstance(found.value, str):
        return found
    return found if text[found.start : found.end].casefold() == found.value.casefold() else None


def whole(text: str) -> Span:
    """Where the message stands without the blanks around it."""
    stripped = text.strip()
    start = text.index(stripped) if stripped else 0
    return start, start + len(stripped)


_OPENS_QUESTION = re.compile(
    r"\W*(?:and |but |so |or )?(?:what|which|who|whose|why|when|where|how|is|are|was|were|do|does|did|can|could|would|will|should|shall|may|must|has|have|am)\b(?!\W*$)",
    re.IGNORECASE,
)


def question_at(text: str, at: int) -> bool:
    """Do the words there stand in a question of the person's?

    "Aspirin, should I stop it?" tells of aspirin and then asks.
    """
    for sentence in SENTENCE.finditer(text):
        if not sentence.start() <= at < sentence.end():
            continue
        if not sentence.group().rstrip().endswith(("?", "؟")):
            return False
        parts = [(a, b) for a, b in clauses(text) if sentence.start() <= a and b <= sentence.end()]
        opens = next((a for a, b in parts if _OPENS_QUESTION.match(text[a:b])), sentence.start())
        return at >= opens
    return False


def cued(field: Field, text: str) -> bool:
    """Do the words name the field, by a cue or its label?"""
    cues = [cue for cue in (*field.cues, field.label) if len(cue) > 2]  # noqa: PLR2004
    return bool(cues) and phrase_pattern(cues).search(text) is not None
