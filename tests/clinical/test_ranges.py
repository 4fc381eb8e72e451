"""RELIABILITY row 23: ranges and flags, expected values written by hand from the cited sources."""

from __future__ import annotations

from decimal import Decimal

import pytest

from bedside.clinical import ranges as module
from bedside.clinical.ranges import Range, flag, range_for, range_pack, ranged, ranges_of

L, N, H, CL, CH = "low", "normal", "high", "critical_low", "critical_high"

# analyte, sex, unit, then value: flag. Adults of 50. Figures: ABIM January 2026 unless noted;
# critical limits: ARUP 2017, Kost 1990, NEWS2.
GOLDEN = [
    (
        "sodium",
        "male",
        "mmol/L",
        {"119": CL, "120": L, "135": L, "136": N, "145": N, "146": H, "160": H, "161": CH},
    ),
    (
        "potassium",
        "female",
        "mmol/L",
        {"2.9": CL, "3.0": L, "3.4": L, "3.5": N, "5.0": N, "5.1": H, "6.1": H, "6.2": CH},
    ),
    ("chloride", "male", "mmol/L", {"74": CL, "97": L, "98": N, "106": N, "107": H, "127": CH}),
    ("bicarbonate", "male", "mmol/L", {"9": CL, "22": L, "23": N, "30": N, "31": H, "41": CH}),
    ("anion_gap", "male", "mmol/L", {"6": L, "7": N, "13": N, "14": H}),
    (
        "calcium",
        "female",
        "mg/dL",
        {"5.9": CL, "8.5": L, "8.6": N, "10.2": N, "10.3": H, "13.1": CH},
    ),
    (
        "ionized_calcium",
        "male",
        "mmol/L",
        {"0.77": CL, "1.11": L, "1.12": N, "1.24": H, "1.59": CH},
    ),
    ("magnesium", "male", "mg/dL", {"0.9": CL, "1.5": L, "1.6": N, "2.6": N, "2.7": H, "9.1": CH}),
    ("phosphate", "male", "mg/dL", {"0.9": CL, "2.9": L, "3.0": N, "4.6": H, "9.1": CH}),
    ("creatinine", "female", "mg/dL", {"0.49": L, "0.50": N, "1.10": N, "1.11": H, "7.5": CH}),
    ("creatinine", "male", "mg/dL", {"0.69": L, "0.70": N, "1.30": N, "1.31": H}),
    ("egfr", "male", "mL/min/{1.73_m2}", {"14": CL, "59": L, "60": N, "110": N}),
    ("bun", "male", "mg/dL", {"7": L, "8": N, "20": N, "21": H, "105": CH}),
    ("uric_acid", "male", "mg/dL", {"2.9": L, "3.0": N, "7.0": N, "7.1": H, "13.1": CH}),
    ("osmolality", "male", "mOsm/kg", {"249": CL, "274": L, "275": N, "296": H, "327": CH}),
    ("acr", "male", "mg/g", {"29": N, "30": H, "400": H}),
    ("glucose", "female", "mg/dL", {"39": CL, "69": L, "70": N, "199": N, "200": H, "451": CH}),
    ("fasting_glucose", "male", "mg/dL", {"39": CL, "69": L, "99": N, "100": H, "451": CH}),
    ("hba1c", "male", "%", {"3.9": L, "4.0": N, "5.6": N, "5.7": H}),
    ("c_peptide", "male", "ng/mL", {"0.7": L, "0.8": N, "3.2": H}),
    ("alt", "male", "U/L", {"9": L, "10": N, "40": N, "41": H}),
    ("ast", "male", "U/L", {"9": L, "40": N, "41": H}),
    ("alp", "male", "U/L", {"29": L, "30": N, "120": N, "121": H}),
    ("ggt", "female", "U/L", {"7": L, "8": N, "40": N, "41": H}),
    ("ggt", "male", "U/L", {"8": L, "41": N, "51": H}),
    ("bilirubin", "male", "mg/dL", {"0.2": L, "0.3": N, "1.0": N, "1.1": H, "15.1": CH}),
    ("bilirubin_direct", "male", "mg/dL", {"0.3": N, "0.4": H}),
    ("albumin", "male", "g/dL", {"3.4": L, "3.5": N, "5.5": N, "5.6": H}),
    ("total_protein", "male", "g/dL", {"5.4": L, "5.5": N, "9.1": H}),
    ("globulin", "male", "g/dL", {"1.9": L, "2.0": N, "3.6": H}),
    ("ldh", "male", "U/L", {"79": L, "225": N, "226": H}),
    ("amylase", "male", "U/L", {"24": L, "125": N, "126": H}),
    ("lipase", "male", "U/L", {"9": L, "140": N, "141": H}),
    ("total_cholesterol", "male", "mg/dL", {"199": N, "200": H}),
    ("ldl", "male", "mg/dL", {"99": N, "100": H}),
    ("hdl", "female", "mg/dL", {"49": L, "50": N}),
    ("hdl", "male", "mg/dL", {"39": L, "40": N, "90": N}),
    ("triglycerides", "male", "mg/dL", {"149": N, "150": H}),
    ("hemoglobin", "female", "g/dL", {"7.0": CL, "7.1": L, "11.9": L, "12": N, "16": N, "16.1": H}),
    ("hemoglobin", "male", "g/dL", {"6.9": CL, "13.9": L, "14": N, "18": N, "18.1": H}),
    ("hematocrit", "female", "%", {"17": CL, "36": L, "37": N, "47": N, "48": H}),
    ("hematocrit", "male", "%", {"41": L, "42": N, "51": H}),
    ("wbc", "male", "10*3/uL", {"1.9": CL, "3.9": L, "4.0": N, "11.0": N, "11.1": H}),
    ("rbc", "male", "10*6/uL", {"4.1": L, "4.2": N, "5.9": N, "6.0": H}),
    ("platelets", "male", "10*3/uL", {"36": CL, "149": L, "150": N, "450": N, "451": H}),
    ("mcv", "male", "fL", {"79": L, "80": N, "98": N, "99": H}),
    ("mch", "male", "pg", {"27": L, "28": N, "33": H}),
    ("mchc", "male", "g/dL", {"32": L, "33": N, "37": H}),
    ("rdw_cv", "male", "%", {"8.9": L, "9.0": N, "14.6": H}),
    ("neutrophils", "male", "10*3/uL", {"0.4": CL, "1.9": L, "2.0": N, "8.3": H}),
    ("lymphocytes", "male", "10*3/uL", {"1.1": L, "1.2": N, "5.0": H}),
    ("ferritin", "female", "ng/mL", {"23": L, "24": N, "307": N, "308": H}),
    ("ferritin", "male", "ng/mL", {"308": N, "337": H}),
    ("iron", "male", "ug/dL", {"49": L, "50": N, "151": H}),
    ("tibc", "male", "ug/dL", {"249": L, "250": N, "311": H}),
    ("transferrin_saturation", "male", "%", {"19": L, "20": N, "51": H}),
    ("b12", "male", "pg/mL", {"199": L, "200": N, "801": H}),
    ("folate", "male", "ng/mL", {"1.7": L, "1.8": N, "9.1": H}),
    ("vitamin_d", "male", "ng/mL", {"29": L, "30": N, "61": H}),
    ("haptoglobin", "male", "mg/dL", {"82": L, "83": N, "268": H}),
    ("pt", "male", "s", {"10": L, "11": N, "14": H}),
    ("aptt", "male", "s", {"24": L, "25": N, "36": H, "85": CH}),
    ("fibrinogen", "male", "mg/dL", {"99": CL, "199": L, "200": N, "401": H}),
    ("d_dimer", "male", "ug/mL FEU", {"0.4": N, "0.5": H}),
    ("troponin", "male", "ng/mL", {"0.04": N, "0.05": H, "0.30": CH}),
    ("bnp", "male", "pg/mL", {"99": N, "100": H}),
    ("ck", "female", "U/L", {"29": L, "135": N, "136": H}),
    ("crp", "male", "mg/L", {"8": N, "8.1": H}),
    ("esr", "male", "mm/h", {"15": N, "16": H}),
    ("esr", "female", "mm/h", {"20": N, "21": H}),
    ("lactate", "male", "mmol/L", {"0.6": L, "0.7": N, "2.2": H}),
    ("tsh", "male", "mIU/L", {"0.4": L, "0.5": N, "4.0": N, "4.1": H}),
    ("ft4", "male", "ng/dL", {"0.7": L, "0.8": N, "1.9": H}),
    ("pth", "male", "pg/mL", {"9": L, "10": N, "66": H}),
    ("cortisol", "male", "ug/dL", {"4": L, "5": N, "26": H}),
    ("ph_blood", "male", "[pH]", {"7.25": CL, "7.37": L, "7.38": N, "7.45": H, "7.60": CH}),
    ("pco2", "male", "mmHg", {"20": CL, "37": L, "38": N, "43": H, "60": CH}),
    ("po2", "male", "mmHg", {"40": CL, "74": L, "75": N}),
    ("lithium_level", "male", "mmol/L", {"0.5": L, "0.6": N, "1.3": H, "2.0": CH}),
    ("systolic_bp", "male", "mm[Hg]", {"90": CL, "91": N, "129": N, "130": H, "180": H, "181": CH}),
    ("diastolic_bp", "male", "mmHg", {"79": N, "80": H, "121": CH}),
    ("heart_rate", "male", "/min", {"40": CL, "59": L, "60": N, "101": H, "131": CH}),
    ("respiratory_rate", "male", "/min", {"8": CL, "11": L, "12": N, "20": N, "21": H, "25": CH}),
    ("temperature", "male", "Cel", {"35.0": CL, "36.0": L, "36.1": N, "38.0": N, "38.1": H}),
    ("oxygen_saturation", "male", "%", {"91": CL, "95": L, "96": N}),
    ("bmi", "male", "kg/m2", {"18.4": L, "18.5": N, "24.9": N, "25": H}),
    ("fev1_fvc", "male", "%", {"69": L, "70": N}),
    ("dxa_t_score", "female", "{T-score}", {"-1.1": L, "-1.0": N, "0.2": N}),
]
CASES = [(a, s, u, v, want) for a, s, u, values in GOLDEN for v, want in values.items()]


