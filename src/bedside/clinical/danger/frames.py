"""Senses that stand together in a message and are a danger together. Pure.

One tree of phrases reads the message once (`data/harm.yaml` and its kin, `data/body.yaml`); frames say which
senses make a danger; a blow is judged by who gives and who takes it.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, TypeAlias

from pydantic import BaseModel, ConfigDict

from bedside.clinical.danger.roles import blow, doer
from bedside.clinical.danger.senses import Found, Lexicon
from bedside.clinical.danger.words import Word, words_of
from bedside.clinical.packs import Pack, PackFile, load_pack
from bedside.core.value import value

__all__ = ["Danger", "Framed", "frame_packs", "framed"]

Danger: TypeAlias = Literal["emergency", "suicide", "abuse", "threat"]
Who: TypeAlias = Literal["self", "other"]
Span: TypeAlias = tuple[int, int]


@value
class Framed:
    """One danger: the parts that stand together, in their order, and whose danger it is.

    `who` is "self" where the person who writes is in it: as the one who wishes to die, is hurt, or
    may hurt somebody; a child's danger is theirs too. `mild` is mostly a manner of speaking.
    """

    danger: Danger
    rule: str
    parts: tuple[Span, ...]
    who: Who = "self"
    mild: bool = False

    @property
    def start(self) -> int:
        """Where the first part begins."""
        return self.parts[0][0]

    @property
    def end(self) -> int:
        """Where the last part ends."""
        return max(end for _, end in self.parts)


class _Frame(BaseModel):
    """Senses in this order, at most `within` words apart; "a|b" is either.

    `anyhow` takes them in any order and across sentences. `by` is who must be the doer: "i" asks
    only that the person speaks of themselves.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    danger: Danger
    rule: str = ""
    all: tuple[str, ...]
    within: int = 0
    by: Literal["self", "other", "i", ""] = ""
    mild: bool = False
    anyhow: bool = False


class _Senses(PackFile):
    senses: Mapping[str, tuple[str, ...]]
    frames: tuple[_Frame, ...]


def _packs() -> tuple[_Senses, ...]:
    return tuple(
        load_pack(_Senses, "bedside.clinical", f"danger/data/{name}.yaml")
        for name in ("harm", "sideways", "figures", "body")
    )


def frame_packs() -> tuple[Pack, ...]:
    """What the senses say of themselves; they are unreviewed until it says otherwise."""
    return tuple(one.pack for one in _packs())


@functools.cache
def _lexicon() -> Lexicon:
    return Lexicon({name: said for one in _packs() for name, said in one.senses.items()})


@functools.cache
def _frames() -> tuple[
    tuple[tuple[_Frame, tuple[tuple[str, ...], ...]], ...], Mapping[str, tuple[int, ...]]
]:
    """Every frame with its senses, and the numbers of the frames by each sense of their first place."""
    frames = tuple(
        (frame, tuple(tuple(either.split("|")) for either in frame.all))
        for one in _packs()
        for frame in one.frames
    )
    by_first: dict[str, tuple[int, ...]] = {}
    for number, (_, senses) in enumerate(frames):
        for name in senses[0]:
            by_first[name] = (*by_first.get(name, ()), number)
    return frames, by_first


_OF_ANOTHER = frozenset({"himself", "herself", "themselves", "themself"})
_OF_THEM = frozenset({"his", "her", "their", "he", "she", "they"})
_OF_SELF = frozenset({"i", "me", "my", "myself"})
_NEEDS_PLAN = frozenset(
    {"kill", "hurt", "harm", "murder", "drown", "poison", "shoot", "injur", "knife"}
)
_PUSHES = frozenset(
    {"push", "shove", "throw", "drag", "slam", "grab", "yank", "trip", "knock", "pin", "strike"}
)
_ENDS = frozenset(".!?\n")


def framed(message: str) -> tuple[list[Framed], list[Span]]:
    """Every danger by its frame, before it is asked how it is said; and where figures stand.

    No words of a figure of speech or of a game mean what they say.
    """
    words = words_of(message)
    found = _lexicon().found(words)
    if not found:
        return [], []
    idioms = [] if "on_purpose" in found else found.get("idiom", [])
    games = found.get("playful", [])
    dangers = [*_standing(words, found, idioms, games), *_blows(words, found, [*games, *idioms])]
    told = [(words[a].start, words[b - 1].end) for a, b in games if not _chokes(words, a)]
    return dangers, told


def _chokes(words: Sequence[Word], at: int) -> bool:
    """Does somebody choke as it is written? Who "choked on" something told of it afterwards."""
    return words[at].text == "choking" and at > 0 and words[at - 1].text in {"am", "is", "are"}


def _standing(
    words: Sequence[Word], found: Found, idioms: Sequence[Span], games: Sequence[Span]
) -> Iterator[Framed]:
    said = {word.text for word in words}
    frames, by_first = _frames()
    for number in sorted({n for name in found for n in by_first.get(name, ())}):
        frame, senses = frames[number]
        if not all(any(name in found for name in either) for either in senses):
            continue
        if frame.by == "i" and not said & _OF_SELF:
            continue
        figures = [*games, *idioms] if frame.danger == "abuse" else idioms
        standing = (
            _anyhow(frame, senses, found)
            if frame.anyhow
            else _in_order(frame, senses, found, words)
        )
        for parts in standing:
            start, end = parts[0][0], max(e for _, e in parts)
            if frame.danger != "emergency" and any(
                _touch(part, one) for part in parts for one in figures
            ):
                continue
            by = doer(words, found, start)
            if frame.by == "other" and not _has_other(words, found, start, end, by):
                continue
            if frame.by == "self" and by != "self":
                continue
            if frame.danger == "threat" and _at_me(words, start, end):
                continue
            yield Framed(
                danger=frame.danger,
                rule=frame.rule or frame.danger,
                parts=_placed(words, parts),
                who=_who(words, start, end, by) if frame.danger == "suicide" else "self",
                mild=frame.mild or any(_touch((start, end), one) for one in found.get("mild", ())),
            )
            break


