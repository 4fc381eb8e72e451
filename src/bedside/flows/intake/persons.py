"""Who the treatment is for: the person who writes, or somebody whom they care for. Pure."""

from __future__ import annotations

import re

from bedside.flows.intake.answers import statements
from bedside.flows.intake.lexicon import RELATIVE
from bedside.sop.state import State

__all__ = ["is_carer", "of_other", "of_somebody", "of_writer", "who"]

_CARER = re.compile(
    rf"\b(?:for|on behalf of|about|regarding|behalf of)\s+(?:my|our|a|his|her)\s+(?:\w+\s+)?(?P<r>{RELATIVE})\b"
    rf"|\b(?:my|our)\s+(?:\w+\s+)?{RELATIVE}(?:'s|’s)\s+(?:\w+\s+)?(?:knees?|hips?|heart|eyes?|surgery|operation|case|treatment|doctor|cataracts?|acl|bypass)\b"
    rf"|\b(?:my|our)\s+(?:\w+\s+)?{RELATIVE}\b(?:,? who[^.!?;,]*,?)?\s+(?:really |also |now |badly |urgently )?"
    r"(?:needs?|requires?|wants?|is (?:looking|considering|planning|the patient|suffering|in pain|having|waiting|\d{2})|suffers|can(?:'t|not|no longer) walk|"
    r"was (?:told|advised|diagnosed)|has been (?:told|advised|diagnosed)|has (?:a |severe |bad |knee|hip|heart|cataract|torn|blocked))\b"
    r"|\b(?:asking|writing|calling|inquiring|enquiring|here) (?:for|on behalf of) (?:someone|somebody|a friend|a relative)\b"
    rf"|\b(?:my|our)\s+(?:\w+\s+)?{RELATIVE}\b[^.!?]{{0,120}}\b(?:(?:he|she|they|who)(?:'s| is| was)?|and|then|,)\s+(?:really |also |now |badly |urgently |just |already )?(?:needs|need to have (?:his|her)|wants? (?:his|her)|requires|is (?:due|waiting) for)\b"
    rf"|\b(?:my|our)\s+(?:\w+\s+)?{RELATIVE}(?:\s*\([^)]*\)|,[^,.!?]{{1,30}},)?\s+(?:hurt (?:his|her)|broke (?:his|her)|tore (?:his|her)|injured (?:his|her)|can hardly (?:walk|see)|cannot (?:walk|see)|fell (?:down|and|in|off|over)|is (?:almost |nearly |going )?blind|has been (?:trying|suffering|struggling|waiting)|struggles|suffers|has (?:a |very |severe |bad |torn |blocked ))"
    r"|\b(?:this|it|all|treatment|operation|surgery)(?: is|'s)? (?:all )?(?:about|for) (?:him|her|them)\b"
    r"|(?:^|(?<=[.!?]\s))\W*(?:mum|mom|mummy|dad|daddy|papa|mama|nan|gran|grandma|grandpa)(?:'s|’s)?\s+(?:left|right|both|needs?|has|had|is|can)\b"
    rf"|\b{RELATIVE}(?:\s+ji)?\s+k[aei]\b|\b(?:meri|mere|mera)\s+{RELATIVE}\b|\b(?:help|get) (?:him|her) (?:operated|treated|seen|sorted)\b|\bhelp (?:him|her)\b"
    r"|\bfor (?:mum|mom|mummy|dad|daddy|papa|mama|nan|nana|gran|granny|grandma|grandpa)\b"
    rf"|\boptions for (?:my|our)\s+{RELATIVE}\b"
    r"|\b(?:he|she) (?:is|'s) the patient\b|\bnot for me\b|^\W*not me\b|\bi(?:'m| am) (?:a|the|his|her|their) (?:caregiver|carer|care giver|nurse) (?:writing|asking|of|for|here)\b|\bsomeone else\b|\bi(?:'m| am) (?:her|his|the) (?:carer|son|daughter|wife|husband|caregiver)\b"
    r"|(?:لأمي|لأبي|لوالدتي|لوالدي|لزوجتي|لزوجي|لابني|لابنتي|मेरी (?:माँ|मां|पत्नी|बेटी|बहन|दादी|नानी)|मेरे (?:पति|बेटे|भाई|दादा|नाना)|मेरे (?:पिता|पापा)|माँ के लिए|पिता(?:जी)? के लिए)"
    rf"|(?<!\w)(?:{RELATIVE})\s+[^.!?؟]{{0,80}}(?:[تيم]?حتاج|[تي]عاني|بحاجة)|^\W*(?:السلام عليكم\W+|مرحبا\W+)?(?:{RELATIVE})\s+عند"
    r"|(?:माँ|मां|पिताजी|पिता|पापा|पत्नी|पति|दादी|नानी|दादा|नाना|बहन|बेटे|बेटी)(?=\s(?:के|की|का|को)\s)",
    re.IGNORECASE,
)
_PATIENT = re.compile(
    r"\b(?:for|it['’]?s|it is) (?:me|myself|us|ourselves)\b|\b(?:for|of) my own\b|\bi(?:'m| am) the patient\b"
    r"|\bmy (?:own |left |right |both |bad |old )?(?:knees?|hips?|eyes?|heart|surgery|operation|leg|acl|cataracts?|case|doctor (?:said|says|told) i)\b"
    r"|\bi (?:\w+ )?(?:need|want|require|am looking for|'m looking for|would like|have been (?:told|advised)|was (?:told|advised) (?:that )?i)\b"
    r"|(?:^|(?<=[.!?]\s))\W*need (?:a|an|to|my|some|help|redo|second|new|urgent)\b|\bi (?:should|must|have to|am to|need to) (?:go for|have(?! (?:said|told|mentioned|written|asked|added|known))|get|undergo)\b|\bi(?:'m| am) looking\b|\bi (?:was|am|have been|had been|got) (?:in hospital|diagnosed|operated|admitted)\b|\bwe (?:want|need|are trying|have been trying|would like) (?:to|for|ivf|a)\b"
    r"|(?:^|\s)(?:لي|لنفسي|मेरे लिए|मुझे|अपने लिए|[أا]حتاج|محتاجة?|عايزة?|[أا]نا المريضة?|ليا|لي [أا]نا|[أا]بغى|[أا]ريد|بدي)(?:\s|$|[.,،।])"
    r"|(?:^|\s)मेर[ाीे]\s+(?!माँ|मां|पिता|पापा|पत्नी|पति|बेट|बहन|भाई|दाद|नान|सास|ससुर|नाम|चाच|मौस|दोस्त)"
    rf"|\bi(?:'m| am|’m) \d{{2}}\b(?!%)(?![^\0]*\b{RELATIVE}\b)",
    re.IGNORECASE,
)
_SELF = re.compile(
    r"^\W*(?:(?:yes|yeah|it's|its|it is|just|only|for|4|hmm+|oh|ok),?\s+)*(?:me|i|myself|self|mine|i am|for me|yes)\b(?!\s+(?:and|have|had|don't|do|said))",
    re.IGNORECASE,
)
_SUBJECT = re.compile(
    rf"(?:(?:^|(?<=[.!?,;:]))\W*|\b(?:my|our)\s+(?:[\w-]+\s+){{0,4}}?)(?:{RELATIVE}|chacha|amma|appa|abba|ammi|lola|lolo)\b(?!\s*,)"
    r"(?!(?:'s|’s)?\s+(?:\w+\s+)?(?:said|says|told|thinks|recommended|suggested|gave|asked|found|sent|brought|drives|works|lives|pays?|paid|will|died|passed|had (?:the same|it|one|hers|his|chicken)|reports?|is (?:a|an|also a) \w+))",
    re.IGNORECASE,
)
"""A message that begins with a relative, and goes on to say what is wrong."""
_COMPLAINT = re.compile(
    r"\b(?:knees?|hips?|eyes?|cataracts?|cataratas|heart|bypass|surgery|operation|operated|ivf|acl|replace\w*|stones?|blind|see|walk\w*|limping|angio\w*)\b",
    re.IGNORECASE,
)
_STOP = re.compile(r"[.!?]\s")
_FIRST_WORDS = 60
NEAR = 40
_ONE = re.compile(rf"\b(?:my|our|her|his)\s+(?:\w+\s+)?(?P<r>{RELATIVE})\b", re.IGNORECASE)
_BOTH = re.compile(
    rf"\b(?:me|myself) and (?:my|(?:the )?(?:husband|hubby|wife|partner))\b|\bmy\s+{RELATIVE}\s+and (?:me|i|myself)\b|\bi(?:'m| am) the one\b|\bmy own\b",
    re.IGNORECASE,
)
_ME = re.compile(
    r"^\W*(?:(?:hmm+|oh|ok|so|well|it's|it is|for|just|only|4)\W+)*(?:me|myself)(?=\s*[.!,;]|\W*$)"
    r"(?!.*\bfor (?:my|our|his|her)\b)",
    re.IGNORECASE,
)
"""The whole first answer; whoever is told of behind it is somebody else."""
_BARE_ONE = re.compile(
    rf"^\W*(?:(?:it's|its|yes|no|for|the|only)\W+)*(?P<r>{RELATIVE})\b", re.IGNORECASE
)
_OTHER = re.compile(r"\b(?:someone|somebody) else\b|\bnot me\b", re.IGNORECASE)
_SOMEBODY = re.compile(
    rf"(?:\b(?:my|our|her|his|the)\s+(?:\w+\s+)?|(?:^|[.,;!?])\s*){RELATIVE}\b[^.!?;]*$",
    re.IGNORECASE,
)
_KIN_IS = re.compile(
    rf"(?:^|[.,;:!?(]|\b(?:but|and|because|since|as|though|although|no|yes))\s*(?:(?:only|just|also)\s+)?"
    rf"(?:(?:my|our|his|her|their)\s+(?:\w+\s+)?)?(?P<r>{RELATIVE})(?:['’]?s)?\s+"
    r"(?:is|was|are|were|has|had|have|got|gets|takes?|took|died|also|can(?:'t|not)|react(?:s|ed)?|suffers?|allergic|on)\b"
    r"(?!.*\b(?:i|i'm|im|i've|me|my|we)\b)",
    re.IGNORECASE | re.DOTALL,
)
"""A relative of whom a sentence goes on to speak, and of nobody else."""
_BESIDE = re.compile(r"brother|sister|uncle|aunt|cousin|niece|nephew|friend", re.IGNORECASE)
"""Relatives by one word alone: a father may be "papa" elsewhere."""
_PRONOUN = re.compile(r"\b(?:he|she)(?:'s| is)?\s*(?:\w+\s+)?$", re.IGNORECASE)
_KIN = re.compile(rf"\b{RELATIVE}\b", re.IGNORECASE)


