"""What people ask of the talk itself, or of a guide that does not do it, and the plain answer. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from bedside.clinical.drugs import find_classes, find_drugs
from bedside.flows.companion.giving import asked_early, joined
from bedside.flows.companion.mirror import asks
from bedside.flows.companion.reading import sentences_of
from bedside.sop.languages import detect

if TYPE_CHECKING:
    from bedside.flows.companion.moves import Making

__all__ = ["language_note", "told_plainly"]

_OF_TREATMENT = re.compile(
    r"\b(?:should|can|could|must|may|shall|is (?:\w+ ){1,3}(?:safe|ok|okay|dangerous|wise|good for)|what (?:dose|happens)|how (?:much|many|often)|does)\b"
)
_TREATED = re.compile(
    r"\b(?:medicines?|medication|tablets?|pills?|dose|doses|dosage|insulin|chemo\w*|antibiotics?|painkillers?|"
    r"radiotherapy|dialysis|surgery|operated|vaccin\w+|side effects?|prescri\w+)\b"
)
_TELL_NOBODY = re.compile(
    r"\A(?:please,? |and |but )*(?:don.?t|do not|never|you (?:must|may|should) not|you mustn.?t) (?:\w+ )?"
    r"(?:tell|say anything to|mention (?:it|this|that) to) (?:him|her|them|anyone|anybody|\w+\b)"
)
_CONSENT = re.compile(
    r"\b(?:take back|withdraw|revoke|cancel) (?:my |the |all )?(?:consents?|permissions?)\b"
)
_MOSTLY = 0.5
_LANGUAGE = "note:language"


def told_plainly(turn: Making) -> str:
    """The answer; "" where a message asks nothing of the kind."""
    said, voice = turn.said, turn.voice
    if said.privacy or _TELL_NOBODY.search(_low(turn)):
        return voice.pick("privacy")
    if _CONSENT.search(_low(turn)):
        return voice.pick("bids.consent")
    if said.must:
        return voice.pick("need_not")
    if said.process and turn.before.id and re.search(r"\bif i (?:share|send|give)\b", _low(turn)):
        return voice.pick("shares_what")
    if said.bids in {"tell", "write"}:
        return voice.pick(f"bids.{said.bids}")
    if any(_medical(one) for one in sentences_of(said.text)):
        return voice.pick("medical")
    if turn.state.mine.space:
        return ""
    if answer := joined(turn):
        return answer
    return asked_early(turn) if turn.before.id == 1 else ""


def language_note(turn: Making) -> str:
    """Once, where no model is there and a person writes in another language than the answers; else ""."""
    mine = turn.state.mine
    if "model" in turn.opened.can or _LANGUAGE in mine.seen:
        return ""
    found = detect(turn.said.text)
    if found.code in {"en", "unknown"} or found.share < _MOSTLY:
        return ""
    turn.put("mine", "seen", "add", _LANGUAGE)
    return turn.voice.pick("language")


def _low(turn: Making) -> str:
    return turn.said.text.lower()


def _medical(sentence: str) -> bool:
    """Does a sentence ask about a treatment?"""
    plain = sentence.lower()
    if not asks(sentence) or not _OF_TREATMENT.search(plain):
        return False
    return bool(_TREATED.search(plain) or find_drugs(sentence) or find_classes(sentence))
