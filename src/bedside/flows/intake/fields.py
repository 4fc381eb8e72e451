"""One field's value in a message: as the answer to its question, or volunteered. Pure.

What counts as an answer hangs on the field's kind; a few fields that every contract has (age,
country, name, who it is for, other illnesses) have readers of their own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from bedside.core.value import value
from bedside.flows.intake import persons, sums
from bedside.flows.intake.consent import speaks_of_matching, wants_matching
from bedside.flows.intake.lexicon import conditions, countries, phrase_pattern
from bedside.flows.intake.numbers import Number, age_in, numbers_in
from bedside.flows.intake.signals import (
    agrees,
    corrects,
    declines,
    defers,
    disagrees,
    doubts,
    nothing,
)
from bedside.language.dates import dates
from bedside.language.laterality import sides
from bedside.language.negation import scopes
from bedside.sop.contract import Contract, Field
from bedside.sop.state import State

__all__ = ["Context", "Value", "read_asked", "read_volunteered"]

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
_SENTENCE = re.compile(r"[^.!?;\n؟।]+[.!?؟।]?")
_CLAUSE = re.compile(r"[^.!?;,\n؟।،]+")
_NEAR = 40
_NOT_BEFORE = re.compile(
    r"(?:\b(?:not|isn't|isn’t|wasn't|no longer|never|instead of|rather than)|n't)\s+"
    r"(?:(?:the|my|on|a|in|by|through|from|with|have|any|been|on the)\s+){0,3}$",
    re.IGNORECASE,
)
_ANTICOAGULANT = phrase_pattern(
    [
        "warfarin",
        "coumadin",
        "apixaban",
        "eliquis",
        "rivaroxaban",
        "xarelto",
        "dabigatran",
        "pradaxa",
        "edoxaban",
        "heparin",
        "enoxaparin",
        "clexane",
        "clopidogrel",
        "plavix",
        "ticagrelor",
        "brilinta",
        "prasugrel",
        "aspirin",
        "ecosprin",
        "acenocoumarol",
        "sintrom",
    ]
)
_NO_ILLNESS = re.compile(
    r"\bno (?:other |known |major |serious |significant |medical |health |underlying |chronic )*(?:illness(?:es)?|"
    r"conditions?|(?:health |medical )?(?:problems?|issues?)|diseases?|comorbidit(?:y|ies)|medical history)\b(?<!\bno problem)"
    r"|\b(?:otherwise|perfectly|completely|generally|quite) (?:healthy|fit|well|fine)\b"
    r"|\b(?:fit and healthy|healthy otherwise|in good health|i(?:'m| am) healthy)\b"
    r"|\bnothing else\b|لا توجد أمراض|कोई (?:और )?बीमारी नहीं",
    re.IGNORECASE,
)
_IS_FINE = re.compile(
    r"\s+(?:(?:one|knee|hip|eye|side|leg)\s+)?(?:is|feels|looks|seems)\s+(?:fine|ok(?:ay)?|good|healthy|normal|all right|perfect|better)\b",
    re.IGNORECASE,
)
_ABOUT_ELSE = re.compile(
    r"\b(?:take|thinners?|allerg\w*|smok\w*|operations?|surger\w*|pregnan\w*|infections?|insurance|budget)\b",
    re.IGNORECASE,
)
_MEASURED = re.compile(r"\s*(?:is|was|of|reading|level|:|=)?\s*(?:about )?\d", re.IGNORECASE)
_NO_LIST = re.compile(
    r"\b(?:we|want|live|surgery|operation|that was|can we|is over|what|please|go on|continue|my name|budget|pay|ok(?:ay)?|years? old)\b",
    re.IGNORECASE,
)
_NO_NAME = re.compile(
    r"\b(?:no|not|take|i|my|name|this|is|am|thinners?|allerg\w+|when|only|that|because|last|next|it|was|walk|the|to|me|us|yes|yeah|we|he|she|my|your|which|how|why|what|\d+)\b",
    re.IGNORECASE,
)
_PAYS = {
    "self": (
        "ourselves", "our own money", "own pocket", "my pocket", "i will pay", "i'll pay", "we will pay",
        "we'll pay", "paying myself", "pay myself", "self", "own money", "own funds",
    ),
}  # fmt: skip
_NONE = re.compile(
    r"^\W*(?:no|none|nothing|nope|nil|not any|no others?|nothing else|none at all|not really|"
    r"none (?:of (?:these|those|them|that)|that i know(?: of)?)|not that i know(?: of)?|لا|لا شيء|नहीं|कोई नहीं|कुछ नहीं)\W*"
    r"(?:thanks|thank you|at all|else)?\W*$",
    re.IGNORECASE,
)
_LIVES = re.compile(
    r"\b(?:live|living|lives|reside|residing|resident|based|staying|settled|home is|country is|i'm in|i am in|"
    r"we are in|we're in|writing|calling|come|coming|citizen|here in|back home)\b[^.!?;]{0,25}$"
    r"|\b(?:from|i'm|i am|we're|we are)\s+(?:the\s+)?$"
    r"|(?:أعيش في|من|مقيم في|أقيم في)\s*$",
    re.IGNORECASE,
)
_RESIDES = re.compile(
    r"\b(?:live|living|lives|reside|residing|resident|based|settled)\b[^.!?;,]{0,25}$"
    r"|(?:أعيش في|مقيم في|أقيم في)\s*$",
    re.IGNORECASE,
)
_LIVES_AFTER = re.compile(r"^\s*(?:में रहत|से हूँ|से हूं|में हूँ)", re.IGNORECASE)
_GOING = re.compile(
    r"\b(?:travel(?:ling)?|go|going|fly(?:ing)?|trip|treated|treatment|surgery|operated|operation|hospitals?|doctors?|done|"
    r"heard|considering|thinking|interested|prefer(?:ably|ence)?|destination|options?)\b[^.!?;]{0,30}$",
    re.IGNORECASE,
)
_NAME = re.compile(
    r"\b(?:my (?:full )?name(?:'s| is)|name's|name is|name:|call me|i am called|i'm called|they call me|"
    r"(?:his|her|the patient's) (?:full )?name is)\s+"
    r"(?P<n>[^\W\d_][\w'’.-]*(?:\s+(?!and\b|but\b|from\b|i\b|I'm\b|my\b|age|aged\b|please\b|thanks?\b|is\b|the\b|for\b|who\b|in\b|on\b)"
    r"[^\W\d_][\w'’.-]*){0,3})"
    r"|(?:اسمي|मेरा नाम)\s+(?P<a>[^\W\d_]+(?:\s+[^\W\d_]+)?)",
    re.IGNORECASE,
)
_LEAD = re.compile(
    r"^\W*(?:(?:well|so|um+|uh|oh|ok(?:ay)?|yes|yeah|sure|hi|hello|thanks|thank you|please|actually|sorry|maybe|probably|i think|i guess)\W+)*"
    r"(?:(?:it(?:'s| is| was)|that(?:'s| is| would be)|i(?:'m| am)|my name is|you can call me|call me|this is|i live in|"
    r"i(?:'d| would) (?:say|like|prefer)|about|around|i want|i need|we want|looking for)\s+)?",
    re.IGNORECASE,
)
_WHEN = re.compile(
    r"\b(?:(?:with)?in (?:the )?(?:next |about |around |coming )?(?:a |an |\d+(?:\s?(?:-|to)\s?\d+)?|one|two|three|four|five|six|few|couple of)\s?(?:few )?(?:days?|weeks?|months?|years?)"
    r"|(?:next|this|coming|early|late|end of|beginning of|start of|by|before|after|around)\s+(?:the )?(?:week|month|year|spring|summer|autumn|winter|christmas|eid|ramadan|diwali|january|february|march|april|may|june|july|august|september|october|november|december)"
    r"|as soon as (?:possible|i can|we can)|asap|immediately|right away|urgent(?:ly)?|no (?:rush|hurry)|whenever|flexible|any ?time"
    r"|(?:in )?(?:january|february|march|april|june|july|august|september|october|november|december)(?: (?:20)\d\d)?)\b",
    re.IGNORECASE,
)
_WALK = re.compile(
    r"\b(?:walk(?:ing)?|manage)\b[^.!?;]{0,40}?\b(?:\d+|a few|half an?|one|two|ten|twenty|hundred|hardly|barely|less than)[^.!?;,]{0,30}"
    r"\b(?:m|km|met(?:er|re)s?|kilomet(?:er|re)s?|miles?|blocks?|steps?|minutes?|mins?|yards?)\b",
    re.IGNORECASE,
)


_LASTING = (
    r"(?:\d+(?:\.\d+)?|a|an|one|two|three|four|five|six|seven|eight|nine|ten|twelve|several|many|a few|a couple of)"
    r"(?: and a half)? (?:years?|months?|weeks?|days?)(?: now)?"
)


def read_asked(field: Field, context: Context) -> Value | None:
    """The field's value, read as the answer to its own question; `None` where there is none."""
    if field.kind == "text" and field.id not in _ASKED:
        return _asked_text(field, context)
    if field.kind == "number":
        context = replace(context, text=_without(context.text, context.others))
    return (_ASKED.get(field.id) or _ASKED_KIND[field.kind])(field, context)


