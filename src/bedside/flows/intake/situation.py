"""Where a case stands after a message: documents, readiness, consent, matches, status (IN-15). Pure.

The sidecars run after the answer's facts are known. They alone set the status.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from bedside.core.turn import Change
from bedside.core.value import value
from bedside.flows.intake import consent
from bedside.flows.intake.case import Alert, Case, Match, applied, change
from bedside.flows.intake.hear import Heard
from bedside.flows.intake.matcher import Provider, rank
from bedside.flows.intake.readiness import Readiness, readiness
from bedside.sop.contract import Contract, Gap
from bedside.sop.state import Document, Known

__all__ = ["Situation", "as_they_are", "document_changes", "situate"]


@value
class Situation:
    """The case after everything that this turn does to it, and the changes since `heard.case`.

    `fresh` are uploads whose status changed since they were last spoken of. `opened` is True where
    the confirmation opens in this turn; `matched` where matching was started by it.
    """

    heard: Heard
    case: Case
    contract: Contract
    readiness: Readiness
    missing: tuple[Gap, ...]
    changes: tuple[Change, ...]
    fresh: tuple[str, ...] = ()
    opened: bool = False
    matched: bool = False
    uploaded: str = ""

    @property
    def complete(self) -> bool:
        """Nothing is missing for matching."""
        return not self.missing

    @property
    def may_match(self) -> bool:
        """Complete, and green or yellow."""
        return self.complete and self.readiness.band != "red"


def document_of(one: Any, before: Document | None, *, turn: int) -> Document:
    """An upload as the state has it."""
    return Document(
        type=one.type or "unknown",
        status=one.status,
        label=one.label,
        findings=dict(one.findings) if one.status == "complete" else {},
        eta_seconds=one.eta_seconds if one.status in {"queued", "processing"} else None,
        last_seen_turn=turn,
        since_turn=before.since_turn if before is not None else turn,
        why=one.why,
    )


def as_they_are(case: Case, uploads: Sequence[Any]) -> Case:
    """The case with its documents as they are now, for who looks at it between two turns."""
    facts = case.facts
    for one in uploads:
        before = facts.documents.get(str(one.id))
        seen = before.last_seen_turn if before is not None else None
        now = replace(document_of(one, before, turn=facts.turn), last_seen_turn=seen)
        facts = facts.with_document(str(one.id), now)
    return replace(case, facts=facts)


def document_changes(case: Case, uploads: Sequence[Any], contract: Contract) -> list[Change]:
    """Uploads as the state has them, re-derived at every turn, and fields that they fill."""
    turn = case.facts.turn
    found: list[Change] = []
    for one in uploads:
        before = case.facts.documents.get(str(one.id))
        read = document_of(one, before, turn=turn)
        if (
            before is None
            or replace(before, last_seen_turn=turn) != read
            or before.last_seen_turn != turn
        ):
            found.append(change(f"document:{one.id}", read))
        if one.status == "complete":
            found += _from_findings(read, str(one.id), contract, turn, case)
    return found


def _from_findings(
    document: Document, key: str, contract: Contract, turn: int, case: Case
) -> list[Change]:
    """Fields that a finding states, such as the side of an X-ray; a conflict is asked about."""
    found: list[Change] = []
    for name, body in document.findings.items():
        field = contract.field(name) or contract.field(f"procedure_{name}")
        plain = body.get("value") if isinstance(body, Mapping) else body
        if field is None or plain is None or field.kind not in {"choice", "number", "boolean"}:
            continue
        if field.choices and str(plain).casefold() not in field.choices:
            if str(plain).casefold() == "bilateral" and "both" in field.choices:
                plain = "both"
            else:
                continue
        value_ = str(plain).casefold() if field.choices else plain
        before = case.facts.get(field.id)
        if (
            before.source == key
            or before.by == "settled"
            or field.id in {c.field for c in case.conflicts}
        ):
            continue
        quote = body.get("quote") if isinstance(body, Mapping) else None
        found.append(
            change(
                f"field:{field.id}",
                Known(
                    status="known",
                    value=value_,
                    said=str(quote or plain),
                    origin="document",
                    source=key,
                    start=body.get("start") if isinstance(body, Mapping) else None,
                    end=body.get("end") if isinstance(body, Mapping) else None,
                    turn=turn,
                    by="rule",
                ),
            )
        )
    return found


def situate(
    heard: Heard,
    *,
    uploads: Sequence[Any] = (),
    providers: tuple[Provider, ...],
    more: Sequence[Change] = (),
    uploaded: str = "",
) -> Situation:
    """Run the sidecars.

    Args:
        heard: The message after the rules.
        uploads: The case's documents as they are now.
        providers: The catalogue.
        more: What a model's envelope adds.
        uploaded: The document that this turn brings, "" for none.
    """
    changes = list(more)
    case = applied(heard.case, changes)
    papers = document_changes(case, uploads, heard.contract)
    changes += papers
    fresh = tuple(
        str(one.id)
        for one in uploads
        if (before := heard.case.facts.documents.get(str(one.id))) is None
        or before.status != one.status
    )
    case = applied(case, papers)
    contract = heard.contract
    found = readiness(contract, case.facts)
    missing = contract.missing_for_matching(case.facts)
    ready = not missing and found.band != "red" and not case.conflicts
    moves: list[Change] = []
    opened = matched = False
    agreed = case.consent
    if heard.word == "no" and agreed.state in {"none", "asked", "confirming"}:
        moves.append(
            change("consent", replace(agreed, state="declined", turn=case.facts.turn), by="person")
        )
    elif heard.word == "withdraws":
        moves.append(
            change("consent", replace(agreed, state="declined", turn=case.facts.turn), by="person")
        )
        moves.append(
            change("alert", Alert(kind="consent_withdrawn", turn=case.facts.turn), op="add")
        )
    elif heard.word == "wants" and case.status == "intake" and agreed.state != "confirming":
        if ready:
            opened = True
        else:
            moves.append(change("consent", replace(agreed, state="asked"), by="person"))
    elif heard.word == "yes" and agreed.state == "confirming" and ready:
        given = replace(agreed, state="confirmed", said=heard.text, turn=case.facts.turn)
        moves.append(change("consent", given, by="person"))
        if case.status == "intake":
            matched = True
    elif (agreed.state == "asked" and ready and case.status == "intake") or (
        agreed.state == "confirming" and ready and heard.corrected
    ):
        opened = True
    if opened:
        moves.append(
            change(
                "consent",
                consent.open_confirmation(contract, case.facts, _rank(contract, case, providers)),
            )
        )
    if matched:
        moves += [change("matches", _rank(contract, case, providers)), change("status", "matching")]
    if heard.chose and case.status == "matching":
        moves += [change("chosen", heard.chose, by="person"), change("status", "consultation")]
    moves += [
        change("alert", Alert(kind=f"safety_rule:{rule.id}", turn=case.facts.turn), op="add")
        for rule in contract.active_rules(case.facts)
        if not any(one.kind == f"safety_rule:{rule.id}" for one in case.alerts)
    ]
    case = applied(case, moves)
    return Situation(
        heard=heard,
        case=case,
        contract=contract,
        readiness=found,
        missing=missing,
        changes=(*changes, *moves),
        fresh=fresh,
        opened=opened,
        matched=matched,
        uploaded=uploaded,
    )


def _rank(contract: Contract, case: Case, providers: tuple[Provider, ...]) -> tuple[Match, ...]:
    return rank(contract, case.facts, providers)
