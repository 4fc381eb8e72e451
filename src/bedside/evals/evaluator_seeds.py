"""Errors put into correct items by program, each of a known kind.

The word lists here are this file's own: none of them comes from the evaluator.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping
from typing import Any

from bedside.core.value import value
from bedside.evals.evaluator_notes import Piece, VendorNote

__all__ = ["CONTENT", "EXPECTED", "STRUCTURAL", "Seeded", "plant"]


@value
class Seeded:
    """An item with one error. `part` is "summary" or "plan"; `source` is `None` for an orphan."""

    kind: str
    text: str
    source: Any
    part: str = "summary"


Maker = Callable[[Piece, str, VendorNote, random.Random], Seeded | None]


# ---- citations ----------------------------------------------------------------------------------


def _wrong_section(piece: Piece, text: str, note: VendorNote, rng: random.Random) -> Seeded | None:
    others = sorted({c.section for c in note.chunks} - {piece.chunk.section})
    others += [piece.chunk.section.title(), "CLINICAL COURSE", piece.chunk.section + " NOTES"]
    title = rng.choice([one for one in others if one != piece.chunk.section])
    return Seeded(
        kind="wrong_section",
        text=text,
        source=f"{title} section, {piece.chunk.id}:{piece.start}-{piece.end}",
    )


def _off_by_one(piece: Piece, text: str, note: VendorNote, rng: random.Random) -> Seeded | None:
    """Either end, or both, moved by one; a shift that only drops the closing stop says the same."""
    shifts = [(1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, -1)]
    rng.shuffle(shifts)
    for a, b in shifts:
        start, end = piece.start + a, piece.end + b
        if start < 0 or end > len(note.text):
            continue
        if (a, b) == (0, -1) and not note.text[piece.end - 1].isalnum() and text != piece.text:
            continue
        cited = f"{piece.chunk.section} section, {piece.chunk.id}:{start}-{end}"
        return Seeded(kind="span_off_by_one", text=text, source=cited)
    return None


def _bad_id(piece: Piece, text: str, note: VendorNote, rng: random.Random) -> Seeded | None:
    name = f"chunk_{len(note.chunks) + rng.randint(0, 40)}"
    return Seeded(
        kind="bad_id",
        text=text,
        source=f"{piece.chunk.section} section, {name}:{piece.start}-{piece.end}",
    )


def _other_id(piece: Piece, text: str, note: VendorNote, rng: random.Random) -> Seeded | None:
    others = [c for c in note.chunks if c.id != piece.chunk.id]
    if not others:
        return None
    return Seeded(
        kind="other_chunk",
        text=text,
        source=f"{piece.chunk.section} section, {rng.choice(others).id}:{piece.start}-{piece.end}",
    )


def _format(piece: Piece, text: str, _: VendorNote, rng: random.Random) -> Seeded | None:
    s, c, a, b = piece.chunk.section, piece.chunk.id, piece.start, piece.end
    forms = (
        f"{s}, {c}:{a}-{b}", f"{s} section {c}:{a}-{b}", f"{s} section, {c}: {a}-{b}", f"{s} section, {c}:{a}–{b}",
        f"[{s} section, {c}:{a}-{b}]", f"{s} section, {c}:{a}-{b}.", f"{c}:{a}-{b}", f"{s} section, Chunk {c[6:]}:{a}-{b}",
        f"{s} section, {c}:{a}", f"{s} section", f"{s} section, {c}:0{a}-{b}", f"{s} section, {c}[{a}:{b}]",
    )  # fmt: skip
    return Seeded(kind="format", text=text, source=rng.choice(forms))


def _orphan(_piece: Piece, text: str, _: VendorNote, rng: random.Random) -> Seeded | None:
    return Seeded(kind="orphan", text=text, source=rng.choice((None, "", [])))


# ---- words --------------------------------------------------------------------------------------

_DOSE = re.compile(r"(?<![\d.,/])(\d{1,4}(?:\.\d+)?)(\s?)(mg|mcg|micrograms?|milligrams?|grams?|g|units?|mL|ml|cc|IU|mEq)\b")  # fmt: skip
_UNITS: Mapping[str, tuple[str, ...]] = {
    "mg": ("mcg", "g"), "milligrams": ("micrograms",), "milligram": ("microgram",), "mcg": ("mg",), "g": ("mg",),
    "micrograms": ("milligrams",), "grams": ("milligrams",), "gram": ("milligram",), "mL": ("L",), "ml": ("l",),
}  # fmt: skip


def _tenfold(piece: Piece, text: str, _: VendorNote, rng: random.Random) -> Seeded | None:
    found = list(_DOSE.finditer(text))
    if not found:
        return None
    match = rng.choice(found)
    figure = match[1]
    if figure.endswith("0") and "." not in figure and len(figure) > 1 and rng.random() < 0.5:
        new = figure[:-1]
    elif "." in figure:
        new = figure.replace(".", "")
    else:
        new = figure + "0"
    changed = text[: match.start(1)] + new + text[match.end(1) :]
    return Seeded(kind="dose_x10", text=changed, source=piece.source)


def _unit(piece: Piece, text: str, _: VendorNote, rng: random.Random) -> Seeded | None:
    found = [match for match in _DOSE.finditer(text) if match[3] in _UNITS]
    if not found:
        return None
    match = rng.choice(found)
    new = rng.choice(_UNITS[match[3]])
    changed = text[: match.start(3)] + new + text[match.end(3) :]
    return Seeded(kind="mg_mcg", text=changed, source=piece.source)


_FLIPS: tuple[tuple[str, str], ...] = (
    (r"\bdenies any\b", "reports"), (r"\bdenies\b", "reports"), (r"\bDenies\b", "Reports"), (r"\bdenied\b", "reported"),
    (r"\bThere is no\b", "There is"), (r"\bthere is no\b", "there is"), (r"\bThere are no\b", "There are"),
    (r"\bis not\b", "is"), (r"\bwas not\b", "was"), (r"\bare not\b", "are"), (r"\bdoes not (\w+)", r"does \1"),
    (r"\bdid not (\w+)", r"did \1"), (r"\bhas no\b", "has"), (r"\bhad no\b", "had"), (r"\bhas not\b", "has"),
    (r"\bwithout\b", "with"), (r"\bnegative for\b", "positive for"), (r"^No\b", "Has"), (r"\bNo evidence of\b", "Evidence of"),
    (r"\breports\b", "denies"), (r"\bReports\b", "Denies"), (r"\bendorses\b", "denies"), (r"\bEndorses\b", "Denies"),
    (r"\bcomplains of\b", "denies"), (r"\bThere is (?!no)", "There is no "), (r"\bhas (?=a |an |had |been )", "has not "),
    (r"\b(is|was|are|were) (?!not|no\b)", r"\1 not "), (r"\bpositive for\b", "negative for"),
)  # fmt: skip


def _flip(piece: Piece, text: str, _: VendorNote, rng: random.Random) -> Seeded | None:
    fitting = [(p, to) for p, to in _FLIPS if re.search(p, text)]
    if not fitting:
        return None
    # What is denied and becomes said is the graver half: take it where there is one.
    pattern, to = fitting[0] if rng.random() < 0.5 else rng.choice(fitting)
    changed = re.sub(pattern, to, text, count=1)
    return Seeded(kind="negation_flip", text=changed, source=piece.source)


_PARTS = (
    r"knee|hip|shoulder|ankle|wrist|elbow|hand|foot|arm|leg|eye|ear|lung|kidney|breast|side|sided|lower|upper|thumb|finger|toe|heel|thigh|calf|"
    r"flank|groin|ventric\w+|atri\w+|neck|face|hemisphere|carotid|coronary|hemi\w+|great|index|quadrant|lobe|inguinal|forearm|ovary|nostril|jaw|"
    r"temporal|frontal|parietal|occipital|axilla\w*|femur|tibia|fibula|humerus|radius|rib|scapula|buttock|cheek|chest|maxillary|middle|medial|lateral"
)
_LEFT_RIGHT = re.compile(rf"\b(?P<side>[Ll]eft|[Rr]ight|LEFT|RIGHT)(?=[\s-](?:{_PARTS})\b)")
_OTHER_SIDE = {
    "left": "right", "right": "left", "Left": "Right", "Right": "Left", "LEFT": "RIGHT", "RIGHT": "LEFT",
}  # fmt: skip


def _side(piece: Piece, text: str, _: VendorNote, rng: random.Random) -> Seeded | None:
    found = list(_LEFT_RIGHT.finditer(text))
    if not found:
        return None
    match = rng.choice(found)
    changed = text[: match.start()] + _OTHER_SIDE[match["side"]] + text[match.end() :]
    return Seeded(kind="left_right", text=changed, source=piece.source)


_DRUG_WORDS = (
    "lisinopril metformin amlodipine metoprolol atorvastatin simvastatin hydrochlorothiazide omeprazole aspirin ibuprofen "
    "gabapentin prednisone albuterol warfarin insulin levothyroxine furosemide tramadol oxycodone amoxicillin azithromycin "
    "ciprofloxacin meloxicam naproxen sertraline fluoxetine citalopram lorazepam alprazolam zolpidem clopidogrel losartan "
    "carvedilol digoxin pantoprazole ranitidine cephalexin doxycycline methotrexate colchicine allopurinol montelukast "
    "Lasix Tylenol Zoloft Prozac Lipitor Plavix Coumadin Synthroid Nexium Prilosec Neurontin Vicodin Percocet Norvasc Zocor "
    "Lexapro Celexa Xanax Ativan Ambien Flonase Singulair Advair Celebrex Motrin Advil Aleve Keflex Cipro Zithromax Diovan "
    "Toprol Lopressor Coreg Glucophage Lantus Humalog Farxiga Crestor Zetia Depakote Topamax Imitrex Paxil Effexor Wellbutrin"
)
_DRUG_NAMES = _DRUG_WORDS.split()
_DRUG = re.compile(r"\b(?:" + "|".join(_DRUG_NAMES) + r")\b", re.IGNORECASE)


def _drug(piece: Piece, text: str, note: VendorNote, rng: random.Random) -> Seeded | None:
    found = list(_DRUG.finditer(text))
    if not found:
        return None
    match = rng.choice(found)
    low = note.text.lower()
    others = [
        one
        for one in _DRUG_NAMES
        if one.lower() not in low and not _same_medicine(one, match.group())
    ]
    new = rng.choice(others)
    new = new.capitalize() if match.group()[0].isupper() else new
    changed = text[: match.start()] + new + text[match.end() :]
    return Seeded(kind="wrong_drug", text=changed, source=piece.source)


_BRANDS = {
    "lasix": "furosemide", "zoloft": "sertraline", "prozac": "fluoxetine", "lipitor": "atorvastatin", "plavix": "clopidogrel",
    "coumadin": "warfarin", "synthroid": "levothyroxine", "prilosec": "omeprazole", "neurontin": "gabapentin",
    "norvasc": "amlodipine", "zocor": "simvastatin", "celexa": "citalopram", "xanax": "alprazolam", "ativan": "lorazepam",
    "ambien": "zolpidem", "singulair": "montelukast", "motrin": "ibuprofen", "advil": "ibuprofen", "aleve": "naproxen",
    "keflex": "cephalexin", "cipro": "ciprofloxacin", "zithromax": "azithromycin", "toprol": "metoprolol",
    "lopressor": "metoprolol", "coreg": "carvedilol", "glucophage": "metformin", "percocet": "oxycodone", "lantus": "insulin",
    "humalog": "insulin",
}  # fmt: skip


def _same_medicine(one: str, other: str) -> bool:
    a, b = one.lower(), other.lower()
    return _BRANDS.get(a, a) == _BRANDS.get(b, b)


_MONTH_WORDS = (
    "January February March April May June July August September October November December"
)
_MONTH_NAMES = _MONTH_WORDS.split()
_DAY_WORDS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday"
_WEEKDAYS = _DAY_WORDS.split()
_WHEN = re.compile(
    r"\b(?:(?P<slash>\d{1,2}/\d{1,2}/(?:\d{4}|\d{2}))|(?P<year>(?:(?<=in )|(?<=since )|(?<=of )|(?<=from )|(?<=until )|(?<=, ))(?:19|20)\d{2}(?! ?(?:IU|mg|mL|units)))|(?P<month>"
    + "|".join(_MONTH_NAMES)
    + r")(?= (?:\d{1,2}\b|of \d{4}|\d{4}))|(?P<weekday>"
    + "|".join(_WEEKDAYS)
    + r"))\b"
)


def _date(piece: Piece, text: str, _: VendorNote, rng: random.Random) -> Seeded | None:
    found = list(_WHEN.finditer(text))
    if not found:
        return None
    match = rng.choice(found)
    old = match.group()
    if match["slash"]:
        first, second, year = old.split("/")
        new = (
            f"{first}/{second}/{int(year) - rng.randint(1, 9):0{len(year)}d}"
            if int(year) > 9
            else f"{first}/{int(second) % 28 + 1}/{year}"
        )
    elif match["year"]:
        new = str(int(old) - rng.randint(1, 12))
    else:
        names = _MONTH_NAMES if match["month"] else _WEEKDAYS
        new = rng.choice([one for one in names if one != old])
    changed = text[: match.start()] + new + text[match.end() :]
    return Seeded(kind="wrong_date", text=changed, source=piece.source)


_KIN = re.compile(
    r"^(?:(?:His|Her|The patient's|Patient's|She states her|He states his)\s+)?(?:maternal |paternal |older |younger |own )?"
    r"(?:[Mm]other|[Ff]ather|[Bb]rother|[Ss]ister|[Gg]randmother|[Gg]randfather|[Aa]unt|[Uu]ncle|[Cc]ousin)\s+(?:also )?"
    r"(?:has|had|with|suffers from|died of|died from|died at \S+ of|has a history of|had a history of)\s+(?P<what>\w.{3,})$"
)


def _family(piece: Piece, text: str, _: VendorNote, rng: random.Random) -> Seeded | None:
    match = _KIN.match(text)
    if match is None:
        return None
    lead = rng.choice(("The patient has ", "Patient has a history of ", "He has ", "She has had "))
    return Seeded(kind="family_as_patient", text=lead + match["what"], source=piece.source)


_FIGURE = re.compile(r"(?<![\d./-])(\d{2,3})(?=/\d{2}(?![/\d])|\.\d|%|\s?(?:bpm|pounds|mmHg|degrees|cm|year|weeks|days|months|\.|,|$))")  # fmt: skip


def _figure(piece: Piece, text: str, _: VendorNote, rng: random.Random) -> Seeded | None:
    found = list(_FIGURE.finditer(text))
    if not found:
        return None
    match = rng.choice(found)
    new = str(int(match[1]) + rng.choice((1, 2, 7, 10, 11, 20)))
    if new in piece.text:
        return None
    changed = text[: match.start()] + new + text[match.end() :]
    return Seeded(kind="wrong_figure", text=changed, source=piece.source)


_INVENTED = (
    "Echocardiography was remarkable for severe aortic stenosis.", "Received packed red cells for gastrointestinal haemorrhage.",
    "Known carrier of factor V Leiden with recurrent thrombosis.", "Underwent thoracic endovascular graft placement.",
    "Glioblastoma was resected and irradiated.", "Completed hepatitis C eradication with sofosbuvir.",
    "Haemodialysis thrice weekly through a tunnelled catheter.", "Schizoaffective disorder treated with clozapine.",
    "Sputum grew multidrug-resistant Acinetobacter.", "Works as an offshore welder with asbestos contact.",
    "Cochlear implant fitted in childhood.", "Plasmapheresis was given for myasthenia gravis.",
    "Ventriculoperitoneal shunt revision was complicated by ventriculitis.", "Porphyria was diagnosed by urinary porphobilinogen.",
    "Liver transplant recipient on tacrolimus.", "Splenectomy after a motorcycle crash.",
)  # fmt: skip
_INVENTED_PLAN = (
    "Start amiodarone loading for ventricular tachycardia.", "Arrange urgent craniotomy with neurosurgery.",
    "Begin rituximab infusions every fortnight.", "List for renal transplantation.", "Give tranexamic acid before extraction.",
    "Refer for deep brain stimulation.", "Stop clozapine and monitor neutrophils.", "Plan autologous stem cell harvest.",
    "Start lithium with serum monitoring.", "Book hyperbaric oxygen sessions.",
)  # fmt: skip


def _invented(piece: Piece, _text: str, _: VendorNote, rng: random.Random) -> Seeded | None:
    return Seeded(kind="invented", text=rng.choice(_INVENTED), source=piece.source)


def _invented_plan(piece: Piece, _text: str, _: VendorNote, rng: random.Random) -> Seeded | None:
    source = rng.choice((piece.source, None))
    return Seeded(kind="orphan_plan", text=rng.choice(_INVENTED_PLAN), source=source, part="plan")


STRUCTURAL: Mapping[str, Maker] = {
    "wrong_section": _wrong_section,
    "span_off_by_one": _off_by_one,
    "bad_id": _bad_id,
    "other_chunk": _other_id,
    "format": _format,
    "orphan": _orphan,
}
CONTENT: Mapping[str, Maker] = {
    "dose_x10": _tenfold,
    "mg_mcg": _unit,
    "negation_flip": _flip,
    "left_right": _side,
    "wrong_drug": _drug,
    "wrong_date": _date,
    "family_as_patient": _family,
    "wrong_figure": _figure,
    "invented": _invented,
    "orphan_plan": _invented_plan,
}
EXPECTED: Mapping[str, frozenset[str]] = {
    "wrong_section": frozenset({"section_mismatch"}),
    "span_off_by_one": frozenset({"span_error"}),
    "bad_id": frozenset({"bad_id"}),
    "other_chunk": frozenset({"span_error", "section_mismatch"}),
    "format": frozenset({"format_error"}),
    "orphan": frozenset({"orphan_claim"}),
    "dose_x10": frozenset({"doses", "numbers"}),
    "mg_mcg": frozenset({"units", "doses"}),
    "negation_flip": frozenset({"negation"}),
    "left_right": frozenset({"laterality"}),
    "wrong_drug": frozenset({"medicines"}),
    "wrong_date": frozenset({"dates", "numbers"}),
    "family_as_patient": frozenset({"subject"}),
    "wrong_figure": frozenset({"numbers", "doses"}),
    "invented": frozenset({"support"}),
    "orphan_plan": frozenset({"support", "medicines", "orphan_claim"}),
}
"""The findings that count as the error's own; another finding on the item does not."""


def plant(
    kind: str, piece: Piece, text: str, note: VendorNote, rng: random.Random
) -> Seeded | None:
    """An item with an error of that kind, made from a correct one; `None` where it does not fit."""
    found = (STRUCTURAL.get(kind) or CONTENT[kind])(piece, text, note, rng)
    if found is None or (kind in CONTENT and found.text == text and found.source == piece.source):
        return None
    return found