def _without(text: str, spans: Sequence[Span]) -> str:
    """The text with those words blanked, every other character in its place."""
    left = list(text)
    for start, end in spans:
        left[start:end] = " " * (end - start)
    return "".join(left)


def read_volunteered(field: Field, context: Context) -> Value | None:
    """The field's value where the message names it unasked; `None` where it does not."""
    special = _FREE.get(field.id)
    if special is not None:
        return special(field, context)
    return _FREE_KIND[field.kind](field, context)


# ---- by field


def _age_free(field: Field, context: Context) -> Value | None:
    found = age_in(context.text)
    if found is None or not _within(field, found.value):
        return None
    # "my husband is 40" is the patient's age where the patient is the husband.
    lead = context.text[max(0, found.start - _NEAR) : found.start]
    if persons.of_somebody(lead) and not persons.is_carer(context.text, context.state):
        return None
    return Value(value=found.plain, start=found.start, end=found.end)


def _age_asked(field: Field, context: Context) -> Value | None:
    return _age_free(field, context) or _number_asked(field, context)


def _country_free(field: Field, context: Context) -> Value | None:
    del field
    weak: Value | None = None
    for one in countries(context.text):
        lead = context.text[max(0, one.start - 60) : one.start]
        rest = context.text[one.end :]
        if _question_at(context.text, one.start) or _NOT_BEFORE.search(lead):
            continue
        if _RESIDES.search(lead) or _LIVES_AFTER.match(rest):
            return Value(value=one.value, start=one.start, end=one.end)
        if _LIVES.search(lead) and not _GOING.search(lead):
            weak = weak or Value(value=one.value, start=one.start, end=one.end)
    return weak


