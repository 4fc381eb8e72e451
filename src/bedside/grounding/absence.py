"""What a sentence says is missing, and whether that is so of what was shown. Pure.

"Not recorded" is a claim like any other: it is false where the thing stands in a shown passage that
does not itself deny it. A statement that cannot be decided (qualified by "recent" or "further") is
not called false.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date

from bedside.clinical.vocabulary import expand
from bedside.core.value import value
from bedside.grounding.doses import doses
from bedside.grounding.figures import Figures
from bedside.grounding.reading import Memo, Read
from bedside.grounding.terms import stem_of
from bedside.language.dates import Written

__all__ = ["Missing", "Passage", "contradicted", "missing"]


@value
class Missing:
    """One thing that a sentence says is not there, in its words, with the time it is said of."""

    text: str


@value
class Passage:
    """A shown sentence or record line. `section` and `dated` are its source's, `None` unknown."""

    text: str
    section: str = ""
    dated: date | None = None


_DONE = (
    r"(?:record(?:ed)?|document(?:ed|ation)?|measured|checked|tested|done|performed|obtained|taken|"
    r"available|listed|mentioned|noted|found|stated|given|reported|known|seen|identified|present|included|ordered|"
    r"on (?:the |his |her )?(?:(?:\w+ )?(?:record|file|chart|list))|in (?:the |his |her |their |this )?(?:(?:patient'?s? |medical |clinical )?records?|charts?|notes?|files?|"
    r"sources?|documents?|data|context|extracts?|letters?|results?|history|problem list|medication list))"
)
_BE = r"(?:is|are|was|were|has been|have been|had been|been|be)"
_END = r"(?=\s*(?:[.;:!?\n)]|$|,? (?:but|and|so|however|although|though|because|since|as|while|which|yet)\b|,|—|–| - ))"
_THING = r"(?P<thing>[^.;:!?\n]{2,120}?)"
_WHERE = r"(?:\s+(?:here|so far|at all|anywhere|today|to date|this year|for (?:this|the) patient|for (?:him|her|them)))*"
_FORMS = tuple(
    re.compile(form, re.IGNORECASE)
    for form in (
        # no X is recorded; no record of X; no X on record
        (
            rf"\bno (?:known |prior |previous |past |other )?(?:record|documentation|mention|entry|entries|evidence|trace|note|report|information|data|results?|values?|readings?|measurements?) "
            rf"(?:of|for|on|about|regarding) (?:an? |any |the )?{_THING}(?:\s+(?:{_BE} )?{_DONE})?{_WHERE}{_END}"
        ),
        rf"\b(?:no|without|without any) {_THING}\s+(?:{_BE} )?(?:ever )?{_DONE}(?: {_DONE})?{_WHERE}{_END}",
        # no history of X
        (
            rf"\b(?:no|without(?: a| any)?|negative for(?: a| any)?|denies(?: a| any)?|never had(?: a| any)?) "
            rf"(?:known |prior |previous |past |documented |recorded |significant |personal |medical )*history of (?:an? |any )?{_THING}{_END}"
        ),
        # X was not measured; X is not on record; X has never been checked
        (
            rf"(?:^|[,;:.] |\b(?:but|and|so|however|although) )(?:the |an? |his |her |their |any )?{_THING}\s+"
            rf"(?:{_BE} |has |have |had |could |can )(?:also )?(?:not|never|n't) (?:yet |ever |currently |otherwise )?(?:been |be )?{_DONE}(?: {_DONE})?{_WHERE}{_END}"
        ),
        rf"(?:^|[,;:.] |\b(?:but|and|so) )(?:the |an? |his |her |their )?{_THING}\s+(?:isn't|aren't|wasn't|weren't|hasn't been|haven't been) {_DONE}(?: {_DONE})?{_WHERE}{_END}",
        # X is missing, unknown, absent from the record
        (
            rf"(?:^|[,;:.] |\b(?:but|and|so) )(?:the |an? |his |her |their )?{_THING}\s+(?:is|are|was|were|remains?) "
            rf"(?:missing|unknown|unavailable|unrecorded|undocumented|absent from|missing from|unmeasured|lacking)\b"
        ),
        # the label form, with a colon
        rf"(?:^|\n|[;.] )[\s>*•-]*{_THING}\**\s*[:—–-]\s*\**(?:not|never|none|nil) (?:{_DONE})?",
        # not found in the record: X
        rf"\b(?:not|nothing|none) (?:{_DONE} ?)+:\s*{_THING}{_END}",
        rf"\bmissing(?: from [\w ]{{3,40}})?:\s*{_THING}{_END}",
        # the record does not mention X; has no record of X; lacks X
        (
            rf"\b(?:do(?:es)?|did) (?:not|n't) (?:contain|mention|state|include|record|cover|show|list|hold|give|address|have|report|document) "
            rf"(?:an? |any |the )?{_THING}{_END}"
        ),
        (
            rf"\b(?:records?|charts?|notes?|files?|sources?|documents?|data|letters?|patient|he|she|they|there) "
            rf"(?:holds?|contains?|shows?|lists?|mentions?|gives?|has|have|had|is|are|was|were) no (?:record(?:ed)? |documented )?(?:of )?{_THING}{_END}"
        ),
        rf"\black(?:s|ed|ing)? (?:an? |any |the )?(?:record of )?{_THING}{_END}",
        rf"\b(?:could not|cannot|can't|couldn't|unable to) (?:find|locate|see|identify|retrieve|tell) (?:an? |any |the )?{_THING}{_END}",
        rf"\b(?:nothing|none) (?:about|on|regarding|concerning) {_THING}\s+(?:{_BE} )?{_DONE}",
    )
)
_HINT = re.compile(
    r"\b(?:no|not|never|none|nothing|nil|without|lack\w*|missing|unknown|unavailable|un\w+ed|absent|denies|"
    r"cannot|can't|unable)\b|n't\b",
    re.IGNORECASE,
)
_SPLIT = re.compile(r"\s*(?:,\s*(?:or|and|nor)\b|,|/|\bor\b|\band\b|\bnor\b)\s*", re.IGNORECASE)
_PAIR = re.compile(r"\b(?:between|interact\w*|combin\w*|together|versus|vs|ratio)\b", re.IGNORECASE)
_QUALIFIED = re.compile(
    r"\b(?:recent(?:ly)?|active|current(?:ly)?|other|further|more|second|repeat(?:ed)?|new|follow-?up|"
    r"additional|newer|older|earlier|later|another|confirm\w+|abnormal|normal|raised|elevated|high|low|"
    r"significant|acute|chronic|severe|serious|clear|direct|specific|since|after|before|until|during|"
    r"today|yet|this (?:week|month|year)|last (?:week|month|year)|other than|apart from|except\w*|"
    r"beyond|besides|why|whether|how|when|reason\w*|explanation|cause|change[sd]?|increase\w*|decrease\w*)\b",
    re.IGNORECASE,
)
_TIME = re.compile(
    r"\b(?P<how>since|after|before|until|in|on|during|from|for)\s+(?:the )?$", re.IGNORECASE
)
_SOURCE_OF_IT = re.compile(
    r"\s+(?:in|on|from|within|anywhere in) (?:the |his |her |this |these |any )?(?:(?:patient'?s? |medical |clinical |available |shown )*)"
    r"(?:records?|charts?|notes?|files?|sources?|documents?|data|context|guidelines?|history|list|letters?)\b.*$",
    re.IGNORECASE,
)
_EMPTY_WORDS = (
    "history evidence known entry information data diagnosis test testing level value result reading "
    "measurement record recorded documented source document documentation found file available list "
    "patient blood serum plasma mention there any ever been previous prior past personal family "
    "measured checked tested done performed obtained reported report finding study"
)
_EMPTY = frozenset(stem_of(word) for word in _EMPTY_WORDS.split()) - {stem_of("family")}
_ALLERGY = re.compile(
    r"\ballerg\w*|\bintoleran\w*|\bhypersensitiv\w*|\badverse reaction", re.IGNORECASE
)
_ALLERGY_ONLY = re.compile(
    r"^(?:(?:an?|any|known|drug|medication|medicine|food|latex|environmental|reported|documented|"
    r"recorded|details?|history|of|for|to|the|information|on|about) ?)*(?:allerg\w*|intoleran\w*|adverse reactions?)"
    r"(?: (?:history|information|data|status|details?|list|list entr\w+|entr\w+|records?))?$",
    re.IGNORECASE,
)
_KINDS: tuple[tuple[re.Pattern[str], re.Pattern[str]], ...] = (
    (
        re.compile(r"^(?:regular |prescribed |current |active )?(?:medic(?:ation|ine)s?|drugs?|prescriptions?)(?: list| history)?$", re.IGNORECASE),
        re.compile(r"medic|prescri", re.IGNORECASE),
    ),
    (
        re.compile(r"^(?:active |medical )?(?:problems?|conditions?|diagnos[ei]s|comorbidit\w+|medical history)(?: list)?$", re.IGNORECASE),
        re.compile(r"problem|condition|diagnos", re.IGNORECASE),
    ),
    (
        re.compile(r"^(?:lab\w*|blood)(?: tests?| results?| work| values?| data)*$", re.IGNORECASE),
        re.compile(r"\blab", re.IGNORECASE),
    ),
    (re.compile(r"^vital(?: signs?|s)?$", re.IGNORECASE), re.compile(r"vital", re.IGNORECASE)),
    (
        re.compile(r"^(?:immuni[sz]ations?|vaccin\w+)(?: history| records?)?$", re.IGNORECASE),
        re.compile(r"immuni|vaccin", re.IGNORECASE),
    ),
    (
        re.compile(r"^(?:procedures?|surger(?:y|ies)|operations?|surgical history)$", re.IGNORECASE),
        re.compile(r"procedure|surg", re.IGNORECASE),
    ),
)  # fmt: skip
_LEVEL = re.compile(r"\b(?:level|concentration)s?\b", re.IGNORECASE)
_SURE = 0.5
_Others = list[
    tuple[frozenset[str], frozenset[str]]
]  # a term's stems, and those of another wording


