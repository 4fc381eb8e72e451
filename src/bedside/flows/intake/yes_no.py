"""Yes or no: to a question, in any clause, and unasked by what is affirmed or denied. Pure."""

from __future__ import annotations

import re
from dataclasses import replace

from bedside.flows.intake import persons
from bedside.flows.intake.answers import (
    SENTENCE,
    Context,
    Span,
    Value,
    clauses,
    judged,
    question_at,
    statements,
    whole,
)
from bedside.flows.intake.consent import wants_matching
from bedside.flows.intake.lexicon import NO, YES, phrase_pattern
from bedside.flows.intake.moments import moments
from bedside.flows.intake.signals import corrects, declines, disagrees, doubts_here
from bedside.sop.contract import Field

__all__ = ["boolean_asked", "boolean_free", "denies"]

_ANTICOAGULANT = phrase_pattern(
    [
        "warfarin",
        "coumadin",
        "apixaban",
        "eliquis",
        "rivaroxaban",
        "xarelto",
        "dabigatran",
        "pradaxa",
        "edoxaban",
        "heparin",
        "enoxaparin",
        "clexane",
        "clopidogrel",
        "plavix",
        "ticagrelor",
        "brilinta",
        "prasugrel",
        "aspirin",
        "ecosprin",
        "acenocoumarol",
        "sintrom",
        "acitrom",
        "loprin",
        "disprin",
        "lowplat",
        "clopilet",
        "clavix",
        "tinzaparin",
        "fondaparinux",
        "phenprocoumon",
        "marcumar",
        "وارفارين",
        "كومادين",
        "بلافيكس",
        "كلوبيدوغريل",
        "كلوبيدوجريل",
        "اسبرين",
        "أسبرين",
        "الأسبرين",
        "الاسبرين",
        "إليكويس",
        "زاريلتو",
        "هيبارين",
        "वारफेरिन",
        "क्लोपिडोग्रेल",
        "एस्पिरिन",
        "इकोस्प्रिन",
    ]
)


_ANEW = re.compile(r"\band (?:there|i|we|he|she|it|my|also)\b|\bbut\b", re.IGNORECASE)


def _opposite(field: Field, text: str) -> Value | None:
    """A cue with "non" before it ("non-smoker") is a no."""
    cues = "|".join(re.escape(cue) for cue in field.cues if cue.isalpha())
    match = re.search(rf"\bnon[- ]?(?:{cues})s?\b", text, re.IGNORECASE) if cues else None
    return Value(value=False, start=match.start(), end=match.end()) if match else None


def boolean_asked(field: Field, context: Context) -> Value | None:
    """Yes or no to the field's own question."""
    free = boolean_free(field, context)
    text = context.text
    if free is not None:
        here = next((text[a:b] for a, b in clauses(text) if a <= free.start < b), "")
        # "Nothing infected, no" names it and denies it in one breath.
        if free.value is True and _NAYS.match(here) and denies(field, here):
            return replace(free, value=False)
        return free
    if doubts_here(text) and not re.match(r"\W*(?:yes|no)\b", text, re.IGNORECASE):
        return None
    if declines(text) or wants_matching(text):
        return None
    parts = clauses(text)
    for at, (start, end) in enumerate(parts):
        told = any(a < end and start < b for a, b in context.others)
        if told and (at or not _NO_BESIDE.match(text[start:end])):
            continue
        said = _yes_or_no(field, text[start:end])
        if said is not None:
            from_, to = _stated(text, start)
            return Value(value=said, start=from_, end=to)
    start, end = whole(text)
    past = " ".join((field.id.replace("_", " "), *field.ask.values())).casefold()
    if re.search(r"\b(?:before|ever|earlier|previous|recent|last|been done)\b", past):
        happened = [one.start() for one in (_HAPPENED.search(text),) if one]
        happened += [a for a, b in clauses(text) if moments(text[a:b])]  # "september": then it was
        if happened and not _TO_DO.search(text[: happened[0]]) and not disagrees(text):
            return Value(value=True, start=start, end=end)
    return None