def _touch(one: Span, other: Span) -> bool:
    return one[0] < other[1] and other[0] < one[1]


def _placed(words: Sequence[Word], parts: Sequence[Span]) -> tuple[Span, ...]:
    return tuple((words[start].start, words[end - 1].end) for start, end in parts)


def _in_order(
    frame: _Frame, senses: Sequence[Sequence[str]], found: Found, words: Sequence[Word]
) -> Iterator[tuple[Span, ...]]:
    first, *others = senses
    for start, end in (hit for name in first for hit in found.get(name, ())):
        last = end
        for either in others:
            near = [
                e
                for name in either
                for s, e in found.get(name, ())
                if last - 1 <= s <= last + frame.within and e > last
            ]
            if not near:
                break
            last = max(near)
        else:
            if not any(words[n].text in _ENDS for n in range(start, last)):
                yield ((start, last),)


def _anyhow(
    frame: _Frame, senses: Sequence[Sequence[str]], found: Found
) -> Iterator[tuple[Span, ...]]:
    first, *others = senses
    for hit in (hit for name in first for hit in found.get(name, ())):
        parts = [hit]
        for either in others:
            free = [
                (gap, one)
                for name in either
                for one in found.get(name, ())
                if not any(_touch(one, part) for part in parts)
                and (gap := min(max(one[0] - part[1], part[0] - one[1]) for part in parts))
                <= frame.within
            ]
            if not free:
                break
            parts.append(min(free)[1])
        else:
            yield tuple(sorted(parts))


def _who(words: Sequence[Word], start: int, end: int, by: str) -> Who:
    said = {word.text for word in words[start:end]}
    if said & _OF_ANOTHER or (said & _OF_THEM and not said & _OF_SELF and by != "self"):
        return "other"
    if said & _OF_SELF:
        return "self"
    return "other" if by in {"other", "child"} else "self"


def _has_other(words: Sequence[Word], found: Found, start: int, end: int, by: str) -> bool:
    """Is there somebody else in the sentence who may have done it?"""
    if by == "other":
        return True
    driven = {n for n, _ in found.get("vehicle", ())}
    people = {n for n, _ in found.get("adult", ())} | {
        n for n, after in found.get("by_person", ()) if not driven & set(range(n, after + 2))
    }
    for n in range(max(0, start - 14), min(len(words), end + 4)):
        if n in people or words[n].text in {"he", "she", "they", "him", "his", "you"}:
            return True
    return by == "unsaid" and start <= 1


_AT = frozenset({"on", "at", "to", "with", "against", "hit", "hurt", "kill", "threaten", "for"})


def _at_me(words: Sequence[Word], start: int, end: int) -> bool:
    """Is the person the one it is aimed at?"""
    return any(
        words[n].text in {"me", "us"} and words[n - 1].text in _AT
        for n in range(max(start, 1), min(end + 1, len(words)))
    )


def _blows(words: Sequence[Word], found: Found, figures: Sequence[Span]) -> Iterator[Framed]:
    for verb in found.get("grave_strike", ()):
        start, end = verb
        if any(a <= start < b for a, b in figures):
            continue
        giver, taker, last = blow(words, found, verb)
        meant = any(start - 5 <= b <= start + 1 for _, b in found.get("going_to", ()))
        root = words[start].stem
        plain = root not in _NEEDS_PLAN
        pushed = root in _PUSHES and not _down(words, last)
        danger: Danger | None = None
        who: Who = "self"
        if taker == "self" and giver in {"other", "unsaid"}:
            threatened = meant or _threatened(words, start)
            if giver == "unsaid" and not (start <= 1 or last > end):
                continue
            if (plain and not pushed) or threatened:
                danger = "abuse"
        elif taker == "child" and giver in {"other", "unsaid"}:
            wished = meant or _threatened(words, start) or _now(words)
            danger = "abuse" if not pushed and (plain or wished) else None
        elif taker in {"other", "child"} and giver == "self":
            if meant or (plain and not pushed):
                danger = "threat"
        elif taker == "other" and giver == "other" and plain and not pushed:
            danger, who = "abuse", "other"
        if danger is not None:
            yield Framed(
                danger=danger,
                rule=danger,
                parts=_placed(words, [(start, last)]),
                who=who,
                mild="grave" not in found and any(a <= start < b for a, b in found.get("mild", ())),
            )


_DOWN = frozenset(
    {"down", "over", "against", "into", "off", "across", "around", "by", "until", "round", "out"}
)
_THREAT = frozenset({"threaten", "threat", "will", "would", "swear", "keep", "tri", "physic"})


def _down(words: Sequence[Word], at: int) -> bool:
    return any(word.text in _DOWN for word in words[at : at + 3])


def _now(words: Sequence[Word]) -> bool:
    return any(word.text in {"now", "right", "tonight", "again", "still"} for word in words)


def _threatened(words: Sequence[Word], at: int) -> bool:
    return any(word.stem in _THREAT for word in words[max(0, at - 4) : at])