def _country_asked(field: Field, context: Context) -> Value | None:
    lived = _country_free(field, context)
    if lived is not None:
        return lived
    found = [
        one
        for one in countries(context.text)
        if not _GOING.search(context.text[max(0, one.start - 60) : one.start])
        and not _NOT_BEFORE.search(context.text[: one.start])
    ]
    first = _first_sentence(context.text)
    leads = [one for one in found if first[one.start : one.end].strip()]
    if len({one.value for one in leads}) == 1:
        return Value(value=leads[0].value, start=leads[0].start, end=leads[0].end)
    values = {one.value for one in found}
    if len(values) == 1 or (found and corrects(context.text)):
        return Value(value=found[-1].value, start=found[-1].start, end=found[-1].end)
    if found:
        return None  # two countries, and nothing says which: asked again
    words = _short_answer(_without(context.text, context.others), most=3)
    again = context.state.get(field.id).asked > 1
    if words is None or context.others or _NAME.search(context.text):
        return None
    return words if again or str(words.value)[0].isupper() else None


def _name_free(field: Field, context: Context) -> Value | None:
    del field
    match = _NAME.search(context.text)
    if match is None:
        return None
    group = "n" if match["n"] else "a"
    words = match[group].rstrip(".,;")
    if re.match(
        r"(?:not|on|the|a|an|so|very|just|in|back|when|if|by|at|later)\b", words, re.IGNORECASE
    ):
        return None
    start = match.start(group)
    return _named(Value(value=words, start=start, end=start + len(words)))


def _named(found: Value) -> Value:
    """A name in one case of letters is written as names are."""
    words = str(found.value)
    return replace(found, value=words.title()) if words in {words.lower(), words.upper()} else found


def _name_asked(field: Field, context: Context) -> Value | None:
    said = _name_free(field, context)
    if said is not None:
        return said
    first = _first_sentence(_without(context.text, context.others))
    short = _short_answer(first, most=4)
    if short is None or any(char.isdigit() for char in str(short.value)) or agrees(first):
        return None
    if countries(first) or conditions(first) or disagrees(first):
        return None
    return None if _WHEN.search(first) else _named(short)


def _destination_asked(field: Field, context: Context) -> Value | None:
    found = countries(context.text)
    if found:
        names = tuple(dict.fromkeys(one.value for one in found))
        return Value(value=", ".join(names), start=found[0].start, end=found[-1].end)
    return _asked_text(field, context)


def _destination_free(field: Field, context: Context) -> Value | None:
    del field
    for one in countries(context.text):
        lead = context.text[max(0, one.start - 60) : one.start]
        going = _GOING.search(lead) and not _RESIDES.search(lead) and not _NOT_BEFORE.search(lead)
        if going and not _question_at(context.text, one.start):
            return Value(value=one.value, start=one.start, end=one.end, strong=False)
    return None


def _who_free(field: Field, context: Context) -> Value | None:
    del field
    return _who(context, asked=False)


def _who_asked(field: Field, context: Context) -> Value | None:
    return _who(context, asked=True) or _choice_asked(field, context)


def _who(context: Context, *, asked: bool) -> Value | None:
    found = persons.who(context.text, asked=asked)
    if found is None:
        return None
    words = context.text[found[1] : found[2]]
    sure = (
        asked
        or found[0] == "carer"
        or bool(re.search(r"\b(?:for|myself|patient)\b", words, re.IGNORECASE))
    )
    return Value(value=found[0], start=found[1], end=found[2], strong=sure)


