"""Conversions against published factors and definitions, worked out by hand; and what is refused."""

from __future__ import annotations

import contextlib
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bedside.clinical.units import (
    IncompatibleUnits,
    UnknownUnit,
    compare,
    convert,
    molar_mass_pack,
    parse_unit,
)

D = Decimal

# Definitions: every figure follows from the metric system, the 1959 yard and pound agreement,
# the mercury column of UCUM (133.322 kPa per m[Hg]), and the NGSP master equation.
EXACT = [
    ("1", "g", "mg", None, "1000"),
    ("72.50", "kg", "g", None, "72500"),
    ("250", "ug", "mg", None, "0.25"),
    ("500", "mcg", "mg", None, "0.5"),
    ("20", "MG", "ug", None, "20000"),
    ("1", "ng/mL", "ug/L", None, "1"),
    ("3", "pg/mL", "ng/L", None, "3"),
    ("13.5", "g/dL", "g/L", None, "135"),
    ("13.5", "g/dl", "g/L", None, "135"),
    ("5", "mg/L", "mg/dL", None, "0.5"),
    ("1", "ng/dL", "pg/mL", None, "10"),
    ("1", "ug/dL", "ng/mL", None, "10"),
    ("1", "lb", "kg", None, "0.45359237"),
    ("150", "[lb_av]", "kg", None, "68.0388555"),
    ("1", "[stone_av]", "kg", None, "6.35029318"),
    ("16", "[oz_av]", "[lb_av]", None, "1"),
    ("1", "[in_i]", "cm", None, "2.54"),
    ("6", "[ft_i]", "m", None, "1.8288"),
    ("175", "cm", "m", None, "1.75"),
    ("2", "L", "mL", None, "2000"),
    ("5", "dL", "L", None, "0.5"),
    ("90", "fL", "um3", None, "90"),
    ("1", "cc", "mL", None, "1"),
    ("1000", "mm3", "mL", None, "1"),
    ("1.5", "h", "min", None, "90"),
    ("2", "weeks", "d", None, "14"),
    ("1", "d", "h", None, "24"),
    ("1", "a", "d", None, "365.25"),
    ("37", "Cel", "[degF]", None, "98.6"),
    ("98.6", "[degF]", "Cel", None, "37"),
    ("-40", "°F", "°C", None, "-40"),
    ("0", "Cel", "K", None, "273.15"),
    ("1", "mm[Hg]", "Pa", None, "133.322"),
    ("120", "mmHg", "kPa", None, "15.99864"),
    ("1", "cm[H2O]", "Pa", None, "98.0665"),
    ("5", "10*3/uL", "10*9/L", None, "5"),
    ("5", "K/uL", "10*9/L", None, "5"),
    ("4.5", "x10^12/L", "10*6/uL", None, "4.5"),
    ("4.5", "M/uL", "10*12/L", None, "4.5"),
    ("7500", "{cells}/uL", "10*3/uL", None, "7.5"),
    ("7500", "/mm3", "10*9/L", None, "7.5"),
    ("45", "%", "1", None, "0.45"),
    ("72", "beats/min", "/min", None, "72"),
    ("60", "mL/min/1.73m2", "mL/min/{1.73_m2}", None, "60"),
    ("1", "mL/s/{1.73_m2}", "mL/min/{1.73_m2}", None, "60"),
    ("4.0", "mmol/L", "meq/L", "Potassium", "4.0"),
    ("2.5", "mmol/L", "mEq/L", "Calcium", "5.0"),
    ("40", "U/L", "IU/L", "Alanine aminotransferase", "40"),
    ("40", "IU/L", "U/L", "AST", "40"),
    ("1", "ukat/L", "U/L", None, "60"),
    ("1", "mIU/L", "u[iU]/mL", "TSH", "1"),
    ("7.0", "%", "mmol/mol", "HbA1c", "53.01"),
    ("10.93", "mmol/mol", "%", "Hemoglobin A1c/Hemoglobin.total in Blood", None),
    ("30", "mg/g", "ug/mg", None, "30"),
    ("1", "kcal", "kJ", None, "4.184"),
]

