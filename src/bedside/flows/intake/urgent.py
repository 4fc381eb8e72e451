"""What is said where a message names an emergency: fixed text, and nothing else (IN-24). Pure."""

from __future__ import annotations

from collections.abc import Sequence

from bedside.flows.intake.hear import Heard
from bedside.flows.intake.writer import House, Reply
from bedside.sop.red_flags import RedFlag, emergency_text

__all__ = ["urgent_reply"]


def urgent_reply(heard: Heard, flags: Sequence[RedFlag], *, house: House) -> Reply:
    """The fixed text with the deployer's numbers; the question that was open stays open."""
    text = emergency_text(
        flags,
        number=house.emergency,
        crisis_line=house.crisis_line,
        language=heard.case.facts.language,
    )
    return Reply(text=text, asking=heard.case.asking)
