"""What the coordinator's pages show of a case, in words. Pure: from the desk's JSON to a template's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bedside.sop import Contract

__all__ = ["alerts", "blockers", "grouped", "papers", "sections"]

_GROUPS = (
    ("urgent", "A person is needed now", ""),
    ("conflict", "The person said two things that differ", ""),
    ("procedure", "The procedure is not known yet", ""),
    ("open", "Asked and left open: for a coordinator", ""),
    ("field", "The conversation goes on", ""),
    ("document", "Waiting for documents", ""),
    ("consent", "Waiting for the person's consent", ""),
    ("", "Nothing blocks these", ""),
)
_LEFT_OPEN = ("(not known)", "(declined)")
_MOST = 4
_TITLES = {
    "procedure": "Procedure",
    "demographics": "Who",
    "medical": "Medical",
    "financial": "Paying",
}
_LETTERS = {"turn": "P", "form": "P", "document": "C"}


def grouped(
    cases: Sequence[Mapping[str, Any]], contracts: Mapping[str, Contract]
) -> list[dict[str, Any]]:
    """The cases under what blocks each first; groups without a case are left out."""
    found: dict[str, list[dict[str, Any]]] = {}
    for case in cases:
        contract = contracts.get(case["sop"]) or contracts["_generic"]
        said = blockers(case["blocked_by"], contract)
        row = {
            **case,
            "title": contract.title,
            "alerts": alerts(case["alerts"]),
            "blockers": said[:_MOST],
            "more": max(len(said) - _MOST, 0),
        }
        found.setdefault(_group(case), []).append(row)
    return [
        {"title": title, "level": level, "cases": found[name]}
        for name, title, level in _GROUPS
        if name in found
    ]


def _group(case: Mapping[str, Any]) -> str:
    if case["urgent"]:
        return "urgent"
    lines: list[str] = case["blocked_by"]
    kinds = [line.partition(":")[0] for line in lines]
    for kind in ("conflict", "procedure"):
        if kind in kinds:
            return kind
    fields = [line for line in lines if line.startswith("field:")]
    if fields:
        return "open" if all(line.endswith(_LEFT_OPEN) for line in fields) else "field"
    return next((kind for kind in ("document", "consent") if kind in kinds), "")


def blockers(lines: Sequence[str], contract: Contract) -> list[str]:
    """Each blocker with the contract's own label for what it names."""
    labels = _labels(contract)
    said: list[str] = []
    for line in lines:
        kind, _, rest = line.partition(": ")
        name, _, state = rest.partition(" ")
        label = labels.get(name, name.replace("_", " "))
        word = {"conflict": "differs: ", "consent": "consent ", "procedure": ""}.get(kind, "")
        said.append(f"{word}{label} {state}".strip())
    return said


def _labels(contract: Contract) -> dict[str, str]:
    return {field.id: field.label for field in contract.fields} | {
        one.type: one.label for one in contract.documents
    }


def alerts(found: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Each alert with a severity: an emergency is critical, somebody who waits a warning."""
    rows = []
    for one in found:
        kind, _, what = str(one["kind"]).partition(":")
        level = {"red_flag": "critical", "person": "warning"}.get(kind, "info")
        words = {"red_flag": "possible emergency", "person": "wants to talk to a person"}
        said = words.get(kind, kind.replace("_", " "))
        rows.append(
            {
                "level": level,
                "words": f"{said}: {what.replace('_', ' ')}" if what else said,
                "turn": one["turn"],
            }
        )
    return rows


def sections(state: Mapping[str, Any], contract: Contract) -> list[dict[str, Any]]:
    """The contract's fields by section, each with its value, the words for it and its origin."""
    out = []
    known = state["fields"]
    for name, title in _TITLES.items():
        fields = [
            _field(field.id, field.label, known.get(field.id) or {})
            for field in contract.fields
            if field.section == name
        ]
        if fields:
            out.append({"title": title, "fields": fields})
    return out


def _field(ident: str, label: str, known: Mapping[str, Any]) -> dict[str, Any]:
    origin = str(known.get("origin", "")) if known.get("status") == "known" else ""
    source = known.get("message") or (known.get("source") if origin == "document" else None)
    turn = known.get("turn")
    where = {
        "turn": f"turn {turn}" if turn else "the conversation",
        "document": "a document",
        "form": "a form",
        "coordinator": f"coordinator {known.get('source', '')}".strip(),
    }
    return {
        "id": ident,
        "label": label,
        "status": str(known.get("status", "unasked")).replace("_", " "),
        "shown": _shown(known.get("value")),
        "said": str(known.get("said", "")),
        "origin": where.get(origin, origin),
        "letter": _LETTERS.get(origin, "P"),
        "source": source,
        "start": known.get("start") or 0,
        "end": known.get("end") or 0,
    }


def papers(state: Mapping[str, Any], contract: Contract) -> list[dict[str, Any]]:
    """The uploads with their states and findings."""
    labels = _labels(contract)
    return [
        {
            "id": key,
            "label": one["label"],
            "type": labels.get(one["type"], str(one["type"]).replace("_", " ")),
            "status": str(one["status"]).replace("_", " "),
            "findings": [
                (str(name).replace("_", " "), _shown(found))
                for name, found in (one["findings"] or {}).items()
            ],
        }
        for key, one in state["documents"].items()
    ]


def _shown(found: Any) -> str:
    if found is None:
        return ""
    if isinstance(found, bool):
        return "yes" if found else "no"
    if isinstance(found, (list, tuple)):
        return ", ".join(_shown(one) for one in found)
    if isinstance(found, Mapping):
        for name in ("shown", "quote", "said"):
            if found.get(name):
                return str(found[name])
        return " ".join(_shown(one) for one in found.values() if not isinstance(one, Mapping))
    return str(found)
