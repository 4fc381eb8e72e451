"""A field's value by its kind: choice, yes or no, number, list, money, date, words. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from bedside.clinical.money import amounts
from bedside.flows.intake.answers import (
    NONE,
    NOT_BEFORE,
    SENTENCE,
    WHEN,
    Context,
    Value,
    cued,
    first_sentence,
    over,
    question_at,
    short_answer,
    whole,
    within,
    without,
)
from bedside.flows.intake.consent import wants_matching
from bedside.flows.intake.lexicon import phrase_pattern
from bedside.flows.intake.numbers import Number, numbers_in
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
from bedside.sop.contract import Field

__all__ = [
    "NEAR",
    "asked_plain",
    "asked_text",
    "boolean_asked",
    "boolean_free",
    "choice_asked",
    "choice_free",
    "date_asked",
    "date_free",
    "list_asked",
    "list_free",
    "money_asked",
    "money_free",
    "number_asked",
    "number_free",
    "text_free",
]

NEAR = 40


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


_IS_FINE = re.compile(
    r"\s+(?:(?:one|knee|hip|eye|side|leg)\s+)?(?:is|feels|looks|seems)\s+(?:fine|ok(?:ay)?|good|healthy|normal|all right|perfect|better)\b",
    re.IGNORECASE,
)


_ANEW = re.compile(r"\band (?:there|i|we|he|she|it|my|also)\b|\bbut\b", re.IGNORECASE)


_PAID = re.compile(
    r"\bpay(?:ing|s)?\b|\b(?:loans?|insured|insurers?|savings|employer|ministry|charity|donations?|crowdfunding)\b",
    re.IGNORECASE,
)


_FEW = 6
_NO_LIST = re.compile(
    r"\b(?:i|this|earlier|made|correction|living|based|was|were|we|want|live|surgery|operation|that was|can we|is over|what|please|go on|continue|my name|budget|pay|ok(?:ay)?|years? old)\b",
    re.IGNORECASE,
)


_PAYS = {
    "self": (
        "ourselves", "our own money", "own pocket", "my pocket", "i will pay", "i'll pay", "we will pay",
        "we'll pay", "paying myself", "pay myself", "self", "own money", "own funds",
    ),
}  # fmt: skip


_LASTING = (
    r"(?:\d+(?:\.\d+)?|a|an|one|two|three|four|five|six|seven|eight|nine|ten|twelve|several|many|a few|a couple of)"
    r"(?: and a half)? (?:years?|months?|weeks?|days?)(?: now)?"
)


def choice_asked(field: Field, context: Context) -> Value | None:
    """The choice that an answer names; none of them where it says so."""
    found = _choices(field, context.text)
    if field.choices.keys() >= {"left", "right"}:
        found = _sided(field, context, asked=True) or found
    if (
        not found
        and "none" in field.choices
        and (_denies(field, context.text) or nothing(context.text))
    ):
        start, end = whole(context.text)
        return Value(value="none", start=start, end=end)
    return _one_choice(field, context, found)


def choice_free(field: Field, context: Context) -> Value | None:
    """A choice whose words tell what they are about, unasked."""
    if field.choices.keys() >= {"left", "right"}:
        return _one_choice(field, context, _sided(field, context, asked=False))
    shared = {
        word.casefold()
        for other in context.contract.fields
        if other.id != field.id
        for words in other.choices.values()
        for word in words
    }
    pays = field.id == "funding_source" and _PAID.search(context.text)
    named = cued(field, context.text) or bool(pays)
    found = [
        one
        for one in _choices(field, context.text)
        if named or (_telling(context.text[one.start : one.end]) and
                    context.text[one.start : one.end].casefold() not in shared)
    ]  # fmt: skip
    one = _one_choice(field, context, found)
    return one and Value(
        value=one.value, start=one.start, end=one.end, strong=named or corrects(context.text)
    )


def _telling(words: str) -> bool:
    """Words that say what they mean without their question."""
    return len(words.split()) > 1 or len(words) >= 7  # noqa: PLR2004 - "insurance", "crowdfunding"


def _choices(field: Field, text: str) -> list[Value]:
    found: list[Value] = []
    for name, words in field.choices.items():
        more = _PAYS.get(name, ()) if field.id == "funding_source" else ()
        for match in phrase_pattern((name.replace("_", " "), *words, *more)).finditer(text):
            if NOT_BEFORE.search(text[: match.start()]) or question_at(text, match.start()):
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
        and not NOT_BEFORE.search(text[: one.start])
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
    if field.id == "funding_source" and "self" in values and len(values) > 1:
        found = [one for one in found if one.value != "self"]
        if len({one.value for one in found}) == 1:
            return found[0]
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


def _opposite(field: Field, text: str) -> Value | None:
    """A cue with "non" before it ("non-smoker") is a no."""
    cues = "|".join(re.escape(cue) for cue in field.cues if cue.isalpha())
    match = re.search(rf"\bnon[- ]?(?:{cues})s?\b", text, re.IGNORECASE) if cues else None
    return Value(value=False, start=match.start(), end=match.end()) if match else None


def boolean_asked(field: Field, context: Context) -> Value | None:
    """Yes or no to the field's own question."""
    free = boolean_free(field, context)
    if free is not None:
        return free
    start, end = whole(context.text)
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
        len(one) > 3 and one[:6].rstrip("s") in asked  # noqa: PLR2004 - short words tell nothing
        for one in re.findall(r"\w+", match["rest"].casefold())[:4]
    )