def _illnesses_free(field: Field, context: Context) -> Value | None:
    return _illnesses(field, context, asked=False)


def _illnesses_asked(field: Field, context: Context) -> Value | None:
    return _illnesses(field, context, asked=True)


def _illnesses(field: Field, context: Context, *, asked: bool) -> Value | None:
    text = context.text
    denied = [one for one in scopes(text) if one.kind == "negated"]
    family = [one for one in scopes(text) if one.kind == "family"]
    carer = persons.is_carer(text, context.state)
    has: dict[str, Span] = {}
    hasnt: dict[str, Span] = {}
    eyes = context.contract.field("other_eye_disease") is not None
    for one in conditions(text):
        if _question_at(text, one.start) or (eyes and one.value == "glaucoma"):
            continue
        if _MEASURED.match(text, one.end):
            continue
        if any(s.start <= one.start < s.end for s in family) and not carer:
            continue
        away = any(s.start <= one.start < s.end for s in denied)
        (hasnt if away else has).setdefault(one.value, (one.start, one.end))
    for name in [name for name in hasnt if name in has]:
        del hasnt[name]
    before = context.state.value(field.id)
    known = [str(one) for one in before] if isinstance(before, (list, tuple)) else []
    none = _NO_ILLNESS.search(text) or (_NONE.match(text) if asked else None)
    spans = [*has.values(), *hasnt.values()]
    if has:
        kept = [one for one in known if one not in hasnt and not one.startswith("no ")]
        merged = tuple(dict.fromkeys([*kept, *has]))
        return _over(merged, spans) if list(merged) != known else None
    if none is not None and not known:
        return _over((), [none.span(), *hasnt.values()])
    if hasnt and known and set(known) & set(hasnt):
        return _over(tuple(one for one in known if one not in hasnt), spans)
    if hasnt and asked:
        return _over(tuple(f"no {name}" for name in hasnt), spans)
    if (
        asked
        and disagrees(text)
        and not declines(text)
        and not doubts(text)
        and not _ABOUT_ELSE.search(text)
    ):
        start, end = _whole(text)
        return Value(value=(), start=start, end=end)
    if asked:
        words = _short_answer(text, most=5)
        if words is not None and _NO_NAME.search(str(words.value)):
            return None
        return Value(value=(words.value,), start=words.start, end=words.end) if words else None
    return None


def _over(found: tuple[str, ...], spans: Sequence[Span]) -> Value:
    return Value(value=found, start=min(a for a, _ in spans), end=max(b for _, b in spans))


def _when_free(field: Field, context: Context) -> Value | None:
    del field
    match = _WHEN.search(context.text)
    if match is None or _question_at(context.text, match.start()):
        return None
    lead = context.text[max(0, match.start() - _NEAR) : match.start()]
    if re.search(
        r"\b(?:ago|since|was|had|started|last|diagnosed|died|were)\b", lead, re.IGNORECASE
    ):
        return None
    if not re.search(
        r"\b(?:want|need|like|hope|plan|travel|come|surgery|operation|done|happen|treat|prefer|ready|go|do it|procedure|possible)\w*\b",
        context.text, re.IGNORECASE,
    ):  # fmt: skip
        return None
    return Value(value=match.group(), start=match.start(), end=match.end(), strong=False)


def _when_asked(field: Field, context: Context) -> Value | None:
    match = _WHEN.search(context.text)
    if match is not None:
        return Value(value=match.group(), start=match.start(), end=match.end())
    written = dates(context.text)
    if written:
        one = written[0]
        return Value(value=context.text[one.start : one.end], start=one.start, end=one.end)
    if re.search(
        r"\d|\b(?:soon|time|week|month|year|day|rush|urgent|ready|now|sure|flexible|when|after|before)",
        context.text,
        re.IGNORECASE,
    ):
        return _asked_text(field, context)
    return None


def _walk_free(field: Field, context: Context) -> Value | None:
    del field
    match = _WALK.search(context.text)
    if match is None:
        return None
    return Value(value=match.group(), start=match.start(), end=match.end(), strong=False)


# ---- by kind


def _choice_asked(field: Field, context: Context) -> Value | None:
    found = _choices(field, context.text)
    if field.choices.keys() >= {"left", "right"}:
        found = _sided(field, context, asked=True) or found
    if (
        not found
        and "none" in field.choices
        and (_denies(field, context.text) or nothing(context.text))
    ):
        start, end = _whole(context.text)
        return Value(value="none", start=start, end=end)
    return _one_choice(field, context, found)


