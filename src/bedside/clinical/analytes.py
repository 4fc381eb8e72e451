"""Measurements in text and in records: analytes, vital signs, scores, and panels of them."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping
from typing import Literal

from pydantic import BaseModel, ConfigDict

from bedside.clinical.lexicon import Lexicon
from bedside.clinical.packs import Pack, PackFile, load_pack
from bedside.core.errors import NotFound
from bedside.core.value import value

__all__ = [
    "Analyte",
    "AnalyteMention",
    "Panel",
    "analyte",
    "analyte_of",
    "analyte_pack",
    "analytes",
    "find_analytes",
    "panel",
    "panels",
]

Kind = Literal["lab", "vital", "survey", "exam"]
# "Sodium [Moles/volume] in Serum or Plasma": what stands before names the analyte, unless the
# specimen is another one, where a bare name would mean something else.
_LONG_NAME = re.compile(
    r"\s*(?:\[[^\]]*\]|\bin (?:serum|plasma|blood|venous|arterial)\b).*", re.IGNORECASE
)
# Ordinary words one slip away from a name.
_SPEECH = frozenset(
    [
        "height",
        "weight",
        "clothing",
        "nitrate",
        "nitrates",
        "cigarette",
        "respiration",
        "transferred",
        "transferring",
        "proteinuric",
        "injured",
        "ensured",
        "lactated",
        "lactase",
        "stokes",
        "ligase",
        "corticotrophs",
        "spirometric",
        "spirometer",
        "osmolarity",
    ]
)
_OTHER_SPECIMEN = re.compile(
    r"\b(?:urine|stool|csf|cerebral|pleural|fluid|semen|saliva)\b", re.IGNORECASE
)


@value
class Analyte:
    """One measurement. `unit` is the usual unit, "" for those without; `loinc` are its codes."""

    key: str
    name: str
    synonyms: tuple[str, ...]
    misspellings: tuple[str, ...]
    loinc: tuple[str, ...]
    unit: str
    group: str
    kind: Kind


@value
class Panel:
    """Several analytes asked for in one word; `of` are analyte keys, the telling ones first."""

    key: str
    name: str
    of: tuple[str, ...]
    synonyms: tuple[str, ...]
    loinc: tuple[str, ...]


@value
class AnalyteMention:
    """A measurement or panel named at `text[start:end]`; offsets are code points, half-open.

    `keys` are analyte keys: for an analyte its own first, then any sister that the same word means
    in other countries (urea and urea nitrogen); for a panel its members, its key in `panel` ("" for
    an analyte). `exact` is False when a misspelling was repaired. `weak` is True for
    words that also mean something else ("kidney", "weigh"): they need a question about a value.
    """

    start: int
    end: int
    text: str
    keys: tuple[str, ...]
    panel: str
    exact: bool
    weak: bool


class _Row(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    syn: tuple[str, ...] = ()
    mis: tuple[str, ...] = ()
    loinc: tuple[str, ...]
    unit: str
    group: str
    kind: Kind = "lab"
    also: tuple[str, ...] = ()


class _PanelRow(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    of: tuple[str, ...]
    syn: tuple[str, ...]
    mis: tuple[str, ...] = ()
    loinc: tuple[str, ...] = ()


class _Analytes(PackFile):
    analytes: dict[str, _Row]
    panels: dict[str, _PanelRow]
    weak: tuple[str, ...]
    cased: tuple[str, ...]
    not_measured: tuple[str, ...]


@value
class _Target:
    """What a phrase stands for. No keys: a phrase that only looks like a measurement."""

    keys: tuple[str, ...]
    panel: str = ""
    misspelt: bool = False


def analyte_pack() -> Pack:
    """The pack that the names, codes and panels come from."""
    return _file().pack


def analytes() -> tuple[Analyte, ...]:
    """Every analyte, in the pack's order (by group)."""
    return tuple(_table().values())


def panels() -> tuple[Panel, ...]:
    """Every panel, in the pack's order."""
    return tuple(_panels().values())


def analyte(key: str) -> Analyte:
    """One analyte by its key.

    Raises:
        NotFound: No such key; `analyte_of` takes names and codes.
    """
    try:
        return _table()[key]
    except KeyError:
        raise NotFound("analyte", key, hint="Use analyte_of for names and LOINC codes.") from None