_NO_SURGERY = re.compile(
    r"\b(?:no|never(?: been| had)?(?: any)?|not had any|without any) (?:\w+ ){0,2}?(?:operations?|operated|surger(?:y|ies))\b[^.!?;,]{0,20}"
    r"|\b(?:first|never any) (?:operation|surgery)\b",
    re.IGNORECASE,
)


def boolean_free(field: Field, context: Context) -> Value | None:
    """Yes or no by what the message affirms or denies of the field's cues."""
    opposite = _opposite(field, context.text)
    if opposite is not None:
        return opposite
    text = context.text
    if "previous" in field.id and "surgery" in field.id:
        none = _NO_SURGERY.search(text)
        if none is not None and not question_at(text, none.start()):
            return Value(value=False, start=none.start(), end=none.end())
    thinner = "thinner" in field.id or "anticoag" in field.id
    spots = [match.span() for match in _ANTICOAGULANT.finditer(text)] if thinner else []
    cues = [cue for cue in field.cues if len(cue) > 3]  # noqa: PLR2004 - too short to tell
    if cues:
        spots += [
            match.span()
            for match in phrase_pattern([*cues, *(f"{c}s" for c in cues)]).finditer(text)
        ]
    spots = [spot for spot in spots if not question_at(text, spot[0])]
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
        denied = any(
            one.kind == "negated"
            and one.start <= start < one.end
            and not _ANEW.search(text[one.start : start])
            for one in judged
        )
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


def number_asked(field: Field, context: Context) -> Value | None:
    """The number of an answer, within the field's bounds."""
    found = _cued_number(field, context.text)
    if found is None:
        inside = [one for one in numbers_in(context.text) if within(field, one.value)]
        if len({one.value for one in inside}) > 1 and not corrects(context.text):
            units = [one for one in inside if _has_unit(field, context.text[one.end :])]
            inside = units or inside[:1]
        found = (inside[-1] if corrects(context.text) else inside[0]) if inside else None
    return Value(value=found.plain, start=found.start, end=found.end) if found else None


def number_free(field: Field, context: Context) -> Value | None:
    """A number that stands beside the field's cues."""
    found = _cued_number(field, context.text)
    return Value(value=found.plain, start=found.start, end=found.end) if found else None


