"""A field's value by its kind: choice, number, money. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from bedside.clinical.money import amounts
from bedside.flows.intake.answers import (
    NOT_BEFORE,
    SENTENCE,
    Context,
    Value,
    clauses,
    cued,
    first_sentence,
    question_at,
    statements,
    whole,
    within,
)
from bedside.flows.intake.lexicon import RELATIVE, phrase_pattern
from bedside.flows.intake.moments import moments
from bedside.flows.intake.numbers import Number, numbers_in, to_come
from bedside.flows.intake.signals import (
    corrects,
    nothing,
)
from bedside.flows.intake.yes_no import denies
from bedside.language.laterality import sides
from bedside.sop.contract import Field

__all__ = [
    "NEAR",
    "amended",
    "choice_asked",
    "choice_free",
    "choices_in",
    "money_asked",
    "money_free",
    "number_asked",
    "number_free",
    "own_means",
]

NEAR = 40


_IS_FINE = re.compile(
    r"\s+(?:(?:one|knee|hip|eye|side|leg)\s+)?(?:(?:was|is already|has been|already|got)(?: \w+)? (?:done|operated|replaced|fixed)\b|(?:is|feels|looks|seems)\s+(?:fine|ok(?:ay)?|good|healthy|normal|all right|perfect|better)\b)",
    re.IGNORECASE,
)
"""Behind a side of which nothing is wanted: it is well, or was seen to before."""


_IS_NOT = re.compile(
    r"\s+(?:\w+\s+)?(?:won'?t|won’t|will not|doesn'?t|doesn’t|does not|didn'?t|did not|isn'?t|is not|refused?|denied|rejected|can'?t|cannot|not going)\b(?!\s+(?:know|sure))",
    re.IGNORECASE,
)
"""Behind a choice that is named to be ruled out: "insurance won't cover it"."""


_PAID = re.compile(
    r"\bpay(?:ing|s)?\b|\b(?:loans?|insured|insurers?|savings|employer|ministry|charity|donations?|crowdfunding)\b|\bkhud (?:se )?(?:d|bhar)\w+",
    re.IGNORECASE,
)


_PAYS = {
    "charity": ("fundraiser", "fundraising", "gofundme", "harambee", "raising money", "raise money", "well wishers"),
    "self": (
        "ourselves", "our own money", "own pocket", "my pocket", "i will pay", "i'll pay", "we will pay",
        "we'll pay", "paying myself", "pay myself", "self", "own money", "own funds",
    ),
}  # fmt: skip


def choice_asked(field: Field, context: Context) -> Value | None:
    """The choice that an answer names; none of them where it says so."""
    for text in dict.fromkeys((first_sentence(context.text), context.text)):
        part = replace(context, text=text)
        found = choices_in(field, text)
        if _of_side(field):
            found = _sided(field, part, asked=True) or found or _lettered(text)
        one = _one_choice(field, part, found)
        if one is not None:
            return one
        if field.id == "funding_source":
            payers = [one for one in found if one.value != "self"]
            if payers and (text == context.text):
                return payers[0]  # of several the first that is named
    if (
        not choices_in(field, context.text)
        and "none" in field.choices
        and (denies(field, context.text) or nothing(context.text))
    ):
        start, end = whole(context.text)
        return Value(value="none", start=start, end=end)
    return None


_LETTER = re.compile(r"^\W*(?:(?P<left>l)|(?P<right>r))(?=\W*$|\s*[,.;])", re.IGNORECASE)


_INSURER = re.compile(
    r"\b(?:approv\w+|reimburs\w+|pre-?auth\w*|(?:it|they|them|will|can) claim|claims?)\b"
    r"|\b(?!(?:i|we|he|she|you|who|which|what|nobody|nothing|husband|wife|son|daughter|brother|sister|father|mother|family|savings|money|that|not|will|to|can)\b)[A-Za-z][\w&-]+ (?:will |may |might |can |should |partly |only )?covers?\b",
    re.IGNORECASE,
)
"""What an insurer does, whatever its name: "Daman covers some", "Discovery, if they approve"."""


def own_means(field: Field, context: Context) -> Value | None:
    """Whoever speaks of paying, and names no other payer, pays: the last reading of an answer."""
    if field.id != "funding_source" or choices_in(field, context.text):
        return None
    insurer = _INSURER.search(context.text)
    if insurer is not None and not question_at(context.text, insurer.start()):
        return Value(value="insurance", start=insurer.start(), end=insurer.end())
    own = _OWN_MEANS.search(context.text)
    if own is None or question_at(context.text, own.start()):
        return None
    if _LACKS.search(context.text[: own.start()]):
        return None
    return Value(value="self", start=own.start(), end=own.end())


def _lettered(text: str) -> list[Value]:
    """A side that is answered with its letter alone."""
    match = _LETTER.match(text)
    return (
        [Value(value=str(match.lastgroup), start=match.start(), end=match.end())] if match else []
    )


def _of_side(field: Field) -> bool:
    """Is it a question of left or right?"""
    return field.choices.keys() >= {"left", "right"}


_SIDES = {
    "left": ("يسار", "اليسار", "شمال", "الشمال", "يسرى", "أيسر", "الايسر", "اليسرى", "baen", "ulta", "उल्टा", "उल्टी", "उल्टे", "बाएं वाला"),
    "right": ("يمين", "اليمين", "يمنى", "أيمن", "الايمن", "daen", "seedha", "सीधा", "सीधी", "सीधे", "दाहिने"),
    "both": ("the two", "2 knees", "two knees", "2 hips", "two hips", "2 eyes", "two eyes", "الجهتين", "من الجهتين", "الطرفين", "الثنتين", "ثنتينهم", "التنين"),
}  # fmt: skip
"""Words for a side in every contract, beside the contract's own."""
_MORE = {"funding_source": _PAYS}


