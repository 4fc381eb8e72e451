"""Facts in a message, read by rule, each with the words it was read from (IN-23). Pure.

The field that was asked is read first, with all that its kind allows; any other field only where
the words themselves say which field they are about.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from bedside.core.value import value
from bedside.flows.intake.answers import clauses, within
from bedside.flows.intake.exceptions import substances
from bedside.flows.intake.fields import Context, Value, read_asked, read_volunteered
from bedside.flows.intake.kinds import own_means
from bedside.flows.intake.lexicon import conditions
from bedside.flows.intake.numbers import numbers_in
from bedside.flows.intake.signals import declines, doubts, not_applicable, nothing
from bedside.flows.intake.spelling import mended, words_of
from bedside.flows.intake.texts import of_time
from bedside.sop.contract import Contract, Field
from bedside.sop.state import Known, State, Status

__all__ = ["Reading", "Said", "core", "read_message"]


@value
class Said:
    """One field that the message is about: its new status, value, and words at `[start, end)`.

    `strong` is True where the field was asked for, or the words name it.
    """

    field: str
    status: Status
    value: object
    start: int
    end: int
    strong: bool = True

    def known(self, text: str, *, turn: int, source: str, by: str = "rule") -> Known:
        """As it stands in the state."""
        return Known(
            status=self.status,
            value=self.value if self.status == "known" else None,
            said=text[self.start : self.end],
            origin="turn",
            source=source,
            start=self.start,
            end=self.end,
            turn=turn,
            by=by,
        )


@value
class Reading:
    """What the rules read.

    `answered` is True where the asked field has an answer of any kind, `repeated` where the message
    says again what was known.
    """

    said: tuple[Said, ...] = ()
    answered: bool = False
    repeated: bool = False


_CLAUSE = re.compile(r"[^.!?;\n؟।]+")


def read_message(
    text: str, contract: Contract, state: State, *, asked: str = "", country: str = ""
) -> Reading:
    """Read a message under a contract.

    Args:
        text: The message.
        contract: Says which fields there are.
        state: What is known; a known field is changed only by strong words.
        asked: The field that the last question was about, "" for none.
        country: The person's country where it is known, for sums of money.
    """
    context = Context(text=core(text), state=state, contract=contract, country=country)
    context = replace(context, state=_for_whom(context, asked))
    fields = [field for field in contract.fields if contract.applies(field, state)]
    found = _volunteered(fields, context)
    field = contract.field(asked) if asked else None
    answered = field is not None and _answered(field, context, found)
    declined = dict(_declined_by_name(text, fields, found, asked))
    status = _no_answer(text)
    if field is not None and not answered and status and (not declined or _names(field, text)):
        start, end = _around(text)
        found[asked] = Said(field=asked, status=status, value=None, start=start, end=end)
        answered = True
    found.update(declined)
    kept = [one for name, one in found.items() if _may(one, state)]
    repeated = any(
        one.status == "known" and state.value(name) == one.value for name, one in found.items()
    )
    return Reading(
        said=tuple(sorted(kept, key=lambda one: one.start)), answered=answered, repeated=repeated
    )


_LEADS = re.compile(
    r"^(?:\W*\b(?:hmm+|hm|well|ok(?:ay)?(?: so)?|so|(?:hello|hi|hey|dear|thanks) (?:sister|brother|friend|aunty|auntie|uncle)(?!\s*(?:,?\s*\d|is|has|had|needs?|was|\'s)\b)|thanks(?: a lot| so much)?|thank you(?: so much| very much)?|oh|um+|uh+|er+|ah|please|right then|"
    r"let me (?:see|think)|good question|i see|alright|sure thing|hi|hello|dear (?:sir|madam|team))\b(?!\s*(?:\?|later))[\s,.!;:-]*)+",
    re.IGNORECASE,
)
_TAILS = re.compile(
    r"[\s,.!;:-]*(?:\b(?:thank you(?: (?:so|very) much)?|thanks(?: a lot| so much)?|hope (?:that|this|it) helps|sorry for my (?:english|bad english|spelling)|"
    r"please|i hope that is (?:ok|fine)|if that (?:helps|matters)|regards|cheers|god bless(?: you)?)\b[\s,.!;:-]*)+$",
    re.IGNORECASE,
)


def _for_whom(context: Context, asked: str) -> State:
    """The state under which a message is read that says anew whose treatment it is.

    "I have asthma, and this is for me" tells of the patient, whoever was taken for him before.
    """
    field = context.contract.field("who")
    read = field and (
        read_asked(field, context) if asked == field.id else read_volunteered(field, context)
    )
    if not read or not read.strong or field is None:
        return context.state
    if read.value == context.state.value(field.id):
        return context.state
    said = _said(field, read).known(context.text, turn=context.state.turn, source="")
    return context.state.with_field(field.id, said)


def core(text: str) -> str:
    """The message with polite leads and tails blanked; every other character keeps its place."""
    lead = _LEADS.match(text)
    start = lead.end() if lead else 0
    tail = _TAILS.search(text, start)
    end = tail.start() if tail else len(text)
    if not text[start:end].strip(" ,.!;:-"):
        return text
    return " " * start + text[start:end] + " " * (len(text) - end)


def _answer(field: Field, context: Context, others: Sequence[Said]) -> Value | None:
    """The answer beside what the message says of other fields; what only may be of them gives way."""
    ill = _of_illness(field)
    others = [
        one
        for one in others
        if not (ill and one.field == "key_comorbidities")
        and not _borne(field, one, context.text)
        and not _lasting(field, one, context.text)
    ]
    for some in (others, [one for one in others if one.strong]):
        told = _told_of_others(context.text, some)
        answer = read_asked(field, replace(context, others=told))
        if answer is not None or (field.kind == "text" and not of_time(field)):
            return answer
    return None


def _volunteered(fields: Sequence[Field], context: Context) -> dict[str, Said]:
    """Every field that the message names unasked."""
    found: dict[str, Said] = {}
    for field in fields:
        read = read_volunteered(field, context)
        if read is not None:
            found[field.id] = _said(field, read)
    _read_slips(fields, context, found)
    strong = [(one.start, one.end) for one in found.values() if one.strong]
    for name, one in tuple(found.items()):
        if not one.strong and name != "who" and (one.start, one.end) in strong:
            del found[name]  # the time of an injury is no wish for a date
    return found


def _answered(field: Field, context: Context, found: dict[str, Said]) -> bool:
    """Put the answer to the field's question among what was found; is there one?"""
    text = context.text
    if field.kind == "number" and field.id != "age" and "age" in found:
        stated = found["age"]
        first = next((b for a, b in clauses(text) if numbers_in(text[a:b])), 0)
        if stated.start < first and within(field, float(str(stated.value))):
            del found["age"]  # "he is 41" answers the question about somebody else's age
    others = [
        one
        for name, one in found.items()
        if name != field.id and not (name == "who" and _in_passing(one, context))
    ]
    answer = _answer(field, context, others)
    unread = answer is None or (field.kind == "list" and not _things(text, answer))
    if unread and not _no_answer(text):
        answer = _answer_with_slips(field, context, others) or answer or own_means(field, context)
    if answer is not None:
        for name, one in tuple(found.items()):
            if _gives_way(one, field, answer, text):
                del found[name]
        found[field.id] = _said(field, answer)
    elif (
        field.id not in found
        and field.kind in {"money", "text"}
        and field.when == "optional"
        and nothing(text)
    ):
        start, end = _around(text)
        found[field.id] = Said(
            field=field.id, status="not_applicable", value=None, start=start, end=end
        )
    return field.id in found


