"""Make the bundled synthetic patients: FHIR R4 bundles from scripts/demo/*.yaml and documents.

    python scripts/make_demo_patients.py

Each YAML file is one invented person; nobody real is meant. Figures are kept as typed (7.10 stays
7.10), eGFR is computed from the creatinine beside it (CKD-EPI 2021), ids are stable. Documents
stand as Markdown or text beside the YAML and are embedded; one is also printed as a PDF and one as
a scanned page, for the reading of such files.
"""

from __future__ import annotations

import base64
import io
import json
import re
from datetime import date
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Any

import yaml

HERE = Path(__file__).parent / "demo"
OUT = Path(__file__).parents[1] / "src/bedside/demo"
LOINC, SNOMED = "http://loinc.org", "http://snomed.info/sct"
RXNORM = "http://www.nlm.nih.gov/research/umls/rxnorm"
HL7 = "http://terminology.hl7.org/CodeSystem/"
FOOT = 60
"""Points above the edge of the page at which a new one begins."""
FIGURE = re.compile(r'"figure:(-?[\d.]+)"')
MEDIA = {".md": "text/markdown", ".txt": "text/plain", ".pdf": "application/pdf"}

Resource = dict[str, Any]


class Patient:
    """One bundle in the making: hands out ids and knows its own reference."""

    def __init__(self, facts: dict[str, Any], analytes: dict[str, list[str]]) -> None:
        self.facts, self.analytes = facts, analytes
        self.id = facts["id"]
        self.entries: list[Resource] = []
        self.numbers: dict[str, int] = {}

    @property
    def subject(self) -> Resource:
        return {"reference": f"Patient/{self.id}"}

    def add(self, kind: str, **fields: object) -> Resource:
        self.numbers[kind] = self.numbers.get(kind, 0) + 1
        resource = {
            "resourceType": kind,
            "id": f"{self.id}-{kind.lower()}-{self.numbers[kind]:03d}",
        }
        resource |= {key: found for key, found in fields.items() if found not in (None, "", [], {})}
        self.entries.append(resource)
        return resource

    def bundle(self) -> str:
        for make in (
            person,
            visits,
            problems,
            allergies,
            medicines,
            results,
            pressures,
            panels,
            vaccines,
            procedures,
            orders,
            flags,
            family,
            documents,
        ):
            make(self)
        rows = [{"fullUrl": f"{e['resourceType']}/{e['id']}", "resource": e} for e in self.entries]
        text = json.dumps(
            {"resourceType": "Bundle", "type": "collection", "entry": rows},
            indent=1,
            ensure_ascii=False,
        )
        return FIGURE.sub(r"\1", text) + "\n"


def concept(text: str, code: str = "", system: str = SNOMED) -> Resource:
    coding = [{"system": system, "code": str(code), "display": text}] if code else None
    return {"coding": coding, "text": text} if coding else {"text": text}


def status(system: str, code: str) -> Resource:
    return {"coding": [{"system": HL7 + system, "code": code}]}


def quantity(figure: str, unit: str, ucum: str) -> Resource:
    return {
        "value": f"figure:{figure}",
        "unit": unit,
        "system": "http://unitsofmeasure.org",
        "code": ucum,
    }


def person(p: Patient) -> None:
    facts = p.facts
    given, family_name = facts["name"]
    p.entries.append(
        {
            "resourceType": "Patient",
            "id": p.id,
            "meta": {"tag": [{"system": "urn:bedside:demo", "code": "synthetic"}]},
            "identifier": [
                {
                    "type": {"text": "Medical record number"},
                    "system": "urn:bedside:demo:mrn",
                    "value": facts["mrn"],
                }
            ],
            "name": [{"use": "official", "family": family_name, "given": [given]}],
            "gender": facts["sex"],
            "birthDate": str(facts["born"]),
        }
    )
    for key, name in facts["facilities"].items():
        p.entries.append({"resourceType": "Organization", "id": f"{p.id}-org-{key}", "name": name})


def place(p: Patient, key: str | None) -> Resource | None:
    name = p.facts["facilities"].get(key)
    return {"reference": f"Organization/{p.id}-org-{key}", "display": name} if name else None


