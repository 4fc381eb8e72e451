"""One field's value in a message: as the answer to its question, or volunteered. Pure.

What counts as an answer hangs on the field's kind; a few fields that every contract has (age,
country, name, who it is for, other illnesses) have readers of their own.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from bedside.flows.intake import persons
from bedside.flows.intake.answers import (
    NONE,
    NOT_BEFORE,
    WHEN,
    Context,
    Span,
    Value,
    clauses,
    first_sentence,
    intact,
    judged,
    over,
    question_at,
    short_answer,
    statements,
    whole,
    within,
    without,
)
from bedside.flows.intake.kinds import (
    NEAR,
    choice_asked,
    choice_free,
    money_asked,
    money_free,
    number_asked,
    number_free,
)
from bedside.flows.intake.lexicon import (
    RELATIVE,
    Found,
    conditions,
    countries,
    phrase_pattern,
    towns,
)
from bedside.flows.intake.lists import list_asked, list_free
from bedside.flows.intake.moments import moments
from bedside.flows.intake.naming import NAME, name_asked, name_free
from bedside.flows.intake.numbers import ages_in
from bedside.flows.intake.pressure import is_good, put_pressure
from bedside.flows.intake.signals import (
    corrects,
    declines,
    disagrees,
    doubts,
)
from bedside.flows.intake.texts import asked_text, date_asked, date_free, text_free
from bedside.flows.intake.yes_no import boolean_asked, boolean_free
from bedside.sop.contract import Field

__all__ = ["Context", "Value", "read_asked", "read_volunteered"]

_NO_ILLNESS = re.compile(
    r"\bno (?:other |known |major |serious |significant |medical |health |underlying |chronic )*(?:illness(?:es)?|"
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


_WALK = re.compile(
    r"\b(?:walk(?:ing)?|manage)\b[^.!?;]{0,40}?\b(?:\d+|a few|half an?|one|two|ten|twenty|hundred|hardly|barely|less than)[^.!?;,]{0,30}"
    r"\b(?:m|km|met(?:er|re)s?|kilomet(?:er|re)s?|miles?|blocks?|steps?|minutes?|mins?|yards?)\b",
    re.IGNORECASE,
)


def read_asked(field: Field, context: Context) -> Value | None:
    """The field's value, read as the answer to its own question; `None` where there is none."""
    if field.kind == "text" and field.id not in _ASKED:
        return asked_text(field, context)
    if field.kind == "number":
        context = replace(context, text=without(context.text, context.others))
    return (_ASKED.get(field.id) or _ASKED_KIND[field.kind])(field, context)


def read_volunteered(field: Field, context: Context) -> Value | None:
    """The field's value where the message names it unasked; `None` where it does not."""
    special = _FREE.get(field.id)
    if special is not None:
        return special(field, context)
    return _FREE_KIND[field.kind](field, context)


_OF_KIN = re.compile(
    rf"[\s-]*(?:years?|yr)?[\s-]*old[\s-]+(?:[\w-]+\s+){{0,2}}{RELATIVE}\b", re.IGNORECASE
)


def _age_free(field: Field, context: Context) -> Value | None:
    carer = persons.is_carer(context.text, context.state)
    for found in ages_in(context.text):
        # "my husband is 40" is the patient's age where the patient is the husband.
        after = context.text[found.end : found.end + NEAR]
        other = persons.of_somebody(context.text, found.start) or _OF_KIN.match(after)
        if within(field, found.value) and (carer or not other):
            return Value(value=found.plain, start=found.start, end=found.end)
    lone = _lone_number(context.text)
    return lone if lone is not None and within(field, float(str(lone.value))) else None


_LONE = re.compile(r"(?:^|(?<=[.!?;,\n]))\s*(\d{2})(?=\s*(?:[.!?;,\n]|$))")


_CHILD = 15
"""A child's age is said as one."""


def _lone_number(text: str) -> Value | None:
    """A number of two digits that is a sentence of its own beside others: "cataract. left. 71."."""
    found = _LONE.findall(text)
    if len(found) != 1 or not re.search(r"[^\W\d_]{3}", text):
        return None
    match = next(iter(_LONE.finditer(text)))
    years = int(match[1])
    return (
        Value(value=years, start=match.start(1), end=match.end(1), strong=False)
        if years > _CHILD
        else None
    )


