"""Statements of absence against what was shown: a table of false ones and of true ones."""

from __future__ import annotations

from datetime import date

import pytest

from bedside.core.context import Item
from bedside.core.ids import SourceId
from bedside.core.source import Source, Span
from bedside.core.turn import Quote
from bedside.grounding.examine import Examined, Examiner, Unit
from bedside.grounding.guardrails import Policy
from bedside.grounding.shown import Shown

_ROWS = (
    (
        "record",
        "allergies",
        (
            "Penicillin: allergy, active, confirmed; criticality high; reaction: An"
            "aphylaxis; recorded 11 Aug 1996"
        ),
        "1996-08-11",
    ),
    (
        "record",
        "observations",
        (
            "Potassium [Moles/volume] in Serum or Plasma: 5.1 mmol/L (5 Nov 2026, f"
            "inal; range 3.5-5.1)"
        ),
        "2026-11-05",
    ),
    (
        "record",
        "observations",
        "Hemoglobin A1c/Hemoglobin.total in Blood: 8.2 % (2 Nov 2024, final)",
        "2024-11-02",
    ),
    (
        "record",
        "observations",
        "Creatinine: 1.4 mg/dL (5 Nov 2026, final)",
        "2026-11-05",
    ),
    (
        "record",
        "observations",
        "Blood pressure: 148/92 mmHg (5 Nov 2026)",
        "2026-11-05",
    ),
    (
        "record",
        "medications",
        (
            "Metformin 1000 mg oral tablet: active, ordered 12 Mar 2019; 1000 mg tw"
            "ice daily with meals; for Type 2 diabetes"
        ),
        "2019-03-12",
    ),
    (
        "record",
        "medications",
        "Warfarin 5 mg oral tablet: active, ordered 1 Feb 2020",
        "2020-02-01",
    ),
    (
        "record",
        "conditions",
        "Type 2 diabetes mellitus: active, confirmed, since 2011",
        "2011-01-01",
    ),
    (
        "record",
        "conditions",
        "Atrial fibrillation: active, confirmed, since 3 Mar 2018",
        "2018-03-03",
    ),
    (
        "record",
        "conditions",
        "Asthma: resolved 2001",
        "2001-01-01",
    ),
    (
        "record",
        "procedures",
        "Appendectomy: completed 14 Jun 2009",
        "2009-06-14",
    ),
    (
        "document",
        "Letter > Findings",
        (
            "Echocardiogram showed an ejection fraction of 45 %. Family history: mo"
            "ther had breast cancer. Denies chest pain. No history of stroke. Left "
            "knee swollen. Reports night sweats. Lipid panel not done. Former smoke"
            "r, 20 pack-years. Magnesium was not measured."
        ),
        "2026-05-12",
    ),
)
FALSE = """
Potassium was not measured.
No potassium on record.
No potassium is recorded.
There is no potassium on file.
The potassium level has not been checked.
Potassium was never measured.
The record does not contain a potassium.
The record contains no potassium.
No record of potassium.
There is no record of a potassium result.
Potassium is not documented.
Potassium is not available.
Potassium: not recorded.
Not found in the record: potassium.
Potassium is missing from the record.
Potassium is unknown.
Serum potassium was not tested.
No potassium was found in the record.
No potassium since January 2026 is recorded.
No potassium in 2026 is recorded.
No HbA1c is recorded.
HbA1c was not measured.
HbA1c is not on record.
Glycated haemoglobin is not documented.
No HbA1c in 2024 is recorded.
No HbA1c above 8 is recorded.
No creatinine or ferritin is recorded.
Creatinine and ferritin were not measured.
No blood pressure is recorded.
Blood pressure has not been documented.
No metformin is recorded.
Metformin is not listed.
Metformin is not on the medication list.
The record does not mention metformin.
No dose of metformin is recorded.
The dose of metformin is not documented.
No warfarin on record.
The sources do not list warfarin.
No history of diabetes.
There is no history of diabetes.
She has no history of type 2 diabetes.
No history of atrial fibrillation is documented.
Atrial fibrillation is not documented.
There is no record of atrial fibrillation.
No known history of atrial fibrillation.
No history of asthma.
Asthma is not recorded.
No appendectomy is recorded.
No history of appendectomy.
Appendectomy is not mentioned in the record.
No echocardiogram is on record.
Echocardiogram was not done.
Ejection fraction is not documented.
The ejection fraction was not measured.
No allergies are recorded.
No allergy is documented.
Allergies are not documented.
No drug allergies are on file.
No penicillin allergy is recorded.
No allergy to penicillin is documented.
No family history of breast cancer is recorded.
The record does not mention night sweats.
Night sweats are not documented.
No record of a swollen left knee.
Potassium wasn't measured.
I could not find a potassium.
Nothing about warfarin is recorded.
No medications are recorded.
No medicines are on record.
No problems are recorded.
No procedures are recorded.
HbA1c, potassium and ferritin are not recorded.
The potassium was not done, and no ferritin is on record.
The patient has no history of diabetes, and no ferritin is on record.
""".strip().split("\n")
TRUE = """
Ferritin was not measured.
No ferritin on record.
No ferritin is recorded.
There is no ferritin on file.
The ferritin level has not been checked.
Ferritin was never measured.
The record does not contain a ferritin.
The record contains no TSH.
No record of vitamin B12.
There is no record of a TSH result.
TSH is not documented.
TSH is not available.
Ferritin: not recorded.
Not found in the record: ferritin.
Not found in the record: brain MRI.
Sodium is missing from the record.
Sodium is unknown.
Serum sodium was not tested.
No sodium was found in the record.
Magnesium was not measured.
No magnesium is recorded.
Magnesium is not on record.
No lipid panel is recorded.
A lipid panel was not done.
No potassium before 2020 is recorded.
No potassium in 2019 is recorded.
No HbA1c since 2025 is recorded.
No HbA1c in 2026 is recorded.
No HbA1c above 9 is recorded.
No repeat HbA1c is recorded.
No further potassium is recorded.
No potassium above 6 is recorded.
No lisinopril is recorded.
Lisinopril is not listed.
Insulin is not on the medication list.
The record does not mention amiodarone.
No aspirin on record.
The sources do not list aspirin.
No history of stroke.
There is no history of stroke.
She has no history of stroke.
No history of epilepsy is documented.
Epilepsy is not documented.
There is no record of heart failure.
No known history of heart failure.
No history of breast cancer.
Chest pain is not documented.
No chest pain is recorded.
No colonoscopy is recorded.
No history of cholecystectomy.
A colonoscopy is not mentioned in the record.
No spirometry is on record.
Spirometry was not done.
No sulfa allergy is recorded.
No allergy to latex is documented.
No penicillin level is recorded.
No metformin allergy is recorded.
No family history of colon cancer is recorded.
The record does not mention weight loss.
Weight loss is not documented.
No record of a swollen right knee.
Ferritin wasn't measured.
I could not find a ferritin.
Nothing about amiodarone is recorded.
No immunizations are recorded.
No interaction between warfarin and metformin is documented.
No reason for metformin is recorded.
TSH, sodium and ferritin are not recorded.
No dose of warfarin above 10 mg is recorded.
No follow-up echocardiogram is recorded.
No recent potassium is recorded.
No genetic test is recorded.
No penicillin is on the medication list.
No ferritin is recorded, so iron stores cannot be judged.
""".strip().split("\n")