# Conversion factors as the AMA Manual of Style prints them (11th edition, table of SI conversion
# factors): conventional unit, SI unit, factor. A factor printed with n digits is right to half of
# the last digit.
PRINTED = [
    ("Glucose", "mg/dL", "mmol/L", "0.0555"),
    ("Total Cholesterol", "mg/dL", "mmol/L", "0.0259"),
    ("Low Density Lipoprotein Cholesterol", "mg/dL", "mmol/L", "0.0259"),
    ("Triglycerides", "mg/dL", "mmol/L", "0.0113"),
    ("Creatinine", "mg/dL", "umol/L", "88.4"),
    ("Urea Nitrogen", "mg/dL", "mmol/L", "0.357"),
    ("Uric acid", "mg/dL", "mmol/L", "0.0595"),
    ("Bilirubin.total", "mg/dL", "umol/L", "17.1"),
    ("Calcium", "mg/dL", "mmol/L", "0.25"),
    ("Magnesium", "mg/dL", "mmol/L", "0.411"),
    ("Phosphorus", "mg/dL", "mmol/L", "0.323"),
    ("Iron", "ug/dL", "umol/L", "0.179"),
    ("Vitamin D", "ng/mL", "nmol/L", "2.496"),
    ("Vitamin B12", "pg/mL", "pmol/L", "0.7378"),
    ("Folate", "ng/mL", "nmol/L", "2.266"),
    ("Cortisol", "ug/dL", "nmol/L", "27.59"),
    ("Testosterone", "ng/dL", "nmol/L", "0.0347"),
    ("Estradiol", "pg/mL", "pmol/L", "3.671"),
    ("Progesterone", "ng/mL", "nmol/L", "3.18"),
    ("Lactate", "mg/dL", "mmol/L", "0.111"),
    ("Digoxin", "ng/mL", "nmol/L", "1.28"),
    ("Phenytoin", "ug/mL", "umol/L", "3.96"),
    ("Theophylline", "ug/mL", "umol/L", "5.55"),
    ("Acetaminophen", "ug/mL", "umol/L", "6.62"),
    ("Lead", "ug/dL", "umol/L", "0.0483"),
    ("Zinc", "ug/dL", "umol/L", "0.153"),
    ("Copper", "ug/dL", "umol/L", "0.157"),
    ("Thyroxine", "ug/dL", "nmol/L", "12.87"),
    ("Homocysteine", "mg/L", "umol/L", "7.397"),
]

ILLEGAL = [
    ("mg/dL", "mmol/L", None),  # of what?
    ("mg/dL", "mmol/L", "Something new"),
    ("mg", "mL", None),
    ("mg", "mmHg", "Glucose"),
    ("mL/min", "mL/min/{1.73_m2}", "eGFR"),  # indexed to body surface, or not
    ("mL/min/{1.73_m2}", "mL/min", None),
    ("{score}", "{count}", None),
    ("{score}", "%", None),
    ("{score}", "1", None),
    ("{T-score}", "{Z-score}", None),
    ("U/L", "[iU]/L", None),
    ("U/L", "[iU]/L", "Insulin"),
    ("U/L", "mmol/L", "ALT"),
    ("meq/L", "mmol/L", None),
    ("meq/L", "mmol/L", "Glucose"),
    ("%", "mmol/mol", "Hematocrit"),
    ("Cel", "kg", None),
    ("Cel", "/min", None),
    ("10*3/uL", "g/L", "Leukocytes"),
    ("fL", "pg", "MCV"),
    ("kg", "m", None),
    ("kg/m2", "kg", None),
    ("kg/m2", "%", None),
    ("mosm/kg", "mmol/kg", None),
    ("mm[Hg]", "mm", None),
    ("[pH]", "mmol/L", None),
    ("d", "kg", None),
    ("ng/mL", "[iU]/mL", "Ferritin"),
    ("mg/g", "mg/mmol", None),
    ("h", "/h", None),
]

UNKNOWN = [
    "",
    " ",
    "bananas",
    "mg/",
    "/",
    "mg//dL",
    "10**",
    "{",
    "mg dL",
    "Mmg",
    "mg/0",
    "g0",
    "tabs",
    "x",
    "mg%%",
    "m/uL?",
]