_NAYS = re.compile(r"\W*(?:no|not|nothing|none|nope|never|nahi+n?)\b", re.IGNORECASE)
_PLAIN_WORD = re.compile(
    r"^\W*(?:(?:oh|well|um+|ah|so)\W+)*(?:yes|yeah|yep|yup|(?:no|nope)(?=\W*[,.;]))\b",
    re.IGNORECASE,
)
"""A yes or no that stands before what else is told."""
_NO_BESIDE = re.compile(
    rf"(?:{_PLAIN_WORD.pattern})|\W*\w+\W+no\W+(?:she|he|i)\b\D*\d", re.IGNORECASE
)
"""The same, or a no with a number behind it: "goodness no, she's 16"."""
_NO_WORRY = re.compile(
    r"^\W*no\W+(?:problems?|worries|difficult(?:y|ies)|trouble|issues?|doubt)\b", re.IGNORECASE
)
"""A "no" that says yes where something is asked for that should be possible."""
_HARDLY = re.compile(
    r"\b(?:struggle|difficult|hard(?:ly)?|barely|impossible|trouble)\b", re.IGNORECASE
)
"""An ability that is not there."""
_BARE_NO_WORRY = 2
_NO_TELLING = re.compile(
    r"^\W*no\W+(?:idea|clue|preference|comment|budget|rush|hurry|thank(?! god| goodness| heavens)|thanks|please)\b",
    re.IGNORECASE,
)
_ENDS_NO = re.compile(r"\b(?:no|not|never|nope|none|negative)\W*$", re.IGNORECASE)
_ENDS_YES = re.compile(r"\b(?:yes|yeah|yep)\W*$", re.IGNORECASE)
_NOTHING_YET = re.compile(
    r"^\W*(?:nothing|none|no one|nobody)\b|\bnothing (?:like that|done|so far|of the kind)\b",
    re.IGNORECASE,
)
_SAYS = re.compile(
    r"^\W*(?:yes|well|and|but|so)?\W*(?:i|we|he|she|it|they|there)\s+(?:just |also |only |really )?"
    r"(?P<v>have|has|had|did|do|does|am|is|are|was|were|can|could|would|will|must|take|takes|took|ha(?:s|ve|d) had)"
    r"(?P<n>n't|nt|n’t|'t|’t|t\b|\s+not|\s+never|\s+no)?\b(?P<rest>.*)$|^\W*(?:i|we|he|she|they|it)\s+never\b(?P<never>.*)$",
    re.IGNORECASE | re.DOTALL,
)
_TELLS = 4
"""Words up to which "I can, without difficulty" needs nothing of the question in it."""


def _yes_or_no(field: Field, said: str) -> bool | None:
    """What one clause says to the question; `None` where it answers something else, or nothing."""
    if _NO_WORRY.match(said):
        more = len(said.split()) > _BARE_NO_WORRY  # "no problem in bending" tells of the knee
        return True if _of_ability(field) else (False if more else None)
    if _NO_TELLING.match(said):
        return None
    if _AFFIRMS.search(said):
        return True
    if "previous" in field.id and _FIRST.match(said):
        return False
    if (
        denies(field, said)
        or re.match(r"\W*(?:no|nop|nay)\b", said, re.IGNORECASE)
        or _EARLY_NO.match(said)
    ):
        return False
    if len(said.split()) <= _TELLS + 2 and (_ENDS_NO.search(said) or _ENDS_YES.search(said)):
        return _ENDS_YES.search(said) is not None
    if _NOTHING_YET.search(said) or (_of_ability(field) and _HARDLY.search(said)):
        return False
    match = _SAYS.match(said)
    if match is None or corrects(said):
        return None
    rest = re.findall(r"[a-z']+", (match["rest"] or match["never"] or "").casefold())
    if not set(rest) <= _BARE and not _speaks_of(field, said):
        return None
    denied = match["n"] or match["never"] is not None
    return not (denied or any(one.kind == "negated" for one in judged(said)))


_FIRST = re.compile(
    r"^\W*(?:(?:it|this|that)(?:'s|’s| is| will be| would be)?\s+)?(?:(?:only|just|my|our|her|his|the|very)\s+)*"
    r"first (?:time|one|ever|attempt|cycle|go|bypass|surgery|operation)(?: only| ever)?\W*$|^\W*(?:(?:नहीं|यह|ये|لا|هذه|هذي|pehli|ye)\W+)*(?:पहली बार|أول مرة|اول مرة|أول مره|اول مره|baar?)",
    re.IGNORECASE,
)
"""It would be the first: there was none before."""
_EARLY_NO = re.compile(
    rf"^\W*(?:(?!yes|yeah|i\b|we\b|he\b|she\b|there\b|have\b|has\b|is\b|with\b)\w+\W+){{0,2}}?(?:{NO})"
    r"(?=\W*$|\s*[,.;!]|\W+(?:i|i'm|he|she|she's|he's|we|it|they|sir|madam|mam|ma'am|bro|never|not|only|since|thank)\b)",
    re.IGNORECASE,
)
"""A no with a word or two before it: "goodness no, she's 16"."""
_BARE = frozenset(
    {
        "without", "difficulty", "problem", "problems", "fine", "easily", "once", "twice", "before", "too", "now",
        "today", "daily", "sometimes", "so", "already", "yet", "been", "had", "that", "it", "any", "one", "well", "always",
        "usually", "a", "few", "times", "years", "ago", "yes", "no", "not", "never", "indeed", "sure", "think", "them",
    }
)  # fmt: skip
"""What may stand behind "I can" or "we did" and add nothing of its own."""


