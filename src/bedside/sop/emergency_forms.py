"""Emergencies as concepts that stand near one another in a sentence, whatever the words. Pure.

A concept is a part of the body, a sign, a person or a time, with its lay words in several
languages (`data/red_flag_forms.yaml`); a combination names which concepts together are an
emergency, in any order and within how many characters. Long words are read one slip of the
keyboard away.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict

from bedside.clinical.packs import Pack, PackFile, load_pack
from bedside.core.value import value

__all__ = ["Formed", "Spelled", "formed", "forms_pack", "lasting", "respelled"]

Span = tuple[int, int]


@value
class Formed:
    """One combination met: its rule, the concepts' spans in the order they stand."""

    rule: str
    kind: Literal["emergency", "crisis"]
    parts: tuple[Span, ...]

    @property
    def start(self) -> int:
        """Where the first concept begins."""
        return self.parts[0][0]

    @property
    def end(self) -> int:
        """Where the last concept ends."""
        return max(end for _, end in self.parts)


@value
class Spelled:
    """A text with its slips mended, and for every position of it the position in the original."""

    text: str
    places: tuple[int, ...]


class _Combination(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    rule: str
    kind: Literal["emergency", "crisis"] = "emergency"
    all: tuple[str, ...]
    within: int
    needs_now: bool = False


class _Forms(PackFile):
    concepts: dict[str, tuple[str, ...]]
    combinations: tuple[_Combination, ...]
    spelled: tuple[str, ...]
    not_misspelled: tuple[str, ...]
    chronic: tuple[str, ...]
    acute: tuple[str, ...]


def _data() -> _Forms:
    return load_pack(_Forms, "bedside.sop", "data/red_flag_forms.yaml")


def forms_pack() -> Pack:
    """What the forms say of themselves; they are unreviewed until it says otherwise."""
    return _data().pack


@functools.cache
def _concepts() -> Mapping[str, re.Pattern[str]]:
    return {
        name: re.compile(rf"(?<!\w)(?:{'|'.join(words)})(?!\w)", re.IGNORECASE)
        for name, words in _data().concepts.items()
    }


@functools.cache
def _course() -> tuple[re.Pattern[str], re.Pattern[str]]:
    data = _data()
    return tuple(  # type: ignore[return-value]
        re.compile("|".join(forms), re.IGNORECASE) for forms in (data.chronic, data.acute)
    )


def lasting(sentence: str) -> bool:
    """Does the sentence speak of what has long been so, with nothing that makes it new?"""
    chronic, acute = _course()
    return chronic.search(sentence) is not None and acute.search(sentence) is None


def formed(text: str, sentences: Sequence[Span]) -> Iterator[Formed]:
    """The combinations that each sentence meets, every rule's candidates in reading order."""
    data = _data()
    concepts = _concepts()
    for start, end in sentences:
        seen: dict[str, list[Span]] = {}
        for one in data.combinations:
            for name in one.all + (("now",) if one.needs_now else ()):
                if name not in seen:
                    seen[name] = [hit.span() for hit in concepts[name].finditer(text, start, end)]
            if one.needs_now and not seen["now"]:
                continue
            if not all(seen[name] for name in one.all):
                continue
            first, *others = one.all
            for span in seen[first]:
                parts = _gather(span, [seen[name] for name in others], one.within)
                if parts is not None:
                    yield Formed(rule=one.rule, kind=one.kind, parts=parts)


def _gather(first: Span, others: Sequence[Sequence[Span]], within: int) -> tuple[Span, ...] | None:
    """The nearest span of each other concept, none on top of another; `None` where one is far."""
    parts = [first]
    for spans in others:
        free = [
            (gap, span)
            for span in spans
            if not any(span[0] < end and start < span[1] for start, end in parts)
            and (gap := min(max(span[0] - end, start - span[1]) for start, end in parts)) <= within
        ]
        if not free:
            return None
        parts.append(min(free)[1])
    return tuple(sorted(parts))


_WORD = re.compile(r"[A-Za-z]{5,}")


def respelled(text: str) -> Spelled:
    """The text with words one edit away from a long word of emergencies mended."""
    pieces: list[str] = []
    places: list[int] = []
    at = 0
    for match in _WORD.finditer(text):
        mended = _mended(match.group().lower())
        if mended is None:
            continue
        pieces.append(text[at : match.start()])
        places.extend(range(at, match.start()))
        pieces.append(mended)
        last = match.end() - 1
        places.extend(min(match.start() + n, last) for n in range(len(mended)))
        at = match.end()
    pieces.append(text[at:])
    places.extend(range(at, len(text) + 1))
    return Spelled(text="".join(pieces), places=tuple(places))


@functools.cache
def _known() -> tuple[frozenset[str], frozenset[str]]:
    data = _data()
    return frozenset(data.spelled), frozenset(data.not_misspelled)


@functools.lru_cache(maxsize=4096)
def _mended(word: str) -> str | None:
    heads, real = _known()
    if word in heads or word in real:
        return None
    near = [
        head
        for head in sorted(heads)
        if abs(len(head) - len(word)) <= 1
        and head[0] == word[0]
        and (len(head) >= 6 or len(word) > len(head))  # noqa: PLR2004 short words have neighbours
        and _one_edit(word, head)
    ]
    return near[0] if near else None


def _one_edit(one: str, other: str) -> bool:
    """Is it one letter more, less, changed, or two neighbours swapped?"""
    if len(one) == len(other):
        differ = [n for n, (a, b) in enumerate(zip(one, other, strict=True)) if a != b]
        if len(differ) == 1:
            return True
        return (
            len(differ) == 2  # noqa: PLR2004 a swap
            and differ[1] == differ[0] + 1
            and one[differ[0]] == other[differ[1]]
            and one[differ[1]] == other[differ[0]]
        )
    short, long = sorted((one, other), key=len)
    return any(long[:n] + long[n + 1 :] == short for n in range(len(long)))
