"""What a statement of a note is about, told by its words. Pure."""

from __future__ import annotations

import re

from bedside.clinical.analytes import find_analytes
from bedside.clinical.drugs import find_drugs

__all__ = [
    "hedged",
    "is_allergy",
    "is_courtesy",
    "is_demographic",
    "is_firm_order",
    "is_imaging",
    "is_lab",
    "is_medicine",
    "is_order",
    "is_problem_line",
    "is_reported",
    "is_talk",
    "is_vital",
    "leans_on_the_last",
    "names_kin",
    "urgency",
]

_I = re.IGNORECASE
_AGE = re.compile(
    r"\b\d{1,3}[\s-]*(?:year|yr|month|week|day)[\s-]*old\b|\bis (?:\w+ )?\d{1,3} years old|\b\d{1,3}\s?y/?o\b",
    _I,
)
_KIN = re.compile(
    r"\b(?:brother|sister|mother|father|son|daughter|aunt|uncle|cousin|sibling|husband|wife)s?\b",
    _I,
)
_KIN_OR_FAMILY = re.compile(
    r"\b(?:(?:grand|step)?(?:brother|sister|mother|father|son|daughter|parent|child)(?:ren|s|al)?|aunt|uncle|cousin|sibling|niece|nephew|mom|mum|dad|husband|wife|"
    r"twin|relatives?|famil(?:y|ial)|(?:ma|pa)ternal)s?\b",
    _I,
)
_ALLERGY = re.compile(
    r"\ballerg(?:y|ies|ic)\b|\bNKD?A\b|\bintoleran(?:t|ce)\b|\badverse reaction", _I
)
_VITAL = re.compile(
    r"\b(?:blood pressure|BP|heart rate|HR|pulse(?: rate)?|respirat(?:ions|ory rate)|RR|temp(?:erature)?|SpO2|oxygen saturation"
    r"|O2 sat\w*|weight|height|BMI|afebrile)\b[^.\n]{0,70}?\d|\b\d{2,3}/\d{2,3}\s*mm ?Hg\b|\bvital signs?\b",
    _I,
)
_IMAGING = re.compile(
    r"\b(?:x-?rays?|radiograph\w*|MRI|CT(?: scan)?|ultrasound|sonogra\w*|echo(?:cardiogra\w*)?|EKG|ECG|electrocardiogra\w*|mammogra\w*"
    r"|angiogra\w*|DEXA|PET|imaging|doppler|EMG|nerve conduction|spirometry|pulmonary function|PFTs?|EEG|colonoscopy|endoscopy|EGD|biopsy)\b",
    _I,
)
_FOUND = re.compile(
    r"\b(?:show\w*|reveal\w*|demonstrat\w*|consistent with|read as|interpreted|negative|positive|normal|elevated|low|high|within"
    r"|unremarkable|no evidence|reviewed|result\w*|came back|found|obtained|indicat\w*|suggest\w*|was|were|is|are)\b",
    _I,
)
_LAB_WORDS = re.compile(
    r"\b(?:labs?|lab work|laborator\w+|blood ?work|CBC|CMP|BMP|metabolic panel|lipid panel|urinalysis|UA|culture|hemoglobin A1c"
    r"|A1c|titers?|antibod\w+|pathology)\b",
    _I,
)
_PAIN_LEVEL = re.compile(r"\bpain (?:level|score|scale)\b|\b\d{1,2}(?:/10| out of 10)(?![/\d])", _I)
_TAKES = re.compile(
    r"\b(?:tak(?:e|es|ing|en)|on|uses?|using|prescribed|continu\w+|started|utilize\w*|mg|mcg|tablets?|inhaler|daily|twice|medications?)\b",
    _I,
)
_VERB = (
    r"(?:continue|start|restart|begin|initiate|increase|decrease|reduce|stop|discontinue|hold|resume|switch|change|titrate|taper|order|obtain|get"
    r"|check|recheck|repeat|refer|referral|schedule|follow[- ]?up|follow up|return|call|contact|monitor|prescribe|give|administer|arrange"
    r"|consult|consider|recommend|advise|encourage|avoid|use|take|apply|wear|rest|ice|elevate|perform|proceed|send|admit|discharge|draw"
    r"|provide|discuss|review|add|maintain|keep|limit|increase|screen|vaccinate|go|bring|seek|report|complete|plan|add|finish|wean|replace|suggest)"
)
_ORDER = re.compile(
    rf"^(?:please |also,? |then |and )?{_VERB}\b(?! of\b)"
    r"|\b(?:I(?:['’]ll| will| would|['’]d| am (?:also )?going to|['’]m (?:also )?going to| want (?:him|her|them|you|the patient|to)| plan to)"
    r"|I (?:have |also |have also |did )?(?:recommend|prescrib|order|refer|advis|ask|instruct|request|counsel|encourag|schedul|suggest|urg|start|increas|decreas)\w*"
    r"|(?:he|she|they|patient) (?:may|can|should|is to|are to) (?:continue|take|use|return|resume|come|start|stop)|come back|going to (?:require|need)"
    r"|we(?:['’]ll| will| are (?:also )?going to|['’]re (?:also )?going to| can| would| should| shall| could)"
    r"|will (?:be )?(?:order\w*|start\w*|continu\w*|obtain\w*|schedul\w*|refer\w*|return|follow|send|check\w*|get|need|call|contact|have|take|use|see|go|monitor\w*|increase\w*"
    r"|decrease\w*|prescri\w*|repeat\w*|come|undergo|remain|discontinu\w*|stop|begin|add|give\w*|recheck\w*|proceed|provide\w*|try|plan|also|discuss|perform|do|be))\b"
    r"|\b(?:was|were|is|are|been|be) (?:ordered|referred|prescribed|advised|instructed|recommended|scheduled|encouraged|counsel\w*|asked|told|discharged|admitted"
    r"|given|provided|sent|placed|started|discontinued|increased|decreased|educated)\b"
    r"|\b(?:recommend\w*|advis(?:e|ed|ing)|encourag(?:e|ed)|instructed|(?<!as )prescrib(?:e|ed|ing)|referral|refill|follow[- ]up|should|needs? to|to be (?:done|seen)|return (?:to|for|in)|p\.?r\.?n"
    r"|prescriptions?\b.{0,90}\b(?:provided|given|sent|written|called in|renewed)|stress\w* the (?:importance|need)|can (?:also )?be (?:taken|used|given|tried)"
    r"|to (?:evaluate|eval|assess) and treat|being discharged|discharged? (?:to )?home|will stay"
    r"|can (?:continue|take|use|start|try|consider|be considered)|may (?:take|use|return)|plan(?:s|ned)? (?:to|is|for)|if .{0,60}(?:then|we|call|return))\b",
    _I,
)  # fmt: skip
_LABELLED = re.compile(
    r"^(?:medical treatment|additional testing|specialist referrals?|patient education(?: and counseling)?|medications?|treatment|follow[- ]?up|"
    r"testing|referrals?|diet|activity|disposition|procedures?|imaging|labs?|rx|plan)\s*[:-]", _I
)  # fmt: skip
_TALKED = re.compile(
    r"^(?:[\w ]{3,40}[:-]\s*)?(?:today,? |also,? )?(?:I|we)(?: have| had)?(?: also)? (?:discussed|explained|talked|spoke|went over|reviewed|had a (?:\w+ )?(?:discussion|talk|conversation))\b",
    _I,
)
"""What was talked of, which is no order yet."""
_DECIDES = re.compile(
    r"\b(?:recommend\w*|will|going to|should|start\w*|advis\w+|instruct\w+|encourag\w+|prescri\w+|order\w*|refer\w*|return|follow[- ]?up|needs? to|want)\b",
    _I,
)
_COMES = re.compile(
    r"^(?:the )?(?:patient|pt|he|she|they|[A-Z][a-z]+\.? [A-Z][a-z]+|mr\.? \w+|mrs\.? \w+|ms\.? \w+) (?:presents|presented|comes|came|returns|returned|is here|is seen|was seen)\b(?! (?:to|for) (?:the )?(?:er|ed|emergency))",
    _I,
)
_FOR_FOLLOW_UP = re.compile(r"\bfor (?:[\w'’-]+ ){0,4}?follow[- ]?up\b", _I)
"""Why somebody comes, which decides nothing."""
_FIRM = re.compile(
    r"\b(?:plan (?:was|is) (?:to|for)|follow[- ]?up (?:in|with|at)|return (?:to|in|for)|(?:was|were|is|are) (?:told|instructed|advised|asked|to (?:return|follow|take|avoid|continue)) ?(?:to\b)?"
    r"|instructions? to|no (?:heavy )?(?:lifting|driving|strenuous)|will (?:return|stay|follow|be seen|need|be discharged|continue|be followed|be started|be placed on)"
    r"|should (?:not )?(?:return|follow|avoid|take|continue|call|be (?:seen|followed)))\b",
    _I,
)
"""An order in the midst of an account of what was done."""
_ANAPHORIC = re.compile(
    r"(?:at that (?:point|time)|then|after (?:that|this|which)|afterwards?|thereafter|this (?:will|can|should)|that (?:will|can|should)|these (?:will|can|should)"
    r"|additionally|also|in addition|finally|otherwise|once (?:that|this|it)|until then|if (?:that|this|so|not|it)|(?:she|he|they) can (?:start|then|take|use)\b.{0,20}\b(?:that|this|it|these))\b",
    _I,
)
_REPORTED = re.compile(
    r"\b(?:denies|denied|reports|reported|complains|endorses|(?:patient|she|he) has no (?:history|complaints?|problems?)|no history of)\b",
    _I,
)
_DONE = re.compile(
    r"\b(?:done|given|obtained|performed|sent|pending|today|reviewed|provided|deferred|drawn|ordered)\Z",
    _I,
)
_REASONING = re.compile(r"^(?:medical reasoning|reasoning|impression|assessment)\s*[:-]", _I)
_FOUND_TO_BE = re.compile(
    r"\b(?:appear(?:s|ed)?|seem(?:s|ed)?|found|noted|felt|thought|seen) to (?:be|have been|return)\b",
    _I,
)
_NOT_DONE = re.compile(
    r"no\b(?! (?:driving|lifting|smoking|alcohol|weight|strenuous|further))[^.]{0,60}\b(?:was|were)\b",
    _I,
)
_AGREED = re.compile(
    r"\b(?:understands? and agrees?|agree\w* with (?:the|this)|all (?:of )?(?:\w+ )?questions|verbali[sz]ed understanding|patient agreements?|agreeable to|questions (?:have been|were) answered)\b",
    _I,
)
_INTRODUCES = re.compile(
    r"\bold\b.{0,120}\b(?:who )?(?:presents?|presented|comes?|came|returns?|is here|seen)\b", _I
)
_STATE = re.compile(
    r"\b(?:is|are|was|were|has|have|had|am|be|been|being|does|do|did|shows?|reports?|denies|presents?|will|would|can|may|might|should)\b",
    _I,
)
_HEDGED = re.compile(
    r"\b(?:consider(?:ed|ing)?|may|might|could|possibl[ey]|(?<!determine )(?<!see )(?<!assess )(?<!check )if|unless|depending|(?<!to )discuss(?:ed)?|option|as needed|would like|versus|vs\.?)\b",
    _I,
)
_NOW = re.compile(
    r"\b(?:immediate(?:ly)?|stat|emergen(?:cy|t|tly)|urgent(?:ly)?|right away|as soon as possible|asap|911|emergency (?:room|department)|admit|at once)\b",
    _I,
)
_SOON = re.compile(
    r"\b(?:start|begin|initiate|increase|decrease|reduce|stop|discontinue|hold|prescri\w+|switch|taper|this week|today|tomorrow|within \d+ (?:hours|days?))\b",
    _I,
)
_LATE = re.compile(
    r"\b(?:follow[- ]?up|return|recheck|repeat|months?|weeks?|annual|year|continue|maintain|monitor|encourag\w+|educat\w+|diet|exercise)\b",
    _I,
)
_TOLD = re.compile(
    r"\b(?:I|we|she|he|they|patient|discussed|explained|reviewed|advised|ordered|counseled|reports?|denies|agrees?|you|your)\b",
    _I,
)
_NO_PROBLEM = re.compile(
    r"(?:medical reasoning|additional testing|medical treatment|stable|improv\w+|unchanged|resolved|doing well|(?:well )?controlled|none|n/?a"
    r"|assessment|plan|impression|as above|see above|same)",
    _I,
)
_LONG = 90
_LONG_COURTESY = 18
"""Words above which a sentence with an agreement in it may say what is to be done, too."""
_FEW = 10


