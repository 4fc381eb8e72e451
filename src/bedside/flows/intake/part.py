"""What a coordinator's part is: the statements that a model may make at all (IN-12). Pure.

Lists of what must not be said end somewhere; this list says what may be. A statement begins as a
coordinator's does (thanks, notes, asks, tells a step, repeats the person, names a file's way) and is
made of plain words, of the person's own and of our texts'. Anything else is cut, whatever it says.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from importlib import resources

import yaml

from bedside.clinical.drugs import find_drugs
from bedside.flows.intake.lexicon import data
from bedside.language.stems import STOP_WORDS, stem

__all__ = ["asks_only", "in_part"]

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_ASKING = re.compile(
    r"\b(?:What|Which|Who|Whom|Whose|When|Where|Why|How|Do|Does|Did|Are|Is|Was|Were|Have|Has|Can|Could|Would|Will|May|Shall|Should|And|Any)\b"
    r"|(?:[,;:\n\u2013\u2014]\s*|\b(?:and|so|but|or)\s+)(?:what|which|who|when|where|why|how|do|does|did|are|is|was|were|have|has|can|could|would|will|may|shall|should)\b"
)
_SPARE = 0.34
"""The share of other words that a statement with a coordinator's beginning may have."""
_SHORT, _MOST = 3, 3


_REPORTED = re.compile(
    r"\b(?:whether|which|what|how|question|(?:you|he|she) (?:\w+ )?(?:said|told|asked|wrote|mentioned|want|wants|wish|would like|hope)|noted that (?:you|he|she) (?:take|took|have|had|stopped|started|want|live|are))\b",
    re.IGNORECASE,
)
_VERDICT = re.compile(
    r"\b(?:it|this|that|they|you|he|she|(?:the|your|his|her) (?:\w+ )?(?:knees?|hips?|hearts?|eyes?|leg|back|joint|scan|x-?ray|mri|results?|reports?|values?|numbers|one|pain|sugar|pressure|body))\b[^.!?;,]{0,12}?"
    r"(?:'s|'re|\b(?:is|are|looks?|seems?|sounds?|feels?))(?: (?:not|only|simply|just|but|very|quite|so|too|all|the|an?|really|still|rather|also|already))* "
    r"(?:serious|treatable|mild|gone|old|good|great|bad|safe|severe|worn|finished|harmless|dangerous|clean|perfect|curable|manageable|early|late|advanced|nothing|high|low|weak|strong|stable|common|typical|minor|major|clear: )\b"
    r"(?! (?:question|questions|idea|to know|to hear|start|memory|point|enough to|news that))",
    re.IGNORECASE,
)
_ACTS = re.compile(
    r"\b(?:stop(?:ping|ped|s)?|skip(?:ping|ped|s)?|halv\w+|doubl\w+|pausing|paused?|come off|com(?:e|ing) off|leave out|drop(?:ping|ped)?|start(?:ing)? on|go ahead without|do without|leave (?:the |your |it )?\w* ?at home)\b"
    r"(?! (?:at any|here|any ?time|whenever|this (?:chat|question|step|one)|that (?:question|step|one)|the (?:question|chat|conversation)|sharing|asking|or go|now and|and (?:carry|go|come) ))"
    r"|\b(?:stop|skip|halve|double|pause) (?:it|them|those|these)\b|\b(?:stop|skip) before\b"
    r"|\b(?:no need|need not|not (?:have|need)|don't (?:have|need)) to (?:see|take|stop|use|have|visit|call|go to)\b"
    r"|\b(?:walk|run|dance|swim|climb|kneel|see|live|recover|heal|play)(?:ing|s)? (?:again|normally|well|better|freely|in \w+ weeks)\b|\bwalk again\b|\b(?:what|like) most (?:do|people)\b",
    re.IGNORECASE,
)
_ORDERS = re.compile(
    r"(?:^|[:;,\u2013\u2014-]|\b(?:to|then|please|and|so|but|just|also|should|must|can|may|could|might|don't|not|will|'ll|now|better|you|first|keep|by|is))\s*"
    r"(?:hold|withhold|omit|avoid|miss|reduc|lower|rais|increas|resum|restart|continu|tak|us|switch|swap|cut|delay|begin|start|stop|finish|inject|swallow|drop|skip)(?:e|ing|p?ping|t?ting)?\s+"
    r"(?:(?:off|on|back|down|up|out|your|the|his|her|their|any|all|both|of|those|these|that|this|taking|using|daily|usual|morning|evening|next|last|first|half|more|less)\s+)*",
    re.IGNORECASE,
)
_TAKEN = re.compile(
    r"(?:medicines?|medications?|tablets?|pills?|doses?|injections?|blood thinners?|pain ?killers?|insulin|antibiotics?|drops)\b(?! (?:list|names?|page|photo|question|part|step))",
    re.IGNORECASE,
)
_FIT = re.compile(
    r"\b(?:fit|fitness|cleared|clear|eligible|suitable|ready|safe|(?:healthy|well|strong|good) enough|(?:good|fine|ok|okay) to go|no (?:reason|obstacle|objection|bar)) "
    r"(?:for|to have|to undergo|to go (?:through|ahead)|to be operated|to get|against|not to have) ?(?:(?:the|an?|this|that|your|his|her|any|such) )?(?:\w+ )?(?:operat\w+|surger\w+|procedures?|an(?:a)?esth\w+|replacement|bypass|transfer|treatment|theatre|injection)\b"
    r"|\b(?:you|he|she|they|(?:your|his|her) (?:mother|father|mum|mom|dad|wife|husband|son|daughter|heart|body|lungs?))(?:'re|'s| are| is| seems?| looks?| sounds?)(?: (?!not sure|a\b)\w+){0,2}? "
    r"(?:fit|healthy|eligible|suitable|cleared|(?:an? )?(?:\w+ )?candidate|(?:well|strong) enough|in (?:good|fine|great) (?:health|shape)|up to it|good to go)\b",
    re.IGNORECASE,
)
"""A judgement on whether somebody can be operated on, which "I note that" makes no milder."""
_ASKED_ABOUT = re.compile(
    r"\b(?:whether|question|(?:you|he|she) (?:\w+ )?(?:said|told|asked|wrote|mentioned|hope|want|wants|wish)|(?:doctors?|surgeons?|anaesthetists?|specialists?|hospitals?) (?:\w+ )?(?:decides?|judges?|says?|looks?|checks?))\b",
    re.IGNORECASE,
)