_TELLING = 6
"""Letters from which a misspelt word is taken for one that tells of a field unasked."""


def _read_slips(fields: Sequence[Field], context: Context, found: dict[str, Said]) -> None:
    """Fields that are told in misspelt words, such as a month or an illness."""
    words = {
        word
        for field in fields
        if field.kind != "text" or of_time(field)
        for word in words_of(field)
        if len(word) >= _TELLING
    }
    put_right = mended(context.text, frozenset(words), shortest=_TELLING)
    if put_right is None:
        return
    for field in fields:
        if field.id in found or field.id in {"name", "who"}:
            continue
        read = read_volunteered(field, replace(context, text=put_right.text))
        if read is not None:
            start, end = put_right.span(read.start, read.end)
            found[field.id] = _said(field, replace(read, start=start, end=end))


_MORE = 3
"""Words behind "I want to" that make a clause say something of its own."""


def _in_passing(one: Said, context: Context) -> bool:
    """Is who it is for only said anew, in words that answer: "I want to play football again"?"""
    if one.value is None or one.value != context.state.value("who"):
        return False
    text = context.text
    end = next((b for a, b in clauses(text) if a <= one.start < b), one.end)
    return len(text[one.end : end].split()) >= _MORE


def _things(text: str, answer: Value) -> bool:
    """Does the list hold nothing, or a thing that is known, so that no slip hides it?"""
    words = text[answer.start : answer.end]
    return not answer.value or bool(conditions(words) or substances(words))


