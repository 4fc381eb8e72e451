"""What intake's rules read in one message: what tests of hearing begin with."""

from __future__ import annotations

from bedside.flows.intake.reading import read_message
from bedside.sop.find import find
from bedside.sop.state import Known, State

__all__ = ["read"]


def read(
    text: str, procedure: str = "TKR", *, asked: str = "", **known: object
) -> dict[str, object]:
    """Field to value, or to its status where it has none.

    Args:
        text: The person's message.
        procedure: Code or name of the contract.
        asked: The field that the last question was about, "" for none.
        known: Fields whose values are known before.
    """
    contract = find(procedure)
    state = State.new(contract)
    for name, value in known.items():
        state = state.with_field(name, Known(status="known", value=value, said="x"))
    return {
        one.field: one.value if one.status == "known" else one.status
        for one in read_message(text, contract, state, asked=asked).said
    }
