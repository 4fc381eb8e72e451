"""Visits, procedures, reports, orders, plans, goals, imaging and document references."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bedside.record.fhir.around import STANDS, Around, joined, made
from bedside.record.fhir.dates import Moment
from bedside.record.fhir.shapes import (
    Concept,
    brief,
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

__all__ = [
    "read_care_plan",
    "read_document",
    "read_encounter",
    "read_goal",
    "read_imaging",
    "read_order",
    "read_procedure",
    "read_report",
]

_CLASSES = {
    "AMB": "ambulatory",
    "IMP": "inpatient",
    "EMER": "emergency",
    "ACUTE": "inpatient acute",
    "NONAC": "inpatient non-acute",
    "OBSENC": "observation",
    "SS": "short stay",
    "HH": "home health",
    "VR": "virtual",
    "FLD": "field",
    "PRENC": "pre-admission",
    "wellness": "wellness",
    "urgentcare": "urgent care",
    "outpatient": "outpatient",
}


def _ended(found: object) -> Moment | None:
    return first_moment({"end": obj(found).get("end")}, "end")


def _reasons(resource: Mapping[str, Any], around: Around) -> tuple[str, ...]:
    named = [item.text for item in concepts(resource.get("reasonCode"))]
    pointed = around.all_named(resource.get("reasonReference"), resource)
    return tuple(dict.fromkeys([*named, *pointed]))


def _span(when: Moment | None, end: Moment | None) -> str:
    """Say "3 Mar 2019", or "3 Mar 2019 to 5 Mar 2019" where the last day is another one."""
    if when is None:
        return "date unknown"
    return f"{when.shown} to {end.shown}" if end and end.shown != when.shown else when.shown


def _people(
    found: object, role: str, resource: Mapping[str, Any], around: Around
) -> tuple[str, ...]:
    """The names behind one role of an array of participants or performers, in order, each once."""
    names = (around.named(item.get(role), resource) for item in objects(found))
    return tuple(dict.fromkeys(name for name in names if name))


def read_encounter(resource: Mapping[str, Any], around: Around) -> tuple[Fact, ...]:
    """One fact: "Encounter for check up: ambulatory, 25 Oct 1988 (finished; Norwood Hospital)"."""
    types = concepts(resource.get("type"))
    group = word(obj(resource.get("class")).get("code"))
    shown_class = _CLASSES.get(group) or concept(resource.get("class")).text
    service = concept(resource.get("serviceType")).text
    what = types[0] if types else Concept(text=service or f"{shown_class or 'Unspecified'} visit")
    when, end = first_moment(resource, "period"), _ended(resource.get("period"))
    status = word(resource.get("status"))
    reasons = _reasons(resource, around)
    facility = around.named(resource.get("serviceProvider"), resource)
    places = [around.named(obj(item).get("location")) for item in objects(resource.get("location"))]
    stay = obj(resource.get("hospitalization"))
    discharge = concept(stay.get("dischargeDisposition")).text
    diagnoses = [
        around.named(item.get("condition"), resource) for item in objects(resource.get("diagnosis"))
    ]
    people = _people(resource.get("participant"), "individual", resource, around)
    remark = joined(
        (
            status,
            f"reason: {', '.join(reasons)}" if reasons else "",
            joined((f"diagnosis: {name}" for name in diagnoses if name), by=", "),
            joined(people, by=", "),
            facility or joined(dict.fromkeys(name for name in places if name), by=", "),
            f"discharged to {discharge}" if discharge else "",
        )
    )
    return (
        made(
            resource,
            around,
            category="timeline",
            line=f"{what.text}: {joined((shown_class, _span(when, end)), by=', ')} ({remark})",
            what=what,
            when=when,
            end=end,
            status=status,
            group=group,
            facility=facility or next((name for name in places if name), ""),
            reasons=reasons,
            people=people,
        ),
    )


def read_procedure(resource: Mapping[str, Any], around: Around) -> tuple[Fact, ...]:
    """One fact: "Colonoscopy: done 3 Mar 2019 (completed; for screening)"."""
    what = concept(resource.get("code"))
    when = first_moment(resource, "performedDateTime", "performedPeriod")
    end = _ended(resource.get("performedPeriod"))
    status = word(resource.get("status"))
    reasons = _reasons(resource, around)
    said = {"completed": "done", "not-done": "NOT DONE"}.get(status, "")
    words = word(resource.get("performedString"))
    people = _people(resource.get("performer"), "actor", resource, around)
    noted = joined(
        (
            f"outcome {concept(resource.get('outcome')).text}" if resource.get("outcome") else "",
            joined((item.text for item in concepts(resource.get("complication"))), by=", "),
            notes(resource.get("note")),
        )
    )
    remark = joined(
        (
            status,
            concept(resource.get("statusReason")).text,
            f"for {', '.join(reasons)}" if reasons else "",
            joined((item.text for item in concepts(resource.get("bodySite"))), by=", "),
            f"by {', '.join(people)}" if people else "",
            noted,
        )
    )
    day = words if when is None and words else _span(when, end)
    return (
        made(
            resource,
            around,
            category="procedures",
            line=f"{what.text or 'Procedure'}: {joined((said, day), by=' ')} ({remark})",
            what=what,
            when=when,
            end=end,
            status=status,
            group=coded(resource.get("category")),
            reasons=reasons,
            noted=noted,
            people=people,
        ),
    )


def read_report(resource: Mapping[str, Any], around: Around) -> tuple[Fact, ...]:
    """One fact: "Lipid panel: report of 6 Dec 2011 (final; results: ...; conclusion: ...)"."""
    what = concept(resource.get("code"))
    when = first_moment(resource, "effectiveDateTime", "effectivePeriod", "issued")
    status = word(resource.get("status"))
    groups = [item.text for item in concepts(resource.get("category"))]
    results = [brief(name) for name in around.all_named(resource.get("result"), resource)]
    conclusion = word(resource.get("conclusion"))
    coded_conclusion = [item.text for item in concepts(resource.get("conclusionCode"))]
    makers = around.all_named(resource.get("performer"), resource)
    documents = around.documents.get(_key(resource), "")
    noted = joined(
        (
            f"conclusion: {conclusion}" if conclusion else "",
            joined(coded_conclusion, by=", "),
        )
    )
    remark = joined(
        (
            status,
            groups[0] if groups else "",
            f"results: {', '.join(results)}" if results else "",
            noted,
            joined(makers, by=", "),
            "text attached" if documents else "",
        )
    )
    day = when.shown if when else "unknown date"
    return (
        made(
            resource,
            around,
            category="reports",
            line=f"{what.text or 'Report'}: report of {day} ({remark})",
            what=what,
            when=when,
            updated=first_moment(resource, "issued"),
            status=status,
            group=coded(next(objects(resource.get("category")), {})),
            text_value=conclusion,
            noted=noted,
            document=documents,
        ),
    )


def _key(resource: Mapping[str, Any]) -> str:
    return f"{word(resource.get('resourceType'))}/{word(resource.get('id'))}"


def read_order(resource: Mapping[str, Any], around: Around) -> tuple[Fact, ...]:
    """One fact: "MRI of the knee: active order of 3 Mar 2020 (urgent; for knee pain)"."""
    what = concept(resource.get("code"))
    when = first_moment(resource, "authoredOn", "occurrenceDateTime", "occurrencePeriod")
    due = first_moment(resource, "occurrenceDateTime", "occurrencePeriod")
    status, intent = word(resource.get("status")), word(resource.get("intent"))
    reasons = _reasons(resource, around)
    refused = resource.get("doNotPerform") is True
    orderer = around.named(resource.get("requester"), resource)
    kind = intent if intent in {"plan", "proposal", "directive"} else "order"
    due_shown = f"due {due.shown}" if due and when and due.at != when.at else ""
    remark = joined(
        (
            word(resource.get("priority")),
            f"for {', '.join(reasons)}" if reasons else "",
            due_shown,
            joined((item.text for item in concepts(resource.get("bodySite"))), by=", "),
            joined(around.all_named(resource.get("performer"), resource), by=", "),
            word(resource.get("patientInstruction")),
            f"by {orderer}" if orderer else "",
            notes(resource.get("note")),
        )
    )
    said = joined(("DO NOT PERFORM," if refused else "", status, kind), by=" ")
    line = f"{what.text or 'Order'}: {said} of {when.shown if when else 'unknown date'}"
    return (
        made(
            resource,
            around,
            category="alerts" if refused and status in STANDS else "orders",
            line=f"{line} ({remark})" if remark else line,
            what=what,
            when=when,
            end=due,
            status=status,
            verification="do-not-perform" if refused else "",
            group=coded(next(objects(resource.get("category")), {})),
            severity=word(resource.get("priority")),
            reasons=reasons,
            noted=notes(resource.get("note")),
            people=(orderer,) if orderer else (),
        ),
    )


def read_goal(resource: Mapping[str, Any], around: Around) -> tuple[Fact, ...]:
    """One fact: "Goal: HbA1c below 7.0 (accepted, in-progress; since 3 Mar 2019)"."""
    what = concept(resource.get("description"))
    when = first_moment(resource, "startDate", "statusDate")
    status = word(resource.get("lifecycleStatus"))
    achieved = concept(resource.get("achievementStatus")).text
    targets = []
    for target in objects(resource.get("target")):
        measure = concept(target.get("measure")).text
        detail = quantity(target.get("detailQuantity"))
        span = obj(target.get("detailRange"))
        low, high = quantity(span.get("low")), quantity(span.get("high"))
        due = first_moment(target, "dueDate")
        amount = detail.shown if detail else joined((q.shown for q in (low, high) if q), by=" to ")
        said = joined((measure, amount, f"by {due.shown}" if due else ""), by=" ")
        targets.append(said)
    remark = joined(
        (
            joined((status, achieved), by=", "),
            f"since {when.shown}" if when else "",
            f"target: {', '.join(t for t in targets if t)}" if any(targets) else "",
            joined(f"for {n}" for n in around.all_named(resource.get("addresses"), resource)),
            notes(resource.get("note")),
        )
    )
    return (
        made(
            resource,
            around,
            category="goals",
            line=f"Goal: {what.text or 'not described'} ({remark})",
            what=what,
            when=when,
            status=status,
            text_value=achieved,
        ),
    )


def read_care_plan(resource: Mapping[str, Any], around: Around) -> tuple[Fact, ...]:
    """One fact: "Care plan: diabetes self management (active since 2019; activities: ...)"."""
    names = [item for item in concepts(resource.get("category")) if item.text]
    title = word(resource.get("title")) or word(resource.get("description"))
    specific = [item for item in names if item.text.casefold() not in {"care plan", "assess-plan"}]
    chosen = (specific or names or [Concept(text="")])[-1 if specific else 0]
    what = Concept(text=title or chosen.text, code=chosen.code, codes=chosen.codes)
    when, end = first_moment(resource, "period", "created"), _ended(resource.get("period"))
    status = word(resource.get("status"))
    activities = []
    for activity in objects(resource.get("activity")):
        detail = obj(activity.get("detail"))
        name = concept(detail.get("code")).text or word(detail.get("description"))
        name = name or around.named(activity.get("reference"), resource)
        state = word(detail.get("status"))
        if name:
            activities.append(f"{name} ({state})" if state else name)
    reasons = around.all_named(resource.get("addresses"), resource)
    remark = joined(
        (
            joined((status, f"since {when.shown}" if when else ""), by=", "),
            f"ended {end.shown}" if end else "",
            f"for {', '.join(reasons)}" if reasons else "",
            f"activities: {', '.join(activities)}" if activities else "",
            notes(resource.get("note")),
        )
    )
    return (
        made(
            resource,
            around,
            category="careplans",
            line=f"Care plan: {what.text or 'not described'} ({remark})",
            what=what,
            when=when,
            end=end,
            status=status,
            reasons=reasons,
        ),
    )


def read_imaging(resource: Mapping[str, Any], around: Around) -> tuple[Fact, ...]:
    """One fact for an imaging study: "Ultrasound of thoracic: 14 May 2008 (available; 1 image)"."""
    when = first_moment(resource, "started")
    kinds, sites = [], []
    for series in objects(resource.get("series")):
        kinds.append(concept(series.get("modality")).text)
        sites.append(concept(series.get("bodySite")).text)
    kinds = list(dict.fromkeys(kind for kind in kinds if kind)) or [
        item.text for item in concepts(resource.get("modality"))
    ]
    sites = list(dict.fromkeys(site for site in sites if site))
    said = concepts(resource.get("procedureCode"))
    text = word(resource.get("description")) or (said[0].text if said else "")
    text = text or joined(("Imaging: " + joined(kinds, by=", "), joined(sites, by=", ")), by=" of ")
    status = word(resource.get("status"))
    images = number(resource.get("numberOfInstances"))
    reasons = _reasons(resource, around)
    remark = joined(
        (
            status,
            joined(kinds, by=", ") if word(resource.get("description")) or said else "",
            f"{images[1]} image{'' if images[0] == 1 else 's'}" if images else "",
            f"for {', '.join(reasons)}" if reasons else "",
            notes(resource.get("note")),
        )
    )
    what = Concept(text=text, code=said[0].code if said else "", synonyms=tuple(kinds))
    return (
        made(
            resource,
            around,
            category="reports",
            line=f"{text}: study of {when.shown if when else 'unknown date'} ({remark})",
            what=what,
            when=when,
            status=status,
            group="imaging",
            reasons=reasons,
        ),
    )


def read_document(resource: Mapping[str, Any], around: Around) -> tuple[Fact, ...]:
    """One fact: "Discharge summary: document of 2 Nov 2026 (current; Norwood Hospital)"."""
    what = concept(resource.get("type"))
    titles = [
        word(obj(content.get("attachment")).get("title"))
        for content in objects(resource.get("content"))
    ]
    title = word(resource.get("description")) or next((item for item in titles if item), "")
    when = first_moment(resource, "date", "created", "indexed")
    period = obj(resource.get("context")).get("period")
    if period and (covered := first_moment({"period": period}, "period")):
        when = when or covered
    status, doc_status = word(resource.get("status")), word(resource.get("docStatus"))
    groups = [item.text for item in concepts(resource.get("category"))]
    facility = around.named(resource.get("custodian"), resource)
    writers = around.all_named(resource.get("author"), resource)
    name = Concept(
        text=what.text or title or "Document",
        code=what.code,
        codes=what.codes,
        synonyms=(*what.synonyms, *((title,) if title and title != what.text else ())),
    )
    stored = around.documents.get(_key(resource), "")
    remark = joined(
        (
            joined((status, doc_status), by=", "),
            title if title != name.text else "",
            groups[0] if groups else "",
            joined(writers, by=", "),
            facility,
            "" if stored else "text not attached",
        )
    )
    return (
        made(
            resource,
            around,
            category="documents",
            line=f"{name.text}: document of {when.shown if when else 'unknown date'} ({remark})",
            what=name,
            when=when,
            status=status,
            verification=doc_status,
            group=groups[0] if groups else "",
            facility=facility,
            document=stored,
        ),
    )
