"""The contract of a procedure: what must be known before matching and before booking.

A contract is data (`data/contracts/*.yaml`, or the caller's own); these are its questions to a
state. Nothing here asks a model, a clock or a store.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from bedside.core.context import Block, Item
from bedside.core.value import value
from bedside.sop.state import Known, State

if TYPE_CHECKING:
    from bedside.sop.red_flags import RedFlag

__all__ = [
    "Contract",
    "Field",
    "Finding",
    "Gap",
    "Interpretation",
    "RequiredDocument",
    "SafetyRule",
]

When = Literal["matching", "safety", "booking", "optional"]
Section = Literal["demographics", "procedure", "medical", "financial"]
Kind = Literal["text", "number", "choice", "boolean", "date", "money", "list"]
ORDER: tuple[When, ...] = ("matching", "safety", "booking", "optional")


@value
class Field:
    """Something to know. `ask` maps a language to the question, shown as it stands.

    `kind` says how words are read; `choices` maps each allowed value to words for it; `unit` and
    `low`/`high` bound a number. `cues` are words in a question or an answer that name the field.
    `gap` says who follows up what stays open: nobody, or the coordinator.
    """

    id: str
    label: str
    section: Section
    when: When
    kind: Kind = "text"
    ask: dict[str, str]
    choices: dict[str, tuple[str, ...]]
    cues: tuple[str, ...] = ()
    unit: str = ""
    low: float | None = None
    high: float | None = None
    gap: Literal["", "coordinator"] = ""
    only_if: tuple[str, str] | None = None
    """(field, value): asked only where that field has that value."""


@value
class RequiredDocument:
    """A document that the procedure needs. `when` as for a field; `severity` in required, helpful."""

    type: str
    label: str
    when: When
    severity: Literal["required", "helpful"] = "required"
    names: tuple[str, ...] = ()


@value
class Finding:
    """One thing to read in a document: a name, its kind, and words that announce it."""

    name: str
    label: str
    kind: Kind = "text"
    unit: str = ""
    cues: tuple[str, ...] = ()
    required: bool = False


@value
class Interpretation:
    """What to read in a document of one type."""

    type: str
    findings: tuple[Finding, ...]


@value
class SafetyRule:
    """A condition under which a person looks before anything goes on.

    `field` with `values` (or above `over` / below `under`) makes it active; `description` is stated
    of the rule, never of the patient, and never in the second person.
    """

    id: str
    description: str
    source: str
    field: str
    values: tuple[str, ...] = ()
    over: float | None = None
    under: float | None = None


@value
class Gap:
    """Something that a state lacks. `kind` is "field" or "document"."""

    id: str
    label: str
    when: When
    kind: Literal["field", "document"] = "field"


@value
class Contract:
    """One procedure's SOP. `review_status` is shown until a clinician has signed it.

    `unlike` are phrases that hold one of the names and mean another procedure.
    """

    id: str
    version: str
    title: str
    codes: tuple[str, ...]
    names: tuple[str, ...]
    fields: tuple[Field, ...]
    documents: tuple[RequiredDocument, ...]
    rules: tuple[SafetyRule, ...]
    interpretation: tuple[Interpretation, ...]
    sources: tuple[str, ...]
    review_status: Literal["unreviewed", "reviewed"] = "unreviewed"
    reviewer: str = ""
    unlike: tuple[str, ...] = ()

    @property
    def generic(self) -> bool:
        """True for the contract of a case whose procedure is not known yet."""
        return self.id == "_generic"

    @staticmethod
    def find(text: str) -> Contract:
        """By code, by name or synonym, by misspelling, else `_generic`. Never raises."""
        from bedside.sop.find import find

        return find(text)

    @staticmethod
    def invalidate_cache() -> None:
        """Read the shipped contracts anew at the next `find`."""
        from bedside.sop.find import forget

        forget()

    def field(self, name: str) -> Field | None:
        """The field of that id; `None` where the contract has none.

        "side" is the procedure's side, unless the contract has a field of that very name.
        """
        found = next((field for field in self.fields if field.id == name), None)
        return self.field("procedure_side") if found is None and name == "side" else found

    # ---- what is missing

    def applies(self, field: Field, state: State) -> bool:
        """False where the field hangs on another that has a different value."""
        if field.only_if is None:
            return True
        name, wanted = field.only_if
        found = state.value(name)
        held = found if isinstance(found, (list, tuple)) else (found,)
        return any(str(one).casefold() == wanted.casefold() for one in held if one is not None)

    def missing(self, state: State, when: Sequence[When]) -> tuple[Gap, ...]:
        """Fields that are needed at `when` and not known, in the contract's order.

        "not applicable" counts as answered; "not known" and "declined" stay missing, and the
        contract says whether a coordinator follows them up.
        """
        return tuple(
            Gap(id=field.id, label=field.label, when=field.when)
            for field in sorted(self.fields, key=lambda one: ORDER.index(one.when))
            if field.when in when
            and self.applies(field, state)
            and state.get(field.id).status not in ("known", "not_applicable")
        )

    def missing_for_matching(self, state: State) -> tuple[Gap, ...]:
        """What stands between this case and matching: fields for matching and for safety.

        A field that the person does not know or declined, and that a coordinator follows up, does
        not hold matching up. The generic contract always lacks a procedure.
        """
        open_gaps = []
        for gap in self.missing(state, ("matching", "safety")):
            field = self.field(gap.id)
            followed = field is not None and field.gap == "coordinator"
            answered = state.get(gap.id).status in ("not_known", "declined")
            if not (followed and answered):
                open_gaps.append(gap)
        if self.generic and not any(gap.id == "procedure_name" for gap in open_gaps):
            open_gaps.append(Gap(id="procedure_name", label="procedure", when="matching"))
        return tuple(open_gaps)

    def missing_for_booking(self, state: State) -> tuple[Gap, ...]:
        """Everything that matching and booking need, required documents included."""
        return (
            *self.missing(state, ("matching", "safety", "booking")),
            *self.missing_documents(state),
        )

    def missing_documents(self, state: State) -> tuple[Gap, ...]:
        """Required documents of which none is here, or none that could be kept."""
        have = {
            document.type
            for document in state.documents.values()
            if document.status not in ("failed_permanent", "expired")
        }
        excused = {
            document.type
            for document in state.documents.values()
            if document.status == "not_applicable"
        }
        return tuple(
            Gap(id=need.type, label=need.label, when=need.when, kind="document")
            for need in self.documents
            if need.severity == "required" and need.type not in have | excused
        )

    def document_findings_complete(self, state: State) -> bool:
        """True when every required document was read and every required finding is there."""
        wanted = {one.type: one for one in self.interpretation}
        for need in self.documents:
            if need.severity != "required":
                continue
            read = [
                document
                for document in state.documents.values()
                if document.type == need.type and document.status in ("complete", "not_applicable")
            ]
            if not read:
                return False
            rule = wanted.get(need.type)
            names = [one.name for one in rule.findings if one.required] if rule else []
            if not any(
                document.status == "not_applicable"
                or all(document.findings.get(name) is not None for name in names)
                for document in read
            ):
                return False
        return True

    def next_field(self, state: State) -> Field | None:
        """The next field to ask for; `None` when everything was asked.

        In the order of the contract inside matching, safety, booking, optional; a field that was
        asked and not answered returns once, after everything else.
        """
        again: Field | None = None
        for when in ORDER:
            for field in self.fields:
                if field.when != when or not self.applies(field, state):
                    continue
                known = state.get(field.id)
                if known.status == "unasked":
                    return field
                if known.status == "asked" and known.asked < 2 and again is None:  # noqa: PLR2004 - returns once
                    again = field
        return again

    def active_rules(self, state: State) -> tuple[SafetyRule, ...]:
        """The safety rules that this state sets off."""
        return tuple(rule for rule in self.rules if _holds(rule, state.get(rule.field)))

    def completeness(self, state: State) -> dict[str, float]:
        """The share of what is needed that is known, in [0, 1], by section and for documents."""
        found: dict[str, float] = {}
        for section in ("demographics", "procedure", "medical", "financial"):
            needed = [
                field
                for field in self.fields
                if field.section == section
                and field.when != "optional"
                and self.applies(field, state)
            ]
            done = sum(
                state.get(field.id).status in ("known", "not_applicable") for field in needed
            )
            found[section] = done / len(needed) if needed else 1.0
        required = [need for need in self.documents if need.severity == "required"]
        lacking = len(self.missing_documents(state))
        found["documents"] = 1 - lacking / len(required) if required else 1.0
        return found

    def scope_check(self, answer: str, state: State) -> tuple[str, ...]:
        """What an answer must not say yet: that matching begins, while something is missing."""
        from bedside.sop.scope import premature

        return premature(answer, missing=self.missing_for_matching(state))

    def red_flags(self, message: str) -> tuple[RedFlag, ...]:
        """The emergencies that a message names, by rule."""
        from bedside.sop.red_flags import red_flags

        return red_flags(message)

    # ---- what a model sees

    def definition(self) -> str:
        """The static part: the same for every case of this contract, and byte-stable."""
        from bedside.sop.checklist import definition

        return definition(self)

    def checklist(self, state: State) -> str:
        """Captured, still needed, optional, documents still needed, active safety rules."""
        from bedside.sop.checklist import checklist

        return checklist(self, state)

    def blocks(
        self, state: State, history: Sequence[Item] = (), *, message: str = "", base: str = ""
    ) -> tuple[Block, ...]:
        """The blocks of one intake turn, in wire order (IN-04, IN-05).

        Args:
            state: What the case knows.
            history: Messages, oldest first, one item each with its role.
            message: What the person just wrote; it is not part of `history` yet.
            base: A base prompt of one's own; ours where it is empty.
        """
        from bedside.sop.blocks import blocks

        return blocks(self, state, history, message=message, base=base)


def _holds(rule: SafetyRule, known: Known) -> bool:
    """A word of the rule stands, whole, in what is known; a number is beyond the rule's bound."""
    if known.status != "known":
        return False
    held = known.value if isinstance(known.value, (list, tuple)) else (known.value,)
    return any(_meets(rule, one) for one in held)


def _meets(rule: SafetyRule, one: Any) -> bool:
    if isinstance(one, (int, float)) and not isinstance(one, bool):
        above = rule.over is not None and one > rule.over
        return above or (rule.under is not None and one < rule.under)
    said = f" {' '.join(str(one).casefold().replace('-', ' ').split())} "
    return any(f" {' '.join(word.casefold().split())} " in said for word in rule.values)
