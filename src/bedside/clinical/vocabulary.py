"""Other words for the same thing: abbreviations, lay terms, synonyms, brands, spellings, signs."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Literal

from bedside.clinical.drugs import brand_names, generic_of
from bedside.clinical.figured import figured
from bedside.clinical.lexicon import Lexicon, Match, words
from bedside.clinical.packs import Pack, PackFile, load_pack
from bedside.clinical.signs import sign_pack, signs
from bedside.core.value import value

__all__ = ["Expansion", "Kind", "canonical", "expand", "misspelt", "spellings", "vocabulary_packs"]

Kind = Literal["abbreviation", "lay", "synonym", "spelling", "brand", "sign"]

_PACKAGE = "bedside.clinical"
# How much an added term counts beside the words that were written (1.0): meanings that are certain
# count almost whole, guesses little, so that an addition never outranks what was asked.
_SPELLING, _PLAIN, _BRAND, _CANONICAL, _SIBLING = 1.0, 0.9, 0.8, 0.7, 0.5
_SIGN = 0.45
_FURTHER = 0.5
_SHORTENED, _DECIDED, _UNDECIDED = 0.4, 0.8, 0.25
_REVERSIBLE = 4
_BEGINNING = 4


@value
class Expansion:
    """One more way to say a part of a text.

    `term` is the part as written at `[start, end)` in code points; `replacement` says the same;
    `weight` in (0, 1] is how much to trust it beside the words as written.
    """

    term: str
    replacement: str
    kind: Kind
    weight: float
    start: int
    end: int


class _Abbreviations(PackFile):
    plain: dict[str, str]
    ambiguous: dict[str, dict[str, list[str]]]
    cased: list[str]


class _Lay(PackFile):
    terms: dict[str, list[str]]


class _Synonyms(PackFile):
    groups: list[list[str]]
    spelling: dict[str, str]


@value
class _Sense:
    """What a phrase leads to: more words, under which condition."""

    replacement: str
    kind: Kind
    weight: float
    near: tuple[str, ...] = ()
    canonical: bool = False


def vocabulary_packs() -> tuple[Pack, ...]:
    """The packs that `expand` rests on."""
    return (_abbreviations().pack, _lay().pack, _synonyms().pack, sign_pack())


def expand(text: str, *, suggest: bool = False) -> tuple[Expansion, ...]:
    """Other ways to say the phrases of `text`, in order of place, then of weight, heaviest first.

    An abbreviation with several meanings gives each of them at a low weight, or the one that the
    words around it point to at a high one. American and British spellings come for the written
    words and for every replacement. Nothing is returned for a phrase that is not known.

    With `suggest` the diagnoses come too that a presentation points to ("erection lasting hours":
    "priapism"), or a figure outside its range ("K 6.2": "hyperkalemia"), of kind "sign" and light:
    names to look under, that nothing may be concluded from.
    """
    found: dict[tuple[int, str], Expansion] = {}
    written = words(text)
    around = {word for _, _, word in written}
    for match in _lexicon().find(text):
        for sense, weight in _decided(match, around):
            for replacement in (sense.replacement, *_respelt(sense.replacement)):
                _keep(found, match.start, match.end, text, replacement, sense.kind, weight)
            if sense.canonical:
                for further in _further(sense.replacement):
                    kind, near = further.kind, weight * _FURTHER
                    _keep(found, match.start, match.end, text, further.replacement, kind, near)
    measured = figured(text) if suggest else ()
    for one in measured:
        for name in () if one.sure else one.names:
            _keep(found, one.start, one.end, text, name, "abbreviation", _PLAIN)
    own = (sign for one in measured for sign in one.signs)
    for sign in (*signs(text, written), *own) if suggest else ():
        for name, weight in _suggested(sign.diagnosis):
            _keep(found, sign.start, sign.end, text, name, "sign", weight)
    for start, end, word in written:
        for other in _respelt_word(word):
            _keep(found, start, end, text, other, "spelling", _SPELLING)
    return tuple(sorted(found.values(), key=lambda item: (item.start, -item.weight)))


def canonical(term: str) -> str:
    """The one name for a term: "HTN", "high BP" and "Hypertension" all give "hypertension".

    Works on whole terms. A brand gives its generic, a British spelling the American one. A term
    that is not known, or an abbreviation with several meanings, comes back folded to lower case and
    single spaces, otherwise unchanged.
    """
    folded = " ".join(term.split()).casefold()
    seen = {folded}
    current = folded
    asked = " ".join(term.split())
    for _ in range(4):  # abbreviation -> lay term -> synonym -> canonical, and no loops
        step = _step(asked, current)
        if step in seen:
            break
        seen.add(step)
        current = asked = step
    return current


def spellings(word: str) -> tuple[str, ...]:
    """The American and British spellings of one word other than `word` itself, lower case."""
    return tuple(_respelt_word(word.casefold()))


def misspelt(word: str) -> str | None:
    """The one name of the vocabulary that a word nearly is ("migrane": "migraine"), lower case.

    `None` where there is none, or several, and for a name itself.
    """
    folded = word.casefold()
    name = _lexicon().repaired(folded)
    return name if name != folded and _lexicon().get(name) else None


def _step(asked: str, folded: str) -> str:
    senses = [sense for sense in _lexicon().get(asked) if not sense.near]
    for sense in senses:
        if sense.canonical:
            return sense.replacement.casefold()
    american = _american(folded)
    if american != folded:
        return american
    return generic_of(asked) or folded


def _suggested(diagnosis: str) -> Iterator[tuple[str, float]]:
    """A diagnosis and its other names, lightly."""
    for name in (diagnosis, *_respelt(diagnosis)):
        yield name, _SIGN
    for further in _further(diagnosis):
        yield further.replacement, _SIGN * _FURTHER


def _further(term: str) -> Iterator[_Sense]:
    """Synonyms of what a phrase stands for: "SOB" also finds "dyspnea"."""
    for sense in _lexicon().get(term):
        if not sense.near and sense.kind == "synonym":
            yield sense


def _decided(match: Match[_Sense], around: set[str]) -> Iterator[tuple[_Sense, float]]:
    """The senses of one place with their weights, the context considered."""
    own = {word for _, _, word in words(match.phrase)}
    others = around - own
    unsure = [sense for sense in match.values if sense.near]
    pointed = [sense for sense in unsure if any(_points(other, sense) for other in others)]
    for sense in match.values:
        if not sense.near:
            yield sense, sense.weight
        elif not pointed:
            yield sense, _UNDECIDED
        elif sense in pointed:
            yield sense, _DECIDED / len(pointed)


def _points(word: str, sense: _Sense) -> bool:
    """Context words are beginnings, but the very short ones count only whole."""
    return any(
        word == near or (len(near) >= _BEGINNING and word.startswith(near)) for near in sense.near
    )


def _keep(
    found: dict[tuple[int, str], Expansion],
    start: int,
    end: int,
    text: str,
    replacement: str,
    kind: Kind,
    weight: float,
) -> None:
    term = text[start:end]
    if replacement.casefold() == " ".join(term.split()).casefold():
        return
    key = (start, replacement.casefold())
    if key not in found or found[key].weight < weight:
        found[key] = Expansion(
            term=term, replacement=replacement, kind=kind, weight=weight, start=start, end=end
        )


@functools.cache
def _abbreviations() -> _Abbreviations:
    return load_pack(_Abbreviations, _PACKAGE, "data/abbreviations.yaml")


@functools.cache
def _lay() -> _Lay:
    return load_pack(_Lay, _PACKAGE, "data/lay_terms.yaml")


@functools.cache
def _synonyms() -> _Synonyms:
    return load_pack(_Synonyms, _PACKAGE, "data/synonyms.yaml")


@functools.cache
def _lexicon() -> Lexicon[_Sense]:
    short = _abbreviations()
    cased = [form for form in short.cased if form in short.plain or form in short.ambiguous]
    return Lexicon(
        [*_short_entries(short), *_group_entries(), *_brand_entries()],
        cased=cased,
    )


def _short_entries(short: _Abbreviations) -> Iterator[tuple[str, _Sense]]:
    for form, meaning in short.plain.items():
        yield form, _Sense(replacement=meaning, kind="abbreviation", weight=_PLAIN, canonical=True)
        if sum(char.isupper() for char in form) > 1:  # "HTN", not "Tx" or "bid"
            yield meaning, _Sense(replacement=form, kind="abbreviation", weight=_SHORTENED)
    for form, meanings in short.ambiguous.items():
        for meaning, near in meanings.items():
            yield (
                form,
                _Sense(
                    replacement=meaning, kind="abbreviation", weight=_UNDECIDED, near=tuple(near)
                ),
            )


def _group_entries() -> Iterator[tuple[str, _Sense]]:
    for group in _synonyms().groups:
        yield from _siblings(group[0], group[1:], "synonym")
    for term, lay in _lay().terms.items():
        yield from _siblings(term, lay, "lay")


def _siblings(head: str, others: Iterable[str], kind: Kind) -> Iterator[tuple[str, _Sense]]:
    for other in others:
        yield other, _Sense(replacement=head, kind=kind, weight=_CANONICAL, canonical=True)
        if kind == "synonym":
            yield head, _Sense(replacement=other, kind=kind, weight=_SIBLING)
            british = next(iter(_respelt(other)), None)
            if british:
                yield (
                    british,
                    _Sense(replacement=head, kind=kind, weight=_CANONICAL, canonical=True),
                )
    for spelt in _respelt(head):
        for other in others if kind == "synonym" else ():
            yield spelt, _Sense(replacement=other, kind=kind, weight=_SIBLING)


def _brand_entries() -> Iterator[tuple[str, _Sense]]:
    for brand, generic in brand_names().items():
        yield brand, _Sense(replacement=generic, kind="brand", weight=_BRAND, canonical=True)


def _respelt(phrase: str) -> Iterator[str]:
    """The phrase with each word in the other spelling, when that differs."""
    american = _american(phrase)
    if american != phrase:
        yield american
    british = " ".join(_british(word) for word in phrase.split(" "))
    if british not in {phrase, american}:
        yield british


def _respelt_word(word: str) -> Iterator[str]:
    american = _american(word)
    if american != word:
        yield american
    british = _british(word)
    if british not in {word, american}:
        yield british


@functools.lru_cache(maxsize=4096)
def _american(text: str) -> str:
    return _british_parts().sub(lambda part: _spelling()[part.group()], text)


@functools.cache
def _british_parts() -> re.Pattern[str]:
    """Longest part first; "oes" only at a beginning: "gastroesophageal" and "angioedema" stay."""
    return re.compile(
        "|".join(
            rf"(?<![a-z]){part}" if part.startswith("oes") else rf"(?<!angi){part}"
            for part in _spelling()
        )
    )


@functools.lru_cache(maxsize=4096)
def _british(word: str) -> str:
    """One word in British spelling; only beginnings of four letters or more are safe to turn."""
    for british, american in _spelling().items():
        if len(american) >= _REVERSIBLE and word.casefold().startswith(american):
            return british + word[len(american) :]
    return word


@functools.cache
def _spelling() -> Mapping[str, str]:
    """British word parts, longest first, with the American ones."""
    pairs = _synonyms().spelling
    return dict(sorted(pairs.items(), key=lambda pair: -len(pair[0])))
