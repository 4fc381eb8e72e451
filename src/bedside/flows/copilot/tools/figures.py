"""Answers about one analyte: latest, first, extreme, mean, count, trend, all, ever. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import ROUND_HALF_UP, Decimal

from bedside.flows.copilot.names import shown_name
from bedside.flows.copilot.query import Entity, Query
from bedside.flows.copilot.tools.converted import tell_converted
from bedside.flows.copilot.tools.readings import (
    Reading,
    by_moment,
    in_window,
    passing,
    readings_of,
    same_unit,
    units_of,
)
from bedside.flows.copilot.tools.sheet import Sheet
from bedside.flows.copilot.windows import day_text
from bedside.record.needs import RecordFacts

__all__ = ["answer_figures"]

_MOST_LISTED = 12
_MOST_TREND = 10
_FEWEST_LISTED = 3
_MOST_PLACES = 2
_LONGEST_SUM = 120


def answer_figures(query: Query, record: RecordFacts, sheet: Sheet) -> bool:
    """Answer a query about one analyte; `False` when the readings do not allow an exact answer."""
    if query.entity is None:
        return False
    facts = record.of("observations")
    found = in_window(readings_of(query.entity, facts), query.window)
    name = shown_name(query.entity.key) or query.entity.said
    if query.ask != "latest" and not all(same_unit(query.unit, one.unit) for one in found):
        return False
    if not found:
        _none(query, name, readings_of(query.entity, facts), record, sheet)
        return True
    return _ASKS[query.ask](query, name, found, sheet) if query.ask in _ASKS else False


_KIN = {
    "bnp": ("ntprobnp",),
    "ntprobnp": ("bnp",),
    "urine protein": ("pcr", "acr"),
    "pcr": ("acr", "urine protein"),
    "acr": ("pcr", "urine protein"),
    "fev1": ("fev1 fvc",),
    "free t4": ("total t4",),
    "total t4": ("free t4",),
}
"""Tests of the same thing: who asks for one that was not done wants to hear of the other."""


def _none(
    query: Query, name: str, everything: Sequence[Reading], record: RecordFacts, sheet: Sheet
) -> None:
    """Say what was looked for and where; never that a finding is absent."""
    span = f" {query.window.said}" if query.window is not None else ""
    sheet.missing(f"{name}{span}")
    if everything:
        newest = everything[-1]
        sheet.say(f"No {_inside(name)} is recorded{span}.")
        sheet.say(
            f"Outside that time the record has {_plural(len(everything), 'reading')}, the newest "
            f"{newest.dated} {sheet.cite(newest.fact)}."
        )
        sheet.calculated(f"{_plural(len(everything), 'reading')} in all")
    else:
        sheet.say(
            f"No {_inside(name)} is recorded: no such result was found in this patient's record."
        )
    for key in _KIN.get(query.entity.key, ()) if query.entity is not None else ():
        kin = readings_of(Entity(kind="analyte", key=key, said=key), record.of("observations"))
        if kin:
            newest = kin[-1]
            sheet.say(
                f"Another test of it: {shown_name(key)} {newest.dated}{_stale(newest)} "
                f"{sheet.cite(newest.fact)}."
            )


def _plural(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _inside(name: str) -> str:
    """A test's name as it stands inside a sentence: "blood pressure", "HbA1c", "eGFR"."""
    first = name.partition(" ")[0]
    return name[:1].lower() + name[1:] if first[1:].islower() else name


def _stale(reading: Reading) -> str:
    return ", stale" if reading.fact.stale else ""


def _appraisal(reading: Reading, sheet: Sheet) -> None:
    """What weighs on the newest reading: its range, its age, that it stands alone."""
    fact = reading.fact
    parts: list[str] = []
    if reading.value is not None and (fact.low is not None or fact.high is not None):
        if fact.high is not None and reading.value > fact.high:
            parts.append("above the laboratory's range")
        elif fact.low is not None and reading.value < fact.low:
            parts.append("below the laboratory's range")
        else:
            parts.append("within the laboratory's range")
    if parts:
        sheet.say(f"It is {parts[0]} {sheet.cite(fact)}.")
    if fact.note:
        sheet.say(f"Appraisal: {fact.note} {sheet.cite(fact)}.")


def _tied(chosen: Reading, found: Sequence[Reading]) -> list[Reading]:
    """Other, different readings of the very same moment."""
    return [
        one
        for one in found
        if one is not chosen and one.fact.when == chosen.fact.when and one.shown != chosen.shown
    ]