@pytest.mark.requirement("RELIABILITY-23")
@pytest.mark.requirement("EN-R5")
@pytest.mark.parametrize(("analyte", "sex", "unit", "figure", "want"), CASES)
def test_a_value_gets_the_flag_of_its_source(analyte, sex, unit, figure, want):
    assert flag(Decimal(figure), unit, range_for(analyte, sex=sex, age_years=50)) == want


@pytest.mark.requirement("RELIABILITY-23")
def test_the_golden_table_covers_sixty_analytes():
    assert len({case[0] for case in CASES}) >= 60
    assert len(ranged()) >= 60


@pytest.mark.parametrize(
    ("analyte", "age", "sex", "figure", "want"),
    [
        # WHO 2024 haemoglobin limits by age
        ("hemoglobin", "1", "male", "10.4", L),
        ("hemoglobin", "1", "male", "10.5", N),
        ("hemoglobin", "3", "female", "10.9", L),
        ("hemoglobin", "3", "female", "11.0", N),
        ("hemoglobin", "7", "male", "11.4", L),
        ("hemoglobin", "7", "male", "11.5", N),
        ("hemoglobin", "13", "female", "11.9", L),
        ("hemoglobin", "13", "female", "12.0", N),
        ("hemoglobin", "16", "female", "12.0", N),
        ("hemoglobin", "16", "male", "12.9", L),
    ],
)
def test_children_are_measured_by_their_own_range(analyte, age, sex, figure, want):
    assert (
        flag(Decimal(figure), "g/dL", range_for(analyte, sex=sex, age_years=Decimal(age))) == want
    )


