"""What an intake answer must not say, found by rule with the span to cut (IN-12). Pure.

Severe findings (a diagnosis, a prescription, an outcome promise) are cut out of the message; those
of style pass and are counted. Spans are whole sentences of the answer, so that what is left reads.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Literal

from bedside.core.value import value
from bedside.sop.voice_forms import breaches

__all__ = ["SEVERE", "Finding", "cut", "one_question", "questions", "repeated", "voice"]

Kind = Literal[
    "diagnosis", "prescription", "outcome_promise", "forbidden_phrase", "two_questions",
    "repeated_question", "list",
]  # fmt: skip
SEVERE: frozenset[str] = frozenset({"diagnosis", "prescription", "outcome_promise"})


@value
class Finding:
    """One breach at [start, end) of the answer: the sentence to cut. `why` names the rule.

    `severe` ones are cut; the others are counted.
    """

    kind: Kind
    start: int
    end: int
    why: str

    @property
    def severe(self) -> bool:
        """True where the sentence must not go out."""
        return self.kind in SEVERE


def _any(*forms: str) -> re.Pattern[str]:
    return re.compile("|".join(forms), re.IGNORECASE)


_SENTENCE = re.compile(r"(?:[^.!?\n؟।]|\.(?=\d))+[.!?؟।]*[\"'”’)]*")
_ILLNESS = (
    r"(?:torn (?:\w+ ){0,2}(?:meniscus|ligament|acl|cartilage|tendon|labrum)|arthritis|osteoarthritis|tear|rupture|fracture|necrosis|cancer|tumou?r|diabetes|infection|"
    r"heart (?:disease|failure|attack)|angina|stenosis|blockage|cataracts?|glaucoma|infertil\w+|pcos|"
    r"endometriosis|clot|dvt|embolism|stroke|sepsis|an(?:a)?emia|hypertension|disease|syndrome|"
    r"\w+(?:itis|osis|emia|aemia|opathy|oma))"
)
_DIAGNOSIS = _any(
    r"\b(?:you|he|she) (?:appears?|seems?) to (?:have|be suffering)\b|\b(?:benign|malignant|unavoidable|inoperable)\b|\byou have nothing (?:serious|wrong|bad|dangerous)\b|\byou(?:'re| are) (?:in no|not in) danger\b|\byour (?:numbers|values|results|levels|counts) are\b|\b(?:yes|no),? it(?:'s| is) (?:not )?(?:broken|torn|infected|cancer|normal|serious|worn)\b(?! to )",
    rf"\b(?:may|might|could|seems?|must|probably|likely) (?:\w+ ){{0,3}}(?:suffering from|suffers? from)\b|\b(?:usually|often|typically|normally|always|generally) (?:means?|points? to|indicates?|suggests?) (?:\w+ ){{0,3}}{_ILLNESS}\b",
    r"\b(?:typical|classic|clear|textbook) (?:case|sign|picture|symptoms?) of\b|\b(?:you|he|she)(?:'re| are|'s| is) (?:\w+ )?(?:diabetic|infertile|anaemic|anemic|septic|hypertensive|obese|depressed|arthritic)\b",
    r"\b(?:your|his|her|the) (?:heart|knee|hip|eye|kidneys?|liver|lungs?|joint|bone|wound|ligament|meniscus) (?:is|are|looks?|seems?) (?:\w+ )?(?:weak|damaged|torn|worn|broken|infected|healthy|diseased|swollen|inflamed|failing|fine|strong|normal)\b|\b(?:it|that|this) (?:looks?|seems?|sounds?) (?:\w+ )?(?:infected|broken|torn|worn|inflamed|serious|benign|harmless|normal|healthy)\b",
    r"\b(?:you|he|she|they) (?:should|must|ought to) (?:\w+ )?(?:have|get|undergo|choose|go for) (?:the |a |an |this |that )?(?:\w+ )?(?:surgery|operation|replacement|bypass|ivf|procedure)\b|\b(?:is|are) better than\b[^.!?]{0,30}\bfor (?:you|him|her)\b",
    rf"\b(?:you|he|she|they) (?:do |does |did |will )?(?:\w+ ){{0,2}}(?:have|has|got) (?:\w+ ){{0,3}}{_ILLNESS}\b",
    rf"\bit (?:could|may|might|must|will|would|can)(?: \w+)? be (?:\w+ ){{0,3}}{_ILLNESS}\b|\b(?:it|this|that)(?:'s| is| isn't|'s not| is not| isn’t) (?:\w+ ){{0,4}}(?:{_ILLNESS}|sprains?|serious|dangerous|harmless|normal(?! to (?:feel|be|ask|have|want)))\b",
    rf"\b{_ILLNESS} is (?:the|a) (?:most )?(?:\w+ )?(?:cause|explanation|reason|diagnosis)\b|\bfrom your symptoms\b|\bbone on bone\b",
    r"\b(?:the|your|his|her) (?:blockage|tear|damage|narrowing|arthritis|cataract|wear|condition|disease|stenosis) (?:is|looks|seems) (?:\w+ )?(?:severe|mild|moderate|advanced|minor|serious|bad|complete|small|large|early|dangerous)\b",
    r"\b(?:surgery|(?:an|the|this) operation|a replacement|bypass|ivf|replacement) (?:is|would be|will be|seems) (?:\w+ )?(?:the )?(?:\w+ )?(?:best|right|only|necessary|needed|unnecessary|better|advisable) ?(?:option|choice|way|thing|treatment)?\b",
    rf"\b(?:you|he|she|they|your (?:mother|father|wife|husband|son|daughter|knee|hip|heart|eye)) "
    rf"(?:definitely |clearly |probably |likely |certainly |may |might |must |could |also |already )*"
    rf"(?:have|has|suffers? from|(?:is|are) suffering from)(?: got)? (?:an? |the |some |early |severe |advanced |mild |end-stage )*"
    rf"(?:\w+ ){{0,2}}{_ILLNESS}\b",
    rf"\b(?:this|that|it|these|which)(?:'s| is| are| sounds? like| looks? like| seems? to be| must be| is likely| is probably| suggests?| indicates?| means? you have| points? to| is (?:a )?(?:typical|classic) (?:sign|case)s? of) "
    rf"(?:very |most |likely |probably |clearly |an? |the |early |severe |advanced )*(?:\w+ ){{0,3}}{_ILLNESS}\b",
    r"\b(?:my|the|a likely|your) diagnosis (?:is|would be|here is)\b|\bi(?:'d| would)? (?:diagnose|think (?:you|it) (?:have|is))\b",
    r"\b(?:x-?ray|scan|mri|ecg|echo|angiogram|report|blood (?:test|result)s?|results?|values?|findings?|levels?)\b[^.!?]{0,40}\b(?:shows?|suggests?|means?|confirms?|indicates?|proves?)\b[^.!?]{0,30}\b(?:you|severe|advanced|serious|abnormal|normal|bad|fine|good|nothing|that)\b",
    r"\b(?:your|the|his|her) (?:\w+ ){0,2}(?:results?|values?|levels?|haemoglobin|hemoglobin|hba1c|creatinine|x-?ray|scan|mri|ecg) (?:is|are|looks?|seems?) (?:\w+ )?(?:normal|abnormal|fine|good|bad|high|low|worrying|concerning|perfect|severe|dangerous)\b",
    r"\b(?:it|this|that)(?:'s| is) (?:nothing serious|not serious|harmless|benign|malignant|serious|life-threatening|just (?:arthritis|age|wear))\b",
    r"\b(?:you|he|she) (?:definitely |really |clearly |do |does |will )*(?:needs?|requires?|do not need|don't need|does not need) (?:an? |the |this |that |total |urgent )*(?:\w+ )?(?:surgery|operation|replacement|bypass|stent|transplant|reconstruction)\b",
)
_DRUGS = (
    r"aspirin|ibuprofen|paracetamol|acetaminophen|tylenol|advil|naproxen|diclofenac|tramadol|warfarin|apixaban|"
    r"eliquis|rivaroxaban|xarelto|dabigatran|clopidogrel|plavix|heparin|enoxaparin|metformin|insulin|"
    r"ozempic|semaglutide|amoxicillin|antibiotics?|blood thinners?|painkillers?|steroids?|statins?|atorvastatin|"
    r"bisoprolol|metoprolol|lisinopril|amlodipine|ramipril|tamsulosin|prednisolone|letrozole|clomid|clomiphene|"
    r"progesterone|supplements?|vitamins?|vitamin \w|turmeric|glucosamine|medicines?|medications?|tablets?|pills?|"
    r"drugs?|doses?|dosage|injections?"
)
_MEDICINE = rf"(?:{_DRUGS}|it)"
_PRESCRIPTION = _any(
    rf"\b(?:{_DRUGS}) (?:is|are) (?:\w+ )?(?:safe|fine|ok|okay|enough|best|good|harmless)\b|\b(?:leave out|cut down|double up|stop eating|eat less|drink less|go without)\b(?=[^.!?]*\b(?:dose|tablets?|your|sugar|salt|if|{_DRUGS}))|\bit(?:'s| is) (?:safe|fine|ok|okay) to (?:wait|delay|postpone)\b",
    rf"\b(?:swap|replace|change|exchange|substitute) (?:\w+ ){{0,3}}(?:{_DRUGS})\b|\byou (?:can|may|could) (?:\w+ )?(?:fly|travel|drive|exercise|walk on it|bathe|swim|lift)\b",
    rf"(?:^|[.!?;:,]\s*|\b(?:and|then|so|yes|no) )(?:do not|don't|never) (?:\w+ )?(?:take|stop|skip|use|start|continue|double|change)(?:ing)? (?:\w+ ){{0,4}}(?:{_DRUGS})\b",
    rf"\bi(?:'d| would) (?:\w+ )?(?:take|stop|skip|use|start|try|avoid) (?:\w+ ){{0,3}}(?:{_DRUGS})\b|\b(?:{_DRUGS}) (?:would|will|should|can|could|might|may) (?:\w+ )?(?:help|work|relieve|ease|fix|be (?:enough|fine|safe|ok|okay|better))\b",
    r"^\W*(?:yes|no|sure|ok|okay)?,? ?(?:please |just )?(?:take|stop|skip|start|double|halve) (?:\d|it\b|them\b|that\b|one\b|two\b)(?! (?:a|an|from|with|step|minute|day at|as|up)\b)",
    r"^\W*(?:please |just )?(?:rest|ice|elevate|stretch|massage|bandage) (?:and|the|your)\b|\b(?:yes|no|sure),? you (?:can|may|could|should) (?:safely )?(?:stop|take|skip|continue|start|fly|travel|use)\b",
    rf"\b(?:you|he|she|they)(?:'d| would)? (?:should|could|can|must|may|might want to|need to|needs to|ought to|have to|had better|can safely|don't need to|shouldn't|should not|must not) (?:\w+ ){{0,2}}"
    rf"(?:tak(?:e|ing)|stop(?: taking)?|start(?: taking)?|skip|continue(?: taking)?|increase|reduce|double|halve|switch to|use|try|avoid|pause|hold|resume|inject) (?:\w+ ){{0,4}}{_MEDICINE}\b",
    rf"(?:^|[.!?;:,]\s*|\b(?:and|then|so|just|please|simply|instead|now|first) )(?:take|stop(?: taking)?|start(?: taking)?|skip|continue(?: taking)?|increase|reduce|double|halve|switch to|try|pause|hold|resume|keep taking|avoid) (?:\w+ ){{0,4}}(?!it\b){_MEDICINE}\b",
    r"\b\d+(?:\.\d+)?\s?(?:mg|mcg|µg|ml|units|iu|tablets?|pills?)\b[^.!?]{0,40}\b(?:a|per|every|each|twice|once|three times|daily|day|hours|night|morning)\b",
    r"\b(?:i|we) (?:recommend|advise|suggest|prescribe|would (?:recommend|advise|suggest|take))\b[^.!?]{0,60}\b(?:taking|stopping|starting|mg|dose|tablets?|medicine|medication|"
    + _MEDICINE[3:-4]
    + r"|exercises?|physiotherapy|rest|ice|diet|surgery|operation)\b",
    r"\b(?:it(?:'s| is)|that(?:'s| is)) (?:safe|fine|ok|okay|all right|best|better) (?:for you )?to (?:take|stop|skip|continue|keep taking|start|fly|travel)\b(?! (?:that|this|the|a|any) (?:question|step|part|field|one|photo|time|break)|(?: here| for today)\W*$)",
    r"\b(?:apply|put) (?:ice|heat|cream|ointment)\b|\bdo (?:these|this|some|the following) (?:exercises?|stretches?)\b",
)
_PROMISE = _any(
    r"\byou'll be (?:dancing|running|walking|seeing|playing|climbing|up and about)\b|\b(?:always|never) (?:turns out|goes|fails|ends) ?(?:well|wrong|badly|fine)?\b|\bresults? will be (?:excellent|perfect|good|great)\b|\bnobody (?:ever )?dies\b|\byour (?:heart|body|knee|lungs) (?:can|will) take it\b",
    r"\b(?:give|giving) you your (?:life|mobility|sight|vision|independence)\b|\bthere (?:are|is|will be) (?:no|zero|never any) (?:risks?|complications?|pain|danger|side effects?)\b|\b(?:recovery|healing|surgery|the operation) is (?:always )?(?:\w+ )?(?:quick|fast|easy|painless|safe|smooth|short|simple)\b",
    r"\bchances? (?:of (?:\w+ ){0,2})?(?:is|are) (?:\w+ )?(?:above|over|around|about|nearly|\d|good|high|excellent|great)|\byou (?:won't|will not|'ll not) (?:feel|have|notice) (?:\w+ )?(?:pain|problems?|complications?|anything)\b",
    r"\b(?:you|he|she|they)'ll (?:\w+ ){0,2}(?:be (?:\w+ )?(?:fine|pain[- ]?free|okay|ok|well|cured|better|all right)|recover|heal|walk|live|survive|conceive)\b|\bpain[- ]free (?:again|soon|within|in no time)\b",
    r"\b(?:most|nearly all|almost all|all|many) (?:people|patients) (?:\w+ )?(?:recover|heal|walk|do well|get better|improve|are fine|are cured|succeed)\b|\b(?:will|is going to|would) (?:\w+ )?(?:fix|cure|solve|heal|end|remove|restore) (?:it|this|that|the|your|everything|all)\b|\b(?:you have )?nothing to (?:fear|worry|be afraid of)\b",
    r"\b(?:you|he|she|they|your (?:\w+ )?(?:knee|hip|eye|heart|mother|father|wife|husband|son|daughter|baby|pain|surgery|operation|vision|recovery)|everything|it|the (?:surgery|operation|procedure|pain|treatment))(?:'ll| will| is going to| are going to|'re going to|'s going to)(?: \w+){0,3} "
    r"(?:walk|run|see (?:again|well|perfectly|clearly|better|normally)|recover|heal|be (?:\w+ )?(?:fine|ok|okay|all right|alright|cured|safe|well|successful|pain-?free|healthy|perfect|back|better|gone|painless|pregnant)|go (?:\w+ )?(?:well|smoothly|fine|away)|get (?:\w+ )?(?:better|pregnant|well)|work(?: out)?|succeed|feel (?:\w+ )?better|live|survive|disappear|improve|conceive)\b",
    r"\b(?:guarantee[ds]?(?! nothing)|promise (?:you|that|a|this|it)|i promise|100 ?per ?cent|no risk|risk-free|completely safe|perfectly safe|totally safe|without (?:any )?(?:risk|complications?)|nothing (?:to worry about|will go wrong|can go wrong)|sure to (?:work|succeed|recover|heal)|certain to (?:work|succeed|recover|heal)|always (?:works|succeeds))\b|\b100 ?% (?:safe|sure|certain|successful)\b",
    r"\b(?:success rate|success rates|survival rate|chance of success|your chances?)\b[^.!?]{0,25}\b(?:is|are|of|about|around|over|above|nearly)\b[^.!?]{0,12}(?:\d|high|excellent|good|great|very)",
    r"\b\d{1,3} ?(?:%|per ?cent\b|percent\b)[^.!?]{0,25}\b(?:success|chance|survival|recover\w*|cure\w*|safe)\b",
)
_NOT_OWN = _any(
    r"\b(?:cannot|can't|can not|could not|couldn't|am not able to|unable to|not able to|nobody can|no one can|won't|will not|would not|never|not (?:for me|mine) to|not a doctor|isn't something|is not something|not my place) (?:\w+ ){0,4}(?:promise|guarantee|say|tell|judge|know|predict|diagnose|prescribe|recommend|advise|answer|state)\b",
    r"\b(?:whether|if) (?:you|he|she|it|this|that|they|the)\b",
    r"\b(?:you (?:said|told|mentioned|wrote|described|have told)|as you (?:said|wrote)|the (?:report|letter|document|x-?ray report|doctor|surgeon) (?:says|states|reads|wrote|said)|according to (?:the|your) (?:report|letter|document|doctor)|noted|i have (?:noted|written down|you down)|on file)\b",
    r"\b(?:surgeon|doctor|cardiologist|specialist|team|clinician|anaesthetist|pharmacist|hospital)s? (?:will|would|can|could|must|may|who prescribed|decides?|judges?|makes?|needs? to|has to|have to|is the one)\b",
)
_QUESTION_WORDS = re.compile(r"\?\s*[\"'”’)]*$|؟\s*$")
_FORBIDDEN = _any(
    r"\byour body is telling you\b", r"\bneeds? to change\b", r"\b(?:don't|do not) worry\b", r"\btrust me\b",
    r"\bi (?:recommend|advise|suggest that you)\b", r"\byou (?:should|must|need to|ought to|have to)\b",
    r"\bas a doctor\b", r"\b(?:in )?my (?:medical|professional) opinion\b", r"\bgood news\b",
    r"\bunfortunately for you\b", r"\bat your age\b", r"\bjust relax\b", r"\bcalm down\b", r"\bstay positive\b",
    r"\bi (?:completely |totally |fully )?understand how you feel\b", r"\bi know exactly how\b",
    r"\bthank you for sharing\b", r"\beverything (?:will be|is going to be) (?:fine|ok|okay|all right|alright)\b",
    r"\beverything happens for a reason\b", r"\bat least (?:you|it|he|she)\b", r"\bbest (?:hospital|surgeon|doctor)s? in\b",
    r"\bworld-?class\b", r"^\s*(?:great|perfect|awesome|wonderful|fantastic|excellent)\s*[!,.]", r"\bi am a (?:doctor|nurse|human)\b",
)  # fmt: skip
_LIST = re.compile(r"(?m)^\s*(?:[-*•]|\d+[.)])\s+\S")


def voice(answer: str) -> tuple[Finding, ...]:
    """Every breach of the voice rules, in order; one sentence may have several."""
    found: list[Finding] = []
    for match in _SENTENCE.finditer(answer):
        text = match.group()
        if not text.strip():
            continue
        start = match.start() + len(text) - len(text.lstrip())
        plain = text.replace("’", "'").replace("‘", "'")
        for kind, why in _of(plain.strip()):
            found.append(Finding(kind=kind, start=start, end=match.end(), why=why))
    for match in _LIST.finditer(answer):
        found.append(Finding(kind="list", start=match.start(), end=match.end(), why="a list"))
        break
    return tuple(sorted(found, key=lambda one: (one.start, one.kind)))


def _of(sentence: str) -> Iterable[tuple[Kind, str]]:
    asks = _QUESTION_WORDS.search(sentence) is not None
    reports = _NOT_OWN.search(sentence) is not None
    severe: dict[Kind, re.Match[str]] = {}
    if not asks and not reports:
        if match := _DIAGNOSIS.search(sentence):
            severe["diagnosis"] = match
        if match := _PROMISE.search(sentence):
            severe["outcome_promise"] = match
    if not asks and not _refers(sentence) and (match := _PRESCRIPTION.search(sentence)):
        severe["prescription"] = match
    if not asks:
        for kind, met in breaches(sentence):
            severe.setdefault(kind, met)
    for kind, met in severe.items():
        yield kind, _why(met)
    if match := _FORBIDDEN.search(sentence):
        yield "forbidden_phrase", _why(match)


_REFERS = _any(
    r"\b(?:ask|talk to|speak (?:to|with)|check with|contact|call) (?:the |your |a |his |her )?(?:\w+ )?(?:doctor|surgeon|pharmacist|cardiologist|prescriber|clinician|anaesthetist|specialist|team|gp)\b",
    r"\b(?:cannot|can't|not able to|unable to|won't|never|not mine to|not for me to|before (?:you have spoken|speaking|talking) (?:to|with))\b",
    r"\b(?:you (?:said|told|mentioned|wrote)|(?:the|your) (?:report|letter|document) (?:says|states|reads|lists)|noted|i have down|i have written)\b|\bstart with the (?:medicine|tablet)s? (?:that|which) you\b",
)


def _refers(sentence: str) -> bool:
    """Sent to the one who prescribed, reported, or refused: no prescription."""
    return _REFERS.search(sentence) is not None


def _why(match: re.Match[str]) -> str:
    """The words of the answer that met the rule, at most eight of them."""
    return " ".join(match.group().split()[:8])


def questions(answer: str) -> tuple[tuple[int, int], ...]:
    """Spans of the sentences that ask, in order."""
    return tuple(
        (match.start() + len(match.group()) - len(match.group().lstrip()), match.end())
        for match in _SENTENCE.finditer(answer)
        if _QUESTION_WORDS.search(match.group().strip())
    )


_SECOND_ASK = re.compile(
    r",?\s+(?:and|also|plus|or also|as well as)\s+(?:also\s+)?(?:(?:what|which|who|when|where|why|how)\b|(?:do|does|did|are|is|have|has|can|could|would|will) (?:you|he|she|it|they|your|there)\b)",
    re.IGNORECASE,
)


def one_question(answer: str) -> tuple[Finding, ...]:
    """What asks beyond the first question: later ones, and a second one tied on by "and"."""
    asked = questions(answer)
    found = [
        Finding(kind="two_questions", start=start, end=end, why="a second question")
        for start, end in asked[1:]
    ]
    if asked:
        start, end = asked[0]
        if tied := _SECOND_ASK.search(answer, start + 1, end):
            found.insert(
                0,
                Finding(kind="two_questions", start=tied.start(), end=end, why="two asked in one"),
            )
    return tuple(found)


_WORD = re.compile(r"[^\W_]+")
_STOP = frozenset(
    ["a", "an", "and", "are", "at", "be", "can", "could", "did", "do", "does", "for", "from", "have", "has", "how", "i", "if", "in", "is", "it", "me", "my", "of", "on", "or", "our", "please", "she", "he", "the", "their", "there", "they", "this", "to", "us", "was", "we", "were", "what", "when", "where", "which", "who", "will", "with", "would", "you", "your", "also", "any", "so", "that", "then", "tell", "know", "may", "now", "let", "just"]
)  # fmt: skip
_ALIKE = 0.75


def repeated(
    answer: str, history: Sequence[str], *, answered: Sequence[str] = ()
) -> tuple[Finding, ...]:
    """Questions of the answer that were asked before, or that ask for what is known.

    Args:
        answer: The new answer.
        history: Earlier answers of the assistant, in any order.
        answered: Question texts of fields that are captured.

    Returns:
        One finding a question whose words are, to three quarters, those of an earlier question.
    """
    earlier = [
        _words(text[start:end]) for text in (*history, *answered) for start, end in questions(text)
    ]
    found = []
    for start, end in questions(answer):
        mine = _words(answer[start:end])
        if mine and any(len(mine & old) / len(mine | old) >= _ALIKE for old in earlier if old):
            found.append(
                Finding(kind="repeated_question", start=start, end=end, why="asked before")
            )
    return tuple(found)


def _words(text: str) -> frozenset[str]:
    return frozenset(word for word in _WORD.findall(text.casefold()) if word not in _STOP)


def cut(answer: str, findings: Sequence[Finding]) -> str:
    """The answer without the spans of the findings; "" where nothing is left that says anything."""
    kept, at = [], 0
    for start, end in sorted({(one.start, one.end) for one in findings}):
        if start > at:
            kept.append(answer[at:start])
        at = max(at, end)
    kept.append(answer[at:])
    left = re.sub(r"[ \t]{2,}", " ", "".join(kept)).strip()
    return left if _WORD.search(left) else ""
