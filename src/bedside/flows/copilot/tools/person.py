"""Answers about the person: age, birth date, sex, name, identifiers. Pure."""

from __future__ import annotations

from datetime import date

from bedside.flows.copilot.names import matching
from bedside.flows.copilot.query import Query
from bedside.flows.copilot.tools.sheet import Sheet, day_of, plain_name, said_as_written
from bedside.flows.copilot.windows import day_text
from bedside.record.needs import Category, Fact, RecordFacts

__all__ = ["age_on", "answer_age_at", "answer_person"]

_GROUP = {"address": "contact", "phone": "contact", "background": "origin", "pcp": "origin"}
_DOCTOR = "general practitioner "


def age_on(birth: date, day: date) -> int:
    """Completed years at `day`."""
    return day.year - birth.year - ((day.month, day.day) < (birth.month, birth.day))


def answer_person(query: Query, record: RecordFacts, sheet: Sheet, *, today: date) -> bool:
    """Answer from the demographics line; `False` where the record has no such line to cite."""
    group = _GROUP.get(query.field, "identity")
    lines = record.of("demographics")
    if query.field == "pcp":
        lines = [fact for fact in lines if _DOCTOR in fact.line]
    line = next((fact for fact in lines if fact.group == group), None)
    if line is None and group == "identity":
        line = next((fact for fact in lines if not fact.group), None)
    if line is None:
        if group == "identity":
            return False
        what = "primary care doctor" if query.field == "pcp" else query.field
        sheet.missing(what)
        sheet.say(f"No {what} is recorded.")
        return True
    return _field(query, record, line, sheet, today=today)


def answer_age_at(query: Query, record: RecordFacts, sheet: Sheet) -> bool:
    """The age at the first or last of a named thing; `False` where a date is not exact."""
    birth = record.person.birth_date
    line = next((one for one in record.of("demographics") if one.group in {"identity", ""}), None)
    if query.entity is None or birth is None or line is None or day_text(birth) not in line.line:
        return False
    category: Category = query.topic  # type: ignore[assignment]
    dated = [
        (day, fact)
        for fact in matching(query.entity, record.of(category))
        if (day := day_of(fact)) is not None and not fact.roughly
    ]
    if not dated:
        return False
    day, fact = dated[-1] if query.ask == "when_first" else dated[0]
    age = age_on(birth, day)
    sheet.say(
        f"{age} years old: {plain_name(fact)} on {day_text(day)} {sheet.cite(fact)}, "
        f"born {day_text(birth)} {sheet.cite(line)}."
    )
    sheet.calculated(f"age from {day_text(birth)} to {day_text(day)} = {age} years")
    return True


def _field(query: Query, record: RecordFacts, line: Fact, sheet: Sheet, *, today: date) -> bool:
    person, mark = record.person, sheet.cite(line)
    born = _born(record, line)
    plain = {
        "birth": ("birth date", f"Born {born}" if born else ""),
        "sex": ("sex", f"Sex: {person.sex}" if person.sex else ""),
        "name": ("name", f"Name: {person.name}" if person.name else ""),
        "id": (
            "identifier",
            f"Identifiers: {', '.join(person.identifiers)}" if person.identifiers else "",
        ),
    }
    if query.field == "national":
        known = f"; those recorded, of no stated kind: {', '.join(person.identifiers)}"
        sheet.say(
            f"No number of that kind is recorded{known if person.identifiers else ''} {mark}."
        )
        sheet.missing("a national identifier")
        return True
    if query.field in plain:
        what, said = plain[query.field]
        sheet.say(f"{said or f'No {what} is recorded'} {mark}.")
        if not said:
            sheet.missing(what)
        return True
    if query.field == "age":
        return _age(record, line, sheet, today=today)
    if query.field == "deceased":
        _deceased(record, mark, sheet)
        return True
    lines = record.of("demographics")
    said_lines = [fact for fact in lines if query.field == "demographics" or fact is line]
    for fact in sorted(said_lines, key=lambda fact: fact is not line):
        sheet.say(f"{fact.line} {sheet.cite(fact)}")
    return query.field in {"demographics", "address", "phone", "background", "pcp"}


def _born(record: RecordFacts, line: Fact) -> str:
    """The birth date, no more exact than the record's own line says it; "" where unknown."""
    birth = record.person.birth_date
    if birth is None:
        return ""
    return said_as_written(birth, line)


def _deceased(record: RecordFacts, mark: str, sheet: Sheet) -> None:
    gone = record.person.deceased
    if isinstance(gone, date):
        sheet.say(f"Deceased: died on {day_text(gone)} {mark}.")
    elif gone is True:
        sheet.say(f"Deceased; the date of death is not recorded {mark}.")
        sheet.missing("date of death")
    elif gone is False:
        sheet.say(f"Recorded as living {mark}.")
    else:
        sheet.say(f"No death is recorded; the record does not say more {mark}.")
        sheet.missing("a record of death")


def _age(record: RecordFacts, line: Fact, sheet: Sheet, *, today: date) -> bool:
    birth, gone = record.person.birth_date, record.person.deceased
    mark = sheet.cite(line)
    if birth is None:
        sheet.say(f"No birth date is recorded, so the age is unknown {mark}.")
        sheet.missing("birth date")
        return True
    if day_text(birth) not in line.line:
        until = gone if isinstance(gone, date) else today
        least, most = until.year - birth.year - 1, until.year - birth.year
        sheet.say(
            f"{least} or {most} years old: born {_born(record, line)}, no day recorded {mark}."
        )
        sheet.calculated(f"{until.year} less {birth.year} is {most} years, or {least} years")
        sheet.missing("the day of birth")
        return True
    if isinstance(gone, date):
        age = age_on(birth, gone)
        sheet.say(
            f"Age at death: {age} years; born {day_text(birth)}, died {day_text(gone)} {mark}."
        )
    elif gone is True:
        sheet.say(f"Deceased, date of death not recorded; born {day_text(birth)} {mark}.")
        return True
    else:
        age = age_on(birth, today)
        sheet.say(f"{age} years old: born {day_text(birth)} {mark}.")
    until = gone if isinstance(gone, date) else today
    sheet.calculated(f"age from {day_text(birth)} to {day_text(until)} = {age} years")
    return True
