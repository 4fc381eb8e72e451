"""A person's name in a message: as the answer to its question, or said unasked. Pure."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import replace

from bedside.flows.intake.answers import (
    SENTENCE,
    WHEN,
    Context,
    Value,
    clauses,
    intact,
    short_answer,
    without,
)
from bedside.flows.intake.lexicon import NO, YES, conditions, countries
from bedside.flows.intake.signals import agrees, corrects, disagrees
from bedside.sop.contract import Field

__all__ = ["NAME", "name_asked", "name_free"]

_LETTERS = r"[^\s.,;:!?()\"|\d_/।؟،]"
_ONE_NAME = rf"(?:[^\W\d_]\.(?=\s?[^\W\d_])|(?:Dr|Prof|Mr|Mrs|Ms|Miss|Sr|Jr)\.|{_LETTERS}+)"
NAME = re.compile(
    r"\b(?:my (?:full )?name(?:'s| is| (?=(?-i:[A-Z][a-z])))|name's|name is|name:|call me|i am called|i'm called|they call me|"
    r"(?:his|her|the patient's) (?:full )?name is)\s*(?<=\s)"
    rf"(?P<n>{_ONE_NAME}(?:\s+(?!and\b|but\b|from\b|i\b|I'm\b|my\b|age|aged\b|please\b|thanks?\b|is\b|the\b|for\b|who\b|in\b|on\b|what\b|he\b|she\b|we\b)"
    rf"{_ONE_NAME}){{0,3}})"
    rf"|(?:اسمي|मेरा नाम)\s+(?P<a>{_LETTERS}+(?:\s+(?!है|हैं|و){_LETTERS}+)?)",
    re.IGNORECASE,
)


def name_free(field: Field, context: Context) -> Value | None:
    """A name that the message introduces: "my name is", "call me"."""
    del field
    match = NAME.search(context.text)
    if match is None:
        return None
    group = "n" if match["n"] else "a"
    words = match[group].rstrip(".,;")
    if re.match(
        r"(?:not|on|the|a|an|so|very|just|in|back|when|if|by|at|later)\b", words, re.IGNORECASE
    ):
        return None
    start = match.start(group)
    # "Call me Emeka. Emeka Obi": the whole name follows.
    whole_one = re.match(
        rf"[.,;\s]+({re.escape(words)}(?:\s+{_LETTERS}+){{1,2}})", context.text[match.end() :]
    )
    if whole_one is not None:
        start += len(words) + whole_one.start(1)
        words = whole_one[1]
    return _named(Value(value=words, start=start, end=start + len(words)))


def _named(found: Value) -> Value:
    """A name in one case of letters is written as names are."""
    words = str(found.value)
    return replace(found, value=words.title()) if words in {words.lower(), words.upper()} else found


_NOT_A_NAME = re.compile(
    r"^\W*(?:what|how|when|who|which|where|why|the|an?|his|her|my|not|in|from|on|very|so|sorry|tired|fine)\b|\b(?:budget|money|pay|paying|take|need|want|have)\b|ميزاني|बजट",
    re.IGNORECASE,
)


_TITLED = re.compile(rf"^\W*{_ONE_NAME}(?:\s+{_ONE_NAME}){{1,4}}\W*$", re.IGNORECASE)
_PROPER = re.compile(r"^\W*[A-Z][^\W\d_'’]*(?:[\s'’-]+[A-Z][^\W\d_'’]*){1,3}\W*$")
_PLAIN_ENGLISH = re.compile(
    r"\W*(?:yes|yeah|yep|sure|ok|okay|of|go|no|nope|not|none|never|nothing|please|correct|right)\b"
    rf"|\W*(?:(?:{YES}|{NO})(?!\w)\W*)+$",
    re.IGNORECASE,
)
_CIVIL = re.compile(
    r"^\W*(?:good (?:morning|afternoon|evening|night|day)|thanks?|thank you|thank u|hello|hey|"
    r"(?:may )?god (?:bless|help|willing|is)|in ?sh?a?allah|as?salaa?m|it|why|call me later)\b"
    r"|^(?:(?!name).)*\bpain\W*$",
    re.IGNORECASE,
)
"""A greeting, thanks, a wish or a complaint, however it is written."""
_PLAINLY = re.compile(r"^\W*(?:i am|just|only|simply)\s+", re.IGNORECASE)
_SIGN_OFF = re.compile(
    r"\s+(?:x{1,3}|sir|madam|ma'am|mam|here|ji|speaking|please|is me|is my name|machan|bro|dear|po)\s*$",
    re.IGNORECASE,
)
_I_AM = re.compile(
    r"^\W*أنا(?:\s+(?:ابنه|ابنها|ابنته|ابنتها|زوجها|زوجته|أخوه|أخوها|أخته|أختها))?\s+"
)


def _signed(text: str) -> str:
    """The text up to its last letter, and without what a name is signed off with."""
    end = len(text)
    while end and unicodedata.category(text[end - 1])[0] not in "LM":
        end -= 1
    cut = _SIGN_OFF.search(text[:end])
    return text[: cut.start() if cut else end]


def _name_line(text: str) -> str:
    """The part of an answer that may be a name: a whole line of names, else its first clause."""
    plain = _signed(text).ljust(len(text))
    lead = _I_AM.match(plain) or _PLAINLY.match(plain)
    if lead is not None:
        plain = " " * lead.end() + plain[lead.end() :]
    if _TITLED.match(plain):
        return plain
    parts = [(a, b) for a, b in clauses(plain) if plain[a:b].strip(" .,")]
    if not parts:
        return plain
    (a, b), *more = parts
    # "Margaret, Margaret Hill" is one name, said twice.
    for c, d in more[:1]:
        last = plain[a:b].strip(" .,").split()[-1].casefold()
        if plain[c:d].strip(" .").casefold().startswith(f"{last} "):
            a, b = c, d
    return " " * a + plain[a:b] + " " * (len(plain) - b)


def _sentence_of(line: str, text: str) -> str:
    """The sentence of the text in which the line's words stand; the text where there are none."""
    at = len(line) - len(line.lstrip())
    spans = (one for one in SENTENCE.finditer(text) if one.start() <= at < one.end())
    return next((one.group() for one in spans), text)


def name_asked(field: Field, context: Context) -> Value | None:
    """The name of an answer; `None` where its words tell of something else."""
    said = name_free(field, context)
    if said is not None:
        return said
    first = _name_line(without(context.text, context.others))
    if context.others and corrects(_sentence_of(first, context.text)):
        return None
    short = intact(short_answer(first, most=4), context.text)
    cut = _SIGN_OFF.search(str(short.value)) if short is not None else None
    if short is not None and cut is not None:
        short = replace(short, value=str(short.value)[: cut.start()], end=short.start + cut.start())
    if short is None or any(char.isdigit() for char in str(short.value)):
        return None
    # "Mary Hull", "An Nguyen": who writes several words as names are written tells a name.
    proper = _PROPER.match(first) is not None and "?" not in context.text
    named = proper and _PLAIN_ENGLISH.match(first) is None  # "Si Mohamed" says no yes
    if conditions(first) or (not named and (agrees(first) or disagrees(first))):
        return None
    places = [(one.start, one.end) for one in countries(first)]
    if places and not (proper and without(first, places).strip(" .,")):
        return None
    if _CIVIL.search(str(short.value)) or (not proper and _NOT_A_NAME.search(first)):
        return None
    return None if WHEN.search(first) else _named(short)
