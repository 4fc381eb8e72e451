"""Is a person willing to begin, and do they tell of the difficulty already? By rule. Pure."""

from __future__ import annotations

import re

from bedside.flows.companion.reading import Said

__all__ = ["SUBSTANTIAL", "came_by", "holds_off", "tells", "willing"]

SUBSTANTIAL = 8
"""Words from which a message tells something, whatever it is about."""
_WILLING = re.compile(
    r"(?:k|fine|go ahead|go on|why not|let us|let's (?:go|try|start|begin)|i guess(?: so)?|i suppose(?: so)?|i am willing|"
    r"i'm willing|willing|i'm in|start|begin|whatever|alright|all right|let's do (?:it|this))[ .!]*"
)
_GREETING = re.compile(r"(?:hi|hello|hey|good (?:morning|afternoon|evening))\b[,.! ]*")


_CAME_BY = re.compile(
    r"\b(?:sent|gave|showed) me (?:a |the |this |your )?(?:\w+ )?(?:link|invitation|address|page|app)\b|"
    r"\b(?:told me to|said (?:that )?i should|asked me to|wants me to|made me) (?:try|join|come|sign up|do this|use this)\b|"
    r"\b(?:said|says|thought|thinks) (?:that )?(?:this|it) (?:might|could|would|may) (?:help|be good|do (?:me|us) good)\b|"
    r"\bonly here because\b"
)
"""How somebody came here, which is not what is hard."""
_HOLDS_OFF = re.compile(
    r"\A(?:no,? (?:thanks|thank you)|not (?:today|now|yet|ready|tonight|here)|(?:maybe|perhaps) (?:later|tomorrow|another)|we(?:'ll| will) see)\b|"
    r"\bi(?:(?: don't| do not)(?: really)? (?:want|wish) to|(?:'m| am) not(?: really)? (?:ready|willing|going) to|"
    r"(?:'d| would) rather not| won't| will not) (?:talk|speak|begin|start|discuss|do (?:this|it))\b(?! (?:to|with) (?!you\b))"
)
_WISHES_TO = re.compile(
    r"\b(?:like|want|willing|ready|happy|glad) to (?:start|begin|try|do (?:it|this))\b|"
    r"\A(?:\w+,? ){0,2}why not\b|\bgive (?:it|this) a (?:go|try|shot|chance)\b|\b(?:i'll|i will|let me) try (?:it|this)\b"
)


def willing(text: str) -> bool:
    """Does a message say that its writer wants to begin?"""
    plain = text.strip().lower().replace("’", "'")
    wishes = _WISHES_TO.search(plain) and not re.search(r"n't\b|(?<!why )\bnot\b|\?", plain)
    return bool(_WILLING.fullmatch(plain) or wishes)


def holds_off(text: str) -> bool:
    """Does a message say that its writer does not want to begin, or not now?"""
    return bool(_HOLDS_OFF.search(text.strip().lower().replace("’", "'")))


def came_by(text: str) -> bool:
    """Does a message say how its writer came here?"""
    return bool(_CAME_BY.search(text.lower().replace("’", "'")))


def tells(said: Said, other: str) -> bool:
    """Does a message tell of the difficulty: at some length, or of the two of them in a few words?"""
    plain = said.text.lower().replace("’", "'")
    if said.question or said.process or holds_off(said.text) or _CAME_BY.search(plain):
        return False
    if len(plain.split()) >= SUBSTANTIAL:
        return True
    them = re.search(
        rf"\b(?:we|us|he|she|they|him|her|them|my|our|{re.escape(other.lower())})\b", plain
    )
    return bool(them) and not said.yes and len(_GREETING.sub("", plain).split()) > 1
