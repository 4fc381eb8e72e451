"""A contract and a state as text: the static definition, and the checklist of one turn. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from bedside.sop.contract import Contract, Field
from bedside.sop.state import Known, State

__all__ = ["MOST_CAPTURED", "captured", "checklist", "definition", "said_value"]

MOST_CAPTURED = 30
HINT_AFTER_TURNS = 3
"""A document still missing after so many turns adds the upload hint."""
_WHEN = {
    "matching": "mandatory for matching",
    "safety": "mandatory for safety",
    "booking": "mandatory before booking",
    "optional": "optional",
}
UPLOAD_HINT = "Upload hint: documents can be added here at any time, as a photo or a file."


def definition(contract: Contract) -> str:
    """The static part of a contract: the same bytes for every case under it."""
    signed = "reviewed" if contract.reviewer else contract.review_status
    lines = [f"SOP {contract.id}, version {contract.version}: {contract.title} ({signed})."]
    if contract.codes:
        lines.append("Procedure codes: " + ", ".join(contract.codes) + ".")
    for when in ("matching", "safety"):
        needed = [field.id for field in contract.fields if field.when == when]
        if needed:
            lines.append(f"Fields {_WHEN[when]}: " + ", ".join(needed) + ".")
    if contract.documents:
        lines.append("Documents:")
        lines += [
            f"- {need.label} [{need.type}]: {_WHEN[need.when]} ({need.severity})"
            for need in contract.documents
        ]
    if contract.rules:
        lines.append("Clinical safety rules:")
        lines += [f"- {rule.id}: {rule.description}" for rule in contract.rules]
    return "\n".join(lines)


def captured(contract: Contract, state: State) -> tuple[str, ...]:
    """One line per known or answered field, the newest 30, oldest first."""
    order = {field.id: index for index, field in enumerate(contract.fields)}
    known = [
        (item.turn or 0, order.get(name, len(order)), name, item)
        for name, item in state.fields.items()
        if item.status not in ("unasked", "asked")
    ]
    known.sort(key=lambda row: (row[0], row[1], row[2]))
    return tuple(f"- {name}: {said_value(item)}" for _, _, name, item in known[-MOST_CAPTURED:])


def said_value(known: Known) -> str:
    """A field's value as it stands in a prompt or on a screen."""
    if known.status == "known":
        return _plain(known.value)
    return {
        "not_known": "(the person does not know)",
        "declined": "(declined; not to be asked again)",
        "not_applicable": "(does not apply)",
    }.get(known.status, "(not known)")


def _plain(found: Any) -> str:
    if isinstance(found, bool):
        return "yes" if found else "no"
    if isinstance(found, (list, tuple)):
        return ", ".join(_plain(one) for one in found) if found else "none"
    if isinstance(found, dict):
        return str(found.get("shown") or "; ".join(f"{k} {v}" for k, v in found.items()))
    return str(found)


def checklist(contract: Contract, state: State) -> str:
    """The checklist of this turn (IN-04): captured, still needed, optional, documents, rules."""
    open_fields = [
        field
        for when in ("matching", "safety", "booking")
        for field in contract.fields
        if field.when == when
        and contract.applies(field, state)
        and state.get(field.id).status in ("unasked", "asked")
    ]
    optional = [
        field
        for field in contract.fields
        if field.when == "optional"
        and contract.applies(field, state)
        and state.get(field.id).status in ("unasked", "asked")
    ]
    documents = contract.missing_documents(state)
    lines = [f"## Contract status ({contract.id})", "", "Captured:"]
    lines += _or_none(captured(contract, state))
    lines += ["", "Still needed:", *_or_none(_asked(field, state) for field in open_fields)]
    lines += ["", "Optional:", *_or_none(f"- {field.id}" for field in optional)]
    lines += [
        "",
        "Documents still needed:",
        *_or_none(f"- {gap.id} ({_WHEN[gap.when]})" for gap in documents),
    ]
    if documents and state.turn >= HINT_AFTER_TURNS:
        lines.append(UPLOAD_HINT)
    active = contract.active_rules(state)
    lines += ["", "Active safety rules:"]
    lines += _or_none(f"- {rule.id}: {rule.description}" for rule in active)
    return "\n".join(lines)


def _asked(field: Field, state: State) -> str:
    again = " (asked; let the rest come first)" if state.get(field.id).asked else ""
    return f"- {field.id} ({_WHEN[field.when]}){again}"


def _or_none(lines: Iterable[str]) -> list[str]:
    found = list(lines)
    return found or ["- (none)"]
