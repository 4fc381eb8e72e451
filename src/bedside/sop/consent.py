"""Does a message allow matching? Read by rule, with its negations (IN-16). Pure.

A "yes" opens a confirmation that names recipients, purpose and fields; it shares nothing itself.
"""

from __future__ import annotations

import re
from typing import Literal

from bedside.core.value import value

__all__ = ["Consent", "consent"]

Answer = Literal["yes", "no", "none"]


@value
class Consent:
    """What the message says of matching, with the words at [start, end) that say it.

    "yes" wants matching now; "no" refuses or puts it off; "none" does not speak of it (start and
    end are then 0). `waives_documents` is true where the person wants to go on without them.
    """

    answer: Answer
    start: int = 0
    end: int = 0
    waives_documents: bool = False


def _any(*forms: str) -> re.Pattern[str]:
    return re.compile("|".join(forms), re.IGNORECASE)


_PLACES = r"(?:hospitals?|clinics?|surgeons?|doctors?|providers?|specialists?|cent(?:er|re)s?|options?|matches|places)"
_WANTS = _any(
    r"\bgo ahead\b(?! of)", r"\b(?:please )?proceed\b(?!ure|ing)", r"\blet'?s (?:go|do it|do this|start|begin|proceed|move (?:on|forward|ahead))\b(?! (?:over|through|back))",
    rf"\b(?:find|show|get|send|give|recommend|suggest|match|connect)(?: me| us| her| him)?(?: with| to)?(?: (?:some|the|a few|a|my|any|good|best|suitable))* {_PLACES}\b",
    r"\b(?:start|begin|run|do|ready for|go on with|continue with) (?:the )?(?:matching|search|match)\b",
    r"\bmatch me\b(?! (?:up )?(?:exactly|perfectly))", r"\b(?:i'?m|i am|we'?re|we are) (?:all |now |finally |quite )?ready\b(?! (?:to (?:give|stop|wait|think|scream|cry)|for bed))",
    r"\byou (?:can|may|have my (?:permission|consent|ok(?:ay)?)(?: to)?) (?:now )?(?:share|send|forward|start|search|look|match|contact|proceed)\b",
    r"\b(?:share|send|forward) (?:my|her|his|our) (?:case|details|data|file|information|records?)\b", r"\byou have my (?:permission|consent)\b",
    r"\bi (?:consent|agree|authori[sz]e|give (?:you )?(?:my )?(?:permission|consent))\b", r"\blook for (?:some |a |the )?" + _PLACES,
    r"\bcontact (?:the |some |those )?" + _PLACES, r"ابحث(?:وا)? (?:لي )?عن|تفضل|موافق|ابدأ|आगे बढ़|अस्पताल (?:ढूँढ|खोज|बता|दिखा)|शुरू (?:करें|करो|कीजिए)|मैं सहमत",
)  # fmt: skip
_BARE_YES = re.compile(
    r"^\W*(?:yes|yeah|yep|sure|ok(?:ay)?|of course|please do|do it|absolutely|certainly|fine|sounds good|go|نعم|हाँ|हां|जी हाँ|ठीक है)"
    r"(?:[\s,.!]+(?:please|thanks|thank you|go ahead|do|that'?s fine|of course|yes|जी|من فضلك))*\W*$",
    re.IGNORECASE,
)
_BARE_NO = re.compile(
    r"^\W*(?:no|nope|nah|not yet|not now|later|wait|stop|cancel|never mind|لا|ليس الآن|नहीं|अभी नहीं)(?:[\s,.!]+(?:thanks|thank you|yet|please|now))*\W*$",
    re.IGNORECASE,
)
_NEGATED = _any(
    r"\b(?:not|n't|never|cannot|don'?t|do not|didn'?t|won'?t|can'?t|without|nobody|no one|stop|refuse|unless|haven'?t|isn'?t|aren'?t|neither|nor)\b(?: +[^\s,]+){0,5} *$",
    r"\b(?:before|until|once|when|after|if|as soon as|in case|whether|should|will|can|could|do|how|what|why)(?: \S+){0,4} ?$",
    r"\b(?:too early to|too soon to|hesitant to|afraid to|reluctant to|rather not|yet to|not ready to|not sure i want to|think(?:ing)? about whether to)(?: \S+){0,3} ?$",
    r"(?:لا|ليس|لم|لن|मत|न|नहीं)(?: \S+){0,2} ?$",
)
_CONDITION = re.compile(
    r"\b(?:before|until|once|when|after|if|as soon as|should|(?<!you )(?:will|can|could)|how|what|why|when do|whether)\b(?: \S+){0,5} ?$",
    re.IGNORECASE,
)
_LATER = _any(
    r"^[ ,]*(?:only |just )?(?:later|tomorrow|next (?:week|month|year)|after (?!all)|once |when |if |as soon as |unless |but (?:not|wait|first)|in (?:a few|some|two|three) (?:days|weeks|months)|yet\b|without my)",
    r"(?:नहीं|मत)",
)  # fmt: skip
_REFUSES = _any(
    r"\b(?:not|n't|don'?t (?:want|like|feel)) (?:\w+ ){0,3}(?:ready|yet|now|comfortable|sure|share|send|match|proceed|go ahead|anyone to)\b",
    r"\b(?:hold on|hold off|wait|stop|cancel|changed my mind|not interested|need (?:more )?time|think about it|think it over|withdraw|take back|revoke|keep (?:it|this) private)\b",
    r"\b(?:don'?t|do not|never) (?:you )?(?:share|send|contact|forward|start|go ahead|proceed|match|find)\b",
    r"ليس بعد|لا ترسل|لا تشارك|لست مستعد|अभी नहीं|मत (?:भेज|शेयर)|तैयार नहीं",
)
_WAIVES = _any(
    r"\b(?:without|skip|forget|never mind|don'?t wait for|do not wait for|even without|regardless of)\b(?: \w+){0,3} (?:documents?|reports?|x-?rays?|scans?|tests?|results?|papers?|mri|findings?|uploads?)\b",
    r"\b(?:don'?t|do not) have (?:the |any |my )?(?:documents?|reports?|x-?rays?|scans?|mri)\b[^.!?]*\b(?:go ahead|proceed|anyway|find|start)\b",
)