def _same_time(chosen: Reading, found: Sequence[Reading], sheet: Sheet) -> None:
    tied = _tied(chosen, found)
    if tied:
        others = "; ".join(f"{one.shown} {sheet.cite(one.fact)}" for one in tied[:4])
        sheet.say(f"Recorded at the same time with another value: {others}.")


def _latest(query: Query, name: str, found: list[Reading], sheet: Sheet) -> bool:
    if query.threshold is not None:
        return _latest_against(query, name, found, sheet)
    newest = found[-1]
    sheet.say(f"{name}: {newest.dated}{_stale(newest)} {sheet.cite(newest.fact)}.")
    tell_converted(newest, query.entity, query.unit, sheet)
    _same_time(newest, found, sheet)
    _appraisal(newest, sheet)
    earlier = [one for one in found if one.fact.when != newest.fact.when]
    if earlier:
        before = earlier[-1]
        sheet.say(f"Before that: {before.dated} {sheet.cite(before.fact)}.")
    return True


def _latest_against(query: Query, name: str, found: list[Reading], sheet: Sheet) -> bool:
    newest = found[-1]
    bound = query.threshold
    over = passing(found[-1:], bound) if bound is not None else None
    if bound is None or over is None or _tied(newest, found):
        return False
    lead = f"Yes, it is {bound.said}." if over else "No."
    sheet.say(
        f"{lead} The latest {_inside(name)} is {newest.dated}{_stale(newest)} {sheet.cite(newest.fact)}; "
        f"the bound asked is {bound.figures}."
    )
    sheet.calculated(f"bound {bound.figures}")
    return True


def _previous(_: Query, name: str, found: list[Reading], sheet: Sheet) -> bool:
    newest = found[-1]
    earlier = [one for one in found if one.fact.when != newest.fact.when]
    if not earlier:
        sheet.say(
            f"No {_inside(name)} before the latest one is recorded; the only one is "
            f"{newest.dated} {sheet.cite(newest.fact)}."
        )
        sheet.missing(f"{name} before the latest")
        return True
    before = earlier[-1]
    sheet.say(
        f"{name} before the latest: {before.dated}{_stale(before)} {sheet.cite(before.fact)}."
    )
    _same_time(before, earlier, sheet)
    sheet.say(f"The latest is {newest.dated} {sheet.cite(newest.fact)}.")
    return True


def _first(_: Query, name: str, found: list[Reading], sheet: Sheet) -> bool:
    dated = [one for one in found if one.day is not None]
    if not dated:
        return False
    oldest = dated[0]
    sheet.say(f"First recorded {_inside(name)}: {oldest.dated} {sheet.cite(oldest.fact)}.")
    _same_time(oldest, dated, sheet)
    if len(dated) > 1:
        sheet.say(f"The latest is {dated[-1].dated} {sheet.cite(dated[-1].fact)}.")
    return True


def _comparable(found: Sequence[Reading]) -> list[Reading] | None:
    """The readings with a plain figure in one unit, `None` where they differ in unit."""
    kept = [one for one in found if one.value is not None and not one.fact.comparator]
    if not kept or len(kept) != len(found) or len(units_of(kept)) > 1:
        return None
    return kept


def _extreme(query: Query, name: str, found: list[Reading], sheet: Sheet) -> bool:
    kept = _comparable(found)
    if kept is None:
        return _extreme_pressure(query, found, sheet)
    highest = query.ask in {"highest", "when_highest"}
    best = (max if highest else min)(one.value for one in kept if one.value is not None)
    same = [one for one in kept if one.value == best]
    word = "Highest" if highest else "Lowest"
    chosen = same[-1]
    span = f" {query.window.said}" if query.window is not None else ""
    sheet.say(f"{word} {_inside(name)}{span}: {chosen.dated} {sheet.cite(chosen.fact)}.")
    if len(same) > 1:
        others = "; ".join(f"{_day(one)} {sheet.cite(one.fact)}" for one in same[-2:-7:-1])
        sheet.say(f"The same value also on {others}.")
    newest = kept[-1]
    if newest is not chosen and newest not in same:
        sheet.say(f"The latest is {newest.dated}{_stale(newest)} {sheet.cite(newest.fact)}.")
    sheet.calculated(f"{word.lower()} of {_plural(len(kept), 'reading')}")
    return True


