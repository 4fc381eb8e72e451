"""What a model may speak of at all: its bounds by structure, where lists of phrases end (IN-12). Pure.

A statement that names an illness, a medicine, a dose or an outcome is cut unless it repeats the
person's own words or leaves the matter to a doctor. So is one that claims that something was sent
or matched before the person agreed, a whole message in a language that is not the case's, and any
statement that is no coordinator's (`part`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from bedside.clinical.drugs import find_drugs
from bedside.core.value import value
from bedside.flows.intake.lexicon import conditions, phrase_pattern
from bedside.flows.intake.part import asks_only, in_part
from bedside.sop.languages import detect

__all__ = ["Beyond", "beyond", "foreign"]


@value
class Beyond:
    """A sentence at [start, end) that is out of bounds; `id` names which."""

    id: str
    start: int
    end: int


_SENTENCE = re.compile(r"(?:[^.!?\n؟।。！？]|\.(?=\d))+[.!?؟।。！？]*[\"'”’)]*\s*")
_ILLNESS = re.compile(
    r"\b(?:\w{3,}(?:itis|osis|oma|emia|aemia|opathy|algia|plegia|ectasia|sclerosis|stenosis)|cancers?|tumou?rs?|gout|lupus|fractures?|"
    r"broken|torn|tears?|ruptured?|clots?|blockages?|blocked|sepsis|infections?|infected|strokes?|angina|heart (?:attack|failure|disease|problem)|"
    r"kidney (?:failure|disease|stones?)|liver disease|cirrhosis|hernia|ulcers?|migraines?|epilepsy|seizures?|dementia|parkinson\w*|alzheimer\w*|"
    r"meniscus|ligament injury|wear and tear|degenerat\w+|slipped disc|sciatica|cysts?|fibroids?|endometriosis|pcos|infertil\w*|glaucoma|cataracts?|"
    r"pneumonia|tuberculosis|tb|covid|flu|malaria|typhoid|hiv|hepatitis|allerg(?:y|ic reaction)|asthma|copd|embolism|dvt|aneurysm|ischa?emi\w*|"
    r"depression|anxiety disorder|diagnos\w+|syndrome|disorder|malignan\w+|benign)\b",
    re.IGNORECASE,
)
_MEDICINE = re.compile(
    r"\b(?:antibiotics?|pain ?killers?|steroids?|statins?|blood thinners?|beta.?blockers?|insulin|injections?|supplements?|vitamins?|"
    r"anti-?inflammator\w+|nsaids?|opioids?|antidepressants?|sedatives?|sleeping (?:pill|tablet)s?|over.the.counter|creams?|ointments?|drops|tablets?|pills?|capsules?|doses?|dosage)\b",
    re.IGNORECASE,
)
_DOSE = re.compile(
    r"\b\d+(?:[.,]\d+)?\s?(?:mg|mcg|µg|g|ml|iu|units?|tablets?|pills?|capsules?|drops|puffs?)\b"
    r"|\b(?:once|twice|three times|\d+ times|every \w+ hours?)\b[^.!?]{0,12}\b(?:daily|a day|per day|day|night)\b|\b(?:half|double|extra|whole) (?:a |the |your )?(?:tablet|dose|pill)\b",
    re.IGNORECASE,
)
_OUTCOME = re.compile(
    r"\b(?:you|he|she|they|your \w+|it|this|the (?:operation|surgery|procedure|treatment))(?:'ll| will| won't| will not| is going to| are going to| should| can expect to) "
    r"(?:\w+ ){0,2}?(?:be (?:fine|ok|okay|well|back|cured|safe|able|healed|pain.?free|walking|successful|pregnant|alright|all right|good)|get (?:better|well|pregnant)|walk|run|recover|survive|heal|live|"
    r"make it|make a|improve|succeed|work|go well|feel (?:better|fine)|see (?:clearly|again)|die|hurt|fail|have a (?:baby|good|full))\b"
    r"|\b(?:full|complete|quick|speedy|fast) recovery\b|\b(?:no|little|minimal|low|high|without any?) risks?\b|\b(?:always|never|rarely) (?:succeeds?|fails?|works?)\b"
    r"|\b(?:success|survival|cure) rates?\b|\b(?:chances?|odds|likelihood|probability)\b|\b\d{1,3}\s?(?:%|percent|per cent)\b"
    r"|\b(?:not|isn't|nothing) (?:cancer|serious|dangerous|to worry about|life.threatening)\b|\bdon't worry\b|\bno need to worry\b|\bguarantee\w*\b|\bi promise\b"
    r"|\b(?:perfectly|completely|totally|quite|very) safe\b|\bsafe for you\b|\b(?:do|does) not need (?:an? |any )?(?:surgery|operation|treatment|doctor)\b|\bdon't need (?:an? |any )?(?:surgery|operation)\b",
    re.IGNORECASE,
)
_ADVICE = re.compile(
    r"\b(?:you|he|she|they) (?:should|must|ought to|need to|can safely|could try|may want to|might try|had better)\b|\bi(?:'d| would)? (?:recommend|suggest|advise|prescribe)\b"
    r"|\b(?:try|keep|stop|start|avoid|continue) (?:taking|using|eating|drinking|resting|icing)\b|\b(?:sounds? like|looks? like|points? to|consistent with|typical of|signs? of|symptoms? of|suggests?|indicates?)\b"
    r"|\b(?:most likely|probably|likely) (?:an? |the |just |only )?\w+",
    re.IGNORECASE,
)
_SAID = re.compile(
    r"\b(?:you(?:'ve| have)? (?:said|told|mentioned|wrote|shared|noted|described|asked)|i(?:'ve| have)? (?:noted|written down|recorded|got|added)|noted|thank(?:s| you) for (?:telling|sharing|letting)|got it|understood|"
    r"so (?:that's|it's|this is)|i see that you|as you (?:said|wrote))\b",
    re.IGNORECASE,
)
_DEFERS = re.compile(
    r"\b(?:doctors?|surgeons?|specialists?|hospitals?|medical team|clinicians?|physicians?|their team)\b[^.!?]{0,60}\b(?:decides?|will (?:decide|tell|say|answer|explain|look|review|advise)|can (?:tell|answer|say|advise|explain)|question|has to|needs? to (?:answer|decide))\b"
    r"|\b(?:question for|ask|up to|leave (?:that|it) to|talk to|check with|speak (?:to|with)) (?:your |a |the )?(?:own )?(?:doctors?|surgeons?|specialists?|hospital|medical team|prescriber)\b"
    r"|\b(?:i|we|nobody|no one|coordinators?)(?:'m| am| are)?(?: \w+){0,2}? (?:cannot|can't|can’t|not able to|unable to)\b|\b(?:nobody|no one) (?:\w+ )?can\b|\bi (?:cannot|can't|can’t)\b|\b(?:am not a doctor|not a doctor)\b",
    re.IGNORECASE,
)
_SENT = re.compile(
    r"\b(?:i|we)(?:'m|'ve|'ll| am| are| have| will| just)?\b[^.!?]{0,20}\b(?:sent|sending|send|shared|sharing|forwarded|forwarding|booked|booking|scheduled|matched|matching|started (?:matching|the search)|arranged|contacted|contacting|submitted|referred|reserved|connected)\b"
    r"|\b(?:you|your (?:case|file|details|records|information|documents))(?:'re| are| is| has been| have been| was| were) (?:now |already |being )?(?:sent|shared|forwarded|booked|scheduled|matched|submitted|referred|accepted|approved|confirmed)\b"
    r"|\b(?:appointment|booking|surgery|operation|consultation|slot) (?:is|has been|was) (?:booked|confirmed|scheduled|set|reserved)\b|\b(?:the )?hospitals? (?:has|have) (?:received|accepted|got|seen)\b",
    re.IGNORECASE,
)
_LATER = re.compile(
    r"\b(?:once|when|after|until|before|as soon as|only (?:if|with|when)|unless|if you|nothing|not|never|no one|nobody|can't|cannot|would|could|may i|shall i)\b",
    re.IGNORECASE,
)
_ABOUT_CARE = (
    r"(?:you|he|she|they|it|this|that|everything|things|all|one|(?:the|your|his|her|an?|this|that|such an?) (?:\w+ ){0,2}?(?:operations?|surger\w+|procedures?|treatments?|"
    r"an(?:a)?esthe\w+|replacements?|bypass|transplants?|injections?|implants?|joints?|knees?|hips?|hearts?|eyes?|legs?|ligaments?|pain|recovery|stay|results?|outcomes?|wounds?|"
    r"mother|father|mum|mom|dad|wife|husband|son|daughter|baby|body|life|sight|vision|health))"
)
_CLERK = (
    r"(?:be (?:asked|sent|told|shown|read|kept|shared|noted|contacted|called|able to (?:add|change|write|upload|read|see|choose|take|send|ask|talk)|passed|given|added|here|used)|"
    r"hear|receive|get (?:an? |the |your )?(?:\w+ )?(?:message|summary|list|call|reply|answer|quote|copy|letter|e-?mail|price|offer|estimate|confirmation|word)|"
    r"see (?:an? |the |your )?(?:\w+ )?(?:list|question|form|summary|page|message|button)|find|add|change|write|upload|send|choose|decide|tell|ask|answer|talk|speak|say|stop|"
    r"take (?:about |only |a |your |back|it back|that back)|need to (?:upload|send|add|tell|sign)|go on|come|start|skip|leave|want|help (?:the|them|me|us|a)|give|reach|type|know|share|meet)"
)
_FORETELLS = re.compile(
    rf"\b{_ABOUT_CARE}(?:'ll|'re going to|'s going to| (?:\w+ )?(?:will|won't|would|shall|cannot|can't|can|could|is going to|are going to|is bound to|are bound to|is sure to|are sure to|is certain to|are certain to)(?: not| never)?)"
    rf"(?! (?:\w+ ){{0,2}}?{_CLERK}\b) \w+",
    re.IGNORECASE,
)
"""The future, or what can or cannot be, of anything but what this conversation does."""
_ASSURES = re.compile(
    r"\b(?:count on|rely on|bet on|rest assured|my word|i swear|trust (?:me|us)|take it from me|believe me|no (?:doubt|question) (?:about|that)|without (?:a |any )?doubt|"
    r"(?:i am|i'm|we are|we're) (?:\w+ )?(?:sure|certain|confident|convinced|positive|optimistic)|definitely|undoubtedly|inevitabl[ey]|assured(?:ly)?|certainty|sure thing)\b",
    re.IGNORECASE,
)
_JUDGES = re.compile(
    rf"\b{_ABOUT_CARE}(?:'s|'re| is| are| was| were| looks?| seems?| sounds?)(?: not|n't)? (?:\w+ ){{0,2}}?(?:necessary|needed|unnecessary|essential|avoidable|successful|routine|easy|straightforward|painless|pain.free|harmless|safe|worth it|"
    r"the (?:right|best|only) (?:thing|choice|option|way|treatment)|right for you|candidates?|fine|cured|healthy|in (?:good|safe) hands)\b"
    r"|\b(?:\w+ (?:out of|in|of) (?:every )?(?:ten|\d+|an? hundred|twenty|five|four|three)|most|nearly all|almost all|the (?:vast )?majority of|hardly any|almost (?:every|no)) (?:\w+ )?(?:people|patients|of them|cases|operations)\b|\bfree (?:of|from) (?:pain|symptoms)\b"
    rf"|\b{_ABOUT_CARE} (?:\w+ly |always |never |usually |often |just |simply )?(?:goes|go|works?|turns? out|ends?|heals?|succeeds?|fails?|lasts?|helps?|cures?|fixes|improves?)(?! (?:over|through|on|back) (?:the|your|this|to)| how)\b"
    r"|\b(?:ideal|perfect|good|great|excellent|strong|poor|suitable|bad|prime|textbook) candidates?\b|\b(?:get|getting|feel|feeling|be|being|walk|walking|see|seeing) (?:\w+ )?(?:better|well again|cured|pain.?free|normally again)\b"
    r"|\b(?:pain.?free|good as new|new lease|plain sailing|piece of cake|walk in the park|bright future)\b",
    re.IGNORECASE,
)
"""A judgement on the operation, the stay, the recovery or the person's fitness for it."""
_OURS = re.compile(
    r"^\W*(?:(?:and|so|then|now|next|of course|yes|ok(?:ay)?|thank you|thanks|meanwhile|first)\W+)*"
    r"(?:i|we|a (?:human )?(?:coordinator|colleague|person)|the (?:coordination )?team|(?:the|each|every) hospitals?|(?:its|their|the hospital's) (?:doctors?|team)|nothing|nobody|no hospital|"
    r"(?:your|the|this) (?:file|document|report|question|message|case|answer|budget|photo|form|list|page|price|quote|letter)s?)\b"
    r"|\bhow (?:this|it|that) works\b|\bfeel\b[^.!?]*\b(?:sense|natural|understandable)\b|\bsense to feel\b",
    re.IGNORECASE,
)
_DIRECTS = re.compile(
    r"\b(?:tell|ask|say|advise|want)s? (?:you |him |her |the same\W+)?(?:to )?(?:stop|take|start|skip|double|halve|pause)\b",
    re.IGNORECASE,
)
_TAGGED = re.compile(
    r"^\W*(?:isn't|aren't|wasn't|don't you think|did you know|wouldn't|shouldn't|what if|it(?:'s| is)|you(?:'re| are| have))\b|\b(?:isn't it|right|correct|no|don't you|doesn't it)\s*\?",
    re.IGNORECASE,
)


