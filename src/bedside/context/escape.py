"""Escaping: untrusted text can never close a fence, open one, or pose as a numbered source.

Only two characters change, so that clinical text stays quotable as it was written. `<` becomes
`&lt;` unless a figure or `=` follows ("< 140", "<0.5", "<= 7" stand as they are): no tag begins
that way. `&` becomes `&amp;` only before `lt;` and `amp;`, so that `unescape` is exact. Lone
surrogates, which no wire can carry, become U+FFFD; the length in code points stays the same.
"""

from __future__ import annotations

import re

__all__ = ["attribute", "changes", "escape", "scrub", "unescape"]

_SURROGATE = re.compile("[\ud800-\udfff]")
_AMPERSAND = re.compile(r"&(?=(?:lt|amp);)")
_OPENING = re.compile(r"<(?! ?(?:=|\.?[0-9]))")
_ENTITY = re.compile(r"&(lt|amp);")
_BLANK = re.compile(r"\s+")
_LONGEST = 160


def scrub(text: str) -> str:
    """Put U+FFFD for lone surrogates."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def escape(text: str) -> str:
    """Make `text` unable to hold a tag. `unescape(escape(text)) == text` but for lone surrogates."""
    text = scrub(text)
    if "&" in text:
        text = _AMPERSAND.sub("&amp;", text)
    if "<" in text:
        text = _OPENING.sub("&lt;", text)
    return text


def changes(text: str) -> bool:
    """Whether `escape` changes `text`, lone surrogates apart."""
    if "<" in text and _OPENING.search(text) is not None:
        return True
    return "&" in text and _AMPERSAND.search(text) is not None


def unescape(text: str) -> str:
    """Undo `escape`: what a model copied from its context, as it stands in the source."""
    return _ENTITY.sub(lambda found: "<" if found[1] == "lt" else "&", text)


def attribute(text: str, *, longest: int = _LONGEST) -> str:
    """Make `text` safe inside a double-quoted attribute, on one line.

    Longer text is cut at `longest` characters, before escaping, with a visible ellipsis.
    """
    text = _BLANK.sub(" ", scrub(text)).strip()
    if len(text) > longest:
        text = text[: longest - 1].rstrip() + "…"
    text = text.replace("&", "&amp;").replace('"', "&quot;")
    return text.replace("<", "&lt;").replace(">", "&gt;")
