"""The blocks of one intake turn: what is cached, and what changes below it (IN-04, IN-05). Pure."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from importlib import resources

from bedside.core.context import Block, Cap, Item
from bedside.sop.checklist import checklist, definition, said_value
from bedside.sop.contract import Contract
from bedside.sop.promises import promises
from bedside.sop.state import Document, State

__all__ = [
    "BASE_TOKENS",
    "LIMIT_TOKENS",
    "SOFT_TOKENS",
    "base_prompt",
    "blocks",
    "document_line",
    "patient_lines",
]

LIMIT_TOKENS = 10_000
SOFT_TOKENS = 9_500
BASE_TOKENS, SOP_TOKENS, CHECKLIST_TOKENS = 3_900, 400, 600
PATIENT_TOKENS, DOCUMENT_TOKENS, PROMISE_TOKENS = 200, 800, 200
HISTORY_TOKENS, MESSAGE_CHARS = 3_500, 2_000
MOST_DOCUMENTS = 8
HISTORY_TURNS, LEAST_TURNS = 30, 10


@functools.cache
def base_prompt() -> str:
    """Voice and safety: the same for every case."""
    path = resources.files("bedside.sop") / "prompts" / "base.md"
    return path.read_text(encoding="utf-8").strip()


def blocks(
    contract: Contract,
    state: State,
    history: Sequence[Item] = (),
    *,
    base: str = "",
    message: str = "",
) -> tuple[Block, ...]:
    """The blocks of one turn in wire order.

    Args:
        contract: The case's contract.
        state: What the case knows.
        history: Messages, oldest first, one item each with its role.
        base: The base prompt where a deployer has another; ours where it is empty.
        message: What the person just wrote.
    """
    last = next((item.body for item in reversed(history) if item.role == "assistant"), "")
    offered = promises(last)
    found = [
        _ours("base", base or base_prompt(), BASE_TOKENS),
        _ours("sop", definition(contract), SOP_TOKENS),
        _block("checklist", [checklist(contract, state)], CHECKLIST_TOKENS, zone="primacy"),
        _block("patient", list(patient_lines(contract, state)), PATIENT_TOKENS, zone="primacy"),
        _documents(state),
    ]
    if offered:
        found.append(_block("promises", list(offered), PROMISE_TOKENS, zone="recency"))
    if history:
        found.append(_history(history))
    if message:
        found.append(
            Block(
                "message",
                Item(message, key="message"),
                slot="tail",
                zone="recency",
                stability="turn",
                protected=True,
                priority=100,
                cap=Cap(tokens=500, chars=MESSAGE_CHARS),
                shrink="cut_mark",
            )
        )
    return tuple(found)


def _ours(name: str, text: str, tokens: int) -> Block:
    return Block(
        name,
        Item(text, key=name),
        slot="system",
        zone="primacy",
        stability="static",
        protected=True,
        priority=100,
        trust="ours",
        cap=Cap(tokens=tokens),
        shrink="cut_section",
    )


def _block(name: str, lines: list[str], tokens: int, *, zone: str) -> Block:
    return Block(
        name,
        [Item(line, key=f"{name} {k}", rank=-float(k)) for k, line in enumerate(lines)],
        slot="tail",
        zone=zone,  # type: ignore[arg-type]
        stability="turn",
        protected=True,
        priority=90,
        cap=Cap(tokens=tokens),
        shrink=("drop_lowest", "cut_mark"),
    )


def patient_lines(contract: Contract, state: State) -> tuple[str, ...]:
    """Who the person is and what is wanted, as far as it is known."""

    def of(*names: str) -> str:
        found = [said_value(state.get(name)) for name in names if state.value(name) is not None]
        return " ".join(found) or "(not known)"

    return (
        f"Name: {of('name')}. Age: {of('age')}. Country: {of('country_of_residence')}.",
        f"Procedure (best reading): {contract.title}; side: {of('side', 'procedure_side')}.",
        f"Known conditions: {of('key_comorbidities')}.",
        f"Funding: {of('funding_source')}. Budget: {of('budget')}.",
    )


_WORDS = {
    "queued": "waiting to be read, about {eta} s; ask something else meanwhile",
    "processing": "being read, about {eta} s; ask something else meanwhile",
    "stored": "kept, not interpreted; a person will look at it",
    "failed_transient": "could not be read yet and is being tried again; say nothing of it",
    "failed_permanent": "could not be read; ask to describe it in words or to upload it again",
    "expired": "expired before it was read; ask to upload it again",
    "not_applicable": "not needed for this case",
}


def document_line(document: Document) -> str:
    """One upload with the words of its status; findings only where it was read."""
    if document.status == "complete":
        found = "; ".join(f"{name}: {value}" for name, value in document.findings.items())
        words = f"read; findings: {found}" if found else "read; nothing of note was found in it"
    else:
        eta = document.eta_seconds if document.eta_seconds is not None else "some"
        words = _WORDS[document.status].format(eta=eta)
    return f"{document.label} (type: {document.type}, status: {document.status}): {words}"


def _documents(state: State) -> Block:
    newest = sorted(
        state.documents.items(), key=lambda row: (row[1].since_turn or 0, row[0]), reverse=True
    )
    lines = [document_line(document) for _, document in newest[:MOST_DOCUMENTS]]
    if len(newest) > MOST_DOCUMENTS:
        lines.append(f"+{len(newest) - MOST_DOCUMENTS} more")
    return _block("documents", lines or ["(no documents on file)"], DOCUMENT_TOKENS, zone="middle")


def _history(history: Sequence[Item]) -> Block:
    return Block(
        "history",
        tuple(history[-2 * HISTORY_TURNS :]),
        slot="history",
        zone="middle",
        stability="session",
        priority=10,
        keep=LEAST_TURNS,
        cap=Cap(tokens=HISTORY_TOKENS, chars_each=MESSAGE_CHARS),
        shrink="drop_oldest",
    )