def _choice_free(field: Field, context: Context) -> Value | None:
    if field.choices.keys() >= {"left", "right"}:
        return _one_choice(field, context, _sided(field, context, asked=False))
    shared = {
        word.casefold()
        for other in context.contract.fields
        if other.id != field.id
        for words in other.choices.values()
        for word in words
    }
    pays = field.id == "funding_source" and re.search(
        r"\bpay(?:ing|s)?\b", context.text, re.IGNORECASE
    )
    cued = _cued(field, context.text) or bool(pays)
    found = [
        one
        for one in _choices(field, context.text)
        if cued or (_telling(context.text[one.start : one.end]) and
                    context.text[one.start : one.end].casefold() not in shared)
    ]  # fmt: skip
    one = _one_choice(field, context, found)
    return one and Value(
        value=one.value, start=one.start, end=one.end, strong=cued or corrects(context.text)
    )


def _telling(words: str) -> bool:
    """Words that say what they mean without their question."""
    return len(words.split()) > 1 or len(words) >= 7  # noqa: PLR2004 - "insurance", "crowdfunding"


def _choices(field: Field, text: str) -> list[Value]:
    found: list[Value] = []
    for name, words in field.choices.items():
        more = _PAYS.get(name, ()) if field.id == "funding_source" else ()
        for match in phrase_pattern((name.replace("_", " "), *words, *more)).finditer(text):
            if _NOT_BEFORE.search(text[: match.start()]) or _question_at(text, match.start()):
                continue
            if _IS_FINE.match(text, match.end()):
                continue
            found.append(Value(value=name, start=match.start(), end=match.end()))
    longest = [
        one
        for one in found
        if not any(
            other.start <= one.start and one.end <= other.end and other.end - other.start > one.end - one.start
            for other in found
        )
    ]  # fmt: skip
    return sorted(longest, key=lambda one: one.start)


def _sided(field: Field, context: Context, *, asked: bool) -> list[Value]:
    text = context.text
    names = " ".join(
        (*context.contract.names, context.contract.title, *field.ask.values())
    ).casefold()
    found = [
        Value(value=one.side, start=one.start, end=one.end)
        for one in sides(text)
        if one.side in field.choices
        and not _NOT_BEFORE.search(text[: one.start])
        and not _IS_FINE.match(text, one.end)
        and (one.of in names if one.of and not asked else asked or (not one.of and len(text.split()) < 4))  # noqa: PLR2004
    ]  # fmt: skip
    more = [
        one for one in _choices(field, text) if asked or len(text[one.start : one.end].split()) > 1
    ]
    seen = {(one.start) for one in found}
    return sorted(
        [*found, *(one for one in more if one.start not in seen)], key=lambda one: one.start
    )


def _one_choice(field: Field, context: Context, found: Sequence[Value]) -> Value | None:
    if not found:
        return None
    values = list(dict.fromkeys(str(one.value) for one in found))
    if len(values) == 1:
        return found[0]
    text = context.text
    if "both" in values and "both" in field.choices:
        return next(one for one in found if one.value == "both")
    if set(values) == {"left", "right"} and "both" in field.choices:
        between = text[found[0].end : found[-1].start]
        if re.fullmatch(
            r"[\s,]*(?:\w+\s+)?(?:and|&|plus)\s+(?:the\s+|my\s+)?", between, re.IGNORECASE
        ):
            return Value(value="both", start=found[0].start, end=found[-1].end)
    if corrects(text):
        return found[-1]
    return None


def _boolean_asked(field: Field, context: Context) -> Value | None:
    free = _boolean_free(field, context)
    if free is not None:
        return free
    start, end = _whole(context.text)
    if doubts(context.text) and not re.match(r"\W*(?:yes|no)\b", context.text, re.IGNORECASE):
        return None
    if declines(context.text) or wants_matching(context.text):
        return None
    if _AFFIRMS.search(context.text):
        return Value(value=True, start=start, end=end)
    if _denies(field, context.text):
        return Value(value=False, start=start, end=end)
    past = " ".join((field.id.replace("_", " "), *field.ask.values())).casefold()
    if (
        re.search(r"\b(?:before|ever|earlier|previous|recent|last)\b", past)
        and _HAPPENED.search(context.text)
        and not disagrees(context.text)
    ):
        return Value(value=True, start=start, end=end)
    return None


