"""What a flow asks of the gate: its guardrails and their settings, as one check. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from bedside.core.context import Assembly
from bedside.core.turn import Draft, Finding
from bedside.core.value import value
from bedside.grounding.guardrails.texts import SETS, GuardId, guardrail_text, rules

__all__ = ["Guardrails", "Policy", "guardrails"]


@value
class Policy:
    """Settings of the checks of one step.

    `ids` are the guardrails in force. `patient` is True where a patient is open. `words` is the
    response mode's limit, `None` for none; `questions` the most closing questions. `asked` is the
    person's message (read from the prompt where it is empty). `others` are identifiers of other
    people that must never come out; `canaries` are strings planted in our instructions.
    `contradictions` are groups of source ids that disagree. `cite` "off" drops the need for
    citations (a companion's own voice) and with it the support checks.
    """

    ids: tuple[GuardId, ...] = SETS["copilot"]
    patient: bool = True
    audience: Literal["clinician", "patient"] = "clinician"
    country: str = "INT"
    words: int | None = None
    questions: int = 1
    asked: str = ""
    others: tuple[str, ...] = ()
    canaries: tuple[str, ...] = ()
    contradictions: tuple[tuple[str, ...], ...] = ()
    cite: Literal["required", "off"] = "required"


@value
class Guardrails:
    """A policy as an entry of `Step.checks`. The gate reads the policy and runs the guards itself.

    Called as a plain check it judges a whole draft and gives the findings.
    """

    policy: Policy
    flow: str = "copilot"

    def __call__(self, draft: Draft, assembly: Assembly) -> Sequence[Finding]:
        """Judge a whole draft against what was shown."""
        from bedside.grounding.gate import gate_for

        gate = gate_for(release="never", assembly=assembly, checks=(self,))
        verdict, _ = gate.close(draft, last=True)
        return verdict.findings

    def text(self) -> str:
        """The guardrails' prompt text for this policy."""
        return guardrail_text(
            self.flow, patient=self.policy.patient, at=self.policy.country, ids=self.policy.ids
        )


def guardrails(
    flow: str = "copilot",
    *,
    patient: bool = True,
    audience: Literal["clinician", "patient"] = "clinician",
    country: str = "INT",
    words: int | None = None,
    asked: str = "",
    others: Sequence[str] = (),
    canaries: Sequence[str] = (),
    contradictions: Sequence[Sequence[str]] = (),
) -> Guardrails:
    """The guardrails of a flow, to put into `Step.checks` and `Flow.checks`.

    Args:
        flow: A key of `SETS`; companion and intake speak without citations.
        patient: With a patient; without one, patient-only guards are off.
        audience: Who reads.
        country: ISO 3166-1 alpha-2; names the references for doses.
        words: The response mode's word limit, `None` for none.
        asked: The person's message.
        others: Identifiers of other people that must never come out.
        canaries: Strings planted in our instructions.
        contradictions: Groups of source ids that disagree with each other.
    """
    chosen: tuple[GuardId, ...] = SETS[flow]
    if not patient:
        with_patient: set[GuardId] = {rule.id for rule in rules() if rule.patient_only}
        chosen = tuple(one for one in chosen if one not in with_patient)
    return Guardrails(
        flow=flow,
        policy=Policy(
            ids=chosen,
            patient=patient,
            audience=audience,
            country=country,
            words=words,
            asked=asked,
            others=tuple(others),
            canaries=tuple(canaries),
            contradictions=tuple(tuple(group) for group in contradictions),
            cite="off" if flow in {"companion", "intake"} else "required",
        ),
    )
