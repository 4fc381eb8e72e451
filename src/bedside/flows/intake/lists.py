"""Lists of things, such as allergies or medicines, in a message. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from bedside.flows.intake import persons
from bedside.flows.intake.answers import (
    NONE,
    SENTENCE,
    Context,
    Span,
    Value,
    clauses,
    cued,
    first_sentence,
    intact,
    judged,
    over,
    question_at,
    short_answer,
    statements,
    whole,
    without,
)
from bedside.flows.intake.exceptions import excepted, substances
from bedside.flows.intake.kinds import choices_in
from bedside.flows.intake.lexicon import phrase_pattern
from bedside.flows.intake.signals import agrees, corrects, declines, defers, doubts_here
from bedside.flows.intake.yes_no import denies
from bedside.sop.contract import Field

__all__ = ["list_asked", "list_free"]

_FEW = 6
_NO_LIST = re.compile(
    r"\b(?:i|this|earlier|made|correction|living|based|was|were|we|want|live|surgery|operation|that was|can we|is over|what|please|go on|continue|my name|budget|pay|ok(?:ay)?|years? old)\b",
    re.IGNORECASE,
)


def list_asked(field: Field, context: Context) -> Value | None:
    """The things that an answer lists; empty for none."""
    chosen = choices_in(field, context.text) if field.choices else []
    if chosen:
        return over(
            tuple(dict.fromkeys(str(one.value) for one in chosen)),
            [(one.start, one.end) for one in chosen],
        )
    if declines(context.text):
        return None
    if _keeps(field):
        left_out = _left_out(field, context)
        if left_out is not None:
            return left_out
    free = list_free(field, context)
    if free is not None:
        return free
    if (
        doubts_here(context.text)
        or defers(context.text)
        or (context.others and corrects(context.text))
    ):
        return None
    left = without(context.text, context.others)
    first = first_sentence(left)
    start, end = whole(first)
    parts = clauses(left)
    if NONE.match(first) or denies(field, first):
        return Value(value=(), start=start, end=end)
    if parts and _HAS_NONE.search(left[parts[0][0] : parts[0][1]]):
        return Value(value=(), start=start, end=end)
    for start, end in parts:
        if persons.of_other(left, end - 1, context.state):
            continue
        clause = " " * start + left[start:end] + " " * (len(left) - end)
        found = _listed(clause, context, end=_sentence_end(left, start))
        if found is not None:
            return found
    return None


def _left_out(field: Field, context: Context) -> Value | None:
    found = excepted(context.text, allergies="allerg" in field.id)
    if found is None or persons.of_other(context.text, found.end - 1, context.state):
        return None
    return found


def _keeps(field: Field) -> bool:
    """Is it a list of allergies or of medicines, where what a denial leaves out counts?"""
    return any(one in field.id for one in ("allerg", "medic", "drug"))


_HAS_NONE = re.compile(
    r"\b(?:none|nothing|not any|not a (?:single )?(?:one|thing))\W*(?:that i (?:know|no)(?: of)?|i (?:know|no) of|so far|at all|whatsoever)?\W*$"
    r"|\b(?:don't|do not|doesn't|does not|dont|doesnt|never|didn't)\s+(?:have|had|take|takes|get|react|suffer|noticed?|heard|seen|saw|found|know)\b[^.!?]{0,20}?(?:\b(?:any|anything|one|them|allerg\w+|reactions?)\b[^.!?]{0,15})?\W*$"
    r"|(?:नहीं|नही)(?:\s+(?:है|हैं|जी))?\W*$|^\W*(?:لا|ليس)(?!\w)",
    re.IGNORECASE,
)
_BRINGS = re.compile(
    r"\s+(?:brings?|gives?|gave|makes?|made|causes?|caused|sets?|upsets?|puts?|does not agree|doesn't agree|do not agree|don't agree)\b.*$",
    re.IGNORECASE | re.DOTALL,
)


def _sentence_end(text: str, start: int) -> int:
    """Where the sentence ends that holds the place."""
    return next(
        (one.end() for one in SENTENCE.finditer(text) if one.start() <= start < one.end()),
        len(text),
    )


def _listed(clause: str, context: Context, *, end: int) -> Value | None:
    """The things that the words from this clause to their sentence's end list."""
    start = len(clause) - len(clause.lstrip())
    text = without(context.text, context.others)
    said = " " * start + text[start:end] + " " * (len(text) - end)
    caused = _BRINGS.search(said)
    if caused is not None:
        said = said[: caused.start()] + " " * (len(said) - caused.start())
    stop = _NO_LIST.search(said)
    if stop is not None:
        cut = max((b for a, b in clauses(said) if b <= stop.start()), default=start)
        said = said[:cut] + " " * (len(said) - cut)
    short = intact(short_answer(said, most=12), context.text)
    if short is None or (context.others and len(str(short.value).split()) > _FEW):
        return None
    if agrees(str(short.value)) and len(str(short.value).split()) < 3:  # noqa: PLR2004 - a bare yes
        return None
    parts = [
        one
        for one in _parts(str(short.value))
        if substances(one) or not (len(one.split()) >= _FEW or _TELLS_OF.match(one))
    ]
    return Value(value=tuple(parts), start=short.start, end=short.end) if parts else None