_AFFIRMS = re.compile(
    r"^\W*(?:(?:oh|well|um+|ah|unfortunately|sadly)\W+)*(?:yes|yeah|yep|yup|yea|ya|aye|of course|certainly|definitely|correct|indeed|"
    r"(?:i do|i am|i have|i did|we do|we have|we did|he does|he has|he is|she does|she has|she is|it has|it is|it was)(?=\W*$|[,.;!]|\s+(?:had|been|once|before)\b)|that's right|affirmative|"
    r"نعم|أجل|ايوه|हाँ|हां|जी(?! नहीं))(?=\W|$)"
    r"|\bi (?:think|believe|guess|suppose) so\b",
    re.IGNORECASE,
)
_DENIES = re.compile(
    r"^\W*(?:(?:oh|well|um+|ah|thankfully|luckily)\W+)*(?:no|nope|nah|naw|never|none|negative|not really|not at all|not that|not yet|not before|nothing|neither|"
    r"i don't|i do not|i'm not|i am not|i haven't|i have not|i have never|i've never|we haven't|we don't|he doesn't|he hasn't|she doesn't|she hasn't|"
    r"it hasn't|it has not|it isn't|لا|كلا|नहीं|जी नहीं|ना)(?=\W|$)(?P<rest>.*)",
    re.IGNORECASE | re.DOTALL,
)
_HAPPENED = re.compile(
    r"\b(?:once|twice|(?:one|two|three|four|five|\d+) (?:times?|cycles?|rounds?)|years? ago|months? ago|last (?:year|month)|in (?:19|20)\d\d|"
    r"(?:i|we|he|she) (?:did|had|tried|got)|sometimes|occasionally|a (?:bit|little))\b",
    re.IGNORECASE,
)
_MORE = re.compile(
    r"^\W*$|^\s*[,.;!-]|^\s+(?:i|we|it|he|she|not|never|there|thanks|thank|at all|so far|nothing|none|sir|madam|problems?|that|as far|to my)\b",
    re.IGNORECASE,
)


def _denies(field: Field, text: str) -> bool:
    """A no to this question: "no preference" is none, "no infection" is one."""
    match = _DENIES.match(text)
    if match is None:
        return bool(
            re.search(
                r"\b(?:i don't think so|not that i(?:'m| am) aware of)\b", text, re.IGNORECASE
            )
        )
    word = match.group()[: match.start("rest") - match.start()].split()[-1].lower()
    if word != "no" or _MORE.match(match["rest"]):
        return True
    asked = " ".join((field.label, *field.ask.values(), *field.cues)).casefold()
    return any(
        len(one) > 3 and one[:6].rstrip("s") in asked
        for one in re.findall(r"\w+", match["rest"].casefold())[:4]
    )  # noqa: PLR2004


_NO_SURGERY = re.compile(
    r"\b(?:no|never(?: been| had)?(?: any)?|not had any|without any) (?:\w+ ){0,2}?(?:operations?|operated|surger(?:y|ies))\b[^.!?;,]{0,20}"
    r"|\b(?:first|never any) (?:operation|surgery)\b",
    re.IGNORECASE,
)


def _boolean_free(field: Field, context: Context) -> Value | None:
    text = context.text
    if "previous" in field.id and "surgery" in field.id:
        none = _NO_SURGERY.search(text)
        if none is not None and not _question_at(text, none.start()):
            return Value(value=False, start=none.start(), end=none.end())
    thinner = "thinner" in field.id or "anticoag" in field.id
    spots = [match.span() for match in _ANTICOAGULANT.finditer(text)] if thinner else []
    cues = [cue for cue in field.cues if len(cue) > 3]  # noqa: PLR2004 - too short to tell
    if cues:
        spots += [
            match.span()
            for match in phrase_pattern([*cues, *(f"{c}s" for c in cues)]).finditer(text)
        ]
    spots = [spot for spot in spots if not _question_at(text, spot[0])]
    if not spots:
        return None
    judged = scopes(text)
    if "recent" in field.id and re.search(r"\b(?:19|20)\d\d\b|\byears? ago\b", text, re.IGNORECASE):
        return None
    for start, end in sorted(spots):
        if any(
            one.kind in {"uncertain", "family"} and one.start <= start < one.end for one in judged
        ):
            continue
        denied = any(one.kind == "negated" and one.start <= start < one.end for one in judged)
        stopped = re.search(
            r"\b(?:stopped|used to|no longer|off)\b",
            text[max(0, start - 30) : start],
            re.IGNORECASE,
        )
        lead = max(
            (
                one.trigger[0]
                for one in judged
                if one.kind == "negated" and one.start <= start < one.end
            ),
            default=start,
        )
        return Value(value=not (denied or stopped), start=min(lead, start), end=end)
    return None


def _number_asked(field: Field, context: Context) -> Value | None:
    found = _cued_number(field, context.text)
    if found is None:
        inside = [one for one in numbers_in(context.text) if _within(field, one.value)]
        if len({one.value for one in inside}) > 1 and not corrects(context.text):
            units = [one for one in inside if _has_unit(field, context.text[one.end :])]
            inside = units or inside[:1]
        found = (inside[-1] if corrects(context.text) else inside[0]) if inside else None
    return Value(value=found.plain, start=found.start, end=found.end) if found else None


def _number_free(field: Field, context: Context) -> Value | None:
    found = _cued_number(field, context.text)
    return Value(value=found.plain, start=found.start, end=found.end) if found else None