def consent(message: str, *, asked: bool = False) -> Consent:
    """Read a message.

    Args:
        message: What the person wrote.
        asked: The last answer asked whether to begin matching: a bare "yes" or "no" then counts.

    Returns:
        The last clear word counts: "go ahead, no wait, not yet" is a no. A condition ("once my
        MRI is in"), a question ("can you find me hospitals?" asks for it and counts; "when do you
        send my data?" does not) and a refusal are no consent.
    """
    plain = message.replace("’", "'").replace("‘", "'")
    waives = _WAIVES.search(plain) is not None
    if asked and (bare := _BARE_YES.match(plain)):
        return Consent(answer="yes", start=bare.start(), end=bare.end(), waives_documents=waives)
    if asked and (bare := _BARE_NO.match(plain)):
        return Consent(answer="no", start=bare.start(), end=bare.end())
    said: list[tuple[int, int, Answer]] = [
        (match.start(), match.end(), "no") for match in _REFUSES.finditer(plain)
    ]
    for match in _WANTS.finditer(plain):
        clause = re.split(r"[.!?;\n]|\b(?:but|however|and now)\b", plain[: match.start()])[-1]
        rest = re.split(r"[.!?;\n]", plain[match.end() :])[0]
        answer = _heard(clause, rest)
        if answer != "none":
            said.append((match.start(), match.end(), answer))
    if not said:
        return Consent(answer="none")
    start, end, answer = max(said, key=lambda one: (one[1], one[0]))
    return Consent(answer=answer, start=start, end=end, waives_documents=waives and answer == "yes")


_SOME_DAY = re.compile(r"\b(?:later|tomorrow|next (?:week|month|year)|some day)\b", re.IGNORECASE)
_POLITE = re.compile(r"\b(?:can|could|will|would) you(?: \w+)? ?$|\bplease ?$", re.IGNORECASE)
_WITHOUT_PAPERS = re.compile(
    r"(?:documents?|reports?|x-?rays?|scans?|tests?|results?|papers?|mri|findings?|uploads?)\b[^.!?]*$", re.IGNORECASE
)  # fmt: skip


def _heard(clause: str, rest: str) -> Answer:
    if _LATER.match(rest) or _SOME_DAY.search(rest) or (_LATER.search(rest) and "नहीं" in rest):
        return "no"
    if _POLITE.search(clause) or _WITHOUT_PAPERS.search(clause):
        return "yes"
    if _CONDITION.search(clause):
        return "none"
    return "no" if _NEGATED.search(clause) else "yes"
