"""What a message does besides answering: declines, doubts, corrects, asks, feels, discloses. Pure."""

from __future__ import annotations

import re
from typing import Literal

from bedside.core.value import value
from bedside.flows.intake.lexicon import NO, RELATIVE, YES

__all__ = [
    "Asked", "Signals", "agrees", "corrects", "declines", "defers", "disagrees", "doubts", "doubts_here",
    "not_applicable", "nothing",
    "signals", "wants_person",
]  # fmt: skip

Asked = Literal[
    "cost", "documents", "advice", "who", "privacy", "process", "provider", "duration", "other"
]


def _any(*forms: str) -> re.Pattern[str]:
    return re.compile("|".join(forms), re.IGNORECASE)


_DECLINE = _any(
    r"\b(?:rather|prefer|like|want) (?:to )?not(?: to)?\b",
    r"\b(?:i'd|i would|i’d) (?:rather|prefer) (?:you )?(?:not|skip|keep)\b",
    r"\b(?:don't|don’t|do not|dont|won't|will not|wouldn't) (?:want|wish|like|feel like|care) to "
    r"(?:say|tell|share|answer|disclose|give|talk|discuss|go into|get into)\b",
    r"\bnot (?:comfortable|willing|going to (?:say|tell|share|answer|give))\b",
    r"\bnone of your business\b|\bthat(?:'s| is) (?:private|personal|confidential)\b",
    r"\b(?:no comment|i decline|skip (?:this|that|it|the question)|next question|pass on (?:this|that))\b",
    r"^\W*(?:skip|pass|next)\W*$",
    r"\b(?:why do you need|keep (?:that|it) (?:private|to myself))\b",
    r"لا أريد|أفضل عدم|नहीं बताना|बताना नहीं",
)
_DOUBT = _any(
    r"\b(?:don't|don’t|do not|dont|didn't|cannot|can't|can’t) (?:really |actually |quite |even )?"
    r"(?:know|remember|recall|say for sure|tell for sure)\b(?! (?:of|about) any)",
    r"\b(?:no idea|no clue|not (?:really |quite |too |so |100% |entirely )?(?:sure|certain)|unsure|idk|dunno|"
    r"haven't (?:checked|measured|been told|decided|thought)|not decided|undecided|never (?:been )?(?:checked|tested|measured)|"
    r"nobody (?:has )?told me|hard to say|no one (?:has )?told me)\b",
    r"لا أعرف|لا اعرف|لست متأكد|पता नहीं|मालूम नहीं|नहीं पता",
)
_DEFER = _any(
    r"^\W*(?:(?:maybe|perhaps|ok(?:ay)?|sure|no|yes|i(?:'ll| will)(?: do (?:it|that))?|let's do (?:it|that)|rather)\W+)*"
    r"(?:later|not (?:right )?now|another time|next time|some other time|tomorrow|in a (?:bit|moment|minute|while))\b",
    r"\b(?:come|get) back to (?:that|it|this)\b|\b(?:ask|tell|answer|send|add|upload) (?:me |you |it |them |that )?(?:that |it )?later\b",
    r"^\W*(?:لاحقا|لاحقًا|لاحقاً|فيما بعد|बाद में|फिर कभी)\W*$",
)
_NOT_APPLICABLE = _any(
    r"^\W*n\s*/?\s*a\W*$",
    r"\b(?:does not|doesn't|doesn’t|do not|don't) (?:apply|concern)\b|\bnot (?:applicable|relevant)\b",
)
_CORRECT = _any(
    r"\b(?:actually|correction|i meant|i mean|i misspoke|my mistake|my bad|sorry,? (?:it|i|no|that|not)|"
    r"change(?:d)? my mind|on second thoughts?|i was wrong|made a mistake|typo|not .{1,20}, (?:but|it's)|"
    r"instead|rather than|let me correct|to correct|wrong|wait|hang on|hold on|scratch that|oops)\b",
    r"^\W*no,? (?:it(?:'s| is)|i(?:'m| am)|the)\b",
    r"أقصد|اقصد|قصدي|أخطأت|मेरा मतलब|गलती से|ग़लती से",
)
_YES = _any(
    rf"^\W*(?:{YES}|sure|ok|okay|of course|certainly|absolutely|definitely|correct|right|"
    r"exactly|indeed|please do|go ahead|i do|i am|i have|i did|it is|it has|that's right|affirmative|"
    r"ठीक है)(?=\W|$)",
    r"\b(?:i (?:think|believe|guess|suppose) so|unfortunately,? yes|that(?:'s| is) (?:right|correct|fine))\b",
)
_NO = _any(
    rf"^\W*(?:{NO}|negative|not really|not at all|not that i know(?: of)?|not yet|nothing|neither|"
    r"i don't|i do not|i'm not|i am not|i haven't|i have not|i have never|i've never|it hasn't|it has not)(?=\W|$)",
    r"\b(?:none (?:of (?:these|those|them)|that i know(?: of)?|at all)|not that i(?:'m| am) aware of|i don't think so|don't believe so)\b",
)
_HUMAN = _any(
    r"\b(?:talk|speak|chat|connect me|put me through|get me|transfer me|escalate|hand me over)\b[^.!?]{0,20}\b(?:to|with|through)?\s*"
    r"(?:a |an |the |some |any |real |live |actual |human |your )*(?:person|human|agent|someone|somebody|staff|"
    r"representative|rep|coordinator|operator|manager|real one|people)\b",
    r"\b(?:want|need|prefer|get|give me) (?:a |an )?(?:real |live |actual )?(?:human|real person|live agent|human being)\b",
    r"\b(?:call me|phone me|ring me|can (?:someone|somebody|anyone) call)\b(?! (?:by|[A-Z]))",
    r"(?:أتحدث|اتحدث|التحدث|أتكلم|اتكلم|التكلم|أكلم|اكلم)\s+(?:(?:إلى|الى|مع)\s+)?(?:أي\s+)?"
    r"(?:شخص|إنسان|انسان|موظف|منسق|أحد|احد)",
    r"(?:इंसान|व्यक्ति|आदमी|समन्वयक|कर्मचारी|किसी) से बात",
)
_FEELINGS = [
    "scared",
    "afraid",
    "frightened",
    "terrified",
    "worried",
    "anxious",
    "nervous",
    "stressed",
    "overwhelmed",
    "desperate",
    "exhausted",
    "frustrated",
    "angry",
    "sad",
    "hopeless",
    "lonely",
    "confused",
    "embarrassed",
    "ashamed",
    "devastated",
    "heartbroken",
    "miserable",
    "fed-up",
    "hopeful",
    "relieved",
    "excited",
]
_FEEL = re.compile(
    r"(?P<before>\b(?:not|never|no longer|isn't|aren't|don't|wasn't)\s+(?:\w+\s+)?)?"
    r"(?<![\w-])(?P<word>" + "|".join(_FEELINGS).replace("fed-up", r"fed\s+up") + r")(?![\w-])",
    re.IGNORECASE,
)
_FEEL_ELSEWHERE = re.compile(
    r"خائف|قلقة?(?!\w)|متوتر|डर (?:लग|रह)|डरा हुआ|डरी हुई|घबराहट|चिंतित|परेशान हूँ"
)
_GRAVE = _any(
    rf"\b(?:my|our|her|his)\s+(?:late\s+)?{RELATIVE}\s+(?:just\s+|recently\s+|has\s+|had\s+)?(?:died|passed(?:\s+away)?)\b",
    rf"\b(?:lost|losing|buried)\s+(?:my|our|a|the)\s+(?:{RELATIVE}|pregnancy|twins?)\b",
    r"\b(?:had (?:a|two|three|several|\d+) )?(?:miscarriages?|stillbirth|stillborn|ectopic)\b",
    r"\bmy\s+late\s+(?:wife|husband|mother|father|son|daughter|partner)\b",
    r"\b(?:i have|i've got|diagnosed with|she has|he has|it is|it's)\s+(?:\w+\s+){0,2}(?:cancer|tumou?r|leuk(?:a)?emia|lymphoma|als|motor neurone)\b",
    r"\bterminal(?:ly ill)?\b|\b(?:weeks|months) to live\b",
    r"\b(?:was|been|being)\s+(?:raped|abused|assaulted|tortured|beaten)\b|\bdomestic violence\b",
    r"(?:فقدت|توفي|توفيت|مات|ماتت)\s+(?:طفلي|طفلتي|ابني|ابنتي|زوجي|زوجتي|أمي|أبي|والدي|والدتي|جنيني|حملي)(?!\w)|إجهاض",
    r"(?:माँ|मां|पिता(?:जी)?|पति|पत्नी|बेटे|बेटी|बच्चे) (?:का|की) (?:देहांत|निधन|मृत्यु|मौत)|गर्भपात",
)
_ASKS: tuple[tuple[Asked, re.Pattern[str]], ...] = (
    ("cost", _any(
        r"\b(?:how much|what(?:'s| is| are| will| would| does)? (?:the |it |this )?(?:total )?(?:cost|price|fee|charge)|"
        r"(?:cost|price|prices|expensive|cheap|afford(?:able)?|quote|estimate|fees|charges)\b[^.!?]{0,60}\?)",
        r"\b(?:kharcha|kharch|kitna (?:paisa|lagega|hoga)|kitne paise|kitne ka)\b",
        r"\b(?:tell me|know|give me|idea of|ballpark)\b[^.!?]{0,25}\b(?:cost|costs|price|prices|estimate|quote)\b",
        r"كم (?:ال)?(?:تكلف|سعر)|كم (?:ت|ي|ست|سي)كلف|ما (?:هي |هو )?(?:ال)?(?:تكلفة|سعر)|कीमत (?:क्या|कितनी)|कितनी कीमत|कितना पैसा|कितना खर्च|कितने पैसे|(?:खर्च|ख़र्च|दाम|कीमत|क़ीमत|लागत|फीस|फ़ीस|पैसे|पैसा|रेट)\S*(?: \S+){0,3} (?:कितन|क्या)|कितने (?:का|की|में) (?:होगा|होगी|पड़ेगा|पड़ेगी)|بكم|(?:تكلفة|سعر|كلفة|ثمن) (?:ال)?(?:عملية|جراحة|علاج)|كم (?:ال)?(?:ثمن|كلفة|فلوس)",
    )),
    ("documents", _any(
        r"\b(?:did|do|have|has|can|could|are|were|was|is)\b[^.!?]{0,30}\b(?:files?|documents?|reports?|uploads?|photos?|pictures?|x-?rays?|scans?|papers|attachments?|pdf|letter)\b[^.!?]{0,30}"
        r"\b(?:arriv\w*|receiv\w*|g[eo]t(?: there| through| to you)?|read|seen?|uploaded|go(?:ne)? through|come through|came through|work(?:ed)?|visible|open(?:ed)?)\b[^.!?]*\?",
        r"\b(?:did|have|can|could) you (?:get|got|receive|received|see|seen|read|open|opened)\b[^.!?]{0,25}\b(?:files?|documents?|reports?|uploads?|photos?|pictures?|x-?rays?|scans?|papers|attachments?|pdf|letter|it|them|what i sent)\b[^.!?]*\?",
        r"هل (?:وصل\w*|استلمت\w*|قرأت\w*)[^.!?؟]{0,25}(?:ملف|صور|تقرير|تقارير|مستند|أشعة|تحاليل)|(?:रिपोर्ट|फ़ाइल|फाइल|दस्तावेज़|दस्तावेज|फोटो|फ़ोटो|एक्स-?रे)[^.!?।]{0,20}(?:मिल|पहुँच|पहुंच|आ ग|पढ़)\S*[^.!?।]*\?",
    )),
    ("who", _any(
        r"\bare you (?:a |an |really |even )*(?:real|human|person|robot|bot|ai|doctor|nurse|machine|computer)\b",
        r"\bwho (?:are you|am i (?:talking|speaking|chatting))\b|\bis this (?:a )?(?:bot|robot|real person|human|doctor)\b",
        r"(?:من|هل) (?:أنت|انت)(?= *؟)|هل (?:أنت|انت) (?:طبيب|إنسان|انسان|شخص|روبوت|بشر|آلي)|आप कौन (?:हैं|हो)|क्या आप (?:एक |असली )?(?:डॉक्टर|इंसान|रोबोट|मशीन|एआई)",
    )),
    ("privacy", _any(
        r"\b(?:who (?:will|can|gets to) (?:see|read)|is (?:this|it) (?:private|confidential|secure|safe to share)|"
        r"what (?:do|will|happens?)[^.!?]{0,25}(?:data|information|details)|(?:share|sell|store|keep) my (?:data|information|details|records))\b[^.!?]{0,40}\?",
        r"(?:معلوماتي|بياناتي)[^.!?؟]{0,30}؟|من س(?:يرى|يقرأ|يطلع)|जानकारी[^.!?।]{0,20}(?:गोपनीय|सुरक्षित)|कौन (?:देखेगा|पढ़ेगा)",
    )),
    ("advice", _any(
        r"\b(?:should|can|could|may|must|shall|do|does) (?:i|he|she|we|my \w+) (?:really |actually |even |just |still |safely )?(?:stop|start|take|continue|keep taking|double|skip|use|increase|reduce|eat|drink|have (?:surgery|the operation|it)|get (?:surgery|the operation)|need (?:surgery|an? operation|(?:the|this|that) (?:\w+ )?(?:surgery|operation|procedure|replacement|bypass)|it|to have it))\b",
        r"\b(?:will|am|is|are|won't|shall|would) (?:i|he|she|we|it|this|everything|(?:my|the|this) (?:\w+ )?\w+)(?: going to)? (?:really |ever |still |completely )?(?:be (?:able|ok(?:ay)?|fine|safe|all right|alright|cured|well|successful|normal|pain.?free|worth|back|better|dead)|walk|work|survive|die|recover|heal|live|make it|get (?:better|well|pregnant|worse)|go well|hurt|succeed|fail|see again|run|last|conceive|have a baby|dance|play|feel (?:better|pain)|come through|wake up)\b",
        r"\b(?:what|how (?:good|high|big|likely)|tell me|give me|know)\b[^.!?]{0,40}\b(?:chances?|odds|risks?|likelihood|prospects?|prognosis|outlook|success)\b",
        r"\b(?:tell|assure|reassure|swear|say|convince) (?:to )?(?:me )?(?:that )?(?:it|this|he|she|i|everything|the (?:operation|surgery))(?:'ll| will| is going to|'s going to)\b|\btell me (?:what it is|what i have|what is wrong)\b|\bam i (?:going to (?:be|die|live|walk|make)|a (?:good )?candidate|too (?:old|ill|sick|weak|fat|heavy))\b",
        r"\b(?:do|does|did|could|might|would) (?:i|he|she|it|this|that|my \w+) (?:have|be|mean|sound like|look like)\b[^.!?]*\?",
        r"\b(?:is|was|isn't) (?:it|this|that|there)\b[^.!?]{0,40}\b(?:cancer|serious|dangerous|infection|arthritis|normal|tumou?r|bad|curable|fatal|safe|contagious|torn|broken|worth it)\b[^.!?]*\?",
        r"\b(?:what(?:'s| is) (?:wrong|causing|the matter)|what do (?:i|you think i) have|diagnos(?:e|is)|prognosis)\b",
        r"\b(?:success rate|survival|chances? (?:of|that|are)|what are (?:my|the) (?:odds|chances|risks)|will (?:i|it|he|she|the \w+) (?:be able|walk|work|survive|die|recover|heal|live|get better|be (?:ok|okay|fine|cured|safe|successful)))\b",
        r"\b(?:what|which|how much|how many)\b[^.!?]{0,30}\b(?:dose|dosage|mg|medicine|medication|drug|painkiller|tablets?|pills?|antibiotics?)\b[^.!?]*\?",
        r"\b(?:dose|dosage)\b[^.!?]*\?",
        r"\b(?:prescribe|recommend (?:a |any |some )?(?:drug|medicine|medication|painkiller|treatment))\b",
        r"\b(?:what would you (?:do|advise)|what do you (?:advise|recommend)|your (?:medical )?opinion|your advice)\b",
        r"\b(?:promise|guarantee) (?:me|that)\b",
        r"هل (?:أوقف|أتوقف|اوقف|اتوقف|آخذ|اخذ|أتناول|اتناول|أستمر|استمر|أزيد|أقلل|أضاعف)(?!\w)",
        r"هل (?:يجب|ينبغي|لازم|يمكن|يمكنني|أستطيع|تستطيع|يستطيع)[^.!?؟]{0,25}(?:توقف|أوقف|أخذ|آخذ|تناول|جرعة|دواء|أبدأ|تبدأ|أستمر|تستمر|آكل|أشرب|الجراحة|العملية)",
        r"هل [^.!?؟]{0,30}(?:خطير|سرطان|أشفى|تشفى|أتعافى|تتعافى|أموت|تموت|تنجح|ستنجح)|(?:نسبة|فرص|احتمال) (?:ال)?(?:نجاح|شفاء)|(?:ما|أي) (?:هو |هي )?(?:ال)?(?:دواء|جرعة|مسكن)[^.!?؟]*؟|(?:بماذا|هل) تنصح|ما رأيك",
        r"क्या [^.!?।]{0,40}(?:बंद कर|लेना चाहिए|लेनी चाहिए|खा सकत|ले सकत|शुरू कर|ठीक हो|बच जा|चल पा|खतरनाक|ख़तरनाक|सफल)|(?:सफलता|ठीक होने) (?:की|का) (?:दर|संभावना)|कौन सी (?:दवा|दवाई|गोली)|आपकी (?:राय|सलाह)",
    )),
    ("provider", _any(
        r"\b(?:which|what|best|good|recommend)\b[^.!?]{0,30}\b(?:hospitals?|surgeons?|doctors?|clinics?|countr(?:y|ies))\b[^.!?]*\?",
        r"(?:أفضل|افضل|أي|أحسن) (?:ال)?(?:مستشف|طبيب|جراح|عيادة)[^.!?؟]*؟|(?:सबसे अच्छ|कौन स)\S* (?:अस्पताल|डॉक्टर|सर्जन)",
    )),
    ("duration", _any(
        r"\bhow long\b[^.!?]*\?|\b(?:recovery time|how many (?:days|weeks|months))\b[^.!?]*\?",
        r"كم (?:ال)?(?:مدة|يوم|أسبوع|من الوقت)[^.!?؟]*؟|كم س?[تي]ستغرق|कितना (?:समय|वक्त)|कितने (?:दिन|हफ्ते|महीने)[^.!?।]*\?",
    )),
    ("process", _any(
        r"\b(?:what happens (?:next|now|after)|how does (?:this|it) work|what(?:'s| is) next|next steps?|why (?:do|are) you (?:ask|need))\b",
        r"ماذا (?:يحدث|سيحدث) (?:بعد|الآن)|ما (?:هي )?(?:ال)?خطو(?:ة|ات)|لماذا (?:تسأل|تحتاج)|आगे क्या|अब क्या होगा|क्यों पूछ",
    )),
)  # fmt: skip
_WH = re.compile(
    r"^\W*(?:(?:and|but|so|also|ok(?:ay)?|btw|please)\W+)?(?:any (?:chance|idea|way)|what|which|who|why|when|where|how|is|are|do|does|did|can|could|would|will|should|shall|am|has|have)\b(?=\W+\w)",
    re.IGNORECASE,
)


