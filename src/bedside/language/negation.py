"""What a sentence denies, doubts, or says of somebody else. Pure.

After NegEx (Chapman 2001) and ConText (Harkema 2009), written anew: a trigger opens a scope that
runs forward (or back) until a word or sign that ends it.
"""

from __future__ import annotations

import re
from typing import Literal

from bedside.core.value import value

__all__ = ["Kind", "Scope", "scopes"]

Kind = Literal["negated", "uncertain", "family", "other", "historical"]

_FORWARD = 8  # words that a trigger reaches
_BACKWARD = 6


@value
class Scope:
    """A stretch `[start, end)` of the text that is denied, doubted or another's.

    `trigger` is the span of the words that opened it.
    """

    start: int
    end: int
    kind: Kind
    trigger: tuple[int, int]


def _words(phrases: str) -> str:
    listed = [re.escape(p.strip()).replace(r"\ ", r"\s+") for p in phrases.split("|")]
    return r"(?<![\w-])(?:" + "|".join(sorted(listed, key=len, reverse=True)) + r")(?![\w])"


_NOT_NEGATION = re.compile(
    _words(
        "no increase|no decrease|no change|no further|not only|no later than|no more than|no less than|"
        "not more than|not less than|not fewer than|not necessarily|no longer than|without difficulty|"
        "not certain whether|no doubt|not exceed|not exceeding|do not exceed|not just|not merely"
    ),
    re.IGNORECASE,
)
_PRE = re.compile(
    _words(
        "no|not|without|denies|denied|deny|denying|negative for|no evidence of|no sign of|no signs of|"
        "no history of|no known|absence of|absent|never|none|free of|ruled out|rules out|nor|neither|"
        "cannot|can't|doesn't|does not|did not|didn't|isn't|is not|wasn't|was not|aren't|are not|"
        "hasn't|has not|hadn't|don't|do not|fails to|failed to reveal|unremarkable for|never had|"
        "lack of|lacks|lacking|declines|declined|refused|refuses|nil|contraindicated|avoid|"
        "should not|must not|not known to have|avoided|non"
    ),
    re.IGNORECASE,
)
_POST = re.compile(
    _words(
        "is absent|are absent|was absent|were absent|absent|negative|not detected|not seen|not present|"
        "not found|not identified|not observed|not reported|is ruled out|was ruled out|ruled out|"
        "has been ruled out|unlikely|is excluded|was excluded|are excluded|excluded|is denied|"
        "was denied|is contraindicated|are contraindicated|contraindicated|not recommended|"
        "is not recommended|should be avoided|not indicated|refuted|entered-in-error|entered in error|"
        "not done|not-done|not taken|not-taken|cancelled|canceled|nil"
    ),
    re.IGNORECASE,
)
_UNCERTAIN_PRE = re.compile(
    _words(
        "possible|possibly|probable|probably|suspected|suspect|suspicion of|suspicious for|rule out|"
        "r/o|query|may have|might have|could have|may be|might be|could be|concern for|"
        "concerning for|suggestive of|suggests|suggesting|consistent with|differential|"
        "differential diagnosis|to exclude|questionable|likely|presumed|provisional|unconfirmed|"
        "perhaps|cannot exclude|cannot be excluded|evaluate for|at risk of|risk of|at risk for|"
        "risk for|if|in case of|monitor for|watch for|screen for|screening for"
    )
    + r"|(?<!\S)\?(?=\w)",
    re.IGNORECASE,
)
_UNCERTAIN_POST = re.compile(
    _words(
        "is possible|is suspected|was suspected|suspected|cannot be excluded|not excluded|is likely|"
        "not confirmed|unconfirmed|is questionable|to be confirmed|in differential|provisional|"
        "differential"
    ),
    re.IGNORECASE,
)
_FAMILY = re.compile(
    _words(
        "family history|family hx|fhx|fh|mother|father|brother|sister|sibling|siblings|parent|parents|"
        "maternal|paternal|grandmother|grandfather|grandparent|aunt|uncle|cousin|son|daughter|"
        "mother's|father's|brother's|sister's|relative|relatives|first-degree|runs in the family|"
        "husband|wife|spouse|partner's|half-brother|half-sister|niece|nephew|twin"
    ),
    re.IGNORECASE,
)
_HISTORICAL = re.compile(
    _words(
        "history of|past history of|h/o|previous|previously|prior|former|formerly|ex|resolved|"
        "in remission|past medical history|in the past|inactive|completed|stopped|discontinued"
    ),
    re.IGNORECASE,
)
_STOP = re.compile(
    r"[;.!?\n](?=\s|$)|[:]\s|"
    + _words(
        "but|however|although|though|except|apart from|aside from|other than|yet|still|nevertheless|"
        "which|who|presents with|presented with|reports|reported|complains of|complained of|shows|"
        "showed|reveals|revealed|has|have|had|because|since|secondary to|due to|takes|taking|"
        "is on|continues|therefore|instead|unless|and has|and reports|and is|whereas|while|then|"
        "is allergic|allergic to"
    ),
    re.IGNORECASE,
)
_DENIED_HAVING = re.compile(
    r"\b((?:(?:ha[sd]|have|do|does|did|will|would|could|can|may|might|should)(?:\s+(?:not|never)|n't)"
    r"|cannot|can't|won't|no\s+longer|denie[sd])"
    r"(?:\s+(?:ever|yet|currently|really|actually|any\s+longer))?)"
    r"(\s+(?:having\s+had|had|have|has))\b",
    re.IGNORECASE,
)
"""The second verb of a denial ("does not have", "has not had"): no border of what is denied."""
_WORD = re.compile(r"\S+")
_SENTENCE_END = re.compile(r"[.!?;](?=\s|$)|\n")


