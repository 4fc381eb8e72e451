"""Screening and prevention: whom a rule means, and what entries of a record satisfy it."""

from __future__ import annotations

import functools
from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict, Field

from bedside.clinical.packs import Pack, PackFile, load_pack
from bedside.clinical.rules import Reference, reference, words_fit
from bedside.core.value import value

__all__ = ["ScreeningEvidence", "ScreeningRule", "screening_pack", "screening_rules"]


@value
class ScreeningEvidence:
    """An entry that satisfies a rule for `years` (0: for good).

    By words of its name, or by one of the analytes.
    """

    words: tuple[str, ...]
    analytes: tuple[str, ...]
    years: int

    def fits(self, name: str, analyte: str) -> bool:
        """Is an entry with this name and analyte key ("" for none) of this kind?"""
        if self.analytes:
            return analyte in self.analytes
        return words_fit(name, (self.words,))


@value
class ScreeningRule:
    """One rule. `sex` is "" for both; `age` is (from, to) in completed years, both inside.

    `conditions` are alternatives of words of which one must be an active problem (none: anybody);
    `smoker` asks for an entry of smoking, `bmi` for a latest body-mass index of at least so much.
    `never` are conditions and procedures that make it pointless.
    """

    id: str
    name: str
    group: str
    sex: str
    age: tuple[int, int]
    conditions: tuple[tuple[str, ...], ...]
    but: tuple[str, ...]
    smoker: bool
    bmi: int | None
    evidence: tuple[ScreeningEvidence, ...]
    never: tuple[tuple[str, ...], ...]
    text: str
    reference: Reference

    def means(self, *, sex: str, age: int, problems: Sequence[str]) -> bool:
        """Is this person meant, smoking and weight aside?"""
        if self.sex and sex != self.sex:
            return False
        if not self.age[0] <= age <= self.age[1]:
            return False
        if not self.conditions:
            return True
        return any(words_fit(name, self.conditions, but=self.but) for name in problems)

    def pointless(self, entries: Sequence[str]) -> bool:
        """Does one of these conditions or procedures make it pointless?"""
        return any(words_fit(name, self.never, but=("family",)) for name in entries)


class _Evidence(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    words: tuple[str, ...] = ()
    analytes: tuple[str, ...] = ()
    years: int


class _Row(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    name: str
    group: str
    sex: str = ""
    age: tuple[int, int]
    conditions: tuple[tuple[str, ...], ...] = ()
    but: tuple[str, ...] = Field(default=(), alias="not")
    smoker: bool = False
    bmi: int | None = None
    evidence: tuple[_Evidence, ...]
    never: tuple[tuple[str, ...], ...] = ()
    text: str
    source: str


class _Screening(PackFile):
    sources: dict[str, str]
    screening: dict[str, _Row]


def screening_pack() -> Pack:
    """The table that the rules come from."""
    return _file().pack


@functools.cache
def screening_rules() -> tuple[ScreeningRule, ...]:
    """Every rule, in the table's order."""
    table = _file()
    return tuple(
        ScreeningRule(
            id=key,
            name=row.name,
            group=row.group,
            sex=row.sex,
            age=row.age,
            conditions=row.conditions,
            but=row.but,
            smoker=row.smoker,
            bmi=row.bmi,
            evidence=tuple(
                ScreeningEvidence(words=one.words, analytes=one.analytes, years=one.years)
                for one in row.evidence
            ),
            never=row.never,
            text=row.text,
            reference=reference(
                "screening",
                key,
                title=row.name,
                text=row.text,
                cite=table.sources[row.source],
                pack=table.pack,
            ),
        )
        for key, row in table.screening.items()
    )


@functools.cache
def _file() -> _Screening:
    return load_pack(_Screening, "bedside.clinical", "data/screening.yaml")
