"""Sentences that turn what they cite, beside faithful ones in other words."""

from __future__ import annotations

from datetime import date

import pytest

from bedside.core.context import Assembly, Item
from bedside.core.turn import Verdict
from bedside.grounding import Prose, SourceText, gate_for, guardrails

_LATE = SourceText(
    "late",
    "HbA1c: 8.6 % (5 Nov 2026, final; range 4.0-5.6; high)",
    kind="record",
    dated=date(2026, 11, 5),
)
_EARLY = SourceText(
    "early",
    "HbA1c: 8.3 % (12 May 2026, final; range 4.0-5.6; high)",
    kind="record",
    dated=date(2026, 5, 12),
)
_PRESSURE = SourceText(
    "bp", "Blood pressure: systolic 152 mmHg, diastolic 84 mmHg (10 Nov 2026)", kind="record"
)
_LETTER = SourceText(
    "letter",
    "Chronic hypertension, until today on lisinopril 10 mg. I have stopped lisinopril today. "
    "Her mother had pre-eclampsia in her first pregnancy. Please give aspirin to prevent "
    "pre-eclampsia. No headache, no visual symptoms. To come at once with headache, visual "
    "symptoms or pain. Fetal growth on the 14th centile.",
)
_ZINC = SourceText(
    "zinc",
    "Use of zinc: 6 months and above: 20 mg per day for 10 days - under 6 months: 10 mg per day.",
    kind="guideline",
)
_DOSES = SourceText(
    "doses",
    "| Drug | Usual dose | Reduced dose and when |\n| --- | --- | --- |\n"
    "| Apixaban | 5 mg twice daily | 2.5 mg twice daily at age 80 or more |",
    kind="guideline",
)
_RENAL = SourceText(
    "renal",
    "| eGFR (mL/min/1.73m2) | Metformin |\n| --- | --- |\n"
    "| 30 to 44 | do not start; at most 1000 mg a day |",
    kind="guideline",
)
_ECHO = SourceText("echo", "Echocardiogram January 2024: ejection fraction 30 to 35 %.")
_NEWER = SourceText("newer", "Echocardiogram March 2026: ejection fraction 42 %.")
_LIMITS = SourceText(
    "limits",
    "At potassium above 5.5 mmol/L halve the dose; at 6.0 mmol/L or more, or an eGFR below 20, stop.",
    kind="guideline",
)
_FAMILY = SourceText(
    "letter2", "Her mother had breast cancer at 52. She herself has no known cancer. Seen today."
)
_START = SourceText(
    "start",
    "Start apixaban when the INR is below 2.0, rivaroxaban when it is 3.0 or less.",
    kind="guideline",
)
_VEIN = SourceText("vein", "He received intravenous furosemide for four days.")
_COMMA = SourceText("comma", "Befund: CRP 12,5 mg/L, Ramipril 2,5 mg.")
_ALCOHOL = SourceText("alcohol", "Less alcohol, at most 14 units a week.")
_DRINKS = SourceText("drinks", "Alcohol use: About 20 units a week (22 Sep 2026)", kind="record")
_BETTER = (
    SourceText("c1", "Creatinine: 1.41 mg/dL (14 Jul 2026; range 0.72-1.25; high)", kind="record"),
    SourceText("c2", "Creatinine: 1.66 mg/dL (3 Nov 2026; range 0.72-1.25; high)", kind="record"),
)
_COURSE = SourceText(
    "course", "Prednisolone 5 mg tablet: completed; 30 mg once daily for 5 days", kind="record"
)
_SMOKES = SourceText(
    "smokes", "Smoking status: Current every day smoker, 15 cigarettes a day", kind="record"
)
_PEPTIDE = SourceText(
    "peptide",
    "Natriuretic peptide.B prohormone N-Terminal [Mass/volume] in Serum: 2890 pg/mL",
    kind="record",
)
_POTASSIUM = SourceText(
    "k", "Potassium: 5.6 mmol/L (3 Nov 2026, final; range 3.5-5.1; high)", kind="record"
)
_TWO = SourceText(
    "two", "| Apixaban | 2.5 mg twice daily at creatinine 1.5 mg/dL (133 umol/L) or more |"
)
_LV = SourceText(
    "lv", "Normal LV systolic function. Ejection fraction estimated around 60 %. Seen."
)
_GLEASON = SourceText("gleason", "Prostate cancer, Gleason score 4+3 with 8/12 cores positive.")
_ANCEF = SourceText("ancef", "The patient did receive cefazolin prior to the procedure.")
_AGES = SourceText(
    "ages",
    "Cefuroxime: Adult 250 mg orally every 12 hours, Child: 125 mg orally every 12 hours.",
    kind="guideline",
)
_GOLD = SourceText(
    "gold",
    "| Grade | FEV1, percent of predicted |\n| --- | --- |\n| GOLD 3 | 30 to 49 |",
    kind="guideline",
)
_PRESSURES = (
    SourceText(
        "p1", "Blood pressure: systolic 144 mmHg, diastolic 92 mmHg (10 Nov 2026)", kind="record"
    ),
    SourceText(
        "p2", "Blood pressure: systolic 158 mmHg, diastolic 102 mmHg (16 Nov 2026)", kind="record"
    ),
)
_RATIOS = (
    SourceText(
        "r1",
        "Protein/Creatinine [Mass Ratio] in Urine: 280 mg/g (10 Nov 2026; range <=300)",
        kind="record",
    ),
    SourceText(
        "r2",
        "Protein/Creatinine [Mass Ratio] in Urine: 420 mg/g (16 Nov 2026; range <=300)",
        kind="record",
    ),
)
_RAISE = SourceText("raise", "Labetalol may be raised to 200 mg three times daily.")
_LDL = tuple(
    SourceText(
        day, f"Cholesterol in LDL [Mass/volume]: {value} mg/dL ({day}; range <=130)", "record"
    )
    for day, value in (("4 Aug 2019", 131), ("10 Aug 2020", 98), ("11 Aug 2021", 110))
)
_PAIN = tuple(
    SourceText(day, f"Pain severity - 0-10 rating [Score]: {value} {{score}} ({day})", "record")
    for day, value in (("4 Aug 2019", 2), ("10 Aug 2020", 7))
)
_FEVER = SourceText(
    "fever", "Adults and children over 12 years: paracetamol 500 mg every six hours.", "guideline"
)
_BY_AGE = SourceText(
    "by age",
    "| Drug | Adult dose | Child dose |\n| --- | --- | --- |\n"
    "| Isoniazid | 5 mg/kg once daily | 10 mg/kg once daily |",
    kind="guideline",
)
_PILLARS = SourceText(
    "pillars",
    "| Pillar | Start | Target |\n| --- | --- | --- |\n"
    "| Carvedilol | 3.125 mg twice daily | 25 mg twice daily |",
    kind="guideline",
)
_ECHOED = SourceText(
    "echoed", "Transthoracic echocardiography: done 16 Jan 2024 (completed)", kind="record"
)
_TITRATE = SourceText("titrate", "Allopurinol 100 mg once daily, titrate up to 300 mg once daily.")
_TESTED = SourceText("tested", "Doses of 2,5,10 mg were tried.")
_APART = SourceText(
    "apart", "Start apixaban when the INR is below 2.0. At potassium above 6.0 stop spironolactone."
)


