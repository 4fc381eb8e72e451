"""Which sort of section a question asks for, and of which sort a heading is. Pure.

A situation shares its findings with the clinical features of a disease and asks for its medicines,
its tests or its prevention: what is asked for stands in a few words ("dose", "which bloods", the
name of a medicine), and what a passage is stands in its heading.
"""

from __future__ import annotations

import functools
import re
from enum import IntFlag

from bedside.clinical.drugs import generic_of
from bedside.language.stems import words

__all__ = ["Sort", "headings", "sort_of", "sought"]


class Sort(IntFlag):
    """Sorts of sections; a heading may be of several, and of none."""

    NONE = 0
    TESTS = 1
    MEDICINES = 2
    LIVING = 4
    PREVENTION = 8
    COMPLICATIONS = 16
    DIFFERENTIAL = 32
    SURGERY = 64
    FEATURES = 128
    HARMS = 256
    FRAME = 512
    """Introductions and goals: nothing is looked up there."""


_ANY_CARE = Sort.MEDICINES | Sort.LIVING | Sort.SURGERY

_HEADINGS: tuple[tuple[re.Pattern[str], Sort], ...] = tuple(
    (re.compile(rf"\b(?:{pattern})\b", re.IGNORECASE), sort)
    for pattern, sort in (
        (r"differentials?|mimics?", Sort.DIFFERENTIAL),
        (r"goals?|aims?|introduction", Sort.FRAME),
        (
            r"adverse|side effects?|cautions?|contra-?indications?",
            Sort.HARMS,
        ),
        (
            (
                r"non[- ]?(?:drug|pharmacolog\w+)|life ?style|diet\w*|self[- ]care|exercise|"
                r"supportive"
            ),
            Sort.LIVING,
        ),
        (
            (
                r"investigations?|diagnosis|diagnostic|tests?|testing|work-?up|imaging|spirometry|"
                r"laboratory"
            ),
            Sort.TESTS,
        ),
        (r"prevention|prophylaxis|vaccin\w+|immuni[sz]ation", Sort.PREVENTION),
        (r"complications?|prognosis|outcomes?", Sort.COMPLICATIONS),
        (r"definitive treatment|surg\w+|operative|procedures?", Sort.SURGERY),
        (
            (
                r"drugs?|medicines?|medication|pharmacolog\w+|antibiotics?|dos(?:es|ing|age)|regimens?|"
                r"first[- ]line|second[- ]line"
            ),
            Sort.MEDICINES,
        ),
        (r"(?:clinical )?features|signs|symptoms|presentation|red flags", Sort.FEATURES),
        (r"treatments?|therapy|management", _ANY_CARE),
    )
)

_WORDS: tuple[tuple[re.Pattern[str], Sort], ...] = tuple(
    (re.compile(rf"\b(?:{pattern})\b", re.IGNORECASE), sort)
    for pattern, sort in (
        (
            (
                r"tests?|investigat\w+|scans?|imaging|ct|mri|ultrasound|ecg|eeg|echocardiogra\w+|x-?rays?|"
                r"(?:chest|erect|plain) film|bloods|(?:blood|stool|urine|sputum) (?:tests?|cultures?|film)|"
                r"cultures?|biops\w+|smear|urinalysis|work-?up|\w+oscopy|mammogra\w+|doppler|genexpert|"
                r"screening|gram stain"
            ),
            Sort.TESTS,
        ),
        (
            (
                r"dos(?:e|es|ing|age)|drugs?|medicines?|medications?|tablets?|agents?|regimens?|regime|"
                r"antibiotics?|antiretrovirals?|antivenom|drug treatment|first[- ]line|pessar\w+|"
                r"ointment|injections?|prescri\w+|titrat\w+|steroids?|insulin|analgesi\w+|antihistamines?|"
                r"anti-?inflammator\w+|nsaids?|antiemetics?|antifungals?|antivirals?|beta[- ]?blockers?|"
                r"diuretics?|statins?|anticoagula\w+|chemotherapy|mg"
            ),
            Sort.MEDICINES,
        ),
        (
            (
                r"diet\w*|exercises?|salt|life ?style|physiotherapy|hygiene|mobilis\w+|mobiliz\w+|"
                r"weight loss|dressings?|wound care|rehabilitation|activity|meals?|counsel\w+|non[- ]drug"
            ),
            Sort.LIVING,
        ),
        (
            (
                r"prevent\w*|prophyla\w+|vaccin\w*|immuni[sz]\w+|avoid\w*|recurrence|hazards?|"
                r"keep from|isolation|masks?|(?:lower\w*|reduc\w+) the (?:chance|risk)|contacts of"
            ),
            Sort.PREVENTION,
        ),
        (
            r"complications?|sequel\w*|leads? to|can follow|may follow|prognosis|outlook",
            Sort.COMPLICATIONS,
        ),
        (
            (
                r"(?:side|unwanted|adverse|harmful) (?:effects?|reactions?)|cautions?|interactions?|"
                r"contra-?indicat\w+|toxicity"
            ),
            Sort.HARMS,
        ),
        (r"differential|what else (?:is|might|may|could)|rule out", Sort.DIFFERENTIAL),
        (r"surg\w+|operations?|operate|theatre|excision|banding|transplant\w*", Sort.SURGERY),
        (
            (
                r"(?:warning )?signs|features|how it presents|presentation|picture|red flags|severity|"
                r"how (?:bad|severe)"
            ),
            Sort.FEATURES,
        ),
    )
)


_CARE = re.compile(
    r"\b(?:treat(?:ed|ing|ments?)?|manag\w+|what to do|therap(?:y|ies)|control)\b", re.IGNORECASE
)
"""Asks for any care, unless the question says which."""


@functools.lru_cache(maxsize=20_000)
def sort_of(path: str) -> Sort:
    """The sort of the deepest heading of a path ("Asthma > Treatment > Drug") that tells one."""
    for heading in reversed(path.split(" > ")):
        for pattern, sort in _HEADINGS:
            if pattern.search(heading):
                return sort
    return Sort.NONE


def headings() -> str:
    """The patterns of headings with their sorts, in one text; it differs where `sort_of` may."""
    return "\n".join(f"{int(sort)} {pattern.pattern}" for pattern, sort in _HEADINGS)


def sought(text: str) -> Sort:
    """The sorts that a question asks for by its words; naming a medicine asks for medicines."""
    found = Sort.NONE
    for pattern, sort in _WORDS:
        if pattern.search(text):
            found |= sort
    if any(generic_of(word) for word in dict.fromkeys(words(text))):
        found |= Sort.MEDICINES
    if not found & _ANY_CARE and _CARE.search(text):
        found |= _ANY_CARE
    return found