@pytest.mark.parametrize(
    "analyte", ["creatinine", "alp", "systolic_bp", "heart_rate", "ferritin", "temperature"]
)
def test_a_child_is_never_measured_by_an_adult_range(analyte):
    assert range_for(analyte, sex="male", age_years=6) is None


@pytest.mark.parametrize(
    ("analyte", "age", "unit", "figure", "want"),
    [
        # Kost, Pediatrics 1991: means of children's hospitals; glucose and potassium of newborns apart
        ("potassium", "6", "mmol/L", "6.5", CH),
        ("potassium", "6", "mmol/L", "5.6", ""),  # outside an adult's range, and nothing is said
        ("potassium", "6", "mmol/L", "2.7", CL),
        ("potassium", "0.02", "mmol/L", "6.5", ""),
        ("potassium", "0.02", "mmol/L", "7.9", CH),
        ("sodium", "6", "mmol/L", "120", CL),
        ("sodium", "6", "mmol/L", "157", CH),
        ("glucose", "6", "mmol/L", "2.5", CL),
        ("glucose", "6", "mmol/L", "24.8", CH),
        ("glucose", "0.02", "mg/dL", "44", ""),
        ("glucose", "0.02", "mg/dL", "31", CL),
        ("calcium", "6", "mmol/L", "1.61", CL),
        ("hemoglobin", "6", "g/dL", "6.8", CL),
        ("platelets", "6", "10*3/uL", "52", CL),
        ("wbc", "6", "10*3/uL", "2.0", CL),
        ("wbc", "6", "10*3/uL", "3.0", ""),
        ("oxygen_saturation", "6", "%", "89", CL),  # WHO 2013
        # AAP 2017: from 13 years
        ("systolic_bp", "14", "mmHg", "130", H),
        ("systolic_bp", "14", "mmHg", "129", N),
        ("diastolic_bp", "17", "mmHg", "80", H),
    ],
)
def test_a_childs_emergency_is_told_by_limits_for_children(analyte, age, unit, figure, want):
    reference = range_for(analyte, sex="male", age_years=Decimal(age))
    assert (flag(Decimal(figure), unit, reference) or "") == want