def _extreme_pressure(query: Query, found: Sequence[Reading], sheet: Sheet) -> bool:
    """Blood pressure has two figures: each has its own extreme, shown with its partner."""
    if not found or any("/" not in one.figure for one in found):
        return False
    highest = query.ask in {"highest", "when_highest"}
    word = "Highest" if highest else "Lowest"
    for index, side in enumerate(("systolic", "diastolic")):
        figures = [(Decimal(one.figure.split("/")[index]), one) for one in found]
        best = (max if highest else min)(figure for figure, _ in figures)
        chosen = next(one for figure, one in reversed(figures) if figure == best)
        sheet.say(f"{word} {side} blood pressure: {chosen.dated} {sheet.cite(chosen.fact)}.")
    return True


def _day(reading: Reading) -> str:
    if reading.day is None:
        return "an unrecorded date"
    return reading.fact.roughly or day_text(reading.day)


def _average(_: Query, name: str, found: list[Reading], sheet: Sheet) -> bool:
    kept = _comparable(found)
    if kept is None:
        return _average_pressure(name, found, sheet)
    mean, sums = _mean([one.value for one in kept if one.value is not None])
    unit = kept[-1].shown.removeprefix(kept[-1].figure)
    many = _plural(len(kept), "reading")
    marks = sheet.cite(kept[0].fact, *(one.fact for one in kept[-_MOST_LISTED:]))
    span = f"{_day(kept[0])} to {_day(kept[-1])}" if len(kept) > 1 else _day(kept[0])
    sheet.say(f"Average {_inside(name)}: {mean}{unit} over {many}, {span} {marks}.")
    if len(sums) <= _LONGEST_SUM:
        sheet.say(f"Calculated: {sums} = {mean} {sheet.cite(kept[-1].fact)}.")
    sheet.calculated(f"average {name} {mean}{unit} over {many}, {span}")
    sheet.calculated(f"{sums} = {mean}{unit}")
    return True


def _mean(figures: Sequence[Decimal]) -> tuple[Decimal, str]:
    """The mean to one place more than the figures have (at most two), and the sum that it is."""
    places = max(-int(figure.as_tuple().exponent) for figure in figures)
    step = Decimal(1).scaleb(-min(max(places, 0) + 1, _MOST_PLACES))
    mean = (sum(figures, Decimal(0)) / len(figures)).quantize(step, rounding=ROUND_HALF_UP)
    inside = " + ".join(str(figure) for figure in figures)
    return mean, f"({inside}) / {len(figures)}"


def _average_pressure(name: str, found: Sequence[Reading], sheet: Sheet) -> bool:
    if not found or any("/" not in one.figure for one in found):
        return False
    means = [_mean([Decimal(one.figure.split("/")[index]) for one in found])[0] for index in (0, 1)]
    unit = found[-1].shown.removeprefix(found[-1].figure)
    many = _plural(len(found), "reading")
    marks = sheet.cite(*(one.fact for one in found[-_MOST_LISTED:]))
    sheet.say(f"Average {name}: {means[0]}/{means[1]}{unit} over {many} {marks}.")
    sheet.calculated(f"mean of {many}: systolic {means[0]}, diastolic {means[1]}")
    return True


def _count(query: Query, name: str, found: list[Reading], sheet: Sheet) -> bool:
    chosen = found
    bound = ""
    if query.threshold is not None:
        kept = passing(found, query.threshold)
        if kept is None:
            return False
        chosen, bound = kept, f" {query.threshold.said}"
    span = f" {query.window.said}" if query.window is not None else ""
    if not chosen:
        best = found[-1]
        sheet.say(
            f"0 of {_plural(len(found), 'reading')} of {_inside(name)}{span} were{bound}; "
            f"the latest is {best.dated} {sheet.cite(best.fact)}."
        )
        sheet.calculated(f"0 of {len(found)} readings{bound}")
        return True
    first, last = chosen[0], chosen[-1]
    total = f" of {len(found)}" if bound else ""
    many = _plural(len(chosen), "reading") if not total else f"{len(chosen)}{total} readings"
    sheet.say(
        f"{many} of {name}{span}{bound}: the first {first.dated} {sheet.cite(first.fact)}, "
        f"the latest {last.dated} {sheet.cite(last.fact)}."
        if len(chosen) > 1
        else f"{many} of {name}{span}{bound}: {last.dated} {sheet.cite(last.fact)}."
    )
    moments = by_moment(chosen)
    if moments != len(chosen):
        sheet.count(f"They were taken at {moments} separate times.")
    sheet.calculated(f"counted {len(chosen)}{total} readings{bound} at {moments} times")
    return True


