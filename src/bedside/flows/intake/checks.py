"""What is checked of a model's message before anybody sees it (IN-12). Pure.

A failing check sends the message back once. After that style is counted and let pass; a diagnosis,
a prescription, a promised outcome and a premature match are cut out.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Sequence
from typing import Any

from bedside.core.context import Assembly
from bedside.core.turn import Check, Draft, Finding
from bedside.flows.intake.bounds import beyond, foreign
from bedside.flows.intake.lexicon import data
from bedside.sop.blocks import base_prompt
from bedside.sop.contract import Contract
from bedside.sop.find import bundled
from bedside.sop.scope import premature
from bedside.sop.state import Document, State

__all__ = ["FATAL", "checks_of", "dishonest"]

FATAL = frozenset(
    {"diagnosis", "prescription", "outcome_promise", "premature_match", "document_status"}
)
_FORM = (
    "It was not the one JSON envelope that was asked for: write that object now, and nothing before "
    "or after it"
)
_WHY = {
    "language": "it is not in the language of the conversation: write in English alone",
    "diagnosis": "it names an illness that the person did not: leave that to a doctor",
    "prescription": "it speaks of a medicine or a dose: leave that to a doctor",
    "outcome_promise": "it speaks of how things will turn out: leave that to a doctor",
    "premature_match": "it announces matching while something mandatory is missing: ask for that instead",
    "document_status": "it says of a document what its status does not say: repeat the status as given",
    "not_in_part": "it says what is not a coordinator's part: thank, note, repeat the person's own words, explain a step, then ask",
    "two_questions": "it asks more than one question: keep the most useful one",
    "repeated_question": "it asks for what is captured already: ask for something that is still needed",
    "no_question": "it asks nothing although something is still needed",
}


def checks_of(
    contract: Contract,
    state: State,
    *,
    voice: Callable[[str], Sequence[Any]] | None = None,
    said: Sequence[str] = (),
    agreed: bool = False,
) -> tuple[Check, ...]:
    """The checks of one model step, in their order; without `voice` those of the finished message."""
    missing = contract.missing_for_matching(state)

    def form(draft: Draft, assembly: Assembly) -> Sequence[Finding]:
        del assembly
        if not draft.by.startswith("model") or draft.payload is not None:
            return ()
        return (Finding(id="IN-11", want="repair", otherwise="flag", detail=_FORM),)

    def scope(draft: Draft, assembly: Assembly) -> Sequence[Finding]:
        del assembly
        return _spans(draft, premature(draft.text, missing=missing), "premature_match")

    def honest(draft: Draft, assembly: Assembly) -> Sequence[Finding]:
        del assembly
        return _spans(
            draft, dishonest(draft.text, tuple(state.documents.values())), "document_status"
        )

    def manner(draft: Draft, assembly: Assembly) -> Sequence[Finding]:
        del assembly
        if voice is None or not draft.by.startswith("model"):
            return ()
        return [
            Finding(
                id="IN-12",
                want="repair",
                otherwise="remove" if one.id in FATAL else "flag",
                detail=str(_WHY.get(one.id, one.id)),
                at=(one.start, one.end),
            )
            for one in voice(draft.text)
        ]

    def bounds(draft: Draft, assembly: Assembly) -> Sequence[Finding]:
        del assembly
        if not draft.by.startswith("model"):
            return ()
        if voice is not None and foreign(draft.text):
            language = _WHY["language"]
            return (
                Finding(
                    id="IN-12", want="repair", otherwise="remove", detail=language,
                    at=(0, len(draft.text)),
                ),
            )  # fmt: skip
        return [
            Finding(
                id="IN-12", want="repair", otherwise="remove", detail=str(_WHY.get(one.id, one.id)),
                at=(one.start, one.end),
            )
            for one in beyond(
                draft.text,
                said=said,
                agreed=agreed,
                about=(contract.title, *contract.names),
                vocabulary=_english() | frozenset(_words(" ".join(said))),
            )
        ]  # fmt: skip

    return (scope, honest) if voice is None else (form, scope, honest, manner, bounds)


def _words(text: str) -> list[str]:
    return [word.casefold() for word in re.findall(r"[^\W\d_]{4,}", text)]


@functools.cache
def _english() -> frozenset[str]:
    """The English words of our own texts: the base prompt, the templates, the questions."""
    texts = [base_prompt(), *map(str, data("phrases")["en"].values())]
    for contract in bundled().values():
        texts += [field.ask.get("en", "") for field in contract.fields]
        texts += [field.label for field in contract.fields]
        texts += [contract.title, contract.definition()]
    return frozenset(word.rstrip("s") for word in _words(" ".join(texts))) | frozenset(
        _words(" ".join(texts))
    )


def _spans(draft: Draft, sentences: Sequence[str], why: str) -> list[Finding]:
    if not draft.by.startswith("model"):
        return []
    found: list[Finding] = []
    for sentence in sentences:
        at = draft.text.find(sentence)
        if at >= 0:
            found.append(
                Finding(
                    id="IN-12", want="repair", otherwise="remove", detail=_WHY[why],
                    at=(at, at + len(sentence)),
                )
            )  # fmt: skip
    return found


_SENTENCE = re.compile(r"[^.!?\n]+[.!?]?")
_FAILED = re.compile(
    r"\b(?:extraction|processing|upload|reading|file|document|report|x-?ray|scan|image|ocr)\b[^.!?]{0,40}"
    r"\b(?:fail(?:ed|s|ure)?|error|unreadable|corrupt(?:ed)?|could ?n[o']t be (?:read|processed|opened|extracted)|unable to (?:read|process|open|extract)|did ?n[o']t (?:work|go through|upload))\b"
    r"|\b(?:error|problem|issue|trouble|difficulty)\b[^.!?]{0,30}\b(?:read|process|open|load|extract|upload|with)\w*\b[^.!?]{0,20}\b(?:file|document|report|x-?ray|scan|image)\b"
    r"|\b(?:can(?:no|')t|could ?n[o']t|unable to|was not able to|wasn't able to) (?:read|open|process|extract|see|access)\b[^.!?]{0,40}"
    r"\b(?:file|document|report|x-?ray|scan|image|upload|results?)\b",
    re.IGNORECASE,
)
_READ = re.compile(
    r"\b(?:i(?:'ve| have)? (?:read|reviewed|looked at|checked|gone through|seen)|(?:your|the) (?:report|x-?ray|scan|document|file|blood tests?|results?) (?:shows?|says?|indicates?|confirms?|reveals?))\b",
    re.IGNORECASE,
)


def dishonest(text: str, documents: Sequence[Document]) -> tuple[str, ...]:
    """Sentences that say of documents what no document's status says (IN-07).

    "Failed" where none failed for good, and "it shows" where none was read.
    """
    failed = any(one.status in {"failed_permanent", "expired"} for one in documents)
    read = any(one.status == "complete" for one in documents)
    return tuple(
        sentence.strip()
        for sentence in _SENTENCE.findall(text)
        if sentence.strip()
        and not sentence.rstrip().endswith("?")
        and ((not failed and _FAILED.search(sentence)) or (not read and _READ.search(sentence)))
    )
