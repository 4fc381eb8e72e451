"""Where somebody lives, and where he or she would be treated. Pure."""

from __future__ import annotations

import re
from dataclasses import replace

from bedside.flows.intake import persons
from bedside.flows.intake.answers import (
    NOT_BEFORE,
    Context,
    Value,
    clauses,
    first_sentence,
    question_at,
    short_answer,
    without,
)
from bedside.flows.intake.lexicon import (
    Found,
    countries,
    country_code,
    towns,
)
from bedside.flows.intake.naming import NAME
from bedside.flows.intake.signals import (
    corrects,
)
from bedside.flows.intake.texts import asked_text
from bedside.sop.contract import Field

__all__ = ["country_asked", "country_free", "destination_asked", "destination_free"]

_LIVES = re.compile(
    r"\b(?:live|living|lives|reside|residing|resident|based|staying|settled|home is|country is|i'm in|i am in|"
    r"we are in|we're in|writing|calling|come|coming|citizen|here in|back home)\b[^.!?;]{0,25}$"
    r"|\b(?:i'm|i am|we're|we are|we r|im)\s+(?:the\s+)?$"
    r"|(?<!money )(?<!away )(?<!send )(?<!sends )(?<!sent )(?<!back )(?<!letter )(?<!report )(?<!doctor )(?<!surgeon )(?<!support )(?<!flight )(?<!fly )(?<!far )\bfrom\s+(?:the\s+)?$"
    r"|(?:أعيش في|من|مقيم في|أقيم في)\s*$",
    re.IGNORECASE,
)


_RESIDES = re.compile(
    r"\b(?:live|living|lives|reside|residing|resident|based|settled)\b[^.!?;,]{0,25}$"
    r"|(?:أعيش في|مقيم في|أقيم في)\s*$",
    re.IGNORECASE,
)


_LIVES_AFTER = re.compile(
    r"^\s*(?:se (?:hai|hain|hoon|hun|hu)\b|(?:me|mein) (?:rah|reh)\w*|में रहत|से हूँ|से हूं|में हूँ)",
    re.IGNORECASE,
)


_GOING = re.compile(
    r"\b(?:travel(?:ling)?|go|going|fly(?:ing)?|trip|treated|treatment|surgery|operated|operation|hospitals?|doctors?|done|"
    r"heard|considering|thinking|interested|prefer(?:ably|ence)?|destination|options?)\b[^.!?;]{0,30}$",
    re.IGNORECASE,
)


_LIVED = re.compile(
    r"\b(?:lived|used to live|stayed|born|grew up|originally|before that|came from|moved from|left)\b",
    re.IGNORECASE,
)


def _of_patient(text: str) -> bool:
    """Does the message say elsewhere where he or she is?"""
    return (
        re.search(
            r"\b(?:he|she|they)(?:'s|’s| is| are| lives?| stays?)\b[^.!?]{0,20}\bin\b",
            text,
            re.IGNORECASE,
        )
        is not None
    )


def _clause_before(text: str, at: int) -> str:
    """The words of the clause before the place."""
    return next((text[a:at] for a, b in clauses(text) if a <= at < b), "")


def _places(text: str) -> list[Found]:
    """Countries, and towns that stand in one; "Muscat, Oman" is one place."""
    named = countries(text)
    more = [
        one
        for one in towns(text)
        if not any(one.start < other.end and other.start < one.end for other in named)
    ]
    out: list[Found] = []
    for one in sorted([*named, *more], key=lambda found: found.start):
        last = out[-1] if out else None
        if last is not None and re.fullmatch(r"[\s,(]*(?:in )?", text[last.end : one.start]):
            # A town's country gives way to the country that is named behind it.
            named_one = one if one in named else last
            out[-1] = replace(named_one, start=last.start, end=one.end)
        else:
            out.append(one)
    return out


def country_free(field: Field, context: Context) -> Value | None:
    """The country where the message says that somebody lives; `None` where it says of none."""
    del field
    weak: Value | None = None
    carer = persons.is_carer(context.text, context.state)
    for one in _places(context.text):
        if carer and persons.of_writer(context.text, one.start) and _of_patient(context.text):
            continue
        lead = context.text[max(0, one.start - 60) : one.start]
        rest = context.text[one.end :]
        if question_at(context.text, one.start) or NOT_BEFORE.search(lead):
            continue
        if _LIVED.search(_clause_before(context.text, one.start)):
            continue
        if carer and _WORKS.search(context.text):
            continue  # a relative who works abroad is not the patient
        if not _is_country(context.text, one) and not _IN.search(lead):
            continue  # "I am David": many a town is a name
        if context.state.turn <= 1 and _stands_alone(context.text, one):
            weak = weak or Value(value=one.value, start=one.start, end=one.end, strong=False)
        if _RESIDES.search(lead) or _LIVES_AFTER.match(rest):
            return Value(value=one.value, start=one.start, end=one.end)
        if _LIVES.search(lead) and not _GOING.search(lead):
            weak = weak or Value(value=one.value, start=one.start, end=one.end)
    return weak


_WORKS = re.compile(r"\bi(?:'m| am|m)? (?:\w+ )?(?:in|work(?:ing)?)\b[^.!?]*\bwork", re.IGNORECASE)
_IN = re.compile(r"\b(?:in|at|near|from|outside|around)\s+(?:the\s+|city of\s+)*$", re.IGNORECASE)


