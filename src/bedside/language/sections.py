"""Headings and the sections they open: Markdown as CommonMark says, and plain clinical notes. Pure.

Sections tile the text: each begins at its heading and ends where the next begins. What stands before
the first heading is a section of level 0. YAML front matter belongs to no section.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

__all__ = ["FoundBy", "Heading", "Section", "from_headings", "front_matter_end", "sections"]

FoundBy = Literal["start", "atx", "setext", "capitals", "title", "label", "markup"]


class Heading(NamedTuple):
    """One heading: its lines are `[start, body)`, code points; `level` is from 1."""

    start: int
    body: int
    level: int
    title: str
    found_by: FoundBy


class Section(NamedTuple):
    """One section, `[start, end)` in code points of the text; its body is `[body, end)`.

    `path` holds the titles from the outermost to its own, without empty names; `level` is that of
    the heading, from 1, and 0 for text before the first heading. `found_by` says what gave the
    heading away: "label" is `Title: text` on one line, "markup" a format's own heading style.
    """

    start: int
    body: int
    end: int
    level: int
    title: str
    path: tuple[str, ...]
    found_by: FoundBy


def sections(text: str, *, markdown: bool) -> list[Section]:
    """Find the sections of a text.

    Args:
        text: LF line ends.
        markdown: True reads ATX and Setext headings as CommonMark does (code fences, comments and
            front matter hold none); False reads a note's headings: lines in capitals, `Title:`
            alone on a line, and the usual labels of a clinical note before their text.

    Returns:
        In order, without gaps from the end of the front matter to the end of the text; empty for
        a blank text.
    """
    begin = front_matter_end(text) if markdown else 0
    headings = _markdown(text, begin) if markdown else _note(text)
    return from_headings(text, headings, begin=begin)


def from_headings(text: str, headings: list[Heading], *, begin: int = 0) -> list[Section]:
    """Sections from headings in order of position; the stack of titles is trimmed as levels fall."""
    found: list[Section] = []
    made = Section._make  # half the time of the class's own call
    first = headings[0].start if headings else len(text)
    if text[begin:first].strip():
        found.append(Section(begin, begin, first, 0, "", (), "start"))
    stack: list[tuple[int, tuple[str, ...]]] = []
    path: tuple[str, ...]
    ends = [heading[0] for heading in headings[1:]]
    ends.append(len(text))
    for (start, body, level, title, found_by), end in zip(headings, ends, strict=False):
        while stack and stack[-1][0] >= level:
            stack.pop()
        path = stack[-1][1] if stack else ()
        if title:
            path = (*path, title)
        stack.append((level, path))
        found.append(made((start, body, end, level, title, path, found_by)))
    return found


_FRONT = re.compile(r"---[ \t]*\n(?:.*\n)*?(?:---|\.\.\.)[ \t]*(?:\n|$)")
_YAML_LINE = re.compile(r"(?:[\w-][\w .-]*:(?:\s|$)|[ \t]|#|-[ \t]|\n|$)")


def front_matter_end(text: str) -> int:
    """Where the text begins after YAML front matter; 0 where there is none."""
    if not text.startswith("---"):
        return 0
    match = _FRONT.match(text)
    if not match:
        return 0
    lines = match.group().split("\n")[1:-2]
    return match.end() if lines and all(_YAML_LINE.match(line) for line in lines) else 0


# ---- Markdown -----------------------------------------------------------------------------------

_ITEM = re.compile(r" *(?:[-*+]|\d{1,9}[.)]) {1,4}(?=\S)")
_BEFORE_HASHES = re.compile(r"(?: {0,3}(?:[-*+]|\d{1,9}[.)]|>)[ \t]+)* {0,3}")
_DEEPEST = 6
_DASHES_END = re.compile(r"-[ \t]*(?=\n|\Z)")
_EQUALS_END = re.compile(r"=[ \t]*(?=\n|\Z)")
_UNDERLINE = re.compile(r"\n {0,3}(=+|-+)[ \t]*(?=\n|\Z)")
_CLOSING = re.compile(r"(?:^|[ \t]+)#+[ \t]*$")
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_MARKS = re.compile(r"(\*{1,3}|_{1,3}|`+|~~)(?=\S)(.+?)(?<=\S)\1")
_NOT_PARAGRAPH = re.compile(
    r" {0,3}(?:#{1,6}(?:[ \t]|$)|>|```|~~~|\||(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)|"
    r"(?:\*[ \t]*){3,}$|(?:_[ \t]*){3,}$|(?:-[ \t]*){3,}$)|[ \t]*$"
)
_FENCE = re.compile(
    r"(?:\A|\n)((?:[ \t]*(?:[-*+]|\d{1,9}[.)]|>)[ \t]+)*[ \t]*)(`{3,}|~{3,})([^\n]*)"
)
_HTML_OPEN = re.compile(
    r"\n {0,3}<(!--|(?:[Pp][Rr][Ee]|[Ss][Cc][Rr][Ii][Pp][Tt]|[Ss][Tt][Yy][Ll][Ee]|[Tt][Ee][Xx][Tt][Aa][Rr][Ee][Aa])(?=[\s>]))"
)


def _markdown(text: str, begin: int) -> list[Heading]:
    closed = _closed_ranges(text, begin)
    found: list[Heading] = []
    find, length, made = text.find, len(text), Heading._make
    at = find("#", begin)  # a scan for one character, far cheaper than trying every line
    while at >= 0:
        stop = find("\n", at)
        if stop < 0:
            stop = length
        hashes = text[at:stop]
        words = hashes.lstrip("#")
        level = len(hashes) - len(words)
        line = at if at == 0 or text[at - 1] == "\n" else text.rfind("\n", 0, at) + 1
        if (
            level > _DEEPEST
            or (words and words[0] not in " \t")
            or (line != at and not _opens(text, line, at))
            or (closed and _inside(line, closed))
        ):
            at = find("#", at + level)
            continue
        title = words.strip()
        if title.endswith("#"):
            title = _CLOSING.sub("", title).strip()
        if "*" in title or "[" in title or "_" in title or "`" in title or "~" in title:
            title = _plain(title)
        body = min(stop + 1, length)
        found.append(made((line, body, level, title, "atx")))
        at = find("#", body)
    underlines = [m for m in _underlines(text, begin) if not _inside(m.start() + 1, closed)]
    if underlines:
        found.extend(_setext(text, begin, underlines))
        found.sort()
    return found


def _underlines(text: str, begin: int) -> list[re.Match[str]]:
    """Lines of nothing but an underline, each matched from the line end before it."""
    found: list[re.Match[str]] = []
    for pattern in (_DASHES_END, _EQUALS_END):  # apart: a search for one character is fast
        for end in pattern.finditer(text, begin):
            above = text.rfind("\n", begin, end.start())
            match = _UNDERLINE.match(text, above) if above >= 0 else None
            if match:
                found.append(match)
    return sorted(found, key=re.Match.start)


def _opens(text: str, line: int, at: int) -> bool:
    """Is there only indentation, a list marker or a quote mark between the line's start and `at`?

    Four spaces and more are code, but inside a list item they may be its content.
    """
    if _BEFORE_HASHES.fullmatch(text, line, at):
        return True
    indent = at - line
    if text[line:at].strip(" "):
        return False
    above, left = line, 200
    while above > 0 and (left := left - 1):
        below, above = above, text.rfind("\n", 0, above - 1) + 1
        words = text[above : below - 1]
        if words.strip() and len(words) - len(words.lstrip(" ")) < indent:
            item = _ITEM.match(words)
            if item is not None and item.end() <= indent:
                return indent < item.end() + 4
            if not words.startswith(" "):
                return False
    return False


def _setext(text: str, begin: int, underlines: list[re.Match[str]]) -> list[Heading]:
    """Headings by underline: the paragraph right above, wherever it began."""
    found: list[Heading] = []
    floor = begin
    for match in underlines:
        stop = match.start()
        first = at = stop
        while at > floor:
            line = max(text.rfind("\n", floor, at) + 1, floor)
            if _NOT_PARAGRAPH.match(text[line:at]):
                break
            first, at = line, line - 1
        body = min(match.end() + 1, len(text))
        title = text[first:stop]
        if title.strip() and not title.startswith("    ") and not _lazy(text, floor, first):
            level = 1 if match.group(1)[0] == "=" else 2
            joined = " ".join(title.split())
            found.append(Heading(first, body, level, _plain(joined), "setext"))
            floor = body
    return found


def _lazy(text: str, floor: int, first: int) -> bool:
    """Is the line above `first` a list item, quote or table that goes on? Then no heading follows."""
    if first <= floor:
        return False
    above = text[text.rfind("\n", 0, first - 1) + 1 : first - 1]
    if not above.strip() or above.lstrip().startswith("#"):
        return False
    return bool(_NOT_PARAGRAPH.match(above)) and above.lstrip()[:1] in set("-*+>|0123456789")


def _closed_ranges(text: str, begin: int) -> list[tuple[int, int]]:
    """Code fences and HTML blocks: places without headings, in order."""
    ranges: list[tuple[int, int]] = []
    if ("`" in text and "```" in text) or ("~" in text and "~~~" in text):
        at = begin
        while match := _FENCE.search(text, at):
            mark = match.group(2)
            if mark[0] == "`" and "`" in match.group(3):
                at = match.end()
                continue
            close = re.compile(rf"\n[ \t>]*{re.escape(mark[0])}{{{len(mark)},}}[ \t]*(?=\n|\Z)")
            shut = close.search(text, match.end())
            at = shut.end() if shut else len(text)
            ranges.append((match.start(2), at))
    if _has_tags(text):
        padded, low = f"\n{text}", ""  # a block may open on the first line: places are one further
        at = begin
        while match := _HTML_OPEN.search(padded, at):
            opened = match.group(1).lower()
            if opened == "!--":
                shut_at = padded.find("-->", match.end())
            else:
                low = low or padded.lower()
                shut_at = low.find(f"</{opened}>", match.end())
            line_end = padded.find("\n", shut_at) if shut_at >= 0 else -1
            at = len(padded) if line_end < 0 else line_end
            if not _inside(match.start(1) - 1, ranges):
                ranges.append((max(match.start(1) - 2, 0), at - 1))
    return sorted(ranges)


def _has_tags(text: str) -> bool:
    """Does a comment open or an element close anywhere? "< 5" is far more common."""
    at = text.find("<")
    while at >= 0:
        if text[at + 1 : at + 2] == "/" or text.startswith("!--", at + 1):
            return True
        at = text.find("<", at + 1)
    return False


def _inside(at: int, ranges: list[tuple[int, int]]) -> bool:
    return any(start <= at < end for start, end in ranges)


def _plain(title: str) -> str:
    """A heading's words without inline marks."""
    if "[" in title:
        title = _LINK.sub(r"\1", title)
    if "*" in title or "_" in title or "`" in title or "~" in title:
        for _ in range(3):
            bare = _MARKS.sub(r"\2", title)
            if bare == title:
                break
            title = bare
    return title.strip()


