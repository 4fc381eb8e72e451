"""Sentences that diagnose, prescribe or promise, by frame and lexicon rather than by phrase. Pure.

A frame says who speaks of whom and how surely ("what you describe is", "you may stop"); a lexicon
says of what (illnesses, medicines, outcomes). English frames meet English lexicons; Spanish,
French, Arabic and Hindi have frames and lexicons of their own.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from typing import Literal

__all__ = ["Breach", "breaches"]

Breach = Literal["diagnosis", "prescription", "outcome_promise"]

_ILL = (
    r"(?:\w+(?:itis|osis|a?emia|opathy|oma|algia|trophy)|(?:torn|trapped|pinched|slipped|blocked|ruptured|herniated|frozen) \w+|"
    r"hernia|gallstones?|kidney stones?|sciatica|(?:common )?cold|flu|virus|panic attacks?|anxiety|migraines?|wear and tear|ageing|clots?|"
    r"alzheimer'?s|parkinson'?s|dementia|cataracts?|glaucoma|cancer(?:ous)?|depress(?:ion|ed)|diabetes|diabetic|obes(?:e|ity)|asthma|copd|"
    r"infect(?:ion|ed)|fractures?|sprains?|strains?|tears?|tumou?rs?|cysts?|ulcers?|polyps?|gout|angina|heart (?:disease|failure|attack)|"
    r"(?:mini-?|small )?strokes?|embolism|thrombosis|aneurysm|disease|syndrome|disorder|deficien\w+|allerg(?:y|ic)|pneumonia|reflux|ibs|"
    r"muscular|rotator cuff|meniscus|ligament|menopause|infertil\w+|pcos|endometriosis|an(?:a)?emic|hypertension|inflammation|blockage|"
    r"epilepsy|lupus|eczema|shingles|sepsis|haemorrhoids|hemorrhoids|piles|fibroids?|appendix)"
)
_HEDGE = r"(?:(?:\w+ly|just|only|almost|also|still|already|a|an|the|your|his|her|some|sort of|kind of|bad|good|case of|form of|touch of|bit of|sign of|signs of|symptoms? of|type of|mild|severe|early|simple|very|common|little|from|due to|caused by|because of|down to|result of|stage|typical|classic|no|not|\w+ tear) ){0,5}"
_THING = (
    r"(?:it|this|that|these|which|everything|what you (?:describe|have|feel|report)|what(?:'s| is) causing (?:this|it)|"
    r"(?:the|this|that|your|his|her) (?:\w+ ){0,2}(?:pain|problem|cause|issue|symptoms?|swelling|lump|mole|rash|growth|cough|ache|numbness|memory loss|tiredness|"
    r"headaches?|bleeding|figures?|numbers?|results?|values?|trouble|condition|weakness|picture))"
)
_IS = r"(?:'s|'re| is| are| was| will be| would be| could be| may be| might be| must be| can't be| cannot be| isn't| is not| aren't|(?: sounds?| looks?| seems?| appears?)(?: to me| very much| a lot)? (?:like|to be)|(?: most)?(?: usually| probably| likely| clearly)? (?:means?|suggests?|indicates?|matche?s?|fits?|points? (?:to|towards)|comes? from|shows?|confirms?))"
_WHO = r"(?:you|he|she|they|(?:your|the) (?:mother|father|mum|mom|dad|wife|husband|son|daughter|baby|child|patient|partner))"
_BODY = (
    r"(?:heart|valve|knees?|hips?|eyes?|kidneys?|liver|lungs?|joints?|bones?|wound|ligament|meniscus|cartilage|tendon|disc|discs|spine|gall ?bladder|"
    r"appendix|thyroid|prostate|womb|uterus|ovar(?:y|ies)|arter(?:y|ies)|nerve|shoulder|back|brain|muscle|cuff|lens|retina|bladder|bowel|ankle|wrist|foot)"
)
_AILS = r"(?:gone|leaking|torn|failing|blocked|worn(?: out| away| down)?|broken|infected|damaged|inflamed|weak|enlarged|narrowed|ruptured|perforated|dislocated|diseased|degenerat\w+|clogged|unstable|healthy|fine|normal|hurt|trapped|pinched|swollen)"
_SURGERY = r"(?:(?:\w+ )?(?:surgery|operation|replacement|bypass|resurfacing|stent|transplant|procedure|ivf|hysterectomy|fusion|reconstruction|biopsy|implant))"

_DRUG = (
    r"(?:(?:water|sleeping|blood pressure|heart|pain) (?:tablets?|pills?)|blood thinners?|pain ?killers?|tablets?|pills?|capsules?|medicines?|medications?|meds|drugs?|doses?|dosage|"
    r"injections?|drops|creams?|ointments?|gel|inhalers?|patch(?:es)?|antibiotics?|steroids?|statins?|diuretics?|supplements?|vitamins?|antihistamines?|antacids?|laxatives?|insulin|"
    r"aspirin|paracetamol|acetaminophen|tylenol|advil|nurofen|warfarin|heparin|eliquis|xarelto|plavix|clopidogrel|ticagrelor|metformin|ozempic|semaglutide|codeine|morphine|"
    r"prednisone|prednisolone|dexamethasone|naproxen|diclofenac|turmeric|magnesium|iron|calcium|omega|glucosamine|collagen|letrozole|clomid|progesterone|oestrogen|estrogen|hrt|digoxin|"
    r"amiodarone|furosemide|gabapentin|pregabalin|methotrexate|tamsulosin|levothyroxine|tramadol|"
    r"\w+(?:pril|sartan|statin|azole|cillin|mycin|xaban|gatran|olol|dipine|parin|gliptin|flozin|profen|oxacin|thiazide|codone|triptan|setron|coxib|lukast|pam))"
)
_DOING = (
    r"(?:take|use|apply|try|stop(?: taking)?|start(?: taking)?(?! with)|restart|resume|hold|pause|skip|miss|halve|double|increase|reduce|cut(?: down| out| back)?(?: on)?|lower|raise|"
    r"drop|come off|go off|go (?:back )?on(?:to)?|get off|wean (?:yourself |him |her )?off|leave (?:off|out)|switch|swap|change|replace|mix|combine|avoid|keep (?:taking|using|on)|"
    r"continue(?: taking| with| on)?|have|give (?:him|her|yourself|them|your \w+)|inject|ask for|buy|get|quit|swallow|crush|split|stay on|put (?:him|her) on|begin)"
)
_NOT_A_DOSE = r"(?!(?:take|have|get|use|give (?:him|her|them)) (?:an? |the |your |some )?(?:photo|picture|scan|copy|time|look|minute|moment|seat|note|list|name|break|button|camera|link|form|letter|report)\b)"
_LED = (
    r"(?:^\W*(?:(?:yes|no|ok|okay|sure|please|just|simply|so|then|instead|now|first|also|clearly|perhaps|maybe|best to|better to|go ahead and|feel free to|"
    r"do|don't|do not|never|always|try to|remember to|be sure to|make sure (?:you|to)|tonight|tomorrow|today|for now)\W+)*"
    r"|[;:,] *(?:and |then |so |just |please )*|\b(?:and|then|but) (?:then )?"
    r"|\b(?:you|he|she|they|i)(?:'d| would|'ll| will)? (?:\w+ly )?(?:can|could|may|might|should|must|need(?:s)? to|ought to|have to|had better|better|want to|do(?:es)? not need(?: to)?|do(?:es)?n't need(?: to)?|"
    r"shouldn't|should not|must not|mustn't|can't|cannot|are fine to|are (?:ok|okay|safe|free) to|would do well to|'d better) (?:\w+ly |just |also |even |still |now )*"
    r"|\bi'd (?:\w+ )?|\b(?:it's|it is|that's|best|better|fine|safe|okay|ok|wise|advisable|good) (?:\w+ )?to |\b(?:recommend|advise|suggest)s? (?:that you |you )?)"
)

_WELL = (
    r"(?:walk(?:ing)?|run(?:ning)?|danc(?:e|ing)|play(?:ing)?|climb(?:ing)?|kneel(?:ing)?|swim(?:ming)?|hik(?:e|ing)|recover|heal|conceive|survive|live(?! chat)|see (?:again|well|perfectly|clearly|better|normally|like)|"
    r"pull through|make it(?! (?:easy|easier|clear|ready|available|to the call))|get (?:\w+ )?(?:better|well|pregnant|through (?:it|this)|your (?:life|sight|mobility) back)|come through|bounce back|work out|succeed|"
    r"turn out (?:\w+ )?(?:well|fine|ok|okay|great)|go (?:\w+ )?(?:well|smoothly|fine|away|perfectly)|grow back|disappear|vanish|be (?:\w+ )?(?:gone|cured|fine|ok|okay|alright|all right|healed|pain[- ]?free|safe|healthy|pregnant|successful|perfect|"
    r"a success|a piece of cake|a breeze|painless|easy|as good as new|good as new|like new|back (?:at|to|on|in)|up and|home in no time|over before|happy|delighted|worth it|walking|running|dancing|able to (?:walk|run|dance|play|climb|bend|kneel|swim|work|drive|hike|see (?:again|clearly)|conceive|have (?:a )?(?:child|baby)))|"
    r"feel (?:\w+ )?(?:nothing|better|great|no pain|like new)|(?:give|get|buy) you (?:\w+ ){0,3}(?:life|knee|hip|sight|vision|mobility|years|smile|confidence|freedom|independence|baby)|"
    r"cure|fix|solve|end (?:your|the|this) pain|last (?:\w+ )?(?:a lifetime|for life|forever)|love (?:it|the result)|not regret|never regret|thank (?:me|us))"
)
_SUBJECT = (
    r"(?:you|he|she|they|we|it|this|that|everything|all|(?:your|his|her|the) (?:\w+ )?(?:knee|hip|eyes?|heart|mother|father|mum|mom|dad|wife|husband|son|daughter|baby|pain|surgery|operation|vision|sight|recovery|hair|leg|back|"
    r"procedure|treatment|result|results|symptoms|smile|shoulder|wound|transplant|swelling|surgeon|team))"
)

_ILL_ES = r"(?:\w+(?:itis|osis|oma|emia|opatía)|hernia|cáncer|infección|fractura|diabetes|infarto|rotura|desgarro|tumor|cálculos|piedras|anemia|cataratas?|ciática|esguince|angina|depresión|ansiedad|migraña|trombo|coágulo|nada grave|grave|benigno|quiste)"
_ILL_FR = r"(?:\w+(?:ite|ose|ome|émie|opathie)|hernie|cancer|infection|fracture|diabète|infarctus|déchirure|entorse|tumeur|calculs|cataracte|sciatique|angine|dépression|migraine|caillot|kyste|rien de grave|grave|bénin|bénigne|anxiété)"
_DRUG_ES = r"(?:\w*(?:ibuprofeno|paracetamol|warfarina|aspirina|insulina|metformina)\w*|medic\w+|pastillas?|comprimidos?|dosis|mg|anticoagulante|antibiótico\w*|crema|hielo|analgésico\w*|gotas|inyección)"
_DRUG_FR = r"(?:\w*(?:ibuprofène|paracétamol|warfarine|aspirine|insuline|metformine|doliprane)\w*|médicaments?|comprimés?|cachets?|doses?|mg|anticoagulants?|antibiotiques?|crème|glace|antidouleurs?|gouttes|piqûre|traitement)"
_ILL_AR = r"(?:ال)?(?:التهاب\w*|سرطان|كسر|فتق|تمزق|سكري|ورم|جلطة|خشونة|عدوى|فقر دم|ذبحة|انزلاق|حصوات|حصى|اكتئاب|قصور|تآكل)"
_DRUG_AR = r"(?:ال)?(?:دواء\w*|أدوية|حبوب\w*|حبة|حبتين|جرعة\w*|أسبرين|باراسيتامول|بروفين|مسكن\w*|مضاد\w*|إنسولين|انسولين|وارفارين|قرص\w*|أقراص|علاج\w*)"
_ILL_HI = r"(?:गठिया|कैंसर|संक्रमण|मधुमेह|डायबिटीज|हर्निया|फ्रैक्चर|ट्यूमर|मोतियाबिंद|बीमारी|अल्सर|पथरी|एनीमिया|लकवा|हार्ट अटैक|दौरा|रोग|सूजन|माइग्रेन|अवसाद|इन्फेक्शन|इंफेक्शन)"
_DRUG_HI = r"(?:दवा\w*|दवाई\S*|दवाइयाँ|गोली|गोलियां|गोलियाँ|इंसुलिन|खुराक|डोज|पैरासिटामोल|एस्पिरिन|वारफेरिन|मेटफॉर्मिन|मलहम)"


def _compile(*forms: str) -> re.Pattern[str]:
    return re.compile("|".join(forms), re.IGNORECASE)


@functools.cache
def _frames() -> tuple[tuple[Breach, re.Pattern[str]], ...]:
    diagnosis = _compile(
        rf"\b{_THING}{_IS} (?:in fact |indeed |that )?{_HEDGE}{_ILL}\b",
        rf"\b{_THING}{_IS} (?:\w+ly |just |only |not |quite )*(?:nothing (?:sinister|serious|to be concerned|bad|dangerous|major)|(?:anything|something) (?:serious|sinister|dangerous|bad|minor)|harmless|benign|malignant|cancerous|serious|dangerous|life-threatening|normal for|abnormal|psychosomatic|muscular|in your head)\b",
        rf"(?:^|\b(?:and|but|so|well|me) )\W*(?:sounds?|looks?|seems?|appears?)(?: to me)? like (?!the (?:upload|file|page|form)|a (?:hospital bill|bill|letter|discharge|photo|copy|good|long|lot|hard|plan))[^.!?]*(?:{_ILL}|{_BODY} (?:is|has|have|are))\b",
        rf"\b{_WHO}(?:'ve|'s|'re)?(?: (?:\w+ly|do|does|don't|doesn't|did|didn't|must|may|might|could|will|would|also|just|already|not|still|seem|seems|appear|appears|to|have|has|are|is|be)){{0,4}} (?:have|has|had|got|having|suffer\w*(?: from)?|developed|develop|been having)(?: got)? {_HEDGE}{_ILL}\b",
        rf"\b{_WHO}(?:'ve|'s) (?:\w+ly )?(?:got|had|developed) {_HEDGE}{_ILL}\b|\b{_WHO}(?:'re|'s| are| is) (?:\w+ly |just |now |not )*(?:an(?:a)?emic|diabetic|depressed|obese|menopausal|infertile|septic|dehydrated|hypertensive|having {_HEDGE}{_ILL}|qualif\w+ as)\b|\byou qualify as\b",
        rf"\b(?:i(?:'d| would)? (?:say|think|believe|suspect|bet|guess|reckon|am (?:\w+ )?sure|can tell you)|i'm (?:\w+ )?sure|in my (?:view|opinion)|my guess is|my bet is|to me)\b(?! nothing)[^.!?]{{0,40}}\b(?:{_ILL}|{_AILS})\b",
        rf"\b(?:your|his|her|the|this|that|those|an?|with a) (?:\w+ ){{0,3}}(?:symptoms?|signs|scan|mri|x-?ray|ct|ecg|ultrasound|echo|bloods?|results?|figures?|numbers?|values?|levels?|egfr|creatinine|hba1c|ha?emoglobin|psa|tests?)\b[^.!?]{{0,30}}\b(?:match(?:es)?|fits?|means?|shows?|suggests?|indicates?|points?|confirms?|proves?|reveals?|explains?|(?:is|are) (?:\w+ )?(?:consistent|typical|compatible|diagnostic))\b[^.!?]{{0,50}}\b(?:{_ILL}|{_AILS}|failing|stage \w+|you|your|the \w+ is)\b",
        rf"\b(?:your|his|her|the) (?:\w+ )?{_BODY} (?:\w+ )?(?:is|are|has|have|looks?|seems?|must be|needs?)(?: \w+ly| to be| been| to)? (?:{_AILS}|come out|be (?:removed|replaced|taken out)|replacing|removing|surgery|an operation)\b(?! (?:clear|enough))",
        rf"\b(?:you(?:'ll| will| would)? (?:\w+ly )?(?:need|require)|you(?:'d| would) be better off with|you are (?:an? )?(?:\w+ )?candidate for|you should (?:have|get|choose)) (?:an? |the |this |that )?{_SURGERY}\b|\b{_SURGERY} (?:is|would be|seems) (?:\w+ly )?the (?:right|best|only|correct) (?:thing|option|choice|answer|treatment|way)\b",
        rf"\bit(?:'s| is| isn't| is not) (?:\w+ ){{0,2}}(?:broken|torn|fractured|infected|cancer\w*|dislocated|sprained)\b|\b(?:isn't|is not|can't be|cannot be|couldn't be) (?:\w+ ){{0,2}}{_ILL}\b",
        rf"\b(?:tiene|tienes|padece|sufre|tendrá|tenga)(?: usted)? (?:de )?(?:\w+ ){{0,3}}{_ILL_ES}(?!\w)|\b(?:eso|esto|lo que (?:describe|tiene|siente)|su dolor|el dolor|el problema|se trata)(?: \w+)? (?:es|parece|suena a|será|debe (?:de )?ser|de)(?: ser)? (?:\w+ ){{0,3}}{_ILL_ES}(?!\w)|\bes (?:seguramente|probablemente|claramente) (?:\w+ ){{0,2}}{_ILL_ES}(?!\w)|\bnecesita (?:una |la )?(?:operación|cirugía|prótesis)\b",
        rf"\bvous (?:avez|souffrez|présentez|faites)(?! (?:dit|écrit|indiqué|mentionné|noté))(?: [\w']+){{0,4}} (?:d')?{_ILL_FR}(?!\w)|(?:\bc'est|\bce sont|\bcela|\bça|\bil s'agit|\bvotre douleur|\ble problème)(?: [\w']+){{0,4}} (?:de l'|d'|l')?{_ILL_FR}(?!\w)|\bvous avez besoin d'(?:une opération|être opéré\w*)",
        rf"(?:لديك|عندك|تعاني من|مصاب\w* ب|هذا|هذه|إنه|إنها|يبدو)(?: \S+){{0,3}} (?:أن(?:ه|ها) )?ب?{_ILL_AR}|(?:لديك|عندك|مصاب ب){_ILL_AR}|تحتاج إلى (?:عملية|جراحة)",
        rf"(?:आपको|आपकी|आपके|उन्हें|उनको|यह|ये|इसे)(?: \S+){{0,4}} {_ILL_HI}(?: \S+){{0,2}} (?:है|हैं|हुआ|हुई|होगा|होगी|लगता|लगती)|(?:आपको|आपका) (?:\S+ )?(?:ऑपरेशन|सर्जरी) (?:की ज़?रूरत|करवाना|कराना)",
    )
    prescription = _compile(
        rf"{_LED}{_NOT_A_DOSE}{_DOING}\b(?! with)(?: (?!of the (?:box|letter)|photo\b|picture\b|name\b|names\b|list\b|doctor\b|pharmacist\b)[\w'-]+){{0,5}}? {_DRUG}\b(?! (?:box|list|name|names|prescription|question|leaflet|packet|allerg\w+|history))",
        r"^\W*(?:\d+(?:\.\d+)? ?(?:mg|mcg|g|ml|units|iu|tablets?)|(?:one|two|three) (?:tablets?|pills?|capsules?|puffs?|drops))\b[^.!?]*\b(?:every|daily|times|a day|before|after|should|with food|at night|morning)\b",
        r"\b(?:go|come|move|increase|drop|up)(?: it)? (?:up |down |back )?to \d+(?:\.\d+)? ?(?:mg|mcg|g|ml|units|tablets?|a day)\b|\b(?:right|correct|usual|best|proper) dose (?:for (?:you|him|her) )?(?:is|would be)\b",
        rf"\b{_DRUG} (?:is|are|would be|will be) (?:\w+ly )?(?:safe|safer|fine|ok|okay|enough|better|best|good|harmless|right|stronger|weaker)\b|\b{_DRUG} (?:will|would|should|can|could|might|may|won't|wouldn't)(?: \w+ly| also)? (?:help|work|relieve|ease|fix|clear|sort|hurt|harm|cure|calm|bring|do the trick|be (?:enough|fine|safe|ok|okay|better))\b",
        r"(?:^\W*(?:yes|no|please|just|then|so|now|and)?\W*|\b(?:you|i'd) (?:\w+ )?|[;,] *)(?:put|apply|place|use|hold) (?:an? |some |the )?(?:cold |warm |hot )?(?:ice|heat|compress|poultice|cold pack|ice ?pack|hot water bottle|bandage)\b|^\W*(?:please |just )?(?:do|perform|repeat) (?:\w+ ){0,4}(?:raises|squats|exercises|stretch(?:es)?|lunges|bends|repetitions|push-ups)\b|^\W*(?:please |just )?(?:rest|elevate|ice|massage|bandage|stretch|strap) (?:and|the|your|it)\b",
        rf"\b(?:do not|don't|no longer|won't) need (?:\w+ )*?{_DRUG}\b",
        rf"(?:^|[.,;:¡]\s*|\b(?:y|no|puede|debe|debería|mejor) )(?:tome|toma|tomar|deje(?: de tomar)?|deja(?: de tomar)?|dejar de tomar|dejar|suspenda|suspender|use|usar|aumente|reduzca|duplique|aplique|aplicar|póngase|ponga|evite|siga tomando|empiece|empezar)(?! su tiempo| una foto| asiento)(?: \S+){{0,4}} {_DRUG_ES}(?!\w)",
        rf"(?:^|[.,;:]\s*|\b(?:et|ne|pouvez|devez|devriez|mieux|puis) )(?:prenez|prendre|arrêtez(?: de prendre)?|arrêter(?: de prendre)?|cessez|cesser|évitez|éviter|augmentez|diminuez|réduisez|doublez|appliquez|mettez|commencez|sautez|suspendez|continuez)(?! votre temps| une photo)(?: \S+){{0,4}}? (?:de l'|d'|l')?{_DRUG_FR}(?!\w)",
        rf"(?:^|\s)(?:و|ف)?(?:توقف\w* عن|خذ|خذي|تناول|تناولي|أوقف|أوقفي|استعمل|استخدم|ضاعف|قلل|زد|لا ت(?:أخذ|تناول)\w*|يمكنك (?:إيقاف|تناول|أخذ|التوقف عن)|يجب أن ت(?:أخذ|تناول|توقف)\w*|أنصحك ب\S+)(?: \S+){{0,4}} {_DRUG_AR}",
        rf"{_DRUG_HI}(?: \S+){{0,5}} ?(?:बंद कर\S*|लें|लीजिए|लीजिये|ले लो|ले सकते|खाएं|खाइए|खा लें|शुरू कर\S*|कम कर\S*|बढ़ा\S*|छोड़\S*|रोक दें|रोक दीजिए|मत ल\S*|न लें|लगाएं|लगाइए)",
    )
    promise = _compile(
        rf"\b{_SUBJECT}(?:'ll| will|'re going to|'s going to| is going to| are going to| gonna|'re gonna|'s gonna)(?: (?!not\b|the\b|explain|tell|discuss|ask|say|decide|judge|check)(?:[\w-]+)){{0,3}}? {_WELL}\b(?! (?:you through|through the (?:upload|form|questions)|on the next|with the confirmation|the (?:question|upload|page|form)))",
        r"\b(?:you )?(?:won't|will not|will never|never) regret\b|\byou (?:won't|will not) (?:feel|have|notice|need) (?:\w+ ){0,2}(?:pain|thing|problems?|complications?|anything|crutches|worry)\b",
        r"\b(?:no|zero|hardly any|not any|without(?: any)?|free of|almost no) (?:\w+ )?(?:risks?|danger|complications?|side effects?)(?! (?:has|have|was|were) been (?:noted|listed))\b|\brisk[- ]free\b|\bnothing (?:\w+ )?(?:can|will|could) (?:\w+ )?(?:go wrong|happen)\b|\bin (?:the )?(?:best|safe|good|excellent) (?:of )?hands\b",
        r"\b(?:never|always|simply (?:do not|don't)|no one ever|nobody ever|none of (?:our|the) \w+ (?:ever )?) ?(?:\w+ )?(?:works?|fails?|succeeds?|happens?|has (?:any )?(?:problems?|complications?|pain)|had (?:a )?(?:problems?|complications?)|goes wrong|goes well)\b|\b(?:complications?|infections?|problems?) (?:\w+ )?(?:do not|don't|never) (?:happen|occur|arise)\b",
        r"\b(?:rest assured|be assured|i assure you|you can be sure|mark my words|i promise|i can promise|i guarantee(?! nothing)|we guarantee(?! nothing)|(?:success|recovery|results?|outcome|it|cure) (?:is|are) (?:guaranteed|assured|certain))\b|\b(?:completely|perfectly|totally|entirely|absolutely|100 ?%|very) (?:safe|painless|harmless|curable)\b",
        r"\b(?:excellent|very good|great|high|good|every|perfect) (?:chances?|odds|prospects?|prognosis)(?! to (?:ask|look|read))\b|\bchances? of (?:\w+ ){0,3}(?:bad|wrong|failure|problems?|complications?|dying|success|recovery) (?:is|are)\b|\b(?:most|nearly all|almost all|all|many|\w+-?\w* ?(?:per ?cent|%)) (?:of )?(?:our |the )?(?:people|patients|everyone) (?:\w+ly )?(?:are|recover|do|get|walk|go home|feel|succeed|live|see|heal)\b",
        r"\b(?:nothing|no (?:need|reason|cause)) (?:for you )?to (?:worry|fear|be (?:afraid|worried|scared|concerned))\b|\bno cause for concern\b|\byou(?:'re| are) (?:\w+ )?(?:out of danger|safe now|going to be (?:\w+ )?(?:fine|ok|okay|all right|well))\b|\ball will be well\b",
        r"(?:se|te) (?:va|vas|van) a (?:recuperar|curar|poner bien|mejorar)|\b(?:va|vas) a (?:estar|quedar|salir|caminar|volver)(?: \w+)? (?:bien|perfect\w+|a caminar|caminar|sin dolor)|\btodo (?:va a|saldrá|irá|estará)(?: \w+)? bien\b|\b(?:no hay|sin|cero)(?: ningún| ningun| ninguna)? (?:riesgos?|peligro|complicaciones)\b|(?<!puedo )(?<!puede )\bgarantiz\w+|\bgarantía de éxito\b|\bno (?:hay|tiene)(?: nada)? (?:de )?(?:qué|que|por qué) preocuparse\b|\bvolverá a caminar\b|\bse (?:recuperará|curará)\b|\bno se preocupe\b",
        r"\b(?:vous|il|elle) (?:allez|va|irez)(?: \w+)? (?:guérir|remarcher|marcher|récupérer|vous rétablir|survivre|mieux|très bien|bien)\b|\bvous (?:guérirez|remarcherez|récupérerez|verrez (?:bien|parfaitement))\b|\b(?:sans|aucun|pas de|zéro)(?: aucun)? (?:risques?|danger)\b|(?<!peux )\bgarantie?s?\b|\btout (?:ira|se passera|va bien se passer|va)(?: \w+)? bien\b|\bne vous inquiétez pas\b|\brien à craindre\b|\bréussite (?:assurée|garantie)\b",
        r"(?:ستشفى|ستتعافى|ستتحسن|ستمشي|سوف (?:تشفى|تتعافى|تمشي)|ستكون بخير|سيكون (?:كل شيء )?(?:بخير|على ما يرام)|مضمون\S*|لا (?:توجد |يوجد )?(?:أي |أية )?(?:خطر|مخاطر|خطورة)|بدون (?:أي )?مخاطر|لا تقلق|آمن\S* تمام|نسبة (?:ال)?نجاح|نضمن|أضمن|أعدك)",
        r"(?:ठीक|स्वस्थ|अच्छे|चंगे) हो (?:जाएंगे|जाएँगे|जाएंगी|जाएगा|जाएगी|जाओगे|जायेंगे)|(?:खतरा|ख़तरा|जोखिम|रिस्क) (?:बिल्कुल )?(?:नहीं|नही)|कोई (?:खतरा|जोखिम)|गारंटी|चिंता (?:मत|न|ना|की कोई)|सफल (?:होगा|होगी|रहेगा|रहेगी)|फिर से चल(?:ने| पाएंगे| सकेंगे)|पूरी तरह सुरक्षित",
    )
    return (
        ("diagnosis", diagnosis),
        ("prescription", prescription),
        ("outcome_promise", promise),
    )


_TOLD = _compile(
    r"\b(?:i have (?:down|noted|written)|i've (?:noted|put down|written)|i(?:'ll| will) (?:add|note|put|write)|noted|you (?:said|told|wrote|mentioned|described|listed|say)|as you (?:said|wrote)|"
    r"(?:letter|report|document|scan report|summary|prescription|list|card|leaflet|form) (?:you sent )?(?:says|states|reads|lists|wrote|said|mentions|shows you take)|according to|"
    r"(?:doctor|surgeon|cardiologist|gp|consultant|he|she) (?:said|says|wrote|told|called)|so far i have|is that right|did i get)\b",
    r"\b(?:can't|cannot|can not|won't|will not|unable to|not able to|nobody|no one|never|rather leave) (?:\w+ ){0,4}(?:promise|guarantee|say|tell|judge|know|predict|diagnose|prescribe|recommend|advise|answer|state|that to)\b",
    r"\b(?:guarantees? nothing|no guarantee|every operation carries|the one who|whether|before changing|before you have spoken|before speaking)\b|^\W*(?:if|in case|when) ",
    r"\b(?:surgeon|doctor|cardiologist|specialist|team|clinician|anaesthetist|pharmacist|hospital|prescriber|they|who prescribed)s? (?:will|would|can|could|must|may|decides?|judges?|makes?|needs? to|has to|have to|explains?)\b(?! (?:cure|fix))",
    r"\b(?:ask|talk to|speak (?:to|with)|check with|contact|call|see) (?:the |your |a |his |her )?(?:\w+ )?(?:doctor|surgeon|pharmacist|cardiologist|prescriber|clinician|anaesthetist|specialist|team|gp|hospital)\b",
    r"\b(?:me dijo|ha dicho|escribió|comentó|según|informe|cirujano|médico|nadie puede|no puedo)\b|\b(?:avez (?:dit|écrit|indiqué|mentionné)|selon|chirurgien|médecin|compte rendu|je ne (?:peux|saurais)|personne ne peut)\b",
    r"(?:قلت|ذكرت|أخبرتني|كتبت|التقرير|الجراح|الطبيب|طبيبك|لا أستطيع|لا يمكنني|لا أحد)|(?:आपने|बताया|लिखा|रिपोर्ट|डॉक्टर|सर्जन|नहीं (?:कह|बता|दे) सक)",
)


def breaches(sentence: str) -> Iterable[tuple[Breach, re.Match[str]]]:
    """The breaches of one sentence that is no question, at most one of a kind.

    What reports the person's own words, a document's or a clinician's is no breach, nor is what
    sends the matter to a clinician or refuses to answer it.
    """
    if _TOLD.search(sentence):
        return
    for kind, frame in _frames():
        if match := frame.search(sentence):
            yield kind, match
