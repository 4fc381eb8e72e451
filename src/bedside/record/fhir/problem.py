"""Conditions, allergies, flags and family history."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from bedside.record.fhir.around import Around, joined, made
from bedside.record.fhir.shapes import (
    Concept,
    coded,
    concept,
    concepts,
    first_moment,
    notes,
    obj,
    objects,
    quantity,
    word,
)
from bedside.record.needs import Fact

__all__ = ["read_allergy", "read_condition", "read_family", "read_flag"]


def read_condition(resource: Mapping[str, Any], around: Around) -> tuple[Fact, ...]:
    """One fact: "Type 2 diabetes: active, confirmed; since 3 Mar 2010"."""
    what = concept(resource.get("code"))
    onset = first_moment(resource, "onsetDateTime", "onsetPeriod")
    recorded = first_moment(resource, "recordedDate", "assertedDate")
    end = first_moment(resource, "abatementDateTime")
    if end is None:
        end = first_moment({"end": obj(resource.get("abatementPeriod")).get("end")}, "end")
    status = coded(resource.get("clinicalStatus"))
    verification = coded(resource.get("verificationStatus"))
    severity = concept(resource.get("severity")).text
    stages = [concept(obj(item).get("summary")).text for item in objects(resource.get("stage"))]
    line = joined(
        (
            joined((status or "clinical status not stated", verification), by=", "),
            severity,
            joined((f"stage {stage}" for stage in stages if stage), by=", "),
            joined((item.text for item in concepts(resource.get("bodySite"))), by=", "),
            f"since {onset.shown}" if onset else _aged("since", resource, "onset"),
            f"ended {end.shown}" if end else _aged("ended", resource, "abatement"),
            f"recorded {recorded.shown}" if recorded and not onset else "",
            noted := notes(resource.get("note")),
        )
    )
    name = what.text or "Condition"
    return (
        made(
            resource,
            around,
            category="conditions",
            line=f"{name}: {line}",
            what=what,
            when=onset or recorded,
            end=end,
            updated=recorded,
            status=status,
            verification=verification,
            severity=severity,
            noted=noted,
            group=next((coded(item) for item in objects(resource.get("category"))), ""),
        ),
    )


def _aged(said: str, resource: Mapping[str, Any], stem: str) -> str:
    """An onset or abatement that is an age or words."""
    if (age := quantity(resource.get(f"{stem}Age"))) is not None:
        return f"{said} age {age.shown}"
    words = word(resource.get(f"{stem}String"))
    return f"{said} {words}" if words else ""


_ABSENCES = {
    "716186003": "No known allergy",
    "409137002": "No known drug allergy",
    "428607008": "No known environmental allergy",
    "429625007": "No known food allergy",
}
"""What SNOMED CT calls its statements of absence, where an entry has the code alone."""


def read_allergy(resource: Mapping[str, Any], around: Around) -> tuple[Fact, ...]:
    """One fact: "Penicillin V: allergy, active, confirmed; high criticality; reaction: hives"."""
    what = concept(resource.get("code"))
    what = replace(what, text=_ABSENCES.get(what.text, what.text))
    reactions, substances = [], []
    for reaction in objects(resource.get("reaction")):
        felt = [item.text for item in concepts(reaction.get("manifestation"))]
        severity = word(reaction.get("severity"))
        text = joined(felt, by=", ") or word(reaction.get("description"))
        if text:
            reactions.append(f"{text} ({severity})" if severity else text)
        substances.append(concept(reaction.get("substance")).text)
    if not what.text and any(substances):
        what = Concept(text=next(name for name in substances if name))
    recorded = first_moment(resource, "recordedDate", "assertedDate")
    onset = first_moment(resource, "onsetDateTime", "onsetPeriod")
    status = coded(resource.get("clinicalStatus"))
    verification = coded(resource.get("verificationStatus"))
    criticality = word(resource.get("criticality"))
    categories = resource.get("category")
    groups = [word(item) for item in categories] if isinstance(categories, list) else []
    line = joined(
        (
            joined(
                (
                    word(resource.get("type")) or "allergy or intolerance",
                    status or "clinical status not stated",
                    verification,
                ),
                by=", ",
            ),
            criticality and f"criticality {criticality.replace('-', ' ')}",
            joined(groups, by=", "),
            f"reaction: {', '.join(reactions)}" if reactions else "",
            f"since {onset.shown}" if onset else "",
            f"recorded {recorded.shown}" if recorded else "",
            notes(resource.get("note")),
        )
    )
    name = what.text or "Allergy to an unnamed substance"
    return (
        made(
            resource,
            around,
            category="allergies",
            line=f"{name}: {line}",
            what=what,
            when=recorded or onset,
            updated=recorded,
            status=status,
            verification=verification,
            severity=criticality,
            reactions=tuple(reactions),
            group=groups[0] if groups else "",
        ),
    )


def read_flag(resource: Mapping[str, Any], around: Around) -> tuple[Fact, ...]:
    """One fact: "Alert: falls risk (active, since 3 Mar 2024; safety)"."""
    what = concept(resource.get("code"))
    when = first_moment(resource, "period")
    end = first_moment({"end": obj(resource.get("period")).get("end")}, "end")
    status = word(resource.get("status"))
    groups = [item.text for item in concepts(resource.get("category"))]
    remark = joined(
        (
            joined((status, f"since {when.shown}" if when else ""), by=", "),
            f"until {end.shown}" if end else "",
            joined(groups, by=", "),
            around.named(resource.get("author"), resource),
        )
    )
    return (
        made(
            resource,
            around,
            category="alerts",
            line=f"Alert: {what.text or 'not described'} ({remark})",
            what=what,
            when=when,
            end=end,
            status=status,
            group=groups[0] if groups else "",
        ),
    )


def read_family(resource: Mapping[str, Any], around: Around) -> tuple[Fact, ...]:
    """One fact: "Family history, mother: breast cancer (onset age 45 a)"; never about the patient."""
    relative = concept(resource.get("relationship"))
    who = relative.text or word(resource.get("name")) or "relative"
    when = first_moment(resource, "date")
    status = word(resource.get("status"))
    found = []
    for item in objects(resource.get("condition")):
        name = concept(item.get("code")).text
        age = quantity(item.get("onsetAge"))
        words = f"age {age.shown}" if age else word(item.get("onsetString"))
        outcome = concept(item.get("outcome")).text
        remark = joined((f"onset {words}" if words else "", outcome))
        if name:
            found.append(f"{name} ({remark})" if remark else name)
    died = resource.get("deceasedBoolean") is True or bool(
        resource.get("deceasedAge") or resource.get("deceasedDate")
    )
    dated = joined((when.shown if when else "date unknown", status), by=", ")
    said = joined(found, by=", ") or "no condition named"
    return (
        made(
            resource,
            around,
            category="family_history",
            line=f"Family history, {who}{' (deceased)' if died else ''}: {said} ({dated})",
            what=Concept(text=f"Family history, {who}", code=relative.code, codes=relative.codes),
            when=when,
            status=status,
            text_value=joined(found, by=", "),
        ),
    )
