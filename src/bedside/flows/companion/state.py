"""What a companion conversation keeps: one part that both share, and one that is each person's own.

Nothing private is ever in the shared part: it holds who takes part, how far they are, and the texts
that their authors gave out. The other's own part is never loaded. Pure.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any, Literal, get_args

from bedside.core.value import value
from bedside.flows.companion.kept import Acquaintance, Kept, Reflection
from bedside.memory import summaries
from bedside.memory.facts import Fact
from bedside.memory.summaries import Summary

__all__ = [
    "KINDS",
    "Gap",
    "Kind",
    "Mine",
    "Pair",
    "Share",
    "Shared",
    "Written",
    "dump",
    "load",
    "start",
]

Kind = Literal["statement", "need", "agreement", "invitation"]
KINDS: tuple[Kind, ...] = get_args(Kind)


@value
class Share:
    """A text that its author gave to the other. Withdrawn ones have no text any more.

    `acknowledged` is by the other person; `turn` is the turn of the act, which the audit names.
    """

    id: str
    author: str
    kind: Kind
    text: str
    turn: str
    state: Literal["delivered", "acknowledged", "withdrawn"] = "delivered"


@value
class Gap:
    """What one statement names and the other does not. Shown once both have cleared it."""

    id: str
    between: tuple[str, ...]
    text: str
    cleared: tuple[str, ...] = ()


@value
class Shared:
    """What both may see. `people` have joined, in order; `invited` not yet."""

    people: tuple[str, ...] = ()
    invited: tuple[str, ...] = ()
    begun: tuple[str, ...] = ()
    shares: tuple[Share, ...] = ()
    gaps: tuple[Gap, ...] = ()

    def other(self, person: str) -> str | None:
        """The other person, joined or invited; `None` while there is none."""
        return next((one for one in (*self.people, *self.invited) if one != person), None)

    def live(self, kind: Kind | None = None) -> tuple[Share, ...]:
        """The shares that stand, oldest first."""
        return tuple(
            one
            for one in self.shares
            if one.state != "withdrawn" and (kind is None or one.kind == kind)
        )

    def acknowledged_by_both(self, kind: Kind) -> bool:
        """Has each of two people given one of this kind that the other acknowledged?"""
        done = {one.author for one in self.live(kind) if one.state == "acknowledged"}
        return len(self.people) > 1 and done >= set(self.people)


@value
class Written:
    """A draft, its author's alone until given out. `by` whom its words are as they stand."""

    id: str
    kind: Kind
    text: str
    state: Literal["drafted", "approved", "shared", "withdrawn"] = "drafted"
    by: Literal["person", "rules", "model"] = "person"


@value
class Mine:
    """One person's own part.

    `stage` is 0 to 2; 3 and 4 follow from what was shared. `since` counts this person's turns in the
    stage. `asked` is what the guide's last question would settle ("" nothing). `seen` are shares
    that were shown here. `lines` counts the templates used, so that none comes twice in a row.
    `announced` is the last stage whose beginning was told. `failures` and `rest_until` are the breaker of the small model.
    `before` counts the messages from before the person began. `space` is "inner" in a space of the
    person's own, and `link` there the conversation that it belongs to; `linked` are in a conversation the
    inner spaces that its person linked to it. `forgotten` are ids that the person took out.
    """

    stage: int = 0
    turns: int = 0
    since: int = 0
    intensities: tuple[int, ...] = ()
    asked: str = ""
    halted: str = ""
    drafts: tuple[Written, ...] = ()
    facts: tuple[Fact, ...] = ()
    facts_refused: int = 0
    summary: Summary | None = None
    consents: tuple[str, ...] = ()
    kept: tuple[Kept, ...] = ()
    people: tuple[Acquaintance, ...] = ()
    reflections: tuple[Reflection, ...] = ()
    forgotten: tuple[str, ...] = ()
    seen: tuple[str, ...] = ()
    told: str = ""
    lines: Mapping[str, int] | None = None
    announced: int = 0
    feelings: tuple[str, ...] = ()
    theirs: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    before: int = 0
    space: str = ""
    link: str = ""
    linked: tuple[str, ...] = ()
    failures: int = 0
    rest_until: int = 0

    @property
    def preferences(self) -> tuple[str, ...]:
        """How the person wants to be spoken with, oldest first."""
        return tuple(one.line for one in self.kept if one.kind == "preference")

    def drafted(self, ident: str) -> Written | None:
        """The draft of that id; "latest" and "" are the newest that stands."""
        if ident in {"", "latest", "draft", "true", "True"}:
            standing = [one for one in self.drafts if one.state in {"drafted", "approved"}]
            return standing[-1] if standing else None
        return next((one for one in self.drafts if one.id == ident), None)


@value
class Pair:
    """The state as one person's turn has it."""

    shared: Shared
    mine: Mine


def dump(state: Pair) -> dict[str, Any]:
    """The two rows."""
    return {"shared": asdict(state.shared), "mine": asdict(state.mine)}


def load(tree: Mapping[str, Any]) -> Pair:
    """From the two rows; `None` rows are a beginning."""
    shared, mine = tree.get("shared") or {}, tree.get("mine") or {}
    return Pair(
        shared=Shared(
            people=tuple(shared.get("people", ())),
            invited=tuple(shared.get("invited", ())),
            begun=tuple(shared.get("begun", ())),
            shares=tuple(Share(**one) for one in shared.get("shares", ())),
            gaps=tuple(
                Gap(**{**one, "between": tuple(one["between"]), "cleared": tuple(one["cleared"])})
                for one in shared.get("gaps", ())
            ),
        ),
        mine=_mine(mine),
    )


def _mine(tree: Mapping[str, Any]) -> Mine:
    known = {one.name for one in fields(Mine)}
    made: dict[str, Any] = {
        name: tuple(part) if isinstance(part, list) else part
        for name, part in tree.items()
        if name in known
    }
    if "drafts" in made:
        made["drafts"] = tuple(Written(**one) for one in made["drafts"])
    if "facts" in made:
        made["facts"] = tuple(Fact(**one) for one in made["facts"])
    for name, kind in (("kept", Kept), ("people", Acquaintance), ("reflections", Reflection)):
        if name in made:
            made[name] = tuple(kind(**one) for one in made[name])
    if made.get("summary"):
        made["summary"] = summaries.load(json.dumps(made["summary"]))
    return Mine(**made)


def start() -> Pair:
    """A conversation that has not begun."""
    return Pair(shared=Shared(), mine=Mine())
