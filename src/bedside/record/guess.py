"""What a document says of itself: its kind, date and facility, guessed by rule from its head.

A guess that is not plain is left out: an ambiguous date is no date.
"""

from __future__ import annotations

import re
from datetime import date

from bedside.core.value import value

__all__ = ["Guess", "guess"]

_HEAD = 3_000
_LINES = 25
_LONG = 90


@value
class Guess:
    """What was found. Every field is empty, or `None`, where nothing plain stands there."""

    title: str = ""
    category: str = ""
    dated: date | None = None
    facility: str = ""


_KINDS: tuple[tuple[str, str], ...] = (
    ("Discharge summary", r"discharge (?:summary|letter|note|report)|discharge"),
    ("Operation note", r"operati(?:on|ve) (?:note|report|record)|surgical report"),
    ("Pathology report", r"(?:histo)?patholog\w* report|biopsy report|cytology report"),
    (
        "Radiology report",
        r"radiolog\w* report|imaging report|x-?ray|ultrasound|\bct\b|\bmri\b|dexa",
    ),
    ("Cardiology report", r"echocardiogra\w+|\becho\b|\becg\b|\bekg\b|holter|angiogra\w+"),
    (
        "Laboratory report",
        r"lab(?:oratory)?s? (?:report|results?)|blood (?:test|results?)|\blabs?\b",
    ),
    ("Referral letter", r"referral(?: letter)?|referred by"),
    ("Prescription", r"prescription|\brx\b"),
    ("Immunisation record", r"immuni[sz]ation (?:record|certificate)|vaccination"),
    ("Consultation note", r"consult(?:ation)? (?:note|report|letter)|consult"),
    ("Progress note", r"progress note|soap note|follow-?up note|visit note"),
    ("Clinic letter", r"clinic letter|outpatient letter|dear (?:dr|doctor|colleague)"),
    ("Consent form", r"consent form|informed consent"),
)
_MONTHS = {
    name: number
    for number, names in enumerate(
        (
            ("jan", "january"),
            ("feb", "february"),
            ("mar", "march"),
            ("apr", "april"),
            ("may",),
            ("jun", "june"),
            ("jul", "july"),
            ("aug", "august"),
            ("sep", "sept", "september"),
            ("oct", "october"),
            ("nov", "november"),
            ("dec", "december"),
        ),
        start=1,
    )
    for name in names
}
_MONTH = "|".join(sorted(_MONTHS, key=len, reverse=True))
_DATE = re.compile(
    r"\b(?:(?P<y1>\d{4})-(?P<m1>\d{1,2})-(?P<d1>\d{1,2})"
    rf"|(?P<d2>\d{{1,2}})(?:st|nd|rd|th)?[ .-](?P<m2>{_MONTH})\.?,?[ .-](?P<y2>\d{{4}})"
    rf"|(?P<m3>{_MONTH})\.? (?P<d3>\d{{1,2}})(?:st|nd|rd|th)?,? (?P<y3>\d{{4}})"
    r"|(?P<a4>\d{1,2})[/.](?P<b4>\d{1,2})[/.](?P<y4>\d{4}))\b",
    re.IGNORECASE,
)
_LABEL = re.compile(
    r"\b(?:report(?:ed)?|document|letter|discharge[d]?|visit|collected|collection|performed|"
    r"signed|issued|dictated|date|dated)\b[^:\n]{0,30}:",
    re.IGNORECASE,
)
_BIRTH = re.compile(r"\b(?:d\.?o\.?b|date of birth|birth ?date|born)\b", re.IGNORECASE)
_FACILITY = re.compile(
    r"\b(?:hospital|clinic|medical cent(?:er|re)|health cent(?:er|re)|laborator(?:y|ies)|"
    r"diagnostics|infirmary|polyclinic|surgery|medical group|institute)\b",
    re.IGNORECASE,
)
_NOT_FACILITY = re.compile(
    r"hospital course|hospital stay|history|clinic(?:al)? (?:letter|note|summary)|laboratory (?:re|data"
    r"|values|tests)|surgery(?: on|:| date)|(?:for|after|of|had|needs?|underwent) |[.;?]",
    re.IGNORECASE,
)
_FIELD = re.compile(r"^(?:facility|hospital|clinic|laboratory|site|location)\s*:\s*", re.IGNORECASE)
_STAMP = re.compile(r"(?<!\d)(\d{4})[-_]?(\d{2})[-_]?(\d{2})(?!\d)")


def guess(text: str, *, file_name: str) -> Guess:
    """Read the head of a document (and its file name) for what it is."""
    head = text[:_HEAD]
    lines = [line.strip(" #*_\t|") for line in head.splitlines() if line.strip(" #*_\t|-=")]
    stem = re.sub(r"[_\-]+", " ", file_name.rsplit("/", 1)[-1].rsplit(".", 1)[0]).strip()
    return Guess(
        title=_title(lines) or stem,
        category=_category(stem, lines),
        dated=_dated(lines) or _stamped(file_name),
        facility=_facility(lines[:_LINES]),
    )


def _title(lines: list[str]) -> str:
    first = lines[0] if lines else ""
    return first if first and len(first) <= _LONG and not _FACILITY.search(first) else ""


def _category(stem: str, lines: list[str]) -> str:
    """By file name and heading first; the body only where they are silent."""
    for place in (" ".join(lines[:3]), stem, " ".join(lines)):
        found = [
            (match.start(), kind)
            for kind, pattern in _KINDS
            if (match := re.search(rf"\b(?:{pattern})", place, re.IGNORECASE))
        ]
        if found:
            return min(found)[1]
    return ""


def _read(found: re.Match[str]) -> date | None:
    group = found.groupdict()
    try:
        if group["y1"]:
            return date(int(group["y1"]), int(group["m1"]), int(group["d1"]))
        if group["y2"]:
            return date(int(group["y2"]), _MONTHS[group["m2"].casefold()], int(group["d2"]))
        if group["y3"]:
            return date(int(group["y3"]), _MONTHS[group["m3"].casefold()], int(group["d3"]))
        first, second, year = int(group["a4"]), int(group["b4"]), int(group["y4"])
        if first > 12 >= second or first == second:  # noqa: PLR2004 - months
            return date(year, second, first)
        if second > 12 >= first:  # noqa: PLR2004 - months
            return date(year, first, second)
    except ValueError:
        return None
    return None  # 03/04/2026 is one day in London and another in Boston


def _dated(lines: list[str]) -> date | None:
    """A labelled date first, else the first plain one; a date of birth is never it."""
    plain: date | None = None
    for line in lines:
        for found in _DATE.finditer(line):
            before = line[: found.start()]
            if _BIRTH.search(before[-40:]):
                continue
            day = _read(found)
            if day is None:
                continue
            if _LABEL.search(before[-60:]):
                return day
            plain = plain or day
    return plain


def _stamped(file_name: str) -> date | None:
    found = _STAMP.search(file_name)
    if found is None:
        return None
    try:
        return date(int(found[1]), int(found[2]), int(found[3]))
    except ValueError:
        return None


def _facility(lines: list[str]) -> str:
    for line in lines:
        named = _FIELD.sub("", line)
        labelled = named != line
        if labelled and named and len(named) <= _LONG:
            return named.split("  ")[0].strip(" ,;")
        if len(line) <= _LONG and _FACILITY.search(line) and not _NOT_FACILITY.search(line):
            return re.split(r"\s[|–—-]\s|,", line)[0].strip(" ,;:")
    return ""
