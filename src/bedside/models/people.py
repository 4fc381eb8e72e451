"""Names of people in clinical text, told by what stands beside them. Pure.

A name cannot be known by its shape. These are the places where notes write one: after a title or a
label, before an age, a degree or a word of saying, beside a relative's word; and usual given names.
Once found, a name is found wherever it stands in that text. What is missed here is only what nobody
named: the record's own names always go.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from bedside.clinical.drugs import generic_of
from bedside.models.given_names import given_names
from bedside.models.name_words import (
    BEHIND_A_FIRST_NAME,
    EPONYM_NOUNS,
    EPONYMS,
    NEVER,
    NOT_NAMES,
    PARTICLES,
    PLACES_BEFORE,
    SAID_OF_ANYBODY,
    WORDS_IN_SMALL_LETTERS,
)

__all__ = ["people"]

_CAP = (
    r"(?<!\w)(?:St\.[ ](?=[A-Z]))?(?:[OD]['’][A-Z][a-z]+|[A-ZÀ-ÖØ-ÞĀ-Ž](?=[^\W\d_]*[a-zà-öø-ÿā-ž])[^\W\d_]+)"
    r"(?:['’-](?!s\b)[^\W\d_]+){0,4}(?!\w)"
)
_INITIAL = r"(?:[A-Z]\.)"
_PARTICLE = r"(?:van|von|der|den|de|del|della|la|le|da|dos|das|di|bin|binti|ibn|al|el|ter|ten)"
_NAME = (
    rf"(?:{_INITIAL} ?){{0,3}}{_CAP}(?:[ \t]+(?:{_PARTICLE}[ \t]+)*(?:{_INITIAL}|{_CAP}))" + "{0,3}"
)
_FULL = (
    rf"(?:{_INITIAL} ?){{0,3}}{_CAP}(?:[ \t]+(?:{_PARTICLE}[ \t]+)*(?:{_INITIAL}|{_CAP}))" + "{1,3}"
)
_UPPER = r"[A-Z][A-Z'’-]{2,}(?:[ \t]+[A-Z][A-Z'’-]*\.?){0,3}"
_TITLE = (
    r"(?:Mr|Mrs|Ms|Mx|Miss|Master|Dr|Drs|Doctor|Prof|Professor|Nurse|Rev|Reverend|Sir|Dame|Lady|Fr|Sgt|Capt|Lt|Col|"
    r"MR|MRS|MS|DR|Shri|Smt|Sri|Señora?|Sra?|Herr|Frau|Monsieur|Madame|Mme)"
)
_BY = r"(?:dictated|transcribed|typed|signed|authored|seen|examined|reviewed|prepared|reported|performed|witnessed|referred|evaluated|interpreted) by"
_LABEL = (
    r"(?i:patient(?:['’]s)?(?: full)? name|patient|name|full name|first name|last name|surname|given name|pt|client|attending|physician|provider|"
    r"surgeon|assistant|anesthesiologist|anaesthetist|consultant|clinician|pcp|gp|primary care (?:physician|provider)|referring (?:physician|provider)|"
    r"next of kin|nok|emergency contact|contact person|contact|guardian|carer|caregiver|informant|interpreter|mother|father|spouse|partner|wife|husband|"
    rf"signed|electronically {_BY}|{_BY}|author|"
    r"cc|re|employer contact|insured|subscriber|policy ?holder|guarantor|account holder|donor|nurse|midwife)"
)
_KIN = (
    r"(?i:(?:step-?|ex-?|half-?|foster |great-)?(?:mother|father|mom|mum|dad|sister|brother|son|daughter|wife|husband)s?(?:-in-law)?|spouse|partner|"
    r"fianc[eé]e?|girlfriend|boyfriend|aunt|uncle|cousin|niece|nephew|grand(?:mother|father|son|daughter|ma|pa)|friend|neighbou?r|roommate|flatmate|carer|"
    r"caregiver|guardian|colleague|employer|landlord|teacher|therapist|cardiologist|neurologist|oncologist|surgeon|dentist|psychiatrist|counsell?or|midwife|"
    r"nurse|twins|(?:case|social|care|support|home) ?(?:worker|manager|aide)|interpreter|translator|chaplain|pastor|imam|rabbi|medical student|scribe|"
    r"technician|attorney|lawyer|pharmacist|dietiti?an|physiotherapist|next of kin|proxy|emergency contact|babysitter|supervisor|boss)"
)
_ROLE = (
    r"(?i:(?:her|his|their|the|our|a|an)?[ \t]?(?:patient's )?(?:medical student|student|son|daughter|niece|nephew|wife|husband|sister|brother|mother|father|"
    r"friend|neighbou?r|cousin|aunt|uncle|partner|spouse|caregiver|carer|guardian|social worker|case manager|interpreter|pharmacist|chaplain|midwife|scribe))"
)
_DEGREE = r"(?:M\.?D\.?|D\.?O\.?|R\.?N\.?|N\.?P\.?|P\.?A\.?(?:-C)?|Ph\.?D\.?|MBBS|FRCS|FRCP|MRCP|FACS|FACC|DPM|DDS|LCSW|CRNA|CNM|PharmD|MSN|FNP(?:-[A-Z]+)?|BSN|DNP|OD|PT|OT)"
_AGE = r"\b\d{1,3}[ \t-]*(?:year|yr|y/?o|month|week|day)"
_SURE = (
    re.compile(
        rf"\b(?:Mr|Mrs|Ms|Miss|Mx|Dr|MR\.|MRS|MS\.|DR\.)\.?[ \t]+(?P<name>(?:{_PARTICLE}[ \t]+){{0,2}}{_NAME})"
    ),
    re.compile(
        rf"(?<!\w)(?i:(?:patient(?:['’]s)?|full|first|last)[ \t]+name|surname)[ \t]*[:=][ \t]*(?P<name>{_CAP},[ \t]*{_NAME}|{_NAME})"
    ),
)
"""After these even "Will" and "April" are names."""
_LABELLED: tuple[re.Pattern[str], ...] = (
    re.compile(rf"\b{_TITLE}\.?[ \t]+(?P<name>(?:{_PARTICLE}[ \t]+){{0,2}}{_NAME}|{_UPPER})"),
    re.compile(rf"(?<![\w]){_LABEL}[ \t]*[:=][ \t]*(?:{_TITLE}\.?[ \t]+)?(?P<name>{_CAP},[ \t]*{_NAME}|{_NAME}|{_UPPER}(?:,[ \t]*{_UPPER})?)"),
)  # fmt: skip
_PLACES: tuple[re.Pattern[str], ...] = (
    *_LABELLED,
    re.compile(rf"(?P<name>{_FULL})(?:,)?[ \t]+(?:is|was|presents|returns|comes|a|an)\b[^.\n]{{0,30}}?{_AGE}"),
    re.compile(rf"(?P<name>{_NAME})(?:,)?[ \t]+(?:is|was)[ \t]+(?:a|an)[ \t][^.\n]{{0,30}}?{_AGE}"),
    re.compile(rf"(?P<name>{_FULL}),?[ \t]*\(?\d{{1,3}}[ \t]?(?:yo|y/o|yrs?|years?|[MF])\b"),
    re.compile(rf"(?P<name>{_FULL}),?[ \t]*{_DEGREE}(?![\w])"),
    re.compile(rf"\b{_KIN}(?:,| named| called| is| \(| [-–])?[ \t]*(?P<name>{_NAME})(?![\w]*[ \t]+(?i:disease|syndrome|sign|test|criteria|score))"),
    re.compile(
        r"\b(?i:named|called|known as|goes by|my name is|name is|i am|i['’]m|this is|spoke (?:with|to)|discussed (?:this )?with|accompanied by|"
        r"(?:voice ?mail|messages?|calls?|e-?mails?|texts?) from|lives with|met with|referred (?:by|to)|seen by|under the care of|care of|attn:?|dear|signed,?|sincerely,?|regards,?|love,?|hi,?|hello,?|hey,?|"
        rf"thanks,?)[ \t\n]+(?:{_TITLE}\.?[ \t]+)?(?P<name>{_NAME})"
    ),
    re.compile(rf"(?:\A|\n)[ \t]*(?P<name>{_CAP},[ \t]+{_CAP}(?:[ \t]+(?:{_INITIAL}|{_CAP}))?)[ \t]*(?=\n|\Z|\d|DOB|MRN|\()"),
    re.compile(rf"(?P<name>{_NAME})['’]s[ \t]+(?i:mother|father|wife|husband|son|daughter|date of birth|dob|mrn|phone|address|email|chart|records?)\b"),
    re.compile(rf"(?P<name>{_FULL})[ \t]*[,(;-]?[ \t]*(?:DOB|D\.O\.B|MRN|SSN|born|ID)\b"),
    re.compile(
        rf"\b(?i:patient|pt|client|veteran)(?:,[ \t]+|[ \t]+)(?P<name>{_FULL})"
        r"(?=[ \t]*(?:[,(]|(?:is|was|has|had|reports|denies|presents|presented|came|comes|called|returns|returned|states|says|who)\b))"
    ),
    re.compile(rf"\b(?i:{_BY})[ \t]+(?:{_TITLE}\.?[ \t]+)?(?P<name>{_FULL}|(?:{_INITIAL} ?){{1,3}}{_CAP})"),
    re.compile(rf"(?P<name>{_FULL}),?[ \t]*[,(][ \t]*{_ROLE}(?=[ \t]*[,.;)\n]|\Z|[ \t](?:was|is|and|who))"),
    re.compile(
        r"\b(?i:i saw|we saw|saw|seeing|referring|for referring|meeting|prescription (?:sent )?for|sent for|refill for|letter (?:to|for|from)|"
        rf"explained to|informed|reassured|asked|told|counsel(?:l)?ed|examined with|along with|together with)[ \t]+(?:{_TITLE}\.?[ \t]+)?(?P<name>{_FULL})"
    ),
    re.compile(rf"(?:(?<=^)|(?<=[\n,;:(]\s)|(?<=\n)|(?<=[a-z] )|(?<=[.!?]\s))(?P<name>(?:[A-Z]\.[ ]?){{2,3}}{_CAP})"),
    re.compile(rf"(?:(?<=\n)|(?<=, )|(?<=: )|(?<=; )|(?<=and ))(?P<name>[A-Z]\.[ ]{_CAP})(?=,[ \t]|[.;)]?[ \t]*(?:\n|\Z))"),
    re.compile(rf"\bMr\.?[ \t]+(?:and|&)[ \t]+Mrs\.?[ \t]+(?P<name>{_NAME})"),
)  # fmt: skip
_WITH_INITIAL = re.compile(rf"(?P<name>{_CAP}[ ][A-Z]\.?[ ]{_CAP})")
_SAYS = (
    r"(?:reports?|reported|denies|denied|states?|stated|says|said|complains?|complained|endorses?|endorsed|admits?|agrees?|agreed|lives|called|tells|told|describes?|"
    r"feels|felt|wants?|asks?|asked|thinks|believes|understands|(?:presents|presented|came|comes|returns|returned)(?= (?:in|to|for|today|back|with|here|by|from|alone|after))|takes|smokes|drinks|works|"
    r"is (?:doing|feeling|here|seen|taking|accompanied|a pleasant|being seen)|was (?:seen|admitted|brought|referred|found|given|told|discharged|born|accompanied|diagnosed))"
)
_WEAK: tuple[re.Pattern[str], ...] = (
    re.compile(rf"(?:(?<=\A)|(?<=\n)|(?<=[.!?:]\s)|(?<=\w ))(?P<name>{_NAME})[ \t]+{_SAYS}\b"),
    re.compile(
        rf"(?P<name>{_NAME})['’]s[ \t]+(?i:family|parents?|sister|brother|niece|nephew|blood (?:pressure|sugar|glucose)|bp|a1c|glucose|potassium|creatinine|"
        r"insulin|pain|symptoms|weight|wishes|mood|sleep|labs?|results?|medications?|meds|condition|history|care|home|house|room|number|birthday|cough|surgery|recovery)\b"
    ),
    re.compile(rf"\b(?i:discussed with|explained to|spoke with|spoke to|told|reassured|asked|i saw|we saw)[ \t]+(?P<name>{_NAME})(?=[ \t]*(?:[.,;]|at the bedside|today|that|about|by phone|in clinic))"),
)  # fmt: skip
"""A single word here is a name only if nothing speaks against it."""
_CLINICAL_END = re.compile(
    r"(?:ology|ologist|ologists|opathy|itis|emia|aemia|osis|oma|ectomy|otomy|ostomy|plasty|scopy|graphy|gram|tion|sion|ment|ness|ity|ence|ics|ism|ist|ists|"
    r"ive|ous|ical|able|ible|ing|ary|ory|ure|ship|cillin|mycin|pril|statin|sartan|olol|azole|idine|mab|nib|apy|cyte|cytes|ate|ide|ine|ium|ular|rrhea|algia|uria|pnea)\Z"
)

_LOWER = re.compile(
    r"\b(?:mr|mrs|ms|miss|dr)\.?[ \t]+(?P<a>[a-zà-ž]{3,}(?:['’-][a-zà-ž]+)?)\b(?!\s*[:=])"
    r"|\bmy name(?:['’]s| is)[ \t]+(?P<b>[^\W\d_A-Z]{3,})\b"
)
"""Names in text that was written down without capitals, as conversations are."""
_LOWER_GIVEN = re.compile(
    r"(?<![\w.@'’-])(?P<a>[a-zà-ž]{4,})(?![\w@-])(?:[ \t]+(?P<b>[a-zà-ž]{3,}(?:['’-][a-zà-ž]+)?)"
    r"(?=[ \t]*(?:[.,?!;\n]|\Z)|[ \t]+(?:called|is|was|has|here|reports|says|came|requests|needs|wants|dob|date)\b))?"
)
_ABOVE_ADDRESS = re.compile(
    rf"(?:\A|\n)[>? \t]*(?P<name>{_FULL})[ \t]*\n(?:[^\n]{{0,60}}\n){{0,3}}?[>? \t]*\d{{3,6}}[ \t]+[A-Z][^\n]{{2,60}}(?:\n|,)"
)
_PAIR = re.compile(rf"(?<![\w.-]){_FULL}")
_UPPER_PAIR = re.compile(
    r"(?<![\w.-])[A-Z][A-Z'’-]{1,40}(?:,?[ \t]+[A-Z][A-Z'’-]*\.?(?![\w])){1,3}(?![\w-])"
)
_BARE = re.compile(
    r"(?:(?P<before>\b[A-Za-z]+)\.?[ \t]+)?(?<![\w.’'-])(?P<name>[A-Z][a-z]{2,}|[A-Z]{5,})(?![\w-])(?:['’]s)?(?:[ \t]+(?P<after>[A-Za-z]+))?"
)
_ALSO = re.compile(rf"(?:,| and| &)[ \t]+(?P<name>{_CAP})(?![\w'’])")
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_SHORTEST = 3


def people(text: str) -> list[tuple[int, int]]:
    """Where people are named, in order, not overlapping; without titles and labels."""
    found = set(_told(text))
    again = sorted(_spread(text, found), key=lambda word: (-len(word), word))
    if again:
        forms = dict.fromkeys(form for word in again for form in (word, word.upper()))
        pattern = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, forms))})(?!\w)")
        found |= {match.span() for match in pattern.finditer(text)}
    return list(_apart(sorted(found, key=lambda span: (span[0], -span[1]))))


def _told(text: str) -> Iterator[tuple[int, int]]:
    """Names where they are told, in any order; they may overlap."""
    for place in _SURE:
        for match in place.finditer(text):
            yield from _kept(text, *match.span("name"), sure=True)
    yield from _by_cue(text)
    yield from _without_capitals(text)
    for match in _ABOVE_ADDRESS.finditer(text):
        yield from _kept(text, *match.span("name"))
    yield from _by_given_name(text)


def _by_cue(text: str) -> Iterator[tuple[int, int]]:
    for place in _PLACES:
        labelled = place in _LABELLED
        for match in place.finditer(text):
            for start, end in _kept(text, *match.span("name")):
                if labelled or not _of_a_clinic(text[start:end]):
                    yield start, end
                    yield from _named_beside(text, end)
    for match in _WITH_INITIAL.finditer(text):
        # "Hepatitis B Surface" is none: all of it is a name, or nothing.
        yield from (span for span in _kept(text, *match.span()) if span == match.span())
    low = _in_small_letters(text)
    for place in _WEAK:
        for match in place.finditer(text):
            for start, end in _kept(text, *match.span("name")):
                if _nothing_against(text[start:end], low):
                    yield start, end


def _spread(text: str, found: set[tuple[int, int]]) -> Iterator[str]:
    """What else to look for: each name whole, and the words of it that are nothing but names."""
    for start, end in found:
        words = _WORD.findall(text[start:end])
        if len(words) > 1:
            yield text[start:end]
        for word in words:
            low = word.lower()
            if len(word) >= _SHORTEST and not (
                low in EPONYMS
                or low in PARTICLES
                or (low in NOT_NAMES and low not in BEHIND_A_FIRST_NAME)
            ):
                yield word


def _named_beside(text: str, at: int) -> Iterator[tuple[int, int]]:
    """A second name behind a found one: "Mateo and Lucia"."""
    match = _ALSO.match(text, at)
    if match is not None and match["name"].lower() in given_names():
        yield match.span("name")


def _by_given_name(text: str) -> Iterator[tuple[int, int]]:
    given = given_names()
    for pattern in (_PAIR, _UPPER_PAIR):
        for match in pattern.finditer(text):
            for start, end in _kept(text, *match.span()):
                words = [word.lower() for word in _WORD.findall(text[start:end])]
                first = words[0]
                if pattern is _UPPER_PAIR:
                    first = next((w for w in words if w in given and len(w) > _SHORTEST), "")
                if len(words) > 1 and first in given and words[1] not in EPONYM_NOUNS:
                    yield start, end
    for match in _BARE.finditer(text):
        low = match["name"].lower()
        if (
            low in given
            and low not in EPONYMS
            and (match["before"] or "").lower() not in PLACES_BEFORE
            and (match["after"] or "").lower() not in EPONYM_NOUNS
        ):
            yield match.span("name")


def _of_a_clinic(name: str) -> bool:
    """Is it one word with a clinical ending, as "Gastroenterology" behind "referred to"?"""
    low = name.lower()
    ends = _CLINICAL_END.search(low) is not None and not low.endswith("ing")
    return " " not in name and ends and low not in given_names()


def _in_small_letters(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"(?<!\w)[a-z]{3,}(?!\w)", text))


def _nothing_against(name: str, low: frozenset[str]) -> bool:
    """May this be a name by its look? `low` are the text's words in small letters."""
    words = [word.lower() for word in _WORD.findall(name)]
    if words[0] in given_names():
        return True
    return not any(
        word in low or word in EPONYMS or _CLINICAL_END.search(word) is not None for word in words
    )


