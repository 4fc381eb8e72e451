"""The blocks of one intake turn: what is cached, and what changes below it (IN-04, IN-05). Pure."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib import resources
from typing import Any

from bedside.core.context import Block, Budget, Cap, Count, Item, Stability, Zone
from bedside.sop.checklist import checklist_forms, clipped, definition, said_value
from bedside.sop.contract import Contract
from bedside.sop.promises import promises
from bedside.sop.state import Document, Known, State

__all__ = [
    "BASE_TOKENS",
    "FOOT",
    "LIMIT_TOKENS",
    "SOFT_TOKENS",
    "SOP_TOKENS",
    "TRUNCATED",
    "base_prompt",
    "blocks",
    "budget",
    "document_line",
    "patient_lines",
]

LIMIT_TOKENS = 10_000
SOFT_TOKENS = 9_500
BASE_TOKENS, SOP_TOKENS, CHECKLIST_TOKENS = 3_900, 400, 600
PATIENT_TOKENS, DOCUMENT_TOKENS, PROMISE_TOKENS = 200, 800, 200
HISTORY_TOKENS, MESSAGE_CHARS = 3_500, 2_000
MESSAGE_TOKENS = 500
MOST_DOCUMENTS = 8
TRUNCATED = "[truncated]"
_MESSAGE_FORMS = (MESSAGE_CHARS, 1_200, 700, 350, 150, 60)
_OLDER = (600, 200)
FOOT = (
    "Reply by the rules above. Choose the ONE most relevant next step for this moment; make no "
    "lists. Ask nothing again that is captured, in the patient context or in the last messages. "
    "Keep the promises listed before anything else. Answer with the JSON object only."
)
HISTORY_TURNS, LEAST_TURNS = 30, 10


@functools.cache
def base_prompt() -> str:
    """Voice and safety: the same for every case."""
    path = resources.files("bedside.sop") / "prompts" / "base.md"
    return path.read_text(encoding="utf-8").strip()


def budget(*, count: Count | None = None, output: int = 1_000) -> Budget:
    """The budget of one intake turn: 10,000 tokens, history cut first above 9,500 (IN-05).

    Args:
        count: The token counter; `None` takes o200k.
        output: Tokens that the model may write, outside the limit.
    """
    return Budget(LIMIT_TOKENS, output=output, soft=(SOFT_TOKENS, "history"), count=count)


def blocks(
    contract: Contract,
    state: State,
    history: Sequence[Item] = (),
    *,
    base: str = "",
    message: str = "",
) -> tuple[Block, ...]:
    """The blocks of one turn in wire order, for any compiler of `Block`s and for `budget()`.

    Base and definition stand above the cache boundary and are never cut: their caps are held by
    `bedside.sop.lint`, because half a safety text is none. Everything below holds its own cap.

    Args:
        contract: The case's contract.
        state: What the case knows.
        history: Messages, oldest first, one item each with its role. Without the message itself.
        base: The base prompt where a deployer has another; ours where it is empty.
        message: What the person just wrote.
    """
    last = next((item.body for item in reversed(history) if item.role == "assistant"), "")
    offered = promises(last)
    found = [
        _ours("base", base or base_prompt(), stability="static"),
        _ours("sop", definition(contract), stability="static"),
    ]
    if history:
        found.append(_history(history))
    forms = checklist_forms(contract, state)
    found += [
        _data("checklist", [_item("checklist", forms)], CHECKLIST_TOKENS, zone="primacy"),
        _data("patient", _patient(contract, state), PATIENT_TOKENS, zone="primacy"),
        _documents(state),
    ]
    if offered:
        found.append(_data("promises", _promised(offered), PROMISE_TOKENS, zone="recency"))
    if message:
        forms = tuple(dict.fromkeys(_truncated(message, most) for most in _MESSAGE_FORMS))
        cap = Cap(tokens=MESSAGE_TOKENS)
        found.append(_data("message", [_item("message", forms)], cap, zone="recency", priority=100))
    found.append(
        Block(
            "instruction",
            Item(FOOT, key="instruction"),
            slot="tail",
            zone="recency",
            stability="turn",
            protected=True,
            priority=100,
            trust="ours",
        )
    )
    return tuple(found)


def _ours(name: str, text: str, *, stability: Stability) -> Block:
    return Block(
        name,
        Item(text, key=name),
        slot="system",
        zone="primacy",
        stability=stability,
        protected=True,
        priority=100,
        trust="ours",
    )


def _item(key: str, forms: Sequence[str], *, rank: float = 0.0) -> Item:
    return Item(forms[0], key=key, forms=forms[1:], rank=rank)


def _data(
    name: str, items: Sequence[Item], cap: Cap | int, *, zone: Zone, priority: int = 90
) -> Block:
    return Block(
        name,
        items,
        slot="tail",
        zone=zone,
        stability="turn",
        protected=True,
        priority=priority,
        cap=cap,
        shrink="cut_mark",
    )


def _truncated(text: str, most: int) -> str:
    """At most so many characters, the notice included; at a word's end where one is near."""
    if len(text) <= most:
        return text
    room = text[: most - len(TRUNCATED) - 1]
    at_word = room.rsplit(None, 1)[0] if len(room.split()) > 1 else room
    kept = at_word if len(at_word) > len(room) // 2 else room
    return f"{kept.rstrip()} {TRUNCATED}"


