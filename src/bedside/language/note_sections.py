"""Sections of a clinical note: where each begins, what it is called, and what gave it away. Pure.

Notes come with headings in capitals, as `Title:` alone or before its text, as Markdown, numbered,
or as nothing but a usual name on its own line; and some exports lost their line breaks, so that a
heading follows a comma. A title stays exactly as it was written, without its colon and marks.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import Literal, NamedTuple

from bedside.language.section_kinds import SectionKind, is_known_title, kind_of

__all__ = ["PREAMBLE", "NoteSection", "SectionFoundBy", "note_sections", "sections_at"]

PREAMBLE = "Overview"
"""The title of what stands before the first heading, and of a note without any."""

SectionFoundBy = Literal[
    "start", "capitals", "title", "label", "markdown", "numbered", "name", "model"
]


class NoteSection(NamedTuple):
    """One section, `[start, end)` code points of the note; its own text is `[body, end)`.

    `found_by`: "capitals", "title" (`Title:` alone on its line), "label" (`Title:` before its
    text), "markdown", "numbered", "name" (a usual name alone on its line), "model", or "start" for
    what stands before the first heading.
    """

    start: int
    body: int
    end: int
    title: str
    kind: SectionKind
    found_by: SectionFoundBy


class _Mark(NamedTuple):
    start: int
    body: int
    title: str
    found_by: SectionFoundBy
    alone: bool


def note_sections(text: str) -> list[NoteSection]:
    """Find the sections of a note.

    Returns:
        In order, tiling the text from its first to its last character; one section called
        "Overview" where no heading was found; empty for a blank text.
    """
    if not text.strip():
        return []
    return _tile(text, _settled(_marks(text)))


def sections_at(text: str, headings: list[tuple[int, int, str]]) -> list[NoteSection]:
    """Sections from headings that somebody else found, as (start, end of the heading, title)."""
    marks = [_Mark(a, b, title, "model", False) for a, b, title in sorted(headings)]
    return _tile(text, marks) if text.strip() else []


def _tile(text: str, marks: list[_Mark]) -> list[NoteSection]:
    found: list[NoteSection] = []
    first = marks[0].start if marks else len(text)
    if text[:first].strip():
        found.append(NoteSection(0, 0, first, PREAMBLE, kind_of(PREAMBLE), "start"))
        begin = first
    else:
        begin = 0
    for index, mark in enumerate(marks):
        end = marks[index + 1].start if index + 1 < len(marks) else len(text)
        start = begin if index == 0 else mark.start
        found.append(
            NoteSection(start, mark.body, end, mark.title, kind_of(mark.title), mark.found_by)
        )
    return found


# ---- headings -----------------------------------------------------------------------------------

_WORD = r"[A-Z0-9][A-Z0-9/&'’+\-]*"
_CAPITALS = re.compile(
    rf"(?P<title>[A-Z][A-Z0-9/&'’+\-]*(?:(?: ?[,&/] ?| {{1,2}}|\.(?= ?[A-Z])| ?- ?)(?:{_WORD}|\([A-Z ]+\)))"
    r"{0,11}?(?: ?\([A-Za-z ]{1,20}\))?)(?P<close>[ \t]*:[ \t]*,?|[ \t]*(?=\n|\Z)|,(?=[^\s,]))"
)
_TITLE = re.compile(
    r"(?P<title>[A-Za-z][A-Za-z0-9/&'’,() \-]{1,70}?)(?P<close>[ \t]*:[ \t]*,?|[ \t]*(?=\n|\Z)|,(?=\S))"
)
_LINE_START = re.compile(r"(?:\A|\n)[ \t]*(?=\S)")
_COMMA = re.compile(r",[ \t]*(?=[A-Za-z])|(?<=[.;)\]])[ \t]+(?=[A-Z])|[ \t]{2,}(?=[A-Z])")
_ATX = re.compile(r"#{1,6}[ \t]+(?P<title>[^\n]*?)[ \t]*#*[ \t]*(?=\n|\Z)")
_BOLD = re.compile(
    r"(?P<mark>\*\*|__)(?P<title>[^*_\n]{2,70}?):?(?P=mark)(?P<colon>[ \t]*:)?(?P<rest>[^\n]*)"
)
_UNDERLINE = re.compile(r"(?P<title>[^\n]{2,70})\n[ \t]*(?:={3,}|-{3,})[ \t]*(?=\n|\Z)")
_NUMBER = re.compile(r"(?:\(?(?:\d{1,2}|[IVX]{1,4}|[A-H])[.)])[ \t]+")
_BULLET = re.compile(r"[-*•+–][ \t]+")
_SOAP = re.compile(r"(?:\A|\n)[ \t]*(?P<title>[SOAP])[ \t]*:[ \t]*")
_SOAP_LEAST = 3
_MOST_WORDS = 11
_MOST_LETTERS = 80
_STAND_ALONE = 2
_MOST_CASED = 8
_SENTENCE = re.compile(r"[.;!?]\s")


def _marks(text: str) -> list[_Mark]:
    found: list[_Mark] = []
    at = 0
    broken = text.count("\n") * 400 < len(text)  # an export that lost its line breaks
    for match in _LINE_START.finditer(text):
        if match.end() < at:
            continue
        mark = _at_line(text, match.end())
        if mark is not None:
            found.append(mark)
            at = mark.body
    taken = [(mark.start, mark.body) for mark in found]
    starts = [start for start, _ in taken]
    for match in _COMMA.finditer(text):
        where = match.end()
        index = bisect_right(starts, where) - 1
        if index >= 0 and where < taken[index][1] and where != taken[index][1]:
            continue
        mark = _inside(text, match, where, broken=broken)
        if mark is not None:
            found.append(mark)
    found += _soap(text)
    found.sort()
    kept: list[_Mark] = []
    for mark in found:
        if kept and mark.start < kept[-1].body:
            continue
        kept.append(mark)
    return kept


def _soap(text: str) -> list[_Mark]:
    """The letters of a note in the SOAP form, where at least three of them begin a line."""
    letters = list(_SOAP.finditer(text))
    if len({one["title"][0] for one in letters}) < _SOAP_LEAST:
        return []
    return [
        _Mark(
            one.start("title"),
            one.end() if _rest_of_line(text, one.end()) else _after(text, one.end()),
            one["title"],
            "label" if _rest_of_line(text, one.end()) else "title",
            not _rest_of_line(text, one.end()),
        )
        for one in letters
    ]


def _at_line(text: str, start: int) -> _Mark | None:
    """A heading at the beginning of a line."""
    if (atx := _ATX.match(text, start)) and atx["title"].strip():
        return _Mark(start, _after(text, atx.end()), _bare(atx["title"]), "markdown", True)
    bold = _BOLD.match(text, start)
    if bold and (not bold["rest"].strip() or bold["colon"] or text[bold.end("title")] == ":"):
        body = bold.start("rest") if bold["rest"].strip() else _after(text, bold.end())
        return _Mark(start, body, bold["title"].strip(), "markdown", not bold["rest"].strip())
    under = _UNDERLINE.match(text, start)
    if under and not under["title"].lstrip().startswith(("|", "-", "*", "•")):
        return _Mark(start, _after(text, under.end()), under["title"].strip(), "markdown", True)
    number = _NUMBER.match(text, start)
    if number is not None:
        mark = _words(text, start, number.end(), known_only=True)
        if mark is None:
            return None
        lone = mark.alone or mark.title.isupper()
        return mark._replace(found_by="numbered") if lone else None
    if _BULLET.match(text, start):
        return None
    return _words(text, start, start, known_only=False)


def _words(  # noqa: PLR0911 - one line for each way of writing it
    text: str, start: int, at: int, *, known_only: bool
) -> _Mark | None:
    """A heading told by its words alone, at the beginning of a line."""
    capitals = _CAPITALS.match(text, at)
    if capitals is not None and _enough(capitals["title"]):
        title, close = capitals["title"].strip(), capitals["close"]
        rest = _rest_of_line(text, capitals.end())
        known = is_known_title(title)
        if ":" in close and (known or not known_only):
            body = _after(text, capitals.end()) if not rest else capitals.end()
            return _Mark(start, body, title, "label" if rest else "capitals", not rest)
        if close.startswith(",") and known:
            return _Mark(start, capitals.end(), title, "label", False)
        if not rest and ":" not in close and (known or (_set_off(text, start) and not known_only)):
            return _Mark(start, _after(text, capitals.end()), title, "capitals", True)
    match = _TITLE.match(text, at)
    if match is None:
        return None
    title, close = match["title"].strip(), match["close"]
    if len(title.split()) > _MOST_WORDS or not _enough(title):
        return None
    rest = _rest_of_line(text, match.end())
    if ":" in close:
        known = is_known_title(title)
        if not rest and title[0].isupper() and (known or _title_like(title)) and not known_only:
            return _Mark(start, _after(text, match.end()), title, "title", True)
        if known and kind_of(title) != "system":
            return _Mark(
                start,
                match.end() if rest else _after(text, match.end()),
                title,
                "label" if rest else "title",
                not rest,
            )
        return None
    if close.startswith(",") or rest:
        return None
    usual = is_known_title(title, alone=True) and kind_of(title) != "system"
    if usual and (_set_off(text, start) or title.istitle()) and "," not in title:
        return _Mark(start, _after(text, match.end()), title, "name", True)
    return None


def _inside(text: str, gap: re.Match[str], at: int, *, broken: bool) -> _Mark | None:
    """A heading inside a line: after a comma that was a line break, or after a full stop."""
    after_comma = gap.group().startswith(",")
    capitals = _CAPITALS.match(text, at)
    if capitals is not None and _enough(capitals["title"]):
        title, close = capitals["title"].strip(), capitals["close"]
        known = is_known_title(title)
        if ":" in close and (known or (after_comma and broken) or len(title.split()) > 1):
            return _Mark(at, capitals.end(), title, "label", False)
        if close.startswith(",") and known and after_comma and broken and gap.group() == ",":
            return _Mark(at, capitals.end(), title, "label", False)
    if not (after_comma and broken):
        return None
    match = _TITLE.match(text, at)
    if match is None or ":" not in match["close"]:
        return None
    title = match["title"].strip()
    if "," in title:  # the comma inside it was another line break
        cut = match["title"].rindex(",") + 1
        while text[at + cut] == " ":
            cut += 1
        at, title = at + cut, match["title"][cut:].strip()
    if len(title.split()) > _MOST_WORDS or not _enough(title):
        return None
    cased = title[0].isupper() and _title_like(title)
    if is_known_title(title) or (cased and text[at - 1] == ","):
        return _Mark(at, match.end(), title, "label", False)
    return None


def _settled(marks: list[_Mark]) -> list[_Mark]:
    """Leave out labels that only name a body system where the note has headings of their own."""
    alone = sum(1 for mark in marks if mark.alone)
    if alone < _STAND_ALONE:
        return marks
    own = [mark for mark in marks if mark.alone]
    capitals = sum(1 for mark in own if mark.title.isupper())
    styled = capitals * 2 > len(own)
    main = [mark for mark in marks if mark.title.isupper() and kind_of(mark.title) != "system"]
    inline = 2 * sum(1 for mark in main if mark.alone) <= len(main)
    kept: list[_Mark] = []
    for mark in marks:
        kind = kind_of(mark.title)
        if kind == "system" and not (mark.title.isupper() and (mark.alone or inline)):
            continue
        if styled and not mark.title.isupper():
            if not is_known_title(mark.title):
                continue  # a line with a colon under a heading is its part
            inside = kept[-1] if kept else None
            whole = mark.alone and kind not in {"system", "other", "results", "procedure", "labs"}
            if mark.found_by in {"label", "name"} and inside is not None and not whole:
                continue
        kept.append(mark)
    return kept


def _rest_of_line(text: str, at: int) -> str:
    stop = text.find("\n", at)
    return text[at : len(text) if stop < 0 else stop].strip()


def _after(text: str, at: int) -> int:
    """The beginning of the next line."""
    stop = text.find("\n", at)
    return len(text) if stop < 0 else stop + 1


def _set_off(text: str, start: int) -> bool:
    """Does a blank line, or the beginning of the note, stand before it?"""
    before = text[:start]
    return (
        not before.strip()
        or before.rstrip(" \t").endswith("\n\n")
        or before.rstrip(" \t").endswith("\n \n")
    )


def _enough(title: str) -> bool:
    letters = sum(char.isalpha() for char in title)
    digits = sum(char.isdigit() for char in title)
    least = 2 if is_known_title(title) else 3
    return letters >= least and digits * 2 <= letters and len(title) <= _MOST_LETTERS


def _title_like(title: str) -> bool:
    """Capital initials, or few words without a verb's look: not a sentence that ends in a colon."""
    words = re.findall(r"[A-Za-z][\w'’-]*", title)
    small = {"of", "the", "and", "in", "for", "on", "to", "with", "at", "or", "a", "by"}
    initial = sum(word[0].isupper() for word in words if word.lower() not in small)
    content = sum(word.lower() not in small for word in words)
    return 0 < content <= _MOST_CASED and initial == content


def _bare(title: str) -> str:
    return title.strip().strip("*_`").rstrip(":").strip()
