"""Answers that list what a category of the record holds. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from bedside.flows.copilot.query import Query
from bedside.flows.copilot.tools.events import is_active, is_over
from bedside.flows.copilot.tools.sheet import Sheet, day_of, plain_name, said_as_written, when_text
from bedside.record.needs import Category, Fact, RecordFacts

__all__ = ["answer_list"]

_NOUN = {
    "medications": ("medicine", "medicines"),
    "conditions": ("problem", "problems"),
    "immunizations": ("immunization", "immunizations"),
    "procedures": ("procedure", "procedures"),
    "documents": ("document", "documents"),
    "orders": ("order", "orders"),
    "alerts": ("alert", "alerts"),
    "careplans": ("care plan", "care plans"),
    "goals": ("goal", "goals"),
    "reports": ("diagnostic report", "diagnostic reports"),
    "family_history": ("family history entry", "family history entries"),
}
_BY_STATUS = {"medications", "conditions", "careplans", "goals", "orders"}
_MOST_LISTED = 20


def answer_list(query: Query, record: RecordFacts, sheet: Sheet) -> bool:
    """List, count, or date a category; `False` where the query asks for something else."""
    category: Category = query.topic  # type: ignore[assignment]
    facts = [
        fact
        for fact in record.of(category)
        if query.window is None or query.window.holds(day_of(fact))
    ]
    one, many = _NOUN[query.topic]
    chosen, word = _by_status(query, facts)
    span = f" {query.window.said}" if query.window is not None else ""
    if not chosen:
        return _none(query, facts, f"{word}{many}", span, sheet)
    if query.field == "surgery":
        sheet.gap()
        sheet.say("Which procedures were operations is not marked in this record.")
    if query.ask in {"when_last", "when_first"}:
        return _edge(query, chosen, one, sheet)
    if query.ask not in {"list", "count"}:
        return False
    names = _by_name(chosen)
    if query.last is not None:
        chosen = chosen[: query.last]
        names = {str(index): [fact] for index, fact in enumerate(chosen)}
    noun = one if len(names) == 1 else many
    entries = f", {len(chosen)} entries" if len(chosen) != len(names) else ""
    order = ", newest first" if len(names) > 1 else ""
    sheet.count(f"{len(names)} {word}{noun}{span}{entries}{order}:")
    groups = list(names.values())
    for group in groups[:_MOST_LISTED]:
        sheet.say(f"- {_line(group)} {sheet.cite(group[0])}")
        if len(group) > 1:
            sheet.calculated(f"newest of {len(group)}")
    if len(groups) > _MOST_LISTED:
        sheet.count(f"- and {len(groups) - _MOST_LISTED} more")
    return True


def _by_status(query: Query, facts: list[Fact]) -> tuple[list[Fact], str]:
    """The facts of the asked status, and the word for it in the answer."""
    if query.topic not in _BY_STATUS or query.status == "any":
        return facts, ""
    if query.status == "active":
        word = "current " if query.topic == "medications" else "active "
        return [fact for fact in facts if is_active(fact)], word
    word = "past " if query.topic == "medications" else "resolved "
    standing = {plain_name(fact).lower() for fact in facts if is_active(fact)}
    over = [fact for fact in facts if is_over(fact)]
    return [fact for fact in over if plain_name(fact).lower() not in standing], word


def _none(query: Query, facts: Sequence[Fact], what: str, span: str, sheet: Sheet) -> bool:
    sheet.missing(f"{what}{span}")
    sheet.say(f"No {what} are recorded{span}.")
    if facts:
        others = {plain_name(fact) for fact in facts}
        if query.status != "any" and query.topic in _BY_STATUS:
            noun = _NOUN[query.topic][0 if len(others) == 1 else 1]
            sheet.count(f"The record holds {len(others)} other {noun}, not listed here.")
    return True


def _by_name(facts: Sequence[Fact]) -> dict[str, list[Fact]]:
    """Entries under one name together, in order of the newest."""
    names: dict[str, list[Fact]] = {}
    for fact in facts:
        names.setdefault(plain_name(fact).lower(), []).append(fact)
    return names


def _line(group: Sequence[Fact]) -> str:
    newest = group[0]
    name = plain_name(newest)
    again = f" (newest of {len(group)})" if len(group) > 1 else ""
    stale = ", stale" if newest.stale else ""
    match newest.category:
        case "medications":
            dose = f", {newest.dosage}" if newest.dosage else ""
            status = newest.status or "status not recorded"
            return f"{name}: {status}, ordered {when_text(newest)}{again}{dose}{stale}"
        case "conditions":
            end = newest.end.date() if newest.end is not None else None
            ended = f", ended {said_as_written(end, newest)}" if end is not None else ""
            return f"{name}: {newest.status or 'status not recorded'}, since {when_text(newest)}{ended}{again}"
        case "orders":
            said = ", ".join(part for part in (newest.status, newest.severity) if part)
            reasons = f", for {', '.join(newest.reasons)}" if newest.reasons else ""
            status = f" ({said})" if said else ""
            return f"{name}{status}, {when_text(newest)}{again}{reasons}{stale}"
        case "family_history":
            return (
                f"{name}: {newest.text_value or 'no condition named'}, {when_text(newest)}{again}"
            )
        case "careplans" | "goals":
            status = f" ({newest.status})" if newest.status else ""
            return f"{name}{status}, {when_text(newest)}{again}"
        case "alerts":
            return newest.line.removeprefix("Alert: ").rstrip(".") + again
        case _:
            return f"{name}: {when_text(newest)}{again}"


def _edge(query: Query, chosen: Sequence[Fact], one: str, sheet: Sheet) -> bool:
    dated = [fact for fact in chosen if day_of(fact) is not None]
    if not dated:
        return False
    fact = dated[-1] if query.ask == "when_first" else dated[0]
    word = "First" if query.ask == "when_first" else "Latest"
    same = [other for other in dated if day_of(other) == day_of(fact)]
    names = "; ".join(f"{plain_name(f)} {sheet.cite(f)}" for f in same[:6])
    sheet.say(f"{word} {one}: {when_text(fact)}, {names}.")
    return True
