"""Text made comparable, with a map back to the original code points. Pure.

Two spellings of the same words get the same text: Unicode composition, line ends, runs of white
space, typographic quotes and dashes, ligatures, full-width letters, soft hyphens and other
invisible characters, words broken at a line's end, and the escapes of our own fences. Letters,
digits, signs and their order stay: "5 mg" and "50 mg", "10⁹" and "109" never meet.
"""

from __future__ import annotations

import re
import unicodedata

from bedside.core.value import value

__all__ = ["Normalised", "normalise", "plain"]


@value
class Normalised:
    """Comparable text and where each of its characters comes from.

    Character k of `text` stands for `original[starts[k]:ends[k]]`: one or more code points (a
    composed letter, a run of blanks), or the same one as its neighbour (a ligature). Both tuples
    have the length of `text`, and both never fall. `size` is the length of the original.
    """

    text: str
    starts: tuple[int, ...]
    ends: tuple[int, ...]
    size: int


_TO: dict[str, str] = {}
for _chars, _to in (
    ("\u2018\u2019\u201a\u201b\u2032\u02bc\u00b4", "'"),
    ("\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb", '"'),
    ("\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63", "-"),
    ("\u00b5", "\u03bc"),
    ("\u2026", "..."),
    ("\u2215\u2044", "/"),
    ("\u2217", "*"),
):
    _TO.update(dict.fromkeys(_chars, _to))
_TO.update(
    {
        "\ufb00": "ff",
        "\ufb01": "fi",
        "\ufb02": "fl",
        "\ufb03": "ffi",
        "\ufb04": "ffl",
        "\ufb05": "st",
        "\ufb06": "st",
    }
)
_TO.update({chr(code): chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)})
_INVISIBLE = frozenset(
    "\u00ad\u200b\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\u2061\u2062\u2063"
    "\u2066\u2067\u2068\u2069\ufeff\ufe0e\ufe0f\u180e\u034f"
)
_ENTITY = re.compile(r"&(?:amp;)*(lt|gt|quot|apos|#39|#34|#x27);|&(?:amp;)+")
_ENTITIES = {"lt": "<", "gt": ">", "quot": '"', "apos": "'", "#39": "'", "#34": '"', "#x27": "'"}
# What must be looked at, character by character; everything else stands for itself.
_SPECIAL = re.compile(r"[^\x21-\x25\x27-\x7e ]|&|  |- |(?<=[^\W\d_])-|(?<= )\Z|\A ")
_ASCII_END = 128


def plain(text: str) -> str:
    """The comparable text alone, without its map."""
    return normalise(text).text


def normalise(text: str) -> Normalised:
    r"""Make `text` comparable.

    Args:
        text: Any text.

    Returns:
        The comparable text, without blanks at either end, with its map. Equal for two texts that
        differ only in composition (NFC or NFD), blanks and line ends, invisible characters,
        typographic quotes and dashes, ligatures, width of letters, hyphens between letters
        ("beta-\nblocker", "beta-blocker", "betablocker") or escapes ("&lt;").
    """
    if _SPECIAL.search(text) is None:
        offsets = range(len(text) + 1)
        return Normalised(
            text=text, starts=tuple(offsets[:-1]), ends=tuple(offsets[1:]), size=len(text)
        )
    chars, starts, ends = _fold(text)
    chars, starts, ends = _blanks(chars, starts, ends)
    chars, starts, ends = _hyphens(chars, starts, ends)
    return Normalised(text="".join(chars), starts=tuple(starts), ends=tuple(ends), size=len(text))


Map = tuple[list[str], list[int], list[int]]


def _fold(text: str) -> Map:
    """Compose, translate and drop, one cluster at a time."""
    if "&" not in text and text.isascii():
        letters = [" " if c.isspace() or c < " " else c for c in text]
        return letters, list(range(len(text))), list(range(1, len(text) + 1))
    chars: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    entities = {match.start(): match for match in _ENTITY.finditer(text)} if "&" in text else {}
    at, size = 0, len(text)
    while at < size:
        char = text[at]
        entity = entities.get(at)
        if entity is not None:
            end, folded = entity.end(), _ENTITIES.get(entity[1] or "", "&")
        elif ord(char) < _ASCII_END and (at + 1 == size or ord(text[at + 1]) < _ASCII_END):
            end, folded = at + 1, char
        else:
            end = _cluster(text, at)
            visible = "".join(c for c in text[at:end] if c not in _INVISIBLE)
            composed = unicodedata.normalize("NFC", visible)
            folded = "".join(_TO.get(c, c) for c in composed)
        for piece in folded:
            chars.append(" " if piece.isspace() or piece < " " else piece)
            starts.append(at)
            ends.append(end)
        at = end
    return chars, starts, ends


def _cluster(text: str, at: int) -> int:
    """The end of the letter that begins at `at`, with everything that composes with it."""
    end = at + 1
    while end < len(text):
        char = text[end]
        if ord(char) < _ASCII_END:
            break
        joins = (
            unicodedata.combining(char)
            or (char in _INVISIBLE and _composes_later(text, end))
            or _composes(text[at:end], char)
        )
        if not joins:
            break
        end += 1
    return end


def _composes(before: str, char: str) -> bool:
    """Do they become something else together (Hangul syllables, some Indic vowels)?"""
    nfc = unicodedata.normalize
    return nfc("NFC", before + char) != nfc("NFC", before) + nfc("NFC", char)


def _composes_later(text: str, at: int) -> bool:
    """Is the invisible character at `at` followed by a combining mark?"""
    while at < len(text) and text[at] in _INVISIBLE:
        at += 1
    return at < len(text) and unicodedata.combining(text[at]) > 0


def _blanks(chars: list[str], starts: list[int], ends: list[int]) -> Map:
    """One blank for a run of them, none at the ends."""
    out: list[str] = []
    out_starts: list[int] = []
    out_ends: list[int] = []
    for char, start, end in zip(chars, starts, ends, strict=True):
        if char == " " and (not out or out[-1] == " "):
            if out:
                out_ends[-1] = end
            continue
        out.append(char)
        out_starts.append(start)
        out_ends.append(end)
    if out and out[-1] == " ":
        out.pop()
        out_starts.pop()
        out_ends.pop()
    return out, out_starts, out_ends


def _hyphens(chars: list[str], starts: list[int], ends: list[int]) -> Map:
    """Close words that were broken after a hyphen; drop hyphens between letters."""
    if "-" not in chars:
        return chars, starts, ends
    drop: set[int] = set()
    size = len(chars)
    for k, char in enumerate(chars):
        if char != "-" or k == 0 or not chars[k - 1].isalnum():
            continue
        after = k + 1
        if after < size and chars[after] == " ":
            after += 1
        if after >= size:
            continue
        before, follow = chars[k - 1], chars[after]
        if before.isalpha() and follow.isalpha():
            drop.update(range(k, after))
        elif before.isdigit() and follow.isdigit():
            drop.update(range(k + 1, after))
    if not drop:
        return chars, starts, ends
    kept = [k for k in range(size) if k not in drop]
    return [chars[k] for k in kept], [starts[k] for k in kept], [ends[k] for k in kept]
