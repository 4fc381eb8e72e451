"""Identifiers as people write them by hand: spaced, spelled out, or told by a word before. Pure.

Beside `bedside.models.shapes`, which has the forms of systems. Everything here needs a label or a
shape that no figure of a note has.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from bedside.models.name_words import NOT_NAMES
from bedside.models.shapes_figures import is_ailment, is_figure

__all__ = ["written_shapes"]

_I = re.IGNORECASE
_MONTH = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?|"
    r"janvier|février|mars|avril|mai|juin|juillet|août|septembre|octobre|novembre|décembre|Januar|Februar|März|Juni|Juli|Oktober|Dezember|"
    r"enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre)"
)
_YEAR = r"(?:(?:18|19|20)\d{2}|['’]?\d{2})(?!\d)"
_DAY = (
    rf"(?:(?:the[ \t]+)?\d{{1,2}}(?:st|nd|rd|th|er|º|\.)?(?:[ \t]+(?:of|de))?[ \t.-]*{_MONTH}\.?(?:[ \t]+(?:of|de))?[ \t,.-]*{_YEAR}"
    rf"|{_MONTH}\.?[ \t.-]*(?:the[ \t]+)?\d{{1,2}}(?:st|nd|rd|th)?[ \t,.-]+{_YEAR}|\d{{1,2}}[ \t]?[/.\- ][ \t]?\d{{1,2}}[ \t]?[/.\- ][ \t]?{_YEAR}"
    rf"|(?:18|19|20)\d{{2}}[/.\- ]\d{{1,2}}[/.\- ]\d{{1,2}}(?!\d)|(?:19|20)\d{{6}}(?!\d)|\d{{4}}(?:19|20)\d{{2}}(?!\d)"
    rf"|{_MONTH}\.?,?[ \t]+(?:18|19|20)\d{{2}}(?!\d))"
)
_BORN = (
    r"(?<!\w)(?:D\.?[ ]?O\.?[ ]?B\.?|B\.?D\.?(?=[ \t]*[:=])|date[ \t]+of[ \t]+birth|birth[ \t-]?dates?|birth[ \t-]?day|born(?:[ \t]+(?:on|in))?|b\.|"
    r"geb(?:oren|\.)?(?:[ \t]+am)?|Geburtsdatum|née?[ \t]+le|date[ \t]+de[ \t]+naissance|nacid[oa][ \t]+el|fecha[ \t]+de[ \t]+nacimiento|"
    r"data[ \t]+di[ \t]+nascita|nat[oa][ \t]+il|data[ \t]+de[ \t]+nascimento)"
)
_WHOSE = (
    r"(?:NIN|BVN|SSNIT|TIN|NHIS|CNIC|ABHA|HKID|NRIC|CURP|RUT|DNI|CPF|BSN|PESEL|personnummer|SIN|NHI|Aadhaa?r|voter['’]?s?[ \t]+(?:id|card)|"
    r"national[ \t]+(?:id|insurance|identity(?:[ \t]+card)?)|driver['’]?s?['’]?[ \t]+licen[cs]e|driving[ \t]+licen[cs]e|passport|medicare|medicaid|"
    r"social[ \t]+security|health[ \t]+card)"
)
_NUMBERED = (
    r"(?:policy|member(?:ship)?|account|acct|a/c|hospital|patient|chart|case|file|folder|card|registration|insurance|subscriber|group|claim|serial|record|"
    r"medical[ \t]+record|MRN?|encounter|visit|accession|specimen|reference|ref|admission|episode|unit|licen[cs]e|certificate|pension|badge|staff|student|"
    r"employee|payroll|phone|contact)"
)
_NO = r"(?:no\b\.?|nr\b\.?|num\b\.?|number\b|id\b|\#)"
_SPACED = r"(?-i:(?=(?:[A-Z0-9/.\-]*[ ]?){1,5})(?=(?:[^\n\d]{0,12}?\d){4})[A-Z0-9]{1,8}(?:[ /.\-]?[A-Z0-9]{1,10}){0,5})(?!\w)"
_STREETS = (
    r"(?:Street|St|Road|Rd|Avenue|Ave|Lane|Ln|Drive|Dr|Court|Ct|Boulevard|Blvd|Crescent|Terrace|Highway|Way|Place|Circle|Trail|Square|Parkway|Close|Mews|"
    r"Gardens|Row|Grove|Park|Nagar|Marg|Colony|Estate|Layout|Extension|Quarters|Phase|STREET|ROAD|AVENUE|LANE|DRIVE|COURT|BOULEVARD|HIGHWAY|CLOSE|CRESCENT)"
)
_CAPS = r"[A-Z][\w'’.&-]*"
_TAIL = rf"(?:,[ \t]*{_CAPS}(?:[ \t]+{_CAPS}){{0,3}}){{0,3}}(?:,?[ \t]+\d{{4,6}}(?!\w))?"
_PART = r"(?:[A-Z][\w&'’-]*|[A-Z]\.)"
_ORG = rf"(?:{_PART}(?:[ \t]+(?:(?:of|and|&|the|for)[ \t]+)?{_PART}){{0,5}})"
_FIRM = (
    r"(?:Ltd|Limited|Inc|LLC|LLP|Corp|Corporation|Company|Co|Plc|PLC|GmbH|AG|School|College|University|Hospital|Bank|Factory|Services|Industries|Foundation|"
    r"Church|Department|Store|Stores|Logistics|Transport|Airlines|Motors|Foods|Group)"
)
_ONES = r"(?:one|two|three|four|five|six|seven|eight|nine)"
_SHAPES: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("BIRTHDATE", re.compile(rf"{_BORN}[ \t]*(?:is|was|are|[:=\-–]|on)?[ \t]*({_DAY})", _I)),
    ("BIRTHDATE", re.compile(r"\b(?:YOB|year[ \t]+of[ \t]+birth|birth[ \t]+year)[ \t]*(?:is|was|[:=\-])?[ \t]*((?:18|19|20)\d{2})(?!\d)", _I)),
    ("EMAIL", re.compile(r"(?<![\w.+%'’-])[\w.+%'’-]+[ ]?@[ ]?[\w-]+(?:\.[\w-]+)*\.[A-Za-z]{2,8}(?![\w-])")),
    ("EMAIL", re.compile(r"(?<![\w.+%-])[\w.+%-]+[ ]?[(\[{<][ ]?at[ ]?[)\]}>][ ]?[\w-]+(?:[ ]?(?:\.|[(\[{<]?[ ]?dot[ ]?[)\]}>]?)[ ]?[\w-]+)+", _I)),
    ("EMAIL", re.compile(r"(?<![\w.+%-])[\w.+%-]+[ ]at[ ][\w-]+(?:[ ]dot[ ][\w-]+)+", _I)),
    ("PHONE", re.compile(r"(?<![\w.\-/])[2-9]\d{9}(?!\w|\.\d|-\d)")),
    ("PHONE", re.compile(r"\b(?:pager|beeper|bleep|extension|ext)\b\.?[ \t]*(?:no\.?|number)?[ \t]*[:#=]{0,2}[ \t]*(\d{3,8})(?![\w.])", _I)),
    ("PHONE", re.compile(r"(?<![\w.,\-/])0\d(?:[ .]\d{2}){4}(?![\w])")),
    ("PHONE", re.compile(r"(?<![\w.,\-/])0\d[ ]\d{4}[ ]\d{4}(?![\w])")),
    ("PHONE", re.compile(r"(?<![\w.,\-/])0\d{2,4}[ /-]\d{6,8}(?![\w-])")),
    ("PHONE", re.compile(r"(?<![\w.,\-/])0\d{2}[ ]\d{3,4}[ ]\d{4}(?![\w])")),
    ("PHONE", re.compile(r"(?<![\w.,\-/])[6-9]\d{4}[ -]\d{5}(?![\w-])")),
    ("PHONE", re.compile(r"(?<![\w.,\-/])\(0\d{1,4}\)[ ]?\d{3,4}[ -]?\d{3,4}(?![\w])")),
    ("ID", re.compile(rf"\b{_WHOSE}[ \t]*(?:card)?[ \t]*{_NO}?[ \t]*(?:is|was|[:#=\-])?[ \t]*({_SPACED})", _I)),
    ("ID", re.compile(rf"\b{_NUMBERED}[ \t]*{_NO}[ \t]*(?:is|was|[:#=\-])?[ \t]*\#?({_SPACED})", _I)),
    ("ADDRESS", re.compile(rf"\b(?:liv(?:es?|ed|ing)|resid(?:es?|ed|ing)|stays?|staying|home|house)[ \t]+(?:on|at|in|off|near)[ \t]+((?-i:(?:{_CAPS}[ \t]+){{1,3}}{_STREETS}\b\.?{_TAIL}))", _I)),
    (
        "ADDRESS",
        re.compile(
            rf"(?<![\w.])(?:(?:Flat|Apt\.?|Apartment|Plot|House|Block|Unit|No\.?|Room|H\.?[ ]?No\.?|Door[ ]No\.?)[ \t]*\#?[\w/-]{{1,6}},?[ \t]+)?"
            rf"\d{{1,5}}(?:[A-Z]|[-/][A-Z0-9]{{1,3}})?,?[ \t]+(?:[NSEW]\.?[ \t]+)?(?:{_CAPS}[ \t]+){{1,4}}{_STREETS}\b\.?(?:[ \t]+\d{{1,4}}(?!\w))?{_TAIL}"
        ),
    ),
    ("ADDRESS", re.compile(rf"(?<![\w.])(?:Flat|Apt\.?|Apartment|Plot|House|Block|H\.?[ ]?No\.?|Door[ ]No\.?)[ \t]*\#?\d[\w/-]{{0,6}},?[ \t]+(?:{_CAPS}[ \t]+){{1,4}}{_STREETS}\b\.?{_TAIL}")),
    ("URL", re.compile(r"(?<![\w@.-])(?:[a-z0-9-]{2,}\.)+[a-z]{2,10}/[\w./?=&%-]+", _I)),
    ("URL", re.compile(r"\b(?:twitter|instagram|insta|facebook|tiktok|snapchat|telegram|skype|handle|username|user[ ]name|screen[ ]name)[ \t]*(?:handle|account|id|name)?[ \t]*(?:is|:|=)?[ \t]*(@[\w.]{2,40})", _I)),
    ("URL", re.compile(r"(?<![\w.@])@(?=[\w.]*[\d_])[A-Za-z][\w.]{2,40}")),
    ("IP", re.compile(r"(?<![\w:.])(?=[0-9a-f:]*::)(?=[0-9a-f:]*[0-9a-f]{3})(?:[0-9a-f]{1,4}:){1,7}(?::?[0-9a-f]{1,4}){1,6}(?![\w:])", _I)),
    ("AGEOVER", re.compile(rf"\b(ninety(?:[ -]{_ONES})?|(?:one|a)[ ]hundred(?:[ ](?:and[ ])?\w+)?)(?=[ -](?:years?|yrs?)\b)", _I)),
    ("AGEOVER", re.compile(r"\bin[ ](?:his|her|their)[ ]((?:early|mid|late)?[ -]?(?:nineties|90['’]?s))(?!\w)", _I)),
    ("AGEOVER", re.compile(r"\b(?:age|aged)[ \t]*(?:is|of|:)?[ \t]*(9\d|1[01]\d)(?![\w.%/]|[ ]?(?:mg|kg|cm|mm|days|weeks|months))", _I)),
    ("AGEOVER", re.compile(r"(?<![\w.,/-])(9\d|1[01]\d)(?=[ ]?(?:yo|y/o|y\.o\.|yrs?|years?|[FM](?=[ ,.;]))(?![a-z]))")),
)  # fmt: skip
_EMPLOYERS: tuple[re.Pattern[str], ...] = (
    re.compile(rf"\b(?i:employer|place of work|workplace)[ \t]*(?:is|was|[:=\-])[ \t]*({_ORG})"),
    re.compile(rf"\b(?i:work(?:s|ed|ing)?[ \t]+(?:at|for)|employed[ \t]+(?:by|at|with)|employee[ \t]+of|retired[ \t]+from|job[ \t]+(?:at|with))[ \t]+(?:the[ \t]+|a[ \t]+)?({_ORG})"),
    re.compile(rf"\b(?i:occupation)[ \t]*:[^\n.]{{0,40}}?[ \t](?:at|for|with)[ \t]+({_ORG})"),
    re.compile(rf"\b(?i:works?|worker|driver|teacher|nurse|engineer|manager|clerk|guard|cook|welder|janitor|cashier)[ \t]+(?:at|for|with)[ \t]+(?:the[ \t]+)?({_ORG}[ \t]+{_FIRM}\b\.?)"),
)  # fmt: skip


def written_shapes(text: str) -> Iterator[tuple[int, int, str]]:
    """Identifiers as (start, end, kind); they may overlap."""
    for kind, pattern in _SHAPES:
        group = 1 if pattern.groups else 0
        for match in pattern.finditer(text):
            if not is_figure(text, *match.span(group), kind):
                yield *match.span(group), kind
    for pattern in _EMPLOYERS:
        for match in pattern.finditer(text):
            first = re.match(r"[\w'’-]+", match[1])
            if first is None or is_ailment(match[1]):
                continue
            if first[0].lower() not in NOT_NAMES:
                yield *match.span(1), "EMPLOYER"