def _cued_number(field: Field, text: str) -> Number | None:
    cues = [cue for cue in (*field.cues, field.label) if len(cue) > 1]
    if not cues:
        return None
    pattern = phrase_pattern(cues)
    for sentence in _SENTENCE.finditer(text):
        body = sentence.group()
        if body.rstrip().endswith(("?", "؟")):
            continue
        for cue in pattern.finditer(body):
            near = [
                one
                for one in numbers_in(body)
                if _within(field, one.value)
                and (
                    0 <= one.start - cue.end() <= _NEAR or 0 <= cue.start() - one.end <= _NEAR // 2
                )
            ]
            near.sort(key=lambda one: abs(one.start - cue.end()))
            if near:
                one = near[0]
                offset = sentence.start()
                return Number(value=one.value, start=one.start + offset, end=one.end + offset)
    return None


def _has_unit(field: Field, rest: str) -> bool:
    return bool(field.unit) and rest.strip().casefold().startswith(field.unit.casefold()[:2])


def _within(field: Field, found: float) -> bool:
    low = field.low if field.low is not None else float("-inf")
    high = field.high if field.high is not None else float("inf")
    return low <= found <= high


def _list_asked(field: Field, context: Context) -> Value | None:
    chosen = _choices(field, context.text) if field.choices else []
    if chosen:
        return _over(
            tuple(dict.fromkeys(str(one.value) for one in chosen)),
            [(one.start, one.end) for one in chosen],
        )
    if declines(context.text):
        return None
    free = _list_free(field, context)
    if free is not None:
        return free
    first = _first_sentence(_without(context.text, context.others))
    if doubts(context.text) or defers(context.text):
        return None
    start, end = _whole(first)
    if _NONE.match(first) or _denies(field, first):
        return Value(value=(), start=start, end=end)
    if _NO_LIST.search(first):
        return None
    short = _short_answer(first, most=12)
    if short is None or (agrees(context.text) and len(context.text.split()) < 3):  # noqa: PLR2004
        return None
    parts = [
        one.strip()
        for one in re.split(r",|;|\n|\band\b|&|،|\bऔर\b", str(short.value))
        if one.strip() and one.strip().casefold() not in {"yes", "yeah", "well", "no"}
    ]
    return Value(value=tuple(parts), start=short.start, end=short.end) if parts else None


def _list_free(field: Field, context: Context) -> Value | None:
    text = context.text
    if field.choices and _cued(field, text):
        chosen = _choices(field, text)
        if chosen:
            return _over(
                tuple(dict.fromkeys(str(one.value) for one in chosen)),
                [(one.start, one.end) for one in chosen],
            )
    if "disease" in field.id and field.id != "key_comorbidities":
        named = (
            phrase_pattern([one for one in field.cues if " " not in one]) if field.cues else None
        )
        denied = [one for one in scopes(text) if one.kind in {"negated", "family", "uncertain"}]
        here = [
            one
            for one in (named.finditer(text) if named else ())
            if not _question_at(text, one.start())
            and not any(s.start <= one.start() < s.end for s in denied)
        ]
        if here:
            return _over(
                tuple(dict.fromkeys(one.group().casefold() for one in here)),
                [one.span() for one in here],
            )
    if "allerg" in field.id:
        if match := re.search(
            r"\bno (?:known )?(?:drug |food )?allerg(?:y|ies)\b|\bnot allergic to anything\b",
            text,
            re.IGNORECASE,
        ):
            return Value(value=(), start=match.start(), end=match.end())
        match = re.search(r"\ballergic to\s+(?P<w>[^.!?;,]{2,60})", text, re.IGNORECASE)
        return match and Value(
            value=(match["w"].strip(),), start=match.start("w"), end=match.end("w")
        )
    if "medic" in field.id or "drug" in field.id:
        match = re.search(
            r"\bi(?:'m| am)? (?:take|taking|on)\s+(?P<w>(?!a\b|the\b|my\b|no\b|not\b|none\b|nothing\b|holiday|leave|it\b|care\b)[A-Za-z][^.!?;]{2,80})", text, re.IGNORECASE)  # fmt: skip
        return match and Value(
            value=(match["w"].strip(),), start=match.start("w"), end=match.end("w")
        )
    return None


def _money_asked(field: Field, context: Context) -> Value | None:
    del field
    return _money(context, asked=True)


def _money_free(field: Field, context: Context) -> Value | None:
    del field
    if context.text.rstrip().endswith("?") and re.search(
        r"\bhow much\b", context.text, re.IGNORECASE
    ):
        return None
    return _money(context, asked=False)


def _money(context: Context, *, asked: bool) -> Value | None:
    found = sums.sum_in(context.text, country=context.country, asked=asked)
    if found and not asked and "pound" in str(found[0]["said"]).casefold():
        if not re.search(
            r"\b(?:budget|pay|afford|cost|spend|price|save|saved|money)\w*\b",
            context.text,
            re.IGNORECASE,
        ):
            return None
    return Value(value=found[0], start=found[1], end=found[2]) if found else None