def is_demographic(text: str) -> bool:
    """Does it say who the patient is: an age, and not a relative's?"""
    return _AGE.search(text) is not None and _KIN.search(text) is None


def is_courtesy(text: str) -> bool:
    """Does it only say that the patient understood or agreed?"""
    long = len(text.split()) > _LONG_COURTESY
    return _AGREED.search(text) is not None and not (long and _DECIDES.search(text))


def is_allergy(text: str) -> bool:
    """Does it speak of an allergy, or of none?"""
    return _ALLERGY.search(text) is not None


def is_medicine(text: str) -> bool:
    """Does it say that a medicine is taken?"""
    return bool(find_drugs(text)) and _TAKES.search(text) is not None


def is_vital(text: str) -> bool:
    """Does it give a vital sign?"""
    return _VITAL.search(text) is not None


def is_imaging(text: str) -> bool:
    """Does it give what an image or a study showed?"""
    return _IMAGING.search(text) is not None and _FOUND.search(text) is not None


def is_lab(text: str) -> bool:
    """Does it give a laboratory result?"""
    if _PAIN_LEVEL.search(text):
        return False
    named = _LAB_WORDS.search(text) is not None or bool(find_analytes(text))
    return named and (any(char.isdigit() for char in text) or _FOUND.search(text) is not None)


