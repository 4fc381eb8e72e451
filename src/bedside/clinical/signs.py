"""Presentations that point to one diagnosis, found in text: "erection lasting 6 hours" -> priapism.

A sign says less than a synonym: it suggests a name to look under, and never states that the name
holds. So it serves to find reading matter, and nothing that judges or repeats what was said uses it.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from bedside.clinical.lexicon import words
from bedside.clinical.packs import Pack, PackFile, load_pack
from bedside.core.value import value
from bedside.language.stems import stem

__all__ = ["Sign", "SignPack", "Signs", "out_of_range", "sign_pack", "signs"]

_REACH = 14
"""Telling words from the first part within which the others must stand."""
_BEFORE = 3
"""Telling words before a part within which a negation takes it back."""
_END = re.compile(r"[.!?;:\n]")
_TURN = re.compile(r"\bbut\b", re.IGNORECASE)
_DENYING = frozenset(["denies", "denied", "denying"])
"""Denials of a list: they hold past its commas, up to a "but"."""
_NEGATION = frozenset(["no", "without", "never", "nor", "neither", "nil"])
_Part = tuple[frozenset[str], ...]
Written = tuple[int, int, str]
"""A word with its place, as `words` gives it."""


@value
class Sign:
    """A presentation at `text[start:end)` (its telling part, in code points) and its diagnosis."""

    start: int
    end: int
    diagnosis: str


class SignPack(PackFile):
    """Under each diagnosis the presentations that two clinicians would both take for it.

    A presentation is one or more parts joined by " + "; the words of a part stand together, the parts
    anywhere in one sentence; "/" gives a word's alternatives. The first part is the most telling.
    `small` are the words that are passed over, in the pack and in what is read; the words of one of
    the `families` count as one word in both. `figures` names what a figure below and above the range
    of its analyte suggests, `None` where it suggests nothing.
    """

    small: list[str]
    families: list[list[str]]
    signs: dict[str, list[str]]
    figures: dict[str, tuple[str | None, str | None]]


class _Word(NamedTuple):
    start: int
    end: int
    written: str
    stem: str


class Signs:
    """An index of presentations; it does not change after it is built."""

    def __init__(
        self,
        diagnoses: Mapping[str, Iterable[str]],
        small: Iterable[str] = (),
        families: Iterable[Sequence[str]] = (),
    ) -> None:
        """Build it from diagnoses with their presentations, small words and families (`SignPack`).

        Raises:
            ValueError: A part holds small words alone, so that it would match anywhere.
        """
        self._small = frozenset(small)
        self._family = {stem(word): stem(own[0]) for own in families for word in own}
        self._by_stem: dict[str, list[tuple[tuple[_Part, ...], str]]] = {}
        for diagnosis, presentations in diagnoses.items():
            for presentation in presentations:
                parts = tuple(self._part(part) for part in presentation.split(" + "))
                if not all(parts):
                    message = f"a presentation of {diagnosis} has a part of small words alone"
                    raise ValueError(message)
                for first in parts[0][0]:
                    self._by_stem.setdefault(first, []).append((parts, diagnosis))

    def find(self, text: str, written: Sequence[Written] | None = None) -> tuple[Sign, ...]:
        """The presentations in `text` that nothing there denies, by place; each diagnosis once.

        `written` are the `words` of the text, where the caller has them already.
        """
        found: dict[str, Sign] = {}
        for sentence in self._sentences(text, words(text) if written is None else written):
            for at, word in enumerate(sentence):
                for parts, diagnosis in self._by_stem.get(word.stem, ()):
                    if diagnosis in found or not _stands(parts[0], sentence, at):
                        continue
                    spans = _spans(parts, sentence, at)
                    if spans and not _denied(text, sentence, spans):
                        start, end = word.start, sentence[spans[0][1] - 1].end
                        found[diagnosis] = Sign(start=start, end=end, diagnosis=diagnosis)
        return tuple(sorted(found.values(), key=lambda sign: (sign.start, sign.end)))

    def _part(self, written: str) -> _Part:
        choices = (word.split("/") for word in written.replace("-", " ").split())
        return tuple(
            frozenset(self._stem(one.casefold()) for one in choice)
            for choice in choices
            if choice[0] not in self._small
        )

    def _stem(self, word: str) -> str:
        own = stem(word)
        return self._family.get(own, own)

    def _sentences(self, text: str, tokens: Sequence[Written]) -> Iterator[list[_Word]]:
        """The telling words of each sentence."""
        ends = [match.start() for match in _END.finditer(text)]
        ends.reverse()
        sentence: list[_Word] = []
        for start, end, written in tokens:
            while ends and ends[-1] < start:
                ends.pop()
                if sentence:
                    yield sentence
                    sentence = []
            if written not in self._small:
                sentence.append(_Word(start, end, written, self._stem(written)))
        if sentence:
            yield sentence


def signs(text: str, written: Sequence[Written] | None = None) -> tuple[Sign, ...]:
    """The presentations in `text` that point to one diagnosis and are not denied there.

    `written` are the `words` of the text, where the caller has them already.
    """
    return _index().find(text, written)


def out_of_range(analyte: str) -> tuple[str | None, str | None] | None:
    """What a figure below and above the range of an analyte suggests; `None` for an unknown key."""
    return _file().figures.get(analyte)


def sign_pack() -> Pack:
    """The pack that `signs` rests on."""
    return _file().pack


@functools.cache
def _file() -> SignPack:
    return load_pack(SignPack, "bedside.clinical", "data/signs.yaml")


@functools.cache
def _index() -> Signs:
    file = _file()
    return Signs(file.signs, file.small, file.families)


def _spans(
    parts: Sequence[_Part], sentence: Sequence[_Word], at: int
) -> tuple[tuple[int, int], ...] | None:
    """Where each part stands, the first at `at`; `None` when one is missing."""
    spans = [(at, at + len(parts[0]))]
    near = range(max(0, at - _REACH), min(len(sentence), at + _REACH))
    for part in parts[1:]:
        free = (
            (i, i + len(part))
            for i in near
            if _stands(part, sentence, i)
            and all(i + len(part) <= first or last <= i for first, last in spans)
        )
        place = next(free, None)
        if place is None:
            return None
        spans.append(place)
    return tuple(spans)


def _stands(part: _Part, sentence: Sequence[_Word], at: int) -> bool:
    # A loop and not `all`: it runs for every word of every query.
    if at + len(part) > len(sentence):
        return False
    for i, choice in enumerate(part, at):  # noqa: SIM110
        if sentence[i].stem not in choice:
            return False
    return True


def _denied(text: str, sentence: Sequence[_Word], spans: Sequence[tuple[int, int]]) -> bool:
    """Whether a negation that is no part of the presentation takes a part of it back."""
    own = {i for first, last in spans for i in range(first, last)}
    for first, _ in spans:
        for i in range(first):
            between = text[sentence[i].end : sentence[first].start]
            if i in own or _TURN.search(between):
                continue
            if sentence[i].written in _DENYING:
                return True
            near = first - i <= _BEFORE and "," not in between
            if near and sentence[i].written in _NEGATION:
                return True
    return False