def _answer_with_slips(field: Field, context: Context, others: Sequence[Said]) -> Value | None:
    """The answer where a slip of the keyboard hides it: "lft", "end of febuary"."""
    put_right = None if field.id == "name" else mended(context.text, words_of(field))
    if put_right is None:
        return None
    moved = [
        replace(one, start=put_right.places.index(one.start), end=put_right.places.index(one.end))
        for one in others
        if one.start in put_right.places and one.end in put_right.places
    ]
    answer = _answer(field, replace(context, text=put_right.text), moved)
    if answer is None:
        return None
    if field.kind == "list" and not _things(put_right.text, answer):
        return None
    start, end = put_right.span(answer.start, answer.end)
    return replace(answer, start=start, end=end)


def _of_illness(field: Field) -> bool:
    """Is it a list of illnesses that another field than the general one asks for?"""
    named = "disease" in f"{field.id} {field.label}"
    return field.kind == "list" and named and field.id != "key_comorbidities"


_USED = re.compile(r"\b(?:take|takes|taking|took|on|use|uses|using|daily)\b", re.IGNORECASE)


def _borne(field: Field, one: Said, text: str) -> bool:
    """A medicine that is named where allergies are asked for, with no word of its being taken."""
    if "allerg" not in field.id or one.field not in {"blood_thinners", "current_medicines"}:
        return False
    here = next((text[a:b] for a, b in clauses(text) if a <= one.start < b), text)
    return _USED.search(here) is None


_AGED = re.compile(r"\b(?:old|aged?|yo|y/o|i'?m|i am)\b|عمر|उम्र|आयु", re.IGNORECASE)


def _lasting(field: Field, one: Said, text: str) -> bool:
    """Years that answer how long something lasted, and that no word calls an age."""
    return of_time(field) == "how long" and one.field == "age" and _AGED.search(text) is None


def _gives_way(one: Said, field: Field, answer: Value, text: str) -> bool:
    """Do the words answer the question, and not the other field that they were read for?"""
    weak = (not one.strong and field.kind == "text") or _borne(field, one, text)
    weak = weak or _lasting(field, one, text)
    ill = _of_illness(field) and one.field == "key_comorbidities"
    over = one.start < answer.end and answer.start < one.end
    return one.field != field.id and over and (weak or ill)


def _told_of_others(text: str, found: Sequence[Said]) -> tuple[tuple[int, int], ...]:
    """The clauses in which other fields were read: none of their words answer the question."""
    spans = [(one.start, one.end) for one in found]
    whole = [
        (start, end) for start, end in clauses(text) if any(start < b and a < end for a, b in spans)
    ]
    return tuple(sorted({*spans, *whole}))


def _said(field: Field, read: Value) -> Said:
    return Said(
        field=field.id,
        status="known",
        value=read.value,
        start=read.start,
        end=read.end,
        strong=read.strong,
    )


def _no_answer(text: str) -> Status | None:
    if not_applicable(text):
        return "not_applicable"
    if declines(text):
        return "declined"
    if doubts(text):
        return "not_known"
    return None


def _around(text: str) -> tuple[int, int]:
    stripped = text.strip()
    start = text.index(stripped) if stripped else 0
    return start, start + len(stripped)


def _declined_by_name(
    text: str, fields: Sequence[Field], found: dict[str, Said], asked: str
) -> Iterable[tuple[str, Said]]:
    """Fields that the person declines, or does not know, without having been asked for them."""
    for clause in _CLAUSE.finditer(text):
        status = _no_answer(clause.group())
        if status is None or status == "not_applicable":
            continue
        for field in fields:
            if field.id in found or field.id == asked:
                continue
            if _names(field, clause.group()):
                yield (
                    field.id,
                    Said(
                        field=field.id,
                        status=status,
                        value=None,
                        start=clause.start(),
                        end=clause.end(),
                    ),
                )


def _names(field: Field, text: str) -> bool:
    """Do the words name the field?"""
    low = text.casefold()
    named = (field.label.casefold(), *(cue.casefold() for cue in field.cues))
    return any(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", low) for name in named)


def _may(one: Said, state: State) -> bool:
    """A weak reading adds; it does not change what is known."""
    before = state.get(one.field)
    if before.status in {"unasked", "asked"}:
        return True
    if one.status == "known":
        return one.strong and before.value != one.value
    return one.strong and before.status != "known"
