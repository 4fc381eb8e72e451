"""Names of people in clinical text, told by what stands beside them. Pure.

A name cannot be known by its shape. These are the places where notes write one: after a title or a
label, before an age or a degree, beside a relative's word. Once found, a name is found wherever it
stands in that text. What is missed here is only what nobody named: the record's own names always go.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from bedside.clinical.drugs import generic_of
from bedside.models.given_names import GIVEN

__all__ = ["people"]

_CAP = (
    r"(?<!\w)(?:[OD]['’][A-Z][a-z]+|[A-ZÀ-ÖØ-ÞĀ-Ž](?=[^\W\d_]*[a-zà-öø-ÿā-ž])[^\W\d_]+)"
    r"(?:['’-](?!s\b)[^\W\d_]+)*(?!\w)"
)
_INITIAL = r"(?:[A-Z]\.)"
_PARTICLE = r"(?:van|von|der|den|de|del|della|la|le|da|dos|das|di|bin|binti|ibn|al|el|ter|ten)"
_NAME = rf"(?:{_INITIAL} ?)*{_CAP}(?:[ \t]+(?:{_PARTICLE}[ \t]+)*(?:{_INITIAL}|{_CAP}))" + "{0,3}"
_FULL = rf"(?:{_INITIAL} ?)*{_CAP}(?:[ \t]+(?:{_PARTICLE}[ \t]+)*(?:{_INITIAL}|{_CAP}))" + "{1,3}"
_UPPER = r"[A-Z][A-Z'’-]{2,}(?:[ \t]+[A-Z][A-Z'’-]*\.?){0,3}"
_TITLE = (
    r"(?:Mr|Mrs|Ms|Mx|Miss|Master|Dr|Drs|Doctor|Prof|Professor|Nurse|Rev|Reverend|Sir|Dame|Lady|Fr|Sgt|Capt|Lt|Col|"
    r"MR|MRS|MS|DR|Shri|Smt|Sri|Señora?|Sra?|Herr|Frau|Monsieur|Madame|Mme)"
)
_LABEL = (
    r"(?i:patient(?:['’]s)?(?: full)? name|patient|name|full name|first name|last name|surname|given name|pt|client|attending|physician|provider|"
    r"surgeon|assistant|anesthesiologist|anaesthetist|consultant|clinician|pcp|gp|primary care (?:physician|provider)|referring (?:physician|provider)|"
    r"next of kin|nok|emergency contact|contact person|contact|guardian|carer|caregiver|informant|interpreter|mother|father|spouse|partner|wife|husband|"
    r"dictated by|transcribed by|signed(?: by)?|electronically signed(?: by)?|authored by|author|seen by|examined by|reviewed by|prepared by|reported by|"
    r"witness(?:ed by)?|cc|re|employer contact|insured|subscriber|policy ?holder|guarantor|account holder|donor|nurse|midwife)"
)
_KIN = (
    r"(?i:mother|father|mom|mum|dad|sister|brother|son|daughter|wife|husband|spouse|partner|fianc[eé]e?|girlfriend|boyfriend|aunt|uncle|cousin|niece|"
    r"nephew|grand(?:mother|father|son|daughter)|friend|neighbou?r|roommate|carer|caregiver|guardian|colleague|employer|landlord|teacher|therapist|"
    r"cardiologist|neurologist|oncologist|surgeon|dentist|psychiatrist|counsell?or|midwife|nurse)"
)
_DEGREE = r"(?:M\.?D\.?|D\.?O\.?|R\.?N\.?|N\.?P\.?|P\.?A\.?(?:-C)?|Ph\.?D\.?|MBBS|FRCS|FRCP|MRCP|FACS|FACC|DPM|DDS|LCSW|CRNA|CNM|PharmD|MSN|FNP(?:-[A-Z]+)?|BSN|DNP|OD|PT|OT)"
_PLACES: tuple[re.Pattern[str], ...] = (
    re.compile(rf"\b{_TITLE}\.?[ \t]+(?P<name>(?:{_PARTICLE}[ \t]+){{0,2}}{_NAME}|{_UPPER})"),
    re.compile(rf"(?<![\w]){_LABEL}[ \t]*[:=][ \t]*(?:{_TITLE}\.?[ \t]+)?(?P<name>{_CAP},[ \t]*{_NAME}|{_NAME}|{_UPPER}(?:,[ \t]*{_UPPER})?)"),
    re.compile(
        rf"(?P<name>{_FULL})(?:,)?[ \t]+(?:is|was|presents|returns|comes|a|an)\b[^.\n]{{0,30}}?"
        r"\b\d{1,3}[ \t-]*(?:year|yr|y/?o|month|week|day)"
    ),
    re.compile(rf"(?P<name>{_NAME})(?:,)?[ \t]+(?:is|was)[ \t]+(?:a|an)[ \t][^.\n]{{0,30}}?\b\d{{1,3}}[ \t-]*(?:year|yr|y/?o|month|week|day)"),
    re.compile(rf"(?P<name>{_FULL}),?[ \t]*\(?\d{{1,3}}[ \t]?(?:yo|y/o|yrs?|years?|[MF])\b"),
    re.compile(rf"(?P<name>{_FULL}),[ \t]*{_DEGREE}(?![\w])"),
    re.compile(rf"\b{_KIN}(?:,| named| called| is| \()?[ \t]*(?P<name>{_NAME})(?![\w]*[ \t]+(?i:disease|syndrome|sign|test|criteria|score))"),
    re.compile(
        r"\b(?i:named|called|known as|goes by|my name is|name is|i am|i['’]m|this is|spoke (?:with|to)|discussed (?:this )?with|accompanied by|"
        r"lives with|met with|referred (?:by|to)|seen by|under the care of|care of|attn:?|dear|signed,?|sincerely,?|regards,?|love,?|hi|hello|hey|thanks,?)[ \t\n]+"
        rf"(?:{_TITLE}\.?[ \t]+)?(?P<name>{_NAME})"
    ),
    re.compile(rf"(?:\A|\n)[ \t]*(?P<name>{_CAP},[ \t]+{_CAP}(?:[ \t]+(?:{_INITIAL}|{_CAP}))?)[ \t]*(?=\n|\Z|\d|DOB|MRN|\()"),
    re.compile(rf"(?P<name>{_NAME})['’]s[ \t]+(?i:mother|father|wife|husband|son|daughter|date of birth|dob|mrn|phone|address|email|chart|records?)\b"),
    re.compile(rf"(?P<name>{_FULL})[ \t]*[,(;-]?[ \t]*(?:DOB|D\.O\.B|MRN|SSN|born|ID)\b"),
)  # fmt: skip


_LOWER = re.compile(
    r"\b(?:mr|mrs|ms|miss|dr)\.?[ \t]+(?P<a>[a-zà-ž]{3,}(?:['’-][a-zà-ž]+)?)\b(?!\s*[:=])"
    r"|\bmy name(?:['’]s| is)[ \t]+(?P<b>[^\W\d_A-Z]{3,})\b"
)
"""Names in text that was written down without capitals, as conversations are."""
_ABOVE_ADDRESS = re.compile(
    rf"(?:\A|\n)[>? \t]*(?P<name>{_FULL})[ \t]*\n(?:[^\n]{{0,60}}\n){{0,3}}?[>? \t]*\d{{3,6}}[ \t]+[A-Z][^\n]{{2,60}}(?:\n|,)"
)
_NO_LOWER = frozenset(
    (
        "said", "says", "told", "thinks", "recommended", "recommends", "wants", "wanted", "ordered", "started", "did", "does", "just", "kind",
        "who", "visit", "visits", "appointment", "office", "tomorrow", "soon", "uh", "right", "okay", "something", "somebody", "know",
    )
)  # fmt: skip


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_PAIR = re.compile(rf"(?<![\w.-]){_FULL}")
_NOT_NAMES = _set(
    """the a an and or of in on at to for from with by is was are were be been he she it they we you i his her their our my this that these those
    no not none negative positive normal abnormal denies reports presents states has have had will would can may should if when then there here
    patient patients doctor nurse hospital clinic center centre medical department emergency room service services university street avenue road
    january february march april may june july august september october november december monday tuesday wednesday thursday friday saturday sunday
    today tomorrow yesterday history present past illness family social surgical physical exam examination assessment plan impression diagnosis diagnoses
    medications medication allergies allergy review systems vital signs labs laboratory results imaging findings procedure procedures chief complaint
    blood pressure heart rate temperature respiratory pulse oxygen saturation weight height general neck chest abdomen skin neurologic neurological
    cardiovascular gastrointestinal musculoskeletal genitourinary psychiatric extremities lungs head eyes ears nose throat back continue start stop
    follow return please see call take given also however additionally additional upon after before during while since due because therefore right left bilateral
    alert oriented awake well stable unknown unremarkable noted reviewed discussed recommended male female man woman boy girl child infant adult year old
    white black hispanic asian african american caucasian european indian native english spanish french german chinese type stage grade class level
    group primary secondary acute chronic mild moderate severe medicine surgery cardiology neurology oncology radiology pathology pharmacy care unit
    intensive outpatient inpatient date name number address phone email age sex gender race status record records report note notes summary information
    source sources text data items item context question answer system use do give write only never always what who how which where why yes other others
    hypertension diabetes asthma cancer pneumonia copd anxiety depression pain cough fever cold flu covid hiv aids mri ct ekg ecg cbc bmp cmp
    social security medicare medicaid insurance state county city country united states kingdom america england god christmas easter
    high low new next last first second third one two three four five six seven eight nine ten none bilaterally self spouse mother father brother sister
    son daughter wife husband aunt uncle parents parent siblings both either all each every dr mr mrs ms mx miss prof jaundice haemoglobin hemoglobin pediatric paediatric provide some any many most several few much"""
)  # fmt: skip
_EPONYMS = _set(
    """addison alzheimer babinski baker barrett bell bence bishop bowen brown bruton burkitt charcot colles crohn cushing doppler down dupuytren ehlers
    ewing fallot fanconi foley gaucher gilbert gleason glasgow gram graves guillain hashimoto heberden heimlich hirschsprung hodgkin horner huntington
    jones kaposi kawasaki kernig korsakoff lachman lyme marfan mcburney mcmurray meniere murphy ortolani osgood paget pap parkinson phalen raynaud reiter
    reye romberg schober sjogren spurling tinel tourette trendelenburg turner valsalva virchow weber wegener wernicke whipple wilson young long short grey
    gray green rose hill bird day power price stone may april june august rich sharp hand foot head march summer love hope grace faith joy ward"""
)  # fmt: skip
_SURNAMES = _set("white black english french german may march day price christmas king hall")
"""Words that are surnames, too: kept behind a first name."""
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_SHORTEST = 3
_PARTICLES = frozenset(
    ("van", "von", "der", "den", "de", "del", "della", "la", "le", "da", "dos", "das", "di", "bin", "binti", "ibn", "al", "el", "ter", "ten", "jr", "sr")
)  # fmt: skip


def people(text: str) -> list[tuple[int, int]]:
    """Where people are named, in order, not overlapping; without titles and labels."""
    found: set[tuple[int, int]] = set()
    whole: set[str] = set()
    parts: set[str] = set()
    for place in _PLACES:
        for match in place.finditer(text):
            for start, end in _kept(text, *match.span("name")):
                found.add((start, end))
                name = text[start:end]
                words = _WORD.findall(name)
                if len(words) > 1:
                    whole.add(name)
                parts |= {
                    word
                    for word in words
                    if len(word) >= _SHORTEST
                    and word.lower() not in _EPONYMS
                    and word.lower() not in _PARTICLES
                }
    for start, end in (*_without_capitals(text), *_above_addresses(text)):
        found.add((start, end))
        if text[start].islower() and text[start:end] not in _EPONYMS:
            parts.add(text[start:end])
    for match in _PAIR.finditer(text):
        for start, end in _kept(text, *match.span()):
            words = _WORD.findall(text[start:end])
            if words[0].lower() in GIVEN:
                found.add((start, end))
                parts |= {
                    word
                    for word in words
                    if len(word) >= _SHORTEST and word.lower() not in _EPONYMS
                }
    again = sorted(whole | parts, key=lambda word: (-len(word), word))
    if again:
        forms = dict.fromkeys(form for word in again for form in (word, word.upper()))
        pattern = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, forms))})(?!\w)")
        found |= {match.span() for match in pattern.finditer(text)}
    return list(_apart(sorted(found, key=lambda span: (span[0], -span[1]))))


def _without_capitals(text: str) -> Iterator[tuple[int, int]]:
    for match in _LOWER.finditer(text):
        start, end = match.span("a" if match["a"] else "b")
        word = text[start:end]
        if word not in _NO_LOWER and word not in _NOT_NAMES and generic_of(word) is None:
            yield start, end


def _above_addresses(text: str) -> Iterator[tuple[int, int]]:
    for match in _ABOVE_ADDRESS.finditer(text):
        yield from _kept(text, *match.span("name"))


def _kept(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The span without words that are none of a name, at either end."""
    words = [(start + m.start(), start + m.end()) for m in _WORD.finditer(text[start:end])]
    while words and not _may_be(text[words[0][0] : words[0][1]], first=True):
        words.pop(0)
    for index, (a, b) in enumerate(words):
        if index and not _may_be(text[a:b], first=False):
            words = words[:index]
            break
    while words and text[words[-1][0] : words[-1][1]].lower() in _PARTICLES:
        words.pop()
    if words and any(b - a >= 2 for a, b in words):  # noqa: PLR2004 - more than initials
        yield words[0][0], words[-1][1]


def _may_be(word: str, *, first: bool) -> bool:
    low = word.lower()
    if not first and (low in _PARTICLES or len(word) == 1 or low in _SURNAMES):
        return True
    return low not in _NOT_NAMES and not (len(word) > _SHORTEST and generic_of(word) is not None)


def _apart(spans: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    at = -1
    for start, end in spans:
        if start >= at:
            yield start, end
            at = end