def missing(text: str) -> list[Missing]:
    """What `text` says is missing, each thing of a list apart, in order; empty where it does not."""
    if _HINT.search(text) is None:
        return []
    found: dict[str, Missing] = {}
    for form in _FORMS:
        for match in form.finditer(text):
            thing = _SOURCE_OF_IT.sub("", match["thing"]).strip(" \t*_\"'()-,")
            rest = text[match.end() :]
            dates = re.match(
                r"\s*(?:,\s*)?((?:since|after|before|until|in|on|during|from)\s[^.;\n]{3,40})",
                rest,
                re.IGNORECASE,
            )
            tail = f" {dates[1]}" if dates else ""
            if _PAIR.search(thing):
                found.setdefault(thing.lower(), Missing(text=thing + tail))
                continue
            for part in _SPLIT.split(thing):
                bare = re.sub(
                    r"^(?:an?|any|the|his|her|their|no)\s+", "", part.strip(), flags=re.IGNORECASE
                )
                if bare:
                    found.setdefault(bare.lower(), Missing(text=bare + tail))
    return list(found.values())


def contradicted(said: Read, passages: Iterable[Passage], read: Memo) -> str:
    """The first thing that `said` calls missing and a passage holds; "" where there is none."""
    wanted = missing(said.text)
    if not wanted:
        return ""
    rows = list(passages)
    for one in wanted:
        others = [
            (read(e.term).keys, words)
            for e in expand(one.text)
            if e.weight >= _SURE and (words := read(e.replacement).keys)
        ]
        if any(_holds(one, row, read, others) for row in rows):
            return one.text
    return ""


