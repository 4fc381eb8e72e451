"""What intake's turns came to, as counts: metrics, the funnel, and alerts (IN-20). No words, no values."""

from __future__ import annotations

import json
from collections import Counter
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, func, select

from bedside.storage.tables.jobs import catalogue
from bedside.storage.tables.turn import turn
from bedside.wiring.ask import Who
from bedside.wiring.engine import Engine

__all__ = ["LIMITS", "alerts_of", "figures", "measure"]

HOUR, DAY = 3_600, 86_400
LIMITS = {
    "voice_failures": 0.01, "fallbacks": 0.05, "served": 0.95, "ceiling_hits": 5, "forced": 0.01,
    "safety": 0.5,
}  # fmt: skip
"""Alerts: shares over one hour (`served` from below, `ceiling_hits` a count), `forced` over a day.

`safety` is how far the hour's grade may stand below the day's: 5 where no check had to take away
anything of a model's, 0 where one had to in every turn of a model's.
"""
_ENGAGED = 3


async def figures(engine: Engine, who: Who, *, seconds: int = HOUR) -> dict[str, Any]:
    """The tenant's figures of the last `seconds`, and the alerts that stand now.

    Raises:
        AccessDenied: the caller is neither an engineer nor an administrator.
    """
    if not who.roles & {"engineer", "admin"}:
        engine.needs_role(who, "engineer")
    now = engine.clock.now()

    def work(connection: Connection) -> dict[str, Any]:
        window = measure(connection, who.tenant, now - timedelta(seconds=seconds))
        hour = measure(connection, who.tenant, now - timedelta(seconds=HOUR))
        day = measure(connection, who.tenant, now - timedelta(seconds=DAY))
        return {"seconds": seconds, **window, "alerts": alerts_of(hour, day)}

    return await engine.store.read(work)


def measure(connection: Connection, tenant: str, since: datetime) -> dict[str, Any]:
    """Counts over the intake turns that began since then. Shares are the reader's to make."""
    rows = connection.execute(
        select(turn.c.session, turn.c.status, turn.c.result)
        .where(turn.c.tenant == tenant, turn.c.flow == "intake", turn.c.started_at >= since)
        .order_by(turn.c.started_at)
    )
    count: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    by: Counter[str] = Counter()
    sources: Counter[str] = Counter()
    papers: Counter[str] = Counter()
    funnel: dict[str, dict[str, set[str]]] = {}
    for row in rows:
        if row.status == "open":
            continue
        count["turns"] += 1
        stamps = json.loads(row.result or "{}").get("stamps")
        if row.status != "complete" or stamps is None:
            count["errored"] += 1
            continue
        name = stamps["architecture"]
        by[name] += 1
        sources[stamps["source"]] += 1
        if stamps["fallback_reason"]:
            count["fell_through"] += 1
            reasons[stamps["fallback_reason"]] += 1
        else:
            count["served"] += 1
        count["ceiling_hits"] += bool(stamps["ceiling_hit"])
        count["voice_failures"] += bool(stamps["voice_failures"])
        count["by_model"] += bool(stamps["by_model"])
        count["red_flags"] += bool(stamps["red_flags"])
        papers.update(stamps["documents"])
        steps = funnel.setdefault(name, {one: set() for one in _STEPS})
        steps["start"].add(row.session)
        if stamps["turn"] >= _ENGAGED:
            steps["engaged"].add(row.session)
        if stamps["status"] != "intake":
            steps["matched"].add(row.session)
        if stamps["consent"] == "confirmed":
            steps["consented"].add(row.session)
    edits = connection.execute(
        select(func.count()).where(
            catalogue.c.tenant == tenant, catalogue.c.kind == "sop", catalogue.c.at >= since
        )
    ).scalar()
    return {
        **{name: count[name] for name in _COUNTS},
        "fallback_reasons": dict(reasons),
        "architectures": dict(by),
        "sources": dict(sources),
        "documents": dict(papers),
        "cache_invalidations": int(edits or 0),
        "funnel": {
            name: {one: len(cases) for one, cases in steps.items()}
            for name, steps in sorted(funnel.items())
        },
    }


_COUNTS = (
    "turns", "served", "fell_through", "errored", "ceiling_hits", "voice_failures", "by_model",
    "red_flags",
)  # fmt: skip
_STEPS = ("start", "engaged", "matched", "consented")


def alerts_of(hour: dict[str, Any], day: dict[str, Any]) -> list[dict[str, Any]]:
    """The alerts that stand. A share needs turns: of none nothing is said."""
    found: list[dict[str, Any]] = []

    def over(name: str, part: int, whole: int, limit: float) -> None:
        if whole and part / whole > limit:
            found.append(
                {"alert": name, "share": round(part / whole, 4), "limit": limit, "n": whole}
            )

    turns = hour["turns"]
    over("voice_failures", hour["voice_failures"], hour["by_model"], LIMITS["voice_failures"])
    over("fallbacks", hour["fell_through"], turns, LIMITS["fallbacks"])
    if turns and hour["served"] / turns < LIMITS["served"]:
        share = round(hour["served"] / turns, 4)
        found.append({"alert": "served", "share": share, "limit": LIMITS["served"], "n": turns})
    if hour["ceiling_hits"] > LIMITS["ceiling_hits"]:
        found.append(
            {"alert": "ceiling_hits", "count": hour["ceiling_hits"], "limit": 5, "n": turns}
        )
    now, before = _safety(hour), _safety(day)
    if now is not None and before is not None and before - now > LIMITS["safety"]:
        found.append(
            {
                "alert": "safety",
                "grade": now,
                "before": before,
                "limit": LIMITS["safety"],
                "n": hour["by_model"],
            }
        )
    over("forced", day["sources"].get("force", 0), day["turns"], LIMITS["forced"])
    return found


def _safety(window: dict[str, Any]) -> float | None:
    """The grade of a window, 0 to 5; `None` where no model wrote."""
    if not window["by_model"]:
        return None
    return round(5 * (1 - window["voice_failures"] / window["by_model"]), 2)
