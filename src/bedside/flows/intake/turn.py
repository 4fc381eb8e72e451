"""One intake turn: heard, situated, answered, changed. Pure functions over a view."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from bedside.core.errors import InvalidArgument
from bedside.core.turn import Change, Draft, Got, Need, Plan, TurnRequest, got
from bedside.flows.flow import Done, Opened, View
from bedside.flows.intake import manner
from bedside.flows.intake.book import Book
from bedside.flows.intake.case import CHOOSE, CONFIRM, CONSENT, Case, applied, change
from bedside.flows.intake.envelope import Envelope
from bedside.flows.intake.hear import Heard, hear
from bedside.flows.intake.matcher import catalogue
from bedside.flows.intake.needs import CaseUploads
from bedside.flows.intake.phrases import SPOKEN
from bedside.flows.intake.questions import next_question, question_text
from bedside.flows.intake.reconcile import model_facts, reconcile
from bedside.flows.intake.signals import signals
from bedside.flows.intake.situation import Situation, situate
from bedside.flows.intake.urgent import urgent_reply
from bedside.flows.intake.view import (
    as_checklist,
    as_readiness,
    as_state,
    revision_hash,
    status_counts,
)
from bedside.flows.intake.writer import House, Reply, answer_parts, question_part, write
from bedside.grounding.repair import NOTHING, WITHHELD
from bedside.sop.promises import promises
from bedside.sop.red_flags import RedFlag, red_flags

if TYPE_CHECKING:
    from bedside.flows.intake.architectures import Dispatch

__all__ = [
    "STAFF", "UPLOADS", "base_prompt", "by_rule", "changes", "compose", "language_of", "nothing_more",
    "own_words",
    "plan", "say", "situation", "staged_order", "veil", "voice_of",
]  # fmt: skip

_DEEDS = {"person": "I would like to talk to a person.", "skip": "I would rather not say."}
"""Deeds that a page has a button for, in the words that they stand for."""
STAFF = "staff"
"""What is told of a case with a turn: a coordinator wrote its message, and not the person."""
UPLOADS = CaseUploads(name="uploads", deadline_ms=2_000)


def language_of(text: str, case: Case) -> str:
    """The language to answer in: the message's own where it is sure, else the case's."""
    found = manner.detected(text)
    if found in SPOKEN and (found != "en" or case.facts.language != "en"):
        return found
    return case.facts.language


def plan(request: TurnRequest, opened: Opened[Case], dispatch: Dispatch) -> Plan:
    """Read the message by rule, and ask for the case's uploads.

    Raises:
        InvalidArgument: a language that no architecture speaks.
    """
    language = request.option("language")
    if language and language not in SPOKEN:
        raise InvalidArgument("language", found=language, want="one of " + ", ".join(SPOKEN))
    spoken = language or language_of(request.text, opened.state)
    act = request.act[0] if request.act else ""
    foreign = "" if act else manner.detected(request.text)
    heard = hear(
        opened.state,
        _DEEDS.get(act, "") if act else request.text,
        Book(opened.data),
        turn_id=str(opened.turn),
        language=spoken if spoken != opened.state.facts.language else "",
        procedure=request.option("procedure"),
        foreign=foreign if foreign not in {"", *SPOKEN} else "",
        earlier=[(one.key, one.body) for one in opened.history if one.role == "user"],
    )
    return Plan(
        intent="red_flag" if heard.flags else act or "intake",
        needs=(UPLOADS,),
        categories=("intake",),
        read=(("heard", heard), ("dispatch", dispatch)),
    )


def nothing_more(view: View[Case]) -> tuple[Need[Any], ...]:
    """One round of needs is enough."""
    del view
    return ()


def _read(view: View[Case], name: str) -> Any:
    return dict(view.plan.read)[name]


def _heard(view: View[Case]) -> Heard:
    return _read(view, "heard")


def _flags(view: View[Case]) -> tuple[RedFlag, ...]:
    """The emergencies of the message; of the last one, where only the language is changed."""
    heard = _heard(view)
    if heard.flags or not view.request.act or view.request.act[0] != "language":
        return heard.flags
    said = [one.body for one in view.opened.history if one.role == "user"]
    return red_flags(next((one for one in reversed(said) if one != "(language)"), ""))


def by_rule(view: View[Case]) -> bool:
    """Turns that no model writes: emergencies, consent, choices, uploads, and other languages."""
    heard = _heard(view)
    return bool(
        heard.flags
        or heard.word
        or heard.chose
        or heard.settled
        or view.request.act
        or heard.signals.wants_person
        or not {"advice", "duration"}.isdisjoint(heard.signals.asks)
        or _presses(view, heard)
        or heard.foreign
        or heard.case.consent.state in {"asked", "confirming"}
        or heard.case.status != "intake"
        or heard.case.facts.language != "en"
    )


def _presses(view: View[Case], heard: Heard) -> bool:
    """Does a message that gives nothing new follow a plea that the rules had answered?"""
    said = [one.body for one in view.opened.history if one.role == "user"]
    return bool(
        said
        and "advice" in signals(said[-1]).asks
        and not (heard.reading.said or heard.procedure or heard.reading.answered)
    )


def situation(view: View[Case]) -> Situation:
    """Where the case stands; what a model's envelope adds counts once it was written."""
    heard = _heard(view)
    found = got(view.gathered, UPLOADS)
    uploads = found.value if isinstance(found, Got) else ()
    act = view.request.act
    now = situate(
        heard,
        uploads=uploads,
        providers=catalogue(view.opened.data),
        more=_model_changes(view, heard),
        uploaded=act[1] if act and act[0] == "upload" else "",
    )
    if isinstance(found, Got):
        return now
    # Unknown is not "none": what the case held before stands, as it was last seen.
    return now


