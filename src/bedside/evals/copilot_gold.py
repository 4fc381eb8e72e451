"""The gold answer of a copilot question, computed from the raw FHIR JSON.

A question's gold is an operation in a small declarative language, never a value:

    {"op": "latest", "loinc": "4548-4"}
    {"op": "any", "loinc": "6298-4", "cmp": ">", "value": "5"}
    {"op": "list", "resource": "MedicationRequest", "status": "active"}
    {"op": "has", "resource": "Condition", "text": "diabetes$", "about": ["diabetes"]}
    {"op": "absent", "resource": "Procedure", "text": "mri", "about": ["MRI"]}
    {"op": "both", "of": [..., ...]}

Every operation but `both`, `demographic` and `open` selects entries:

    resource    FHIR type, or a list of them ("Observation" where `loinc` is given)
    loinc       the entry's own LOINC code, or that of a component
    code        one of these codes
    text        regular expression, anywhere in a name, case ignored
    value       regular expression on a coded or string value (`has`)
    group       FHIR category, or the class of an encounter
    status      "active" or "ended" (medicines, problems, allergies, plans)
    year, since, until, on    window by ISO date as written, both ends included
    before, after             an operation on events: the newest of them ends or begins the window
    about       words that name the subject in an answer, one of them must stand in it

What an operation selects decides what a right answer states. Nothing selected makes the gold
`absent`: a right answer says that nothing is recorded.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import date, timedelta
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Any, Literal

from bedside.core.errors import InvalidArgument
from bedside.core.value import value
from bedside.evals.copilot_chart import Chart, Entry, read_chart
from bedside.evals.copilot_names import name_forms, unit_forms

__all__ = ["Expect", "Gold", "GoldFact", "compute", "gold_of", "select"]

Polarity = Literal["yes", "no", "past"]
_ALL_NAMED = 12
"""A list up to this long must be named in full; of a longer one `_ALL_NAMED` - 2 names suffice."""
_SUBSTANTIAL = Decimal("0.1")
"""A change of a tenth of the first reading counts as a direction in a trend."""


@value
class Expect:
    """Something an answer must, or must not, state: one of `any_of`.

    A `figure` is compared as written, a `day` is an ISO date in any usual format, `words` is text
    with case ignored ("a & b" wants both), a `count` is a whole number in digits or as a word.
    """

    kind: Literal["figure", "day", "words", "count"]
    any_of: tuple[str, ...]


@value
class GoldFact:
    """A raw entry that the context needs: its reference, a name's forms, figures and date."""

    ref: str
    name: tuple[str, ...]
    figures: tuple[str, ...] = ()
    day: str = ""


@value
class Gold:
    """What a right answer states.

    `must` holds in full; `together` (figure and day) in one place; of `enough[1]` at least
    `enough[0]`. `must_not` may not occur. `rivals` are other readings (or ISO dates) of the same
    thing, none of which may stand before the right one. `polarity` is the side that the headline takes, `None`
    where the question is not yes or no; "past" is a thing that was and is over. `absent` is True
    when the record holds nothing of what was asked. `parts` are the golds of a double question.
    `about` are words for the subject, one of which must occur; empty asks for none.
    `facts` are the entries the context needs, oldest first.
    """

    kind: str
    must: tuple[Expect, ...] = ()
    together: tuple[Expect, ...] = ()
    enough: tuple[int, tuple[Expect, ...]] = (0, ())
    may: tuple[Expect, ...] = ()
    must_not: tuple[Expect, ...] = ()
    rivals: tuple[str, ...] = ()
    polarity: Polarity | None = None
    absent: bool = False
    about: tuple[str, ...] = ()
    facts: tuple[GoldFact, ...] = ()
    parts: tuple[Gold, ...] = ()


def gold_of(operation: Mapping[str, Any], *, bundle: Path, today: str = "") -> Gold:
    """`compute` on a bundle file."""
    return compute(operation, chart=read_chart(bundle), today=today)


