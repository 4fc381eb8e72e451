"""The reconciler by rule: what one approved statement names and the other does not. Pure.

It reads what both gave out and nothing else. A gap is shown only after each person's own turn has
held it against that person's own words (`wall.overlaps`): no turn ever loads both sides.
"""

from __future__ import annotations

from bedside.flows.companion.reading import read
from bedside.flows.companion.state import Gap, Shared
from bedside.flows.companion.tables import Tables

__all__ = ["gap_of", "pair_of"]

_MOST = 3
_NEAR = {
    "anxious": "afraid",
    "frustrated": "angry",
    "pressured": "overwhelmed",
    "ignored": "unappreciated",
}
"""Names that are close enough to count as one here."""


def pair_of(shared: Shared) -> tuple[str, ...]:
    """The ids of the two live statements, one of each person; empty where there are not two."""
    latest = {one.author: one.id for one in shared.live("statement")}
    return tuple(sorted(latest.values())) if len(latest) > 1 else ()


def gap_of(shared: Shared, tables: Tables) -> Gap | None:
    """The gap between the two statements; `None` where there is none, or it is known already."""
    pair = pair_of(shared)
    ident = "gap-" + "-".join(pair)
    if not pair or any(one.id == ident for one in shared.gaps):
        return None
    named = [
        {_NEAR.get(one, one) for one in (*said.feelings, *said.theirs, *said.needs)}
        for share in shared.live("statement")
        if share.id in pair
        for said in (read(share.text, tables.words),)
    ]
    missing = sorted(named[0] ^ named[1])[:_MOST]
    return Gap(id=ident, between=pair, text=", ".join(missing)) if missing else None