def _without_capitals(text: str) -> Iterator[tuple[int, int]]:
    for match in _LOWER.finditer(text):
        start, end = match.span("a" if match["a"] else "b")
        word = text[start:end]
        ordinary = word in SAID_OF_ANYBODY or word in NOT_NAMES or _of_a_clinic(word)
        if not ordinary and generic_of(word) is None:
            yield start, end
    for match in _LOWER_GIVEN.finditer(text):
        name, last = match["a"], match["b"]
        if name in given_names() and name not in EPONYMS and name not in WORDS_IN_SMALL_LETTERS:
            keep = last is not None and last not in NOT_NAMES and last not in SAID_OF_ANYBODY
            yield match.start("a"), match.end("b" if keep else "a")


def _kept(text: str, start: int, end: int, *, sure: bool = False) -> Iterator[tuple[int, int]]:
    """The span without words that are none of a name, at either end."""
    words = [(start + m.start(), start + m.end()) for m in _WORD.finditer(text[start:end])]
    first = NEVER if sure else None
    while words and not _may_be(text[words[0][0] : words[0][1]], first=True, never=first):
        words.pop(0)
        while words and words[0][1] - words[0][0] == 1:
            words.pop(0)
    for index, (a, b) in enumerate(words):
        if index and not _may_be(text[a:b], first=False):
            words = words[:index]
            break
    while words and text[words[-1][0] : words[-1][1]].lower() in PARTICLES:
        words.pop()
    if words and any(b - a >= 2 for a, b in words):  # noqa: PLR2004 - more than initials
        yield words[0][0], words[-1][1]


def _may_be(word: str, *, first: bool, never: frozenset[str] | None = None) -> bool:
    low = word.lower()
    if not first and (low in PARTICLES or len(word) == 1 or low in BEHIND_A_FIRST_NAME):
        return True
    if never is not None:
        return low not in never
    return low not in NOT_NAMES and not (len(word) > _SHORTEST and generic_of(word) is not None)


def _apart(spans: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    at = -1
    for start, end in spans:
        if start >= at:
            yield start, end
            at = end
