"""Hand-written paraphrases, right and wrong, each against the sentence that it cites."""

from __future__ import annotations

import pytest

from bedside.grounding import evaluate_note

RIGHT = [
    ("He denies any chest pain or shortness of breath.", "No chest pain."),
    ("He denies any chest pain or shortness of breath.", "Denies dyspnea and chest pain."),
    ("The patient has not had any fever.", "No fever."),
    ("She has been taking metformin 500 mg twice daily.", "Metformin 500 mg BID."),
    ("She has been taking metformin 500 mg twice daily.", "Takes metformin 500 mg two times a day"),
    ("Lisinopril 20 mg once daily was continued.", "Continue lisinopril 20 mg daily."),
    ("We will increase Lasix to 80 mg daily.", "Increase furosemide to 80 mg daily."),
    ("Blood pressure is 122/70 mmHg.", "BP 122/70 mmHg"),
    ("Her mother died of breast cancer at the age of 52.", "Mother: breast cancer, died at 52."),
    ("Family history is significant for diabetes in her father.", "Father with diabetes."),
    ("Left knee with full range of motion.", "Full range of motion in the left knee."),
    ("There is mild swelling of the right ankle and foot.", "Right ankle swelling, mild"),
    ("Rales are heard at both bases of the lungs.", "Bilateral basal rales of the lungs."),
    ("She underwent cholecystectomy in March 2019.", "Cholecystectomy 03/2019"),
    ("He was admitted on July 4, 2021 for pneumonia.", "Admitted 7/4/2021 with pneumonia"),
    ("He smoked one pack per day for 20 years and quit in 2005.", "Former smoker: quit in 2005."),
    ("Hemoglobin A1c was 8.2 %, up from 7.4 %.", "HbA1c 8.2 % (was 7.4 %)"),
    ("Creatinine is 1.4 mg/dL.", "Creatinine 1.4 mg/dL"),
    ("Echocardiogram demonstrates an ejection fraction of 45%.", "Echo: EF 45%"),
    ("X-ray of the chest shows no acute abnormality.", "Chest X-ray without acute abnormality"),
    ("He has no known drug allergies.", "NKDA"),
    ("She is allergic to penicillin, which causes a rash.", "Penicillin allergy (rash)"),
    ("The patient reports fatigue and lightheadedness for about 5 weeks.", "Fatigue for about 5 weeks"),
    ("Follow up in three months.", "Follow-up in 3 months"),
    ("I will refer her to physical therapy.", "Referral to physical therapy"),
    ("Wife states that the patient snores at night.", "Snores at night"),
    ("He is a 58-year-old male with hypertension.", "58-year-old man with hypertension"),
    ("No ecchymosis or edema of the right knee.", "Right knee: no edema"),
    ("Her symptoms do not interfere with daily activities.", "Symptoms do not limit daily activities"),
    ("Take half a tablet of warfarin in the evening.", "Warfarin 0.5 tablet in the evening"),
    ("Temperature 98.2 degrees F, heart rate 72 bpm.", "Heart rate 72 bpm"),
    ("Patient quit smoking ten years ago.", "Quit smoking 10 years ago"),
    ("Strength is 5/5 in the left upper extremity.", "Left arm strength 5/5 (upper extremity)"),
    ("Pupils are equal and reactive to light.", "Pupils equal, reactive to light"),
    ("She had a negative stress test.", "Stress test negative"),
    ("He does not use a cane.", "No cane used"),
    ("Symptoms have resolved.", "No longer has symptoms"),
    ("Lungs are clear to auscultation bilaterally.", "Lungs clear bilaterally, no wheeze"),
    ("The patient is afebrile.", "Afebrile"),
    ("Start meloxicam 15 mg once daily for arthritis.", "Meloxicam 15 mg once a day for arthritis"),
    ("He reports cough but denies fever.", "Cough"),
    ("He reports cough but denies fever.", "No fever; cough present"),
    ("No increase in pain since the last visit.", "No increase in pain"),
    ("Her hypertension is well controlled.", "Hypertension, well controlled"),
    ("Continue lisinopril; stop ibuprofen.", "Stop ibuprofen"),
    ("The patient will continue her current dose of Synthroid.", "Continue levothyroxine at the current dose"),
    ("He has type 2 diabetes mellitus.", "T2DM"),
    ("He takes Tylenol as needed.", "Acetaminophen PRN"),
    ("Patient's daughter reports that he has been confused.", "Confused according to his daughter"),
    ("Weight is down 14 pounds from last year.", "Weight down 14 lb from last year"),
    ("MRI of the left shoulder dated 05/12/2020 shows a rotator cuff tear.", "Rotator cuff tear of the left shoulder on MRI, 12 May 2020"),
    ("I recommended that she avoid NSAIDs.", "Avoid NSAIDs"),
]  # fmt: skip
WRONG = [
    ("He denies any chest pain or shortness of breath.", "Reports chest pain.", "negation"),
    ("He denies any chest pain or shortness of breath.", "Chest pain and shortness of breath.", "negation"),
    ("She reports nausea after meals.", "Denies nausea after meals.", "negation"),
    ("She reports nausea after meals.", "No nausea.", "negation"),
    ("There is no evidence of fracture.", "Fracture.", "negation"),
    ("There is no evidence of fracture.", "X-ray shows evidence of fracture.", "negation"),
    ("He was not started on insulin.", "Started on insulin.", "negation"),
    ("The wound is without drainage.", "Wound with drainage.", "negation"),
    ("Negative for influenza.", "Positive for influenza.", "negation"),
    ("She has been taking metformin 500 mg twice daily.", "Metformin 5000 mg BID.", "doses"),
    ("She has been taking metformin 500 mg twice daily.", "Metformin 500 mcg BID.", "units"),
    ("She has been taking metformin 500 mg twice daily.", "Metformin 500 mg daily.", "doses"),
    ("She has been taking metformin 500 mg twice daily.", "Metformin 500 mg three times a day.", "doses"),
    ("She has been taking metformin 500 mg twice daily.", "Glipizide 500 mg twice daily.", "medicines"),
    ("Levothyroxine 50 mcg daily.", "Levothyroxine 50 mg daily.", "units"),
    ("Digoxin 0.125 mg daily.", "Digoxin 1.25 mg daily.", "doses"),
    ("Take half a tablet of warfarin in the evening.", "Warfarin one tablet in the evening", "doses"),
    ("Amlodipine 5 mg and lisinopril 20 mg daily.", "Amlodipine 20 mg daily.", "doses"),
    ("Left knee with full range of motion.", "Full range of motion in the right knee.", "laterality"),
    ("Left knee with full range of motion.", "Both knees with full range of motion.", "laterality"),
    ("Pain in the right shoulder and the left hip.", "Pain in the left shoulder.", "laterality"),
    ("Numbness of the right hand.", "L hand numbness.", "laterality"),
    ("Her mother died of breast cancer at the age of 52.", "Breast cancer.", "subject"),
    ("Her mother died of breast cancer at the age of 52.", "The patient has breast cancer.", "subject"),
    ("Her mother had a stroke.", "Her father had a stroke.", "subject"),
    ("His brother has schizophrenia.", "He has schizophrenia.", "subject"),
    ("She underwent cholecystectomy in March 2019.", "Cholecystectomy in March 2018.", "dates"),
    ("She underwent cholecystectomy in March 2019.", "Cholecystectomy in May 2019.", "dates"),
    ("He was admitted on July 4, 2021 for pneumonia.", "Admitted 7/5/2021 with pneumonia", "dates"),
    ("Return to clinic on Monday.", "Return to clinic on Tuesday.", "dates"),
    ("Blood pressure is 122/70 mmHg.", "Blood pressure 127/70 mmHg.", "numbers"),
    ("Hemoglobin A1c was 8.2 %.", "Hemoglobin A1c was 2.8 %.", "numbers"),
    ("Creatinine is 1.4 mg/dL.", "Creatinine 1.4 mmol/L", "units"),
    ("Follow up in three months.", "Follow-up in three weeks.", "units"),
    ("Follow up in three months.", "Follow-up in 2 months", "numbers"),
    ("He smoked one pack per day for 20 years.", "Smoked two packs per day for 20 years.", "numbers"),
    ("He is a 58-year-old male with hypertension.", "85-year-old man with hypertension", "numbers"),
    ("Follow up in three months.", "Needs urgent dialysis.", "support"),
    ("He is a 58-year-old male with hypertension.", "Known aortic aneurysm under surveillance.", "support"),
    ("He reports cough but denies fever.", "Fever and cough.", "negation"),
    ("He reports cough but denies fever.", "No cough.", "negation"),
    ("Increase Lasix to 80 mg daily.", "Decrease Lasix to 80 mg daily.", "negation"),
    ("Stop ibuprofen.", "Start ibuprofen.", "negation"),
    ("Labs show hyperkalemia.", "Labs show hypokalemia.", "negation"),
    ("Biopsy was benign.", "Biopsy was malignant.", "negation"),
    ("His symptoms have improved.", "His symptoms have worsened.", "negation"),
    ("Patient was advised to avoid NSAIDs.", "Advised to take NSAIDs.", "negation"),
    ("Amlodipine 5 mg and lisinopril 20 mg daily.", "Lisinopril 5 mg daily.", "doses"),
    ("Tylenol 500 mg every 6 hours as needed.", "Tylenol 500 mg every 4 hours as needed.", "doses"),
    ("Insulin glargine 10 units at night.", "Insulin glargine 100 units at night.", "doses"),
    ("She has two children.", "She has three children.", "numbers"),
    ("Maternal grandmother with colon cancer.", "Colon cancer.", "subject"),
    ("Potassium 4.4, sodium 138.", "Potassium 138.", "numbers"),
    ("Pupils are equal and reactive to light.", "Seizure disorder on levetiracetam.", "medicines"),
]  # fmt: skip