def _promises_outcome(sentence: str) -> bool:
    """Does the statement say how it will turn out, by its build and whatever its words?"""
    if _ASSURES.search(sentence):
        return True
    for form in (_JUDGES, _FORETELLS):
        match = form.search(sentence)
        if match and not _OURS.search(sentence):
            return True
    return False


def foreign(text: str, language: str = "en") -> bool:
    """Is any of the message in another language than the case's?"""
    for part in (text, *_SENTENCE.findall(text)):
        code = detect(part).code
        if code not in {"unknown", language}:
            return True
    letters = [char for char in text if char.isalpha()]
    strange = sum(char > "\u024f" for char in letters)
    return language == "en" and strange > 2  # noqa: PLR2004 - a name may hold a letter or two


def _strange(sentence: str, vocabulary: frozenset[str]) -> bool:
    """Are most of its longer words none that this conversation has in English?"""
    words = [word.casefold() for word in re.findall(r"[^\W\d_]{4,}", sentence)]
    unknown = [
        word for word in words if word not in vocabulary and word.rstrip("s") not in vocabulary
    ]
    return len(unknown) > 1 and len(unknown) >= _MOSTLY * len(words)


_MOSTLY = 0.75


def beyond(
    text: str,
    *,
    said: Sequence[str],
    agreed: bool,
    about: Sequence[str] = (),
    vocabulary: frozenset[str] = frozenset(),
) -> tuple[Beyond, ...]:
    """The statements that are out of bounds.

    Args:
        text: The model's message.
        said: The person's own messages and what is known, for what may be repeated.
        agreed: True once the person has confirmed that things are shared.
        about: Names of the case's own procedure, which are no illness.
        vocabulary: English words of our own texts; a statement of other words alone is cut.
    """
    own = " ".join(said).casefold()
    names = phrase_pattern(about) if about else None
    found: list[Beyond] = []
    for match in _SENTENCE.finditer(text):
        sentence = match.group()
        plain = names.sub("operation", sentence) if names else sentence
        why = _why(plain, own, agreed=agreed)
        if not why and vocabulary and _strange(sentence, vocabulary):
            why = "language"
        asks = sentence.rstrip(" \"'”’)").endswith(("?", "؟"))
        if not why and sentence.strip():
            defers = (
                _DEFERS.search(plain) and not _ADVICE.search(plain) and not _DIRECTS.search(plain)
            )
            if asks and (_leads(plain, own) or not asks_only(plain, (*said, "operation", *about))):
                why = "diagnosis"
            elif not asks and not defers and not in_part(plain, (*said, "operation", *about)):
                why = "not_in_part"
        if why:
            found.append(Beyond(id=why, start=match.start(), end=match.end()))
    return tuple(found)