def visits(p: Patient) -> None:
    for row in p.facts.get("visits", []):
        start, end = str(row["start"]), str(row.get("end", row["start"]))
        where = place(p, row["at"])
        p.add(
            "Encounter",
            status="finished",
            **{"class": {"system": HL7 + "v3-ActCode", "code": row.get("class", "AMB")}},
            type=[concept(row["type"])],
            subject=p.subject,
            period={"start": f"{start}T09:00:00Z", "end": f"{end}T16:00:00Z"},
            reasonCode=[{"text": row["reason"]}] if "reason" in row else None,
            serviceProvider=where,
        )


def problems(p: Patient) -> None:
    for row in p.facts.get("problems", []):
        p.add(
            "Condition",
            clinicalStatus=status("condition-clinical", row.get("status", "active")),
            verificationStatus=status("condition-ver-status", row.get("verified", "confirmed")),
            category=[status("condition-category", "problem-list-item")],
            code=concept(row["name"], row.get("code", "")),
            subject=p.subject,
            onsetDateTime=str(row["onset"]),
            abatementDateTime=str(row["ended"]) if "ended" in row else None,
            recordedDate=str(row.get("recorded", row["onset"])),
            note=[{"text": row["note"]}] if "note" in row else None,
        )


def allergies(p: Patient) -> None:
    for row in p.facts.get("allergies", []):
        reaction = None
        if "reaction" in row:
            reaction = [
                {"manifestation": [{"text": row["reaction"]}], "severity": row.get("severity")}
            ]
            reaction = [{key: found for key, found in reaction[0].items() if found}]
        p.add(
            "AllergyIntolerance",
            clinicalStatus=status("allergyintolerance-clinical", "active"),
            verificationStatus=status(
                "allergyintolerance-verification", row.get("verified", "confirmed")
            ),
            type=row.get("type"),
            category=[row["category"]] if "category" in row else None,
            criticality=row.get("criticality"),
            code=concept(row["name"], row.get("code", "")),
            patient=p.subject,
            recordedDate=str(row["recorded"]),
            reaction=reaction,
        )


def medicines(p: Patient) -> None:
    for row in p.facts.get("medicines", []):
        dosage: Resource = {"text": row["dosage"]} if "dosage" in row else {}
        if row.get("prn"):
            dosage["asNeededBoolean"] = True
        statement = row.get("kind") == "statement"
        shared: Resource = {
            "status": row.get("status", "active"),
            "medicationCodeableConcept": concept(row["name"], row.get("code", ""), RXNORM),
            "subject": p.subject,
            "note": [{"text": row["note"]}] if "note" in row else None,
        }
        if statement:
            p.add(
                "MedicationStatement",
                **shared,
                effectivePeriod={"start": str(row["started"])},
                dateAsserted=str(row.get("asserted", row["started"])),
                dosage=[dosage] if dosage else None,
            )
        else:
            p.add(
                "MedicationRequest",
                **shared,
                intent="order",
                authoredOn=str(row["started"]),
                requester=place(p, row.get("at")),
                dosageInstruction=[dosage] if dosage else None,
                reasonCode=[{"text": row["for"]}] if "for" in row else None,
            )


def results(p: Patient) -> None:
    """Each reading is "DATE FIGURE", after that the facility's key where it is not the usual one."""
    for name, readings in p.facts.get("results", {}).items():
        for reading in readings:
            day, figure, *rest = str(reading).split()
            measured(
                p, name, day, figure, at=rest[0] if rest else p.facts["usual"].get(name, "lab")
            )
            if name == "creatinine":
                measured(
                    p,
                    "egfr",
                    day,
                    egfr(Decimal(figure), p.facts, day),
                    at=rest[0] if rest else "lab",
                )


def measured(p: Patient, name: str, day: str, figure: str, *, at: str) -> Resource:
    code, display, unit, ucum, group, low, high, method = p.analytes[name]
    low, high = p.facts.get("ranges", {}).get(name, [low, high])
    sign = figure[0] if figure[0] in "<>" else ""
    figure = figure.lstrip("<>")
    amount = quantity(figure, unit, ucum) | ({"comparator": sign} if sign else {})
    limits = {
        side: quantity(str(bound), unit, ucum)
        for side, bound in (("low", low), ("high", high))
        if bound != ""
    }
    return p.add(
        "Observation",
        status="final",
        category=[{"coding": [{"system": HL7 + "observation-category", "code": group}]}],
        code=concept(display, code, LOINC),
        subject=p.subject,
        effectiveDateTime=f"{day}T08:30:00Z",
        valueQuantity=amount,
        referenceRange=[limits] if limits else None,
        interpretation=meaning(figure, low, high),
        method={"text": method} if method else None,
        performer=[place(p, at)] if place(p, at) else None,
    )