@pytest.mark.parametrize(
    ("analyte", "unit", "figure", "want"),
    [
        # WHO 2024; Abbassi-Ghanavati 2009 (all trimesters); ATA 2017; ACOG 222
        ("hemoglobin", "g/dL", "10.9", L),
        ("hemoglobin", "g/dL", "11.0", N),
        ("hematocrit", "%", "27.9", L),
        ("hematocrit", "%", "33", N),
        ("wbc", "10*3/uL", "15", N),
        ("wbc", "10*3/uL", "17", H),
        ("platelets", "10*3/uL", "146", N),
        ("platelets", "10*3/uL", "145", L),
        ("neutrophils", "10*3/uL", "12", N),
        ("tsh", "mIU/L", "4.1", H),
        ("systolic_bp", "mmHg", "139", N),
        ("systolic_bp", "mmHg", "140", H),
        ("diastolic_bp", "mmHg", "89", N),
        ("diastolic_bp", "mmHg", "90", H),
    ],
)
def test_pregnancy_has_its_own_ranges(analyte, unit, figure, want):
    reference = range_for(analyte, sex="female", age_years=30, pregnant=True)
    got = flag(Decimal(figure), unit, reference)
    assert (got or "").replace("critical_", "") == want


@pytest.mark.parametrize(
    ("analyte", "unit", "ordinary", "emergency", "want"),
    [
        ("potassium", "mmol/L", "5.3", "6.8", CH),
        ("sodium", "mmol/L", "133", "118", CL),
        ("creatinine", "mg/dL", "1.2", "7.9", CH),
        ("platelets", "10*3/uL", "150", "20", CL),
        ("systolic_bp", "mmHg", "120", "190", CH),
    ],
)
def test_an_emergency_is_one_in_pregnancy_too(analyte, unit, ordinary, emergency, want):
    reference = range_for(analyte, sex="female", age_years=30, pregnant=True)
    assert flag(Decimal(emergency), unit, reference) == want
    assert flag(Decimal(ordinary), unit, reference) in {None, N}


@pytest.mark.parametrize("analyte", ["albumin", "alp", "ferritin"])
def test_pregnancy_without_a_source_is_unknown(analyte):
    assert range_for(analyte, sex="female", age_years=30, pregnant=True) is None


def test_unknown_age_or_sex_gives_no_range_where_it_matters():
    assert range_for("potassium", sex="male", age_years=None) is None
    assert range_for("hematocrit", sex=None, age_years=None) is None
    assert range_for("ferritin", sex=None, age_years=50) is None
    for sex in (None, "unknown"):  # an emergency is one for women and men alike
        either = range_for("creatinine", sex=sex, age_years=50)
        assert either is not None
        assert (either.low, either.high, either.critical_high) == (None, None, Decimal("7.4"))
        assert flag(Decimal("1.2"), "mg/dL", either) is None
    assert range_for("potassium", sex=None, age_years=50) is not None


def test_what_cannot_be_compared_is_none():
    reference = range_for("potassium", sex="male", age_years=50)
    assert flag(None, "mmol/L", reference) is None
    assert flag(Decimal(4), "", reference) is None
    assert flag(Decimal(4), "furlongs", reference) is None
    assert flag(Decimal(4), "mmol/L", None) is None
    assert range_for("zzyzx", sex="male", age_years=50) is None


