"""What a person reads on a terminal. Pure: values in, text out."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

__all__ = [
    "attached",
    "audit",
    "context",
    "cost",
    "doctor",
    "hits",
    "imported",
    "ingested",
    "patients",
    "receipt_line",
    "turn",
    "verdict",
]

_WIDTH = 100


def _rejected(report: Mapping[str, Any]) -> list[str]:
    return [f"rejected {item['path']}: {item['reason']}" for item in report["rejected"]]


def imported(report: Mapping[str, Any]) -> str:
    """An import's report."""
    n = sum(report["resources"].values())
    lines = [f"{len(report['patients'])} patients, {n:,} resources"]
    if report["unknown"]:
        kinds = ", ".join(f"{kind} {n:,}" for kind, n in sorted(report["unknown"].items()))
        lines.append(f"kept but not understood: {kinds}")
    return "\n".join([*lines, *_rejected(report)])


def cost(found: Mapping[str, Any]) -> str:
    """What a conversation cost, in all and by model."""
    whole = found["cost_usd"]
    told = f"${whole:.4f}" if whole is not None else f"not known; ${found['known_usd']:.4f} so far"
    if not found["calls"]:
        told = "nothing: no model was called"
    return "\n".join(
        [
            f"{found['turns']} turns, {found['calls']} calls: {told}",
            *(
                f"{one['model']}: {one['calls']} calls, {one['input']:,} tokens in, "
                f"{one['output']:,} out"
                for one in found["by_model"]
            ),
        ]
    )


def patients(found: Sequence[Mapping[str, Any]]) -> str:
    """The patient list."""
    if not found:
        return "No patient is here. `bedside demo` loads synthetic ones; `bedside import` yours."
    return "\n".join(
        f"{item['id']}  {item['name']}, {item['sex'] or 'sex not recorded'}, "
        f"born {item['birth_date'] or 'not recorded'}"
        for item in found
    )


def attached(found: Sequence[Mapping[str, Any]]) -> str:
    """Attached documents."""
    return "\n".join(
        f"{item['document_id'] or 'left out'}  {item['title']}: {item['status']}, "
        f"index {item['index']}"
        for item in found
    )


def ingested(report: Mapping[str, Any]) -> str:
    """An ingest's report."""
    head = (
        f"{report['documents']} documents, {report['chunks']} chunks, {report['skipped']} unchanged"
    )
    if report["egress"] != "none":
        head += f"\nFor their vectors the texts go to {report['egress']}."
    return "\n".join([head, *(f"note: {said}" for said in report["warnings"]), *_rejected(report)])


def hits(found: Mapping[str, Any]) -> str:
    """Search results."""
    lines = [f"Read as {one['read']}: {one['written']}" for one in found["read_as"]]
    if found["hits"] and found["in_no_passage"]:
        lines.append(f"In no passage: {', '.join(found['in_no_passage'])}")
    if not found["hits"]:
        lines.append(f"Nothing found: {found.get('why_empty') or 'no passage fits'}")
    for hit in found["hits"]:
        lines.append(f"{hit['rank']}. {hit['document']} | {hit['section']}")
        short = textwrap.shorten(" ".join(hit["text"].split()), 220, placeholder=" ...")
        lines += textwrap.wrap(short, _WIDTH - 3, initial_indent="   ", subsequent_indent="   ")
    lines += [f"degraded: {why}" for why in found["degraded"]]
    if found["egress"] != "none":
        lines.append(f"Sent for its vector: {found['egress']}")
    return "\n".join(lines)


def turn(body: Mapping[str, Any]) -> str:
    """An answer with its sources and its receipt line."""
    lines = [body["answer"] or "No supported answer was found.", ""]
    seen: set[int] = set()
    for cited in body["citations"]:
        if cited["n"] in seen:
            continue
        seen.add(cited["n"])
        source = cited["source"]
        quote = textwrap.shorten(" ".join(cited["quote"].split()), 110, placeholder=" ...")
        when = f", {source['date']}" if source["date"] else ""
        lines.append(f"[{cited['n']}] {source['kind']} {source['id']}{when}")
        lines.append(f'    {cited["start"]}-{cited["end"]}: "{quote}"')
    lines += [f"Contradiction: {item['text']}" for item in body.get("contradictions", ())]
    lines += [f"Not found: {item}" for item in body["missing"]]
    lines += [f"Removed ({item['why']}): {item['claim']}" for item in body["removed"]]
    lines += [f"Degraded: {item}" for item in body["degraded"]]
    if body["status"] != "complete":
        lines.append(f"This answer is {body['status']}: it broke off. Ask again.")
    return "\n".join([*lines, "", receipt_line(body)])


def receipt_line(body: Mapping[str, Any]) -> str:
    """One line: tokens, who answered, what left."""
    receipt = body.get("receipt")
    tokens = (
        f"{receipt['total']:,} of {receipt['limit']:,} tokens" if receipt else "no context compiled"
    )
    by = {
        "rules": "answered by rules",
        "extractive": "extracted from the sources, no model",
        None: "context only",
    }.get(body["answered_by"], f"answered by {body['answered_by']}")
    left = "nothing left this machine" if body["egress"] == "none" else body["egress"]
    return f"{tokens}, {by}, {left}"


def context(body: Mapping[str, Any]) -> str:
    """A compiled context: the prompt and the receipt by block."""
    lines: list[str] = []
    for part in body.get("prompt", ()):
        lines += [f"--- {part['role']}", part["content"].rstrip()]
    receipt = body.get("receipt") or {"blocks": [], "total": 0, "limit": 0, "cacheable": 0}
    lines.append("---")
    for block in receipt["blocks"]:
        dropped = f", {len(block['dropped'])} left out" if block["dropped"] else ""
        lines.append(
            f"{block['given']:>6} of {block['wanted']:>6}  {block['name']} "
            f"({block['zone']}, {block['stability']}{dropped})"
        )
    lines.append(
        f"{receipt['total']:,} of {receipt['limit']:,} tokens, {receipt['cacheable']:,} cacheable"
    )
    return "\n".join(lines)


def audit(entries: Sequence[Mapping[str, Any]]) -> str:
    """The audit trail."""
    return "\n".join(
        f"{item['seq']:>6}  {item['at'][:19]}  {item['actor']}  {item['action']}  "
        f"{item['patient'] or '-'}  {item['purpose']}"
        for item in entries
    )


def verdict(found: Mapping[str, Any]) -> str:
    """Whether the audit chain is whole."""
    if found["ok"]:
        return f"The chain of {found['entries']:,} entries is whole."
    return f"The chain is broken at entry {found['first_bad']}."


def doctor(found: Mapping[str, Any]) -> str:
    """Checks, then each setting with where it came from."""
    lines = [
        f"{'ok  ' if item['ok'] else 'LOOK'}  {item['name']}: {item['detail']}"
        for item in found["checks"]
    ]
    lines.append("")
    lines += [f"{item['name']} = {item['shown']}  ({item['origin']})" for item in found["settings"]]
    return "\n".join(lines)
