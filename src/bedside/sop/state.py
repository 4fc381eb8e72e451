"""What one intake case knows: every field with its state and where it came from. Pure values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any, Literal

from bedside.core.value import value

if TYPE_CHECKING:
    from bedside.sop.contract import Contract

__all__ = ["STATES", "Document", "DocumentStatus", "Known", "Origin", "State", "Status"]

Status = Literal["unasked", "asked", "known", "not_known", "declined", "not_applicable"]
STATES: tuple[Status, ...] = (
    "unasked", "asked", "known", "not_known", "declined", "not_applicable",
)  # fmt: skip
Origin = Literal["turn", "document", "form", "coordinator"]
DocumentStatus = Literal[
    "queued",
    "processing",
    "complete",
    "stored",
    "failed_transient",
    "failed_permanent",
    "expired",
    "not_applicable",
]


@value
class Known:
    """One field. `value` is `None` unless `status` is "known".

    `said` is the person's or the document's own words; `origin` says which of them; `source` is the
    citable text that holds the words, at [start, end), where it is stored; `turn` counts from 1.
    `asked` is how often it was asked for, `by` who read it: rule, model, person or observer.
    """

    status: Status = "unasked"
    value: Any = None
    said: str = ""
    origin: Origin = "turn"
    source: str = ""
    start: int | None = None
    end: int | None = None
    turn: int | None = None
    asked: int = 0
    by: str = ""


@value
class Document:
    """One upload. `findings` is empty unless `status` is "complete".

    `eta_seconds` is set while it waits or is read; `last_seen_turn` is the turn at which its state
    was last put before the model; "stored" means kept and not interpreted. `why` is a code for why
    it is kept or failed, such as "locked" (by a password), "" for none.
    """

    type: str
    status: DocumentStatus
    label: str
    findings: Mapping[str, Any] = field(default_factory=dict)
    eta_seconds: int | None = None
    last_seen_turn: int | None = None
    since_turn: int | None = None
    why: str = ""


_KEPT = {"side": "procedure_side"}
_ALSO = {**_KEPT, "procedure_side": "side"}


@value
class State:
    """One case under one contract. Immutable: every `with_` returns a new one."""

    sop: str
    fields: Mapping[str, Known] = field(default_factory=dict)
    documents: Mapping[str, Document] = field(default_factory=dict)
    turn: int = 0
    language: str = "en"

    @classmethod
    def new(cls, contract: Contract | str) -> State:
        """An empty case under the contract."""
        return cls(sop=contract if isinstance(contract, str) else contract.id)

    def get(self, name: str) -> Known:
        """The field; one that was never touched is unasked. "side" is the procedure's side."""
        found = self.fields.get(name)
        if found is None and name in _ALSO:
            found = self.fields.get(_ALSO[name])
        return found or Known()

    def value(self, name: str) -> Any:
        """The field's value, `None` where it is not known."""
        return self.get(name).value

    def with_field(self, name: str, known: Known) -> State:
        """With this field set; "side" is kept as the procedure's side."""
        return replace(self, fields={**self.fields, _KEPT.get(name, name): known})

    def with_value(
        self,
        name: str,
        value: Any,
        *,
        said: str,
        turn: int | None = None,
        origin: Origin = "turn",
        by: str = "rule",
        source: str = "",
        start: int | None = None,
        end: int | None = None,
    ) -> State:
        """With this field known. `said` must hold the words that it rests on.

        Raises:
            ValueError: no words, or no value.
        """
        if not said.strip() or value is None:
            raise ValueError("a known field needs a value and the words it rests on")
        return self.with_field(
            name,
            Known(
                status="known",
                value=value,
                said=said,
                origin=origin,
                source=source,
                start=start,
                end=end,
                turn=turn if turn is not None else self.turn,
                asked=self.get(name).asked,
                by=by,
            ),
        )

    def with_status(self, name: str, status: Status, *, said: str = "", by: str = "rule") -> State:
        """With this field not known, declined, not applicable, or unasked again."""
        before = self.get(name)
        return self.with_field(
            name,
            Known(status=status, said=said, turn=self.turn, asked=before.asked, by=by),
        )

    def with_asked(self, name: str) -> State:
        """With this field asked for once more; what is known stays known."""
        before = self.get(name)
        status: Status = "asked" if before.status == "unasked" else before.status
        return self.with_field(name, replace(before, status=status, asked=before.asked + 1))

    def with_document(self, key: str, document: Document) -> State:
        """With this upload's state."""
        return replace(self, documents={**self.documents, key: document})

    def under(self, contract: Contract | str) -> State:
        """The same facts under another contract: a procedure became known."""
        return replace(self, sop=contract if isinstance(contract, str) else contract.id)
