"""Doses repeated rightly and wrongly (RELIABILITY row 21).

Doses are found in guideline text with this file's own patterns, repeated in a sentence, and then
falsified: ten times as much, another unit, another frequency, another medicine.
"""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bedside.core.value import value
from bedside.grounding import SourceText, check

__all__ = ["WrittenDose", "doses", "written_doses"]

_DRUG_NAMES = (
    "Amoxicillin Ceftriaxone Cefuroxime Ciprofloxacin Metronidazole Doxycycline Erythromycin Azithromycin "
    "Gentamicin Cloxacillin Flucloxacillin Prednisolone Hydrocortisone Dexamethasone Paracetamol Ibuprofen "
    "Diclofenac Tramadol Morphine Diazepam Phenobarbital Carbamazepine Phenytoin Haloperidol Chlorpromazine "
    "Amitriptyline Fluoxetine Omeprazole Ranitidine Promethazine Cetirizine Loratadine Chlorphenamine "
    "Furosemide Spironolactone Amlodipine Nifedipine Lisinopril Enalapril Captopril Losartan Atenolol "
    "Propranolol Digoxin Warfarin Aspirin Metformin Glibenclamide Levothyroxine Carbimazole Albendazole "
    "Mebendazole Praziquantel Ivermectin Quinine Artesunate Fluconazole Ketoconazole Griseofulvin Aciclovir "
    "Zidovudine Lamivudine Nevirapine Efavirenz Rifampicin Isoniazid Pyrazinamide Ethambutol Cotrimoxazole "
    "Methotrexate Cyclophosphamide Vincristine Salbutamol Aminophylline Hydralazine Methyldopa Labetalol "
    "Oxytocin Misoprostol Tamoxifen Sulfasalazine Allopurinol Colchicine Cefixime Clindamycin Nitrofurantoin "
    "Vancomycin Chloramphenicol Streptomycin Benzylpenicillin Simvastatin Atorvastatin Hyoscine Metoclopramide"
)
_DRUGS = _DRUG_NAMES.split()
_DOSE = re.compile(
    r"\b(?P<drug>"
    + "|".join(_DRUGS)
    + r")(?P<form>:? |: )(?P<figure>\d+(?:\.\d+)?) ?(?P<unit>mg|g|mcg)\b(?!/)"
    r"(?P<rest>[^.;:|\n()\d]{0,50}?(?:every \d+ hours|once daily|twice daily|three times daily|daily)\b|)"
)
_RECORD = re.compile(
    r"(?:(?:\d+ HR )?(?P<drug>[A-Za-z]+(?: [a-z]+)?) (?P<figure>\d+(?:\.\d+)?) (?P<unit>MG|MCG)\b(?!/))"
)
_OFTEN = re.compile(r"every \d+ hours|once daily|twice daily|three times daily|daily|weekly")
_REWORDED = {
    "every 12 hours": "twice daily",
    "every 8 hours": "three times daily",
    "every 24 hours": "once daily",
    "twice daily": "every 12 hours",
    "once daily": "once a day",
}
_FALSE_OFTEN = {
    "every 12 hours": "every 6 hours",
    "every 8 hours": "once daily",
    "every 6 hours": "every 24 hours",
    "every 24 hours": "every 12 hours",
    "once daily": "once weekly",
    "twice daily": "once daily",
    "three times daily": "four times daily",
    "daily": "weekly",
    "every 4 hours": "every 8 hours",
}
_SENTENCES = (
    "The guideline gives {drug} {figure} {unit}{rest} {mark}.",
    "Option: {drug} {figure} {unit}{rest} {mark}.",
    "{drug} {figure} {unit}{rest} is listed {mark}.",
    "Consider {drug} at {figure} {unit}{rest} {mark}.",
)


@value
class WrittenDose:
    """A dose as it stands in a guideline: `quote` is the stretch, `source` the text around it."""

    source: str
    quote: str
    drug: str
    figure: str
    unit: str
    rest: str


def written_doses(data: Path) -> list[WrittenDose]:
    """Every dose that the pattern finds in the guidelines, each with 400 characters around it."""
    found: list[WrittenDose] = []
    for folder in ("guidelines/nigeria_stg_2022", "guidelines/edliz_zimbabwe"):
        for path in sorted((data / folder).glob("*.md")):
            text = path.read_text(encoding="utf-8", errors="replace")
            for match in _DOSE.finditer(text):
                start = text.rfind("\n", 0, max(0, match.start() - 200)) + 1
                end = text.find("\n", match.end() + 200)
                rest = match["rest"].rstrip()
                found.append(
                    WrittenDose(
                        source=text[start : end if end > 0 else len(text)],
                        quote=text[match.start() : match.end() - len(match["rest"]) + len(rest)],
                        drug=match["drug"],
                        figure=match["figure"],
                        unit=match["unit"],
                        rest=rest,
                    )
                )
    return found + _recorded(data)


