"""What is kept of a person's own words beside the facts: people, wishes, inner thoughts. Pure values."""

from __future__ import annotations

from typing import Literal

from bedside.core.value import value

__all__ = ["Acquaintance", "Kept", "Reflection"]


@value
class Acquaintance:
    """Somebody whom the person mentioned: the words used for them, and how they are related, "" unknown.

    `quote` equals the message's text from `start` to `end` (code points, half-open).
    """

    id: str
    name: str
    relation: str
    quote: str
    source: str
    start: int
    end: int

    @property
    def line(self) -> str:
        """As it stands in a prompt."""
        return f"{self.name} ({self.relation})" if self.relation else self.name


@value
class Kept:
    """What the person asked to have kept in mind: one line, and the verbatim words that it came from.

    `source` is the message that holds the words, or the turn of the deed that gave them.
    """

    id: str
    kind: Literal["preference", "fact"]
    line: str
    quote: str
    source: str


@value
class Reflection:
    """A thought from a linked inner space, in the person's own words. `session` is that space."""

    text: str
    session: str
    source: str