@pytest.mark.parametrize(
    ("analyte", "unit", "comparator", "figure", "want"),
    [
        ("potassium", "mmol/L", "<", "3.0", CL),
        ("potassium", "mmol/L", "<", "3.5", L),
        ("potassium", "mmol/L", "<", "4.0", None),
        ("potassium", "mmol/L", ">", "6.1", CH),
        ("potassium", "mmol/L", ">", "5.0", H),
        ("potassium", "mmol/L", ">=", "5.0", None),
        ("potassium", "mmol/L", ">", "4.0", None),
        ("tsh", "mIU/L", "<", "0.01", L),
        ("troponin", "ng/mL", "<", "0.01", N),
        ("troponin", "ng/mL", "<=", "0.04", N),
        ("troponin", "ng/mL", "<", "0.5", None),
        ("ldl", "mg/dL", "<", "100", N),
        ("ldl", "mg/dL", "<=", "100", None),
        ("egfr", "mL/min/1.73 m2", ">", "60", N),
        ("egfr", "mL/min/1.73 m2", ">=", "60", N),
        ("egfr", "mL/min/1.73 m2", ">", "50", None),
        ("hdl", "mg/dL", ">", "100", N),
    ],
)
def test_a_comparator_gives_the_mildest_certain_flag_or_none(
    analyte, unit, comparator, figure, want
):
    reference = range_for(analyte, sex="male", age_years=50)
    assert flag(Decimal(figure), unit, reference, comparator=comparator) == want


@pytest.mark.parametrize(
    ("analyte", "figure", "unit", "want"),
    [
        # By hand: 7.0 mmol/L glucose is 126 mg/dL; 97 umol/L creatinine is 1.097 mg/dL; 120 g/L is 12 g/dL
        ("fasting_glucose", "7.0", "mmol/L", H),
        ("fasting_glucose", "5.0", "mmol/L", N),
        ("creatinine", "97", "umol/L", N),
        ("creatinine", "98", "µmol/L", H),
        ("hemoglobin", "120", "g/L", N),
        ("hemoglobin", "119", "g/L", L),
        ("platelets", "149", "10^9/L", L),
        ("potassium", "5.1", "mEq/L", H),
        ("total_cholesterol", "5.2", "mmol/L", H),
        ("total_cholesterol", "5.1", "mmol/L", N),
        ("calcium", "2.10", "mmol/L", L),
        ("crp", "0.9", "mg/dL", H),
        ("acr", "3.4", "mg/mmol", H),
    ],
)
def test_other_units_are_converted_before_comparing(analyte, figure, unit, want):
    assert flag(Decimal(figure), unit, range_for(analyte, sex="female", age_years=50)) == want


def test_the_laboratorys_own_limits_work_the_same_way():
    own = Range(
        analyte="x",
        unit="mmol/L",
        low=Decimal("3.9"),
        high=Decimal("5.6"),
        population="",
        source="the laboratory",
        licence="",
        label="",
    )
    assert flag(Decimal("5.2"), "mmol/L", own) == N
    assert flag(Decimal("5.7"), "mmol/L", own) == H


def test_loinc_codes_and_names_find_the_same_range():
    by_key = range_for("potassium", sex="male", age_years=50)
    assert range_for("6298-4", sex="male", age_years=50) == by_key
    assert (
        range_for("Potassium [Moles/volume] in Serum or Plasma", sex="male", age_years=50) == by_key
    )


def test_ranges_read_as_short_phrases():
    potassium = range_for("potassium", sex="male", age_years=50)
    assert potassium is not None
    assert (potassium.text(), potassium.critical_text()) == ("3.5 to 5.0 mmol/L", "< 3.0 or > 6.1")
    assert [item.text() for item in ranges_of("ldl")] == ["below 100 mg/dL"]


def test_every_range_is_cited_licensed_and_labelled():
    file = module._file()
    assert "not clinically reviewed" in range_pack().label
    used = set()
    for key, entry in file.ranges.items():
        used.update(row.source for row in entry.rows)
        for critical in (entry.critical, entry.critical_child, entry.critical_newborn):
            if critical:
                used.add(critical.source)
        for item in ranges_of(key):
            assert item.label == range_pack().label
            assert item.source or (not entry.rows and item.critical_source)
            limits = [
                x
                for x in (item.critical_low, item.low, item.high, item.critical_high)
                if x is not None
            ]
            assert limits == sorted(limits), key
    assert used == set(file.sources)
    assert all(source.cite and source.licence for source in file.sources.values())
