"""What is said where a message names an emergency: fixed text, and nothing else (IN-24). Pure."""

from __future__ import annotations

from bedside.flows.intake.hear import Heard
from bedside.flows.intake.writer import House, Reply
from bedside.sop.red_flags import emergency_text

__all__ = ["urgent_reply"]


def urgent_reply(heard: Heard, *, house: House) -> Reply:
    """The fixed text with the deployer's numbers; the question that was open stays open."""
    text = emergency_text(
        heard.flags,
        number=house.emergency,
        crisis_line=house.crisis_line,
        language=heard.case.facts.language,
    )
    return Reply(text=text, asking=heard.case.asking)
