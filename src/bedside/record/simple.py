"""The simple patient JSON: one person in one flat document, for those who have no FHIR."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bedside.core.errors import BadInput

__all__ = ["SimplePatient", "bundle_of", "is_simple", "patient_schema"]

_HEAD = re.compile(r"\s*\{")
_FHIR = re.compile(r'"resourceType"\s*:')
_LOINC, _RXNORM, _SNOMED = (
    "http://loinc.org",
    "http://www.nlm.nih.gov/research/umls/rxnorm",
    "http://snomed.info/sct",
)
_UCUM = "http://unitsofmeasure.org"
Day = Annotated[
    str,
    Field(
        pattern=r"^\d{4}(-\d{2}(-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})?)?)?)?$",
        description="A date such as 2026-11-02, 2026-11 or 2026, or a moment with its offset.",
    ),
]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", arbitrary_types_allowed=True)


class SimpleCondition(_Part):
    """A problem."""

    name: str = Field(min_length=1)
    status: Literal["active", "recurrence", "relapse", "inactive", "remission", "resolved"] = (
        "active"
    )
    onset: Day | None = None
    ended: Day | None = None
    severity: str = ""
    snomed: str = ""


class SimpleMedication(_Part):
    """A medicine. `dosage` is in words: "500 mg twice daily"."""

    name: str = Field(min_length=1)
    dosage: str = ""
    status: Literal["active", "on-hold", "stopped", "completed", "draft", "unknown"] = "active"
    started: Day | None = None
    reason: str = ""
    rxnorm: str = ""


class SimpleAllergy(_Part):
    """An allergy or intolerance. Leave the list out when nobody asked: out is not "none"."""

    name: str = Field(min_length=1)
    reaction: str = ""
    severity: Literal["", "mild", "moderate", "severe"] = ""
    criticality: Literal["", "low", "high", "unable-to-assess"] = ""
    status: Literal["active", "inactive", "resolved"] = "active"
    recorded: Day | None = None


class SimpleLab(_Part):
    """A laboratory value or vital sign. `value` is a number or words; digits are kept as written."""

    name: str = Field(min_length=1)
    value: Decimal | int | str
    unit: str = ""
    date: Day | None = None
    low: Decimal | int | None = None
    high: Decimal | int | None = None
    flag: Literal["", "H", "L", "HH", "LL", "N", "A", "AA"] = ""
    loinc: str = ""
    facility: str = ""
    method: str = ""


class SimpleVisit(_Part):
    """A visit."""

    date: Day
    type: str = "Visit"
    kind: Literal["ambulatory", "inpatient", "emergency", "virtual"] = "ambulatory"
    reason: str = ""
    facility: str = ""


class SimpleOther(_Part):
    """A procedure, immunisation, order or alert."""

    name: str = Field(min_length=1)
    date: Day | None = None
    status: str = ""
    note: str = ""


class SimplePatient(_Part):
    """One patient. Only `id` and `name` must be there; what is left out is not recorded."""

    id: str = Field(pattern=r"^[A-Za-z0-9\-._]{1,64}$")
    name: str = Field(min_length=1)
    birth_date: Day | None = None
    sex: Literal["male", "female", "other", "unknown"] | None = None
    no_known_allergies: bool = Field(
        default=False, description="True only where somebody asked and recorded it."
    )
    conditions: list[SimpleCondition] = Field(default_factory=list)
    medications: list[SimpleMedication] = Field(default_factory=list)
    allergies: list[SimpleAllergy] = Field(default_factory=list)
    labs: list[SimpleLab] = Field(default_factory=list)
    vitals: list[SimpleLab] = Field(default_factory=list)
    visits: list[SimpleVisit] = Field(default_factory=list)
    procedures: list[SimpleOther] = Field(default_factory=list)
    immunizations: list[SimpleOther] = Field(default_factory=list)
    orders: list[SimpleOther] = Field(default_factory=list)
    alerts: list[SimpleOther] = Field(default_factory=list)
    family_history: list[SimpleOther] = Field(default_factory=list)


def patient_schema() -> dict[str, Any]:
    """The JSON Schema of the simple patient JSON."""
    return SimplePatient.model_json_schema()


def is_simple(text: str) -> bool:
    """Whether a document claims to be simple patient JSON: an object that is no FHIR resource."""
    return (
        _HEAD.match(text) is not None
        and _FHIR.search(text) is None
        and re.search(r'"name"\s*:', text) is not None
    )


def bundle_of(found: object, *, what: str) -> dict[str, Any]:
    """The FHIR bundle that a simple patient JSON stands for.

    Raises:
        BadInput: it does not fit the schema; names the fields, never their content.
    """
    try:
        patient = SimplePatient.model_validate(found)
    except ValidationError as error:
        wrong = sorted({".".join(str(step) for step in item["loc"]) for item in error.errors()})
        raise BadInput(
            what,
            why="it is neither FHIR nor the simple patient JSON "
            f"(see {', '.join(wrong[:5])}{' and more' if len(wrong) > 5 else ''})",  # noqa: PLR2004
            do="`bedside schema patient` prints the schema.",
        ) from error
    entries = [
        {"resource": {**resource, "id": resource.get("id") or _digest(resource)}}
        for resource in _resources(patient)
    ]
    return {"resourceType": "Bundle", "type": "collection", "entry": entries}


def _digest(resource: Mapping[str, Any]) -> str:
    return hashlib.sha256(repr(sorted(resource.items())).encode()).hexdigest()[:24]


def _kept(**fields: Any) -> dict[str, Any]:
    """The fields that say something."""
    return {name: item for name, item in fields.items() if item not in (None, "", [], {})}


def _concept(text: str, system: str = "", code: str = "") -> dict[str, Any]:
    coding = [{"system": system, "code": code}] if code else []
    return _kept(text=text, coding=coding)


def _resources(patient: SimplePatient) -> Iterator[dict[str, Any]]:
    about = {"reference": f"Patient/{patient.id}"}
    yield _kept(
        resourceType="Patient",
        id=patient.id,
        name=[{"text": patient.name}],
        gender=patient.sex,
        birthDate=patient.birth_date,
    )
    if patient.no_known_allergies:
        yield {
            "resourceType": "AllergyIntolerance",
            "patient": about,
            "code": _concept("No known allergies", _SNOMED, "716186003"),
            "clinicalStatus": {"coding": [{"code": "active"}]},
        }
    yield from _problems(patient, about)
    for group, labs in (("laboratory", patient.labs), ("vital-signs", patient.vitals)):
        for lab in labs:
            yield _lab(lab, group, about)
    yield from _events(patient, about)


def _problems(patient: SimplePatient, about: dict[str, str]) -> Iterator[dict[str, Any]]:
    for item in patient.conditions:
        yield _kept(
            resourceType="Condition",
            subject=about,
            code=_concept(item.name, _SNOMED, item.snomed),
            clinicalStatus={"coding": [{"code": item.status}]},
            severity=_concept(item.severity) or None,
            onsetDateTime=item.onset,
            abatementDateTime=item.ended,
        )
    for drug in patient.medications:
        yield _kept(
            resourceType="MedicationStatement",
            subject=about,
            status=drug.status,
            medicationCodeableConcept=_concept(drug.name, _RXNORM, drug.rxnorm),
            effectiveDateTime=drug.started,
            dosage=[{"text": drug.dosage}] if drug.dosage else None,
            reasonCode=[_concept(drug.reason)] if drug.reason else None,
        )
    for item in patient.allergies:
        reaction = _kept(
            manifestation=[_concept(item.reaction)] if item.reaction else None,
            severity=item.severity,
        )
        yield _kept(
            resourceType="AllergyIntolerance",
            patient=about,
            code=_concept(item.name),
            clinicalStatus={"coding": [{"code": item.status}]},
            criticality=item.criticality,
            reaction=[reaction] if reaction else None,
            recordedDate=item.recorded,
        )


def _lab(lab: SimpleLab, group: str, about: dict[str, str]) -> dict[str, Any]:
    quantity = None
    if not isinstance(lab.value, str):
        quantity = {"value": lab.value, **_kept(unit=lab.unit, code=lab.unit)}
        if lab.unit:
            quantity["system"] = _UCUM
    limits = {
        name: {"value": limit, **_kept(unit=lab.unit)}
        for name, limit in (("low", lab.low), ("high", lab.high))
        if limit is not None
    }
    return _kept(
        resourceType="Observation",
        status="final",
        category=[{"coding": [{"code": group}]}],
        code=_concept(lab.name, _LOINC, lab.loinc),
        subject=about,
        effectiveDateTime=lab.date,
        valueQuantity=quantity,
        valueString=lab.value if isinstance(lab.value, str) else None,
        referenceRange=[limits] if limits else None,
        interpretation=[{"coding": [{"code": lab.flag}]}] if lab.flag else None,
        method=_concept(lab.method) or None,
        performer=[{"reference": "Organization/simple", "display": lab.facility}]
        if lab.facility
        else None,
    )


_KINDS = {"ambulatory": "AMB", "inpatient": "IMP", "emergency": "EMER", "virtual": "VR"}


def _events(patient: SimplePatient, about: dict[str, str]) -> Iterator[dict[str, Any]]:
    for visit in patient.visits:
        yield _kept(
            resourceType="Encounter",
            status="finished",
            subject=about,
            type=[_concept(visit.type)],
            period={"start": visit.date},
            reasonCode=[_concept(visit.reason)] if visit.reason else None,
            serviceProvider={"display": visit.facility} if visit.facility else None,
            **{"class": {"code": _KINDS[visit.kind]}},
        )
    for item in patient.procedures:
        yield _other(
            "Procedure", item, about, code="code", day="performedDateTime", status="completed"
        )
    for item in patient.orders:
        yield _other("ServiceRequest", item, about, code="code", day="authoredOn", status="active")
    for item in patient.alerts:
        made = _other("Flag", item, about, code="code", day="", status="active")
        yield {**made, **_kept(period={"start": item.date} if item.date else None)}
    for item in patient.immunizations:
        made = _other(
            "Immunization",
            item,
            about,
            code="vaccineCode",
            day="occurrenceDateTime",
            status="completed",
        )
        yield {**{k: v for k, v in made.items() if k != "subject"}, "patient": about}
    for item in patient.family_history:
        yield _kept(
            resourceType="FamilyMemberHistory",
            patient=about,
            status=item.status or "completed",
            relationship=_concept(item.note or "relative"),
            condition=[{"code": _concept(item.name)}],
            date=item.date,
        )


def _other(
    kind: str, item: SimpleOther, about: dict[str, str], *, code: str, day: str, status: str
) -> dict[str, Any]:
    fields = _kept(
        resourceType=kind,
        subject=about,
        status=item.status or status,
        note=[{"text": item.note}] if item.note else None,
    )
    fields[code] = _concept(item.name)
    if day and item.date:
        fields[day] = item.date
    return fields
