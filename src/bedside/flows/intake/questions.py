"""What to ask next: one thing, the first that is still needed (IN-03, IN-23). Pure."""

from __future__ import annotations

from bedside.flows.intake.case import CHOOSE, CONFIRM, CONFLICT, CONSENT, UPLOAD
from bedside.flows.intake.signals import asks_on
from bedside.flows.intake.situation import Situation
from bedside.sop.contract import Contract, Field
from bedside.sop.state import State

__all__ = [
    "STAGES",
    "TIMES",
    "first_gap",
    "next_question",
    "question_text",
    "staged_field",
    "still_open",
]

STAGES = ("procedure", "demographics", "medical", "financial")
WORTH_ASKING = frozenset({"budget", "timeline_preference", "preferred_destination"})
"""Optional fields that are asked for; the others are only taken where they are offered."""
TIMES = 2
"""A field is asked for at most so often, unless the person asks what is needed."""


def next_question(now: Situation, *, staged: bool = False) -> str:  # noqa: C901, PLR0911 - one order, readable as it stands
    """A field's id, one of the `@` names, or "" where nothing is left to ask."""
    case, contract = now.case, now.contract
    if case.conflicts:
        return f"{CONFLICT}:{case.conflicts[0].field}"
    if case.status == "consultation":
        return ""
    if case.status == "matching":
        return CHOOSE if case.matches and not case.chosen else ""
    if case.consent.state == "confirming" and now.may_match:
        return CONFIRM
    if (open_one := still_open(now)) is not None:
        return open_one
    if now.heard.word == "wants" and (gap := _returning(now)):
        return gap
    field = staged_field(contract, case.facts) if staged else contract.next_field(case.facts)
    done = frozenset({"procedure_name"} if contract.generic and case.procedure_words else ())
    if field is not None and field.id in done:
        field = _after(contract, case.facts, field.id)
    needed = field is not None and field.when != "optional" and not _again(case.facts, field)
    if field is not None and needed:
        return field.id
    if contract.missing_documents(case.facts) and "upload" not in case.told:
        return UPLOAD
    if field is not None and field.when == "optional" and field.id not in WORTH_ASKING:
        field = _worth(contract, case.facts, done)
    if field is not None:
        return field.id
    if now.may_match and case.consent.state in {"none", "asked"}:
        return CONSENT
    # Whoever asks what is needed is told; nobody else hears a question a third time.
    return first_gap(now) if "blocked" in case.told and asks_on(now.heard.text) else ""


def first_gap(now: Situation) -> str:
    """The first field that matching lacks and that may still be answered; "" for none."""
    return next(iter(_gaps(now)), "")


def _gaps(now: Situation) -> tuple[str, ...]:
    named = bool(now.case.procedure_words) and now.contract.generic
    return tuple(
        gap.id
        for gap in now.missing
        if now.contract.field(gap.id)
        and now.case.facts.get(gap.id).status != "declined"
        and not (named and gap.id == "procedure_name")
    )


def _returning(now: Situation) -> str:
    """The first of them that has not been asked for as often as a field may be; "" for none."""
    return next((one for one in _gaps(now) if now.case.facts.get(one).asked < TIMES), "")


def still_open(now: Situation) -> str | None:
    """The question that stands: the person asked something instead of answering.

    It counts as asked once more, so that no field is asked for oftener than `TIMES`.
    """
    asked = now.heard.before_asking
    if not asked or now.heard.reading.answered or now.heard.procedure:
        return None
    field = now.contract.field(asked)
    held = now.case.facts.get(asked)
    if field is None or held.status != "asked" or held.asked >= TIMES:
        return None
    said = now.heard
    flagged = any(
        one.kind.startswith("red_flag") and one.turn == now.case.facts.turn - 1
        for one in now.case.alerts
    )
    turned = bool(said.signals.asks) or said.signals.wants_person or not said.text or flagged
    return asked if turned and not now.heard.reading.said else None


def _worth(contract: Contract, state: State, done: frozenset[str]) -> Field | None:
    """An optional field that a match rests on, else one that was left open before."""
    for field in contract.fields:
        if field.id in WORTH_ASKING and state.get(field.id).status == "unasked":
            return field
    for field in contract.fields:
        known = state.get(field.id)
        if field.id in done or not contract.applies(field, state):
            continue
        if known.status == "asked" and known.asked < TIMES:
            return field
    return None


def _again(state: State, field: Field) -> bool:
    return state.get(field.id).status == "asked"


def _after(contract: Contract, state: State, name: str) -> Field | None:
    return contract.next_field(state.with_status(name, "not_applicable"))


def staged_field(contract: Contract, state: State) -> Field | None:
    """The next field stage by stage: the procedure, the person, the history, the means."""
    again: Field | None = None
    optional: Field | None = None
    for stage in STAGES:
        for field in contract.fields:
            if field.section != stage or not contract.applies(field, state):
                continue
            known = state.get(field.id)
            if known.status == "unasked":
                if field.when != "optional":
                    return field
                optional = optional or field
            elif known.status == "asked" and known.asked < TIMES:
                again = again or field
    return optional or again


def question_text(contract: Contract, name: str, language: str) -> str:
    """The field's question in the language, in English where it has none."""
    field = contract.field(name)
    if field is None:
        return ""
    return field.ask.get(language) or field.ask.get("en") or f"What about {field.label}?"
