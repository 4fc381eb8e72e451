"""Which document of a contract a text is: by its own words, never by its file's name alone. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from bedside.core.value import value
from bedside.sop.contract import Contract, Finding, Interpretation

__all__ = ["DocumentKind", "kinds_of", "named_kind", "recognise"]

_HEAD = 500
"""Characters in which a document says what it is."""
_ENOUGH = 4.0
_MARGIN = 1.0
_CUE = 0.6
_OWN = 0.5
_EMPTY = frozenset(
    [
        "or",
        "its",
        "and",
        "of",
        "the",
        "a",
        "report",
        "reports",
        "test",
        "tests",
        "recent",
        "xray",
        "x",
        "ray",
        "scan",
        "doctor",
        "s",
        "medical",
    ]
)
_WORD = re.compile(r"[^\W_]+")
_JOINED = re.compile(r"(?<=[a-z])(?=[A-Z][a-z])")


@value
class DocumentKind:
    """One type of document: what it is called and what is read in it. `own`: this contract's."""

    type: str
    label: str
    names: tuple[str, ...]
    findings: tuple[Finding, ...]
    own: bool

    @property
    def interpretation(self) -> Interpretation:
        """What to read in it."""
        return Interpretation(type=self.type, findings=self.findings)


def kinds_of(contract: Contract, others: Iterable[Contract] = ()) -> tuple[DocumentKind, ...]:
    """The types that a document can turn out to be: the contract's own, then the others'.

    A type that several contracts read differently is read for all of them, so that its findings
    serve when the procedure becomes another; only the contract's own findings stay `required`.
    """
    found: dict[str, DocumentKind] = {}
    for source in (contract, *others):
        own = source is contract
        reads = {one.type: one.findings for one in source.interpretation}
        for need in source.documents:
            before = found.get(need.type)
            findings = reads.get(need.type, ())
            if before is None:
                found[need.type] = DocumentKind(
                    type=need.type,
                    label=need.label,
                    names=need.names,
                    findings=findings if own else _optional(findings),
                    own=own,
                )
                continue
            known = {one.name for one in before.findings}
            more = _optional(one for one in findings if one.name not in known)
            names = tuple(dict.fromkeys((*before.names, *need.names)))
            found[need.type] = DocumentKind(
                type=before.type,
                label=before.label,
                names=names,
                findings=(*before.findings, *more),
                own=before.own,
            )
    return tuple(found.values())


def named_kind(file_name: str, kinds: Sequence[DocumentKind]) -> DocumentKind | None:
    """The type that a file's name claims; `None` where it claims none, or two alike."""
    stem = file_name.rpartition(".")[0] or file_name
    words = _spaced(stem)
    return _best({kind.type: _names(kind, words) for kind in kinds}, kinds, enough=1.0)


def recognise(text: str, kinds: Sequence[DocumentKind]) -> DocumentKind | None:
    """The type that a text is; `None` where no type, or more than one, fits it.

    What stands in the first 500 characters weighs most, then how many of the type's own findings
    are announced anywhere.
    """
    head, whole = _spaced(text[:_HEAD]), _spaced(text)
    shared = Counter(cue for kind in kinds for cue in {c for f in kind.findings for c in f.cues})
    scores: dict[str, float] = {}
    for kind in kinds:
        named = _names(kind, head)
        cues = sum(
            any(shared[cue] == 1 and f" {_spaced(cue).strip()} " in whole for cue in one.cues)
            or _CUE * any(f" {_spaced(cue).strip()} " in whole for cue in one.cues)
            for one in kind.findings
        )
        if not named and cues < 3:  # noqa: PLR2004 - three findings of its own speak for a type
            continue
        scores[kind.type] = 2.0 * named + min(cues, 6.0) + _OWN * kind.own
    return _best(scores, kinds, enough=_ENOUGH)


def _best(
    scores: dict[str, float], kinds: Sequence[DocumentKind], *, enough: float
) -> DocumentKind | None:
    ranked = sorted(scores.items(), key=lambda one: -one[1])
    if not ranked or ranked[0][1] < enough:
        return None
    if len(ranked) > 1 and ranked[0][1] - ranked[1][1] < min(_MARGIN, enough):
        tied = [kind for kind in kinds if scores.get(kind.type) == ranked[0][1]]
        return tied[0] if len(tied) == 1 and enough > 1 else None
    return next(kind for kind in kinds if kind.type == ranked[0][0])


def _names(kind: DocumentKind, words: str) -> float:
    """How plainly the words name the type: its longest name that stands there, and its own words."""
    longest = max(
        (len(said.split()) for name in kind.names if (said := _spaced(name)) in words), default=0
    )
    own = set(_WORD.findall(kind.type.casefold().replace("_", " ")))
    own |= {_one(word) for word in _WORD.findall(kind.label.casefold())}
    there = {_one(word) for word in words.split()}
    return longest + len((own - _EMPTY) & there)


def _spaced(text: str) -> str:
    """Words in lower case between single blanks, "x-ray" as "xray"; blank at both ends."""
    plain = _JOINED.sub(" ", text).casefold()
    plain = re.sub(r"\bx[\s_-]?rays?\b|x[\s_-]ray", " xray ", plain)
    return " " + " ".join(_WORD.findall(plain.replace("_", " "))) + " "


def _one(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") else word  # noqa: PLR2004 - "knees"


def _optional(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    return tuple(
        Finding(name=one.name, label=one.label, kind=one.kind, unit=one.unit, cues=one.cues)
        for one in findings
    )