def _words(field: Field, name: str) -> tuple[str, ...]:
    """The words that say the choice: its own name, the contract's, and those of every contract."""
    more = _SIDES if _of_side(field) else _MORE.get(field.id, {})
    return (name.replace("_", " "), *field.choices[name], *more.get(name, ()))


def choice_free(field: Field, context: Context) -> Value | None:
    """A choice whose words tell what they are about, unasked."""
    if _of_side(field):
        side = _one_choice(field, context, _sided(field, context, asked=False))
        return side and replace(side, strong=_sure_side(field, context, side))
    shared = {
        word.casefold()
        for other in context.contract.fields
        if other.id != field.id
        for words in other.choices.values()
        for word in words
    }
    pays = field.id == "funding_source" and (
        _PAID.search(context.text) or _COVERED.search(context.text)
    )
    named = cued(field, context.text) or bool(pays)
    found = [
        one
        for one in choices_in(field, context.text)
        if named or ((_telling(context.text[one.start : one.end]) or _of_part(context, one)) and
                    context.text[one.start : one.end].casefold() not in shared)
    ]  # fmt: skip
    if field.id == "funding_source" and not named:
        return None
    one = _one_choice(field, context, found)
    return one and Value(
        value=one.value, start=one.start, end=one.end, strong=named or corrects(context.text)
    )


def _sure_side(field: Field, context: Context, side: Value) -> bool:
    """Is it the side of what is wanted: named with its part, and nothing that happened once?"""
    at = next((a, b) for a, b in statements(context.text) if a <= side.start < b)
    said = context.text[at[0] : at[1]]
    here = next((context.text[a:b] for a, b in clauses(context.text) if a <= side.start < b), said)
    parts = [word for cue in field.cues for word in re.findall(r"\bwhich (\w+)", cue)]
    named = any(re.search(rf"\b{part}s?\b", said, re.IGNORECASE) for part in parts)
    return corrects(context.text) or (named and not moments(said) and not _ONCE.search(here))


_ONCE = re.compile(
    r"\b(?:before|earlier|previous(?:ly)?|already|fail(?:ed|s)?|last time|was done|was operated)\b",
    re.IGNORECASE,
)
"""Words for what was done before, and is not what is wanted now."""


def _of_part(context: Context, found: Value) -> bool:
    """Does the clause name the part of the body that the contract is about: "broke her hip"?"""
    asked = (field.ask.get("en", "") for field in context.contract.fields if _of_side(field))
    parts = [word for one in asked for word in re.findall(r"^Which (\w+)", one)]
    here = next((context.text[a:b] for a, b in clauses(context.text) if a <= found.start < b), "")
    return any(re.search(rf"\b{part}s?\b", here, re.IGNORECASE) for part in parts)


