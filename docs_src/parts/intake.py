"""An intake in a plain SDK loop: contract, state and prompt from Bedside, model and storage yours."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from bedside.context import Item, assemble
from bedside.sop import Contract, State
from bedside.sop.blocks import budget
from bedside.sop.red_flags import emergency_text
from bedside.sop.voice import cut, voice

Model = Callable[[dict[str, Any]], str]


def turn(
    sop: Contract, state: State, history: list[Item], message: str, model: Model
) -> tuple[State, str]:
    """One turn: emergencies first, then one call, then the checks; facts need a quote."""
    state = replace(state, turn=state.turn + 1)
    if flags := sop.red_flags(message):
        return state, emergency_text(flags, number="112")

    prompt = assemble(sop.blocks(state, history, message=message), budget=budget())
    reply = json.loads(model(prompt.to_anthropic()))  # system, messages and cache marks

    for name, fact in reply["extracted_data"].items():
        if sop.field(name) and fact["quote"] in message:
            state = state.with_value(name, fact["value"], said=fact["quote"], by="model")

    severe = [finding for finding in voice(reply["message"]) if finding.severe]
    answer = cut(reply["message"], severe)
    if sop.scope_check(answer, state) or not answer:  # no matching while something is missing
        field = sop.next_field(state)
        answer = field.ask["en"] if field else "Is anything in this not right?"
    history += [Item(message, role="user"), Item(answer, role="assistant")]
    return state, answer


replies = iter(
    [
        {
            "message": "A knee that keeps her awake is wearing. You have arthritis. "
            "I'm the AI coordinator, not a doctor. Which knee is it?",
            "extracted_data": {"who": {"value": "carer", "quote": "my mother"}},
        },
        {
            "message": "I've found three hospitals for you.",
            "extracted_data": {
                "procedure_side": {"value": "left", "quote": "the left one"},
                "age": {"value": 71, "quote": "seventy"},
            },
        },
    ]
)


def my_model(prompt: dict[str, Any]) -> str:
    """Stands for any SDK: `client.messages.create(model=..., **prompt)`."""
    assert prompt["system"]
    return json.dumps(next(replies))


sop = Contract.find("nee replacement for my mother")
state, history = State.new(sop), list[Item]()
for message in (
    "My mother needs a new knee, my mother cannot sleep",
    "the left one",
    "she has chest pain right now",
):
    state, answer = turn(sop, state, history, message, my_model)
    print(f"> {message}\n{answer}\n")
print([gap.id for gap in sop.missing_for_matching(state)])
print({name: (known.value, known.said) for name, known in state.fields.items()})