def _of_ability(field: Field) -> bool:
    return (
        re.search(r"\b(?:can|able|possible)\b", f"{field.label} {field.ask.get('en', '')}")
        is not None
    )


def _speaks_of(field: Field, said: str) -> bool:
    """Does the clause hold a word that tells of the question?"""
    own = {
        word[:5]
        for text in (field.label, field.ask.get("en", ""), *field.cues)
        for word in re.findall(r"[a-z]{3,}", text.casefold())
        if word not in _PLAIN
    }
    return any(word[:5] in own for word in re.findall(r"[a-z]{3,}", said.casefold()))


_PLAIN = frozenset(
    {
        "the", "has", "have", "had", "does", "been", "was", "there", "any", "for", "such", "and", "this", "that",
        "you", "your", "not", "his", "her", "with", "before", "now", "present", "moment", "take", "can", "ever",
        "another", "last", "earlier", "previous", "months", "three",
    }
)  # fmt: skip
"""Words of questions that tell nothing of what they are about."""


def _stated(text: str, at: int) -> Span:
    """The sentence that holds the place, without the blanks around it."""
    for sentence in SENTENCE.finditer(text):
        if sentence.start() <= at < sentence.end():
            lead = len(sentence.group()) - len(sentence.group().lstrip())
            return sentence.start() + lead, sentence.start() + len(sentence.group().rstrip())
    return whole(text)


_AFFIRMS = re.compile(
    rf"^\W*(?:(?:oh|well|um+|ah|unfortunately|sadly|so)\W+)*(?:y(?=\W*$)|{YES}|(?:already )?done(?=\W*$|\W+(?:on|in|last|already|before|yes|\d))|(?:of course|certainly|definitely|absolutely|sure|no doubt|can(?=\W*(?:la|lah|also)?\W*$))(?!\W+not\b)|correct|indeed|"
    r"(?:i do|i am|i have|i did|we do|we have|we did|he does|he has|he is|she does|she has|she is|it has|it is|it was)(?=\W*$|[,.;!]|\s+(?:had|been|once|before)\b(?!\s+(?:no|never|not|none)\b))|that's right|affirmative)(?=\W|$)"
    r"|\bi (?:think|believe|guess|suppose) so\b",
    re.IGNORECASE,
)
_DENIES = re.compile(
    rf"^\W*(?:(?:oh|well|um+|ah|thankfully|luckily|so|definitely|absolutely|certainly|of course)\W+)*(?:n(?=\W*$)|{NO}|not|negative|not really|not at all|not that|not yet|not before|nothing|neither|"
    r"(?:it|she|he) (?:is|does|did|has) (?:not|no)|i don't|i do not|i dont|i'm not|i am not|i haven't|i have not|i have never|i've never|we haven't|we don't|he doesn't|he hasn't|she doesn't|she hasn't|"
    r"it hasn't|it has not|it isn't|(?:does|did|do|has|have|had|is|was|can)(?:n't|n’t|nt| not))(?=\W|$)(?P<rest>.*)",
    re.IGNORECASE | re.DOTALL,
)
_HAPPENED = re.compile(
    r"\b(?:once|twice|(?:one|two|three|four|five|\d+) (?:times?|cycles?|rounds?)|(?:years?|months?|weeks?|days?) (?:ago|back|before)|last (?:year|month|week)|in (?:19|20)\d\d|"
    r"(?:i|we|he|she|they) (?:already |have |has |'ve )?(?:did|had|tried|got)|(?<!not )(?<!be )done(?! yet)|back in|scoped|pinned|keyhole|arthroscop\w+|sometimes|occasionally|a (?:bit|little))\b",
    re.IGNORECASE,
)


_MORE = re.compile(
    r"^\W*$|^\s*[,.;!-]|^\s+(?:have|got|need|one|i|we|it|he|she|not|never|there|thanks|thank|at all|so far|nothing|none|any|such|ways?|man|po|naman|oh?|na|la|lah|abeg|sha|dear|bro|boss|ji|please|sir|madam|problems?|that|as far|to my)\b|^\s+\w+ of (?:this|that) (?:type|kind|sort)\b",
    re.IGNORECASE,
)