def _recorded(data: Path) -> list[WrittenDose]:
    """Doses of medicines in the raw records, one for each name of a medicine."""
    names: set[str] = set()
    for path in sorted((data / "records" / "synthea_r4").glob("*.json")):
        for entry in json.loads(path.read_text(encoding="utf-8")).get("entry", ()):
            resource = entry.get("resource", {})
            if resource.get("resourceType") == "MedicationRequest":
                names.add(str(resource.get("medicationCodeableConcept", {}).get("text", "")))
    found: list[WrittenDose] = []
    for name in sorted(names):
        match = _RECORD.match(name)
        if match is not None and " / " not in name:
            found.append(
                WrittenDose(
                    source=f"{name}, active, ordered 2014-05-06",
                    quote=match.group(),
                    drug=match["drug"],
                    figure=match["figure"],
                    unit=match["unit"].lower(),
                    rest="",
                )
            )
    return found


def _kept(dose: WrittenDose, sentence: str) -> tuple[bool, str]:
    """Does the checker let the sentence through, citing the dose's own words?"""
    report = check(
        sentence, sources=[SourceText("g", dose.source, kind="guideline", title="Guideline")]
    )
    why = report.removed[0][1] if report.removed else ""
    return bool(report.claims) and not report.removed, why


def _say(dose: WrittenDose, rng: random.Random, **changed: str) -> str:
    mark = f'[1: "{dose.quote}"]'
    fields = {"drug": dose.drug, "figure": dose.figure, "unit": dose.unit, "rest": dose.rest}
    return rng.choice(_SENTENCES).format(**{**fields, **changed}, mark=mark)


def _falsify(dose: WrittenDose, kind: str, rng: random.Random) -> dict[str, str] | None:
    if kind == "tenfold":
        digits = dose.figure
        return {
            "figure": digits[:-1] if digits.endswith("0") and rng.random() < 0.5 else digits + "0"
        }
    if kind == "unit":
        return {"unit": {"mg": rng.choice(("g", "mcg")), "g": "mg", "mcg": "mg"}[dose.unit]}
    if kind == "drug":
        others = [one for one in _DRUGS if one.lower() not in dose.source.lower()]
        return {"drug": rng.choice(others)}
    often = _OFTEN.search(dose.rest)
    if often is None or often.group() not in _FALSE_OFTEN:
        return None
    return {"rest": dose.rest.replace(often.group(), _FALSE_OFTEN[often.group()])}


def doses(data: Path, *, count: int = 200, seed: int = 21) -> dict[str, Any]:
    """Check `count` true and `count` falsified doses.

    Returns:
        `mutants_passed` must be 0; `valid_passed` is the share of true ones that pass (promise:
        at least 0.98). `refused_for` counts the reasons of valid ones that were refused.
    """
    rng = random.Random(seed)
    written = written_doses(data)
    usable = [one for one in written if one.source.count(one.quote) == 1]
    if not usable:
        return {"n": 0, "skipped": "no guideline text"}
    rng.shuffle(usable)
    kinds = ("tenfold", "unit", "often", "drug")
    passed: Counter[str] = Counter()
    made: Counter[str] = Counter()
    examples: list[str] = []
    turn = 0
    while sum(made.values()) < count:
        dose = usable[turn % len(usable)]
        kind = kinds[sum(made.values()) % len(kinds)]
        turn += 1
        changed = _falsify(dose, kind, rng)
        if changed is None:
            continue
        made[kind] += 1
        sentence = _say(dose, rng, **changed)
        if _kept(dose, sentence)[0]:
            passed[kind] += 1
            examples.append(sentence)
    valid, refused = _valid(usable, count=count, rng=rng)
    return {
        "n_mutants": sum(made.values()),
        "mutants_passed": sum(passed.values()),
        "mutants": dict(made),
        "mutants_passed_by_kind": dict(passed),
        "passed_examples": examples[:5],
        "n_valid": count,
        "valid_passed": valid / count,
        "refused_for": dict(refused),
        "doses_found": len(written),
    }


def _valid(
    usable: Sequence[WrittenDose], *, count: int, rng: random.Random
) -> tuple[int, Counter[str]]:
    valid = 0
    refused: Counter[str] = Counter()
    for index in range(count):
        dose = usable[index % len(usable)]
        often = _OFTEN.search(dose.rest)
        changed: dict[str, str] = {}
        if often is not None and often.group() in _REWORDED and rng.random() < 0.5:
            changed = {"rest": dose.rest.replace(often.group(), _REWORDED[often.group()])}
        kept, why = _kept(dose, _say(dose, rng, **changed))
        valid += kept
        if not kept:
            refused[why] += 1
    return valid, refused
