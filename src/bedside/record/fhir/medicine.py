"""Medicines: requests and statements, with their dosage said in words, and immunisations."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from bedside.record.fhir.around import STANDS, Around, joined, made
from bedside.record.fhir.shapes import (
    Concept,
    coded,
    concept,
    concepts,
    first_moment,
    notes,
    number,
    obj,
    objects,
    quantity,
    word,
)
from bedside.record.needs import Fact

__all__ = ["dosage_of", "read_immunization", "read_medication"]

_UNITS = {"s": "second", "min": "minute", "h": "hour", "d": "day", "wk": "week", "mo": "month"}
_UNITS |= {"a": "year"}
_TIMES = {"1": "once", "2": "twice"}
_WHEN = {
    "MORN": "in the morning",
    "NOON": "at noon",
    "AFT": "in the afternoon",
    "EVE": "in the evening",
    "NIGHT": "at night",
    "HS": "at bedtime",
    "AC": "before meals",
    "PC": "after meals",
    "C": "with meals",
    "ACM": "before breakfast",
    "PCM": "after breakfast",
    "ACV": "before dinner",
    "PCV": "after dinner",
    "WAKE": "on waking",
}
_ADVERB = {"d": "daily", "wk": "weekly", "mo": "monthly", "h": "hourly"}


def _often(timing: Mapping[str, Any]) -> str:
    """Say "twice daily", "every 8 hours", "3 times daily in the morning"; "" when nothing is said."""
    repeat = obj(timing.get("repeat"))
    times, period = number(repeat.get("frequency")), number(repeat.get("period"))
    unit = word(repeat.get("periodUnit"))
    most = number(repeat.get("frequencyMax"))
    said = ""
    if period and unit in _UNITS:
        count = times[1] if times else "1"
        upper = f"-{most[1]}" if most else ""
        if period[0] == 1:
            often = _TIMES.get(count, f"{count} times") if not upper else f"{count}{upper} times"
            said = f"{often} {_ADVERB.get(unit, 'a ' + _UNITS[unit])}"
        else:
            every = f"every {period[1]} {_UNITS[unit]}s"
            said = every if count == "1" and not upper else f"{count}{upper} times {every}"
    code = concept(timing.get("code")).text
    meals = repeat.get("when")
    moments = [_WHEN.get(word(item), "") for item in meals] if isinstance(meals, list) else []
    days = repeat.get("dayOfWeek")
    weekdays = [word(item) for item in days] if isinstance(days, list) else []
    bounds = quantity(repeat.get("boundsDuration"))
    return joined(
        (
            said or code,
            joined(moments, by=" and "),
            f"on {', '.join(weekdays)}" if weekdays else "",
            f"for {bounds.shown}" if bounds else "",
        ),
        by=" ",
    )


def _amount(source: Mapping[str, Any]) -> str:
    span = obj(source.get("doseRange"))
    low, high = quantity(span.get("low")), quantity(span.get("high"))
    dose = quantity(source.get("doseQuantity"))
    said = dose.shown if dose else ""
    if not said and low and high:
        said = f"{low.figure} to {high.shown}"
    rate = quantity(source.get("rateQuantity"))
    return joined((said, f"at {rate.shown}" if rate else ""), by=" ")


def _dose(dosage: Mapping[str, Any]) -> str:
    """One Dosage in words: its own text first, else composed from its parts."""
    if text := word(dosage.get("text")):
        return text
    amounts = [_amount(item) for item in objects(dosage.get("doseAndRate"))] or [_amount(dosage)]
    if dosage.get("asNeededBoolean") is True:
        needed = "as needed"
    else:
        why = concept(dosage.get("asNeededCodeableConcept")).text
        needed = f"as needed for {why}" if why else ""
    ratio = obj(dosage.get("maxDosePerPeriod"))
    most, per = quantity(ratio.get("numerator")), quantity(ratio.get("denominator"))
    amount = next((item for item in amounts if item), "")
    return joined(
        (
            f"dose {amount}" if amount else "",
            concept(dosage.get("route")).text,
            _often(obj(dosage.get("timing"))),
            needed,
            f"at most {most.shown} per {per.shown}" if most and per else "",
            joined((item.text for item in concepts(dosage.get("additionalInstruction"))), by=", "),
            word(dosage.get("patientInstruction")),
        ),
        by=", ",
    )


def dosage_of(found: object) -> str:
    """An array of Dosage in words, in their order; "" when none says anything."""
    listed = sorted(
        objects(found), key=lambda item: (number(item.get("sequence")) or (Decimal(0), ""))[0]
    )
    return joined((_dose(item) for item in listed), by=", then ")


def _medicine(resource: Mapping[str, Any], around: Around) -> Concept:
    what = concept(resource.get("medicationCodeableConcept"))
    if what.text:
        return what
    pointed = resource.get("medicationReference")
    written = word(obj(pointed).get("reference"))
    if written.startswith("#"):
        for contained in objects(resource.get("contained")):
            if word(contained.get("id")) == written[1:]:
                return concept(contained.get("code"))
    name = around.named(pointed, resource)
    return Concept(text=name) if name else what


def _reasons(resource: Mapping[str, Any], around: Around) -> tuple[str, ...]:
    named = [item.text for item in concepts(resource.get("reasonCode"))]
    return tuple(
        dict.fromkeys([*named, *around.all_named(resource.get("reasonReference"), resource)])
    )


def read_medication(resource: Mapping[str, Any], around: Around) -> tuple[Fact, ...]:
    """One fact: "Metformin 500 mg tablet: active, ordered 3 Mar 2019; dose 1 tablet, twice daily"."""
    what = _medicine(resource, around)
    statement = word(resource.get("resourceType")) == "MedicationStatement"
    period = obj(resource.get("effectivePeriod"))
    when = first_moment(resource, "authoredOn", "effectiveDateTime", "effectivePeriod")
    when = when or first_moment(resource, "dateAsserted")
    end = first_moment({"end": period.get("end")}, "end")
    status = word(resource.get("status"))
    if status == "active" and word(resource.get("intent")) == "proposal":
        status = "proposed"  # nobody has ordered it
    whys = resource.get("statusReason")  # a list in a statement, one in a request
    why_status = joined(one.text for one in concepts(whys if isinstance(whys, list) else [whys]))
    dosage = dosage_of(resource.get("dosage" if statement else "dosageInstruction"))
    reasons = _reasons(resource, around)
    intent = word(resource.get("intent"))
    refused = resource.get("doNotPerform") is True
    supply = obj(resource.get("dispenseRequest"))
    repeats = number(supply.get("numberOfRepeatsAllowed"))
    orderer = around.named(resource.get("requester"), resource)
    noted = notes(resource.get("note"))
    verb = "proposed" if intent == "proposal" else "taken since" if statement else "ordered"
    verb = "stated" if status == "not-taken" else verb
    line = joined(
        (
            joined(
                (
                    "DO NOT GIVE" if refused else "",
                    f"{status or 'status not stated'}{f' ({why_status})' if why_status else ''}",
                    f"{verb} {when.shown}" if when else "",
                    intent if intent in {"plan", "proposal"} else "",
                ),
                by=", ",
            ),
            f"until {end.shown}" if end else "",
            dosage,
            f"for {', '.join(reasons)}" if reasons else "",
            f"{repeats[1]} repeats allowed" if repeats else "",
            f"by {orderer}" if orderer else "",
            noted,
        )
    )
    name = what.text or "Medicine not named"
    return (
        made(
            resource,
            around,
            category="alerts" if refused and status in STANDS else "medications",
            line=f"{name}: {line}",
            what=what,
            when=when,
            end=end,
            status=status,
            verification="do-not-perform" if refused else "",
            dosage=dosage,
            reasons=reasons,
            group="statement" if statement else "request",
            noted=joined((why_status, noted)),
            people=(orderer,) if orderer else (),
        ),
    )


def read_immunization(resource: Mapping[str, Any], around: Around) -> tuple[Fact, ...]:
    """One fact: "Influenza vaccine: given 6 Dec 2011 (completed; lot AB12)"."""
    what = concept(resource.get("vaccineCode"))
    when = first_moment(resource, "occurrenceDateTime")
    status = word(resource.get("status"))
    why = concept(resource.get("statusReason")).text
    dose = next(objects(resource.get("protocolApplied")), {})
    nth = number(dose.get("doseNumberPositiveInt"))
    lot = word(resource.get("lotNumber"))
    date = when.shown if when else word(resource.get("occurrenceString")) or "date unknown"
    remark = joined(
        (
            status,
            why,
            f"dose {nth[1]}" if nth else word(dose.get("doseNumberString")),
            f"lot {lot}" if lot else "",
            concept(resource.get("site")).text,
            concept(resource.get("route")).text,
            "not the primary source" if resource.get("primarySource") is False else "",
            notes(resource.get("note")),
        )
    )
    verb = "not given" if status == "not-done" else "given"
    return (
        made(
            resource,
            around,
            category="immunizations",
            line=f"{what.text or 'Vaccine not named'}: {verb} {date} ({remark})",
            what=what,
            when=when,
            status=status,
            dosage=coded(obj(resource.get("doseQuantity"))),
        ),
    )
