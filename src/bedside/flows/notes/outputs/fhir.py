"""A summarised note as FHIR R4: a Composition, the note as its source, and the Provenance of both."""

from __future__ import annotations

import base64
import hashlib
import re
import uuid
from collections.abc import Mapping
from datetime import datetime
from html import escape
from typing import Any

from bedside.flows.notes.summary import PARTS, TITLES, Part

__all__ = ["to_fhir"]

_LOINC = "http://loinc.org"
_CODES: Mapping[Part | str, tuple[str, str]] = {
    "patient_snapshot": ("51848-0", "Evaluation note"),
    "key_problems": ("11450-4", "Problem list - Reported"),
    "pertinent_history": ("11348-0", "History of Past illness note"),
    "medicines_allergies": ("10160-0", "History of Medication use Narrative"),
    "objective_findings": ("29545-1", "Physical findings note"),
    "labs_imaging": ("30954-2", "Relevant diagnostic tests/laboratory data note"),
    "assessment": ("51848-0", "Evaluation note"),
    "plan": ("18776-5", "Plan of care note"),
}
_XHTML = '<div xmlns="http://www.w3.org/1999/xhtml">'
_SPACE = uuid.UUID("6f1b2c1e-6d5a-5c0e-9a51-7b6f0f6a2d11")
_NO_XML = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


def to_fhir(turn: Mapping[str, Any], text: str, *, at: datetime) -> dict[str, Any]:
    """A collection Bundle: Composition, DocumentReference (the note itself), Device, Provenance.

    Each item's citation stands beside it in the narrative and as an entity of the Provenance.

    Args:
        turn: As the contract has it.
        text: The note's stored text.
        at: The time of the Composition; a time zone is needed.
    """
    turn_id = str(turn["turn_id"])
    urls = {
        name: uuid.uuid5(_SPACE, f"{turn_id}/{name}").urn
        for name in ("composition", "note", "provenance", "device")
    }
    stamp = at.isoformat(timespec="seconds")
    title = str((turn.get("note") or {}).get("title") or "Note")
    sources = list(dict.fromkeys(_sources(turn)))
    composition = {
        "resourceType": "Composition",
        "status": "preliminary",
        "type": _coding("11503-0", "Medical records"),
        "date": stamp,
        "author": [{"reference": urls["device"], "display": "Bedside"}],
        "title": f"Summary of {title}",
        "relatesTo": [{"code": "transforms", "targetReference": {"reference": urls["note"]}}],
        "section": _sections(turn),
    }
    if not composition["section"]:
        del composition["section"]
    data = text.encode()
    note = {
        "resourceType": "DocumentReference",
        "status": "current",
        "identifier": [{"value": str((turn.get("note") or {}).get("id") or "note")}],
        "description": title,
        "content": [
            {
                "attachment": {
                    "contentType": "text/plain; charset=utf-8",
                    "data": base64.b64encode(data).decode(),
                    "size": len(data),
                    "hash": base64.b64encode(
                        hashlib.sha1(data, usedforsecurity=False).digest()
                    ).decode(),
                }
            }
        ],
    }
    device = {
        "resourceType": "Device",
        "deviceName": [{"name": f"Bedside ({turn['answered_by']})", "type": "user-friendly-name"}],
        "version": [{"value": str((turn.get("basis") or {}).get("engine") or "unknown")}],
    }
    provenance = {
        "resourceType": "Provenance",
        "target": [{"reference": urls["composition"]}],
        "recorded": stamp,
        "agent": [{"who": {"reference": urls["device"]}}],
        "entity": [
            {"role": "source", "what": {"reference": urls["note"], "display": cited}}
            for cited in (sources or [title])
        ],
    }
    entries = (
        ("composition", composition),
        ("note", note),
        ("device", device),
        ("provenance", provenance),
    )
    return {
        "resourceType": "Bundle",
        "type": "collection",
        "timestamp": stamp,
        "entry": [{"fullUrl": urls[name], "resource": resource} for name, resource in entries],
    }


def _sources(turn: Mapping[str, Any]) -> list[str]:
    summary = [item["source"] for part in PARTS for item in turn["summary"][part]]
    return summary + [item["source"] for item in turn["plan"]["recommendations"]]


def _sections(turn: Mapping[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for part in PARTS:
        lines = [(_label(item), item["text"], item["source"], "") for item in turn["summary"][part]]
        if lines:
            found.append(_section(part, TITLES[part], lines, ordered=False))
    plan = [
        (
            _label(item),
            item["recommendation"],
            item["source"],
            item["hallucination_guard_note"] or "",
        )
        for item in turn["plan"]["recommendations"]
    ]
    if plan:
        found.append(_section("plan", "Plan", plan, ordered=True))
    return found


def _label(item: Mapping[str, Any]) -> str:
    return f"<b>{_xml(item['about'])}:</b> " if item.get("about") else ""


def _section(
    key: Part | str, title: str, lines: list[tuple[str, str, str, str]], *, ordered: bool
) -> dict[str, Any]:
    tag = "ol" if ordered else "ul"
    items = "".join(
        f"<li>{label}{_xml(text)} <i>({_xml(source)})</i>{f' <b>Look twice: {_xml(guard)}</b>' if guard else ''}</li>"
        for label, text, source, guard in lines
    )
    code, display = _CODES[key]
    return {
        "title": title,
        "code": _coding(code, display),
        "text": {"status": "generated", "div": f"{_XHTML}<{tag}>{items}</{tag}></div>"},
    }


def _xml(text: str) -> str:
    return escape(_NO_XML.sub(" ", text), quote=False)


def _coding(code: str, display: str) -> dict[str, Any]:
    return {"coding": [{"system": _LOINC, "code": code, "display": display}]}
