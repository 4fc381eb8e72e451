"""What the memory room can be asked, and what comes back. Pure."""

from __future__ import annotations

from datetime import date
from typing import Literal

from bedside.core.source import Span
from bedside.core.turn import Need
from bedside.core.value import value

__all__ = ["DEPTHS", "Depth", "NotesNeed", "RecallNeed", "Recalled", "Remembered"]

Depth = Literal["none", "minimal", "light", "full"]
DEPTHS: dict[Depth, int] = {"none": 0, "minimal": 0, "light": 2, "full": 5}
"""How many other sessions each depth searches out. `minimal` gives this session's summary and facts."""


@value
class Remembered:
    """One thing remembered, with where it comes from.

    `span` is where it was said. A message's `text` equals the stored text there; a fact's and a note's
    `text` was written from the words `quote` that stand there; a summary has no span. `label` says when
    and by whom, and what "yesterday" meant. `score` orders the items of one recall, higher is better;
    `similarity` is cosine in [-1, 1], `None` where no vector was compared. `said` is the day of the
    message. `tokens` counts `line`.
    """

    kind: Literal["message", "fact", "summary", "profile", "note"]
    key: str
    text: str
    session: str
    said: date | None = None
    span: Span | None = None
    label: str = ""
    quote: str = ""
    category: str = ""
    score: float = 0.0
    similarity: float | None = None
    tokens: int = 0

    @property
    def line(self) -> str:
        """As it stands in a prompt: the label in brackets, then the text."""
        return f"[{self.label}] {self.text}" if self.label else self.text


@value
class Recalled:
    """What was remembered, best first inside each kind; never more than the need's tokens.

    `why_empty` says why there is nothing ("nothing remembered", "no consent to other sessions",
    "below the threshold"); `degraded` names what did not serve ("vectors not ready: 3 messages").
    `left_out` counts what was found and had no room.
    """

    items: tuple[Remembered, ...] = ()
    tokens: int = 0
    why_empty: str = ""
    degraded: tuple[str, ...] = ()
    left_out: int = 0

    def of(self, kind: str) -> tuple[Remembered, ...]:
        """The items of one kind, in their order."""
        return tuple(item for item in self.items if item.kind == kind)


@value
class RecallNeed(Need[Recalled]):
    """Remember for the person of the grant; nobody else's data is in reach.

    `across` also searches the person's other sessions: served only with recorded consent. A session
    counts from `threshold` on (cosine of its facts and summary to the query); those in `linked` are
    private spaces that belong to this conversation and weigh `boost` times as much. `shown` are ids of messages
    that the prompt holds already. `facts` bounds the facts of this session.
    """

    query: str
    depth: Depth = "light"
    threshold: float = 0.55
    across: bool = False
    linked: tuple[str, ...] = ()
    boost: float = 1.3
    shown: tuple[str, ...] = ()
    names: tuple[tuple[str, str], ...] = ()
    """(role, name) of who speaks, so that a question that names somebody finds what they said."""
    messages: int = 10
    facts: int = 5
    tokens: int = 700


@value
class NotesNeed(Need[Recalled]):
    """What the asking clinician wants remembered about the work (CO-12); never without consent."""

    query: str = ""
    limit: int = 5
    tokens: int = 150