def _age_asked(field: Field, context: Context) -> Value | None:
    return _age_free(field, context) or number_asked(field, context)


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


def _country_free(field: Field, context: Context) -> Value | None:
    del field
    weak: Value | None = None
    carer = persons.is_carer(context.text, context.state)
    for one in _places(context.text):
        if carer and _of_writer(context.text, one.start) and _of_patient(context.text):
            continue
        lead = context.text[max(0, one.start - 60) : one.start]
        rest = context.text[one.end :]
        if question_at(context.text, one.start) or NOT_BEFORE.search(lead):
            continue
        if _LIVED.search(_clause_before(context.text, one.start)):
            continue
        if not _is_country(context.text, one) and not _IN.search(lead):
            continue  # "I am David": many a town is a name
        if context.state.turn <= 1 and _stands_alone(context.text, one):
            weak = weak or Value(value=one.value, start=one.start, end=one.end, strong=False)
        if _RESIDES.search(lead) or _LIVES_AFTER.match(rest):
            return Value(value=one.value, start=one.start, end=one.end)
        if _LIVES.search(lead) and not _GOING.search(lead):
            weak = weak or Value(value=one.value, start=one.start, end=one.end)
    return weak


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


def _country_asked(field: Field, context: Context) -> Value | None:
    lived = _country_free(field, context)
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
    first = first_sentence(context.text)
    leads = [one for one in found if first[one.start : one.end].strip()]
    if len({one.value for one in leads}) == 1:
        return Value(value=leads[0].value, start=leads[0].start, end=leads[0].end)
    values = {one.value for one in found}
    if len(values) == 1 or (found and corrects(context.text)):
        return Value(value=found[-1].value, start=found[-1].start, end=found[-1].end)
    if found:
        return None  # two countries, and nothing says which: asked again
    words = short_answer(without(context.text, context.others), most=3)
    again = context.state.get(field.id).asked > 1
    if words is None or context.others or NAME.search(context.text):
        return None
    return words if again or str(words.value)[0].isupper() else None


def _destination_asked(field: Field, context: Context) -> Value | None:
    found = countries(without(context.text, context.others))
    if found:
        names = tuple(dict.fromkeys(one.value for one in found))
        return Value(value=", ".join(names), start=found[0].start, end=found[-1].end)
    return asked_text(field, context)


def _destination_free(field: Field, context: Context) -> Value | None:
    del field
    for one in countries(context.text):
        lead = context.text[max(0, one.start - 60) : one.start]
        going = _GOING.search(lead) and not _RESIDES.search(lead) and not NOT_BEFORE.search(lead)
        if going and not question_at(context.text, one.start):
            return Value(value=one.value, start=one.start, end=one.end, strong=False)
    return None


def _who_free(field: Field, context: Context) -> Value | None:
    del field
    return _who(context, asked=False)


def _who_asked(field: Field, context: Context) -> Value | None:
    return _who(context, asked=True) or choice_asked(field, context)


_OF_SELF = re.compile(
    r"\b(?:for (?:me|us)|myself|ourselves|my own|the patient|it(?:'s| is) me)\b", re.IGNORECASE
)


def _who(context: Context, *, asked: bool) -> Value | None:
    found = persons.who(context.text, asked=asked)
    if found is None:
        return None
    words = context.text[found[1] : found[2]]
    sure = asked or found[0] == "carer" or bool(_OF_SELF.search(words))
    return Value(value=found[0], start=found[1], end=found[2], strong=sure)


def _illnesses_free(field: Field, context: Context) -> Value | None:
    return _illnesses(field, context, asked=False)


def _illnesses_asked(field: Field, context: Context) -> Value | None:
    return _illnesses(field, context, asked=True)


