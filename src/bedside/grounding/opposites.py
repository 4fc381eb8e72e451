"""Words that say the reverse of what is written: stop for start, low for high, rose for fell. Pure.

A sentence may hold the right figures, names and dates and still turn its source round. Words are
sorted into axes of poles that exclude each other. A pole that is said must be written about the
same thing, wherever anything on its axis is written about it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import date
from decimal import Decimal

from bedside.grounding.poles import WORD, Pole
from bedside.grounding.reading import Memo, Read
from bedside.grounding.terms import stem_of
from bedside.language.quantities import Quantity

__all__ = ["alike", "opposed", "parts_of", "turned"]

_TOGETHER = frozenset(
    (*((("action", a), ("action", b)) for a, b in (("start", "keep"), ("stop", "avoid"))),)
)
"""Poles that do not exclude each other."""
_PART = re.compile(
    r"[.;\n](?=\s|$)|,\s|\b(?:and|but|while|whereas|although|though|then)\b", re.IGNORECASE
)
_WEIGHS = re.compile(
    r"\b(?:consider\w*|whether|could|(?-i:may)|might|options?|possib\w+|review\w*|discuss\w*|weigh\w*|would)\b",
    re.IGNORECASE,
)
_BY_RANGE = {"high": 1, "raised": 1, "elevated": 1, "low": -1, "normal": 0}
_LEVEL_SAID = re.compile(
    r"\b(high|raised|elevated|low|normal)\b(?![\s-](?:dose|risk|limit|range of|intensity|threshold))|"
    r"\b(above|below|within|outside)\s+(?:the\s+|its\s+|her\s+|his\s+)?(?:normal\s+|reference\s+|laboratory'?s?\s+)?(?:range|limits?)\b",
    re.IGNORECASE,
)
_NOT = re.compile(r"\b(?:not|no longer|never|neither|nor|no)\s+(?:\w+\s+){0,2}$", re.IGNORECASE)
_PREFIXES = ("non", "un", "a", "in")
_FROM = re.compile(r"\bfrom\b", re.IGNORECASE)
_TO = re.compile(r"\bto\s+\Z", re.IGNORECASE)
_LONG = 5  # letters of a word that may stand with and without a prefix of denial


def opposed(
    said: Read, written: Sequence[Read], *, memo: Memo, computed: Sequence[Read] = ()
) -> tuple[str, str] | None:
    """The first word of `said` whose reverse is written, with the word that is written.

    Args:
        said: What is said, without markers.
        written: The cited passages.
        memo: The readings of this answer and its sources.
        computed: What rules concluded: their words of the same thing may be said, too.
    """
    if any(_stands_in(said.text.strip(" .;").lower(), text.text.lower()) for text in written):
        return None  # no words are the reverse of themselves
    return (
        _by_words(said, written, computed, memo)
        or _by_range(said, written)
        or _by_course(said, written)
    )


def alike(said: Read, written: Sequence[Read]) -> set[str]:
    """The stems of `said` that are written in another word of the same pole: stopped, discontinued."""
    theirs = [one for text in written for one in text.poles]
    return {
        stem_of(mine.word)
        for mine in said.poles
        if any(mine.axis == one.axis and _agree(mine, one) for one in theirs)
    }


def _stands_in(words: str, text: str) -> bool:
    """Whether the words stand in the text, whole: no letter, digit or hyphen goes on at either end."""
    at = text.find(words)
    while at >= 0:
        around = text[at - 1 : at] + text[at + len(words) : at + len(words) + 1]
        if not any(one.isalnum() or one in "-_" for one in around):
            return True
        at = text.find(words, at + 1)
    return False


# ---- words --------------------------------------------------------------------------------------


def _by_words(
    said: Read, written: Sequence[Read], computed: Sequence[Read], memo: Memo
) -> tuple[str, str] | None:
    wholes = [text.poles for text in written]
    if not any(wholes):
        return _by_prefix(said, written)
    parts = [part for text in written for part in _themes(text, memo)]
    rules = [part for text in computed for part in _themes(text, memo)]
    weighs = _WEIGHS.search(said.text) is not None
    about: frozenset[str] = frozenset()
    for named, part, mines in _themes(said, memo):
        about = named or about or part.keys - {stem_of(mine.word) for mine in mines}
        for mine in mines:
            if mine.axis == "action" and weighs:
                continue  # an option is no report of what was done
            same = [row for row in parts if row[0] == named and part.keys <= row[1].keys]
            theirs = [one for _, _, found in same for one in found if one.axis == mine.axis]
            theirs += [one for one in _on(about, parts) if one.axis == mine.axis]
            theirs = theirs or [one for found in wholes for one in found if one.axis == mine.axis]
            if theirs and not any(_agree(mine, one) for one in theirs):
                if any((mine.axis, mine.pole) == (one.axis, one.pole) for one in _on(about, rules)):
                    continue
                return mine.word, theirs[0].word
    return _by_prefix(said, written)


def _agree(mine: Pole, theirs: Pole) -> bool:
    pair = ((mine.axis, mine.pole), (theirs.axis, theirs.pole))
    return mine.pole == theirs.pole or pair in _TOGETHER or pair[::-1] in _TOGETHER


_Part = tuple[frozenset[str], Read, list[Pole]]


def _on(about: frozenset[str], parts: Iterable[_Part]) -> list[Pole]:
    """The poles of the parts that speak of one of these."""
    return [one for named, text, found in parts if about & (named or text.keys) for one in found]


def _themes(text: Read, memo: Memo) -> list[_Part]:
    """Each part of a text with its poles, and what it or the last part before it names."""
    out: list[_Part] = []
    named: frozenset[str] = frozenset()
    for part in parts_of(text, memo):
        listed = part.text.lower().startswith("or ")  # "at 6.0 or more, or an eGFR below 20"
        named = (named | part.named) if listed else (part.named or named)
        out.append((named, part, part.poles))
    return out


def parts_of(text: Read, memo: Memo) -> list[Read]:
    """The clauses and list parts of a text, in order."""
    return [memo(part) for one in _PART.split(text.text) if (part := one.strip())]


def _by_prefix(said: Read, written: Sequence[Read]) -> tuple[str, str] | None:
    """The same word with and without a prefix of denial, and hypo- for hyper-."""
    mine = _words(said)
    theirs = {word for text in written for word in _words(text)}
    for word in sorted(mine - theirs):
        for other in _reverses(word):
            if other in theirs and other not in mine:
                return word, other
    return None


def _words(text: Read) -> set[str]:
    return {match.group().lower().replace("-", "") for match in WORD.finditer(text.text)}


def _reverses(word: str) -> Iterable[str]:
    if word.startswith(("hypo", "hyper")):
        rest = word.removeprefix("hypo").removeprefix("hyper")
        yield f"hyper{rest}" if word.startswith("hypo") else f"hypo{rest}"
    for prefix in _PREFIXES:
        if len(word) >= _LONG:
            yield prefix + word
        if word.startswith(prefix) and len(word) - len(prefix) >= _LONG:
            yield word.removeprefix(prefix)


# ---- figures ------------------------------------------------------------------------------------


def _by_range(said: Read, written: Sequence[Read]) -> tuple[str, str] | None:
    """A level that the printed range refutes: "low at 5.4" beside "(3.5-5.1)"."""
    values = [one for one in said.quantities if one.high is None and not one.comparator]
    match = _LEVEL_SAID.search(said.text)
    if match is None or len(values) != 1 or _NOT.search(said.text, 0, match.start()):
        return None
    for text in written:
        ranges = [one for one in text.quantities if one.joint == "-" and one.high is not None]
        same = [one for one in text.quantities if one.figure == values[0].figure]
        if len(ranges) != 1 or not same or not _comparable(values[0], ranges[0]):
            continue
        low, high = ranges[0].low, ranges[0].high
        assert high is not None
        place = -1 if values[0].low < low else 1 if values[0].low > high else 0
        word = (match[1] or match[2]).lower()
        right = {
            "above": place == 1,
            "below": place == -1,
            "within": place == 0,
            "outside": place != 0,
        }
        if not right.get(word, _BY_RANGE.get(word) == place):
            return match.group(), text.text[ranges[0].start : ranges[0].end]
    return None


def _comparable(one: Quantity, other: Quantity) -> bool:
    return not one.unit or not other.unit or one.unit == other.unit


def _by_course(said: Read, written: Sequence[Read]) -> tuple[str, str] | None:
    """A course that the figures refute: "rose from 57 to 41", "rose to" the lowest value there is."""
    course = [one for one in said.poles if one.axis == "course"]
    poles = {one.pole for one in course}
    if len(poles) != 1:
        return None
    up = poles == {"up"}
    for one in said.quantities:
        before = said.text[: one.start].rstrip().lower()
        paired = one.joint == "-" and before.endswith("from")
        if paired and one.high is not None and one.high != one.low:
            return None if up == (one.high > one.low) else (course[0].word, "the figures")
        if before.endswith(" to") and one.high is None:
            others = _series(one, written)
            if others and all(one.low < other if up else one.low > other for other in others):
                return course[0].word, "the figures"
    return None


def _series(one: Quantity, written: Sequence[Read]) -> list[Decimal]:
    """The other values of a cited series: figures of that unit in texts that name one test."""
    texts = [text for text in written if text.quantities and text.dates]
    if len({key for text in texts for key in text.named}) != 1:
        return []
    return [
        other.low
        for text in texts
        for other in text.quantities
        if other.high is None and _comparable(one, other) and other.low != one.low
    ]


def turned(said: Read, written: Sequence[Read]) -> str:
    """The word of a course that the days refute ("fell: 8.3, now 8.6"); "" where none is.

    A value is better or worse by how far it lies outside its printed range. A course that ends in
    the first value and tells no other ("fell to 98 in 2020, 110 in 2021"), or of the second of a
    pair, is not judged.
    """
    course = [one for one in said.poles if one.axis in {"course", "judgement"}]
    texts = [text for text in written if text.quantities and text.day]
    if len({one.pole for one in course}) != 1 or len(texts) < 2:  # noqa: PLR2004 - it takes two
        return ""
    if len({text.named for text in texts}) != 1 or any(
        one.pole == "diastolic" for one in said.poles
    ):
        return ""
    judged = course[0].axis == "judgement"
    values: dict[date, set[Decimal]] = {}
    for one in said.quantities:
        if one.joint == "-" and all(text.quantities[0].figure == one.figure for text in texts):
            continue  # of the test's name: "Pain severity - 0-10 rating"
        from_to = one.joint == "-" and _FROM.search(said.text[: one.start].rstrip()[-4:])
        ends = (one.low, one.high) if from_to else () if one.joint == "-" else (one.low,)
        for text in texts:
            day, first = text.day, text.quantities[0]
            stands = first.figure == one.figure or first.low in ends
            amount = _outside(text) if judged else first.low
            if day and amount is not None and stands and _comparable(one, first):
                values.setdefault(day, set()).add(amount)
    if len(values) < 2 or any(len(found) > 1 for found in values.values()):  # noqa: PLR2004
        return ""
    (first_value,), (last_value,) = values[min(values)], values[max(values)]
    if not _FROM.search(said.text) and any(
        text.day == min(values)
        and one.low == text.quantities[0].low
        and _TO.search(said.text, 0, one.start)
        for one in said.quantities
        for text in texts
    ):
        return ""
    if last_value == first_value:
        return "" if judged else course[0].word
    rose = last_value > first_value
    return "" if rose == (course[0].pole in {"up", "worse"}) else course[0].word


def _outside(text: Read) -> Decimal | None:
    """How far the first figure of a record line lies outside its printed range; `None` without one."""
    value = text.quantities[0].low
    ranges = [one for one in text.quantities[1:] if one.joint == "-" or one.comparator]
    if len(ranges) != 1:
        return None
    one = ranges[0]
    low = one.low if one.high is not None or one.comparator in {">", ">="} else None
    high = one.high if one.high is not None else one.low if one.comparator in {"<", "<="} else None
    under = low - value if low is not None else Decimal(0)
    over = value - high if high is not None else Decimal(0)
    return max(under, over, Decimal(0))
