"""Slips of the keyboard in an answer, mended towards the words that it may hold. Pure.

Only words that English does not know are touched, and only towards the few words that the question
allows for; where each mended word stood in the message is kept.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable

from bedside.core.value import value
from bedside.flows.intake.lexicon import data
from bedside.language.number_words import ONES, TENS
from bedside.language.slips import edits
from bedside.sop.blocks import base_prompt
from bedside.sop.contract import Field

__all__ = ["Mended", "mended", "words_of"]

_WORD = re.compile(r"[A-Za-z]+")
_SHORT, _LONG = 3, 8
_COMMON = (
    "let lift felt light night might sight fight tight eight weight height note most ride wright lest lent lend "
    "none nope done gone bone dear hear year ear near fear rear heat head heard hand hard harm arm are art eat "
    "mad made male mail main man many march may mean meat men met mind mine miss more moth mouth move much must "
    "kid kids kind knew knee know lab last late lay lead leave leg legs less life like line list live long look lot "
    "sad safe said sale same save saw say sea see seem sell send sent set she short should show side sick sign sir "
    "sister sit six skin sleep small so some son soon sorry sort soul sound speak spend stand start state stay step "
    "stop such sure take talk tea tell ten than thank that the them then there these they thing think this those "
    "time tired to today told tomorrow too took top tow town travel tree tried trip true try turn two type until "
    "up us use used very view visit wait walk want war warm was watch water way we week well went were west what "
    "when where which while white who whole why wife will wind wish with wood word work world worse would write "
    "wrong yard yes yet you young your mother father brother sister daughter husband doctor hospital only other "
    "about above again age all also always am an and any as ask at away back bad be because been before began "
    "behind being below best better between big both boy but buy by call came can car case child city clear close "
    "cold come cost could country cut day did do does door down each early end even ever every eye eyes face fact "
    "family far feel feet few find first fit for form found four free from full gave get girl give go goes going "
    "gold good got great ground group grow had half has have he her here hip hips high him his hold home hope "
    "hour house how idea if important in into is it its just keep"
)
_MONTHS = (
    "january", "february", "march", "april", "june", "july", "august", "september", "october",
    "november", "december",
)  # fmt: skip


@value
class Mended:
    """The message with its slips mended. `places[i]` is where character i stood; one more at the end."""

    text: str
    places: tuple[int, ...]

    def span(self, start: int, end: int) -> tuple[int, int]:
        """A stretch of the mended text, in the message as it was sent."""
        return self.places[start], self.places[end - 1] + 1 if end > start else self.places[start]


@functools.cache
def _known() -> frozenset[str]:
    """Words that are no slips: those that this package itself writes, and the commonest."""
    phrases = " ".join(str(one) for entry in data("phrases").values() for one in _strings(entry))
    return frozenset(_WORD.findall(f"{base_prompt()} {phrases} {_COMMON}".casefold()))


def _strings(entry: object) -> Iterable[str]:
    if isinstance(entry, str):
        yield entry
    elif isinstance(entry, dict):
        for one in entry.values():
            yield from _strings(one)


@functools.cache
def _places() -> frozenset[str]:
    table = data("countries")
    return frozenset(
        word
        for name, others in table.items()
        for one in (name, *(others or ()))
        for word in _WORD.findall(str(one).casefold())
    )


@functools.cache
def _illnesses() -> frozenset[str]:
    table = data("conditions")
    return frozenset(
        word
        for name, others in table.items()
        for one in (name, *(others or ()))
        for word in _WORD.findall(str(one).casefold())
    )


def words_of(field: Field) -> frozenset[str]:
    """The words that an answer to the field may be made of."""
    found = {
        word
        for names in field.choices.values()
        for one in names
        for word in _WORD.findall(one.casefold())
    }
    found |= {word for cue in field.cues for word in _WORD.findall(cue.casefold())}
    if field.kind == "boolean":
        found |= {"yes", "never", "nothing"}
    if field.kind in {"number", "money"}:
        found |= {*ONES, *TENS, "hundred", "thousand", "years", "lakh", "crore", "million"}
    if field.kind in {"text", "date"}:
        found |= {*_MONTHS, "years", "months", "weeks", "yesterday", "summer", "winter"}
    if "country" in field.id or "destination" in field.id:
        found |= _places()
    if field.kind == "list":
        found |= _illnesses() | {"none", "nothing", "penicillin", "latex", "iodine", "aspirin"}
    return frozenset(found)


def mended(text: str, words: frozenset[str], *, shortest: int = _SHORT) -> Mended | None:
    """The text with unknown words put right; `None` where there is nothing to put right."""
    pieces: list[str] = []
    places: list[int] = []
    at = 0
    for match in _WORD.finditer(text):
        told = match.group().casefold()
        if len(told) < shortest or told in words or told in _known():
            continue
        meant = _nearest(told, words)
        if meant is None:
            continue
        pieces += [text[at : match.start()], meant]
        places.extend(range(at, match.start()))
        places.extend(min(match.start() + n, match.end() - 1) for n in range(len(meant)))
        places[-1] = match.end() - 1
        at = match.end()
    if not pieces:
        return None
    pieces.append(text[at:])
    places.extend(range(at, len(text) + 1))
    return Mended(text="".join(pieces), places=tuple(places))


def _nearest(told: str, words: frozenset[str]) -> str | None:
    """The one word that was meant: a letter away (two in a long one), its first letter the same.

    The same letters in another order are one slip.
    """
    most = 1 if len(told) < _LONG else 2
    near: dict[int, list[str]] = {}
    for word in words:
        if len(word) < _SHORT or word[0] != told[0] or abs(len(word) - len(told)) > most:
            continue
        if len(told) <= _SHORT and (word[-1] != told[-1] or len(word) > _SHORT + 1):
            continue
        gap = 1 if sorted(told) == sorted(word) else edits(told, word)
        if gap <= most:
            near.setdefault(gap, []).append(word)
    best = near[min(near)] if near else []
    if len(best) > 1:
        best = [word for word in best if word in data("conditions")] or best
    return best[0] if len(best) == 1 else None
