"""The forms in which an answer may fairly name an entry or a unit."""

from __future__ import annotations

import re

from bedside.evals.copilot_chart import Entry

__all__ = ["name_forms", "unit_forms"]

_UNITS = {
    "%": ("%", "percent", "per cent"),
    "mg/dL": ("mg/dl",),
    "mmol/L": ("mmol/l", "meq/l"),
    "mm[Hg]": ("mmhg", "mm hg", "mm[hg]"),
    "kg": ("kg", "kilogram"),
    "cm": ("cm", "centimet"),
    "kg/m2": ("kg/m2", "kg/m²", "kg/m^2"),
    "Cel": ("cel", "°c", "°", "degrees"),
    "mL/min/{1.73_m2}": ("ml/min",),
    "mL/min": ("ml/min",),
    "10*3/uL": ("10*3/ul", "10³/", "10^3/", "k/ul", "x10", "×10"),
    "10*6/uL": ("10*6/ul", "10⁶/", "10^6/", "m/ul", "x10", "×10"),
}
_FORM = re.compile(
    r"\b(?:oral|tablets?|capsules?|injection|injectable|solution|suspension|extended|release|"
    r"mucosal|spray|topical|cream|chewable|delayed|dry|powder|inhaler|auto-injector|actuat|system|"
    r"transdermal|patch|prefilled|syringe|drug|implant|intrauterine|day|pack|hydrochloride|sodium|"
    r"potassium|sulfate|acetate|succinate|bitartrate|monohydrate|hydrobromide|abuse-deterrent|"
    r"xinafoate|propionate|disorder|finding|situation|procedure)\b",
    re.IGNORECASE,
)
_FIGURE = re.compile(
    r"\b[\d./]+\s*(?:mg|ml|hr|g|mcg|ug)?(?:/(?:ml|actuat|hr))?(?=\s|$|\b)", re.IGNORECASE
)
_CODE = re.compile(r"\bNDA\d+\b")
_BRAND = re.compile(r"\[([^\]]+)\]")
_MEDICINES = ("MedicationRequest", "MedicationStatement")
_LONGEST_STEM = 5


def unit_forms(unit: str) -> tuple[str, ...]:
    """Lower-case spellings of a unit, empty for none and for annotations such as {score}."""
    if not unit or unit.startswith(("{", "(")):
        return ()
    return _UNITS.get(unit, (unit.lower(),))


def name_forms(entry: Entry) -> tuple[str, ...]:
    """What counts as naming the entry, the fullest form first; "a & b" wants both.

    A medicine may be named by its ingredients or its brand, anything else by its display with or
    without the SNOMED tag.
    """
    forms = [entry.name, *entry.names]
    if entry.resource in _MEDICINES:
        brands = _BRAND.findall(entry.name)
        bare = _CODE.sub("", _BRAND.sub(" ", entry.name))
        parts = [_ingredient(part) for part in re.split(r"\s/\s", bare)]
        parts = [part for part in parts if part]
        if parts:
            forms.append(" & ".join(parts))
        forms += [brand.lower() for brand in brands]
    return tuple(dict.fromkeys(form for form in forms if form))


def _ingredient(text: str) -> str:
    words = _FORM.sub(" ", _FIGURE.sub(" ", text.lower())).replace("/", " ").split()
    return " ".join(word for word in words if len(word) > 2 or word == "b")[:60].strip()