def analyte_of(*, loinc: str = "", name: str = "") -> Analyte | None:
    """The analyte of a LOINC code, or of a whole name or synonym; the code wins.

    `name` may be a record's display such as "Sodium [Moles/volume] in Serum or Plasma". `None` when
    neither is known. A panel is not an analyte (see `panel`).
    """
    if loinc in _by_loinc():
        return _table()[_by_loinc()[loinc]]
    for written in (name, _bare(name)):
        for target in _lexicon().get(written) if written else ():
            if target.keys and not target.panel:
                return _table()[target.keys[0]]
    return None


def panel(name: str) -> Panel | None:
    """The panel of a key, a name, a synonym or a LOINC panel code; `None` when it is not one."""
    if name in _panels():
        return _panels()[name]
    for item in _panels().values():
        if name in item.loinc:
            return item
    for target in _lexicon().get(name):
        if target.panel:
            return _panels()[target.panel]
    return None


def find_analytes(text: str, *, repair: bool = False) -> tuple[AnalyteMention, ...]:
    """The measurements named in `text`, longest first at each place, in order.

    Phrases that name a condition or a medicine ("chronic kidney disease", "high blood pressure",
    "naproxen sodium") are passed over. Frequent misspellings are always known.

    Args:
        text: Any text, usually a question.
        repair: Also read other misspellings, one slip from six letters on, two from ten.
    """
    weak = _weak()
    found: list[AnalyteMention] = []
    for match in _lexicon().find(text, repair=repair):
        target = match.values[0]
        if not target.keys:
            continue
        found.append(
            AnalyteMention(
                start=match.start,
                end=match.end,
                text=match.phrase,
                keys=target.keys,
                panel=target.panel,
                exact=match.exact and not target.misspelt,
                weak=match.phrase.casefold() in weak,
            )
        )
    return tuple(found)


def _bare(name: str) -> str:
    """The analyte's name in a LOINC long name, "" when the specimen is not blood."""
    return "" if _OTHER_SPECIMEN.search(name) else _LONG_NAME.sub("", name.replace("\u200b", ""))


@functools.cache
def _file() -> _Analytes:
    return load_pack(_Analytes, "bedside.clinical", "data/analytes.yaml")


@functools.cache
def _weak() -> frozenset[str]:
    return frozenset(word.casefold() for word in _file().weak)


@functools.cache
def _table() -> Mapping[str, Analyte]:
    return {
        key: Analyte(
            key=key,
            name=row.name,
            synonyms=row.syn,
            misspellings=row.mis,
            loinc=row.loinc,
            unit=row.unit,
            group=row.group,
            kind=row.kind,
        )
        for key, row in _file().analytes.items()
    }


@functools.cache
def _panels() -> Mapping[str, Panel]:
    return {
        key: Panel(key=key, name=row.name, of=row.of, synonyms=row.syn, loinc=row.loinc)
        for key, row in _file().panels.items()
    }


@functools.cache
def _by_loinc() -> Mapping[str, str]:
    return {code: key for key, row in _file().analytes.items() for code in row.loinc}


@functools.cache
def _lexicon() -> Lexicon[_Target]:
    return Lexicon(
        _phrases(), cased=_file().cased, repairable=_repairable(), words_of_speech=_SPEECH
    )


def _repairable() -> Iterator[str]:
    for row in (*_file().analytes.values(), *_file().panels.values()):
        yield row.name
        yield from row.syn
    yield from _file().not_measured


def _phrases() -> Iterator[tuple[str, _Target]]:
    file = _file()
    for phrase in file.not_measured:
        yield phrase, _Target(keys=())
    for key, row in file.analytes.items():
        for name in (row.name, *row.syn):
            yield name, _Target(keys=(key, *row.also))
        for name in row.mis:
            yield name, _Target(keys=(key, *row.also), misspelt=True)
    for key, row in file.panels.items():
        for name in (row.name, *row.syn):
            yield name, _Target(keys=row.of, panel=key)
        for name in row.mis:
            yield name, _Target(keys=row.of, panel=key, misspelt=True)