def _gated(said: str, *slices: tuple[Item, ...]) -> Verdict:
    assembly = Assembly(
        messages=(),
        tokens=0,
        limit=100,
        layout="balanced",
        ledger=(),
        numbering={},
        shown=dict(enumerate(slices, start=1)),
        segments=(("0" * 64, 1),),
    )
    decoder = Prose()
    gate = gate_for(assembly=assembly, checks=(guardrails(asked="How is she?"),))
    gate.admit(decoder.feed(said))
    return gate.close(decoder.finish(), last=True)[0]


@pytest.mark.parametrize(
    ("said", "sources"),
    [
        ("Her HbA1c has fallen since May: 8.3 % [2], now 8.6 % [1].", [_LATE, _EARLY]),
        ("Blood pressure was 84/152 mmHg on 10 Nov 2026 [1].", [_PRESSURE]),
        ("She had pre-eclampsia in her first pregnancy [1].", [_LETTER]),
        ("She has headache and visual symptoms [1].", [_LETTER]),
        ("Lisinopril 10 mg was continued [1].", [_LETTER]),
        ("Fetal growth was on the 41st centile [1].", [_LETTER]),
        ("Children under 6 months get zinc 20 mg per day for 10 days [1].", [_ZINC]),
        ("The reduced dose of apixaban is 5 mg twice daily [1].", [_DOSES]),
        ("The ejection fraction was 42 % in January 2024 [1][2].", [_ECHO, _NEWER]),
        ("Rivaroxaban is started when the INR is below 2.0 [1].", [_START]),
        ("He received oral furosemide for four days [1].", [_VEIN]),
        ("CRP was 5 mg/L [1].", [_COMMA]),
        ("He drinks about 14 units of alcohol a week [1].", [_ALCOHOL]),
        ("Creatinine improved from 1.41 mg/dL [1] to 1.66 mg/dL [2].", list(_BETTER)),
        ("Prednisolone 30 mg once daily is active [1].", [_COURSE]),
        ("LV systolic function is reduced with an ejection fraction around 60 % [1].", [_LV]),
        ("Prostate cancer with Gleason score 3+4 and 8/12 cores positive [1].", [_GLEASON]),
        ("Cefazolin was withheld before the procedure [1].", [_ANCEF]),
        ("Cefuroxime for adults: 125 mg orally every 12 hours [1].", [_AGES]),
        (
            "Her blood pressure came down from 144/92 [1] to 158/102 mmHg [2].",
            list(_PRESSURES),
        ),
        ("Protein to creatinine ratio decreased from 280 to 420 mg/g [1][2].", list(_RATIOS)),
        ("He quit smoking; 15 cigarettes a day before [1].", [_SMOKES]),
        ("LDL rose from 98 to 131 mg/dL [1][2].", list(_LDL[:2])),
        ("LDL changed from 98 to 131 mg/dL [1][2].", list(_LDL[:2])),
        ("HbA1c fell from 8.3 % [2] to 8.6 % [1].", [_LATE, _EARLY]),
        ("LDL rose from 98 mg/dL [2] to 131 mg/dL [1].", list(_LDL[:2])),
        ("Isoniazid 10 mg/kg once daily in adults and 5 mg/kg in children [1].", [_BY_AGE]),
        ("Carvedilol 25 mg twice daily, target 3.125 mg twice daily [1].", [_PILLARS]),
        ("The usual dose was 5.10 mg [1].", [_TESTED]),
        ("If potassium is above 6.0 and the INR is below 2.0 start apixaban [1].", [_APART]),
    ],
)
def test_a_sentence_that_turns_its_source_is_refused(said: str, sources: list[SourceText]) -> None:
    assert _gated(said, *((one.item(),) for one in sources)).removed


