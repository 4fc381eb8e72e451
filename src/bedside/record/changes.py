"""What changed since the last encounter: entries that are new, ended, or differ (CO-16)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import date
from decimal import Decimal

from bedside.clinical.units import IncompatibleUnits, UnknownUnit, convert
from bedside.core.value import value
from bedside.record.abnormal import figure_of, readings_of, short_name
from bedside.record.fhir.dates import spoken_date
from bedside.record.limits import standing
from bedside.record.needs import Category, Fact, Insight, Person

__all__ = ["changes_since_last_encounter"]

_NOTABLE = Decimal("0.15")
_SEEN = {"finished", "in-progress", "arrived", "triaged", "onleave", ""}
_QUIET = {"height", "body_height", "pain"}
_NEW: tuple[tuple[Category, str, str], ...] = (
    ("allergies", "New allergy", "warning"),
    ("alerts", "New alert", "warning"),
    ("conditions", "New problem", "warning"),
    ("medications", "Medicine ordered", "info"),
    ("procedures", "Procedure", "info"),
    ("reports", "New report", "info"),
    ("documents", "New document", "info"),
    ("orders", "New order", "info"),
    ("immunizations", "Immunisation", "info"),
)
_MANY = 4


def changes_since_last_encounter(
    facts: Sequence[Fact], person: Person, *, as_of: date, pregnant: bool | None = None
) -> tuple[Insight, ...]:
    """What is new since the last visit; where nothing is, what that visit changed.

    Each text names the visit and its date. Empty where no visit is recorded, or nothing changed.
    A measured value counts where it left or entered its range or moved by 15 %; the others are
    counted in one entry.
    """
    visits = sorted(
        (
            fact
            for fact in facts
            if fact.category == "timeline"
            and fact.when is not None
            and fact.when.date() <= as_of
            and fact.status in _SEEN
        ),
        key=_ended,
        reverse=True,
    )
    if not visits:
        return ()
    last = visits[0]
    day = _ended(last)
    since = f"since the visit of {spoken_date(day)}"
    scope = _Scope(person=person, pregnant=pregnant, as_of=as_of, said=since)
    found = tuple(_changes(facts, lambda d: day < d <= as_of, scope))
    if found:
        return found
    before = next((_ended(visit) for visit in visits if _ended(visit) < day), None)
    scope = replace(scope, said=f"at the last visit, {spoken_date(day)}")
    if before is None:
        return tuple(_changes(facts, lambda d: d == day, scope))
    return tuple(_changes(facts, lambda d: before < d <= day, scope))


def _ended(visit: Fact) -> date:
    moment = visit.end or visit.when
    return moment.date() if moment else date.min


_Inside = Callable[[date], bool]


@value
class _Scope:
    person: Person
    pregnant: bool | None
    as_of: date
    said: str


def _changes(facts: Sequence[Fact], inside: _Inside, scope: _Scope) -> Iterator[Insight]:
    by_category: dict[str, list[Fact]] = defaultdict(list)
    for fact in facts:
        by_category[fact.category].append(fact)
    for category, title, severity in _NEW[:3]:
        yield from _new(by_category[category], title, severity, inside, scope.said)
    yield from _over(by_category["conditions"], "Problem ended", inside, scope.said)
    yield from _over(by_category["medications"], "Medicine ended", inside, scope.said)
    yield from _results(by_category["observations"], inside, scope)
    for category, title, severity in _NEW[3:]:
        yield from _new(by_category[category], title, severity, inside, scope.said)


def _new(
    facts: Sequence[Fact], title: str, severity: str, inside: _Inside, said: str
) -> Iterator[Insight]:
    fresh = [fact for fact in facts if (day := _begun(fact)) is not None and inside(day)]
    if len(fresh) > _MANY:
        names = ", ".join(dict.fromkeys(fact.name for fact in fresh))
        yield _change(
            f"{title}: {len(fresh)} entries", f"{title} {said}: {names}.", fresh, severity
        )
        return
    for fact in fresh:
        yield _change(f"{title}: {fact.name}", f"{title} {said}: {fact.line}", [fact], severity)


def _begun(fact: Fact) -> date | None:
    moment = fact.updated or fact.when if fact.category == "conditions" else fact.when
    return moment.date() if moment else None


def _over(facts: Sequence[Fact], title: str, inside: _Inside, said: str) -> Iterator[Insight]:
    for fact in facts:
        if fact.end is not None and inside(fact.end.date()):
            yield _change(f"{title}: {fact.name}", f"{title} {said}: {fact.line}", [fact], "info")


def _results(observations: Sequence[Fact], inside: _Inside, scope: _Scope) -> Iterator[Insight]:
    said, quiet = scope.said, list[Fact]()
    for key, some in readings_of(observations, as_of=scope.as_of).items():
        fresh = [fact for fact in some if fact.when and inside(fact.when.date())]
        if not fresh or key in _QUIET:
            continue
        latest, oldest = fresh[0], fresh[-1].when
        earlier = next(
            (fact for fact in some if fact.when and oldest and fact.when < oldest),
            None,
        )
        now = _level(latest, scope)
        then = _level(earlier, scope) if earlier else "normal"
        if not _notable(latest, earlier, now, then):
            quiet.append(latest)
            continue
        was = (
            f"was {figure_of(earlier)} on {spoken_date(earlier.when.date())}"
            if earlier and earlier.when
            else "no earlier reading"
        )
        word = f", {now.replace('_', 'ly ')}" if now not in {"normal", ""} else ""
        word = word or (", back in its range" if then not in {"normal", ""} and now else "")
        yield _change(
            f"{short_name(latest)}: {figure_of(latest)} ({was})",
            f"{short_name(latest)} {said}: {figure_of(latest)}{word} ({was}).",
            [latest, *([earlier] if earlier else [])],
            "warning" if now not in {"normal", "", then} else "info",
        )
    if quiet:
        count = len(quiet)
        text = f"{count} other result{'' if count == 1 else 's'} {said}, none notably different."
        plural = "" if count == 1 else "s"
        yield _change(f"{count} result{plural} without notable change", text, quiet, "info")


def _level(fact: Fact, scope: _Scope) -> str:
    where = standing(fact, scope.person, pregnant=scope.pregnant)
    return where.level if where else ""


def _notable(latest: Fact, earlier: Fact | None, now: str, then: str) -> bool:
    if now != then and now and then:
        return True
    if earlier is None or earlier.value is None or latest.value is None:
        return now not in {"normal", ""}
    try:
        before = (
            earlier.value
            if earlier.unit == latest.unit
            else convert(earlier.value, earlier.unit, latest.unit, latest.name)
        )
    except (UnknownUnit, IncompatibleUnits):
        return True
    return abs(latest.value - before) >= abs(before) * _NOTABLE and latest.value != before


def _change(title: str, text: str, facts: Sequence[Fact], severity: str) -> Insight:
    return Insight(
        kind="change",
        severity="warning" if severity == "warning" else "info",
        title=title,
        text=text,
        facts=tuple(facts),
        rule="since-last-encounter",
    )
