"""A space of a person's own: inner work, or inner thoughts linked to one of their conversations. Pure.

Nobody is invited into such a space and nothing is shared from it. Linking is an act of this person's and
can be taken back; the other person's side never hears of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bedside.core.context import Item
from bedside.flows.companion.kept import Reflection
from bedside.flows.companion.mirror import asks
from bedside.flows.companion.reading import is_act
from bedside.language.sentences import sentences

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bedside.flows.companion.reading import Said
    from bedside.flows.companion.talk import Voice

__all__ = ["DEEDS_HERE", "greeting", "reply", "thoughts"]

DEEDS_HERE = frozenset({"link", "unlink", "prefer", "forget", "consent", "resume"})
"""What can be done in a space of one's own."""
MOST_THOUGHTS = 2
_FEWEST_WORDS, _LONGEST = 4, 240


def greeting(voice: Voice, said: Said, *, linked: bool, substance: bool) -> str:
    """The first words of the space."""
    first = voice.pick("inner.first_linked" if linked else "inner.first")
    if not substance and not asks(said.text):
        return f"{first} {voice.pick('inner.open')}"
    return f"{first}\n\n{reply(voice, said)}"


def reply(voice: Voice, said: Said) -> str:
    """Reflect, then one question that may be left lying; their own question is given back to them."""
    if asks(said.text):
        return voice.pick("inner.asked")
    return f"{voice.reflection(said)} {voice.pick('inner.probe' if said.brief else 'inner.ask')}"


def thoughts(history: Sequence[Item], *, space: str) -> tuple[Reflection, ...]:
    """The latest thoughts that were written here, each a sentence or more of one message, oldest first."""
    found: list[Reflection] = []
    for item in reversed(history):
        if len(found) == MOST_THOUGHTS:
            break
        text = " ".join(item.body.split())
        if item.role != "user" or is_act(text) or len(text.split()) < _FEWEST_WORDS:
            continue
        found.append(Reflection(text=_short(text), session=space, source=item.key))
    return tuple(reversed(found))


def _short(text: str) -> str:
    """Whole sentences from the end, where a thought usually arrives; one long one is cut visibly."""
    if len(text) <= _LONGEST:
        return text
    spans = sentences(text)
    start = next((a for a, _ in spans if len(text) - a <= _LONGEST), None)
    if start is not None:
        return text[start:]
    return f"{text[:_LONGEST].rsplit(' ', 1)[0]} [truncated]"
