"""An answer cut into what is checked and released at once: a sentence, a list item, a row. Pure.

Cutting is incremental: a border is drawn only when nothing that may follow can move it, so any
cutting of the stream gives the same units. Markers after a full stop belong to the sentence before.
"""

from __future__ import annotations

import re

__all__ = ["cut"]

_BORDER = re.compile(r"\n|[.!?]+[\"'”’»)\]*_]*(?=\s)|[。！？]+[”’」』）]*")
_MARKERS = re.compile(r"(?:[ \t]*\[\d{1,4}\])+[.,;]?")
_PART_OF_MARKER = re.compile(r"[ \t]*(?:\[\d{0,4})?\Z")
_BLANKS = re.compile(r"\s+")
_LETTERS = re.compile(r"[^\W\d_]+")
_CLOSED = frozenset("0123456789]%)")
_WORD = re.compile(r"[\w./'-]*\Z")
_COUNTER = re.compile(r"(?:^|\n)[ \t]*(?:[-*+•>#]+[ \t]*)?\(?(?:\d{1,3}|[a-zA-Z]|[ivx]{1,4})\Z")
_SHORT_WORDS = (
    "dr drs mr mrs ms prof st vs v cf eg ie e.g i.e viz approx ca fig no nos resp incl excl "
    "b.i.d t.i.d q.i.d q.d p.o i.v i.m s.c p.r.n b.d t.d.s q.d.s o.d h.s a.m p.m min max"
)
_SHORT = frozenset(_SHORT_WORDS.split())


def cut(text: str, *, final: bool) -> list[int]:
    """Where the units of `text` end.

    Args:
        text: What has come so far, from the start of a unit.
        final: True when nothing more will come.

    Returns:
        Ends in code points, rising; each unit takes the blanks that follow it. What comes after
        the last end is still open; with `final` the last end is the text's.
    """
    ends: list[int] = []
    start = at = 0
    while (border := _BORDER.search(text, at)) is not None:
        end = _end_of(text, border, start, final=final)
        if end is None:
            break
        at = border.end()
        if end > start and any(char.isalnum() for char in text[start:end]):
            ends.append(end)
            start = at = end
    if final and text[start:]:
        if text[start:].strip() or not ends:
            ends.append(len(text))
        else:
            ends[-1] = len(text)
    return ends


def _end_of(text: str, border: re.Match[str], start: int, *, final: bool) -> int | None:
    """The end of the unit at this border; `start` where it is none, `None` where unsure."""
    end = border.end()
    if border.group() != "\n":
        if not _stops(text, border, start):
            return start
        markers = _MARKERS.match(text, end)
        if markers is not None:
            end = markers.end()
        if not final and _PART_OF_MARKER.match(text, end):
            return None
    blanks = _BLANKS.match(text, end)
    if blanks is not None:
        end = blanks.end()
    if end == len(text) and not final:
        return None
    if border.group() == "\n":
        return end
    if not text[end : end + 1].islower() or text[border.start() - 1] in _CLOSED:
        return end
    word = _LETTERS.match(text, end)
    if word is None or (word.end() == len(text) and not final):
        return None
    return start if word.group().islower() else end  # "eGFR", "pH" may begin a sentence


def _stops(text: str, border: re.Match[str], start: int) -> bool:
    """Does this punctuation end a sentence, judged by what stands before it?"""
    if not border.group().startswith("."):
        return True
    head = text[max(start, border.start() - 40) : border.start()]
    if _COUNTER.search(head) and "\n" not in head.strip():
        return False
    found = _WORD.search(head)
    word = found.group() if found else ""
    if word.lower().strip(".'") in _SHORT:
        return False
    return not (len(word) == 1 and word.isupper())
