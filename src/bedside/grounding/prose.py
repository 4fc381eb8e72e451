"""The inline quote protocol: citations in prose, decoded as it streams. Pure.

A model writes `HbA1c was 8.2 % [3: "HbA1c 8.2 %"].` and the reader sees `HbA1c was 8.2 % [3].`
The decision and its reasons: docs/decisions/0002-quote-protocol.md.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib.resources import files

from bedside.core.turn import Draft, Quote

__all__ = ["BROKEN", "Prose", "prompt_text"]

BROKEN = 0
"""The number of a quote whose markup was broken: no source ever has it."""

_LONGEST = 1_200  # characters of markup; a longer one is broken
_LABELS = ("source", "sources", "ref", "refs", "n")
_LABEL = r"(?:(?:sources?|refs?|n)\s*[=#]?\s*)?"
_OPEN = "\"“„«”'‘"
_CLOSE = "\"”“»'’"
_NUMBERS = rf"\[\s*{_LABEL}\d{{1,4}}(?:\s*[,;]\s*{_LABEL}\d{{1,4}})*\s*"
_UNDECIDED = re.compile(
    rf"\[\s*[A-Za-z]{{0,7}}\s*[=#]?\s*|{_NUMBERS}(?:[,;]\s*{_LABEL}|:\s*)?", re.IGNORECASE
)
_COMMITTED = re.compile(rf"{_NUMBERS}(?::\s*[{_OPEN}]|:\s+\S|[{_OPEN[:-2]}])", re.IGNORECASE)
_ENTRY = rf"{_LABEL}\d{{1,4}}(?:\s*:?\s*[{_OPEN}].*?[{_CLOSE}])?"
_WHOLE = re.compile(rf"\[\s*{_ENTRY}(?:\s*[,;]\s*{_ENTRY})*\s*\]", re.IGNORECASE | re.DOTALL)
_EACH = re.compile(
    rf"\s*[,;]?\s*{_LABEL}(?P<n>\d{{1,4}})"
    rf"(?:\s*:?\s*[{_OPEN}](?P<quote>.*?)[{_CLOSE}](?=\s*\]|\s*[,;]\s*{_LABEL}\d{{1,4}}\s*[:\]{_OPEN},;]))?",
    re.IGNORECASE | re.DOTALL,
)
_UNQUOTED = re.compile(
    rf"\[\s*{_LABEL}(?P<n>\d{{1,4}})\s*:\s*(?P<quote>[^\s\[\]{_OPEN}][^\[\]]*)\]", re.IGNORECASE
)
_NO_END = re.compile(r"\n\s*\n")


def prompt_text() -> str:
    """How the protocol is explained to a model: static text for the cached prefix."""
    return files("bedside.grounding").joinpath("prompts/quotes.md").read_text(encoding="utf-8")


class Prose:
    """Decodes prose with inline quotes. Implements `bedside.core.turn.Decoder`.

    Incremental and total: any cutting of the stream into deltas gives the same text and quotes,
    and no input raises. Markup that breaks off, grows past 1,200 characters or runs into a blank
    line is hidden and becomes a quote numbered `BROKEN`. `Quote.at` is the span of its "[n]" in
    the draft's text; a bare `[n]` is a quote with an empty `text`.
    """

    def __init__(self) -> None:
        self._held = ""
        self._text: list[str] = []
        self._size = 0
        self._quotes: list[Quote] = []

    def feed(self, delta: str) -> Sequence[str | Quote]:
        """Take the next piece of the stream; give what is certain by now, in order.

        A quote stands for its "[n]" in the draft's text: that marker comes in no string.
        """
        self._held += delta
        return self._decode(end=False)

    def finish(self) -> Draft:
        """Close the stream. What is still undecided becomes text, or is hidden if it is markup."""
        self._decode(end=True)
        return Draft(text="".join(self._text), quotes=tuple(self._quotes), by="model")

    def _decode(self, *, end: bool) -> list[str | Quote]:
        out: list[str | Quote] = []
        while self._held:
            at = self._held.find("[")
            if at < 0:
                self._say(self._held, out)
                self._held = ""
                break
            if at > 0:
                self._say(self._held[:at], out)
                self._held = self._held[at:]
            used = self._marker(out, end=end)
            if used is None:
                break
            self._held = self._held[used:]
        return out

    def _marker(self, out: list[str | Quote], *, end: bool) -> int | None:
        """Decode what begins with "[". Gives the characters used, `None` to wait for more."""
        held = self._held
        committed = _COMMITTED.match(held) is not None
        blank = _NO_END.search(held) if committed else None
        limit = min(_LONGEST, blank.start() if blank else _LONGEST)
        close = held.find("]")
        while 0 <= close < limit:
            entries = _entries(held[: close + 1])
            if entries is not None:
                for n, quote in entries:
                    self._cite(n, quote, out)
                return close + 1
            close = held.find("]", close + 1)
        if committed:
            if limit < _LONGEST or len(held) >= _LONGEST:
                return self._broken(limit, out)
            return self._broken(len(held), out) if end else None
        if _maybe(held):
            if not end:
                return None
            if any(char.isdigit() for char in held):
                return self._broken(len(held), out)
        self._say("[", out)
        return 1

    def _broken(self, used: int, out: list[str | Quote]) -> int:
        self._quote(Quote(n=BROKEN, text="", at=(self._size, self._size)), out)
        return used

    def _cite(self, n: int, quote: str, out: list[str | Quote]) -> None:
        mark = f"[{n}]"
        self._quote(Quote(n=n, text=quote, at=(self._size, self._size + len(mark))), out)
        self._text.append(mark)
        self._size += len(mark)

    def _quote(self, quote: Quote, out: list[str | Quote]) -> None:
        self._quotes.append(quote)
        out.append(quote)

    def _say(self, text: str, out: list[str | Quote]) -> None:
        self._text.append(text)
        self._size += len(text)
        out.append(text)


def _maybe(held: str) -> bool:
    """Could `held` still become markup?"""
    if _UNDECIDED.fullmatch(held) is None:
        return False
    label = held[1:].strip().rstrip("=# ").lower()
    return not label.isalpha() or any(known.startswith(label) for known in _LABELS)


def _entries(markup: str) -> list[tuple[int, str]] | None:
    """The (number, quote) pairs of closed markup; `None` where it is none."""
    if _WHOLE.fullmatch(markup) is None:
        loose = _UNQUOTED.fullmatch(markup)
        if loose is None or _COMMITTED.match(markup) is None:
            return None
        return [(int(loose["n"]), _clean(loose["quote"]))]
    found: list[tuple[int, str]] = []
    at = 1
    while (match := _EACH.match(markup, at)) is not None:
        found.append((int(match["n"]), _clean(match["quote"] or "")))
        at = match.end()
    return found if markup[at:].strip() == "]" else None


def _clean(quote: str) -> str:
    return quote.replace('\\"', '"').strip()