def who(text: str, *, asked: bool) -> tuple[str, int, int] | None:
    """("patient" or "carer", start, end) where the words say so."""
    me = (_BOTH.search(text) or _ME.match(text)) if asked else None
    if (found := _CARER.search(text)) and not me:
        return "carer", found.start(), found.end()
    if me:
        return "patient", me.start(), me.end()
    if asked and (found := _OTHER.search(text) or _ONE.search(text) or _BARE_ONE.search(text)):
        return "carer", found.start(), found.end()
    own = _PATIENT.search(text)
    lead = text[:_FIRST_WORDS]
    if own is None and (found := _SUBJECT.search(lead)):
        ends = _STOP.search(text, found.end())
        if _COMPLAINT.search(text, found.end(), ends.start() if ends else len(text)):
            return "carer", found.start(), found.end()
    if found := own:
        said = next(text[a:b] for a, b in statements(text) if a <= found.start() < b)
        if asked or not re.search(rf"\b{RELATIVE}\b", said, re.IGNORECASE):
            return "patient", found.start(), found.end()
    if asked and (found := _SELF.search(text)):
        return "patient", found.start(), found.end()
    return None


def is_carer(text: str, state: State) -> bool:
    """Is the patient somebody else, by the state or by this message?"""
    known = state.value("who")
    if known is not None:
        return known == "carer"
    found = who(text, asked=False)
    return found is not None and found[0] == "carer"


