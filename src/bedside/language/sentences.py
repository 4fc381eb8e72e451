"""Sentence spans of clinical prose. Pure; keeps every non-blank character exactly once.

Doses ("2.5 mg p.o. BID"), decimals, initials, titles ("Dr."), list markers and wrapped lines do
not end a sentence; blank lines, list items, table rows, headings and short unfinished lines do.
"""

from __future__ import annotations

import re
from bisect import bisect_right

__all__ = ["sentences"]


def _words(line: str) -> frozenset[str]:
    return frozenset(line.split())


# Never end a sentence when something follows on the same line.
_JOINS = _words(
    "dr drs mr mrs ms prof rev hon st mt vs v cf eg ie e.g i.e viz approx ca fig figs eq ref refs "
    "vol pp p ed eds al dept div ext est resp incl excl spp sp var subsp no nos art sect ch "
    "chap tab c/o w/o jan feb mar apr jun jul aug sep sept oct nov dec mon tue wed thu fri"
)
# May end one: they do so only before a capitalised word ("500 mg b.i.d. She ...").
_MAY_END = _words(
    "etc a.m p.m b.i.d t.i.d q.i.d q.d q.h q.h.s q.o.d p.o p.r p.v i.v i.m s.c s.l p.r.n h.s a.c p.c "
    "o.d b.d t.d.s q.d.s o.m o.n n.p.o stat tab tabs cap caps gtt inj mg mcg ml kg cm mm hr hrs min "
    "mins sec wk wks mo mos yr yrs y.o lb lbs oz ft in temp wt ht max inc ltd co dx hx rx tx sx fx "
    "u.s u.k u.s.a m.d ph.d r.n b.sc m.sc d.o n.p jr sr pt pts bilat lat ant post sup inf abd neg "
    "pos avg"
)
# A single capital after one of these is a type, not an initial: "hepatitis B. She ...".
_TYPED = _words(
    "vitamin hepatitis type grade group class stage influenza factor protein child-pugh level "
    "category clade serotype phase plan part appendix option table vitamins immunoglobulin"
)
_NUMBERED = _words("no nos fig figs eq ref refs vol pp p sect ch chap tab art")
_MONTHS = _words("jan feb mar apr jun jul aug sep sept oct nov dec")

_END = re.compile(r"[.!?…]+[\"'”’»)\]]*(?=\s)|[。！？]+[”’」』）]*|[।۔؟]+(?=\s|$)")
_LINE = re.compile(r"\n")
_MARKER = re.compile(
    r"[ \t]*(?:[-*+•◦▪‣·–—o](?=[ \t])|\(?(?:\d{1,3}|[a-zA-Z]|[ivx]{1,4})[.)](?=[ \t])|#{1,6}(?=[ \t])|"
    r"\||>|```|~~~|\[[ xX]\])"
)
_ONLY_MARKER = re.compile(r"[ \t]*(?:[-*+•][ \t]+)?\(?(?:\d{1,3}|[a-zA-Z]|[ivx]{1,4})[.)]$")
_LABEL = re.compile(r"[A-Z][\w /&,()'-]{0,48}:[ \t]")
_WORD_BEFORE = re.compile(r"[\w./'-]*$")
_FENCE = re.compile(r"[ \t]*(?:-{3,}|={3,}|\*{3,}|_{3,})[ \t]*$")
_BACK = 60  # characters looked at before a full stop, so that one endless line costs no more
_SHORT_LINE = 50
_GOES_ON = (",", "-", "(", "/", " and", " or", " of", " with", " the")


def sentences(text: str) -> list[tuple[int, int]]:
    """Split prose into sentences.

    Args:
        text: Any text; Markdown and wrapped lines are understood.

    Returns:
        Spans `(start, end)` in code points, half-open, in order, never overlapping, never empty,
        with no blank character at either end. Together they hold every non-blank character.
    """
    cuts = sorted({*_line_cuts(text), *_stop_cuts(text)})
    spans: list[tuple[int, int]] = []
    start = 0
    for cut in (*cuts, len(text)):
        piece = text[start:cut]
        body = piece.strip()
        if body:
            left = start + len(piece) - len(piece.lstrip())
            spans.append((left, left + len(body)))
        start = cut
    return spans


def _line_cuts(text: str) -> list[int]:
    """Line ends at which a sentence ends whatever its punctuation."""
    cuts: list[int] = []
    start = 0
    for match in _LINE.finditer(text):
        at = match.end()
        line = text[start : match.start()]
        start = at
        after = text[at : at + 80]
        if _line_ends(line, after):
            cuts.append(at)
    return cuts


def _line_ends(line: str, after: str) -> bool:
    """Does this line end a sentence without a full stop? `after` is the start of the next line."""
    bare, following = line.strip(), after.lstrip()
    if not bare or not after.split("\n", 1)[0].strip():
        return True
    if bare[0] in {"#", "|"} or _MARKER.match(after) or _FENCE.match(line):
        return True
    if _LABEL.match(following):
        return True
    if len(bare) >= _SHORT_LINE:
        return False
    return bare.endswith((":", ";")) or not (bare.endswith(_GOES_ON) or following[:1].islower())


def _stop_cuts(text: str) -> list[int]:
    """Positions after the punctuation that ends a sentence."""
    newlines = [match.start() for match in _LINE.finditer(text)]
    cuts: list[int] = []
    for match in _END.finditer(text):
        mark, at = match.group(), match.end()
        if not mark.startswith("."):
            cuts.append(at)
            continue
        line = bisect_right(newlines, match.start()) - 1
        line_start = newlines[line] + 1 if line >= 0 else 0
        head = text[max(line_start, match.start() - _BACK) : match.start()]
        follow = text[at : at + 40].lstrip(" \t\r\n\"'“‘«([*_")[:12]
        if _ends(head, mark, follow):
            cuts.append(at)
    return cuts


def _ends(head: str, mark: str, follow: str) -> bool:
    """Does this full stop end a sentence? `head` is the line before it, `follow` what comes."""
    if not follow:
        return True
    if _ONLY_MARKER.fullmatch(f"{head}."):
        return False
    found = _WORD_BEFORE.search(head)
    word = found.group() if found else ""
    low = word.lower().strip(".'-")
    capitalised = follow[:1].isupper() and follow[1:2].islower()
    lone = follow[:1].isupper() and not follow[1:2].isalnum()  # "I", "A"
    if len(mark.rstrip("\"'”’»)]")) > 1:  # an ellipsis
        return follow[:1].isupper()
    if low in _NUMBERED and (follow[:1].isdigit() or low not in {"no", "p", "art"}):
        return False
    if low in _MONTHS:
        return capitalised and head[:-3].rstrip()[-1:].isdigit()
    if low in _JOINS and low != "no":
        return False
    if low in _MAY_END or re.fullmatch(r"(?:[a-z]\.)+[a-z]", low):
        return capitalised or lone
    if len(word) == 1 and word.isupper():
        before = head[:-1].split()
        return bool(before) and before[-1].lower() in _TYPED
    return not follow[:1].islower() or (mark[-1:] in {")", "]"} and capitalised)
