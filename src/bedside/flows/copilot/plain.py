"""Results, evidence and a voice in plain words, for the patient's own view (CO-10)."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from importlib import resources

from pydantic import BaseModel, ConfigDict

from bedside.clinical.analytes import analyte_of
from bedside.clinical.lexicon import words
from bedside.clinical.packs import Pack, PackFile, load_pack
from bedside.clinical.ranges import Flag
from bedside.clinical.vocabulary import expand
from bedside.core.value import value

__all__ = [
    "PlainEvidence",
    "PlainResult",
    "evidence_for",
    "evidence_pack",
    "explain",
    "persona",
    "plain_result",
    "plain_results",
    "result_pack",
]

_PACKAGE = "bedside.flows.copilot"
MAX_EVIDENCE = 4
_SURE = 0.5


@value
class PlainResult:
    """What a test is and what its result may mean, at a reading grade of 8 or below.

    `seek` says when to see a doctor and when to get help at once. `source` names the public page the
    wording follows; `label` is the pack's and stands wherever the text shows.
    """

    analyte: str
    name: str
    what: str
    normal: str
    high: str
    low: str
    seek: str
    source: str
    label: str


@value
class PlainEvidence:
    """One statement of evidence in plain words, with its source."""

    id: str
    terms: tuple[str, ...]
    text: str
    source: str
    label: str


class _Result(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    what: str
    normal: str
    high: str
    low: str
    seek: str
    source: str


class _Results(PackFile):
    results: dict[str, _Result]


class _Evidence(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    terms: tuple[str, ...]
    text: str
    source: str


class _EvidenceFile(PackFile):
    evidence: dict[str, _Evidence]


def result_pack() -> Pack:
    """The pack of plain results."""
    return _results().pack


def evidence_pack() -> Pack:
    """The pack of plain evidence."""
    return _evidence().pack


@functools.cache
def persona() -> str:
    """The voice for the patient's audience: prompt text."""
    path = resources.files(_PACKAGE).joinpath("data/patient/persona.md")
    return path.read_text(encoding="utf-8").strip()


def plain_results() -> tuple[PlainResult, ...]:
    """Every explained analyte, in the pack's order."""
    return tuple(_table().values())


def plain_result(analyte: str) -> PlainResult | None:
    """The plain text of an analyte by key, LOINC code or name; `None` when it is not explained."""
    if analyte in _table():
        return _table()[analyte]
    found = analyte_of(loinc=analyte, name=analyte)
    return _table().get(found.key) if found else None


def explain(analyte: str, flag: Flag | None) -> str | None:
    """What a flagged result means, and when to seek help, as a short paragraph.

    Args:
        analyte: Key, LOINC code or name.
        flag: Where the value stands; `None` when that is unknown, which is said plainly.

    Returns:
        `None` when the analyte is not explained.
    """
    plain = plain_result(analyte)
    if plain is None:
        return None
    meaning = {
        "low": plain.low,
        "critical_low": f"{plain.low} This result is far from the usual range.",
        "normal": plain.normal,
        "high": plain.high,
        "critical_high": f"{plain.high} This result is far from the usual range.",
        None: "We can not tell from here if this result is in the usual range. Ask your doctor.",
    }[flag]
    urgent = flag in {"critical_low", "critical_high"}
    act = f"Call your doctor today. {plain.seek}" if urgent else plain.seek
    return f"{plain.what} {meaning} {act}"


def evidence_for(text: str) -> tuple[PlainEvidence, ...]:
    """Up to four statements that fit a question, the best fit first; empty when none does."""
    more = [item.replacement for item in expand(text) if item.weight >= _SURE]
    said = f" {' '.join(word for _, _, word in words(' | '.join([text, *more])))} "
    scored = [
        (sum(_stands(term, said) for term in item.terms), item.id, item)
        for item in _statements().values()
    ]
    fitting = sorted((-score, key, item) for score, key, item in scored if score)
    return tuple(item for _, _, item in fitting[:MAX_EVIDENCE])


def _stands(term: str, said: str) -> bool:
    folded = " ".join(word for _, _, word in words(term))
    return f" {folded} " in said or f" {folded}s " in said


@functools.cache
def _results() -> _Results:
    return load_pack(_Results, _PACKAGE, "data/patient/results.yaml")


@functools.cache
def _evidence() -> _EvidenceFile:
    return load_pack(_EvidenceFile, _PACKAGE, "data/patient/evidence.yaml")


@functools.cache
def _table() -> Mapping[str, PlainResult]:
    label = _results().pack.label
    return {
        key: PlainResult(analyte=key, label=label, **row.model_dump())
        for key, row in _results().results.items()
    }


@functools.cache
def _statements() -> Mapping[str, PlainEvidence]:
    label = _evidence().pack.label
    return {
        key: PlainEvidence(id=key, label=label, **row.model_dump())
        for key, row in _evidence().evidence.items()
    }