def compute(operation: Mapping[str, Any], *, chart: Chart, today: str = "") -> Gold:
    """The gold of one operation on one patient.

    Args:
        operation: As the module describes.
        chart: The patient's raw entries.
        today: ISO date that an age may also be counted to; "" allows only the record's own date.

    Raises:
        InvalidArgument: The operation is unknown, or an `absent` selects something.
    """
    name = operation["op"]
    if name == "both":
        parts = tuple(compute(part, chart=chart, today=today) for part in operation["of"])
        facts = tuple(dict.fromkeys(fact for part in parts for fact in part.facts))
        absent = all(part.absent for part in parts)
        return Gold(kind=name, parts=parts, facts=facts, absent=absent)
    if name == "open":
        parts = tuple(compute(part, chart=chart, today=today) for part in operation["facts"])
        facts = tuple(dict.fromkeys(fact for part in parts for fact in part.facts))
        return Gold(kind=name, facts=facts)
    if name == "demographic":
        return _demographic(operation["field"], chart=chart, today=today)
    operation = _dated(operation, chart=chart)
    found = select(operation, chart=chart)
    about = tuple(operation.get("about", ()))
    if name == "absent" and found:
        raise InvalidArgument("absent", found=f"{len(found)} entries", want="empty selection")
    if not found:
        return _nothing(operation, about=about, chart=chart)
    if name not in _OPERATIONS:
        raise InvalidArgument("op", found=name, want=f"one of {sorted(_OPERATIONS)}")
    return _OPERATIONS[name](operation, found, chart)


def _dated(operation: Mapping[str, Any], *, chart: Chart) -> Mapping[str, Any]:
    """With "before" or "after" an operation on events, the span that the newest of them bounds.

    A medicine bounds it by its first order.

    Raises:
        InvalidArgument: The chart has no such event.
    """
    side = next((one for one in ("before", "after") if one in operation), None)
    if side is None:
        return operation
    event = operation[side]
    dated = [one.day for one in select(event, chart=chart) if one.day]
    if not dated:
        raise InvalidArgument(side, found="no such event", want="one in the chart")
    day = min(dated) if event["resource"] == "MedicationRequest" else max(dated)
    if side == "after":
        return {**operation, "since": day}
    eve = date.fromisoformat(day) - timedelta(days=1)
    return {**operation, "until": eve.isoformat()}


def select(operation: Mapping[str, Any], *, chart: Chart) -> tuple[Entry, ...]:
    """The entries that an operation selects, oldest first; components are entries of their own."""
    found: list[Entry] = []
    for entry in chart.entries:
        # A component has no reference of its own: the panel is what a context holds.
        found += [
            candidate if candidate is entry else _lifted(candidate, entry)
            for candidate in (entry, *entry.parts)
            if _matches(candidate, operation, whole=entry)
        ]
    return tuple(found)


def _lifted(part: Entry, whole: Entry) -> Entry:
    return Entry(
        ref=whole.ref,
        resource=whole.resource,
        name=part.name,
        names=part.names,
        codes=part.codes,
        group=whole.group,
        status=whole.status,
        stamp=whole.stamp,
        day=whole.day,
        figure=part.figure,
        unit=part.unit,
    )


def _matches(entry: Entry, operation: Mapping[str, Any], *, whole: Entry) -> bool:
    wanted = "Observation" if "loinc" in operation else operation.get("resource")
    if wanted is None:
        raise InvalidArgument("operation", found=sorted(operation), want="with resource or loinc")
    kinds = [wanted] if isinstance(wanted, str) else wanted
    if whole.resource not in kinds or (entry is not whole and "loinc" not in operation):
        return False
    if "loinc" in operation and operation["loinc"] not in entry.codes:
        return False
    if "code" in operation and not set(operation["code"]) & set(entry.codes):
        return False
    if "text" in operation and not _says(entry, operation["text"]):
        return False
    if "group" in operation and entry.group != operation["group"]:
        return False
    if "status" in operation and entry.active != (operation["status"] == "active"):
        return False
    return _inside(whole.day, operation)


def _says(entry: Entry, pattern: str) -> bool:
    return any(re.search(pattern, text, re.IGNORECASE) for text in (entry.name, *entry.names))