def _cued_number(field: Field, text: str) -> Number | None:
    cues = [cue for cue in (*field.cues, field.label) if len(cue) > 1]
    if not cues:
        return None
    pattern = phrase_pattern(cues)
    for sentence in SENTENCE.finditer(text):
        body = sentence.group()
        if body.rstrip().endswith(("?", "؟")):
            continue
        for cue in pattern.finditer(body):
            near = [
                one
                for one in numbers_in(body)
                if within(field, one.value)
                and (0 <= one.start - cue.end() <= NEAR or 0 <= cue.start() - one.end <= NEAR // 2)
            ]
            near.sort(key=lambda one: abs(one.start - cue.end()))
            if near:
                one = near[0]
                offset = sentence.start()
                return Number(value=one.value, start=one.start + offset, end=one.end + offset)
    return None


def _has_unit(field: Field, rest: str) -> bool:
    return bool(field.unit) and rest.strip().casefold().startswith(field.unit.casefold()[:2])


def list_asked(field: Field, context: Context) -> Value | None:
    """The things that an answer lists; empty for none."""
    chosen = _choices(field, context.text) if field.choices else []
    if chosen:
        return over(
            tuple(dict.fromkeys(str(one.value) for one in chosen)),
            [(one.start, one.end) for one in chosen],
        )
    if declines(context.text):
        return None
    free = list_free(field, context)
    if free is not None:
        return free
    first = first_sentence(without(context.text, context.others))
    if doubts(context.text) or defers(context.text):
        return None
    start, end = whole(first)
    if NONE.match(first) or _denies(field, first):
        return Value(value=(), start=start, end=end)
    if _NO_LIST.search(first) or (context.others and corrects(context.text)):
        return None
    short = short_answer(first, most=12)
    if short is not None and context.others and len(str(short.value).split()) > _FEW:
        return None
    if short is None or (agrees(context.text) and len(context.text.split()) < 3):  # noqa: PLR2004
        return None
    parts = [
        one.strip()
        for one in re.split(r",|;|\n|\band\b|&|،|\bऔर\b", str(short.value))
        if one.strip() and one.strip().casefold() not in {"yes", "yeah", "well", "no"}
    ]
    return Value(value=tuple(parts), start=short.start, end=short.end) if parts else None


def list_free(field: Field, context: Context) -> Value | None:
    """Things that the message says are the field's."""
    text = context.text
    if field.choices and cued(field, text):
        chosen = _choices(field, text)
        if chosen:
            return over(
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
            if not question_at(text, one.start())
            and not any(s.start <= one.start() < s.end for s in denied)
        ]
        if here:
            return over(
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
            r"\bi(?:'m| am)? (?:take|taking|on)\s+(?P<w>(?!an?\b|the\b|my\b|care\b|holiday|leave|it\b|her\b|him\b|them\b|time\b|no\b|not\b|none\b|nothing\b|holiday|leave|it\b|care\b)[A-Za-z](?:(?!\s+(?:hope|thank|thanks|sorry|and i|but i)\b)[^.!?;]){2,80})", text, re.IGNORECASE)  # fmt: skip
        return match and Value(
            value=(match["w"].strip(),), start=match.start("w"), end=match.end("w")
        )
    return None


def money_asked(field: Field, context: Context) -> Value | None:
    """The sum of an answer."""
    del field
    return _money(context, asked=True)


def money_free(field: Field, context: Context) -> Value | None:
    """A sum that is named with its currency."""
    del field
    if context.text.rstrip().endswith("?") and re.search(
        r"\bhow much\b", context.text, re.IGNORECASE
    ):
        return None
    return _money(context, asked=False)


_OF_MONEY = re.compile(
    r"\b(?:budget|pay|afford|cost|spend|price|save|saved|money)\w*\b", re.IGNORECASE
)


def _money(context: Context, *, asked: bool) -> Value | None:
    found = next(iter(amounts(context.text, country=context.country, asked=asked)), None)
    if found is None:
        return None
    weighs = not asked and "pound" in found.said.casefold()
    if weighs and not _OF_MONEY.search(context.text):
        return None
    return Value(value=found.as_value(), start=found.start, end=found.end)


_ELSEWHERE = re.compile(
    r"\b(?:pay(?:s|ing)?|paid|budget|soon as possible|want the|insurance|my name)\b", re.IGNORECASE
)


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
    """The person's words, unless they are about something else."""
    text, others = context.text, context.others
    if nothing(text):
        start, end = whole(text)
        return None if field.when == "optional" else Value(value="none", start=start, end=end)
    if others and corrects(text):
        return None
    left = re.findall(r"[^\W_]{2,}", without(text, others))
    if others and len(left) < 4 and not cued(field, text):  # noqa: PLR2004 - nothing is left
        return None
    if agrees(text) and len(text.split()) < 3:  # noqa: PLR2004 - a bare yes is no description
        return None
    return short_answer(first_sentence(without(text, others)), most=40)


def text_free(field: Field, context: Context) -> Value | None:
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
        if match and not question_at(context.text, match.start()):
            return Value(value=match["w"].strip(), start=match.start("w"), end=match.end("w"))
    return None


def asked_plain(field: Field, context: Context) -> Value | None:
    """The person's words as they stand."""
    return asked_text(field, context)