# ---- notes --------------------------------------------------------------------------------------

_LINE = re.compile(r"^[ \t]*(\S[^\n]*?)[ \t]*$", re.MULTILINE)
_CAPITALS = re.compile(r"[A-Z][A-Z0-9 /&,()'’.\-]{1,70}[A-Z)]")
_CAPITAL_LABEL = re.compile(r"([A-Z][A-Z0-9 /&,()'’\-]{2,60}):[ \t,]*")
_TITLE_ALONE = re.compile(r"([A-Z][A-Za-z0-9 /&,()'’\-]{2,60}):")
_LABEL = re.compile(r"([A-Z][A-Za-z /&'’\-]{2,45}):[ \t]+(?=\S)")
_KNOWN = frozenset(
    """chief complaint;reason for visit;reason for consultation;history of present illness;hpi;
    past medical history;pmh;past surgical history;family history;social history;review of systems;
    ros;medications;current medications;discharge medications;home medications;allergies;
    physical exam;physical examination;exam;vital signs;vitals;laboratory data;labs;results;imaging;
    assessment;plan;assessment and plan;impression;diagnosis;diagnoses;discharge diagnosis;
    admission diagnosis;procedure;procedures;hospital course;recommendations;follow-up;follow up;
    instructions;subjective;objective;findings;technique;indication;indications;comparison;
    conclusion;history;disposition;condition;immunizations;problem list""".replace("\n", "")
    .replace("    ", "")
    .split(";")
)
_MOST_WORDS = 10
_FEWEST_LETTERS = 3


