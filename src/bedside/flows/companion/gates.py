"""Where a person stands in the process, and what opens the next step. Pure.

A gate opens by what happened, never by what was asked of the guide or what a model believes: 1 to 2
when the person confirms being heard, 2 to 3 when both statements are acknowledged, 3 to 4 when each
has named a need and the other agreed to it. A withdrawn share closes its gate again.
"""

from __future__ import annotations

import re
from dataclasses import replace

from bedside.flows.companion.reading import Said
from bedside.flows.companion.state import Kind, Pair
from bedside.flows.companion.tables import Stage, Tables

__all__ = ["KIND_OF", "confirms_heard", "goes_along", "stage_of"]

KIND_OF: dict[int, Kind] = {2: "statement", 3: "need", 4: "agreement"}
"""What is given out in each stage."""
_LAST_OWN = 2
_NO_ANSWER = frozenset({"ok", "okay", "k", "fine", "sure", "whatever", "if you say so"})
"""Said to go on, and no confirmation of being heard."""
_ONWARD = re.compile(
    r"(?:(?:ok|okay|sure|right|yes|yeah|fine)\W+)*(?:next\b|(?:let's|lets|let us) (?:just )?(?:go|move|get)\b|whatever\b|"
    r"i do (?:it|this|that)\b|i agree with no)"
)


def stage_of(state: Pair, tables: Tables) -> Stage:
    """The person's stage: their own up to 2; then what both did decides. An inner space has none."""
    if state.mine.space:
        prompt = "linked_thoughts" if state.mine.link else "inner_work"
        return replace(tables.stages[0], name="inner", mode="WITNESS", prompt=prompt)
    number = min(state.mine.stage, _LAST_OWN)
    if number == _LAST_OWN and state.shared.acknowledged_by_both("statement"):
        number = 4 if state.shared.acknowledged_by_both("need") else 3
    return tables.stages[number]


def goes_along(said: Said) -> bool:
    """Is a message no more than an "ok", or a wish to get on?"""
    plain = said.text.strip(" .!").lower().replace("’", "'")
    return plain in _NO_ANSWER or bool(_ONWARD.match(plain))


def confirms_heard(state: Pair, said: Said, stage: Stage) -> bool:
    """Does the person confirm being heard: by a plain yes to that question, or of themselves?"""
    if stage.id != 1 or said.skip or said.stop or said.no or said.missed:
        return False
    if said.heard:  # in so many words, of themselves: once something was told and given back
        return state.mine.since > 0
    if state.mine.since < stage.least_turns:
        return False
    if goes_along(said) or said.bids:
        return False
    hedged = any(word in f" {said.text.lower()} " for word in (" but ", " except ", " although "))
    return state.mine.asked == "heard" and said.yes and not hedged and not said.question