_TELLS_OF = re.compile(
    r"(?:i|he|she|they|we|you|it)(?:['’]\w+)?\s+\w+\s+\w|(?:the|my|her|his) (?:nurse|doctor|hospital)\b",
    re.IGNORECASE,
)
"""What somebody did is no thing of a list."""
_TAKES = re.compile(
    r"\b(?:i|he|she|we)(?:'m|'s| am| is)? (?:also )?(?:takes?|taking|on)\s+(?P<w>(?!an?\b|the\b|my\b|care\b|holiday|leave|it\b|her\b|him\b|them\b|time\b|no\b|not\b|none\b|nothing\b|never\b)"
    r"[A-Za-z](?:(?!\s+(?:hope|thank|thanks|sorry|every day for|for (?:the|my|his|her|it|that|about|over))\b)[^.!?;]){2,80})",
    re.IGNORECASE,
)


_NO_PART = re.compile(
    r"^(?:it|this|that|them|anything|everything|.*\bfor (?:it|that)|(?:have|has|had|am|is|are|take|takes|live|lives)\b.*|(?:a |an )?(?:mild |bad |severe |skin |itchy )*(?:rash|hives|itch\w*|swelling|nausea|vomiting|blisters|reaction|sick)|yes|yeah|well|y|no\b.*|not\b.*|(?:otherwise |apart from that |other than that )?(?:none|nothing)\b.*|that's (?:it|all)|thats all|"
    r"(?:a |some |his |her |my |the )?(?:medicines?|medication|tablets?|drugs?|pills?|something)(?: (?:for|to|against) .*)?|there (?:is|are|was)\b.*|.*\b(?:me|him|her)(?: \w+){0,2}|.*\b(?:is|are|was|were|has|have|had)\b.*)$",
    re.IGNORECASE,
)
"""Words of a list that name no thing."""
_OPENS = re.compile(
    r"^(?:(?:i|she|he|we|they)(?:'ve|'s|'m|’m)?\s+(?:also\s+)?(?:have|has|had|am|is|are|got|takes?|gets?|uses?)\s+(?:got\s+)?(?:an?\s+)?(?:allergic\s+to\s+|allergy\s+to\s+)?"
    r"|allergic\s+to\s+|(?:to|only|just|mainly|maybe|also|i think|it's|its)\s+)",
    re.IGNORECASE,
)


def _parts(words: str) -> list[str]:
    """What a list names, one by one."""
    plain = re.sub(r"\s*\([^)]*\)", "", words)
    found = [
        _OPENS.sub("", one.strip(" .-–:\t"))
        for one in re.split(r",|;|\n|\band\b|&|،|\bऔर\b|\bplus\b", plain)
    ]
    return [one for one in found if one and not _NO_PART.match(one)]


_WHOLE = re.compile(
    r"(?:\s+(?:degeneration|disease|detachment|hole|o?edema|pucker|dystrophy|tear))?", re.IGNORECASE
)
"""What completes the name of a disease that its first word stands for."""


def _whole_name(text: str, end: int) -> int:
    found = _WHOLE.match(text, end)
    return found.end() if found is not None else end


def list_free(field: Field, context: Context) -> Value | None:
    """Things that the message says are the field's."""
    text = context.text
    if field.choices and cued(field, text):
        chosen = choices_in(field, text)
        if chosen:
            return over(
                tuple(dict.fromkeys(str(one.value) for one in chosen)),
                [(one.start, one.end) for one in chosen],
            )
    if "disease" in field.id and field.id != "key_comorbidities":
        here = [(a, _whole_name(text, b)) for a, b in _named(field, context)]
        if here:
            return over(tuple(dict.fromkeys(text[a:b].casefold() for a, b in here)), here)
    none = _none_named(field, text)
    if _keeps(field) and (none is not None or _ILL_BORNE.search(text)):
        left_out = _left_out(field, context)
        if left_out is not None:
            return left_out
    if "allerg" in field.id:
        found = _not_borne(context)
        if found is not None:
            return found
        found = _so_named(context)
        if found is not None:
            return found
    taken = _taken(context) if "medic" in field.id or "drug" in field.id else None
    return taken if taken is not None else none