def _holds(one: Missing, row: Passage, read: Memo, others: _Others) -> bool:
    mine = read(one.text)
    if _ALLERGY_ONLY.match(one.text.strip()):
        return _allergy(row)
    for name, section in _KINDS:
        if name.match(one.text.strip()):
            return section.search(row.section) is not None
    theirs = read(row.text)
    plain = one.text
    if mine.dates or mine.quantities:
        if not _when(mine, theirs, row) or not _amount(mine, theirs):
            return False
        plain = _without(mine)
    if _QUALIFIED.search(
        re.sub(r"\b(?:since|after|before|until|during)\b", "", plain) if mine.dates else plain
    ):
        return False
    return _stands(read(plain), theirs, others)


def _without(mine: Read) -> str:
    """The words without dates and figures, and what leads to them."""
    text = list(mine.text)
    for one in (*mine.dates, *mine.quantities):
        for k in range(one.start, one.end):
            text[k] = " "
    return re.sub(
        r"\b(?:since|after|before|until|during|from|in|on|above|below|over|under|of)\s*$",
        "",
        "".join(text).strip(),
    )


def _when(mine: Read, theirs: Read, row: Passage) -> bool:
    """Does the passage's date lie where the statement says there is nothing?"""
    if not mine.dates:
        return True
    if row.dated is None and not theirs.dates:
        return False
    when = mine.dates[0]
    lead = _TIME.search(mine.text[: when.start])
    how = lead["how"].lower() if lead else "in"
    if row.dated is not None:
        return _on(when, how, row.dated)
    return any(_on(when, how, day) for written in theirs.dates for day in written.days)