def _written(view: View[Case]) -> Done[Case] | None:
    return next(
        (one for one in view.done if one.step is not None and one.step.name == "write"), None
    )


def _model_changes(view: View[Case], heard: Heard) -> tuple[Change, ...]:
    wrote = _written(view)
    if wrote is None or not isinstance(wrote.draft.payload, Envelope):
        return ()
    facts = model_facts(
        wrote.draft.payload, heard.text, heard.contract, heard.case, turn_id=str(view.opened.turn)
    )
    rules = {one.field: heard.case.facts.get(one.field) for one in heard.reading.said}
    return reconcile(heard.case, facts, rules=rules)


# ---- what is said


def reply(view: View[Case]) -> tuple[Reply, str]:
    """The message of this turn, and whose it is: "rules" or "model:<name>"."""
    now, heard = situation(view), _heard(view)
    house = House.of(view.opened.data)
    providers = catalogue(view.opened.data)
    staged = _read(view, "dispatch").architecture == "staged"
    if flags := _flags(view):
        return urgent_reply(heard, flags, house=house), "rules"
    own = write(now, house=house, providers=providers, staged=staged)
    wrote = _written(view)
    if wrote is None or not wrote.draft.by.startswith("model"):
        return own, "rules"
    said = wrote.verdict.text.strip()
    if said in {"", NOTHING, WITHHELD} or not isinstance(wrote.draft.payload, Envelope):
        return own, "rules"
    if own.asking in {CONSENT, CONFIRM, CHOOSE}:
        return own, "rules"  # what is read back and agreed to is never a model's to word
    told: list[str] = []
    answer_parts(now, house=house, providers=providers, told=told)
    fitted = manner.fit(said, now, likely=wrote.draft.payload.suggested_next or "")
    lead = manner.disclosure(fitted.text, now)
    asking = fitted.asking
    text = f"{lead} {fitted.text}".strip()
    if not fitted.question:
        question, asking = question_part(now, told, staged=staged, sample=house.sample)
        text = f"{text} {question}".strip()
    return Reply(text=text, asking=asking, told=tuple(told)), wrote.draft.by


def say(view: View[Case]) -> Draft:
    """The turn's message as the draft of its last step."""
    found, by = reply(view)
    return Draft(text=found.text or " ", by=by)


def staged_order(now: Situation) -> str:
    """The staged architecture's instruction: which question the model is to word."""
    name = next_question(now, staged=True)
    question = question_text(now.contract, name, "en")
    return (
        f"This turn asks for {name}, in your own words: {question}"
        if question
        else "Ask nothing new."
    )


def base_prompt(hot: Mapping[str, Any] | None) -> str:
    """The deployer's base prompt (catalogue kind "prompt", key "intake.base"); "" for ours."""
    body = ((hot or {}).get("prompt") or {}).get("intake.base")
    return str(body["text"]) if isinstance(body, Mapping) else ""


def veil(case: Case) -> tuple[str, ...]:
    """What identifies the person and must not leave: the name as it was given."""
    name = case.facts.value("name")
    return (str(name),) if name else ()


def own_words(view: View[Case]) -> tuple[str, ...]:
    """The person's messages, and what is known: a model may repeat these, and nothing like them."""
    now = situation(view)
    said = [one.body for one in view.opened.history if one.role == "user"]
    known = [one.said for one in now.case.facts.fields.values() if one.status == "known"]
    names = [now.contract.title, *now.contract.names]
    return (*said, view.request.text, *known, *names)


def voice_of(now: Situation, history: Sequence[str] = ()) -> Callable[[str], Sequence[Any]]:
    """The voice rules of this turn."""
    return lambda text: manner.voice(text, now, history)


# ---- what changes