@pytest.mark.requirement("RELIABILITY-22")
@pytest.mark.requirement("EN-R5")
@pytest.mark.parametrize(("figure", "here", "there", "analyte", "want"), EXACT)
def test_conversions_that_follow_from_definitions_are_exact(figure, here, there, analyte, want):
    got = convert(D(figure), here, there, analyte)

    if want is None:  # (10.93 + 23.50) / 10.93 = 3.15: checked to 28 digits by the inverse
        assert abs(got * D("10.93") - D("23.50") - D(figure)) < D("1e-20")
    else:
        assert got == D(want)
        assert "E" not in str(got)


@pytest.mark.requirement("EN-R5")
@pytest.mark.parametrize(("analyte", "here", "there", "printed"), PRINTED)
def test_molar_conversions_agree_with_the_printed_factors(analyte, here, there, printed):
    got = convert(D(1), here, there, analyte)

    half = D(1).scaleb(D(printed).as_tuple().exponent) / 2
    tolerance = max(half, D(printed) * D("0.0015"))  # the manual rounds molar masses too
    assert abs(got - D(printed)) <= tolerance


def test_the_urine_albumin_to_creatinine_ratio_converts_by_the_mass_of_creatinine():
    """KDIGO prints 30 mg/g as 3 mg/mmol and 300 as 30, rounded; 113.12 g/mol gives 3.39."""
    assert convert(D(30), "mg/g", "mg/mmol", "Microalbumin Creatinine Ratio") == D("3.3936")


@pytest.mark.requirement("RELIABILITY-22")
@pytest.mark.requirement("EN-R5")
@pytest.mark.parametrize(("here", "there", "analyte"), ILLEGAL)
def test_what_has_no_conversion_is_refused_and_never_compared(here, there, analyte):
    with pytest.raises(IncompatibleUnits):
        convert(D(1), here, there, analyte)
    assert compare((D(1), here), (D(1), there), analyte) is None


@pytest.mark.requirement("RELIABILITY-22")
@pytest.mark.requirement("EN-R5")
@pytest.mark.parametrize("text", UNKNOWN)
def test_an_unknown_unit_is_named_and_never_compared(text):
    with pytest.raises(UnknownUnit):
        parse_unit(text)
    assert compare((D(1), text), (D(2), "mg"), None) is None


def test_mg_with_a_capital_is_milligram_and_never_a_tonne():
    assert convert(D(1), "Mg", "mg") == D(1)


def test_values_compare_over_units():
    assert compare((D("5.6"), "mmol/L"), (D(100), "mg/dL"), "Glucose") == 1
    assert compare((D("1.0"), "g"), (D("1000"), "mg")) == 0
    assert compare((D("36.0"), "Cel"), (D("98.6"), "[degF]")) == -1
    assert compare((D(3), ""), (D(4), "")) == -1
    assert compare((D(3), ""), (D(4), "mg")) is None


PAIRS = [
    ("mg/dL", "mmol/L", "Glucose"),
    ("mg/dL", "umol/L", "Creatinine"),
    ("%", "mmol/mol", "HbA1c"),
    ("[degF]", "Cel", None),
    ("[lb_av]", "kg", None),
    ("mm[Hg]", "kPa", None),
    ("10*3/uL", "/L", None),
]


@settings(max_examples=100, deadline=None)
@given(
    st.decimals(min_value=0, max_value=100_000, places=6, allow_nan=False),
    st.sampled_from(PAIRS),
)
def test_there_and_back_gives_the_same_value(figure, pair):
    here, there, analyte = pair

    back = convert(convert(figure, here, there, analyte), there, here, analyte)

    assert abs(back - figure) <= D("1e-18")


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=12))
def test_any_text_is_a_unit_or_unknown(text):
    with contextlib.suppress(UnknownUnit):
        assert parse_unit(text).factor > 0


def test_the_masses_say_where_they_come_from():
    assert "IUPAC" in molar_mass_pack().source


@pytest.mark.parametrize("text", ["mg/24 h", "mg/(24.h)", "mg/24h", "mg/24 hours", "mg/{24_h}"])
def test_a_collection_of_24_hours_is_one_of_a_day(text):
    assert convert(Decimal(420), text, "mg/d", "urine_protein_24h") == Decimal(420)
    assert convert(Decimal(420), text, "g/d", "urine_protein_24h") == Decimal("0.42")