def _list(query: Query, name: str, found: list[Reading], sheet: Sheet) -> bool:
    chosen = found
    if query.threshold is not None:
        kept = passing(found, query.threshold)
        if kept is None:
            return False
        if not kept:
            return _any(query, name, found, sheet)
        chosen = kept
    span = f" {query.window.said}" if query.window is not None else ""
    bound = f" {query.threshold.said}" if query.threshold is not None else ""
    shown = chosen[-(query.last or _MOST_LISTED) :]
    if query.last is not None:
        lead = f"Last {len(shown)} readings of {_inside(name)}" if len(shown) > 1 else f"{name}"
        if len(shown) < query.last:
            lead += f" (only {len(shown)} recorded{span})"
    else:
        lead = f"{_plural(len(chosen), 'reading')} of {_inside(name)}{span}{bound}"
        if len(shown) < len(chosen):
            lead += f", the latest {len(shown)}"
    sheet.count(f"{lead}{', newest first' if len(shown) > 1 else ''}:")
    for one in reversed(shown):
        sheet.say(f"- {_day(one)}: {one.shown}{_stale(one)} {sheet.cite(one.fact)}")
    sheet.calculated(f"listed {len(shown)} of {len(chosen)} readings")
    return True


def _any(query: Query, name: str, found: list[Reading], sheet: Sheet) -> bool:
    span = f" {query.window.said}" if query.window is not None else ""
    if query.threshold is None:
        first, last = found[0], found[-1]
        if query.window is not None and len(found) > 1:
            return _any_listed(f"{name}{span}", found, sheet)
        sheet.say(
            f"Yes: {_plural(len(found), 'reading')} of {_inside(name)}{span}, the latest "
            f"{last.dated}{_stale(last)} {sheet.cite(last.fact)}."
        )
        if len(found) > 1:
            sheet.say(f"The first is {first.dated} {sheet.cite(first.fact)}.")
        sheet.calculated(f"counted {len(found)} readings")
        return True
    kept = passing(found, query.threshold)
    if kept is None:
        return False
    bound = query.threshold.said
    low = query.threshold.op in {"<", "<="}
    edge = (min if low else max)(found, key=lambda one: one.value or Decimal(0))
    word = "lowest" if low else "highest"
    many = _plural(len(found), "reading")
    if not kept:
        sheet.say(
            f"No. The {word} of {many} of {_inside(name)}{span} is {edge.dated} {sheet.cite(edge.fact)}; "
            f"the bound asked is {query.threshold.figures}."
        )
        sheet.calculated(f"0 of {many} {bound}")
        return True
    last = kept[-1]
    earlier = query.window is None and found[-1] not in kept
    lead = "Yes at an earlier time, not at the latest" if earlier else "Yes"
    sheet.say(
        f"{lead}: {name}{span} was {bound} in {len(kept)} of {many}, most recently "
        f"{last.dated} {sheet.cite(last.fact)}."
    )
    if edge is not last:
        sheet.say(f"The {word} is {edge.dated} {sheet.cite(edge.fact)}.")
    newest = found[-1]
    if newest is not last and newest is not edge:
        sheet.say(
            f"The latest reading is {newest.dated}{_stale(newest)} {sheet.cite(newest.fact)}."
        )
    sheet.calculated(f"{len(kept)} of {many} {bound}")
    return True


def _any_listed(what: str, found: Sequence[Reading], sheet: Sheet) -> bool:
    shown = found[-_MOST_LISTED:]
    more = f", the latest {len(shown)}" if len(shown) < len(found) else ""
    sheet.count(f"Yes: {len(found)} readings of {what}{more}, newest first:")
    for one in reversed(shown):
        sheet.say(f"- {_day(one)}: {one.shown}{_stale(one)} {sheet.cite(one.fact)}")
    sheet.calculated(f"counted {len(found)} readings, listed {len(shown)}")
    return True


def _when_last(query: Query, name: str, found: list[Reading], sheet: Sheet) -> bool:
    kept = found
    bound = ""
    if query.threshold is not None:
        passed = passing(found, query.threshold)
        if passed is None:
            return False
        if not passed:
            return _any(query, name, found, sheet)
        kept, bound = passed, f" {query.threshold.said}"
    last = kept[-1]
    if last.day is None:
        return False
    sheet.say(
        f"{name}{bound} was last measured on {_day(last)}: {last.shown}{_stale(last)} "
        f"{sheet.cite(last.fact)}."
    )
    return True


def _when_first(query: Query, name: str, found: list[Reading], sheet: Sheet) -> bool:
    kept = [one for one in found if one.day is not None]
    bound = ""
    if query.threshold is not None:
        passed = passing(kept, query.threshold)
        if passed is None:
            return False
        if not passed:
            return _any(query, name, found, sheet)
        kept, bound = passed, f" {query.threshold.said}"
    if not kept:
        return False
    first = kept[0]
    sheet.say(
        f"{name}{bound} was first measured on {_day(first)}: {first.shown} {sheet.cite(first.fact)}."
    )
    return True


