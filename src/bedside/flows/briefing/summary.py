"""Who this is, what is open, and what changed: the summary by rule. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

from bedside.flows.briefing.findings import Cited, Summary
from bedside.flows.briefing.reading import Chart, age_at, plain
from bedside.flows.briefing.references import entry
from bedside.record.fhir.dates import spoken_date
from bedside.record.limits import pregnancy_lasts
from bedside.record.needs import Fact
from bedside.record.rows import says_none_known

__all__ = ["notes_of", "summary_of"]

_PROBLEMS = 12
_CHANGES = 6
_IN_LINE = 3


def summary_of(chart: Chart) -> Summary:
    """The summary of a whole record."""
    return Summary(
        one_liner=_one_liner(chart),
        conditions=tuple(_conditions(chart)),
        changes=tuple(_changes(chart)),
    )


def _one_liner(chart: Chart) -> Cited:
    person = next(iter(chart.record.of("demographics")), None)
    parts = [_who(chart)]
    if chart.problems:
        named = [plain(one.name) for one in chart.problems[:_IN_LINE]]
        more = len(chart.problems) - len(named)
        parts.append(
            f"{_count(len(chart.problems), 'open problem')}: {', '.join(named)}"
            + (f" and {more} more" if more else "")
        )
    else:
        parts.append("no open problem is recorded")
    if not chart.died:
        parts.append(
            f"{_count(len(chart.medicines), 'current medicine')}"
            if chart.medicines
            else "no current medicine is recorded"
        )
    parts.append(_allergies(chart))
    cited = [person] if person else []
    cited += [*chart.problems[:_IN_LINE], *_real_allergies(chart)[:_IN_LINE]]
    return Cited(text="; ".join(parts), items=tuple(entry(fact) for fact in cited))


def _who(chart: Chart) -> str:
    sex = {"female": "woman", "male": "man"}.get(chart.sex, "person")
    if chart.age is not None and not chart.adult:
        sex = {"female": "girl", "male": "boy"}.get(chart.sex, "child")
    if not chart.died:
        return f"{sex.capitalize()}, {_age(chart)}"
    if chart.died is True:
        return f"{sex.capitalize()}, recorded as deceased"
    born = chart.record.person.birth_date
    at = age_at(born, chart.died)
    how_old = f" at {at} years" if at is not None else ""
    return f"{sex.capitalize()}, died on {spoken_date(chart.died)}{how_old}"


def _age(chart: Chart) -> str:
    """In years; in months below two years, in days below one month."""
    born = chart.record.person.birth_date
    if chart.age is None or born is None:
        return "of unknown age"
    months = (chart.today.year - born.year) * 12 + chart.today.month - born.month
    months -= chart.today.day < born.day
    if months < 1:
        return f"{_count((chart.today - born).days, 'day')} old"
    if months < 24:  # noqa: PLR2004 - two years
        return f"{_count(months, 'month')} old"
    return f"{chart.age} years old"


def _count(n: int, what: str) -> str:
    return f"{n} {what}{'' if n == 1 else 's'}"


def _real_allergies(chart: Chart) -> list[Fact]:
    return [
        fact
        for fact in chart.record.of("allergies")
        if fact.status not in {"resolved", "inactive"} and not says_none_known(fact)
    ]


def _allergies(chart: Chart) -> str:
    real = list(dict.fromkeys(plain(fact.name) for fact in _real_allergies(chart)))
    if real:
        more = len(real) - _IN_LINE
        return f"allergies: {', '.join(real[:_IN_LINE])}" + (
            f" and {more} more" if more > 0 else ""
        )
    if chart.record.no_known_allergies:
        return "no known allergies, as recorded"
    return "allergies are not recorded"


def _conditions(chart: Chart) -> Iterator[Cited]:
    for fact in chart.problems[:_PROBLEMS]:
        since = f", since {spoken_date(fact.when.date())}" if fact.when else ""
        yield Cited(text=f"{plain(fact.name)}{since}", items=(entry(fact),))
    more = len(chart.problems) - _PROBLEMS
    if more > 0:
        yield Cited(text=f"And {more} more open problems")


def _changes(chart: Chart) -> Iterator[Cited]:
    """What a reader would ask about first; single normal results are counted by the record room."""
    found = [one for one in chart.record.insights if one.kind == "change"]
    ranked = sorted(found, key=lambda one: (one.severity == "info", _dull(one.title)))
    for insight in ranked[:_CHANGES]:
        yield Cited(
            text=_judged(chart, insight.text.rstrip(".")),
            items=tuple(entry(fact) for fact in insight.facts[:4]),
        )


def _judged(chart: Chart, text: str) -> str:
    """A child's results have few ranges here, so that "none notably different" would say too much."""
    if chart.adult:
        return text
    return text.replace(
        ", none notably different", ", not judged: few ranges here are for children"
    )


def _dull(title: str) -> int:
    if title.endswith("without notable change"):
        return 9
    order = ("Procedure", "New report", "New document", "New order", "Immunisation")
    return next((place + 1 for place, one in enumerate(order) if title.startswith(one)), 0)


def notes_of(chart: Chart) -> tuple[Cited, ...]:
    """Remarks on the record itself: that it ended long ago, or that the person died."""
    found: list[Cited] = []
    if chart.died:
        found.append(Cited(text="The person is recorded as deceased, so nothing is due"))
        if isinstance(chart.died, date) and chart.ends and chart.ends > chart.died:
            found.append(
                Cited(
                    text=f"Entries are dated after the recorded death, the last on "
                    f"{spoken_date(chart.ends)}"
                )
            )
    elif chart.old and chart.ends is not None:
        months = (chart.today.year - chart.ends.year) * 12 + chart.today.month - chart.ends.month
        ago = f"{months // 12} years" if months >= 24 else f"{months} months"  # noqa: PLR2004
        found.append(
            Cited(
                text=f"The record ends on {spoken_date(chart.ends)}, {ago} ago: what came later is "
                "not known here"
            )
        )
    if chart.age is not None and not chart.adult and not chart.died:
        found.append(
            Cited(
                text="Monitoring, screening, kidney dosing and most ranges were not applied: those "
                "tables speak of adults"
            )
        )
    found += [
        Cited(
            text=f"{plain(fact.name)} stands open since {spoken_date(fact.when.date())}, longer than a "
            "pregnancy lasts, so the person is not read as pregnant",
            items=(entry(fact),),
        )
        for fact in chart.record.of("conditions")
        if fact.when and pregnancy_lasts(fact, as_of=chart.today) is False and not chart.died
    ]
    return tuple(found)