@functools.cache
def _raw() -> dict[str, str]:
    path = resources.files("bedside.flows.intake") / "data" / "part.yaml"
    found: dict[str, str] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return found


def _forms(name: str) -> str:
    return "|".join(one.strip() for one in _raw()[name].split(" | "))


@functools.cache
def _begins() -> re.Pattern[str]:
    joined = {
        name: _forms(name).replace("\n", " ")
        for name in ("leads", "ours", "you", "process", "does")
    }
    return re.compile(
        r"^[\W_]*(?:(?:and|so|then|now|next|but|okay|ok|for now|first|again|also|please|of course|(?:yes|no)(?=,? (?:i|we|you can|nothing|of course)\b))\b[,;:]?\s*)*"
        rf"(?:(?:{joined['leads']})\b"
        rf"|(?:i|we)\b ?{joined['ours']}"
        rf"|you ?(?:{joined['you']})"
        rf"|(?:(?:the|your|this|that|these|those|a|an|its|their|each|every|some|any|all|no|two|three|both|one|my|our|other|many|most)\s+)*(?:[\w-]+\s+){{0,3}}?(?:{joined['process']})(?:s|es)?\b(?: (?:about|from|for|of|at|in|you|that you) [\w'-]+(?: [\w'-]+)?){{0,2}} ?{joined['does']}"
        rf"|(?:it|they|that|this|he|she|people|some people|many people) ?{joined['does']})",
        re.IGNORECASE,
    )


@functools.cache
def _plain() -> frozenset[str]:
    texts = " ".join(map(str, data("phrases")["en"].values()))
    return _stems(f"{texts} {_raw()['words']}")


def _stems(text: str) -> frozenset[str]:
    return frozenset(
        stem(word.casefold().replace("’", "'").removesuffix("'s")) for word in _WORD.findall(text)
    )


def in_part(sentence: str, said: Sequence[str]) -> bool:
    """Is the statement a coordinator's?

    Args:
        sentence: One statement of a model; a question is not asked about here.
        said: The person's own messages and what is known, whose words may be repeated.
    """
    plain = sentence.replace("’", "'").strip()
    words = _words(plain)
    if not words or not _begins().match(plain):
        return False
    for judges in (_VERDICT, _ACTS):
        met = judges.search(plain)
        if met and not _REPORTED.search(plain, 0, met.start()):
            return False
    if _orders(plain) or _finds_fit(plain):
        return False
    *_, last = re.split(r"[;:\u2014]", plain)
    if last != plain and _ACTS.search(last):
        return False
    telling, other = _told(words, said)
    return len(other) <= max(1, min(_SPARE * len(telling), _MOST))


def _orders(sentence: str) -> bool:
    """Does it tell somebody what to do with a medicine, and repeat no wish of theirs?"""
    drugs = {one.start for one in find_drugs(sentence)}
    return any(
        (hit.end() in drugs or _TAKEN.match(sentence, hit.end()) is not None)
        and _own_verb(sentence, hit) is None
        and (_REPORTED.search(sentence, 0, hit.start() + 1) is None or ":" in hit.group()[:1])
        for hit in _ORDERS.finditer(sentence)
    )


def _own_verb(sentence: str, hit: re.Match[str]) -> re.Match[str] | None:
    """What the person takes, said again: "I have noted that you take warfarin"."""
    return _TAKES.search(sentence, 0, hit.end())


_TAKES = re.compile(r"\byou (?:also )?(?:take|use) (?:\w+ ){0,2}$", re.IGNORECASE)


def _finds_fit(sentence: str) -> bool:
    """Does it judge that somebody can be operated on, whoever notes it?"""
    found = _FIT.search(sentence)
    return found is not None and _ASKED_ABOUT.search(sentence, 0, found.start()) is None


def asks_only(question: str, said: Sequence[str]) -> bool:
    """Is what stands before the asking itself either nothing, known words or a coordinator's?"""
    plain = question.replace("’", "'").strip()
    found = _ASKING.search(plain)
    before = plain[: found.start()] if found else ""
    words = _words(before)
    return not words or not _told(words, said)[1] or in_part(before, said)


def _words(text: str) -> list[str]:
    return [word.casefold().removesuffix("'s") for word in _WORD.findall(text)]


def _told(words: Sequence[str], said: Sequence[str]) -> tuple[list[str], list[str]]:
    """The words that tell something, and those of them that are neither plain nor the person's."""
    telling = [word for word in words if len(word) >= _SHORT and word not in STOP_WORDS]
    known = _plain() | _stems(" ".join(said))
    return telling, [word for word in telling if stem(word) not in known]