_QUESTION = re.compile(r"(?:^|(?<=[.!?,;\n؟।]))[^.!?,;\n؟।]+[?؟]")
"""A question with what leads to it cut off: a sentence, or its last clause."""


_ASKS_ON = re.compile(
    r"\bwhat (?:else )?(?:do|did|would|will|should) (?:you|we|i) (?:still )?(?:need|want|do now)\b|\bwhat (?:else|now)\b",
    re.IGNORECASE,
)
"""A question that asks for the next one."""


def asks_on(text: str) -> bool:
    """Does the person ask what is needed next?"""
    return _ASKS_ON.search(text) is not None


@value
class Signals:
    """What the message does. `feeling` is the person's own word; `asks` in the order of weight."""

    declines: bool
    doubts: bool
    not_applicable: bool
    corrects: bool
    agrees: bool
    disagrees: bool
    wants_person: bool
    defers: bool
    feeling: str
    grave: bool
    asks: tuple[Asked, ...]


def signals(text: str) -> Signals:
    """Read the message's other signals."""
    asks: tuple[Asked, ...] = tuple(name for name, form in _ASKS if form.search(text))
    if not asks and any(
        _WH.match(one) and not _ASKS_ON.search(one) for one in _QUESTION.findall(text)
    ):
        asks = ("other",)
    feeling = next(
        (
            " ".join(match["word"].casefold().split())
            for match in _FEEL.finditer(text)
            if not match["before"]
        ),
        "",
    )
    elsewhere = _FEEL_ELSEWHERE.search(text)
    if not feeling and elsewhere is not None:
        feeling = elsewhere.group()
    return Signals(
        declines=declines(text),
        doubts=doubts(text),
        not_applicable=not_applicable(text),
        corrects=corrects(text),
        agrees=agrees(text),
        disagrees=disagrees(text),
        defers=defers(text),
        wants_person=wants_person(text),
        feeling=feeling,
        grave=_GRAVE.search(text) is not None,
        asks=asks,
    )


