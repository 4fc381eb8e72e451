"""Patterns of words, looked up by the letters that they can begin with. Pure.

Hundreds of alternatives tried at every place of a message take a millisecond; those that can begin
as a word of it begins are a few.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping, Sequence

__all__ = ["Heads"]

_START = re.compile(r"(?<!\w)(?=\S)")
_BEHIND = re.compile(r"\(\?<[!=]")
_GROUP = "(?:"
_LOOSE = "?*{"
_LETTERS = 3
_STARTS = 8192


class Heads:
    """The alternatives of named patterns; a pattern's hits are those of all of them as one.

    Each stands between no letters on either side. Letters count in either case.
    """

    def __init__(self, patterns: Mapping[str, Sequence[str]]) -> None:
        self._by_head: dict[str, list[tuple[str, int, re.Pattern[str]]]] = {}
        for name, forms in patterns.items():
            alternatives = [one for form in forms for one in _split(form)]
            for order, one in enumerate(alternatives):
                entry = (name, order, re.compile(rf"(?<!\w)(?:{one})(?!\w)", re.IGNORECASE))
                for head in _heads(one):
                    self._by_head.setdefault(head, []).append(entry)
        self._of_start = functools.lru_cache(maxsize=_STARTS)(self._beginning)

    def _beginning(self, start: str) -> tuple[tuple[str, int, re.Pattern[str]], ...]:
        """What a match can be of, where the text goes on with these letters."""
        heads = {start[:size] for size in range(_LETTERS + 1)}
        return tuple(one for head in heads for one in self._by_head.get(head, ()))

    def hits(self, text: str, span: tuple[int, int]) -> dict[str, list[tuple[int, int]]]:
        """Where each pattern stands within the span, in reading order, none over another."""
        low = text.lower()
        found: dict[str, list[tuple[int, int]]] = {}
        if len(low) != len(text):  # a letter that grows when it is made small
            low = "".join(one if len(one.lower()) != 1 else one.lower() for one in text)
        for place in _START.finditer(text, *span):
            at = place.start()
            first: dict[str, tuple[int, int]] = {}
            for name, order, form in self._of_start(low[at : at + _LETTERS]):
                known = first.get(name)
                if known is not None and known[0] <= order:
                    continue
                before = found.get(name)
                if before is not None and before[-1][1] > at:
                    continue
                hit = form.match(text, at, span[1])
                if hit is not None and hit.end() > at:
                    first[name] = (order, hit.end())
            for name, (_, end) in first.items():
                found.setdefault(name, []).append((at, end))
        return found


def _split(form: str) -> Iterator[str]:
    """The alternatives of a form at its outermost level."""
    depth, start, at = 0, 0, 0
    while at < len(form):
        char = form[at]
        if char == "\\":
            at += 1
        elif char == "[":
            at = form.index("]", at + 2)
        elif char == "(":
            depth += 1
        elif char == ")":
            depth -= 1
        elif char == "|" and not depth:
            yield form[start:at]
            start = at + 1
        at += 1
    yield form[start:]


def _heads(form: str) -> set[str]:
    """The one to three letters that a match can begin with; "" where it may be any."""
    while (behind := _BEHIND.match(form)) is not None:
        form = form[_close(form, behind.start()) + 1 :]
    if form.startswith(_GROUP):
        close = _close(form, 0)
        inner, rest = form[len(_GROUP) : close], form[close + 1 :]
        heads = {head for one in _split(inner) for head in _heads(one + " ")}
        if rest[:1] in set(_LOOSE):
            heads |= _heads(rest[rest.index("}") + 1 if rest[0] == "{" else 1 :])
        return heads
    if not form[:1].isalnum() or form[1:2] in set(_LOOSE):
        return {""}
    sure = 1
    while (
        sure < _LETTERS
        and form[sure : sure + 1].isalpha()
        and form[sure + 1 : sure + 2] not in set(_LOOSE)
    ):
        sure += 1
    return {form[:sure].lower()}


def _close(form: str, start: int) -> int:
    """Where the bracket that opens at `start` closes."""
    depth, at = 0, start
    while at < len(form):
        if form[at] == "\\":
            at += 1
        elif form[at] == "[":
            at = form.index("]", at + 2)
        elif form[at] == "(":
            depth += 1
        elif form[at] == ")":
            depth -= 1
            if not depth:
                return at
        at += 1
    return len(form)