def _on(when: Written, how: str, day: date) -> bool:
    first = min(when.days, default=None)
    if first is None and when.month is not None:
        first = date(*when.month, 1)
    if first is None and when.year is not None:
        first = date(when.year, 1, 1)
    if first is None:
        return False
    if how in {"since", "from"}:
        return day >= first
    if how == "after":
        return day > first and not when.agrees(day)
    if how in {"before", "until"}:
        return day < first
    return when.agrees(day)


def _amount(mine: Read, theirs: Read) -> bool:
    """Is there a figure that the statement says there is none of ("above 5" and 5.2)?"""
    limits = [one for one in mine.quantities if one.comparator]
    if len(limits) != len(mine.quantities):
        held = Figures([theirs])
        return all(held.figure(one) for one in mine.quantities)
    held = Figures([theirs])
    return all(held.exceeds(one) for one in limits)


def _allergy(row: Passage) -> bool:
    """Is this passage an allergy that stands?"""
    text = row.text
    if re.search(
        r"\b(?:no (?:known )?(?:\w+ )?(?:allerg|intoleran)|nkd?a\b|not allergic|none\b|no allerg)",
        text,
        re.IGNORECASE,
    ):
        return False
    if re.search(r"\b(?:refuted|entered[- ]in[- ]error)\b", text, re.IGNORECASE):
        return False
    return (
        re.match(r"allerg|intoleran", row.section, re.IGNORECASE) is not None
        or re.search(
            r"\b(?:allergic to|(?:allergy|intolerance|hypersensitivity)(?: to|:|,)|\w+ allergy)\b",
            text,
            re.IGNORECASE,
        )
        is not None
    )


def _denied_things(theirs: Read) -> frozenset[str]:
    """The keys that the passage itself calls missing."""
    return frozenset(
        term.key
        for one in missing(theirs.text)
        for said in (Read(one.text),)
        for term in (*said.words, *said.drugs, *said.analytes)
    )


def _stands(mine: Read, theirs: Read, others: _Others) -> bool:
    """Does the passage hold the thing, and affirm it of the patient?"""
    inside = [*mine.drugs, *mine.analytes]
    if _ALLERGY.search(theirs.text) and not _ALLERGY.search(mine.text) and mine.drugs:
        return False
    covered = {
        term.key
        for term in mine.words
        if any(one.start <= term.start and term.end <= one.end for one in inside)
    }
    rest = {term.key for term in mine.words} - covered - _EMPTY
    asks_dose = bool(mine.drugs) and rest == {stem_of("dose")}
    if asks_dose:
        return {one.key for one in mine.drugs} <= {one.drug for one in doses(theirs)}
    if mine.drugs and _LEVEL.search(mine.text) and not _LEVEL.search(theirs.text):
        return False
    names = {one.key for one in inside}
    said = rest <= theirs.keys
    if not said:
        other = {key for keys, words in others if words <= theirs.keys for key in keys}
        if not rest <= theirs.keys | other:
            return False
    if not (names or rest) or (names and not names <= theirs.named):
        return False
    if not said:
        return not _all_denied(theirs, {key for key in theirs.keys if key not in _EMPTY}, mine)
    hits = (names | rest) - _EMPTY
    if hits & _denied_things(theirs):
        return False
    return not _all_denied(theirs, hits, mine)


def _all_denied(theirs: Read, hits: set[str], mine: Read) -> bool:
    """Is every mention denied, somebody else's, or only suspected?"""
    family = re.search(r"\bfamil\w+|\bmother|\bfather", mine.text, re.IGNORECASE) is not None
    excuses = {"negated", "uncertain"} if family else {"negated", "uncertain", "family"}
    mentions = [
        term for term in (*theirs.words, *theirs.drugs, *theirs.analytes) if term.key in hits
    ]
    return bool(mentions) and all(
        any(
            scope.kind in excuses and scope.start <= term.start < scope.end
            for scope in theirs.scopes
        )
        for term in mentions
    )
