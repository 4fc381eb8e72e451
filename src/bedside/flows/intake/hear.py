"""What a message does to a case, by rule, before anybody answers (IN-23, IN-24). Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from bedside.clinical.money import amounts
from bedside.core.turn import Change
from bedside.core.value import value
from bedside.flows.intake import consent
from bedside.flows.intake.answers import goes_on
from bedside.flows.intake.book import Book
from bedside.flows.intake.case import CHOOSE, CONFLICT, Alert, Case, applied, change
from bedside.flows.intake.lexicon import countries, phrase_pattern
from bedside.flows.intake.numbers import age_in
from bedside.flows.intake.reading import Reading, read_message
from bedside.flows.intake.signals import Signals, declines, doubts, nothing, signals
from bedside.language.negation import scopes
from bedside.sop.contract import Contract
from bedside.sop.state import Known

__all__ = ["READ_CHARS", "Heard", "hear"]

READ_CHARS = 8_000
"""Rules read so much of a message; the rest is told to the person."""
_GENERIC = "_generic"


@value
class Heard:
    """A message after the rules. `case` is the case with `changes` applied.

    `procedure` says what became of it: "" nothing, "known", "changed", or "unknown" (named, and no
    contract). `corrected` are fields whose value the person changed. `flags` are the emergencies.
    """

    text: str
    case: Case
    contract: Contract
    reading: Reading
    signals: Signals
    changes: tuple[Change, ...]
    flags: tuple[Any, ...] = ()
    procedure: Literal["", "known", "changed", "unknown"] = ""
    word: str = ""
    corrected: frozenset[str] = frozenset()
    before: str = ""
    cut: bool = False
    settled: str = ""
    chose: str = ""
    before_asking: str = ""
    foreign: str = ""


def hear(
    case: Case,
    text: str,
    book: Book,
    *,
    turn_id: str = "",
    language: str = "",
    procedure: str = "",
    foreign: str = "",
    earlier: Sequence[tuple[str, str]] = (),
) -> Heard:
    """Read the message.

    Args:
        case: The case before the message.
        text: The message as it was sent.
        book: The live contracts.
        turn_id: The turn, as the source of what is read.
        language: The language in which the person is answered from now on, "" to leave it.
        procedure: What a link or a referrer says the case is about.
        foreign: The message's language where nothing here speaks it, else "".
        earlier: The person's messages before, as (source, text): read again under a new contract.
    """
    turn = case.facts.turn + 1
    changes: list[Change] = [change("turn", turn)]
    if language:
        changes.append(change("language", language))
    cut = len(text) > READ_CHARS
    said = text[:READ_CHARS]
    before = book.get(case.facts.sop)
    found, became, moves = _procedure(case, said, book, before, procedure)
    changes += moves
    now = applied(case, changes)
    if became in {"known", "changed"}:
        for source, told in earlier:
            again = read_message(told[:READ_CHARS], found, now.facts)
            changes += [
                change(f"field:{one.field}", one.known(told, turn=turn - 1, source=source))
                for one in again.said
                if now.facts.get(one.field).status in {"unasked", "asked"}
                or (one.strong and signals(told).corrects)
            ]
            now = applied(case, changes)
        changes += _asked_apart(now, found)
        now = applied(case, changes)
    flagged = any(one.kind.startswith("red_flag") and one.turn == turn - 1 for one in case.alerts)
    asked = case.asking if case.asking and not case.asking.startswith("@") else ""
    if became in {"known", "unknown"} and asked == "procedure_name":
        asked = ""
    if flagged and _OVER.search(said):
        asked = ""  # it answers what was said of the emergency, not the question that stood
    settling = case.asking.removeprefix(f"{CONFLICT}:") if case.asking.startswith(CONFLICT) else ""
    reading = read_message(
        said,
        found,
        now.facts,
        asked=asked or settling,
        country=str(now.facts.value("country_of_residence") or ""),
    )
    corrected: set[str] = set()
    settled = ""
    for one in reading.said:
        known = one.known(said, turn=turn, source=turn_id)
        if one.field == settling and one.status == "known":
            known = Known(**{**_fields(known), "by": "settled"})
            settled = settling
        old = now.facts.get(one.field)
        grows = isinstance(old.value, (list, tuple)) and set(map(str, old.value)) <= set(
            map(str, one.value if isinstance(one.value, (list, tuple)) else ())
        )
        if old.status == "known" and one.status == "known" and old.value != one.value and not grows:
            corrected.add(one.field)
        changes.append(change(f"field:{one.field}", known))
    if settled:
        changes.append(change(f"settled:{settled}", None))
    changes += _currency_known(applied(case, changes), found)
    heard = signals(said)
    flags = tuple(found.red_flags(said))
    for name in _alerts(heard, flags):
        changes.append(change("alert", Alert(kind=name, turn=turn, turn_id=turn_id), op="add"))
    word = consent.answer(case, said).kind if not flags else ""
    chose = _chosen(case, said) if not flags else ""
    return Heard(
        text=said,
        case=applied(case, changes),
        contract=found,
        reading=reading,
        signals=heard,
        changes=tuple(changes),
        flags=flags,
        procedure=became,
        word=word,
        corrected=frozenset(corrected),
        before=before.id,
        cut=cut,
        settled=settled,
        chose=chose,
        before_asking=case.asking,
        foreign=foreign,
    )


def _currency_known(case: Case, contract: Contract) -> list[Change]:
    """A sum of "pounds" that was open gets its currency once the country is known."""
    country = str(case.facts.value("country_of_residence") or "")
    found: list[Change] = []
    for field in contract.fields if country else ():
        held = case.facts.get(field.id)
        if not isinstance(held.value, Mapping) or held.value.get("currency") or not held.said:
            continue
        read = next(iter(amounts(held.said, country=country, asked=True)), None)
        if read is not None and (made := read.as_value())["currency"]:
            found.append(change(f"field:{field.id}", replace(held, value=made)))
    return found


def _asked_apart(case: Case, contract: Contract) -> list[Change]:
    """Illnesses that the new contract has a field of their own for are no further ones."""
    name = "key_comorbidities"
    held = case.facts.get(name)
    cues = [
        cue
        for field in contract.fields
        if field.id != name and case.facts.get(field.id).status == "known"
        for cue in (*field.cues, *(word for words in field.choices.values() for word in words))
    ]
    if not isinstance(held.value, (list, tuple)) or not held.value or not cues:
        return []
    named = phrase_pattern(cues)
    kept = tuple(one for one in held.value if named.search(str(one)) is None)
    if len(kept) == len(held.value):
        return []
    left = replace(held, value=kept) if kept else Known(status="unasked")
    return [change(f"field:{name}", left)]


_OVER = re.compile(
    r"\b(?:over|gone|passed|fine now|ok now|okay now|better now|stopped|last (?:year|month|week)|not now|years? ago|go on|continue|false alarm|not (?:an )?emergency)\b",
    re.IGNORECASE,
)


def _fields(known: Known) -> dict[str, Any]:
    return {name: getattr(known, name) for name in Known.__dataclass_fields__}


def _alerts(heard: Signals, flags: Sequence[Any]) -> list[str]:
    found = [f"red_flag:{flag.id}" for flag in flags]
    if heard.wants_person:
        found.append("person")
    if set(heard.asks) & {"advice", "duration", "other"}:
        found.append("question")
    return list(dict.fromkeys(found))


_LOOKING = re.compile(
    r"\b(?:need|want|looking for|interested in|require|considering|get|getting|having|have|do|help with|about|for|an?)\s+"
    r"(?:an?\s+|the\s+|my\s+|some\s+)?(?P<w>(?:(?!(?:and|the|in|that|says?|said|is|was|with|has|have|had|my|his|her|about)\b)[a-z'-]+ ){0,4}[a-z'-]*?(?:surgery|operation|transplant|removal|replacement|repair|treatment|procedure|bypass|"
    r"implants?|graft|therapy|correction|reconstruction|ectomy|plasty|oscopy|ostomy|lasik|chemotherapy|dialysis))\b",
    re.IGNORECASE,
)


_NO_NAME = frozenset(
    [
        "the",
        "a",
        "an",
        "my",
        "this",
        "that",
        "some",
        "any",
        "it",
        "his",
        "her",
        "their",
        "our",
        "surgery",
        "operation",
        "treatment",
        "procedure",
        "therapy",
        "of",
        "on",
    ]
)


def _named(words: str) -> bool:
    """Do the words name a procedure: "the surgery" alone names none?"""
    return not set(words.casefold().split()) <= _NO_NAME


def _procedure(
    case: Case, text: str, book: Book, contract: Contract, given: str
) -> tuple[Contract, Literal["", "known", "changed", "unknown"], list[Change]]:
    """The contract after the message, what became of it, and the changes."""
    if given and contract.id == _GENERIC:
        found = book.find(given)
        if found.id != _GENERIC:
            return found, "known", [change("sop", found.id), change("procedure_words", given)]
    named = book.find(text)
    if contract.id == _GENERIC:
        if named.id != _GENERIC:
            words = _words_of(named, text)
            return named, "known", [change("sop", named.id), change("procedure_words", words)]
        asked = case.asking == "procedure_name"
        words = next((one["w"].strip() for one in _LOOKING.finditer(text) if _named(one["w"])), "")
        if words and not case.procedure_words:
            return contract, "unknown", _noted(words, text, case)
        other = (
            age_in(text)
            or countries(text)
            or declines(text)
            or doubts(text)
            or nothing(text)
            or goes_on(text)
            or any(one.strong for one in read_message(text, contract, case.facts).said)
        )
        if asked and not case.procedure_words and not other and _short(text):
            return contract, "unknown", _noted(text.strip(), text, case)
        return contract, "", []
    if named.id not in {_GENERIC, contract.id} and signals(text).corrects:
        words = _words_of(named, text)
        at = text.casefold().find(words.casefold())
        away = any(
            one.kind in {"negated", "family"} and one.start <= at < one.end for one in scopes(text)
        )
        if not away:
            return named, "changed", [change("sop", named.id), change("procedure_words", words)]
    return contract, "", []


def _noted(words: str, text: str, case: Case) -> list[Change]:
    """A procedure that has no contract of its own, in the person's words."""
    start = text.index(words)
    known = Known(
        status="known",
        value=words,
        said=words,
        origin="turn",
        start=start,
        end=start + len(words),
        turn=case.facts.turn + 1,
        by="rule",
    )
    return [change("procedure_words", words), change("field:procedure_name", known)]