def _leads(question: str, own: str) -> bool:
    """Does the question say an illness or a medicine of its own rather than ask for it?"""
    told = _TAGGED.search(question) is not None
    ill = _ILLNESS.search(question) is not None or bool(conditions(question))
    return told and (ill or _MEDICINE.search(question) is not None) and not _repeats(question, own)


def _why(sentence: str, own: str, *, agreed: bool) -> str:
    asks = sentence.rstrip(" \"'”’)").endswith(("?", "؟"))
    if not agreed and not asks and _SENT.search(sentence) and not _LATER.search(sentence):
        return "premature_match"
    if _DOSE.search(sentence) and not _repeats(sentence, own):
        return "prescription"
    if asks and _names_new_drug(sentence, own):
        return "prescription"
    if asks and not _ADVICE.search(sentence):
        return ""
    if _DEFERS.search(sentence) and not (
        _ADVICE.search(sentence) or _OUTCOME.search(sentence) or _ASSURES.search(sentence)
    ):
        return ""
    if _OUTCOME.search(sentence) or (not asks and _promises_outcome(sentence)):
        return "outcome_promise"
    named = bool(find_drugs(sentence)) or _MEDICINE.search(sentence) is not None
    ill = _ILLNESS.search(sentence) is not None or bool(conditions(sentence))
    if not (named or ill):
        return ""
    if _SAID.search(sentence) and _repeats(sentence, own) and not _ADVICE.search(sentence):
        return ""
    return "prescription" if named else "diagnosis"


def _names_new_drug(sentence: str, own: str) -> bool:
    """Does it name a medicine, by its own name, that the person never named?"""
    named = (sentence[one.start : one.end].casefold() for one in find_drugs(sentence))
    return any(name not in own for name in named)


def _repeats(sentence: str, own: str) -> bool:
    """Does every illness, medicine and figure of the sentence stand in the person's own words?"""
    terms = [
        *(match.group() for match in _ILLNESS.finditer(sentence)),
        *(match.group() for match in _MEDICINE.finditer(sentence)),
        *(sentence[one.start : one.end] for one in conditions(sentence)),
        *(sentence[one.start : one.end] for one in find_drugs(sentence)),
        *re.findall(r"\d+(?:[.,]\d+)?", sentence),
    ]
    return all(term.casefold() in own for term in terms)
