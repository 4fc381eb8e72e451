"""A contract and a state as text: the static definition, and the checklist of one turn. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from bedside.sop.contract import ORDER, Contract, Field, When
from bedside.sop.state import Known, State

__all__ = [
    "MOST_CAPTURED",
    "captured",
    "checklist",
    "checklist_forms",
    "clipped",
    "definition",
    "said_value",
]

MOST_CAPTURED = 30
_FEWER = (24, 18, 12, 6, 0)
_LONGEST_VALUE = 120
"""Characters of one value in a checklist; what is cut ends with a sign."""
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


def captured(contract: Contract, state: State, *, most: int = MOST_CAPTURED) -> tuple[str, ...]:
    """One line per known or answered field, the newest `most`, oldest first."""
    order = {field.id: index for index, field in enumerate(contract.fields)}
    known = [
        (item.turn or 0, order.get(name, len(order)), name, item)
        for name, item in state.fields.items()
        if item.status not in ("unasked", "asked")
    ]
    known.sort(key=lambda row: (row[0], row[1], row[2]))
    kept = known[-most:] if most else []
    return tuple(
        f"- {clipped(name, 42)}: {clipped(said_value(item), _LONGEST_VALUE)}"
        for _, _, name, item in kept
    )


def clipped(text: str, most: int) -> str:
    """The text on one line, of at most so many characters; what is cut ends with "..."."""
    line = " ".join(text.split())
    if len(line) <= most:
        return line
    return line[: most - 3].rstrip() + "..."


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


def checklist(contract: Contract, state: State, *, most: int = MOST_CAPTURED) -> str:
    """The checklist of this turn (IN-04): captured, still needed, optional, documents, rules.

    Args:
        contract: The case's contract.
        state: What the case knows.
        most: Lines under "Captured", the newest; older ones are left out with a count.
    """
    needed = [field for when in ORDER[:3] for field in _open(contract, state, when)]
    optional = _open(contract, state, "optional")
    documents = contract.missing_documents(state)
    lines = captured(contract, state, most=most)
    all_lines = len(captured(contract, state, most=len(state.fields)))
    earlier = [f"- ({all_lines - len(lines)} earlier ones, not to be asked again)"]
    hint = [UPLOAD_HINT] if documents and state.turn >= HINT_AFTER_TURNS else []
    active = contract.active_rules(state)
    return "\n".join(
        [
            f"## Contract status ({contract.id})",
            "",
            "Captured:",
            *_or_none([*(earlier if all_lines > len(lines) else []), *lines]),
            "",
            "Still needed:",
            *_or_none(_asked(field, state) for field in needed),
            "",
            "Optional:",
            *_or_none(f"- {field.id}" for field in optional),
            "",
            "Documents still needed:",
            *_or_none(f"- {gap.id} ({_WHEN[gap.when]})" for gap in documents),
            *hint,
            "",
            "Active safety rules:",
            *_or_none(f"- {rule.id}: {rule.description}" for rule in active),
        ]
    )


def checklist_forms(contract: Contract, state: State) -> tuple[str, ...]:
    """The checklist and its shorter forms, longest first: the oldest captured lines go first."""
    total = len(captured(contract, state))
    return tuple(
        checklist(contract, state, most=most)
        for most in (MOST_CAPTURED, *(few for few in _FEWER if few < total))
    )


def _open(contract: Contract, state: State, when: When) -> list[Field]:
    """Fields of that time that are neither known nor answered, in the contract's order."""
    return [
        field
        for field in contract.fields
        if field.when == when
        and contract.applies(field, state)
        and state.get(field.id).status in ("unasked", "asked")
    ]


def _asked(field: Field, state: State) -> str:
    again = " (asked; let the rest come first)" if state.get(field.id).asked else ""
    return f"- {field.id} ({_WHEN[field.when]}){again}"


def _or_none(lines: Iterable[str]) -> list[str]:
    found = list(lines)
    return found or ["- (none)"]
