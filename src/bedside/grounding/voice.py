"""How an answer may not speak: prescribing, diagnosing, overclaiming, advising on law or insurance.

Pure. Each pattern is of the answer's own voice. What a cited source says may be repeated, because
support is checked elsewhere; options and reports ("consider", "the guideline advises") may stand.
"""

from __future__ import annotations

import re

from bedside.grounding.terms import drugs
from bedside.language.quantities import quantities

__all__ = ["diagnoses", "out_of_scope", "overclaims", "prescribes"]

_VERB = (
    r"start|begin|initiate|prescribe|give|administer|increase|decrease|reduce|double|halve|titrate|"
    r"switch|change|stop|discontinue|withhold|hold|add|take|commence|restart|resume|inject|taper"
)
_ORDER = re.compile(
    rf"(?:^|[:;]\s+|\b(?:and|then)\s+)(?:please\s+|now\s+|immediately\s+)?(?:{_VERB})\b",
    re.IGNORECASE,
)
_OWN_ORDER = re.compile(
    rf"\b(?:i(?:'ll| will| would| am going to|'d)?\s+(?:now\s+)?(?:prescrib\w+|order\w*|start|recommend (?:that you )?"
    rf"(?:start|stop|giv|prescrib|tak)\w*)|i(?:'m| am) prescribing|my prescription|"
    rf"(?:you|we|she|he|they|the patient|this patient)\s+(?:must|should|need(?:s)? to|ha(?:ve|s) to)\s+(?:now\s+|immediately\s+)?"
    rf"(?:{_VERB})|here is (?:a|the|your) prescription|prescription:|rx:)",
    re.IGNORECASE,
)
_REPORT = re.compile(
    r"\b(?:consider\w*|option\w*|could|may|might|if|whether|guideline\w*|recommend\w*|advis\w+|suggest\w*|"
    r"according|source\w*|states?|says?|discuss|document\w*|plan(?:ned)?|note[ds]?|record\w*|was|were|had|"
    r"discharge|letter|label\w*|protocol|usual|typically|first-line|indicated)\b",
    re.IGNORECASE,
)
_DIAGNOSES = re.compile(
    r"\b(?:i(?:'m| am)? (?:diagnos\w+|confident (?:that )?(?:this|it|the patient))|my diagnosis|"
    r"(?:the|final|definitive|most likely) diagnosis is|this (?:is|confirms|proves) (?:a (?:case|diagnosis) of|the diagnosis)|"
    r"(?:definitely|certainly|clearly|undoubtedly) (?:has|have|had|is suffering|suffers)|"
    r"(?:confirms?|establish\w+|proves?) (?:the|a) diagnosis|we can diagnose|is diagnostic of|"
    r"you (?:definitely |certainly |clearly )?have (?:a |an )?[a-z]+(?:itis|osis|emia|aemia|oma|betes|tension)\b)",
    re.IGNORECASE,
)
_OVERCLAIMS = re.compile(
    r"\b(?:guarantee[ds]?|100\s?% (?:sure|certain|safe|effective)|without (?:any|a) doubt|no doubt|undoubtedly|"
    r"definitely|certainly (?:will|has|is)|always works|completely safe|cannot (?:possibly )?be wrong|"
    r"there is no risk|risk-free|proven beyond)\b",
    re.IGNORECASE,
)
_SCOPE = re.compile(
    r"\b(?:you (?:should|could|can|may want to|might want to|must) (?:sue|file (?:a |an )?(?:lawsuit|claim|complaint|suit)|"
    r"take legal action|seek (?:damages|compensation)|appeal (?:the|this|your) (?:claim|denial)|"
    r"report (?:this|it) to (?:the |your )?insurer|bill (?:this|it) (?:as|under))|"
    r"(?:is|are|would be|constitutes?|amounts? to) (?:medical )?(?:malpractice|negligence|negligent|legally liable)|"
    r"legally (?:liable|obliged|entitled|required|binding)|liab(?:le|ility) (?:for|in)\b.{0,40}\b(?:court|law|damages)|"
    r"(?:insurance|insurer|policy|medicare|medicaid) (?:will|should|must|does|would) (?:cover|pay|reimburse|deny)|"
    r"(?:file|submit|lodge) (?:a |an |the |your )?(?:insurance )?claim\b|grounds for (?:a )?(?:lawsuit|suit|claim|litigation)|"
    r"statute of limitations|as your (?:lawyer|attorney)|legal advice:|to maximi[sz]e (?:reimbursement|billing|your claim))",
    re.IGNORECASE,
)


def prescribes(text: str) -> bool:
    """Does the sentence order a treatment in its own voice?

    An order names a medicine or a dose. Options ("consider"), reports of a source, conditions and
    what was done already are no orders; "I prescribe" and "you must start" always are.
    """
    if _OWN_ORDER.search(text):
        own = re.search(r"\b(?:i(?:'| )|my prescription|prescription:|rx:)", text, re.IGNORECASE)
        return own is not None or (_about_medicine(text) and not _REPORT.search(text))
    if not _ORDER.search(text) or _REPORT.search(text):
        return False
    return _about_medicine(text)


def _about_medicine(text: str) -> bool:
    if drugs(text):
        return True
    units = {"mg", "g", "mcg", "iu", "ml", "tablet", "capsule", "puff", "meq", "mmol"}
    return any(one.unit in units for one in quantities(text))


def diagnoses(text: str) -> bool:
    """Does the sentence make a diagnosis in its own voice?"""
    return _DIAGNOSES.search(text) is not None


def overclaims(text: str) -> bool:
    """Does it promise more certainty than any source gives?"""
    return _OVERCLAIMS.search(text) is not None


def out_of_scope(text: str) -> bool:
    """Does it advise on law, liability, claims or insurance cover?"""
    return _SCOPE.search(text) is not None