def _illnesses(field: Field, context: Context, *, asked: bool) -> Value | None:  # noqa: C901 - one list of rules
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
        others = carer and (_of_writer(text, one.start) or _of_their_kin(text, one.start))
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
    for name in [name for name in hasnt if name in has]:
        del hasnt[name]
    before = context.state.value(field.id)
    known = [str(one) for one in before] if isinstance(before, (list, tuple)) else []
    own = first_sentence(without(text, context.others))
    none = _NO_ILLNESS.search(text) or (NONE.match(own) if asked else None)
    spans = [*has.values(), *hasnt.values()]
    if has:
        kept = [one for one in known if one not in hasnt and not one.startswith("no ")]
        merged = tuple(dict.fromkeys([*kept, *has]))
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


_WRITER = re.compile(r"\b(?:i am|i'm|i’m|im|i have|i've|myself|i also)\b", re.IGNORECASE)


def _of_writer(text: str, at: int) -> bool:
    """Do the words there speak of the one who writes, who is not the patient?"""
    here = next(((a, b) for a, b in statements(text) if a <= at < b), None)
    return here is not None and _WRITER.search(text, *here) is not None


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


def _when_free(field: Field, context: Context) -> Value | None:
    del field
    return next(
        (
            Value(value=match.group(), start=match.start(), end=match.end(), strong=False)
            for match in WHEN.finditer(context.text)
            if _wished(context.text, match.start())
        ),
        None,
    )


def _wished(text: str, at: int) -> bool:
    """Is the time there one that is wished for, and not one of something that happened?"""
    if question_at(text, at):
        return False
    here, to = next((a, b) for a, b in statements(text) if a <= at < b)
    lead = text[max(here, at - NEAR) : at]
    if re.search(
        r"\b(?:ago|since|was|had|happened|occurred|injur\w*|accident|fell|started|last|diagnosed|died|were)\b",
        lead,
        re.IGNORECASE,
    ):
        return False
    return re.search(
        r"\b(?:want|need|like|hope|plan|travel|come|surgery|operation|done|happen|treat|prefer|ready|go|do it|procedure|possible)\w*\b",
        text[here:to], re.IGNORECASE,
    ) is not None  # fmt: skip


def _when_asked(field: Field, context: Context) -> Value | None:
    text = without(context.text, context.others)
    match = WHEN.search(text)
    if match is not None:
        return Value(value=match.group(), start=match.start(), end=match.end())
    times = moments(text)
    if times:
        one = times[0]
        return Value(value=text[one.start : one.end].strip(), start=one.start, end=one.end)
    if re.search(
        r"\d|\b(?:soon|time|week|month|year|day|rush|urgent|ready|now|sure|flexible|when|after|before)",
        text,
        re.IGNORECASE,
    ):
        return asked_text(field, context)
    return None


def _walk_free(field: Field, context: Context) -> Value | None:
    del field
    match = _WALK.search(context.text)
    if match is None:
        return None
    return Value(value=match.group(), start=match.start(), end=match.end(), strong=False)


Reader = Callable[[Field, Context], "Value | None"]


_FREE: dict[str, Reader] = {
    "age": _age_free,
    "country_of_residence": _country_free,
    "country": _country_free,
    "name": name_free,
    "who": _who_free,
    "key_comorbidities": _illnesses_free,
    "timeline_preference": _when_free,
    "preferred_destination": _destination_free,
    "walking_distance": _walk_free,
}


_ASKED: dict[str, Reader] = {
    "age": _age_asked,
    "country_of_residence": _country_asked,
    "country": _country_asked,
    "name": name_asked,
    "who": _who_asked,
    "key_comorbidities": _illnesses_asked,
    "timeline_preference": _when_asked,
    "preferred_destination": _destination_asked,
}


_FREE_KIND: dict[str, Reader] = {
    "text": text_free,
    "number": number_free,
    "choice": choice_free,
    "boolean": boolean_free,
    "date": date_free,
    "money": money_free,
    "list": list_free,
}


_ASKED_KIND: dict[str, Reader] = {
    "text": asked_text,
    "number": number_asked,
    "choice": choice_asked,
    "boolean": boolean_asked,
    "date": date_asked,
    "money": money_asked,
    "list": list_asked,
}
