"""Response modes: a hint for the writer and a word limit (CO-06). Pure."""

from __future__ import annotations

from typing import get_args

from bedside.core.value import value
from bedside.flows.copilot.modes_text import HINTS, Mode

__all__ = ["MODES", "ResponseMode", "mode_of"]


@value
class ResponseMode:
    """How an answer is to read; `words` is its limit."""

    name: Mode
    hint: str
    words: int


_WORDS: dict[Mode, int] = {
    "casual": 60,
    "default": 120,
    "synopsis": 150,
    "plan": 250,
    "broad": 300,
    "detail": 400,
}
MODES: dict[str, ResponseMode] = {
    name: ResponseMode(name=name, hint=HINTS[name], words=_WORDS[name]) for name in get_args(Mode)
}


def mode_of(asked: str, *, text: str, otherwise: str) -> ResponseMode:
    """The mode asked for by option, else by the message's own words, else the intent's."""
    if asked in MODES:
        return MODES[asked]
    said = text.lower()
    for name, phrases in _SAID.items():
        if any(phrase in said for phrase in phrases):
            return MODES[name]
    return MODES[otherwise if otherwise in MODES else "default"]


_SAID: dict[str, tuple[str, ...]] = {
    "detail": ("in detail", "detailed", "in depth", "in-depth", "step by step", "thorough"),
    "broad": ("everything about", "all there is", "tell me everything", "broadly", "in general"),
}