def meaning(figure: str, low: object, high: object) -> list[Resource] | None:
    if low == "" and high == "":
        return None
    amount = Decimal(figure)
    letter = "N"
    if low != "" and amount < Decimal(str(low)):
        letter = "L"
    if high != "" and amount > Decimal(str(high)):
        letter = "H"
    return [status("v3-ObservationInterpretation", letter)]


def egfr(creatinine: Decimal, facts: dict[str, Any], day: str) -> str:
    """CKD-EPI 2021 without race (Inker et al., N Engl J Med 2021;385:1737), mL/min/1.73 m2."""
    female = facts["sex"] == "female"
    kappa, alpha = (0.7, -0.241) if female else (0.9, -0.302)
    born, seen = date.fromisoformat(str(facts["born"])), date.fromisoformat(day)
    age = seen.year - born.year - ((seen.month, seen.day) < (born.month, born.day))
    ratio = float(creatinine) / kappa
    found = (
        142
        * min(ratio, 1) ** alpha
        * max(ratio, 1) ** -1.2
        * 0.9938**age
        * (1.012 if female else 1)
    )
    return str(Decimal(found).quantize(Decimal(1), rounding=ROUND_HALF_UP))


def pressures(p: Patient) -> None:
    for reading in p.facts.get("pressures", []):
        day, figures, *rest = str(reading).split()
        systolic, diastolic = figures.split("/")
        at = place(p, rest[0] if rest else "gp")
        p.add(
            "Observation",
            status="final",
            category=[
                {"coding": [{"system": HL7 + "observation-category", "code": "vital-signs"}]}
            ],
            code=concept("Blood pressure", "85354-9", LOINC),
            subject=p.subject,
            effectiveDateTime=f"{day}T08:30:00Z",
            performer=[at] if at else None,
            component=[
                {
                    "code": concept("Systolic blood pressure", "8480-6", LOINC),
                    "valueQuantity": quantity(systolic, "mmHg", "mm[Hg]"),
                },
                {
                    "code": concept("Diastolic blood pressure", "8462-4", LOINC),
                    "valueQuantity": quantity(diastolic, "mmHg", "mm[Hg]"),
                },
            ],
        )
    for row in p.facts.get("social", []):
        p.add(
            "Observation",
            status="final",
            category=[
                {"coding": [{"system": HL7 + "observation-category", "code": "social-history"}]}
            ],
            code=concept(row["name"], row["code"], LOINC),
            subject=p.subject,
            effectiveDateTime=f"{row['date']}T08:30:00Z",
            valueCodeableConcept={"text": row["value"]},
        )


def panels(p: Patient) -> None:
    for row in p.facts.get("reports", []):
        day = str(row["date"])
        found = [
            e
            for e in p.entries
            if e["resourceType"] == "Observation"
            and e["effectiveDateTime"][:10] == day
            and e["category"][0]["coding"][0]["code"] == row.get("group", "laboratory")
        ]
        at = place(p, row.get("at", "lab"))
        p.add(
            "DiagnosticReport",
            status="final",
            category=[{"text": row.get("category", "Laboratory")}],
            code=concept(row["name"], row.get("code", ""), LOINC),
            subject=p.subject,
            effectiveDateTime=f"{day}T08:30:00Z",
            performer=[at] if at else None,
            result=[{"reference": f"Observation/{e['id']}"} for e in found],
            conclusion=row.get("conclusion"),
        )


def vaccines(p: Patient) -> None:
    for row in p.facts.get("vaccines", []):
        p.add(
            "Immunization",
            status="completed",
            vaccineCode=concept(row["name"], row["code"], "http://hl7.org/fhir/sid/cvx"),
            patient=p.subject,
            occurrenceDateTime=str(row["date"]),
            primarySource=True,
        )


