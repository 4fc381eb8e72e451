"""Scoring an answer against its gold, and a context against the facts it needs.

Strict: a figure counts as written (no rounding), a reading needs its date beside it, another
reading of the same analyte may not stand first, and "not recorded" must be said as such ("she
does not have it" is wrong where the record is merely silent). Fair: any usual date format, unit
spelling, ingredient or brand, letter case and order of words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import date
from functools import lru_cache
from typing import Literal

from bedside.evals.copilot_chart import Chart, Entry
from bedside.evals.copilot_gold import Expect, Gold, GoldFact

__all__ = ["Outcome", "fetch_all_tokens", "recall", "render_all", "score"]

Outcome = Literal["correct", "wrong", "abstained"]

_NEAR = 240
"""Characters between a figure and its date at most."""

_BARE = 2
"""Words of a first sentence such as "Yes." that speaks for the next one."""
_SHORT = 3
"""Letters up to which a name must stand as a whole word ("MI" is not in "milligram")."""

_MARKER = re.compile(r"\[\d+(?:,\s*\d+)*\]")
_EMPHASIS = re.compile(r"\*\*|^\s*\*\s", re.MULTILINE)
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}\b)")
_CANNOT = re.compile(
    r"\b(?:cannot|can't|can not|could not|couldn't|unable to)\s+(?:be\s+)?"
    r"(?:answer|determine|tell|say|decide|parse|understand)|\bi (?:do not|don't) know\b",
    re.IGNORECASE,
)
_RECORDED = (
    r"(?:record(?:ed|s)?|found|find|documented|documentation|on file|listed|list|mention(?:ed|s)?|"
    r"entr(?:y|ies)|results?|measured|charted|chart|held|noted)"
)
_NOT_RECORDED = re.compile(
    rf"\b(?:no|none|nothing|not|never|neither|without|isn't|wasn't|hasn't)\b[^\n]{{0,160}}?\b{_RECORDED}\b"
    rf"|\b{_RECORDED}\b[^.\n]{{0,60}}\b(?:no|none|nothing|not)\b",
    re.IGNORECASE,
)
_DENIES = re.compile(
    r"\b(?:does not|doesn't|do not|did not|didn't|has not|hasn't|is not|isn't|was not|wasn't|never)\s+"
    r"(?:have|had|take|taken|taking|on|allergic|get|gotten|received|receive|undergone|undergo|smoke)\b",
    re.IGNORECASE,
)
_PAST = re.compile(
    r"\b(?:resolved|ended|past|previous(?:ly)?|former(?:ly)?|stopped|history|no longer|not active|"
    r"inactive|completed|discontinued|not current(?:ly)?|abated|was on|until|used to|cleared)\b",
    re.IGNORECASE,
)
_YES = re.compile(r"^\W*yes\b", re.IGNORECASE)
_NO = re.compile(r"^\W*no\b", re.IGNORECASE)
_NEGATIVE = re.compile(r"\b(?:no|not|never|none|nothing|neither|without|n't)\b", re.IGNORECASE)
_MONTHS = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
]
_NUMBER_WORDS = [
    "no",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
]
_ISO = re.compile(r"\d{4}-\d{2}-\d{2}")
_SPACE = re.compile(r"\s+")


def score(answer: str | None, gold: Gold) -> Outcome:
    """Judge an answer.

    Returns:
        "abstained" for no answer, or one that says it cannot answer; "correct" when everything
        that `gold` asks for is stated and nothing forbidden is; else "wrong". Where the record
        holds nothing, "correct" is to say so. An open question has no score: "abstained".
    """
    if answer is None or not answer.strip() or gold.kind == "open":
        return "abstained"
    text = _plain(answer)
    if gold.parts:
        # One half may list what the other picks from, so order decides nothing between them.
        right = all(_right(text, replace(part, rivals=())) for part in gold.parts)
    else:
        right = _right(text, gold)
    if right:
        return "correct"
    return "abstained" if _CANNOT.search(_headline(text)) else "wrong"


def _plain(answer: str) -> str:
    bare = _EMPHASIS.sub("", _MARKER.sub("", answer)).replace("\u00a0", " ")
    return _THOUSANDS.sub("", bare).replace("\u2212", "-")


def _headline(text: str) -> str:
    """The first two sentences or lines, whichever ends later within 400 characters."""
    pieces = [piece for piece in re.split(r"(?<=[.!?])\s+(?=[A-Z])|\n+", text.strip()) if piece]
    return " ".join(pieces[:2])[:400]


def _right(text: str, gold: Gold) -> bool:
    if gold.about and not any(_names(text, word) for word in gold.about):
        return False
    if gold.absent:
        return _says_nothing_recorded(text, gold)
    if gold.polarity is not None and not _takes_side(text, gold):
        return False
    if not all(_stated(_where(text, expect, gold), expect) for expect in gold.must):
        return False
    if not gold.together and _rival_first(text, gold):
        return False
    if gold.together and not _together(text, gold):
        return False
    least, of = gold.enough
    if sum(_stated(text, expect) for expect in of) < least:
        return False
    return not any(_violates(text, expect, gold) for expect in gold.must_not)


def _where(text: str, expect: Expect, gold: Gold) -> str:
    """A count must stand in the headline or beside its subject: small numbers are everywhere."""
    if expect.kind != "count":
        return text
    return "\n".join((_headline(text), *(_spoken(text, gold) if gold.about else ())))


def _rival_first(text: str, gold: Gold) -> bool:
    """Another reading, or another date, is said before the first right one."""
    of = (*gold.must, *gold.enough[1])
    wanted = "day" if gold.kind == "when" else "figure"
    right = [
        at
        for expect in of
        if expect.kind == wanted
        for form in expect.any_of
        for at in _places(text, wanted, form)
    ]
    return bool(right) and _rival_before(text, gold, min(right))


def _says_nothing_recorded(text: str, gold: Gold) -> bool:
    """Silence of the record, said as such, about the subject; a denial of the fact is wrong."""
    for sentence in _sentences(text):
        if gold.about and not any(_names(sentence, word) for word in gold.about):
            continue
        if _NOT_RECORDED.search(sentence):
            return not _YES.search(sentence)
    # "Nothing recorded" may stand before the line that names what was looked for.
    head = _headline(text)
    return bool(_NOT_RECORDED.search(head)) and not _YES.search(text) and not _DENIES.search(head)


def _sentences(text: str) -> list[str]:
    return [piece for piece in re.split(r"(?<=[.!?;])\s+(?=[A-Z])|\n+", text) if piece.strip()]


def _takes_side(text: str, gold: Gold) -> bool:
    where = _side_of(text, gold)
    if gold.polarity == "past":
        return any(_PAST.search(piece) for piece in (where, _headline(text), *_spoken(text, gold)))
    if _YES.search(where):
        return gold.polarity == "yes"
    negative = bool(_NO.search(where)) or bool(_NEGATIVE.search(_first(where)))
    return negative == (gold.polarity == "no")


def _side_of(text: str, gold: Gold) -> str:
    """The sentences that speak of the subject; the headline where none names it."""
    spoken = _spoken(text, gold)
    first = _first(text)
    bare = len(first.split()) <= _BARE and bool(_YES.search(first) or _NO.search(first))
    if not spoken or bare or spoken[0] == first:
        return _headline(text)
    return " ".join(spoken[:2])


def _spoken(text: str, gold: Gold) -> list[str]:
    words = [word for expect in gold.must if expect.kind == "words" for word in expect.any_of]
    return [
        piece
        for piece in _sentences(text)
        if any(_says(piece, word) for word in words) or any(_names(piece, w) for w in gold.about)
    ]


def _first(text: str) -> str:
    return _sentences(text)[0] if _sentences(text) else ""


def _violates(text: str, expect: Expect, gold: Gold) -> bool:
    """Forbidden words stand somewhere that does not say they are over (lists) or in the headline."""
    if gold.kind == "trend":
        return _stated(_headline(text), expect)
    return any(
        _stated(line, expect) and not _PAST.search(line) for line in _sentences(text)
    ) and not _under_past_heading(text, expect)


def _under_past_heading(text: str, expect: Expect) -> bool:
    """Every line that names it stands below a heading line such as "Stopped:"."""
    past = False
    for line in text.splitlines():
        if line.rstrip().endswith(":"):
            past = bool(_PAST.search(line))
        if _stated(line, expect) and not past and not _PAST.search(line):
            return False
    return True


# ---- finding one expected thing


def _stated(text: str, expect: Expect) -> bool:
    return any(_places(text, expect.kind, form) for form in expect.any_of)


def _places(text: str, kind: str, form: str) -> list[int]:
    if kind == "figure":
        return _figure_at(text, form)
    if kind == "day":
        return [found.start() for found in _day_pattern(form).finditer(text)]
    if kind == "count":
        return _count_at(text, form)
    return [0] if _says(text, form) else []


def _figure_at(text: str, figure: str) -> list[int]:
    pattern = rf"(?<![\d.]){re.escape(figure)}(?!\d|\.\d)"
    return [found.start() for found in re.finditer(pattern, text)]


def _count_at(text: str, number: str) -> list[int]:
    places = [at for at in _figure_at(text, number) if not _in_date(text, at)]
    if int(number) < len(_NUMBER_WORDS):
        word = _NUMBER_WORDS[int(number)]
        places += [found.start() for found in re.finditer(rf"\b{word}\b", text, re.IGNORECASE)]
    if number == "1":
        places += [
            found.start() for found in re.finditer(r"\b(?:once|a single)\b", text, re.IGNORECASE)
        ]
    if number == "2":
        places += [found.start() for found in re.finditer(r"\btwice\b", text, re.IGNORECASE)]
    return places


def _in_date(text: str, at: int) -> bool:
    around = text[max(0, at - 12) : at + 14].lower()
    month = any(re.search(rf"\b\d{{1,2}}(?:st|nd|rd|th)? {m[:3]}", around) for m in _MONTHS)
    number = re.match(r"\d+", text[at:])
    if number is None or len(number[0]) > 2:
        return False
    return month and bool(re.match(r"\d+(?:st|nd|rd|th)?,? [A-Za-z]{3}", text[at:]))


def _says(text: str, words: str) -> bool:
    low = _SPACE.sub(" ", text.lower())
    return all(_word_pattern(part.strip()).search(low) for part in words.lower().split(" & "))


def _names(text: str, word: str) -> bool:
    """The subject is named, if only inside a longer word ("a1c" in "HbA1c")."""
    if word.isalpha() and len(word) <= _SHORT:
        return _says(text, word)
    return word.lower() in text.lower()


@lru_cache(maxsize=4096)
def _word_pattern(part: str) -> re.Pattern[str]:
    """The text where a word begins; a short name also where it ends (a plural s apart)."""
    start = r"(?<![a-z0-9])" if part[:1].isalpha() else ""
    end = r"(?:s?(?![a-z]))" if part.isalpha() and len(part) <= _SHORT else ""
    return re.compile(start + re.escape(part) + end)


@lru_cache(maxsize=4096)
def _day_pattern(day: str) -> re.Pattern[str]:
    """The date in ISO form, or day and month name in either order with the year."""
    when = date.fromisoformat(day)
    month = _MONTHS[when.month - 1]
    name = rf"(?:{month}|{month[:3]}|{month[:4]})\.?"
    number = rf"0?{when.day}(?:st|nd|rd|th)?"
    forms = (
        re.escape(day),
        rf"(?<!\d){number}[ -](?:of )?{name},?[ -]{when.year}",
        rf"\b{name} {number},? {when.year}",
    )
    return re.compile(rf"(?:{'|'.join(forms)})(?!\d)", re.IGNORECASE)


def _together(text: str, gold: Gold) -> bool:
    """The expected figures and the date stand near each other, before any rival figure."""
    spots = [
        sorted(at for form in expect.any_of for at in _places(text, expect.kind, form))
        for expect in gold.together
    ]
    if not all(spots):
        return False
    for start in spots[0]:
        nearest = [min(places, key=lambda at, s=start: abs(at - s)) for places in spots]
        if max(nearest) - min(nearest) <= _NEAR:
            return not _rival_before(text, gold, min(nearest[:-1] or nearest))
    return False


def _rival_before(text: str, gold: Gold, at: int) -> bool:
    before = text[:at]
    return any(
        _places(before, "day" if _ISO.fullmatch(rival) else "figure", rival)
        for rival in gold.rivals
    )


# ---- a context


def recall(gold: Gold, context: str) -> float | None:
    """The share of the gold's facts that stand in a context, in [0, 1].

    A fact stands there when one line holds its figures and its date; one without a figure, its
    name and its date. `None` when the gold needs no fact.
    """
    if not gold.facts:
        return None
    lines = [_plain(line) for line in context.splitlines() if line.strip()]
    return sum(_held(fact, lines) for fact in gold.facts) / len(gold.facts)


def _held(fact: GoldFact, lines: Sequence[str]) -> bool:
    day = _day_pattern(fact.day) if fact.day else None
    for line in lines:
        if day is not None and not day.search(line):
            continue
        if fact.figures and all(_figure_at(line, figure) for figure in fact.figures):
            return True
        if not fact.figures and any(_says(line, form) for form in fact.name):
            return True
    return False


def render_all(entries: Iterable[Entry]) -> str:
    """One plain line for every clinical entry: what a fetch of everything would show."""
    return "".join(f"{_line(entry)}\n" for entry in entries)


def _line(entry: Entry) -> str:
    shown = [f"{entry.resource}: {entry.name or entry.group or 'unnamed'}"]
    if entry.figure:
        shown.append(f"{entry.figure} {entry.unit}".strip())
    if entry.words:
        shown.append(entry.words)
    shown += [f"{part.name} {part.figure} {part.unit}" for part in entry.parts]
    if entry.status:
        shown.append(entry.status)
    if entry.day:
        shown.append(entry.day if not entry.end else f"{entry.day} to {entry.end}")
    return ", ".join(shown)


def fetch_all_tokens(chart: Chart, *, count: Callable[[str], int] | None = None) -> int:
    """Tokens of `render_all`, o200k unless another `count` is given: the baseline for a plan."""
    return (count or _o200k())(render_all(chart.entries))


def _o200k() -> Callable[[str], int]:
    from rs_bpe.bpe import openai

    tokenizer = openai.o200k_base()
    return lambda text: len(tokenizer.encode(text))