def denies(field: Field, text: str) -> bool:
    """A no to this question: "no preference" is none, "no infection" is one."""
    match = _DENIES.match(text)
    if match is None:
        return bool(
            re.search(
                r"\b(?:i don't think so|not that i(?:'m| am) aware of)\b", text, re.IGNORECASE
            )
        )
    word = match.group()[: match.start("rest") - match.start()].split()[-1].lower()
    if word != "no" or _MORE.match(match["rest"]):
        return True
    asked = " ".join((field.label, *field.ask.values(), *field.cues)).casefold()
    return any(
        len(one) > 3 and one[:6].rstrip("s") in asked  # noqa: PLR2004 - short words tell nothing
        for one in re.findall(r"\w+", match["rest"].casefold())[:4]
    )


_NO_SURGERY = re.compile(
    r"\b(?:no|never(?: been| had)?(?: any)?|not had any|without any) (?:\w+ ){0,2}?(?:operations?|operated|surger(?:y|ies))\b[^.!?;,]{0,20}"
    r"|\b(?:first|never any) (?:operation|surgery)\b",
    re.IGNORECASE,
)


_AGAIN = re.compile(r"\b(?:revision|redo|repeat|second)\b", re.IGNORECASE)
"""What is wished for again was had before."""
_TO_DO = re.compile(r"\b(?:needs?|wants?|get|getting)\b[^.!?,;]{0,8}$", re.IGNORECASE)
"""Before what has not happened yet: "I need it done"."""
_WISHED = re.compile(
    r"\b(?:get|getting|become|becoming|fall|falling|trying|try|tried|hope|hoping|avoid|want|wants|needs?|requires?)\b[^.!?,;]{0,12}$",
    re.IGNORECASE,
)
"""Before words that are only wished for: "trying to get pregnant"."""


def _allergic(text: str, at: int) -> bool:
    """Do the words there speak of what is not borne, instead of what is taken?"""
    here = next((text[a:b] for a, b in clauses(text) if a <= at < b), "")
    return (
        re.search(r"\b(?:allerg\w+|intoleran\w+|react\w*|rash|hives)\b", here, re.IGNORECASE)
        is not None
    )


_CLEARED = re.compile(r"\b(?:cleared|gone|healed|resolved|over now|better now)\b", re.IGNORECASE)
_PAST = re.compile(r"\b(?:19|20)\d\d\b|\b(?P<ago>years? (?:ago|back))\b", re.IGNORECASE)


def boolean_free(field: Field, context: Context) -> Value | None:
    """Yes or no by what the message affirms or denies of the field's cues."""
    opposite = _opposite(field, context.text)
    if opposite is not None:
        return opposite
    text = context.text
    if "previous" in field.id and "surgery" in field.id:
        none = _NO_SURGERY.search(text)
        if none is not None and not question_at(text, none.start()):
            return Value(value=False, start=none.start(), end=none.end())
    thinner = "thinner" in field.id or "anticoag" in field.id
    spots = [match.span() for match in _ANTICOAGULANT.finditer(text)] if thinner else []
    cues = [cue for cue in field.cues if len(cue) > 3]  # noqa: PLR2004 - too short to tell
    if cues:
        spots += [
            match.span()
            for match in phrase_pattern([*cues, *(f"{c}s" for c in cues)]).finditer(text)
        ]
    spots = [
        spot
        for spot in spots
        if not question_at(text, spot[0])
        and not persons.of_other(text, spot[0], context.state)
        and (
            _AGAIN.search(text[spot[0] : spot[1]])
            or not _WISHED.search(text[max(0, spot[0] - 25) : spot[0]])
        )
    ]
    if thinner:
        spots = [spot for spot in spots if not _allergic(text, spot[0])]
    if not spots:
        return None
    told = judged(text)
    if persons.is_carer(text, context.state):
        told = [one for one in told if one.kind != "family"]
    for start, end in sorted(spots):
        here = next(text[a:b] for a, b in statements(text) if a <= start < b)
        if "recent" in field.id and (past := _PAST.search(here)) is not None:
            if past["ago"] is None:
                continue  # a year may be this one
            return Value(value=False, start=start, end=end)
        if any(
            one.kind in {"uncertain", "family"} and one.start <= start < one.end for one in told
        ):
            continue
        denied = any(
            one.kind == "negated"
            and one.start <= start < one.end
            and not _ANEW.search(text[one.start : start])
            for one in told
        )
        stopped = re.search(
            r"\b(?:stopped|used to|no longer|off)\b",
            text[max(0, start - 30) : start],
            re.IGNORECASE,
        ) or ("present" in field.label and _CLEARED.search(text, end))
        lead = max(
            (
                one.trigger[0]
                for one in told
                if one.kind == "negated" and one.start <= start < one.end
            ),
            default=start,
        )
        return Value(value=not (denied or stopped), start=min(lead, start), end=end)
    return None
