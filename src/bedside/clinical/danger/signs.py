"""Emergencies as concepts that stand near one another in a sentence, whatever the words. Pure.

A concept is a part of the body, a sign, a person or a time, with its lay words in several
languages (`data/forms.yaml`); a combination names which concepts together are an
emergency, in any order and within how many characters. Long words are read one slip of the
keyboard away.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict

from bedside.clinical.danger.heads import Heads
from bedside.clinical.packs import Pack, PackFile, load_pack
from bedside.core.value import value

__all__ = ["Formed", "Spelled", "formed", "forms_pack", "lasting", "respelled", "signs_packs"]

Span = tuple[int, int]
_Hit = tuple[int, int, str]  # start, end, the concept


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
    """Concepts that are one emergency together; "a|b" is either of two."""

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


class _Signs(PackFile):
    """Signs that stand together in a message, whatever ends a sentence between them."""

    words: dict[str, str]
    concepts: dict[str, str]
    groups: dict[str, tuple[str, ...]]
    combinations: tuple[_Combination, ...]


def _data() -> _Forms:
    return load_pack(_Forms, "bedside.clinical", "danger/data/forms.yaml")


_SIGNS = ("signs", "tongues")


def _sign_data(name: str) -> _Signs:
    return load_pack(_Signs, "bedside.clinical", f"danger/data/{name}.yaml")


def signs_packs() -> tuple[Pack, ...]:
    """What the signs say of themselves; they are unreviewed until it says otherwise."""
    return tuple(_sign_data(name).pack for name in _SIGNS)


def forms_pack() -> Pack:
    """What the forms say of themselves; they are unreviewed until it says otherwise."""
    return _data().pack


@functools.cache
def _concepts() -> Heads:
    return Heads(_data().concepts)


@functools.cache
def _by_first(name: str) -> Mapping[str, tuple[int, ...]]:
    """The numbers of a pack's combinations by each concept that their first place can be."""
    data = _sign_data(name) if name else _data()
    groups = data.groups if isinstance(data, _Signs) else {}

    def concepts(either: str) -> set[str]:
        names = [part for one in either.split("|") for part in groups.get(one, (one,))]
        return set(names) if names == [either] else {two for one in names for two in concepts(one)}

    found: dict[str, list[int]] = {}
    for number, one in enumerate(data.combinations):
        for concept in concepts(one.all[0]):
            found.setdefault(concept, []).append(number)
    return {concept: tuple(numbers) for concept, numbers in found.items()}


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


@functools.cache
def _signs(name: str) -> Heads:
    data = _sign_data(name)
    return Heads(
        {concept: [_written(forms, data.words)] for concept, forms in data.concepts.items()}
    )


def _written(forms: str, words: Mapping[str, str]) -> str:
    """The forms as one expression: macros put in, any white space for a space."""
    one = re.sub(
        r"<(\w+)>", lambda hit: f"<{hit[1]}>" if hit[1] not in words else words[hit[1]], forms
    )
    fixed = re.sub(r"\(\?<!.*?\)", lambda hit: hit[0].replace(" ", r"\s"), one)
    spaced = (part.strip().replace(" ?", r"\s*") for part in fixed.split(" | "))
    return "|".join(part.replace(" ", r"\s+") for part in spaced)


def formed(text: str, sentences: Sequence[Span]) -> Iterator[Formed]:
    """The combinations met: of concepts in each sentence, then of signs across the message."""
    data = _data()
    for sentence in sentences:
        yield from _met(text, sentence, data.combinations, _concepts(), {}, _by_first(""))
    if sentences:
        whole = (sentences[0][0], sentences[-1][1])
        for name in _SIGNS:
            if name == "tongues" and text.isascii():
                continue
            signs = _sign_data(name)
            yield from _met(
                text, whole, signs.combinations, _signs(name), signs.groups, _by_first(name)
            )


def _met(
    text: str,
    span: Span,
    combinations: Sequence[_Combination],
    concepts: Heads,
    groups: Mapping[str, Sequence[str]],
    by_first: Mapping[str, Sequence[int]],
) -> Iterator[Formed]:
    """Every combination's candidates in reading order; a concept counts once in one of them."""
    hits: dict[str, list[_Hit]] = {}
    found = concepts.hits(text, span)
    if not found:
        return

    def seen(either: str) -> list[_Hit]:
        if either not in hits:
            names = [part for name in either.split("|") for part in groups.get(name, (name,))]
            hits[either] = (
                [one for name in names for one in seen(name)]
                if names != [either]
                else [(*hit, either) for hit in found.get(either, ())]
            )
        return hits[either]

    for number in sorted({n for concept in found for n in by_first.get(concept, ())}):
        one = combinations[number]
        first, *others = one.all
        if one.needs_now and not seen("now"):
            continue
        if not all(map(seen, others)):
            continue
        for start in seen(first):
            parts = _gather(start, [seen(name) for name in others], one.within)
            if parts is not None:
                yield Formed(rule=one.rule, kind=one.kind, parts=parts)


def _gather(first: _Hit, others: Sequence[Sequence[_Hit]], within: int) -> tuple[Span, ...] | None:
    """The nearest hit of each other concept, none on top of another; `None` where one is far."""
    parts = [first]
    for hits in others:
        free = [
            (gap, hit)
            for hit in hits
            if not any(
                hit[2] == name or (hit[0] < end and start < hit[1]) for start, end, name in parts
            )
            and (gap := min(max(hit[0] - end, start - hit[1]) for start, end, _ in parts)) <= within
        ]
        if not free:
            return None
        parts.append(min(free)[1])
    return tuple(sorted((start, end) for start, end, _ in parts))


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
def _known() -> tuple[Mapping[str, Sequence[str]], frozenset[str]]:
    """The long words of emergencies by their first letter, and the words that are none of them."""
    data = _data()
    heads: dict[str, list[str]] = {}
    for head in sorted(set(data.spelled)):
        heads.setdefault(head[0], []).append(head)
    return heads, frozenset(data.not_misspelled)


@functools.lru_cache(maxsize=4096)
def _mended(word: str) -> str | None:
    known, real = _known()
    heads = known.get(word[0], ())
    if word in heads or word in real:
        return None
    near = [
        head
        for head in heads
        if abs(len(head) - len(word)) <= 1
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