def is_order(text: str) -> bool:
    """Does it say what is to be done?"""
    if _FOUND_TO_BE.search(text) or _NOT_DONE.match(text):
        return False
    if _REASONING.match(text) or is_courtesy(text) or _INTRODUCES.search(text):
        return False
    if _only_comes(text) or is_talk(text):
        return False
    return _LABELLED.match(text) is not None or _ORDER.search(text) is not None


def _only_comes(text: str) -> bool:
    """Does it only say that the patient came, and why?"""
    match = _COMES.match(text)
    if match is None:
        return False
    return _DECIDES.search(_FOR_FOLLOW_UP.sub("", text[match.end() :])) is None


def is_talk(text: str) -> bool:
    """Does it only say what was talked of?"""
    return _TALKED.match(text) is not None and _DECIDES.search(text) is None


def is_firm_order(text: str) -> bool:
    """Does it say what is to be done from now on, in an account of what was done?"""
    return is_order(text) and _FIRM.search(text) is not None


def leans_on_the_last(text: str) -> bool:
    """Does it make sense only behind the statement before it ("At that point ...")?"""
    return _ANAPHORIC.match(text) is not None


def is_reported(text: str) -> bool:
    """Is it what the patient says, not what somebody found?"""
    return _REPORTED.search(text) is not None


def names_kin(text: str) -> bool:
    """Does it say that it is a relative's?"""
    return _KIN_OR_FAMILY.search(text) is not None


def is_problem_line(text: str) -> bool:
    """Is it a problem's name alone, as it stands above its assessment?"""
    bare = text.strip().rstrip(".:")
    return (
        0 < len(bare) <= _LONG
        and ":" not in bare
        and not bare.lower().startswith(("patient ", "the patient", "she ", "he ", "they "))
        and _STATE.search(bare) is None
        and _TOLD.search(bare) is None
        and _NO_PROBLEM.fullmatch(bare) is None
        and _DONE.search(bare) is None
        and len(bare.split()) <= _FEW
        and _ORDER.search(bare) is None
        and any(char.isalpha() for char in bare)
    )


def hedged(text: str) -> bool:
    """Does the note itself leave it open?"""
    return _HEDGED.search(text) is not None


def urgency(text: str) -> int:
    """0 at once, 1 soon (a change of treatment), 2 in its time, 3 routine."""
    if _NOW.search(text):
        return 0
    if _SOON.search(text):
        return 1
    return 3 if _LATE.search(text) else 2