def _change(query: Query, name: str, found: list[Reading], sheet: Sheet) -> bool:
    """From the reading before (or the first) to the latest."""
    newest = found[-1]
    earlier = [one for one in found if one.fact.when != newest.fact.when]
    if not earlier:
        sheet.say(
            f"Only one {_inside(name)} is recorded, so there is nothing to compare: "
            f"{newest.dated} {sheet.cite(newest.fact)}."
        )
        sheet.missing(f"an earlier {name}")
        return True
    start = earlier[0] if query.ask == "change_first" else earlier[-1]
    words = _moved(start, newest)
    sheet.say(
        f"{name} {words}: {start.dated} {sheet.cite(start.fact)}, then "
        f"{newest.dated}{_stale(newest)} {sheet.cite(newest.fact)}."
    )
    _difference(start, newest, sheet)
    _same_time(newest, found, sheet)
    return True


def _difference(start: Reading, newest: Reading, sheet: Sheet) -> None:
    if start.value is None or newest.value is None or len(units_of((start, newest))) > 1:
        return
    difference = newest.value - start.value
    if not difference:
        return
    unit = newest.shown.removeprefix(newest.figure)
    signed = f"{difference:+f}"
    sheet.say(
        f"Calculated difference, latest minus earlier: {signed}{unit} "
        f"{sheet.cite(start.fact, newest.fact)}."
    )
    sheet.calculated(f"{newest.figure} less {start.figure} is {signed}{unit}")


def _moved(start: Reading, newest: Reading) -> str:
    if start.value is None or newest.value is None or len(units_of((start, newest))) > 1:
        return "before and now"
    if newest.value == start.value:
        return "is unchanged"
    return "rose" if newest.value > start.value else "fell"


def _trend(query: Query, name: str, found: list[Reading], sheet: Sheet) -> bool:
    if len(found) == 1:
        only = found[0]
        sheet.say(
            f"Only one {_inside(name)} is recorded, so no trend can be read: {only.dated} {sheet.cite(only.fact)}."
        )
        sheet.missing(f"further readings of {_inside(name)}")
        return True
    first, last = found[0], found[-1]
    span = f" {query.window.said}" if query.window is not None else ""
    many = _plural(len(found), "reading")
    sheet.say(
        f"{name}{span} {_course(found)}, from {first.dated} {sheet.cite(first.fact)} to "
        f"{last.dated}{_stale(last)} {sheet.cite(last.fact)}."
    )
    sheet.count(f"Counted: {many}.")
    _difference(first, last, sheet)
    if len(found) >= _FEWEST_LISTED:
        shown = found[-_MOST_TREND:]
        lead = "All readings" if len(shown) == len(found) else f"The latest {len(shown)} of {many}"
        sheet.count(f"{lead}, newest first:")
        for one in reversed(shown):
            sheet.say(f"- {_day(one)}: {one.shown} {sheet.cite(one.fact)}")
    sheet.calculated(f"{many}; the latest {min(len(found), _MOST_TREND)} listed")
    return True


def _course(found: Sequence[Reading]) -> str:
    """The direction where ends and halves agree, else that it varied."""
    values = [one.value for one in found]
    if any(value is None for value in values) or len(units_of(found)) > 1:
        return "as recorded"
    figures = [value for value in values if value is not None]
    half = len(figures) // 2
    ends = figures[-1] - figures[0]
    late = sum(figures[-half:], Decimal(0)) / half
    early = sum(figures[:half], Decimal(0)) / half
    small = abs(ends) <= abs(figures[0]) * Decimal("0.05")
    if ends > 0 and late > early:
        return "rose slightly" if small else "rose"
    if ends < 0 and late < early:
        return "fell slightly" if small else "fell"
    return "is little changed overall" if small else "went up and down"


_ASKS: dict[str, Callable[[Query, str, list[Reading], Sheet], bool]] = {
    "latest": _latest,
    "previous": _previous,
    "first": _first,
    "highest": _extreme,
    "lowest": _extreme,
    "when_highest": _extreme,
    "when_lowest": _extreme,
    "average": _average,
    "count": _count,
    "list": _list,
    "any": _any,
    "when_last": _when_last,
    "when_first": _when_first,
    "change": _change,
    "change_first": _change,
    "trend": _trend,
}