def _taken(context: Context) -> Value | None:
    """What somebody says that they take; nobody takes what pays for it: "on Medicare"."""
    text = context.text
    pays = phrase_pattern(
        [
            word
            for other in context.contract.fields
            for words in other.choices.values()
            for word in words
        ]
        or ["-"]
    )
    for start, end in statements(text):
        match = _TAKES.search(text, start, end)
        found = tuple(_parts(match["w"])) if match else ()
        if match and found and not pays.search(match["w"]):
            ends = match.start("w") + match["w"].rfind(found[-1]) + len(found[-1])
            return Value(value=found, start=match.start("w"), end=ends)
    return None


_ILL_BORNE = re.compile(
    r"\b(?:don't|do not|doesn't|does not|dont)\s+(?:react|respond|tolerate|do)\b", re.IGNORECASE
)
_NOT_BORNE = re.compile(
    r"\b(?:(?P<sure>allergic to|react (?:badly )?to)|(?:can't|cannot|can’t|cant|must not) (?:have|take|tolerate|use|touch))\s+(?P<w>[^.!?;,]{2,60})",
    re.IGNORECASE,
)
_FOR_NOW = re.compile(
    r"\b(?:before|until|till|while|during|yet|today|tomorrow|this week)\b", re.IGNORECASE
)


def _not_borne(context: Context) -> Value | None:
    """What the patient is allergic to, or cannot have: the latter only of a known substance."""
    text = context.text
    at = 0
    while match := _NOT_BORNE.search(text, at):
        at, (start, end) = match.start("w"), match.span("w")
        if persons.of_other(text, start, context.state):
            continue
        denied = any(
            one.kind == "negated" and one.start <= start < one.end
            for one in judged(text)
            if one.trigger[0] < match.start()
        )
        known = substances(text, start, end)
        if denied or not (
            match["sure"] or (known and not _FOR_NOW.search(text, known[-1][1], end))
        ):
            continue
        found = _parts(match["w"])
        if not match["sure"]:
            found = [one for one in found if substances(one)]
        if found:
            return Value(value=tuple(found), start=start, end=end)
    return None


_ALLERGY = re.compile(r"\s*(?:-\s*)?allerg(?:y|ies|ic)\b", re.IGNORECASE)


def _so_named(context: Context) -> Value | None:
    """A known substance before the word itself: "penicillin allergy"; `None` where it is denied."""
    text = context.text
    told = judged(text)
    spans = [
        (a, b)
        for a, b in substances(text)
        if _ALLERGY.match(text, b)
        and not persons.of_other(text, a, context.state)
        and not question_at(text, a)
        and not any(one.kind == "negated" and one.start <= a < one.end for one in told)
    ]
    return over(tuple(text[a:b] for a, b in spans), spans) if spans else None


def _named(field: Field, context: Context) -> Sequence[Span]:
    """Where the text names one of the field's cues, and does not deny or doubt it."""
    single = [one for one in field.cues if " " not in one]
    text = context.text
    away = {"negated", "uncertain"}
    if not persons.is_carer(text, context.state):
        away.add("family")
    denied = [one for one in judged(text) if one.kind in away]
    return [
        one.span()
        for one in (phrase_pattern(single).finditer(text) if single else ())
        if not question_at(text, one.start())
        and not any(s.start <= one.start() < s.end for s in denied)
    ]


def _none_named(field: Field, text: str) -> Value | None:
    """The field by its name, and denied: "no other eye disease", "no known drug allergies"."""
    heads = {field.label.removeprefix("other ").removeprefix("current ")}
    heads |= {one for one in (*field.cues, *heads) if len(one) > 3}  # noqa: PLR2004
    plain = sorted({_singular(one) for one in heads}, key=len, reverse=True)
    words = "|".join(re.escape(one) for one in plain)
    match = re.search(
        rf"\b(?:no|not any|(?:don't|do not|never) (?:have|had|take)(?: any)?|without(?: any)?|not allergic to anything)\b"
        rf"(?:\s+(?:other|known|more|further|regular|drug|food|medicine|medication|at all|kind of|of))*"
        rf"(?:(?<=anything)|\s+(?:{words})(?:s|es|ies)?\b)(?!\s+of (?:this|that)\b)",
        text, re.IGNORECASE,
    )  # fmt: skip
    if match is None or question_at(text, match.start()):
        return None
    if match.group().casefold().endswith("anything") and "allerg" not in field.id:
        return None
    return Value(value=(), start=match.start(), end=match.end())


def _singular(word: str) -> str:
    """The word without its plural, and without the "y" that the plural changes."""
    for ending in ("ies", "s"):
        if word.endswith(ending):
            return word[: -len(ending)]
    return word.removesuffix("y")
