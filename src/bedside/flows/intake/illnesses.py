"""The illnesses that a message tells of, asked for or in passing. Pure."""

from __future__ import annotations

import re

from bedside.flows.intake import persons
from bedside.flows.intake.answers import (
    NONE,
    Context,
    Span,
    Value,
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
from bedside.flows.intake.exceptions import substances
from bedside.flows.intake.kinds import NEAR
from bedside.flows.intake.lexicon import (
    RELATIVE,
    conditions,
    phrase_pattern,
)
from bedside.flows.intake.pressure import is_good, put_pressure
from bedside.flows.intake.signals import (
    corrects,
    declines,
    disagrees,
    doubts,
)
from bedside.sop.contract import Field

__all__ = ["illnesses_asked", "illnesses_free"]

_NO_ILLNESS = re.compile(
    r"\b(?:no|not have(?: any)?) (?:other |known |major |serious |significant |medical |health |underlying |chronic )*(?:illness(?:es)?|"
    r"conditions?|(?:health |medical )?(?:problems?|issues?)|diseases?|comorbidit(?:y|ies)|medical history)\b(?<!\bno problem)"
    r"|\b(?:otherwise|perfectly|completely|generally|quite|pretty|very|totally) (?:healthy|fit|well|fine)\b"
    r"|\b(?:is|am|i'm|im|i’m|she's|he's|are|keeps?) (?:healthy|strong|fit and well|in good health)\b|\bfit as a fiddle\b|\bno (?:sickness|ailments?|complaints)\b"
    r"|^\W*(?:very |quite |pretty |mostly |fairly )?(?:fit|healthy)\b|^\W*strong as (?:a|an)\b|^\W*all (?:good|fine|clear|ok(?:ay)?)\b|\b(?:fit and healthy|healthy otherwise|in good health|i(?:'m| am) healthy)\b"
    r"|\bnothing else\b|لا توجد أمراض|कोई (?:और )?बीमारी नहीं",
    re.IGNORECASE,
)
_ABOUT_ELSE = re.compile(
    r"\b(?:take|thinners?|allerg\w*|smok\w*|operations?|surger\w*|pregnan\w*|infections?|insurance|budget)\b",
    re.IGNORECASE,
)
_MEASURED = re.compile(
    r"\s*(?:is|was|of|reading|level|:|=)?\s*(?:about )?\d+(?:[.,/]\d+)?(?!\s*(?:years?|yrs?|months?)\b)\b",
    re.IGNORECASE,
)
_DOCTOR = re.compile(r"\b(?:my|our|his|her|an|the|saw|see) endo$", re.IGNORECASE)
"""An endocrinologist, and no endometriosis."""
_NO_NAME = re.compile(
    r"\b(?:no|not|take|i|my|name|this|is|am|thinners?|allerg\w+|when|only|that|because|last|next|it|was|walk|the|to|me|us|yes|yeah|we|he|she|my|your|which|how|why|what|\d+)\b",
    re.IGNORECASE,
)


def illnesses_free(field: Field, context: Context) -> Value | None:
    """Illnesses that the message tells of unasked; `None` where it tells of none."""
    return _illnesses(field, context, asked=False)


def illnesses_asked(field: Field, context: Context) -> Value | None:
    """The illnesses of an answer, empty for none; `None` where it tells of something else."""
    return _illnesses(field, context, asked=True)


def _illnesses(field: Field, context: Context, *, asked: bool) -> Value | None:  # noqa: C901, PLR0912 - one list of rules
    text = context.text
    told = judged(text)
    denied = [one for one in told if one.kind == "negated"]
    family = [one for one in told if one.kind == "family"]
    carer = persons.is_carer(text, context.state)
    has: dict[str, Span] = {}
    hasnt: dict[str, Span] = {}
    elsewhere = _asked_apart(field, context)
    for one in conditions(text):
        if question_at(text, one.start) or any(
            a <= one.start and one.end <= b for a, b in elsewhere
        ):
            continue
        if _MEASURED.match(text, one.end) or _DOCTOR.search(text[: one.end]):
            continue
        if any(s.start <= one.start < s.end for s in family) and not carer:
            continue
        others = carer and (persons.of_writer(text, one.start) or _of_their_kin(text, one.start))
        if others or persons.of_other(text, one.start, context.state):
            continue
        away = any(s.start <= one.start < s.end for s in denied)
        away |= one.value == "high blood pressure" and is_good(text, one.start)
        (hasnt if away else has).setdefault(one.value, (one.start, one.end))
    if (
        asked
        and (bare := _PRESSURE.search(text)) is not None
        and "high blood pressure" not in {*has, *hasnt}
    ):
        put_pressure(text, bare.span(), has, hasnt)
    if asked and elsewhere and not has and not hasnt and not denied:
        has |= {one.value: (one.start, one.end) for one in conditions(text)}  # told of before
    for name in [name for name in hasnt if name in has]:
        del hasnt[name]
    before = context.state.value(field.id)
    known = [str(one) for one in before] if isinstance(before, (list, tuple)) else []
    own = first_sentence(without(text, context.others))
    none = _NO_ILLNESS.search(text) or (NONE.match(own) if asked else None)
    spans = [*has.values(), *hasnt.values()]
    if has:
        kept = [one for one in known if one not in hasnt and not one.startswith("no ")]
        more = _beside(
            own, [*spans, *((one.start, one.end) for one in conditions(text))], asked=asked
        )
        merged = tuple(dict.fromkeys([*kept, *has, *more]))
        return over(merged, spans) if list(merged) != known else None
    if none is not None and not known:
        return over((), [none.span(), *hasnt.values()])
    if hasnt and known and set(known) & set(hasnt):
        return over(tuple(one for one in known if one not in hasnt), spans)
    if hasnt and asked:
        return over(tuple(f"no {name}" for name in hasnt), spans)
    if (
        asked
        and disagrees(own)
        and not declines(text)
        and not doubts(text)
        and not _ABOUT_ELSE.search(own)
    ):
        start, end = whole(own)
        return Value(value=(), start=start, end=end)
    if asked and not (context.others and corrects(text)):
        words = intact(short_answer(own, most=5), text)
        if words is not None and _NO_NAME.search(str(words.value)):
            return None
        return Value(value=(words.value,), start=words.start, end=words.end) if words else None
    return None


_FEW = 3
_BESIDE = re.compile(r"\s*(?:,|&|\+|\band\b|\bplus\b)\s*", re.IGNORECASE)
_QUALIFIES = re.compile(
    r"^(?:(?:only|just|also|mild|bad|severe|some|a|an|the|bit of|little|slight|chronic|has|have|had|got|with|i|he|she)\s+)+",
    re.IGNORECASE,
)
_ADDS = re.compile(
    r"\W*\b(?:obviously|of course|too|as well|also|only|though|ofc|now|currently)\W*$",
    re.IGNORECASE,
)
_NO_ILLNESS_NAME = re.compile(
    r"\b(?:no|not|fine|ok|under control|controlled|obviously|otherwise|else|that'?s|it'?s|both|tablets?|medicines?|insulin|since|years?|he|she|they|we|is|are|was|on|uses?|using|takes?|taking|still|had|has|stable|mild|severe|well|long time|childhood)\b|\d",
    re.IGNORECASE,
)


def _beside(text: str, known: list[Span], *, asked: bool) -> tuple[str, ...]:
    """What an answer names beside the illnesses that are known here: "lupus and high bp"."""
    if not asked or not any(text[a:b].strip() for a, b in known):
        return ()
    out: list[str] = []
    at = len(text) - len(text.lstrip())
    cuts = [at, *(x for one in _BESIDE.finditer(text) for x in one.span()), len(text)]
    for a, b in zip(cuts[::2], cuts[1::2], strict=True):
        words = _QUALIFIES.sub("", _ADDS.sub("", text[a:b]).strip(" .!\n"))
        free = not any(a < d and c < b for c, d in known)
        if free and 0 < len(words.split()) <= _FEW and not _bare(words):
            out.append(words)
    return tuple(out)


def _bare(words: str) -> bool:
    """Do the words name no illness: too short, or said of something else?"""
    return (
        len(words) < NEAR // 10
        or _NO_ILLNESS_NAME.search(words) is not None
        or _NO_NAME.search(words) is not None
        or _ABOUT_ELSE.search(words) is not None
        or bool(substances(words))  # a medicine is no illness
        or not words.isascii()
    )


_THEIR_KIN = re.compile(rf"\b(?:his|her|their)\s+(?:\w+\s+)?{RELATIVE}\b", re.IGNORECASE)


def _of_their_kin(text: str, at: int) -> bool:
    """Do the words there speak of a relative of the patient?"""
    here = next(((a, b) for a, b in statements(text) if a <= at < b), None)
    return here is not None and _THEIR_KIN.search(text, here[0], at) is not None


_PRESSURE = re.compile(r"\bpressure\b", re.IGNORECASE)


def _asked_apart(field: Field, context: Context) -> list[Span]:
    """Where the words are those of another field: a stent, where earlier heart surgery is asked for."""
    cues = [
        cue
        for other in context.contract.fields
        if other.id != field.id
        for cue in (*other.cues, *(word for words in other.choices.values() for word in words))
        if len(cue) > NEAR // 10
    ]
    cues += [*context.contract.names, context.contract.title]
    found = phrase_pattern([*cues, *(f"{cue}s" for cue in cues)]) if cues else None
    spans = [match.span() for match in found.finditer(context.text)] if found else []
    return [(_whole_start(context.text, a), b) for a, b in spans]


_KIND_OF = re.compile(r"\b(?:diabetic|hypertensive|rheumatoid)\s+$", re.IGNORECASE)


def _whole_start(text: str, at: int) -> int:
    """Where the name begins that the place ends: "diabetic retinopathy" is no diabetes told."""
    kind = _KIND_OF.search(text[:at])
    return kind.start() if kind is not None else at
