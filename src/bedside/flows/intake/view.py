"""A case as its readers see it: the state, the checklist and the stamps of a turn's JSON. Pure."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from dataclasses import asdict
from typing import Any

from bedside.flows.intake.case import Case
from bedside.flows.intake.phrases import document_words
from bedside.flows.intake.readiness import Readiness
from bedside.sop.checklist import captured
from bedside.sop.checklist import checklist as checklist_text
from bedside.sop.contract import Contract

__all__ = ["as_checklist", "as_readiness", "as_state", "revision_hash", "status_counts"]

SECTIONS = ("demographics", "procedure", "medical", "financial")


def as_state(case: Case, contract: Contract) -> dict[str, Any]:
    """The consolidated document of a case (IN-03)."""
    facts = case.facts
    order = {field.id: field.section for field in contract.fields}
    sections: dict[str, dict[str, Any]] = {name: {} for name in SECTIONS}
    fields: dict[str, Any] = {}
    for name, known in facts.fields.items():
        section = order.get(name, "medical")
        fields[name] = {**asdict(known), "section": section}
        if known.status == "known":
            sections[section][name] = known.value
    if not contract.generic:
        sections["procedure"] |= {
            "name": contract.title,
            "code": contract.codes[0] if contract.codes else None,
        }
    if case.procedure_words:
        sections["procedure"]["said"] = case.procedure_words
    return {
        "sop": facts.sop,
        "turn": facts.turn,
        "language": facts.language,
        "status": case.status,
        "fields": fields,
        **sections,
        "documents": {
            key: {
                "type": one.type,
                "status": one.status,
                "eta_seconds": one.eta_seconds,
                "label": one.label,
                "shown": document_words(one.type, one.label, facts.language)
                if one.status in {"complete", "stored"} and one.type != "unknown"
                else one.label,
                "findings": dict(one.findings),
                "why": one.why or None,
                "last_seen_turn": one.last_seen_turn,
            }
            for key, one in facts.documents.items()
        },
        "conflicts": [one.field for one in case.conflicts],
        "alerts": [{"kind": one.kind, "turn": one.turn} for one in case.alerts],
        "chosen": case.chosen or None,
    }


def as_checklist(case: Case, contract: Contract) -> dict[str, Any]:
    """The checklist of this turn, as lists and as the text that a model sees."""
    facts = case.facts

    def still(*when: str) -> list[str]:
        return [
            field.id
            for one in when
            for field in contract.fields
            if field.when == one
            and contract.applies(field, facts)
            and facts.get(field.id).status in {"unasked", "asked"}
        ]

    return {
        "captured": list(captured(contract, facts)),
        "still_needed": still("matching", "safety", "booking"),
        "optional": still("optional"),
        "documents_needed": [gap.id for gap in contract.missing_documents(facts)],
        "safety_rules": [rule.id for rule in contract.active_rules(facts)],
        "missing_for_matching": [gap.id for gap in contract.missing_for_matching(facts)],
        "missing_for_booking": [gap.id for gap in contract.missing_for_booking(facts)],
        "text": checklist_text(contract, facts),
    }


def as_readiness(found: Readiness) -> dict[str, Any]:
    """Band, score and drivers."""
    return {"band": found.band, "score": found.score, "drivers": list(found.drivers)}


def revision_hash(case: Case) -> str:
    """A short hash of what is known, for the trace: equal states have equal hashes."""
    tree = {
        "sop": case.facts.sop,
        "status": case.status,
        "fields": {
            name: [one.status, one.value] for name, one in sorted(case.facts.fields.items())
        },
        "documents": {key: one.status for key, one in sorted(case.facts.documents.items())},
    }
    text = json.dumps(tree, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def status_counts(case: Case) -> dict[str, int]:
    """How many documents have each status."""
    return dict(Counter(one.status for one in case.facts.documents.values()))