def patient_lines(contract: Contract, state: State, *, most: int = 70) -> tuple[str, ...]:
    """Who the person is and what is wanted, as far as it is known; values of `most` characters."""

    def of(*names: str) -> str:
        found = [said_value(state.get(name)) for name in names if state.value(name) is not None]
        return clipped(" ".join(found), most) or "(not known)"

    wanted = of("procedure_name") if contract.generic else contract.title
    return (
        (
            f"Name: {of('name')}. Age: {of('age')}. Country: {of('country_of_residence')}. "
            f"Writing: {of('who')}."
        ),
        f"Procedure (best reading): {wanted}; side: {of('procedure_side', 'side')}.",
        f"Known conditions: {of('key_comorbidities')}. Allergies: {of('allergies')}.",
        f"Funding: {of('funding_source')}. Budget: {of('budget')}.",
    )


def _patient(contract: Contract, state: State) -> list[Item]:
    widths = [patient_lines(contract, state, most=most) for most in (70, 30, 12)]
    return [
        _item(f"patient {number}", tuple(dict.fromkeys(forms)), rank=-float(number))
        for number, forms in enumerate(zip(*widths, strict=True))
    ]


def _promised(offered: Sequence[str]) -> list[Item]:
    return [
        _item(
            f"promise {number}",
            tuple(dict.fromkeys(clipped(line, most) for most in (240, 120, 50, 20))),
            rank=float(number),
        )
        for number, line in enumerate(offered)
    ]


_WORDS = {
    "queued": "waiting to be read, {eta}; findings pending; ask something else meanwhile",
    "processing": "being read, {eta}; findings pending; ask something else meanwhile",
    "stored": "kept, not interpreted; a person will look at it",
    "failed_transient": "not read yet and being tried again; ignore it for now",
    "failed_permanent": "could not be read; ask to describe it in words or to upload it again",
    "expired": "expired before it was read; ask to upload it again",
    "not_applicable": "not needed for this case",
}
_LOCKED = "locked with a password; ask to upload it without one, or to describe it in words"
_FEW_FINDINGS = 4


def document_line(document: Document, *, most: int = 12, width: int = 60) -> str:
    """One upload with the words of its status; findings only where it was read.

    Args:
        document: The upload.
        most: Findings to show; what is left out is counted.
        width: Characters of the label and of each finding.
    """
    label = clipped(document.label, width)
    if document.status == "complete":
        words = _read(document, most=most, width=width)
    else:
        eta = document.eta_seconds
        waiting = f"ETA about {eta} s" if eta is not None else "time not known"
        locked = document.status == "failed_permanent" and document.why == "locked"
        words = _LOCKED if locked else _WORDS[document.status].format(eta=waiting)
    kind = clipped(document.type, 42)
    return f"{label} (type: {kind}, status: {document.status}): {words}"


def _read(document: Document, *, most: int, width: int) -> str:
    stated = [(name, found) for name, found in document.findings.items() if found is not None]
    if not stated:
        return "read; it states none of the findings that this SOP asks for"
    shown = [f"{clipped(name, 42)} {_finding(found, width)}" for name, found in stated[:most]]
    if len(stated) > most:
        shown.append(f"+{len(stated) - most} more")
    return "read; findings: " + "; ".join(shown)


def _finding(found: Any, width: int) -> str:
    if isinstance(found, Mapping) and "value" in found:
        unit = found.get("unit") or ""
        return clipped(f"{found['value']} {unit}", width)
    return clipped(said_value(Known(status="known", value=found)), width)


def _documents(state: State) -> Block:
    newest = sorted(
        state.documents.items(), key=lambda row: (row[1].since_turn or 0, row[0]), reverse=True
    )
    items = [
        _item(
            f"document {key}",
            tuple(
                dict.fromkeys(
                    document_line(document, most=most, width=width)
                    for most, width in ((12, 60), (_FEW_FINDINGS, 40), (1, 24), (0, 12))
                )
            ),
            rank=-float(number),
        )
        for number, (key, document) in enumerate(newest[:MOST_DOCUMENTS])
    ]
    if len(newest) > MOST_DOCUMENTS:
        items.append(Item(f"+{len(newest) - MOST_DOCUMENTS} more", key="more", rank=-99.0))
    if not items:
        items = [Item("(no documents on file)", key="none")]
    return _data("documents", items, DOCUMENT_TOKENS, zone="middle")


def _history(history: Sequence[Item]) -> Block:
    """The last 30 turns, a unit each. Long messages have short forms, so the floor can yield."""
    made: list[Item] = []
    number, answered = 0, False
    for item in history:
        if item.role == "user" and answered:
            number, answered = number + 1, False
        answered = answered or item.role == "assistant"
        forms = dict.fromkeys(_truncated(item.body, most) for most in (MESSAGE_CHARS, *_OLDER))
        first, *shorter = forms
        made.append(
            replace(
                item, body=first, unit=f"turn {number}", tokens=None, forms=(*shorter, TRUNCATED),
                span=None if first != item.body else item.span,
            )
        )  # fmt: skip
    return Block(
        "history",
        [item for item in made if int(item.unit.split()[1]) > number - HISTORY_TURNS],
        slot="history",
        zone="middle",
        stability="session",
        priority=10,
        keep=LEAST_TURNS,
        cap=HISTORY_TOKENS,
        shrink="drop_oldest",
    )
