"""A synopsis of a patient from the record alone: one-liner, problems, medicines, results. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date

from bedside.flows.copilot.names import shown_name
from bedside.flows.copilot.query import Entity
from bedside.flows.copilot.tools.allergies import allergy_line, orders_against
from bedside.flows.copilot.tools.events import is_active
from bedside.flows.copilot.tools.person import age_on
from bedside.flows.copilot.tools.readings import readings_of
from bedside.flows.copilot.tools.sheet import Sheet, day_of, plain_name, when_text
from bedside.flows.copilot.windows import day_text
from bedside.record.needs import Fact, RecordFacts

__all__ = ["write_summary"]

_KEY_RESULTS = (
    "blood pressure",
    "hba1c",
    "egfr",
    "creatinine",
    "hemoglobin",
    "ldl",
    "bmi",
    "ejection fraction",
    "fev1 fvc",
    "inr",
    "psa",
    "tsh",
    "potassium",
)
_MOST = 6
_BRIEF, _SHORT = 160, 60
_ROOM_FOR_ORDERS = 20
_MINOR = ("sinusitis", "pharyngitis", "acute bronchitis", "sprain", "otitis")


def write_summary(record: RecordFacts, sheet: Sheet, *, today: date, words: int) -> None:
    """Write the synopsis into `sheet`; `words` decides how many results are listed."""
    most = _MOST if words > _BRIEF else 4 if words > _SHORT else 2
    problems = _names(record.of("conditions"))
    _who(record, problems, sheet, today)
    _line(
        "Problems",
        problems,
        sheet,
        shown=lambda fact: f"{plain_name(fact)} (since {_year(fact)})",
        most=most,
    )
    _line(
        "Medicines active in the record",
        _names(record.of("medications")),
        sheet,
        shown=_medicine if words > _BRIEF else plain_name,
        most=most + 2,
    )
    _allergies(record, sheet)
    if against := orders_against(record):
        _line("Alerts", against, sheet, shown=lambda fact: fact.line.rstrip("."), most=most)
    if words <= _SHORT:
        return
    _results(record, sheet, most=3 if words <= _BRIEF else 8)
    visits = record.of("timeline")
    if visits:
        sheet.say(
            f"Last encounter: {plain_name(visits[0])}, {when_text(visits[0])} {sheet.cite(visits[0])}."
        )
    past = [fact for fact in _distinct(record.of("conditions")) if not is_active(fact)]
    past = [fact for fact in past if not any(one in fact.name.lower() for one in _MINOR)]
    if past and words > _BRIEF:
        _line("Past", past[:5], sheet, shown=lambda fact: f"{plain_name(fact)} ({when_text(fact)})")
    if sheet.words > words - _ROOM_FOR_ORDERS:
        return
    orders = [fact for fact in record.of("orders") if is_active(fact)]
    if orders:
        _line("Open orders", orders[:4], sheet, shown=plain_name)


def _who(record: RecordFacts, problems: Sequence[Fact], sheet: Sheet, today: date) -> None:
    line = next(
        (fact for fact in record.of("demographics") if fact.group in {"identity", ""}), None
    )
    person = record.person
    sex = person.sex or "sex not recorded"
    main = " and ".join(plain_name(fact) for fact in problems[:2])
    with_ = f" with {main}" if main else ", no active problem recorded"
    if line is None or person.birth_date is None:
        who = f"Patient ({sex})"
    elif person.deceased:
        on = f" on {day_text(person.deceased)}" if isinstance(person.deceased, date) else ""
        who = f"{sex.capitalize()}, deceased{on}"
    else:
        age = age_on(person.birth_date, today)
        sheet.calculated(f"age {age} years")
        who = f"{age}-year-old {sex}"
    marks = sheet.cite(*([line] if line is not None else []), *problems[:2])
    sheet.say(f"{who}{with_} {marks}.")


def _names(facts: Sequence[Fact]) -> list[Fact]:
    return [fact for fact in _distinct(facts) if is_active(fact)]


def _distinct(facts: Sequence[Fact]) -> list[Fact]:
    seen: dict[str, Fact] = {}
    for fact in facts:
        before = seen.get(fact.name)
        if before is None or (is_active(fact) and not is_active(before)):
            seen[fact.name] = fact
    return list(seen.values())


def _year(fact: Fact) -> str:
    day = day_of(fact)
    return str(day.year) if day is not None else "a date not recorded"


def _medicine(fact: Fact) -> str:
    dose = f", {fact.dosage}" if fact.dosage else ""
    return f"{plain_name(fact)}{dose}"


def _line(
    label: str,
    facts: Sequence[Fact],
    sheet: Sheet,
    *,
    shown: Callable[[Fact], str],
    most: int = _MOST,
) -> None:
    if not facts:
        sheet.say(f"{label}: none recorded.")
        sheet.missing(label.lower())
        return
    listed = "; ".join(f"{shown(fact)} {sheet.cite(fact)}" for fact in facts[:most])
    more = f"; and {len(facts) - most} more" if len(facts) > most else ""
    sheet.say(f"{label}: {listed}{more}.")


def _allergies(record: RecordFacts, sheet: Sheet) -> None:
    facts = record.of("allergies")
    if record.no_known_allergies and facts:
        sheet.say(f"{facts[0].line} {sheet.cite(facts[0])}")
    elif facts:
        listed = "; ".join(f"{allergy_line(fact)} {sheet.cite(fact)}" for fact in facts[:_MOST])
        sheet.say(f"Allergies: {listed}.")
    else:
        sheet.say("Allergies: not recorded.")
        sheet.missing("allergies")


def _results(record: RecordFacts, sheet: Sheet, *, most: int) -> None:
    shown: list[str] = []
    for key in _KEY_RESULTS:
        found = readings_of(Entity(kind="analyte", key=key, said=key), record.of("observations"))
        if found:
            last = found[-1]
            stale = ", stale" if last.fact.stale else ""
            shown.append(f"{shown_name(key)} {last.dated}{stale} {sheet.cite(last.fact)}")
        if len(shown) == most:
            break
    if shown:
        sheet.say("Latest results: " + "; ".join(shown) + ".")
