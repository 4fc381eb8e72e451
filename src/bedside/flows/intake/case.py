"""One intake case: what is known, where it stands, and how a turn changes it. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, field, replace
from typing import Any, Literal

from bedside.core.turn import Change
from bedside.core.value import value
from bedside.sop.state import Document, Known, State

__all__ = [
    "CHOOSE",
    "CONFIRM",
    "CONFLICT",
    "CONSENT",
    "UPLOAD",
    "Alert",
    "By",
    "Case",
    "Conflict",
    "Consent",
    "Match",
    "applied",
    "change",
    "dump",
    "initial",
    "load",
    "put_field",
    "reduce",
]  # fmt: skip

CONSENT, CONFIRM, CHOOSE, UPLOAD, CONFLICT = (
    "@consent", "@confirm", "@choose", "@upload", "@conflict",
)  # fmt: skip
"""What a question can be about besides a field; `@conflict:FIELD` names the field."""
By = Literal["rule", "model", "person", "observer"]
CaseStatus = Literal["intake", "matching", "consultation"]


@value
class Consent:
    """Where the person's consent stands. Only "confirmed" shares anything or starts matching.

    `recipients`, `purpose` and `fields` are those that the confirmation named. `waived` is True
    where the person goes ahead without findings of documents. `said` are the confirming words.
    """

    state: Literal["none", "asked", "confirming", "confirmed", "declined"] = "none"
    recipients: tuple[str, ...] = ()
    purpose: str = ""
    fields: tuple[str, ...] = ()
    waived: bool = False
    said: str = ""
    turn: int | None = None


@value
class Match:
    """A provider that fits, with the reasons; `score` is in [0, 100].

    `why` names the same reasons for other languages: the phrases `reason_<name>`, a country behind
    a colon. A case of before has none.
    """

    id: str
    name: str
    score: int
    reasons: tuple[str, ...]
    why: tuple[str, ...] = ()


@value
class Alert:
    """Something that a person must see: a red flag, a wish to talk, a question for a doctor.

    `turn_id` finds the words; the alert holds none.
    """

    kind: str
    turn: int
    turn_id: str = ""


@value
class Conflict:
    """The person said one thing, a document or form another. `other` is what the person said."""

    field: str
    other: Known


@value
class Case:
    """The whole state of one case.

    `asking` is what the last question was about: a field, or one of the `@` names; "" for none.
    `told` are things said once, such as the disclosure. `forced` overrides the architecture.
    """

    facts: State
    status: CaseStatus = "intake"
    asking: str = ""
    consent: Consent = field(default_factory=Consent)
    matches: tuple[Match, ...] = ()
    chosen: str = ""
    alerts: tuple[Alert, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    told: frozenset[str] = frozenset()
    forced: str = ""
    procedure_words: str = ""


def initial() -> Case:
    """A case that knows nothing yet, under the generic contract."""
    return Case(facts=State(sop="_generic"))


def change(
    path: str, value: object, *, by: By = "rule", op: Literal["set", "add"] = "set"
) -> Change:
    """One change of the case."""
    return Change(part="shared", path=path, op=op, value=value, by=by)


def applied(case: Case, changes: Sequence[Change]) -> Case:
    """The case after the changes, in order."""
    for one in changes:
        case = reduce(case, one)
    return case


_PLAIN = {"status", "asking", "consent", "matches", "chosen", "forced", "procedure_words"}


def reduce(case: Case, change: Change) -> Case:
    """Apply one change to the case as it is now; unknown paths are an error of ours.

    Raises:
        KeyError: no such path.
    """
    path, given = change.path, change.value
    head, _, name = path.partition(":")
    if head in _PLAIN:
        return replace(case, **{head: given})
    facts = case.facts
    if head == "field" and isinstance(given, Known):
        return put_field(case, name, given)
    if head == "asked":
        return replace(case, facts=facts.with_asked(name))
    if head == "document" and isinstance(given, Document):
        return replace(case, facts=facts.with_document(name, given))
    if head in {"sop", "turn", "language"}:
        return replace(case, facts=replace(facts, **{head: given}))
    if head == "told":
        return replace(case, told=case.told | {str(given)})
    if head == "alert" and isinstance(given, Alert):
        seen = any((one.kind, one.turn) == (given.kind, given.turn) for one in case.alerts)
        return case if seen else replace(case, alerts=(*case.alerts, given))
    if head == "settled":
        kept = tuple(one for one in case.conflicts if one.field != name)
        return replace(case, conflicts=kept)
    raise KeyError(path)


def put_field(case: Case, name: str, new: Known) -> Case:
    """The field set, where it may be (IN-10).

    What a document or a form says stays: a person's other value becomes a conflict, to be asked
    about. An observer adds, and never takes the place of what a turn said.
    """
    before = case.facts.get(name)
    held = before.status == "known" and before.origin in {"document", "form", "coordinator"}
    if held and new.origin == "turn" and new.by != "settled":
        if new.status != "known" or _same(before.value, new.value):
            return case
        others = tuple(one for one in case.conflicts if one.field != name)
        return replace(case, conflicts=(*others, Conflict(field=name, other=new)))
    if new.origin == "document" and before.status == "known" and before.origin == "turn":
        if _same(before.value, new.value):
            return case
        others = tuple(one for one in case.conflicts if one.field != name)
        kept = replace(case, facts=case.facts.with_field(name, replace(new, asked=before.asked)))
        return replace(kept, conflicts=(*others, Conflict(field=name, other=before)))
    if new.by == "observer" and before.status not in {"unasked", "asked"}:
        return case
    return replace(
        case, facts=case.facts.with_field(name, replace(new, asked=max(before.asked, new.asked)))
    )


def _same(one: Any, other: Any) -> bool:
    return str(one).casefold() == str(other).casefold()


def dump(case: Case) -> object:
    """The case as JSON values."""
    tree = asdict(case)
    tree["told"] = sorted(case.told)
    return tree


def load(tree: Mapping[str, Any]) -> Case:
    """The case from `dump`'s values."""
    facts = tree["facts"]
    return Case(
        facts=State(
            sop=facts["sop"],
            fields={name: Known(**_tupled(body)) for name, body in facts["fields"].items()},
            documents={name: Document(**body) for name, body in facts["documents"].items()},
            turn=facts["turn"],
            language=facts["language"],
        ),
        status=tree["status"],
        asking=tree["asking"],
        consent=Consent(**_tupled(tree["consent"])),
        matches=tuple(Match(**_tupled(one)) for one in tree["matches"]),
        chosen=tree["chosen"],
        alerts=tuple(Alert(**one) for one in tree["alerts"]),
        conflicts=tuple(
            Conflict(field=one["field"], other=Known(**_tupled(one["other"])))
            for one in tree["conflicts"]
        ),
        told=frozenset(tree["told"]),
        forced=tree["forced"],
        procedure_words=tree["procedure_words"],
    )


def _tupled(body: Mapping[str, Any]) -> dict[str, Any]:
    return {name: tuple(one) if isinstance(one, list) else one for name, one in body.items()}