def _telling(words: str) -> bool:
    """Words that say what they mean without their question: several, a long one, an acronym."""
    if words.isupper() and len(words) == 3:  # noqa: PLR2004 - "AVN"
        return True
    return len(words.split()) > 1 or len(words) >= 7  # noqa: PLR2004 - "insurance", "crowdfunding"


_KIN_PAYS = re.compile(
    rf"\b{RELATIVE}\s+(?:\w+\s+){{0,3}}?(?:pays?|paying|sends?|helps?|supports?|contributes?)\b|\bfrom our side\b|\b(?:retirement|saved|own) money\b|\bset aside\b",
    re.IGNORECASE,
)
_OWN_MEANS = re.compile(
    r"\b(?:pay|pays|paying|money|fund|funds|arrange|share|cover|afford|cash|savings?|saved|pocket|self|myself|ourselves|ourself|manage (?:it |this )?(?:between|among|ourselves|by)|(?:re)?mortgage|inherit\w*|pension|superannuation|super|contribut\w*|"
    r"sell(?:ing)?|sold|land|gold|instal?lments?|siblings?|bear|expenses|chip in|me)\b|अपने पैस|पैसों से|अपनी जेब",
    re.IGNORECASE,
)
"""Words of means that are one's own, where no other payer is named in the answer."""
_LACKS = re.compile(
    r"(?:\b(?:no|not|cannot|cant|never|without)|n['’]?t)\b[^.!?;,]*$", re.IGNORECASE
)
_GIVEN = re.compile(
    r"\b(?:church|mosque|temple|synagogue|parish|(?<!my )(?<!our )n\.?g\.?o\.?(?! has)|foundation(?! of\b)|(?<!i )(?<!we )trust|donat\w+|donors?|sponsors?|sponsored|"
    r"rais(?:e|ing)\b(?!.*\b(?:sell|loan))|well.?wishers|(?:the|our|my) community|community fund\w*)\b",
    re.IGNORECASE,
)
_COVERED = re.compile(
    r"\b(?:medical|health|insurance) (?:card|scheme|plan|fund|aid|cover(?:age)?)\b|\bmediclaim\b",
    re.IGNORECASE,
)
_WORK_PAYS = re.compile(
    r"\b(?:i|he|she) works? (?:for|at)\b[^.!?]{0,40}\b(?:sponsor\w*|pay\w*|cover\w*)\b|\bsponsored by (?:my|his|her) (?:work|job|boss|hospital|firm)\b",
    re.IGNORECASE,
)


def choices_in(field: Field, text: str) -> list[Value]:
    """The choices that the text names, in its order; longer words before those inside them."""
    found: list[Value] = []
    if field.id == "funding_source":
        found += [
            Value(value=name, start=match.start(), end=match.end())
            for name, form in (
                ("self", _KIN_PAYS),
                ("employer", _WORK_PAYS),
                ("charity", _GIVEN),
                ("insurance", _COVERED),
            )
            if name in field.choices
            for match in form.finditer(text)
            if not question_at(text, match.start())
        ]
    for name in field.choices:
        for match in phrase_pattern(_words(field, name)).finditer(text):
            if NOT_BEFORE.search(text[: match.start()]) or question_at(text, match.start()):
                continue
            if _IS_FINE.match(text, match.end()) or _IS_NOT.match(text, match.end()):
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
        and (asked or _alone(text, one.start, one.end) or (_said_of(one.of, names) if one.of else len(text.split()) < 4))  # noqa: PLR2004
    ]  # fmt: skip
    more = [
        one
        for one in choices_in(field, text)
        if asked or len(text[one.start : one.end].split()) > 1
    ]
    more += [
        Value(value="both", start=match.start(), end=match.end())
        for match in _BOTH_OF.finditer(text)
        if "both" in field.choices and _said_of(match["part"].casefold(), names)
    ]
    seen = {(one.start) for one in found}
    return sorted(
        [*found, *(one for one in more if one.start not in seen)], key=lambda one: one.start
    )


_BOTH_OF = re.compile(
    r"\bboth (?:of )?(?:my|his|her|our|their|the|these) (?P<part>[a-z]+?)s\b", re.IGNORECASE
)


def _said_of(part: str, names: str) -> bool:
    """Is the part the contract's own, or the leg that it belongs to?"""
    return part in names or (part == "leg" and ("knee" in names or "hip" in names))