def _inside(day: str, operation: Mapping[str, Any]) -> bool:
    if "year" in operation and day[:4] != str(operation["year"]):
        return False
    if "on" in operation and day != operation["on"]:
        return False
    return operation.get("since", "") <= day <= operation.get("until", "9999")


# ---- what a single reading must bring


def _fact(entry: Entry) -> GoldFact:
    figures = tuple(part.figure for part in entry.parts if part.figure)
    if not figures and entry.figure:
        figures = (entry.figure,)
    return GoldFact(ref=entry.ref, name=name_forms(entry), figures=figures, day=entry.day)


def _states(entry: Entry, *, also: Sequence[Entry] = ()) -> tuple[Expect, ...]:
    """Figure (or words), unit and day of `entry`; entries in `also` are as good as it."""
    same = (entry, *also)
    if entry.parts:
        sides = [
            Expect(kind="figure", any_of=tuple(dict.fromkeys(one.parts[i].figure for one in same)))
            for i in range(len(entry.parts))
        ]
        return (*sides, Expect(kind="day", any_of=(entry.day,)))
    if not entry.figure:
        words = tuple(dict.fromkeys(one.words for one in same if one.words))
        value_ = (Expect(kind="words", any_of=words),) if words else ()
        return (*value_, Expect(kind="day", any_of=(entry.day,)))
    figures = tuple(dict.fromkeys(one.figure for one in same))
    return (
        Expect(kind="figure", any_of=figures),
        Expect(kind="day", any_of=tuple(dict.fromkeys(one.day for one in same))),
    )


def _units(entry: Entry) -> tuple[Expect, ...]:
    forms = unit_forms(entry.unit)
    return (Expect(kind="words", any_of=forms),) if forms else ()


def _amounts(entry: Entry) -> tuple[str, ...]:
    if entry.parts:
        return tuple(part.figure for part in entry.parts)
    return (entry.figure,) if entry.figure else ()


def _one(
    chosen: Entry, found: Sequence[Entry], operation: Mapping[str, Any], *, also: Sequence[Entry]
) -> Gold:
    right = {figure for one in (chosen, *also) for figure in _amounts(one)}
    rivals = [figure for one in found for figure in _amounts(one) if figure not in right]
    return Gold(
        kind=operation["op"],
        must=_units(chosen),
        together=_states(chosen, also=also),
        rivals=tuple(dict.fromkeys(rivals)),
        about=tuple(operation.get("about", ())),
        facts=(_fact(chosen),),
    )


def _latest(operation: Mapping[str, Any], found: tuple[Entry, ...], _: Chart) -> Gold:
    if operation.get("by") == "name" or (not found[-1].figure and not found[-1].parts):
        return _latest_named(operation, found)
    newest = [one for one in found if one.stamp == found[-1].stamp]
    return _one(newest[-1], found, operation, also=newest[:-1])


def _latest_named(operation: Mapping[str, Any], found: tuple[Entry, ...]) -> Gold:
    """Latest entry without a figure: its value in words, or its name, with its date."""
    newest = [one for one in found if one.day == found[-1].day]
    names = tuple(form for one in newest for form in (one.words, *name_forms(one)) if form)
    if found[-1].words:
        names = tuple(dict.fromkeys(one.words for one in newest))
    return Gold(
        kind=operation["op"],
        must=(Expect(kind="words", any_of=names), Expect(kind="day", any_of=(newest[-1].day,))),
        about=tuple(operation.get("about", ())),
        facts=(_fact(newest[-1]),),
    )


def _first(operation: Mapping[str, Any], found: tuple[Entry, ...], _: Chart) -> Gold:
    oldest = [one for one in found if one.stamp == found[0].stamp]
    if not oldest[0].figure and not oldest[0].parts:
        return _latest_named(operation, tuple(oldest))
    return _one(oldest[0], found, operation, also=oldest[1:])


