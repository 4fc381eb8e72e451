"""Units of measure: a subset of UCUM, exact conversion, and refusal of everything else.

A value is compared with another only through `convert` (or `compare`), which knows dimensions. A
unit that is not understood raises `UnknownUnit`; two that do not fit raise `IncompatibleUnits`.
Mass and amount of substance meet only where the analyte's molar mass is known. Factors are exact
fractions (UCUM 2.1); only a division that does not end is rounded, at 28 digits.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from decimal import Context, Decimal
from fractions import Fraction

from pydantic import BaseModel, ConfigDict

from bedside.clinical.packs import Pack, PackFile, load_pack
from bedside.core.errors import CallerError
from bedside.core.value import value

__all__ = [
    "IncompatibleUnits",
    "Unit",
    "UnknownUnit",
    "compare",
    "convert",
    "molar_mass_pack",
    "parse_unit",
]


class UnknownUnit(CallerError):
    """A unit that is not understood: its values are shown as written and never compared."""

    title = "Unknown unit"

    def __init__(self, text: str) -> None:
        super().__init__(f"The unit {text!r} is not understood, so its values are not compared.")
        self.text = text


class IncompatibleUnits(CallerError):
    """Two units between which there is no conversion (for this analyte)."""

    title = "Incompatible units"

    def __init__(self, source: str, target: str, *, analyte: str | None) -> None:
        of = f" of {analyte}" if analyte else " without a known analyte"
        super().__init__(f"There is no conversion from {source!r} to {target!r}{of}.")
        self.source, self.target, self.analyte = source, target, analyte


@value
class Unit:
    """A unit as factor, offset and dimensions.

    A value in this unit, times `factor` plus `offset`, is in base units: metre, gram, second, mole,
    kelvin, and the arbitrary units that stand for themselves. `dims` holds (base, exponent), sorted,
    no exponent 0.
    """

    text: str
    factor: Fraction
    dims: tuple[tuple[str, int], ...]
    offset: Fraction = Fraction(0)


_PREFIXES = {
    "T": 12,
    "G": 9,
    "M": 6,
    "k": 3,
    "h": 2,
    "d": -1,
    "c": -2,
    "m": -3,
    "u": -6,
    "n": -9,
    "p": -12,
    "f": -15,
}
_F = Fraction
_PRESSURE = {"g": 1, "m": -1, "s": -2}
# Symbol: factor to base units, dimensions, whether prefixes apply.
_ATOMS: Mapping[str, tuple[Fraction, Mapping[str, int], bool]] = {
    "m": (_F(1), {"m": 1}, True),
    "g": (_F(1), {"g": 1}, True),
    "s": (_F(1), {"s": 1}, True),
    "mol": (_F(1), {"mol": 1}, True),
    "L": (_F(1, 1000), {"m": 3}, True),
    "l": (_F(1, 1000), {"m": 3}, True),
    "eq": (_F(1), {"eq": 1}, True),
    "osm": (_F(1), {"osm": 1}, True),
    "min": (_F(60), {"s": 1}, False),
    "h": (_F(3600), {"s": 1}, False),
    "d": (_F(86400), {"s": 1}, False),
    "wk": (_F(604800), {"s": 1}, False),
    "mo": (_F(2629800), {"s": 1}, False),
    "a": (_F(31557600), {"s": 1}, False),
    "U": (_F(1, 60_000_000), {"mol": 1, "s": -1}, True),
    "kat": (_F(1), {"mol": 1, "s": -1}, True),
    "[iU]": (_F(1), {"[iU]": 1}, True),
    "[IU]": (_F(1), {"[iU]": 1}, True),
    "[arb'U]": (_F(1), {"[arb'U]": 1}, True),
    "[pH]": (_F(1), {"[pH]": 1}, False),
    "Pa": (_F(1000), _PRESSURE, True),
    "m[Hg]": (_F(133_322_000), _PRESSURE, True),
    "m[H2O]": (_F(9_806_650), _PRESSURE, True),
    "J": (_F(1000), {"g": 1, "m": 2, "s": -2}, True),
    "cal": (_F(4184), {"g": 1, "m": 2, "s": -2}, True),
    "Hz": (_F(1), {"s": -1}, True),
    "[lb_av]": (_F(45_359_237, 100_000), {"g": 1}, False),
    "[oz_av]": (_F(45_359_237, 1_600_000), {"g": 1}, False),
    "[stone_av]": (_F(45_359_237 * 14, 100_000), {"g": 1}, False),
    "[in_i]": (_F(254, 10_000), {"m": 1}, False),
    "[ft_i]": (_F(3048, 10_000), {"m": 1}, False),
    "%": (_F(1, 100), {}, False),
    "[ppth]": (_F(1, 1000), {}, False),
    "[ppm]": (_F(1, 1_000_000), {}, False),
}
_TEMPERATURES = {
    "K": (_F(1), _F(0)),  # alone only: in "K/uL" a K is a thousand
    "Cel": (_F(1), _F(27315, 100)),
    "[degF]": (_F(5, 9), _F(45967, 180)),
}
_COUNTED = {
    "cells",
    "cell",
    "rbc",
    "wbc",
    "rbcs",
    "wbcs",
    "plt",
    "platelets",
    "beats",
    "beat",
    "breaths",
    "resp",
    "count",
    "#",
}
"""Remarks that say what is counted: a cell per litre is one per litre."""

_ALIASES = {
    "mg/dl": "mg/dL",
    "mcg": "ug",
    "mmhg": "mm[Hg]",
    "mm hg": "mm[Hg]",
    "cmh2o": "cm[H2O]",
    "kpa": "kPa",
    "iu": "[iU]",
    "miu": "m[iU]",
    "uiu": "u[iU]",
    "kiu": "k[iU]",
    "ku": "kU",
    "mu": "mU",
    "uu": "uU",
    "u": "U",
    "unit": "U",
    "units": "U",
    "meq": "meq",
    "mequiv": "meq",
    "mosm": "mosm",
    "dl": "dL",
    "ml": "mL",
    "ul": "uL",
    "fl": "fL",
    "l": "L",
    "litre": "L",
    "liter": "L",
    "cc": "cm3",
    "lb": "[lb_av]",
    "lbs": "[lb_av]",
    "pounds": "[lb_av]",
    "oz": "[oz_av]",
    "st": "[stone_av]",
    "stone": "[stone_av]",
    "in": "[in_i]",
    "inch": "[in_i]",
    "inches": "[in_i]",
    "ft": "[ft_i]",
    "feet": "[ft_i]",
    "hr": "h",
    "hour": "h",
    "hours": "h",
    "sec": "s",
    "seconds": "s",
    "mins": "min",
    "minute": "min",
    "minutes": "min",
    "day": "d",
    "days": "d",
    "week": "wk",
    "weeks": "wk",
    "month": "mo",
    "months": "mo",
    "year": "a",
    "years": "a",
    "yr": "a",
    "yrs": "a",
    "c": "Cel",
    "°c": "Cel",
    "degc": "Cel",
    "celsius": "Cel",
    "cel": "Cel",
    "f": "[degF]",
    "°f": "[degF]",
    "degf": "[degF]",
    "fahrenheit": "[degF]",
    "bpm": "/min",
    "beats": "1",
    "breaths": "1",
    "cells": "1",
    "k": "10*3",
    "thou": "10*3",
    "thousand": "10*3",
    "mil": "10*6",
    "million": "10*6",
    "percent": "%",
    "ph": "[pH]",
    "kcal": "kcal",
    "1.73m2": "{1.73_m2}",
    "1.73 m2": "{1.73_m2}",
    "1.73sqm": "{1.73_m2}",
    "1.73 sq m": "{1.73_m2}",
    "{1.73m2}": "{1.73_m2}",
    "{1.73_m2}": "{1.73_m2}",
    "m2": "m2",
    "mm3": "mm3",
    "cm3": "cm3",
}
_LOWERED = ("kg", "g", "mg", "ug", "ng", "pg", "fg", "mmol", "umol", "nmol", "pmol", "mol")
_LOWERED_LENGTHS = ("m", "cm", "mm", "um", "km")
_WORDS = {name: name for name in (*_LOWERED, *_LOWERED_LENGTHS, "s", "min", "h", "d", "wk", "mo")}
_THOUSANDS = {"k", "thou", "thousand", "mil", "million"}
_TERM = re.compile(
    r"(?P<power>10[*^](?P<ten>[+-]?\d+))|(?P<remark>\{[^{}]*\})|(?P<number>\d+)"
    r"|(?P<atom>(?:[A-Za-z%]+(?:\[[^\]]+\])?|\[[^\]]+\])+?)(?P<exponent>[+-]?\d+)?(?P<tail>\{[^{}]*\})?(?=[./]|$)"
)


_DAILY = re.compile(r"/\s*\(?\{?24[\s._]?h(?:rs?|ours?)?\}?\)?(?![\w.])", re.IGNORECASE)
"""What is collected over 24 hours: "/24 h", "/(24.h)", "/{24_h}"."""


@functools.lru_cache(maxsize=2048)
def parse_unit(text: str) -> Unit:
    """Read a unit: UCUM first, then the spellings that laboratories use ("mg/dl", "x10^9/L").

    Raises:
        UnknownUnit: it is not understood. The empty string is no unit.
    """
    written = text.strip().replace("µ", "u").replace("μ", "u")
    if not written:
        raise UnknownUnit(text)
    if written in _TEMPERATURES:
        factor, offset = _TEMPERATURES[written]
        return Unit(text=text, factor=factor, offset=offset, dims=(("K", 1),))
    written = _DAILY.sub("/d", written)
    found = _ucum(written) or _spelled(written)
    if found is None:
        raise UnknownUnit(text)
    factor, offset, dims = found
    kept = tuple(sorted((base, power) for base, power in dims.items() if power))
    return Unit(text=text, factor=factor, offset=offset, dims=kept)


_Read = tuple[Fraction, Fraction, dict[str, int]]


def _ucum(text: str) -> _Read | None:
    """A product of terms, read strictly from left to right."""
    factor, dims, sign, at = Fraction(1), {}, 1, 0
    if text.startswith("/"):
        sign, at = -1, 1
    if at == len(text):
        return None
    per_mole = False
    while at < len(text):
        found = _TERM.match(text, at)
        if found is None or found.end() == at:
            return None
        term = _term(found)
        if term is None:
            return None
        factor *= term[0] ** sign
        for base, power in term[1].items():
            per_mole = per_mole or (base == "mol" and dims.get(base, 0) * sign * power < 0)
            dims[base] = dims.get(base, 0) + sign * power
        at = found.end()
        if at < len(text):
            if text[at] not in "./" or at + 1 == len(text):
                return None
            sign, at = (-1 if text[at] == "/" else 1), at + 1
    if per_mole and not any(dims.values()):  # HbA1c in mmol/mol is no tenth of a per cent
        dims["mol/mol"] = 1
    return factor, Fraction(0), dims


def _term(found: re.Match[str]) -> tuple[Fraction, dict[str, int]] | None:
    if found["power"]:
        return Fraction(10) ** int(found["ten"]), {}
    if found["number"]:
        number = int(found["number"])
        return (Fraction(number), {}) if number else None
    if found["remark"]:
        return _remark(found["remark"])
    atom = _atom(found["atom"])
    if atom is None:
        return None
    power = int(found["exponent"] or 1)
    if power == 0:
        return None
    return atom[0] ** power, {base: count * power for base, count in atom[1].items()}


def _remark(text: str) -> tuple[Fraction, dict[str, int]]:
    inner = text[1:-1].strip().casefold().replace(" ", "_")
    if inner in _COUNTED:
        return Fraction(1), {}
    if inner.replace("_", "") in {"1.73m2", "1.73sqm"}:
        inner = "1.73_m2"
    return Fraction(1), {"{" + inner + "}": 1}


def _atom(text: str) -> tuple[Fraction, Mapping[str, int]] | None:
    if text in _ATOMS:
        factor, dims, _ = _ATOMS[text]
        return factor, dims
    head, rest = text[:1], text[1:]
    if head not in _PREFIXES or rest not in _ATOMS:
        return None
    factor, dims, prefixed = _ATOMS[rest]
    heavy = rest in {"g", "m", "s", "mol"} and head in {"M", "G", "T", "h"}
    if not prefixed or heavy:  # "Mg" in a clinical record is milligram misspelt, never a tonne
        return None
    return factor * Fraction(10) ** _PREFIXES[head], dims


_MULTIPLIER = re.compile(r"^(?:x\s*)?10\s*(?:\^|\*\*|\*|e)?\s*\(?([+-]?\d{1,2})\)?(?=/|$)")


def _spelled(text: str) -> _Read | None:
    """The spellings of laboratories, term by term; `None` as soon as one is not known."""
    if text.startswith("M/"):  # "M/uL" is a million; "m/uL" is nothing
        text = f"10*6{text[1:]}"
    lowered = " ".join(text.casefold().split()).replace("²", "2").replace("³", "3")
    lowered = lowered.replace("m^2", "m2").replace(" per ", "/").replace(" / ", "/")
    if lowered in _TEMPERATURES or _ALIASES.get(lowered) in _TEMPERATURES:
        factor, offset = _TEMPERATURES[_ALIASES[lowered]]
        return factor, offset, {"K": 1}
    lowered = _MULTIPLIER.sub(lambda found: f"10*{found[1]}", lowered)
    parts = []
    for part in lowered.split("/"):
        plain = part.strip()
        if plain in _ALIASES and (plain not in _THOUSANDS or "/" in lowered):
            parts.append(_ALIASES[plain])
        elif plain in _WORDS:
            parts.append(_WORDS[plain])
        elif re.fullmatch(r"10\*[+-]?\d+", plain) or (not plain and not parts):
            parts.append(plain)
        else:
            return None
    if any(part in _TEMPERATURES for part in parts):
        return None
    return _ucum("/".join(parts).replace("//", "/"))


class _Analyte(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    mass: Decimal
    names: tuple[str, ...]
    valence: int | None = None


class _Masses(PackFile):
    analytes: dict[str, _Analyte]
    enzymes: tuple[str, ...]


@functools.cache
def _masses() -> _Masses:
    return load_pack(_Masses, "bedside.clinical", "data/molar_masses.yaml")


def molar_mass_pack() -> Pack:
    """Where the molar masses come from."""
    return _masses().pack


_HBA1C = re.compile(
    r"\b(?:hb ?a1c|hba1c|a1c|ha1c|ghb|h(?:a)?emoglobin a1c|glycated h(?:a)?emoglobin)\b"
)


@functools.lru_cache(maxsize=512)
def _analyte(name: str) -> _Analyte | None:
    """The analyte of a name such as "Glucose [Mass/volume] in Blood": the longest that it holds."""
    words = f" {' '.join(re.findall(r'[a-z0-9-]+', name.casefold()))} "
    best: tuple[int, _Analyte] | None = None
    for item in _masses().analytes.values():
        for called in item.names:
            if f" {called} " in words and (best is None or len(called) > best[0]):
                best = (len(called), item)
    return best[1] if best else None


def _is_enzyme(name: str) -> bool:
    words = f" {' '.join(re.findall(r'[a-z0-9]+', name.casefold()))} "
    return any(f" {enzyme} " in words for enzyme in _masses().enzymes)


# NGSP master equation: IFCC (mmol/mol) = 10.93 * NGSP (%) - 23.50. https://ngsp.org/ifcc.asp
_IFCC_SLOPE, _IFCC_OFFSET = Fraction(1093, 100), Fraction(2350, 100)
_PERCENT, _PER_THOUSAND = Fraction(1, 100), Fraction(1, 1000)


def convert(value: Decimal, source: str, target: str, analyte: str | None = None) -> Decimal:
    """Express a value in another unit, exactly where the quotient ends, else to 28 digits.

    `analyte` is a name such as "glucose" or a record's display; it is needed between mass and
    amount of substance, between equivalents and moles, for HbA1c between % and mmol/mol, and for
    enzymes between U and IU.

    Raises:
        UnknownUnit: one of the units is not understood.
        IncompatibleUnits: there is no conversion between them for this analyte.
    """
    if analyte and _HBA1C.search(analyte.casefold()):
        found = _hba1c(value, source, target)
        if found is not None:
            return found
    here, there = parse_unit(source), parse_unit(target)
    factor = _bridge(dict(here.dims), dict(there.dims), analyte)
    if factor is None or ((here.offset or there.offset) and factor != 1):
        raise IncompatibleUnits(source, target, analyte=analyte)
    base = (Fraction(value) * here.factor + here.offset) * factor
    return _decimal((base - there.offset) / there.factor)


def _decimal(exact: Fraction) -> Decimal:
    context = Context(prec=28)
    quotient = context.divide(Decimal(exact.numerator), Decimal(exact.denominator))
    trimmed = quotient.normalize(context)
    exponent = trimmed.as_tuple().exponent
    plain = isinstance(exponent, int) and exponent > 0
    return trimmed.quantize(Decimal(1), context=context) if plain else trimmed


def _hba1c(value: Decimal, source: str, target: str) -> Decimal | None:
    kinds = []
    for text in (source, target):
        if text.strip().casefold().replace("{hb}", "") == "mmol/mol":
            kinds.append("ifcc")
        elif text.strip() == "%":
            kinds.append("ngsp")
        else:
            return None
    if kinds == ["ngsp", "ifcc"]:
        return _decimal(Fraction(value) * _IFCC_SLOPE - _IFCC_OFFSET)
    if kinds == ["ifcc", "ngsp"]:
        return _decimal((Fraction(value) + _IFCC_OFFSET) / _IFCC_SLOPE)
    return value


def _bridge(here: dict[str, int], there: dict[str, int], analyte: str | None) -> Fraction | None:
    """What a value in base units is multiplied by to reach the other dimensions; `None`: no way."""
    gap = {base: there.get(base, 0) - here.get(base, 0) for base in {*here, *there}}
    gap = {base: power for base, power in gap.items() if power}
    if not gap:
        return Fraction(1)
    if analyte is None:
        return None
    if set(gap) == {"mol", "s", "[iU]"} and _is_enzyme(analyte):
        times = gap["[iU]"]
        if gap["mol"] == -times and gap["s"] == times:
            return _ATOMS["U"][0] ** -times
    known = _analyte(analyte)
    if known is None:
        return None
    mass = Fraction(known.mass)
    if set(gap) == {"g", "mol"} and gap["g"] == -gap["mol"]:
        return mass ** gap["g"]
    if known.valence is not None and set(gap) == {"eq", "mol"} and gap["eq"] == -gap["mol"]:
        return Fraction(known.valence) ** gap["eq"]
    if known.valence is not None and set(gap) == {"eq", "g"} and gap["eq"] == -gap["g"]:
        return (Fraction(known.valence) / mass) ** gap["eq"]
    return None


def compare(
    left: tuple[Decimal, str], right: tuple[Decimal, str], analyte: str | None = None
) -> int | None:
    """-1, 0 or 1 as left is below, equal to or above right; `None` when they cannot be compared.

    Two empty units compare as bare numbers; an empty unit never compares with a written one.
    """
    if not left[1] or not right[1]:
        if left[1] or right[1]:
            return None
        return (left[0] > right[0]) - (left[0] < right[0])
    try:
        other = convert(right[0], right[1], left[1], analyte)
    except (UnknownUnit, IncompatibleUnits):
        return None
    return (left[0] > other) - (left[0] < other)