@pytest.mark.parametrize(
    ("said", "sources"),
    [
        ("Her HbA1c has risen since May: 8.3 % [2], now 8.6 % [1].", [_LATE, _EARLY]),
        ("Blood pressure was 152/84 mmHg on 10 Nov 2026 [1].", [_PRESSURE]),
        ("Her mother had pre-eclampsia in her first pregnancy [1].", [_LETTER]),
        ("She has no headache and no visual symptoms [1].", [_LETTER]),
        ("Lisinopril was stopped [1].", [_LETTER]),
        ("Fetal growth was on the 14th centile [1].", [_LETTER]),
        ("Children under 6 months get zinc 10 mg per day [1].", [_ZINC]),
        ("The reduced dose of apixaban is 2.5 mg twice daily [1].", [_DOSES]),
        ("For an eGFR of 30 to 44: do not start metformin; at most 1000 mg a day [1].", [_RENAL]),
        ("The ejection fraction was 42 % in March 2026 [1][2].", [_ECHO, _NEWER]),
        (
            "Above a potassium of 5.5 mmol/L the dose is halved, and it is stopped at 6.0 mmol/L or more [1].",
            [_LIMITS],
        ),
        ("Her mother had breast cancer at 52; she herself has no known cancer [1].", [_FAMILY]),
        ("Rivaroxaban is started when the INR is 3.0 or less [1].", [_START]),
        ("CRP was 12.5 mg/L [1].", [_COMMA]),
        ("He drinks about 20 units of alcohol a week [1].", [_DRINKS]),
        ("Creatinine worsened from 1.41 mg/dL [1] to 1.66 mg/dL [2].", list(_BETTER)),
        ("NT-proBNP was 2,890 pg/mL [1].", [_PEPTIDE]),
        ("Potassium 5.6 mmol/L on 3 Nov 2026 is above the range of 3.5-5.1 [1].", [_POTASSIUM]),
        ("Apixaban is 2.5 mg twice daily at a creatinine of 1.5 mg/dL or more [1].", [_TWO]),
        ("LV systolic function is normal with an ejection fraction around 60 % [1].", [_LV]),
        ("Prostate cancer, Gleason 4+3, 8/12 cores positive [1].", [_GLEASON]),
        ("Cefuroxime for adults: 250 mg orally every 12 hours [1].", [_AGES]),
        ("GOLD 3 means an FEV1 of 30 to 49 percent of predicted [1].", [_GOLD]),
        ("Her blood pressure went up from 144/92 [1] to 158/102 mmHg [2].", list(_PRESSURES)),
        ("Protein to creatinine ratio increased from 280 to 420 mg/g [1][2].", list(_RATIOS)),
        ("Labetalol may go up to 200 mg three times daily [1].", [_RAISE]),
        ("Allopurinol up to 300 mg once daily [1].", [_TITRATE]),
        ("LDL fell from 131 to 98 mg/dL [1][2].", list(_LDL[:2])),
        ("Pain severity - 0-10 rating rose from 2 {score} [1] to 7 {score} [2].", list(_PAIN)),
        ("LDL fell to 98 mg/dL in 2020 [1] and was 110 mg/dL in 2021 [2].", list(_LDL[1:])),
        ("For adults paracetamol is 500 mg every six hours [1].", [_FEVER]),
        ("Isoniazid is 5 mg/kg once daily in adults and 10 mg/kg in children [1].", [_BY_AGE]),
        ("Carvedilol 3.125 mg twice daily, target 25 mg twice daily [1].", [_PILLARS]),
        ("Carvedilol is built up from 3.125 mg to the target of 25 mg [1].", [_PILLARS]),
        ("The echocardiography of 16 Jan 2024 is still the latest [1].", [_ECHOED]),
    ],
)
def test_the_faithful_one_beside_it_stands(said: str, sources: list[SourceText]) -> None:
    assert not _gated(said, *((one.item(),) for one in sources)).removed


def test_two_halves_of_a_sentence_are_placed_each_at_its_passage() -> None:
    said = "Her mother had breast cancer at 52; she herself has no known cancer [1]."
    quotes = [one.quote for one in _gated(said, (_FAMILY.item(),)).citations]
    assert quotes == ["Her mother had breast cancer at 52.", "She herself has no known cancer."]


def test_a_quote_may_cross_the_cut_between_two_slices_of_one_source() -> None:
    text = "Warfarin was stopped and apixaban 5 mg twice daily was started. Review in May."
    source, cut = SourceText("s", text), text.index("apixaban")
    said = 'Warfarin was stopped [1: "Warfarin was stopped and apixaban 5 mg twice daily"].'
    verdict = _gated(said, (source.item(0, cut), source.item(cut)))
    assert [one.quote for one in verdict.citations] == [
        "Warfarin was stopped and apixaban 5 mg twice daily"
    ]