def declines(text: str) -> bool:
    """The person will not say."""
    return _DECLINE.search(text) is not None


def wants_person(text: str) -> bool:
    """The person asks for a human being."""
    return _HUMAN.search(text) is not None


def doubts(text: str) -> bool:
    """The person does not know."""
    return _DOUBT.search(text) is not None


_ASIDE = 6
"""A doubt in so many words or fewer is about the answer, wherever it stands."""


def doubts_here(text: str) -> bool:
    """The person does not know the answer, and not something else that they tell of afterwards."""
    first, *others = [one for one in re.split(r"(?<=[.!?;\n])\s+", text.strip()) if one] or [""]
    return doubts(first) or any(doubts(one) and len(one.split()) <= _ASIDE for one in others)


def defers(text: str) -> bool:
    """The person puts it off."""
    return _DEFER.search(text) is not None


_NOTHING = re.compile(
    rf"^\W*(?:(?:{NO}|nothing|nil|nowt|not any|nothing else|none at all|not really|no,? (?:i|we) (?:don't|do not|have not|haven't)(?: have(?: one| any)?)?|"
    r"no (?:particular |special |real )?(?:preference|budget|limit|idea yet)|anywhere|any|either|(?:i|we) (?:don't|do not) (?:have one|mind|care)|"
    r"لا شيء|कोई नहीं|कुछ नहीं))\W*(?:thanks|thank you|at all|else|really)?\W*$",
    re.IGNORECASE,
)


def nothing(text: str) -> bool:
    """A plain "none", "no preference", "anywhere"."""
    return _NOTHING.match(text) is not None


def not_applicable(text: str) -> bool:
    """The question does not apply."""
    return _NOT_APPLICABLE.search(text) is not None


def corrects(text: str) -> bool:
    """The person takes something back."""
    return _CORRECT.search(text) is not None


def agrees(text: str) -> bool:
    """A plain yes."""
    return _YES.search(text) is not None and _NO.search(text) is None


def disagrees(text: str) -> bool:
    """A plain no."""
    return _NO.search(text) is not None