def _previous(operation: Mapping[str, Any], found: tuple[Entry, ...], chart: Chart) -> Gold:
    """The reading before the latest, by moment."""
    earlier = tuple(one for one in found if one.stamp < found[-1].stamp)
    if not earlier:
        return _nothing(operation, about=tuple(operation.get("about", ())), chart=chart)
    same = [one for one in earlier if one.stamp == earlier[-1].stamp]
    return _one(same[-1], (), operation, also=same[:-1])


def _extreme(operation: Mapping[str, Any], found: tuple[Entry, ...], _: Chart) -> Gold:
    best = max if operation["op"] == "highest" else min
    top = best(one.amount for one in found if one.amount is not None)
    chosen = [one for one in found if one.amount == top]
    return _one(chosen[-1], found, operation, also=chosen[:-1])


def _average(operation: Mapping[str, Any], found: tuple[Entry, ...], _: Chart) -> Gold:
    """The arithmetic mean, accepted when rounded to between 0 (from 100 up) and 6 places."""
    shown = found[-operation.get("last", len(found)) :]
    amounts = [one.amount for one in shown if one.amount is not None]
    mean = sum(amounts, Decimal(0)) / len(amounts)
    places = range(0 if mean >= 100 else 1, 7)
    forms = (mean.quantize(Decimal(1).scaleb(-p), rounding=ROUND_HALF_UP) for p in places)
    texts = [text for form in forms for text in (str(form), str(form.normalize()))]
    return Gold(
        kind="average",
        must=(Expect(kind="figure", any_of=tuple(dict.fromkeys(texts))), *_units(found[0])),
        about=tuple(operation.get("about", ())),
        facts=tuple(_fact(one) for one in shown),
    )


def _count(operation: Mapping[str, Any], found: tuple[Entry, ...], _: Chart) -> Gold:
    passing = [one for one in found if _passes(one, operation)]
    number = len({one.stamp for one in passing} if operation.get("distinct") else passing)
    return Gold(
        kind="count",
        must=(Expect(kind="count", any_of=(str(number),)),),
        about=tuple(operation.get("about", ())),
        facts=tuple(_fact(one) for one in passing),
    )


def _passes(entry: Entry, operation: Mapping[str, Any]) -> bool:
    if "cmp" not in operation:
        return True
    amount, bound = entry.amount, Decimal(operation["value"])
    if amount is None:
        return False
    return {
        ">": amount > bound,
        ">=": amount >= bound,
        "<": amount < bound,
        "<=": amount <= bound,
    }[operation["cmp"]]


def _any(operation: Mapping[str, Any], found: tuple[Entry, ...], _: Chart) -> Gold:
    """Yes, with at least one reading that passes; or no."""
    passing = [one for one in found if _passes(one, operation)]
    about = tuple(operation.get("about", ()))
    if not passing:
        return Gold(kind="any", polarity="no", about=about, facts=tuple(_fact(o) for o in found))
    return Gold(
        kind="any",
        polarity="yes",
        enough=(1, tuple(_states(one)[0] for one in passing)),
        about=about,
        facts=tuple(_fact(one) for one in passing),
    )


def _readings(operation: Mapping[str, Any], found: tuple[Entry, ...], chart: Chart) -> Gold:
    """Every reading of the window, or the `last` so many."""
    passing = [one for one in found if _passes(one, operation)]
    passing = passing[-operation.get("last", len(passing)) :]
    states = tuple(expect for one in passing for expect in _states(one))
    unique = tuple(dict.fromkeys(states))
    asked = {figure for one in passing for figure in _amounts(one)}
    others = select(_unbounded(operation), chart=chart)
    rivals = [figure for one in others for figure in _amounts(one) if figure not in asked]
    least = len(unique) if len(passing) <= _ALL_NAMED else 2 * (_ALL_NAMED - 2)
    return Gold(
        kind="readings",
        enough=(least, unique),
        rivals=tuple(dict.fromkeys(rivals)),
        about=tuple(operation.get("about", ())),
        facts=tuple(_fact(one) for one in passing),
    )


