"""Check any answer against any sources: the part that stands alone (EN-S9). Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from bedside.core.context import Assembly, Item
from bedside.core.errors import InvalidArgument
from bedside.core.turn import Basis, Citation, Finding, Severity
from bedside.core.value import value
from bedside.grounding.gate import gate_for
from bedside.grounding.guardrails.policy import Policy
from bedside.grounding.guardrails.texts import GuardId
from bedside.grounding.prose import Prose
from bedside.grounding.source import SourceText

__all__ = ["CheckedClaim", "Report", "check"]

_GUARDS: tuple[GuardId, ...] = ("G1", "G2", "G5", "G6", "G7", "G13")


@value
class CheckedClaim:
    """One sentence that claims something, as it was written (markers included).

    `support` is "none" where it was removed; `why` names the reason, empty where all agrees.
    `citations` are numbers n of the sources, from 1 in the order given.
    """

    text: str
    support: Literal["full", "partial", "none"]
    why: str = ""
    basis: Basis = "inference"
    severity: Severity = "info"
    citations: tuple[int, ...] = ()


@value
class Report:
    """What became of an answer.

    `text` holds what is supported, with `[n]` markers; `claims` are all of them in order, `removed`
    (sentence, why) is what is not in `text`. `citations` are exact: `quote` equals
    `sources[n - 1].text[span.start:span.end]`, and `at` is [start, end) in `text`.
    """

    text: str
    claims: tuple[CheckedClaim, ...]
    citations: tuple[Citation, ...]
    removed: tuple[tuple[str, str], ...]
    findings: tuple[Finding, ...]

    @property
    def unsupported(self) -> tuple[CheckedClaim, ...]:
        """The claims that no source supports, in order, each with its reason."""
        return tuple(one for one in self.claims if one.support == "none")

    @property
    def ok(self) -> bool:
        """True where nothing had to be removed."""
        return not self.removed


def check(
    answer: str,
    *,
    sources: Sequence[SourceText],
    question: str = "",
    patient: bool = True,
    guards: Sequence[GuardId] = _GUARDS,
) -> Report:
    """Check an answer, ours or another's.

    Args:
        answer: Prose with `[n]` markers, with or without quotes (`[n: "exact words"]`). A marker
            without a quote is placed at the passage of that source which supports the sentence.
        sources: What the answer may cite; `[1]` is the first.
        question: What was asked; its own words and thresholds may be said again.
        patient: True where the answer speaks of a patient.
        guards: The guardrails to check.

    Raises:
        InvalidArgument: two sources have the same id.
    """
    ids = [one.id for one in sources]
    if len(set(ids)) != len(ids):
        raise InvalidArgument("sources", found=len(ids), want="sources with different ids")
    decoder = Prose()
    decoder.feed(answer)
    draft = decoder.finish()
    shown: Mapping[int, tuple[Item, ...]] = {
        n: (one.item(),) for n, one in enumerate(sources, start=1) if one.text
    }
    assembly = Assembly(
        messages=(),
        tokens=0,
        limit=0,
        layout="balanced",
        ledger=(),
        numbering={},
        shown=shown,
        segments=(),
    )
    gate = gate_for(
        release="whole",
        assembly=assembly,
        policy=Policy(ids=tuple(guards), patient=patient, asked=question),
    )
    verdict, _ = gate.close(draft, last=True)
    kept = [
        (
            claim.at[0],
            CheckedClaim(
                text=verdict.text[claim.at[0] : claim.at[1]],
                support=claim.support,
                basis=claim.basis,
                severity=claim.severity,
                citations=claim.citations,
            ),
        )
        for claim in verdict.claims
    ]
    gone = [CheckedClaim(text=text, support="none", why=why) for text, why in verdict.removed]
    ordered = [one for _, one in kept]
    return Report(
        text=verdict.text,
        claims=_in_order(draft.text, ordered, gone),
        citations=verdict.citations,
        removed=verdict.removed,
        findings=verdict.findings,
    )


def _in_order(
    draft: str, kept: Sequence[CheckedClaim], gone: Sequence[CheckedClaim]
) -> tuple[CheckedClaim, ...]:
    """Kept and removed claims in the order of the draft, as far as their text is found in it."""
    placed: list[tuple[int, CheckedClaim]] = []
    for group in (kept, gone):
        at = 0
        for one in group:
            found = draft.find(one.text, at)
            at = at if found < 0 else found + len(one.text)
            placed.append((at if found < 0 else found, one))
    return tuple(one for _, one in sorted(placed, key=lambda row: row[0]))
