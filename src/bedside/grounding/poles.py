"""Words that have a reverse: stop and start, low and high, rose and fell. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from bedside.core.value import value
from bedside.grounding.terms import stem_of
from bedside.language.negation import Scope

__all__ = ["WORD", "Pole", "poles"]

_AXES: dict[str, dict[str, str]] = {
    "action": {
        "start": "start begin began begun initiate commence introduce restart resume",
        "keep": "continue maintain active ongoing receive",
        "stop": "stop discontinue cease withdraw withdrew withdrawn withhold withheld suspend pause hold held",
        "avoid": "avoid",
        "more": "double triple treble quadruple escalate uptitrate",
        "less": "halve taper wean downtitrate",
    },
    "course": {
        "up": "increase raise rise rose risen climb elevate",
        "down": "decrease reduce fell fallen falling drop lowered declining",
    },
    "level": {
        "high": "high raised elevated",
        "low": "low reduced decreased suppressed",
        "normal": "normal unremarkable preserved",
    },
    "judgement": {"better": "improve better", "worse": "worsen worse deteriorate declining"},
    "quality": {"good": "good excellent", "poor": "poor poorly"},
    "growth": {"benign": "benign", "malignant": "malignant"},
    "pace": {"acute": "acute", "chronic": "chronic"},
    "pressure": {"systolic": "systolic", "diastolic": "diastolic"},
    "rate": {"slow": "bradycardia", "fast": "tachycardia"},
    "end": {"proximal": "proximal", "distal": "distal"},
    "flank": {"medial": "medial", "lateral": "lateral"},
    "face": {"anterior": "anterior", "posterior": "posterior"},
    "route": {
        "mouth": "oral orally",
        "vein": "intravenous intravenously",
        "muscle": "intramuscular intramuscularly",
        "skin": "subcutaneous subcutaneously",
    },
    "height": {"superior": "superior", "inferior": "inferior"},
}
_OF_DOSES = {"up": "more", "down": "less"}
_DOSE_NEAR = re.compile(
    r"\bdos(?:e|es|age|ing)\b|\bto\s+\d[\d.,]*\s?(?:mg|mcg|g|units?|ml)\b|\bby\s+\d[\d.,]*\s?(?:mg|mcg|g|units?)\b",
    re.IGNORECASE,
)
_KIND_OF = re.compile(
    r"[\s-](?:doses?|risk|thresholds?|intensity|fat|salt|sodium diet|fib(?:re|er)|grade|molecular|density|"
    r"flow|suspicion|priority|back|limb|output|power|resolution|sensitivity)\b",
    re.IGNORECASE,
)
WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)?")
_WENT = re.compile(r"\b(?:came|comes?|went|goes|gone|brought) (up|down)\b", re.IGNORECASE)
_TIMES = re.compile(
    r"\b(before|after)\s+(?:the |a |an |each |every )?([^\W\d_]{3,})", re.IGNORECASE
)


@cache
def _filed() -> dict[str, tuple[tuple[str, str], ...]]:
    """Each stem with its (axis, pole)s."""
    rows: dict[str, list[tuple[str, str]]] = {}
    for axis, poles in _AXES.items():
        for pole, words in poles.items():
            for word in words.split():
                rows.setdefault(stem_of(word), []).append((axis, pole))
    return {key: tuple(dict.fromkeys(found)) for key, found in rows.items()}


@value
class Pole:
    """A word of a text: its axis, its pole, and how it is written."""

    axis: str
    pole: str
    word: str


def poles(text: str, scopes: Sequence[Scope], *, of_medicine: bool) -> list[Pole]:
    """The poles of a text, in order, without the words that it denies (`scopes`).

    Where it is `of_medicine`, a rise or fall of a dose is an action.
    """
    out: list[Pole] = []
    for match in WORD.finditer(text):
        rows = _filed().get(stem_of(match.group().replace("-", "")))
        if rows is None or _denied(scopes, match.start(), match.end()):
            continue
        if any(axis == "level" for axis, _ in rows) and _KIND_OF.match(text, match.end()):
            continue
        for axis, pole in rows:
            if axis == "course" and _DOSE_NEAR.search(text) and of_medicine:
                out.append(Pole(axis="action", pole=_OF_DOSES[pole], word=match.group()))
            else:
                out.append(Pole(axis=axis, pole=pole, word=match.group()))
    out += [
        Pole(axis="course", pole=match[1].lower(), word=match[1]) for match in _WENT.finditer(text)
    ]
    out += [
        Pole(axis=f"time {stem_of(match[2])}", pole=match[1].lower(), word=match[1])
        for match in _TIMES.finditer(text)
    ]
    return out


def _denied(scopes: Sequence[Scope], start: int, end: int) -> bool:
    return any(
        one.kind == "negated"
        and one.start <= start < one.end
        and not (one.trigger[0] <= start and end <= one.trigger[1])
        for one in scopes
    )