def _trend(operation: Mapping[str, Any], found: tuple[Entry, ...], _: Chart) -> Gold:
    """The newest reading, at least three in all, and not the wrong direction."""
    shown = found[-operation.get("last", len(found)) :]
    moved = _direction(shown)
    wrong = {"up": ("falling", "decreasing", "fell"), "down": ("rising", "increasing", "rose")}
    states = tuple(_states(one)[0] for one in shown)
    return Gold(
        kind="trend",
        together=_states(shown[-1]),
        enough=(min(3, len(set(states))), tuple(dict.fromkeys(states))),
        must_not=(Expect(kind="words", any_of=wrong[moved]),) if moved else (),
        about=tuple(operation.get("about", ())),
        facts=tuple(_fact(one) for one in shown),
    )


def _direction(shown: Sequence[Entry]) -> Literal["up", "down"] | None:
    """Where the readings go, `None` where one could argue: both halves and both ends must agree."""
    amounts = [one.amount for one in shown if one.amount is not None]
    if len(amounts) < 3 or not amounts[0]:
        return None
    half = len(amounts) // 2
    ends = (amounts[-1] - amounts[0]) / abs(amounts[0])
    late, early = amounts[-half:], amounts[:half]
    halves = sum(late, Decimal(0)) / half - sum(early, Decimal(0)) / half
    if ends > _SUBSTANTIAL and halves > 0:
        return "up"
    return "down" if ends < -_SUBSTANTIAL and halves < 0 else None


def _list(operation: Mapping[str, Any], found: tuple[Entry, ...], chart: Chart) -> Gold:
    """Every distinct name (or, `by` "day", every date); a long list in good part with its count."""
    if operation.get("by") == "day":
        wanted = [Expect(kind="day", any_of=(day,)) for day in dict.fromkeys(e.day for e in found)]
    else:
        forms = dict.fromkeys(name_forms(entry) for entry in found)
        wanted = [Expect(kind="words", any_of=names) for names in forms]
    least = len(wanted) if len(wanted) <= _ALL_NAMED else _ALL_NAMED - 2
    return Gold(
        kind="list",
        enough=(least, tuple(wanted)),
        must_not=_strangers(operation, found, chart),
        about=tuple(operation.get("about", ())),
        facts=tuple(_fact(entry) for entry in found),
    )


def _strangers(
    operation: Mapping[str, Any], found: Sequence[Entry], chart: Chart
) -> tuple[Expect, ...]:
    """Names of the other status, which a list by status must not pass off as its own."""
    if "status" not in operation:
        return ()
    other = "ended" if operation["status"] == "active" else "active"
    ours = " ".join(form.lower() for entry in found for form in name_forms(entry))
    names = dict.fromkeys(
        name_forms(entry) for entry in select({**operation, "status": other}, chart=chart)
    )
    return tuple(
        Expect(kind="words", any_of=forms[:1])
        for forms in names
        if not any(word in ours for form in forms for word in form.lower().split(" & "))
    )


def _has(operation: Mapping[str, Any], found: tuple[Entry, ...], _: Chart) -> Gold:
    """Yes when an entry stands now (or ever, with "ever"); past when all have ended."""
    if "value" in operation:
        return _has_value(operation, found)
    timed = found[-1].resource in {"Condition", "MedicationRequest", "AllergyIntolerance"}
    standing = [one for one in found if one.active or not timed or operation.get("ever")]
    shown = standing or found
    names = tuple(form for one in shown for form in name_forms(one))
    return Gold(
        kind="has",
        polarity="yes" if standing else "past",
        must=(Expect(kind="words", any_of=(*names, *operation.get("about", ()))),),
        facts=(_fact(shown[-1]),),
    )


def _has_value(operation: Mapping[str, Any], found: tuple[Entry, ...]) -> Gold:
    newest = found[-1]
    holds = re.search(operation["value"], newest.words, re.IGNORECASE) is not None
    return Gold(
        kind="has",
        polarity="yes" if holds else "no",
        must=(Expect(kind="words", any_of=(newest.words,)),),
        facts=(_fact(newest),),
    )