def _short(text: str) -> bool:
    asks = "?" in text or "؟" in text or signals(text).asks
    return 2 < len(text.strip()) <= 60 and not asks and len(text.split()) <= 6  # noqa: PLR2004


def _words_of(contract: Contract, text: str) -> str:
    low = text.casefold()
    names = sorted((contract.id, *contract.names), key=len, reverse=True)
    return next((name for name in names if name.casefold() in low), contract.title)


_ORDINAL = {
    "first": 0, "1": 0, "one": 0, "top": 0, "1st": 0, "second": 1, "2": 1, "two": 1, "2nd": 1,
    "third": 2, "3": 2, "three": 2, "3rd": 2, "last": -1,
}  # fmt: skip


def _chosen(case: Case, text: str) -> str:
    """The provider that the person picks from those that were named; "" for none."""
    if case.asking != CHOOSE or not case.matches:
        return ""
    low = text.casefold()
    named = [
        one.id
        for one in case.matches
        if one.name.casefold().split(" (")[0] in low
        or one.name.casefold().split()[0] in low.split()
    ]
    if len(named) == 1:
        return named[0]
    for word in re.findall(r"\w+", low):
        place = _ORDINAL.get(word)
        if place is not None and (place < len(case.matches)):
            return case.matches[place].id
    return ""
