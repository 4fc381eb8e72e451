"""Emergencies that a message names, and the fixed text that answers them (IN-24). Pure.

What is heard is `bedside.clinical.danger`'s; here it is mapped to the intake's texts
(`data/red_flags.yaml`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from bedside.clinical.danger import heard
from bedside.clinical.packs import Pack, PackFile, load_pack
from bedside.core.value import value

__all__ = ["RedFlag", "emergency_text", "red_flags", "rules_pack"]

Kind = Literal["emergency", "crisis"]
_HARM = {"suicide": "suicide", "abuse": "violence", "threat": "violence"}


@value
class RedFlag:
    """One emergency: its rule, and the words at [start, end) of the message that named it.

    `kind` "crisis" is about harm to oneself, by others or to others, and has a text of its own.
    """

    id: str
    start: int
    end: int
    kind: Kind = "emergency"


class _Texts(PackFile):
    texts: dict[Kind, dict[str, str]]


def _data() -> _Texts:
    return load_pack(_Texts, "bedside.sop", "data/red_flags.yaml")


def rules_pack() -> Pack:
    """What the texts say of themselves; they are unreviewed until it says otherwise."""
    return _data().pack


def red_flags(message: str) -> tuple[RedFlag, ...]:
    """The emergencies that stand in the message, in their order; at most one of a rule.

    Positions are code points of the message as given.
    """
    flags: dict[str, RedFlag] = {}
    for one in heard(message):
        if one.how == "now" and not one.mild:
            id_ = _HARM.get(one.danger, one.rule)
            kind: Kind = "emergency" if one.danger == "emergency" else "crisis"
            flags.setdefault(id_, RedFlag(id=id_, start=one.start, end=one.end, kind=kind))
    return tuple(flags.values())


def emergency_text(
    flags: Sequence[RedFlag], *, number: str, crisis_line: str = "", language: str = "en"
) -> str:
    """The fixed text that replaces the question.

    Args:
        flags: What `red_flags` found, at least one; a crisis is answered before an emergency.
        number: The emergency number that the deployer set; "" says "your local emergency number".
        crisis_line: A crisis line's number, "" where the deployer set none.
        language: "en", "ar" or "hi"; anything else gets English.
    """
    texts = _data().texts
    kinds: list[Kind] = sorted({flag.kind for flag in flags})
    local = {
        "en": "your local emergency number",
        "ar": "رقم الطوارئ المحلي",
        "hi": "अपने स्थानीय आपातकालीन नंबर",
    }
    said = []
    for kind in kinds or ["emergency"]:
        by_language = texts[kind]
        chosen = language if language in by_language else "en"
        text = by_language[chosen]
        if not number:  # the Arabic "by" is written on to a word, and apart from a number
            text = text.replace("بـ {number}", f"ب{local['ar']}")
        text = text.replace("{number}", number or local[chosen])
        line = {"en": "A crisis line", "ar": "خط للدعم النفسي", "hi": "संकट सहायता लाइन"}[chosen]
        said.append(
            text.replace("{crisis}", f"{line}: {crisis_line}." if crisis_line else "").strip()
        )
    return " ".join(" ".join(one.split()) for one in said)
