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
    WHEN,
    Context,
    Value,
    question_at,
    statements,
    within,
    without,
)
from bedside.flows.intake.illnesses import illnesses_asked, illnesses_free
from bedside.flows.intake.kinds import (
    NEAR,
    amended,
    choice_asked,
    choice_free,
    money_asked,
    money_free,
    number_asked,
    number_free,
)
from bedside.flows.intake.lexicon import (
    RELATIVE,
)
from bedside.flows.intake.lists import list_asked, list_free
from bedside.flows.intake.moments import moments
from bedside.flows.intake.naming import name_asked, name_free
from bedside.flows.intake.numbers import ages_in
from bedside.flows.intake.places import (
    country_asked,
    country_free,
    destination_asked,
    destination_free,
)
from bedside.flows.intake.texts import asked_text, date_asked, date_free, text_free
from bedside.flows.intake.yes_no import boolean_asked, boolean_free
from bedside.sop.contract import Field

__all__ = ["Context", "Value", "read_asked", "read_volunteered"]


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
    fixed = amended(field, context)
    if fixed is not None:
        return fixed
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
    "country_of_residence": country_free,
    "country": country_free,
    "name": name_free,
    "who": _who_free,
    "key_comorbidities": illnesses_free,
    "timeline_preference": _when_free,
    "preferred_destination": destination_free,
    "walking_distance": _walk_free,
}


_ASKED: dict[str, Reader] = {
    "age": _age_asked,
    "country_of_residence": country_asked,
    "country": country_asked,
    "name": name_asked,
    "who": _who_asked,
    "key_comorbidities": illnesses_asked,
    "timeline_preference": _when_asked,
    "preferred_destination": destination_asked,
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
