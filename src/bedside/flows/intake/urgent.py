"""What is said where a message names an emergency: fixed text, and nothing else (IN-24). Pure."""

from __future__ import annotations

from bedside.flows.intake.hear import Heard
from bedside.flows.intake.phrases import phrase
from bedside.flows.intake.writer import House, Reply

__all__ = ["urgent_reply"]


def urgent_reply(heard: Heard, *, house: House) -> Reply:
    """The fixed text with the deployer's number; the question that was open stays open."""
    language = heard.case.facts.language
    number = house.emergency or phrase("emergency_number", language)
    despair = any("suicid" in flag.id or "self_harm" in flag.id for flag in heard.flags)
    name = "red_flag_despair" if despair else "red_flag"
    return Reply(text=phrase(name, language, number=number), asking=heard.case.asking)