def procedures(p: Patient) -> None:
    for row in p.facts.get("procedures", []):
        p.add(
            "Procedure",
            status="completed",
            code=concept(row["name"], row.get("code", "")),
            subject=p.subject,
            performedDateTime=str(row["date"]),
            note=[{"text": row["note"]}] if "note" in row else None,
        )


def orders(p: Patient) -> None:
    for row in p.facts.get("orders", []):
        p.add(
            "ServiceRequest",
            status=row["status"],
            intent="order",
            priority=row.get("priority", "routine"),
            code=concept(row["name"]),
            subject=p.subject,
            authoredOn=str(row["date"]),
            requester=place(p, row.get("at", "gp")),
            reasonCode=[{"text": row["reason"]}] if "reason" in row else None,
        )


def flags(p: Patient) -> None:
    for row in p.facts.get("flags", []):
        p.add(
            "Flag",
            status=row.get("status", "active"),
            category=[{"text": row.get("category", "Clinical")}],
            code=concept(row["text"]),
            subject=p.subject,
            period={"start": str(row["date"])},
        )


def family(p: Patient) -> None:
    for row in p.facts.get("family", []):
        p.add(
            "FamilyMemberHistory",
            status="completed",
            patient=p.subject,
            date=str(row["date"]),
            relationship={"text": row["who"]},
            condition=[{"code": concept(row["what"])}],
        )


def documents(p: Patient) -> None:
    for row in p.facts.get("documents", []):
        text = (HERE / row["file"]).read_text(encoding="utf-8")
        content, suffix = text.encode(), Path(row["file"]).suffix
        if row.get("as") == "pdf":
            content, suffix = printed(text), ".pdf"
        if row.get("as") == "scan":
            folder = OUT / "documents" / p.id
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"{Path(row['file']).stem}.png").write_bytes(scanned(text))
            continue
        p.add(
            "DocumentReference",
            status="current",
            type=concept(row["type"], row.get("code", ""), LOINC),
            category=[{"text": row["category"]}] if "category" in row else None,
            subject=p.subject,
            date=f"{row['date']}T12:00:00Z",
            custodian=place(p, row.get("at")),
            description=row["title"],
            content=[
                {
                    "attachment": {
                        "contentType": MEDIA[suffix],
                        "title": row["title"],
                        "creation": str(row["date"]),
                        "data": base64.b64encode(content).decode(),
                    }
                }
            ],
        )


def printed(text: str) -> bytes:
    """The document as a PDF with a text layer, one column, bytes that do not depend on the day."""
    from reportlab.lib.pagesizes import A4
    from reportlab.pdfgen.canvas import Canvas

    target = io.BytesIO()
    canvas = Canvas(target, pagesize=A4, invariant=1)
    height = 800
    for line in text.splitlines():
        heading = line.startswith("#")
        canvas.setFont("Helvetica-Bold" if heading else "Helvetica", 13 if heading else 10.5)
        canvas.drawString(56, height, line.lstrip("# "))
        height -= 20 if heading else 15
        if height < FOOT:
            canvas.showPage()
            height = 800
    canvas.save()
    return target.getvalue()


def scanned(text: str) -> bytes:
    """The document as a page on a scanner: grey, a little crooked, no text layer."""
    from PIL import Image, ImageDraw, ImageFont

    page = Image.new("L", (1240, 1000), 246)
    pen = ImageDraw.Draw(page)
    top = 70
    for line in text.splitlines():
        heading = line.startswith("#")
        pen.text(
            (90, top),
            line.lstrip("# "),
            fill=25,
            font=ImageFont.load_default(size=34 if heading else 26),
        )
        top += 52 if heading else 40
    turned = page.rotate(0.5, expand=False, fillcolor=240, resample=Image.Resampling.BICUBIC)
    target = io.BytesIO()
    turned.save(target, format="PNG", optimize=True)
    return target.getvalue()


def main() -> None:
    analytes = yaml.safe_load((HERE / "analytes.yaml").read_text(encoding="utf-8"))
    for path in sorted(HERE.glob("patient_*.yaml")):
        patient = Patient(yaml.safe_load(path.read_text(encoding="utf-8")), analytes)
        target = OUT / "patients" / f"{patient.id}.json"
        target.write_text(patient.bundle(), encoding="utf-8")
        print(target.name, len(patient.entries), "entries")


if __name__ == "__main__":
    main()