def _when(operation: Mapping[str, Any], found: tuple[Entry, ...], _: Chart) -> Gold:
    """The date of the `which` ("first", "last", "end") entry; of a single one, its date."""
    which = operation.get("which", "last")
    chosen = found[0] if which == "first" else found[-1]
    day = chosen.end if which == "end" and chosen.end else chosen.day
    return Gold(
        kind="when",
        must=(Expect(kind="day", any_of=(day,)),),
        rivals=tuple(dict.fromkeys(one.day for one in found if one.day != day)),
        about=tuple(operation.get("about", ())),
        facts=(_fact(chosen),),
    )


def _change(operation: Mapping[str, Any], found: tuple[Entry, ...], chart: Chart) -> Gold:
    """The latest reading and the one before it (or the first of the window, with `from` "first")."""
    if len({one.stamp for one in found}) < 2:
        return _nothing(operation, about=tuple(operation.get("about", ())), chart=chart)
    newest = [one for one in found if one.stamp == found[-1].stamp]
    earlier = [one for one in found if one.stamp < found[-1].stamp]
    start = earlier[0] if operation.get("from") == "first" else earlier[-1]
    tied = [one for one in earlier if one.stamp == start.stamp and one is not start]
    states = (*_states(newest[-1], also=newest[:-1]), *_states(start, also=tied))
    return Gold(
        kind="change",
        enough=(len(states), states),
        about=tuple(operation.get("about", ())),
        facts=(_fact(start), _fact(newest[-1])),
    )


def _nothing(operation: Mapping[str, Any], *, about: tuple[str, ...], chart: Chart) -> Gold:
    """Nothing selected. What lies outside the window is what a fair answer may still mention."""
    near = select(_unbounded(operation), chart=chart) if operation["op"] != "absent" else ()
    may = tuple(expect for one in near for expect in _states(one))
    return Gold(kind=operation["op"], absent=True, about=about, may=tuple(dict.fromkeys(may)))


def _unbounded(operation: Mapping[str, Any]) -> Mapping[str, Any]:
    return {k: v for k, v in operation.items() if k not in {"year", "since", "until", "on"}}


_OPERATIONS: Mapping[str, Callable[[Mapping[str, Any], tuple[Entry, ...], Chart], Gold]] = {
    "any": _any,
    "average": _average,
    "change": _change,
    "count": _count,
    "first": _first,
    "has": _has,
    "highest": _extreme,
    "latest": _latest,
    "list": _list,
    "lowest": _extreme,
    "previous": _previous,
    "readings": _readings,
    "trend": _trend,
    "when": _when,
}


# ---- who the patient is


def _demographic(field: str, *, chart: Chart, today: str) -> Gold:
    patient = chart.patient
    born = patient.get("birthDate", "")
    died = patient.get("deceasedDateTime", "")[:10]
    if field == "age":
        ends = (died,) if died else tuple(day for day in (chart.as_of, today) if day)
        ages = tuple(dict.fromkeys(str(_years(born, day)) for day in ends))
        must: tuple[Expect, ...] = (Expect(kind="figure", any_of=ages),)
    elif field == "birth_date":
        must = (Expect(kind="day", any_of=(born,)),)
    elif field == "sex":
        must = (Expect(kind="words", any_of=_SEXES[patient["gender"]]),)
    elif field == "name":
        must = (Expect(kind="words", any_of=(patient["name"][0]["family"],)),)
    elif field == "address":
        must = (Expect(kind="words", any_of=(patient["address"][0]["city"],)),)
    elif field == "deceased":
        if not died:
            return Gold(kind="demographic", polarity="no")
        return Gold(
            kind="demographic",
            polarity="yes",
            must=(Expect(kind="day", any_of=(died,)),),
        )
    else:
        raise InvalidArgument("field", found=field, want="a known demographic field")
    return Gold(kind="demographic", must=must)


_SEXES = {"female": ("female", "woman", "girl"), "male": ("male", "man", "boy")}


def _years(born: str, day: str) -> int:
    return int(day[:4]) - int(born[:4]) - (day[5:10] < born[5:10])