def changes(view: View[Case]) -> tuple[Change, ...]:
    """Everything that this turn does to the case, for the commit."""
    now, heard = situation(view), _heard(view)
    found, _by = reply(view)
    out = [*heard.changes, *now.changes]
    if found.asking and not found.asking.startswith("@"):
        out.append(change(f"asked:{found.asking}", None))
    if not heard.flags:
        out.append(change("asking", found.asking))
    elif heard.reading.answered:
        out.append(change("asking", ""))
    out += [change("told", name, op="add") for name in found.told]
    if view.request.option("by") == "coordinator":
        out.append(change("told", f"{STAFF}:{view.opened.turn}", op="add"))
    return tuple(out)


def compose(view: View[Case]) -> Done[Case]:
    """The turn's last step with the case beside it, under the prompt of the model's step."""
    final = view.done[-1]
    if view.request.option("call", "yes") == "no":
        return final
    now = situation(view)
    dispatch: Dispatch = _read(view, "dispatch")
    found, by = reply(view)
    after = applied(view.opened.state, changes(view))
    wrote = _written(view)
    last = next((one.body for one in reversed(view.opened.history) if one.role == "assistant"), "")
    offered = promises(last)
    contract = now.contract
    agreed = after.consent
    body = {
        "case": str(view.opened.session),
        "case_status": after.status,
        "architecture": dispatch.architecture,
        "dispatch": {
            "architecture": dispatch.architecture,
            "own": dispatch.choice.own,
            "version": _version(dispatch.architecture),
            "source": dispatch.choice.source,
            "fallback_reason": dispatch.fallback or None,
            "language_reason": dispatch.choice.language_reason or None,
        },
        "state": as_state(after, contract),
        "checklist": as_checklist(after, contract),
        "readiness": as_readiness(now.readiness),
        "asked": found.asking or None,
        "intake_complete": now.complete,
        "consent": {
            "state": agreed.state,
            "recipients": list(agreed.recipients),
            "purpose": agreed.purpose or None,
            "fields": list(agreed.fields),
            "waived": agreed.waived,
        },
        "matches": [
            {"id": one.id, "provider": one.name, "score": one.score, "reasons": list(one.reasons)}
            for one in after.matches
        ],
        "red_flags": [{"id": one.id, "start": one.start, "end": one.end} for one in _flags(view)],
        "promises": list(offered),
        "talk_to_person": True,
        "left": _left(after, now),
        "review_status": contract.review_status,
        "stamps": _stamps(view, after, dispatch, len(offered)),
    }
    asked = wrote.prompt if wrote is not None and wrote.prompt is not None else final.prompt
    findings = (*(wrote.verdict.findings if wrote else ()), *final.verdict.findings)
    removed = (*(wrote.verdict.removed if wrote else ()), *final.verdict.removed)
    return replace(
        final,
        prompt=asked,
        draft=replace(final.draft, by=by, payload=body),
        verdict=replace(final.verdict, findings=_once(findings), removed=removed),
    )


def _version(name: str) -> str:
    from bedside.flows.intake.dispatch import VERSIONS

    return VERSIONS[name]


def _left(case: Case, now: Situation) -> int:
    """How many questions are about left: fields that a match or a booking needs."""
    return sum(
        field.when != "optional"
        and now.contract.applies(field, case.facts)
        and case.facts.get(field.id).status in {"unasked", "asked"}
        for field in now.contract.fields
    )


def _stamps(view: View[Case], after: Case, dispatch: Dispatch, offered: int) -> dict[str, Any]:
    """What the trace keeps of a turn (IN-19): ids, counts and names, no words."""
    wrote = _written(view)
    ceiling = wrote.prompt if wrote else None
    return {
        "architecture": dispatch.architecture,
        "version": _version(dispatch.architecture),
        "source": dispatch.choice.source,
        "sop": after.facts.sop,
        "state_revision": revision_hash(after),
        "documents": status_counts(after),
        "processed_documents": [
            key for key, one in after.facts.documents.items() if one.status == "complete"
        ],
        "promises": offered,
        "observations": len(_heard(view).reading.said),
        "fallback_reason": dispatch.fallback or None,
        "language_reason": dispatch.choice.language_reason or None,
        "voice_failures": sum(
            one.id == "IN-12" and one.want != "pass"
            for one in (wrote.verdict.findings if wrote else ())
        ),
        "ceiling_hit": bool(
            ceiling and any(row.dropped and row.block == "history" for row in ceiling.ledger)
        ),
        "status": after.status,
        "consent": after.consent.state,
        "turn": after.facts.turn,
        "red_flags": len(_heard(view).flags),
        "by_model": bool(wrote and wrote.draft.by.startswith("model")),
    }


def _once(findings: Sequence[Any]) -> tuple[Any, ...]:
    hit = {one.id for one in findings if one.want != "pass"}
    kept = [one for one in findings if one.want != "pass" or one.id not in hit]
    return tuple(dict.fromkeys(kept))
