"""Observations: measured values, panels with components, coded answers, and absent values."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Any

from bedside.core.source import Source
from bedside.core.value import value
from bedside.record.fhir.around import Around, joined, made
from bedside.record.fhir.dates import moment
from bedside.record.fhir.shapes import (
    Quantity,
    coded,
    concept,
    first_moment,
    notes,
    number,
    obj,
    objects,
    quantity,
    word,
)
from bedside.record.needs import Fact

__all__ = ["read_observation"]

_MEANING = {
    "H": "high",
    "L": "low",
    "HH": "critically high",
    "LL": "critically low",
    "HU": "significantly high",
    "LU": "significantly low",
    "N": "normal",
    "A": "abnormal",
    "AA": "critically abnormal",
    "POS": "positive",
    "NEG": "negative",
    "IND": "indeterminate",
    "DET": "detected",
    "ND": "not detected",
    "S": "susceptible",
    "R": "resistant",
    "I": "intermediate",
    "U": "significant change up",
    "D": "significant change down",
    ">": "above the measurable range",
    "<": "below the measurable range",
}
_RANGE = re.compile(r"\s*(-?\d+(?:\.\d+)?)\s*(?:-|–|to)\s*(-?\d+(?:\.\d+)?)(?:\s*[^\d\s].*)?")
_UPPER = re.compile(r"\s*(?:<|<=|≤|up to)\s*(-?\d+(?:\.\d+)?)(?:\s*[^\d\s].*)?")
_LOWER = re.compile(r"\s*(?:>|>=|≥)\s*(-?\d+(?:\.\d+)?)(?:\s*[^\d\s].*)?")
_SYSTOLIC, _DIASTOLIC = "|8480-6", "|8462-4"


@value
class _Value:
    """What was found: a quantity, or words."""

    shown: str
    quantity: Quantity | None = None
    text: str = ""


@value
class _Limits:
    """The lab's own reference range. `shown` is as written; numbers are in the value's unit."""

    shown: str = ""
    low: Decimal | None = None
    high: Decimal | None = None


def _value(source: Mapping[str, Any]) -> _Value | None:
    """The value[x] of an Observation or of a component; `None` when it holds none."""
    if (measured := quantity(source.get("valueQuantity"))) is not None:
        return _Value(shown=measured.shown, quantity=measured)
    answer = concept(source.get("valueCodeableConcept"))
    words = answer.text or word(source.get("valueString")) or word(source.get("valueTime"))
    if not words and isinstance(source.get("valueBoolean"), bool):
        words = "yes" if source["valueBoolean"] else "no"
    if not words and (read := number(source.get("valueInteger"))) is not None:
        plain = Quantity(value=read[0], figure=read[1], unit="", ucum="")
        return _Value(shown=plain.shown, quantity=plain)
    if not words:
        words = _compound(source)
    return _Value(shown=words, text=words) if words else None


def _compound(source: Mapping[str, Any]) -> str:
    span = obj(source.get("valueRange"))
    low, high = quantity(span.get("low")), quantity(span.get("high"))
    if low or high:
        return " to ".join(part.shown for part in (low, high) if part)
    ratio = obj(source.get("valueRatio"))
    above, below = quantity(ratio.get("numerator")), quantity(ratio.get("denominator"))
    if above and below:
        return f"{above.shown} : {below.shown}"
    if at := moment(source.get("valueDateTime")):
        return at.shown
    period = obj(source.get("valuePeriod"))
    begun, ended = moment(period.get("start")), moment(period.get("end"))
    return " to ".join(at.shown for at in (begun, ended) if at)


def _limits(source: Mapping[str, Any], measured: Quantity | None) -> _Limits:
    ranges = list(objects(source.get("referenceRange")))
    if not ranges:
        return _Limits()
    plain = [item for item in ranges if not item.get("appliesTo") and not item.get("age")]
    chosen = (plain or ranges)[0]
    low, high = quantity(chosen.get("low")), quantity(chosen.get("high"))
    text = word(chosen.get("text"))
    if low is None and high is None:
        return _spoken_limits(text)
    figures = (low.figure if low else "", high.figure if high else "")
    if low and high:
        shown = f"{figures[0]}-{figures[1]}"
    else:
        shown = f">={figures[0]}" if low else f"<={figures[1]}"
    unit = next((part.unit for part in (low, high) if part and part.unit), "")
    foreign = bool(unit and measured and measured.unit and unit != measured.unit)
    if foreign:  # shown, never compared here: comparing needs a conversion
        return _Limits(shown=f"{shown} {unit}")
    if text and not _spoken_limits(text).low:
        shown = f"{shown}, {text}"
    return _Limits(shown=shown, low=low.value if low else None, high=high.value if high else None)


def _spoken_limits(text: str) -> _Limits:
    if found := _RANGE.fullmatch(text):
        return _Limits(shown=text, low=Decimal(found[1]), high=Decimal(found[2]))
    if found := _UPPER.fullmatch(text):
        return _Limits(shown=text, high=Decimal(found[1]))
    if found := _LOWER.fullmatch(text):
        return _Limits(shown=text, low=Decimal(found[1]))
    return _Limits(shown=text)


def _meaning(source: Mapping[str, Any]) -> str:
    found = [
        _MEANING.get(coded(item).upper(), concept(item).text)
        for item in objects(source.get("interpretation"))
    ]
    return joined(found, by=", ")


def _absence(source: Mapping[str, Any]) -> str:
    kinds = [name for name in source if name.startswith("value") and source[name]]
    if kinds:
        return "a value of a kind that is not shown here"
    why = concept(source.get("dataAbsentReason")).text
    return f"no value ({why.replace('-', ' ')})" if why else "no value recorded"


def _fields(found: _Value | None, limits: _Limits) -> dict[str, Any]:
    measured = found.quantity if found else None
    return {
        "value": measured.value if measured else None,
        "figure": measured.figure if measured else "",
        "unit": measured.unit if measured else "",
        "ucum": measured.ucum if measured else "",
        "comparator": measured.comparator if measured else "",
        "text_value": found.text if found else "",
        "low": limits.low,
        "high": limits.high,
    }


def _component(source: Mapping[str, Any], whole: Source) -> Fact | None:
    what = concept(source.get("code"))
    found = _value(source)
    if not what.text:
        return None
    limits = _limits(source, found.quantity if found else None)
    meaning = _meaning(source)
    shown = found.shown if found else _absence(source)
    return Fact(
        source=whole,
        category="observations",
        line=f"{what.text} {shown}" + _remark(limits, meaning),
        name=what.text,
        code=what.code,
        codes=what.codes,
        synonyms=what.synonyms,
        interpretation=meaning,
        **_fields(found, limits),
    )


def _remark(limits: _Limits, meaning: str) -> str:
    said = joined((f"range {limits.shown}" if limits.shown else "", meaning))
    return f" ({said})" if said else ""


def _order(component: Fact) -> int:
    """Systolic before diastolic, as everybody says it; the rest as written."""
    if component.code.endswith(_SYSTOLIC):
        return 0
    return 1 if component.code.endswith(_DIASTOLIC) else 2


def read_observation(resource: Mapping[str, Any], around: Around) -> tuple[Fact, ...]:
    """One fact: "Name: 8.2 % (2 Nov 2026, final; range 4.0-5.6; high)"."""
    what = concept(resource.get("code"))
    when = first_moment(
        resource, "effectiveDateTime", "effectivePeriod", "effectiveInstant", "issued"
    )
    found = _value(resource)
    limits = _limits(resource, found.quantity if found else None)
    meaning = _meaning(resource)
    status = word(resource.get("status"))
    method = concept(resource.get("method")).text
    device = around.named(resource.get("device"), resource)
    performers = [
        around.named(item, resource)
        for item in objects(resource.get("performer"))
        if around.key(item).startswith("Organization/")
    ]
    shell = made(
        resource,
        around,
        category="observations",
        line="",
        what=what,
        when=when,
        updated=first_moment(resource, "issued"),
        status=status,
        group=_group(resource),
        interpretation=meaning,
        method=joined((method, device), by=", "),
        facility=next((name for name in performers if name), ""),
        **_fields(found, limits),
    )
    parts = [_component(item, shell.source) for item in objects(resource.get("component"))]
    kept = tuple(sorted((part for part in parts if part is not None), key=_order))
    members = around.all_named(resource.get("hasMember"), resource)
    shown = joined(
        (
            found.shown if found else "",
            joined((_inner(part) for part in kept), by=", "),
            f"panel of {', '.join(members)}" if members else "",
        )
    )
    remark = joined(
        (
            joined((when.shown if when else "date unknown", status), by=", "),
            f"range {limits.shown}" if limits.shown else "",
            meaning,
            concept(resource.get("bodySite")).text,
            f"method {method}" if method else "",
            f"device {device}" if device else "",
            next((name for name in performers if name), ""),
            _comment(resource),
        )
    )
    line = f"{shell.name}: {shown or _absence(resource)} ({remark})"
    return (replace(shell, line=line, parts=kept),)


def _inner(part: Fact) -> str:
    """Say "systolic 120 mm[Hg]" inside a blood pressure; the component's own line elsewhere."""
    for code, said in ((_SYSTOLIC, "systolic"), (_DIASTOLIC, "diastolic")):
        if part.code.endswith(code):
            return part.line.replace(part.name, said, 1)
    return part.line


def _comment(resource: Mapping[str, Any]) -> str:
    text = notes(resource.get("note"))
    return f"comment: {text}" if text else ""


def _group(resource: Mapping[str, Any]) -> str:
    groups = [coded(item) for item in objects(resource.get("category"))]
    first = next((group for group in groups if group), "")
    return {"vital-sign": "vital-signs"}.get(first, first)
