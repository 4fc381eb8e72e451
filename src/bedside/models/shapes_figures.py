"""Figures and dates that have an identifier's shape and are none. Pure.

A temperature looks like an age with a sex, a count of cells like a telephone number, a date before
a verb like an address. What is beside them tells; where it does not, the identifier's reading holds.
"""

from __future__ import annotations

import re

__all__ = ["is_ailment", "is_figure"]

_I = re.IGNORECASE
_BEFORE = 40
"""Characters before a figure, in its line, that tell what it is."""
_SEX = re.compile(r"([ ]?)([FM])(?=[ ,.;])")
_HEAT = re.compile(
    r"\b(?:temp\w*|T|T-?max|Tm|fevers?|feverish|febrile|afebrile|pyrexia|VS|vitals?|vital signs)\b",
    _I,
)
_REACHES = re.compile(
    r"\b(?:to|of|at|above|below|over|under|than|around|about|approximately|least)[ ]\Z", _I
)
_PERSON_BEFORE = re.compile(r"(?:\b(?:pt|patient|an?|this|is|was)[ ]|\A[ \t]*)\Z", _I)
_NOUN_BEFORE = re.compile(r"\b(?:pt|patient|an?|this)[ ]\Z", _I)
_SENTENCE_ENDS = re.compile(r"[.!?][ \t]+")
_PERSON_AFTER = re.compile(
    r"[ ]?[FM],?[ ](?:with|w/|who|whose|presents?|presenting|presented|here|admitted|c/o|s/p|h/o|hx|PMHx?|known|seen|from|living|"
    r"lives|resident|transferred|referred|status post|complain\w*|reports?|retired|widow\w*|married|single)(?!\w)",
    _I,
)
_OLDEST = 100
_COLDEST = 97
"""Degrees Fahrenheit below which a body is hardly found, and an age before a sex often is."""
_NUMBERS = re.compile(r"[ ]?[FM][,;][ ]*\d+(?:[.]\d+)?(?:/\d|[ ]?%|[,;.]|[ \t]*(?:$|\n))")
"""Another figure without a word behind it, as vital signs are written: "101F, 80, 16"."""
_TEN = re.compile(r"\d{10}")
_COUNTED = re.compile(
    r"[ ]?/[ ]?(?:L|[mµμu]L|mm\w*|cmm|cu|hpf|dL)(?!\w)|[ ](?:cells|copies|CFU|IU|units|platelets|organisms|bacteria)(?!\w)",
    _I,
)
_MEASURED = re.compile(
    r"[ \t]?(?:mg|mcg|[µμu]g|mL|IU|units?|mmol|mEq|cells|copies|CFU)(?![A-Za-z])|[ ]?/[ ]?[mµμu]L\b|"
    r"[ ](?:patients|people|participants)\b",
    _I,
)
_AMOUNT = re.compile(r"\d+(?:UNITS?|IU|CELLS|CFU|COPIES|MCG|MG)")
_MONTHS = "JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC"
_RUN_TOGETHER = re.compile(rf"\d{{1,2}}(?:{_MONTHS.replace(' ', '|')})[A-Z]{{0,6}}(?:19|20)\d\d")
_COMPACT = re.compile(r"(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])")
_DONE_ON = re.compile(
    r"\b(?:visit|encounter|specimen|sample|study|order|prescription|rx|image|implant|device)[ \t]+\Z",
    _I,
)
_BORN = re.compile(r"\b(?:D\.?O\.?B|birth\w*|born)\b", _I)
_CALLED = re.compile(
    r"\b(?:call|phone|tel|telephone|mobile|cell|fax|pager|contact|number|reach|text|dial|ring)\b[^\n\d]*\Z",
    _I,
)
_DATED = re.compile(
    r"\d{1,2},?[ \t]+(?:January|February|March|April|May|June|July|August|September|October|November|December|Jan|Feb|Mar|Apr|Jun|Jul|Aug|"
    r"Sept?|Oct|Nov|Dec)[ \t]+(?:Close|Drive|Row|Park|Place|Phase|Dr|St|Way|Circle|Extension|Run|Walk|Point|Loop)\b\.?"
)
_DWELLS = re.compile(
    r"\b(?:liv(?:es?|ed|ing)|resid\w+|address|stays?|staying|home|house|moved|located|send|mail|ship\w*|post)\b[^\n]{0,16}\Z|\bat[ \t]+\Z",
    _I,
)
_TOWN = re.compile(r"[ \t]*,?[ \t]*\n?[ \t]*(?:\d{4,6}\b|[A-Z]{1,2}\d|,)")
_AILMENT = re.compile(
    r"\b(?:headaches?|migraines?|pain|nausea|vomiting|cramps?|cramping|anxiety|depression|insomnia|constipation|diarrh?o?ea|allergies|asthma|"
    r"arthritis|heartburn|reflux|GERD|fever|cough|spasms?|neuropathy|neuralgia|sleep|vertigo|dizziness|itching|eczema|psoriasis|gout|"
    r"hypertension|diabetes|seizures?|fatigue|mood|symptoms?|attacks?|flares?|IBS|UTIs?|congestion|sinusitis|sciatica|tremors?)\Z",
    _I,
)


def is_figure(text: str, start: int, end: int, kind: str) -> bool:
    """Is what has the shape of this kind of identifier, at `[start, end)`, a figure or a date?"""
    line = text[max(text.rfind("\n", 0, start) + 1, start - _BEFORE) : start]
    if kind == "AGEOVER":
        return _is_heat(text, start, end, line)
    if kind in {"ID", "PHONE"} and _MEASURED.match(text, end):
        return _CALLED.search(line) is None
    if kind == "ID":
        day = _COMPACT.fullmatch(text, start, end) and _DONE_ON.search(line)
        day = day or (_RUN_TOGETHER.fullmatch(text, start, end) and not _BORN.search(line))
        return bool(day or _AMOUNT.fullmatch(text, start, end))
    if kind == "PHONE":
        counted = _TEN.fullmatch(text, start, end) and _COUNTED.match(text, end)
        return bool(counted) and _CALLED.search(line) is None
    if kind == "ADDRESS":
        dated = _DATED.fullmatch(text, start, end) and not _TOWN.match(text, end)
        return bool(dated) and _DWELLS.search(line) is None
    return False


def is_ailment(words: str) -> bool:
    """Does it end as a complaint does: what a medicine "works for", and no employer?"""
    return _AILMENT.search(words) is not None


def _is_heat(text: str, start: int, end: int, line: str) -> bool:
    """Is it a temperature, or another figure before F or M, and no age with a sex?"""
    sex = _SEX.match(text, end)
    if sex is None:
        return False
    spaced, fahrenheit = sex[1] != "", sex[2] == "F"
    if (not fahrenheit and not spaced) or _NOUN_BEFORE.search(line):
        return False
    said = _PERSON_AFTER.match(text, end) is not None
    *_, sentence = _SENTENCE_ENDS.split(line)
    if fahrenheit and _HEAT.search(sentence) and not (said and int(text[start:end]) < _COLDEST):
        return True
    if _NUMBERS.match(text, end):
        return True
    if _PERSON_BEFORE.search(line) or said:
        return False
    return (
        spaced
        or (fahrenheit and int(text[start:end]) >= _OLDEST)
        or _REACHES.search(line) is not None
    )
