"""A medicine and a condition of the same person that do not go well together."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable

from pydantic import BaseModel, ConfigDict, Field

from bedside.clinical.packs import Pack, PackFile, load_pack
from bedside.clinical.rules import Reference, Severity, means, reference, words_fit
from bedside.core.value import value

__all__ = ["CautionRule", "caution_pack", "caution_rules", "cautions_for", "denies_pregnancy"]


@value
class CautionRule:
    """One rule. `conditions` are alternatives of words; none at all means the medicine alone."""

    id: str
    medicines: tuple[str, ...]
    exempt: tuple[str, ...]
    conditions: tuple[tuple[str, ...], ...]
    but: tuple[str, ...]
    severity: Severity
    text: str
    action: str
    reference: Reference

    @property
    def of_pregnancy(self) -> bool:
        """Is pregnancy itself the condition?"""
        return any("pregnan" in words for words in self.conditions)

    def concerns(self, condition: str) -> bool:
        """Is this a condition of the rule, as a record names it? A relative's is none."""
        condition = _OF_FAMILY.sub("", condition)
        if self.of_pregnancy and denies_pregnancy(condition):
            return False
        return words_fit(condition, self.conditions, but=self.but)


_OF_FAMILY = re.compile(r"\b(?:family (?:history|hx)|fhx?)\b[^;]*", re.IGNORECASE)


def denies_pregnancy(name: str) -> bool:
    """Whether a problem's name says that there is none: "Not pregnant", a negative test, a past one."""
    return _NOT_PREGNANT.search(name) is not None


_NOT_PREGNANT = re.compile(
    r"\b(?:not|never|non)\b[\s-]+(?:(?:currently|presently|now|yet|known to be|at present)\s+)?pregnant\b"
    r"|\bno (?:current |ongoing |known )?pregnancy\W*\Z"
    r"|\bnegative (?:\w+ ){0,2}pregnancy test\b|\bpregnancy test\b[^,;]*\bnegative\b"
    r"|\A(?:(?!pregnan).)*\bhistory of\b[^,;]*\bpregnan|\bpregnancy\W+history\b"
    r"|\bpregnancy\W+(?:negative|excluded|ruled out)\W*\Z|\bnegative for pregnancy\b",
    re.IGNORECASE,
)
"""A name that denies a pregnancy, or tells of one before. "Rhesus negative" in one does not, nor
"Supervision of pregnancy with history of infertility"."""


class _Row(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    medicines: tuple[str, ...]
    exempt: tuple[str, ...] = ()
    conditions: tuple[tuple[str, ...], ...]
    but: tuple[str, ...] = Field(default=(), alias="not")
    severity: Severity
    text: str
    action: str
    source: str


class _Cautions(PackFile):
    sources: dict[str, str]
    cautions: dict[str, _Row]


def caution_pack() -> Pack:
    """The table that the rules come from."""
    return _file().pack


@functools.cache
def caution_rules() -> tuple[CautionRule, ...]:
    """Every rule, in the table's order."""
    table = _file()
    return tuple(
        CautionRule(
            id=key,
            medicines=row.medicines,
            exempt=row.exempt,
            conditions=row.conditions,
            but=row.but,
            severity=row.severity,
            text=row.text,
            action=row.action,
            reference=reference(
                "caution",
                key,
                title=key.replace("-", " "),
                text=row.text,
                cite=table.sources[row.source],
                pack=table.pack,
            ),
        )
        for key, row in table.cautions.items()
    )


def cautions_for(generics: Iterable[str]) -> tuple[CautionRule, ...]:
    """The rules that mean one of these generics; unknown names have none."""
    wanted = tuple(generics)
    return tuple(
        rule
        for rule in caution_rules()
        if any(means(one, rule.medicines, exempt=rule.exempt) for one in wanted)
    )


@functools.cache
def _file() -> _Cautions:
    return load_pack(_Cautions, "bedside.clinical", "data/cautions.yaml")