def _note(text: str) -> list[Heading]:
    found: list[Heading] = []
    blank_before = True
    at = 0
    for match in _LINE.finditer(text):
        blank_before = "\n\n" in text[max(0, at - 1) : match.start() + 1] or not found or at == 0
        heading = _note_heading(text, match, blank_before=blank_before)
        at = match.end()
        if heading is not None:
            found.append(heading)
    return found


def _note_heading(text: str, line: re.Match[str], *, blank_before: bool) -> Heading | None:
    words = line.group(1)
    start, stop = line.start(), line.end()
    body = min(stop + 1, len(text))
    if label := _CAPITAL_LABEL.match(words):
        title = label.group(1).strip()
        if _enough_letters(title):
            inline = len(label.group()) < len(words)
            where = line.start(1) + label.end() if inline else body
            return Heading(start, where, 1, title, "label" if inline else "capitals")
    if _CAPITALS.fullmatch(words) and blank_before and _enough_letters(words):
        return Heading(start, body, 1, words, "capitals")
    if (alone := _TITLE_ALONE.fullmatch(words)) and len(words.split()) <= _MOST_WORDS:
        return Heading(start, body, 2, alone.group(1).strip(), "title")
    if (label := _LABEL.match(words)) and label.group(1).strip().lower() in _KNOWN:
        return Heading(start, line.start(1) + label.end(), 2, label.group(1).strip(), "label")
    return None


def _enough_letters(title: str) -> bool:
    letters = sum(character.isalpha() for character in title)
    digits = sum(character.isdigit() for character in title)
    return (
        letters >= _FEWEST_LETTERS
        and digits <= letters // 2
        and len(title.split()) <= _MOST_WORDS
        and (letters > _FEWEST_LETTERS or title.lower() in _KNOWN)
    )