def _date_asked(field: Field, context: Context) -> Value | None:
    written = dates(context.text)
    if not written:
        match = _WHEN.search(context.text)
        if match:
            return Value(value=match.group(), start=match.start(), end=match.end())
        return _asked_text(field, context)
    one = written[0]
    shown = one.days[0].isoformat() if len(one.days) == 1 else context.text[one.start : one.end]
    return Value(value=shown, start=one.start, end=one.end)


def _date_free(field: Field, context: Context) -> Value | None:
    for one in dates(context.text):
        lead = context.text[max(0, one.start - _NEAR) : one.start]
        if _cued(field, lead):
            shown = (
                one.days[0].isoformat() if len(one.days) == 1 else context.text[one.start : one.end]
            )
            return Value(value=shown, start=one.start, end=one.end)
    return None


def _asked_text(field: Field, context: Context) -> Value | None:
    """The person's words, unless they are about something else."""
    text, others = context.text, context.others
    if nothing(text):
        start, end = _whole(text)
        return None if field.when == "optional" else Value(value="none", start=start, end=end)
    if others and corrects(text):
        return None
    left = re.findall(r"[^\W_]{2,}", _without(text, others))
    if others and len(left) < 4 and not _cued(field, text):  # noqa: PLR2004 - nothing is left
        return None
    if agrees(text) and len(text.split()) < 3:  # noqa: PLR2004 - a bare yes is no description
        return None
    return _short_answer(_first_sentence(_without(text, others)), most=40)


def _text_free(field: Field, context: Context) -> Value | None:
    """Words behind a cue that announces the field, such as "my occupation is ..."."""
    lasting = "duration" in field.id or "long" in " ".join(field.ask.values()).casefold()
    for cue in field.cues:
        match = lasting and re.search(
            rf"(?<!\w){re.escape(cue)}(?!\w)[^.!?;,]{{0,30}}?(?P<w>\b(?:over |about |almost |nearly )?{_LASTING})",
            context.text, re.IGNORECASE,
        )  # fmt: skip
        if match:
            return Value(value=match["w"].strip(), start=match.start("w"), end=match.end("w"))
        if len(cue) < 4 or "?" in cue:  # noqa: PLR2004 - too short to tell
            continue
        match = re.search(
            rf"(?<!\w){re.escape(cue)}(?!\w)\s*(?:is|was|:|=|are)\s+(?P<w>[^.!?;,\n]{{2,80}})",
            context.text, re.IGNORECASE,
        )  # fmt: skip
        if match and not _question_at(context.text, match.start()):
            return Value(value=match["w"].strip(), start=match.start("w"), end=match.end("w"))
    return None


def _first_sentence(text: str) -> str:
    """The first sentence that has letters, in its place; what follows is blanked."""
    for match in _SENTENCE.finditer(text):
        if any(char.isalnum() for char in match.group()):
            return " " * match.start() + match.group() + " " * (len(text) - match.end())
    return text


def _short_answer(text: str, *, most: int) -> Value | None:
    """The message as an answer in words: at most so many, no question, nothing declined."""
    if declines(text) or doubts(text) or defers(text) or speaks_of_matching(text):
        return None
    start, end = _whole(text)
    first = next(iter(_SENTENCE.finditer(text, start)), None)
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


def _whole(text: str) -> Span:
    stripped = text.strip()
    start = text.index(stripped) if stripped else 0
    return start, start + len(stripped)


def _question_at(text: str, at: int) -> bool:
    """Do the words there stand in a question of the person's?"""
    for sentence in _SENTENCE.finditer(text):
        if sentence.start() <= at < sentence.end():
            return sentence.group().rstrip().endswith(("?", "؟"))
    return False


def _cued(field: Field, text: str) -> bool:
    cues = [cue for cue in (*field.cues, field.label) if len(cue) > 2]  # noqa: PLR2004
    return bool(cues) and phrase_pattern(cues).search(text) is not None


Reader = Callable[[Field, Context], "Value | None"]


def _asked_plain(field: Field, context: Context) -> Value | None:
    return _asked_text(field, context)


_FREE: dict[str, Reader] = {
    "age": _age_free,
    "country_of_residence": _country_free,
    "country": _country_free,
    "name": _name_free,
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
    "name": _name_asked,
    "who": _who_asked,
    "key_comorbidities": _illnesses_asked,
    "timeline_preference": _when_asked,
    "preferred_destination": _destination_asked,
}
_FREE_KIND: dict[str, Reader] = {
    "text": _text_free,
    "number": _number_free,
    "choice": _choice_free,
    "boolean": _boolean_free,
    "date": _date_free,
    "money": _money_free,
    "list": _list_free,
}
_ASKED_KIND: dict[str, Reader] = {
    "text": _asked_plain,
    "number": _number_asked,
    "choice": _choice_asked,
    "boolean": _boolean_asked,
    "date": _date_asked,
    "money": _money_asked,
    "list": _list_asked,
}