def _is_country(text: str, one: Found) -> bool:
    """Is the place, or a part of it, named by the words for countries?"""
    return any(one.start <= other.start and other.end <= one.end for other in countries(text))


def _stands_alone(text: str, one: Found) -> bool:
    """Is the place a clause of its own, as in "CABG. 59, male. Almaty."?"""
    before, after = text[: one.start], text[one.end :]
    return (
        re.search(r"[.,;\n]\s*(?:in |from |i'm in |we're in )?$", before, re.IGNORECASE) is not None
        and re.match(r"\s*(?:[.,;\n]|$)", after) is not None
    )


_MOVED = re.compile(
    r"\b(?:left|moved|came|come|fled|shifted|relocated|displaced)\b[^.!?;]*\b(?:for|to|in)\s+(?:the\s+)?(?:(?-i:[A-Z])\w+\s+)?$",
    re.IGNORECASE,
)
"""Before the place where somebody went to live: "we left Khartoum for Port Sudan"."""


def country_asked(field: Field, context: Context) -> Value | None:
    """The country of an answer, or the place as it is named; `None` where two are left."""
    lived = country_free(field, context)
    if lived is not None:
        return lived
    found = [
        one
        for one in _places(without(context.text, context.others))
        if not _GOING.search(context.text[max(0, one.start - 60) : one.start])
        and not NOT_BEFORE.search(context.text[: one.start])
        and not _LIVED.search(_clause_before(context.text, one.start))
    ]
    found = [one for one in found if _is_country(context.text, one)] or found  # "David said India"
    gone = [
        one for one in _places(context.text) if _MOVED.search(context.text[: one.start]) is not None
    ]
    found = found or gone[-1:]
    first = first_sentence(context.text)
    leads = [one for one in found if first[one.start : one.end].strip()]
    if len({one.value for one in leads}) == 1:
        return Value(value=leads[0].value, start=leads[0].start, end=leads[0].end)
    values = {one.value for one in found}
    if len(values) == 1 or (found and corrects(context.text)):
        return Value(value=found[-1].value, start=found[-1].start, end=found[-1].end)
    if found:
        return None  # two countries, and nothing says which: asked again
    coded = country_code(context.text)
    if coded is not None:
        return Value(value=coded.value, start=coded.start, end=coded.end)
    framed = _FRAMED.search(without(context.text, context.others))
    if framed is not None and not _LIVED.search(_clause_before(context.text, framed.start())):
        start, end = next(span for span in map(framed.span, "wabh") if span != (-1, -1))
        return Value(value=context.text[start:end], start=start, end=end)
    words = short_answer(without(context.text, context.others), most=3)
    again = context.state.get(field.id).asked > 1
    if words is None or context.others or NAME.search(context.text):
        return None
    return words if again or str(words.value)[0].isupper() else None


_MONTHS = (
    r"(?:January|February|March|April|May|June|July|August|September|October|November|December)"
)
_FRAMED = re.compile(
    r"(?:\b(?:live|living|lives|stay|staying|stays|reside|residing|resident|based|settled|located)\s+(?:\w+\s+){0,2}?(?:in|at|near|outside|around)"
    r"|(?:^\W*|\b(?:[Ii]|[Ww]e|[Hh]e|[Ss]he|[Tt]hey)(?:['’]?m|['’]?s|['’]?re| am| is| are)? (?:originally |come |comes )?)[Ff]rom"
    r"|\b(?:live|living|lives|stay|staying|stays))\s+(?:the\s+)?"
    rf"(?P<w>(?!(?:Dr|Mr|Mrs|Ms|Miss|Prof)\b|{_MONTHS}\b)[A-Z][\w'’-]+(?:\s+[A-Z][\w'’-]+){{0,2}})"
    r"|(?:^\W*|[أا]نا\s+|نحن\s+|[إا]حنا\s+)من\s+(?!فضلك|زمان)(?P<a>[\u0600-\u06ff]{3,}(?:\s+ال[\u0600-\u06ff]+)?)(?=\W*$|[.,،])"
    r"|(?:عيش|سكن|مقيم\S*|ساكن\S*|عايش\S*)\s+في\s+(?P<b>[\u0600-\u06ff]{3,}(?:\s+ال[\u0600-\u06ff]+)?)"
    r"|(?P<h>[\u0900-\u097f]{3,})\s+(?:में\s+रह|से\s+(?:हूँ|हूं|हैं))"
)
"""A place by its frame: "we stay near Bhadrachalam", wherever that is."""


def destination_asked(field: Field, context: Context) -> Value | None:
    """The countries of a wish, or its words."""
    found = countries(without(context.text, context.others))
    if found:
        names = tuple(dict.fromkeys(one.value for one in found))
        return Value(value=", ".join(names), start=found[0].start, end=found[-1].end)
    return asked_text(field, context)


def destination_free(field: Field, context: Context) -> Value | None:
    """The country where somebody says that he or she would be treated."""
    del field
    for one in countries(context.text):
        lead = context.text[max(0, one.start - 60) : one.start]
        going = _GOING.search(lead) and not _RESIDES.search(lead) and not NOT_BEFORE.search(lead)
        if going and not question_at(context.text, one.start):
            return Value(value=one.value, start=one.start, end=one.end, strong=False)
    return None