def _alone(text: str, start: int, end: int) -> bool:
    """Are the words all that stands between two stops?"""
    return (
        re.search(
            r"(?:[.;,\n]|^\W*(?:actually|wait|no|sorry))\s*(?:the )?$", text[:start], re.IGNORECASE
        )
        is not None
        and re.match(r"\s*(?:one|side|leg)?(?: only)?\s*(?:[.;,\n]|$)", text[end:]) is not None
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


def amended(field: Field, context: Context) -> Value | None:
    """The number that takes another's place: "71, not 17", "sorry, 71" just after it was told."""
    held = context.state.get(field.id)
    text = context.text
    stated = [one for one in numbers_in(text) if within(field, one.value)]
    if held.status != "known" or isinstance(held.value, bool) or not stated:
        return None
    old = [one for one in stated if one.value == held.value]
    new = [one for one in stated if one.value != held.value]
    taken = any(NOT_BEFORE.search(text[: one.start]) for one in old)
    late = (
        not old
        and context.state.turn - (held.turn or 0) <= _LATELY
        and _BARE_FIX.fullmatch(text) is not None
        and _newest(context) == field.id
    )
    beside = [
        one
        for one in new
        if corrects(text)
        and any(abs(one.start - other.start) <= NEAR // 2 for other in old)
        and not re.match(r"\s*[A-Za-z%]", text[one.end :].replace("not", "").replace("and", ""))
    ]
    if len({one.value for one in new}) != 1 or not (taken or beside or late):
        return None
    return Value(value=new[0].plain, start=new[0].start, end=new[0].end)


_LATELY = 3
"""A number alone amends one that was told so many turns before, or later."""
_BARE_FIX = re.compile(
    r"\W*(?:(?:sorry|oops|ops|typo|wait|no|i mean|i meant|correction|actually|its|it's|mistake|my mistake)\W+)+\d+\W*|\s*\*\s*\d+\W*|\W*\d+\s*\*?\W*(?:sorry|typo|oops|my bad|my mistake|correction|i mean|i meant)\W*|\W*\d+\s*\*\s*",
    re.IGNORECASE,
)


def _newest(context: Context) -> str:
    """The field of a number that was told last."""
    told = [
        (known.turn or 0, one.id)
        for one in context.contract.fields
        if one.kind == "number" and (known := context.state.get(one.id)).status == "known"
    ]
    return max(told, default=(0, ""))[1]


def number_asked(field: Field, context: Context) -> Value | None:
    """The number of an answer, within the field's bounds; an age that is still to come is one more."""
    found = _cued_number(field, context.text)
    if found is None:
        stated = [one for one in numbers_in(context.text) if within(field, one.value)]
        inside = [one for one in stated if not to_come(context.text, one)] or stated
        if len({one.value for one in inside}) > 1 and not corrects(context.text):
            units = [one for one in inside if _has_unit(field, context.text[one.end :])]
            inside = units or inside[:1]
        found = (inside[-1] if corrects(context.text) else inside[0]) if inside else None
    if found is not None and "age" in field.id and to_come(context.text, found):
        found = replace(found, value=found.value - 1)
    return Value(value=found.plain, start=found.start, end=found.end) if found else None


def number_free(field: Field, context: Context) -> Value | None:
    """A number that stands beside the field's cues, or that takes back another."""
    fixed = amended(field, context)
    if fixed is not None:
        return fixed
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


def money_asked(field: Field, context: Context) -> Value | None:
    """The sum of an answer."""
    del field
    return _money(context, asked=True)


def money_free(field: Field, context: Context) -> Value | None:
    """A sum that is named with its currency, or behind a word of the field: "budget twelve grand"."""
    named = _money(context, asked=False)
    if named is not None:
        return named
    bare = _money(context, asked=True)
    lead = context.text[max(0, bare.start - NEAR // 2) : bare.start] if bare is not None else ""
    return bare if cued(field, lead) else None


_OF_MONEY = re.compile(
    r"\b(?:budget|pay|afford|cost|spend|price|save|saved|money)\w*\b", re.IGNORECASE
)


def _money(context: Context, *, asked: bool) -> Value | None:
    sums = amounts(context.text, country=context.country, asked=asked)
    found = next((one for one in sums if asked or not question_at(context.text, one.start)), None)
    if found is None:
        return None
    weighs = not asked and "pound" in found.said.casefold()
    if weighs and not _OF_MONEY.search(context.text):
        return None
    return Value(value=found.as_value(), start=found.start, end=found.end)