_ANY = re.compile(
    "|".join(
        one.pattern for one in (_PRE, _POST, _UNCERTAIN_PRE, _UNCERTAIN_POST, _FAMILY, _HISTORICAL)
    ),
    re.IGNORECASE,
)


def scopes(text: str) -> list[Scope]:
    """The stretches of `text` that are negated, uncertain, historical or about a relative.

    Args:
        text: A sentence or a few. A family scope covers the whole sentence or line that names the
            relative, from there to its end or to the patient's mention.

    Returns:
        Scopes in order of their start. They may overlap: what is both negated and a relative's
        lies in two.
    """
    text = text.replace("\u2019", "'")
    if _ANY.search(text) is None:
        return []
    found: list[Scope] = []
    masked = _NOT_NEGATION.sub(lambda match: "_" * len(match.group()), text)
    masked = _DENIED_HAVING.sub(lambda match: match[1] + " " * len(match[2]), masked)
    _forward(masked, _PRE, "negated", found)
    _backward(masked, _POST, "negated", found)
    _forward(text, _UNCERTAIN_PRE, "uncertain", found)
    _backward(text, _UNCERTAIN_POST, "uncertain", found)
    _forward(text, _HISTORICAL, "historical", found)
    found += [
        Scope(start=start, end=end, kind="family", trigger=(match.start(), match.end()))
        for match in _FAMILY.finditer(text)
        for start, end in [_sentence(text, match.start(), match.end())]
    ]
    return sorted(found, key=lambda one: (one.start, one.end))


def _forward(text: str, trigger: re.Pattern[str], kind: Kind, found: list[Scope]) -> None:
    for match in trigger.finditer(text):
        rest = text[match.end() :]
        stop = _STOP.search(rest)
        end = match.end() + (stop.start() if stop else len(rest))
        words = list(_WORD.finditer(text, match.end(), end))
        if len(words) > _FORWARD and "," not in text[words[_FORWARD - 1].start() : end]:
            end = words[_FORWARD - 1].end()
        found.append(Scope(start=match.end(), end=end, kind=kind, trigger=match.span()))


def _backward(text: str, trigger: re.Pattern[str], kind: Kind, found: list[Scope]) -> None:
    for match in trigger.finditer(text):
        start = 0
        for stop in _STOP.finditer(text, 0, match.start()):
            start = stop.end()
        words = list(_WORD.finditer(text, start, match.start()))
        if len(words) > _BACKWARD:
            start = words[-_BACKWARD].start()
        if start < match.start():
            found.append(Scope(start=start, end=match.start(), kind=kind, trigger=match.span()))


def _sentence(text: str, start: int, end: int) -> tuple[int, int]:
    first = 0
    for stop in _SENTENCE_END.finditer(text, 0, start):
        first = stop.end()
    last = _SENTENCE_END.search(text, end)
    return first, last.start() if last else len(text)
