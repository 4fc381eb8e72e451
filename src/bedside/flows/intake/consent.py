"""The person's word on sharing: asked for, confirmed, refused (IN-16). Pure."""

from __future__ import annotations

import re

from bedside.core.value import value
from bedside.flows.intake.case import Case, Consent, Match
from bedside.flows.intake.signals import agrees, disagrees, doubts
from bedside.sop.consent import consent
from bedside.sop.contract import Contract
from bedside.sop.state import State

__all__ = [
    "PURPOSE",
    "Word",
    "answer",
    "open_confirmation",
    "shared_fields",
    "speaks_of_matching",
    "wants_matching",
]

PURPOSE = "to say whether and how they can treat the person"

_HEDGE = re.compile(
    r"\b(?:but|except|only if|unless|wait|before that|first|however)\b", re.IGNORECASE
)
_REFUSE = re.compile(
    r"\b(?:do not|don't|don’t|dont|please don't|never) (?:share|send|contact|proceed|go ahead|match|start)\b"
    r"|\b(?:cancel|withdraw|take (?:it|that) back|changed my mind|hold off|stop (?:it|that|sharing)|not (?:yet|now|ready|today))\b",
    re.IGNORECASE,
)

_WITHDRAW = re.compile(
    r"\b(?:withdraw|take back|revoke|cancel)\b[^.!?]{0,30}\b(?:consent|agreement|permission|it|that|everything|my (?:case|data|details))\b"
    r"|\b(?:do not|don't|don’t|stop) (?:shar(?:e|ing)|send(?:ing)?) (?:my|anything|it|this|that)\b",
    re.IGNORECASE,
)


@value
class Word:
    """What the message says of consent: "" for nothing, "wants", "yes" or "no"."""

    kind: str = ""


def wants_matching(text: str) -> bool:
    """Does the person ask that hospitals be looked for? "Not ready to ..." does not."""
    return consent(text).answer == "yes"


def speaks_of_matching(text: str) -> bool:
    """Is the message about looking for hospitals, wished or not?"""
    return consent(text).answer != "none"


def answer(case: Case, text: str) -> Word:  # noqa: PLR0911 - one return for each answer
    """What the message says of consent, given what was asked last."""
    refuses = _REFUSE.search(text) is not None
    if case.asking == "@confirm":
        if refuses or disagrees(text):
            return Word(kind="no")
        if (
            agrees(text)
            and not _HEDGE.search(text)
            and not text.rstrip().endswith("?")
            and not doubts(text)
        ):
            return Word(kind="yes")
        if (
            re.search(
                r"\bi (?:agree|consent|confirm|accept)\b|\bagreed\b|\bshare it\b|أوافق|موافق|सहमत",
                text,
                re.IGNORECASE,
            )
            and not refuses
        ):
            return Word(kind="yes")
        return Word()
    if case.asking == "@consent":
        if refuses or disagrees(text):
            return Word(kind="no")
        said = consent(text, asked=True).answer
        if agrees(text) or said == "yes":
            return Word(kind="wants")
        return Word(kind="no" if said == "no" else "")
    if refuses and case.consent.state in {"asked", "confirming"}:
        return Word(kind="no")
    if case.consent.state == "confirmed" and _WITHDRAW.search(text):
        return Word(kind="withdraws")
    if wants_matching(text):
        return Word(kind="wants")
    if consent(text).answer == "no" and case.status == "intake":
        return Word(kind="not_yet")
    return Word()


def shared_fields(contract: Contract, state: State) -> tuple[str, ...]:
    """What would be shared: the labels of the known fields, in the contract's order."""
    found = ["the procedure"]
    found += [field.label for field in contract.fields if state.get(field.id).status == "known"]
    if any(one.status in {"complete", "stored"} for one in state.documents.values()):
        found.append("the documents")
    return tuple(dict.fromkeys(found))


def open_confirmation(contract: Contract, state: State, matches: tuple[Match, ...]) -> Consent:
    """The confirmation to put before the person; nothing is shared by it."""
    return Consent(
        state="confirming",
        recipients=tuple(one.name for one in matches),
        purpose=PURPOSE,
        fields=shared_fields(contract, state),
        waived=not contract.document_findings_complete(state),
    )