def of_somebody(text: str, at: int) -> bool:
    """Do the words just before the place speak of somebody else than the patient?

    "He" and "she" without a relative in the message are the patient whom it is about.
    """
    lead = text[max(0, at - NEAR) : at]
    if _SOMEBODY.search(lead):
        return True
    return _PRONOUN.search(lead) is not None and _KIN.search(text) is not None


def of_other(text: str, at: int, state: State) -> bool:
    """Is what is told there a relative's, who is not the patient: "my brother is allergic to"?

    Where somebody else is the patient, only of relatives that no other word may mean.
    """
    lead = next((text[a:at] for a, b in statements(text) if a <= at < b), "")
    found = list(_KIN_IS.finditer(lead))
    if not found or not is_carer(text, state):
        return bool(found)
    kin, said = found[-1]["r"].casefold(), state.get("who").said.casefold()
    return _BESIDE.search(kin) is not None and kin not in said and _KIN.search(said) is not None


_WRITER = re.compile(r"\b(?:i am|i'm|i’m|im|i have|i've|myself|i also)\b", re.IGNORECASE)


def of_writer(text: str, at: int) -> bool:
    """Do the words there speak of the one who writes, who is not the patient?"""
    here = next(((a, b) for a, b in statements(text) if a <= at < b), None)
    return here is not None and _WRITER.search(text, *here) is not None
