"""What a section of a clinical note is about, told by its title. Pure."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal

__all__ = ["SectionKind", "is_known_title", "kind_of"]

SectionKind = Literal[
    "chief_complaint",
    "present_illness",
    "past_medical",
    "past_surgical",
    "gynaecological",
    "family",
    "social",
    "history",
    "allergies",
    "medications",
    "immunizations",
    "review_of_systems",
    "vitals",
    "exam",
    "labs",
    "imaging",
    "results",
    "course",
    "procedure",
    "assessment",
    "assessment_plan",
    "plan",
    "instructions",
    "disposition",
    "system",
    "other",
]

# In order: the first pattern that is found in the plain title decides.
_KINDS: tuple[tuple[SectionKind, str], ...] = (
    ("assessment_plan", r"(assess|i?mpression|a/?p\b|diagnos)\w*\W+(and |& ?|/ ?)?(plan|recomm)|\ba ?[&/] ?p\b"),
    ("chief_complaint", r"chief|complaint|reason for (the )?(visit|consult|referral|admission|exam)|\bcc\b|presenting problem"),
    ("family", r"\bfam(ily)?\b|\bfhx?\b|\bfam/sochx\b"),
    ("social", r"social|\bshx?\b|\bsochx\b|habits|substance|occupation|lifestyle|tobacco|living situation"),
    ("gynaecological", r"\bgyn|obstetric|menstrual|\bob history|pregnancy history|\bob/gyn"),
    ("past_surgical", r"surgical (hx|history)|past ?surgical|\bpsh\b|previous surger|past procedures|operative history"),
    ("allergies", r"allerg|adverse (drug )?reaction|drug reactions|intoleranc"),
    ("immunizations", r"immuni[sz]|vaccin"),
    ("medications", r"medic(ation|ine)s?\b|\bmeds\b|\bdrugs?\b|prescriptions|injectables"),
    ("review_of_systems", r"review of (the )?system|\bros\b|systems review"),
    ("vitals", r"vital|\bvs\b"),
    ("present_illness", (r"present(ing)? ?(illness|concern|problem)|\bhpi\b|interval (history|events)|\bgenhx\b|\bsubjective\b|"
     r"history of (the )?(present|current)|clinical history|brief history|^narrative$")),
    ("past_medical", (r"past ?(medical|history|psychiatric|cardiac|ocular)|\bpmhx?\b|medical (hx|history)|pastmedicalhx|problem list|"
     r"comorbid|(chronic|active|ongoing) (problem|condition|medical)|birth history|psychiatric history|past hx")),
    ("labs", r"\blab(s|orator\w*|oratories)?\b|\blab/|blood (work|test)|microbiology|patholog|chemistr|hematology results|urinalysis|cultures"),
    ("imaging", r"imag|radiolog|x-?ray|\bmri\b|\bct\b|ultrasound|echocardiogra|\bekg\b|\becg\b|doppler|\bscan\b|mammogra"),
    ("results", r"result|diagnostic (stud|data|test)|investigation|data reviewed|\btesting\b|\bstudies\b|\btests?\b|doppler|findings"),
    ("exam", r"exam|\bpe\b|\bobjective\b|mental status"),
    ("assessment", r"assess|impression|diagnos|\bdx\b|conclusion|summary|problems?$|interpretation|axis [iv]+"),
    ("course", r"course|progress|events|\bedcourse\b"),
    ("procedure", (r"procedur|operati|surger|anesthe|anaesthe|technique|indication|blood loss|complication|specimen|drain|implant|"
     r"tourniquet|fluids|urine output|consent|surgeon|hemostasis|counts|prep(aration)?$|sedation")),
    ("plan", r"\bplan|recommend|treatment|orders?$|management|follow[- ]?up|next steps"),
    ("instructions", r"instruct|educat|counsel|activity|\bdiet\b|precautions|advice"),
    ("disposition", r"dispos|discharge|condition|prognosis|code status"),
    ("history", r"\bhistory\b|\bhx\b|other_history|background"),
    ("present_illness", r"^overview$"),
)  # fmt: skip
_SOAP: dict[str, SectionKind] = {
    "s": "present_illness",
    "o": "exam",
    "a": "assessment",
    "p": "plan",
}
_COMPILED: tuple[tuple[SectionKind, re.Pattern[str]], ...] = tuple(
    (kind, re.compile(pattern)) for kind, pattern in _KINDS
)

_SYSTEMS = (
    """abdomen;abdominal;back;cardiac;cardiovascular;cardiopulmonary;chest;constitutional;cranial nerves;cn;cv;derm;
    dermatologic;ears;endocrine;ent;extremities;extremity;eyes;gait;general;general appearance;appearance;genital;genitalia;
    genitourinary;gi;gu;gastrointestinal;head;heart;heent;hematologic;hematologic/lymphatic;hips;integumentary;lungs;lymph;
    lymphatic;lymphatics;mental status;mouth;msk;ms;motor;muscle tone;musculoskeletal;nares;neck;neuro;neurologic;
    neurological;nose;pelvic;pelvis;peripheral vascular;psych;psychiatric;pulmonary;rectal;respiratory;resp;sensory;reflexes;
    skin;spine;throat;vascular;breast;breasts;coordination;allergic/immunologic;cervical spine;lower extremities;upper extremities;
    temperature;temp;blood pressure;bp;heart rate;hr;pulse;respirations;respiratory rate;rr;weight;height;bmi;o2 saturation;oxygen saturation;
    spo2;pain;anus""".replace("\n", " ").split(";")
)  # fmt: skip
_SYSTEM_NAMES = frozenset(name.strip() for name in _SYSTEMS) | {
    "hent",
    "gi/gu",
    "cv/resp",
    "mmse",
    "lymphatic system",
    "abd",
    "ext",
}


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


# A title that is made of these words, with at least one of the heads, is a usual one.
_HEADS = _set(
    """complaint complaints cc hpi history histories hx pmh pmhx psh fh fhx sh shx shx ros medications medication meds medicines
    allergies allergy immunizations immunisations vaccinations exam examination vitals signs labs laboratory laboratories lab imaging radiology
    results findings assessment impression impressions plan recommendations recommendation diagnosis diagnoses dx problems problem
    procedure procedures operation operations surgery anesthesia anaesthesia complications drains specimen specimens technique indication indications
    comparison conclusion conclusions course disposition condition instructions follow-up followup subjective objective summary
    narrative consultations consultation studies data tests testing investigations visit consult referral admission discharge treatment
    description prognosis addendum comment comments fluids loss ekg ecg x-ray x-rays ct mri ultrasound pathology implants implant
    counseling education background overview objective habits precautions diet activity position estimated output counts
    genhx sochx pastmedicalhx pastsurgical edcourse gynhx other_history fam/sochx title details detail note
    reason status list reactions events interpretation orders systems axis time"""
)  # fmt: skip
_MODIFIERS = _set(
    """a about active acute additional admitting admission after all and any appearance appliances at back birth blood brief
    cardiac care chief chronic clinical current daily day developmental diagnostic discharge done drug drugs during ed emergency
    department estimated exercise family final findings follow follow-up up followup for from general given gross gyn gynecologic
    gynaecological head health home hospital hospitalization illness illnesses immediate in infusion inpatient interim interval
    intraoperative intravenous initial iv known laboratory list living main medical medicine medication medications menstrual mental name
    neurological new obstetric of ob on operating operation operative other outpatient overall pain past patient personal pertinent
    physical planned post postop post-op postoperative post-operative pre preop pre-op preoperative pre-operative prescribed present
    presenting previous primary principal prior problem problems procedure procedures psychiatric psychosocial radiographic reason received
    recent relevant review reviewed room secondary sexual situation social source specimen stated status studies study surgical symptoms
    system systems tests the time to tolerance total treatment upon urine used visit vital with work working es performed &
    allergies drug sick contacts hospitalizations surgeries substance abuse tobacco alcohol use occupational travel dental ocular
    skin prep preparation tubes devices device tourniquet sponge needle count surgeon assistant surgeons attending history exam
    disposition planning diagnosis diagnoses condition i ii iii iv v delivery"""
)  # fmt: skip
_SPLIT = re.compile(r"[\s/,&()+–-]+")
_A_P = re.compile(r"a ?[/&] ?p")
_ALONE = frozenset({"reason", "status", "list", "note", "details", "detail", "signs", "loss", "output",
                    "counts", "estimated", "position", "problem", "data", "visit", "events", "orders",
                    "surgery", "comment", "title", "objective data", "description", "condition",
                    "complaint", "studies", "tests", "ct", "sh", "fh", "reactions", "admission",
                    "testing", "diet", "activity", "treatment", "discharge", "background", "consult",
                    "referral", "systems", "axis", "time", "complaints", "habits", "education", "counseling", "interpretation"})  # fmt: skip


def kind_of(title: str) -> SectionKind:
    """What a section with this title holds; "other" where the title does not tell.

    "system" is a body system or one vital sign: a part of an examination or a review of systems.
    """
    return _kind(" ".join(title.lower().replace("’", "'").split()).strip(" :.-"))


@lru_cache(maxsize=4_096)
def _kind(plain: str) -> SectionKind:
    if plain in _SOAP:
        return _SOAP[plain]
    if plain in _SYSTEM_NAMES or all(
        part in _SYSTEM_NAMES for part in re.split(r" ?(?:/|&|,|\band\b) ?", plain)
    ):
        return "system"
    for kind, pattern in _COMPILED:
        if pattern.search(plain):
            return kind
    return "other"


def is_known_title(title: str, *, alone: bool = False) -> bool:
    """Is it one of the usual titles of clinical notes, in any spelling of capitals?

    Args:
        title: Without its colon.
        alone: True where nothing but the words themselves mark it (no colon): then single words
            that are common in running text do not count.
    """
    plain = " ".join(title.lower().replace("’", "'").split()).strip(" :.-")
    if alone and plain in _ALONE:
        return False
    words = [word for word in _SPLIT.split(plain) if word]
    if not words or plain in _SYSTEM_NAMES:
        return bool(words) and not alone
    whole = plain in _HEADS or _A_P.fullmatch(plain) is not None
    return whole or (
        any(word in _HEADS for word in words)
        and all(word in _HEADS or word in _MODIFIERS for word in words)
    )