def kinds(written: str, said: str) -> set[str]:
    before = "He lives alone.\n\n"
    note = f"HISTORY\n\n{before}{written}\n\nEXAM\n\nAlert and oriented."
    start = note.index(written)
    item = {"text": said, "source": {"start": start, "end": start + len(written)}}
    (row,) = evaluate_note([item], note=note).items
    return {one.kind for one in row.findings}


@pytest.mark.parametrize(("written", "said"), RIGHT)
def test_a_right_paraphrase_raises_no_finding(written: str, said: str) -> None:
    assert kinds(written, said) == set()


@pytest.mark.requirement("NO-08")
@pytest.mark.parametrize(("written", "said", "kind"), WRONG)
def test_a_wrong_paraphrase_raises_its_finding(written: str, said: str, kind: str) -> None:
    assert kind in kinds(written, said)


@pytest.mark.requirement("NO-08")
def test_a_whole_turn_of_this_package_is_read_by_its_summary_and_recommendations_alone():
    note = "ASSESSMENT\n\nStable angina.\n\nPLAN\n\nStart aspirin 81 mg daily.\n"
    at, order = note.index("Stable"), note.index("Start")
    item = {
        "text": "Stable angina.",
        "source": f"ASSESSMENT section, chunk_0:{at}-{at + 14}",
    }
    advice = {
        "number": 1,
        "recommendation": "Start aspirin 81 mg daily.",
        "source": f"PLAN section, chunk_1:{order}-{order + 26}",
    }
    turn = {
        "turn_id": "t1",
        "flow": "notes",
        "answer": "Stable angina [1].",
        "summary": {"assessment": [item]},
        "plan": {"intent": "note_summary", "queries": ["a query"], "recommendations": [advice]},
        "claims": [{"text": "Stable angina", "basis": "record", "citations": [1]}],
        "citations": [{"n": 1, "quote": "Stable angina."}],
        "removed": [{"claim": "Unstable angina", "why": "no_support"}],
    }
    found = evaluate_note(turn, note=note)
    texts = [one.item.text for one in found.items]
    assert texts == ["Stable angina.", "Start aspirin 81 mg daily."]
    claims = {key: turn[key] for key in ("turn_id", "flow", "claims", "answer")}
    assert evaluate_note(claims, note=note).items == ()