def shown() -> Shown:
    sources: dict[int, tuple[Item, ...]] = {}
    for n, (kind, section, text, day) in enumerate(_ROWS, start=1):
        source = Source(
            id=SourceId(f"s{n}"),
            revision=1,
            kind="record" if kind == "record" else "document",
            title=f"Source {n}",
            section=section,
            dated=date.fromisoformat(day),
        )
        span = Span(source=source, start=0, end=len(text))
        sources[n] = (Item(text, key=f"s{n}", span=span),)
    asked = "Any HbA1c above 8 or above 9, potassium above 6, warfarin above 10 mg?"
    return Shown(sources, asked=asked)


def examine(text: str, quotes: tuple[Quote, ...] = ()) -> Examined:
    return Examiner(shown(), Policy()).examine(Unit(text=text, start=0, quotes=quotes))


def test_the_table_has_sixty_cases_each_way() -> None:
    assert len(set(FALSE)) >= 60
    assert len(set(TRUE)) >= 60


@pytest.mark.requirement("EN-G2")
@pytest.mark.parametrize("said", FALSE)
def test_a_false_absence_is_removed(said: str) -> None:
    found = examine(said)
    assert not found.kept
    assert found.why == "contradicts_source"


@pytest.mark.requirement("EN-G2")
@pytest.mark.parametrize("said", TRUE)
def test_a_true_absence_may_be_said(said: str) -> None:
    assert examine(said).kept


@pytest.mark.parametrize(
    "said",
    [
        "Potassium was not measured [2].",
        "No potassium on record [2].",
        "Potassium was not measured [4].",
        "No history of type 2 diabetes [8].",
        "The dose of metformin is not documented [6].",
    ],
)
def test_a_citation_does_not_save_a_false_absence(said: str) -> None:
    assert not examine(said).kept


@pytest.mark.parametrize(
    "said",
    [
        "Magnesium was not measured [12].",
        "A lipid panel was not done [12].",
        "There is no history of stroke [12].",
    ],
)
def test_an_absence_that_the_cited_source_states_is_kept(said: str) -> None:
    assert examine(said).kept


@pytest.mark.parametrize(
    "said",
    [
        "No ferritin is recorded, but potassium is 5.1 mmol/L.",
        "No ferritin is recorded, and insulin was started.",
        "Ferritin was not measured; amiodarone was stopped.",
    ],
)
def test_a_claim_that_rides_on_an_absence_still_needs_a_citation(said: str) -> None:
    assert not examine(said).kept
