"""Does a person say that they feel heard, or that they do not? By rule, sentence by sentence. Pure."""

from __future__ import annotations

import re

from bedside.language.sentences import sentences

__all__ = ["agrees", "assents", "feels_heard", "feels_missed", "has_read"]

_HOW = (
    r"(?:so|much|better|really|truly|completely|fully|very|quite|totally|well|now|finally|deeply|"
    r"more|like i am|like i'm|that i am|that i'm|also|actually|exactly|just|do|indeed|seen and|seen,)"
)
_HEARD = r"(?:heard|understood|listened to)"
_SAYS = (
    rf"\bi(?:'m| am|'ve| have| do)?(?: {_HOW})* (?:feel|feeling|been)(?: {_HOW})* {_HEARD}\b",
    (
        rf"\byou(?:'ve| have)?(?: {_HOW})* (?:heard|hear|understood|understand|get|got|see|captured)"
        rf"(?: {_HOW})* (?:it|me|that|this|what i (?:mean|meant|said|feel)|how i feel)\b"
    ),
    r"\byou(?:'ve| have)? understood\Z",
    rf"\bfeels? (?:so |really |very )?good to be {_HEARD}\b",
    r"\byou (?:put|said) (?:it|that) (?:exactly |just |quite )?(?:right|well)\b",
    r"\b(?:that is|that's) (?:exactly|precisely|just) it\b",
    r"\Aexactly,? (?:that is|that's) it\b",
    r"\bthank you for (?:hearing|understanding) me\b",
)
_SAID = re.compile("|".join(_SAYS))
_RIGHT = re.compile(
    r"\A(?:(?:yes|yeah|yep|ok|okay|exactly|correct|right|thank you|thanks)\b[,. ]*)+\Z|"
    r"\b(?:that is|that's|you are|you're|this is|it is|it's)(?: exactly| quite| all| so)? (?:right|correct|true|it)\b"
)
_WHOLE = re.compile(r"\bnothing (?:is |was )?(?:missing|left out)\b")
_AGAINST = re.compile(
    r"n't\b|\b(?:cannot|not|never|no|nobody|none|neither|nor|hardly|barely|rarely|seldom|less|if|will|"
    r"would|could|should|want|wanted|wish|need|until|unless|when|used to|once|ago|almost|nearly|doubt|wrong|"
    r"pretend|write|imagine|suppose|assume|say that|tell|but|although|though|except|only|missing|left out|"
    r"joke|heard of|without)\b|\bby (?!you\b)|\b(?:he|she|they|everybody|everyone|who)(?: \w+)? "
    r"(?:says?|said|thinks?|thought|claims?|believes?|told)\b"
)
_MISSED = re.compile(
    r"\byou (?:have not|haven't|did not|didn't|do not|don't|never|almost|still (?:do not|don't|have not))\b"
    r"(?: \w+)? ?(?:heard?|understood|understand|get|got|see|listen\w*)\b|"
    r"\byou(?:'re| are) not (?:even |really )?(?:listening|hearing|understanding)\b|\byou aren't (?:listening|hearing)\b|"
    r"\byou (?:misunderst\w+|misheard)\b|\byou (?:got|get|understood|understand) (?:it|me|that) wrong\b|"
    rf"\bi(?:'m| am)? (?:do not|don't|not|never|hardly|barely|rarely|can't say i|cannot say i|can't say that i)"
    rf"(?: really| at all| quite)? (?:feel |feeling )(?:\w+ )?{_HEARD}\b|\bi feel (?:unheard|misunderstood)\b|"
    r"\b(?:that is|that's) not it\b|\byou(?:'re| are)? (?:just |only |simply |always |keep )+(?:repeat\w*|parrot\w*|echo\w*|copy\w*)\b|"
    r"\byou(?:'re| are) (?:repeating|parroting|echoing)\b|\b(?:this|it|that) (?:isn't|is not|doesn't|does not) (?:really )?help(?:ing)?\b|"
    r"\A(?:this|it|that)(?:'s| is) (?:pointless|useless|a waste of time|stupid|silly|ridiculous)\b|"
    r"\byou make it sound\b"
)
_AGREES = re.compile(
    r"\A(?:and |so )?(?:i (?:think|guess|suppose|feel|find)(?: that)? )?(?:"
    r"(?:i|we)(?:'d| would| will|'ll| can| could| do)?(?: gladly| really| happily)? (?:love|like|try|do|agree|accept)"
    r"(?: to| with)? ?(?:that|this|it|so|try)?(?: too)?\Z|i (?:can |do )?agree (?:that|with|to)\b|"
    r"i(?:'m| am) (?:in\Z|(?:happy|willing|glad) to (?:try|do|agree|accept|give|help|support|go along)\b)|"
    r"(?:that|this|it|which)(?:'s| is| does| sounds| seems)?(?: really| only| quite| very| totally)? "
    r"(?:fair(?: enough)?|matters?|good|fine|ok|okay|right|true|reasonable|makes sense)(?: to me)?\Z)|"
    r"\A(?:ok |okay )?(?:fair(?: enough)?|deal|agreed|gladly|done)\Z"
)
_READ = re.compile(
    r"\A(?:i(?:'ve| have)? )?(?:just )?(?:(?:read|received|seen) (?:it|that|this)|"
    r"(?:read|received|seen|got) \w+(?:'s)? (?:statement|text|words|message))(?:\Z|[,;:]| (?:and|now|too|twice|again|all)\b)|"
    r"\A(?:it|that|this) (?:(?:comes|came|is)(?: very| quite| pretty| really)? close(?:\Z|[,;:]| (?:and|enough)\b)|"
    r"(?:comes|came)(?: very| quite| pretty| really)? close to (?:it|how|what)\b)"
)
_LATER = re.compile(
    r"\A(?:but|except|although|only|still|however|yet)\b|\b(?:missing|left out)\b|\?\Z"
)


def feels_heard(text: str) -> bool:
    """Does the person say of themselves, now and without reserve, that they are heard here?

    A question, a wish, a condition, a quotation, somebody else, an earlier time, or a "but" is none.
    """
    parts = _parts(text)
    said = [bool(_SAID.search(part)) and not _AGAINST.search(part) for part in parts]
    if not any(said) or _MISSED.search(" ".join(parts)):
        return False
    return not any(_LATER.search(part) for part in parts)


def feels_missed(text: str) -> bool:
    """Does the person say that they are not heard here, or not understood?"""
    return any(_MISSED.search(part) for part in _parts(text) if not part.endswith("?"))


def agrees(text: str) -> bool:
    """Does the person take what was put to them ("that's fair", "I'd try that"), without a reserve?"""
    if re.search(r"\?|\b(?:but|except|although|unless|only if|not|never)\b|n't\b", text):
        return False
    return any(_AGREES.search(_plain_yes(part)) for part in _parts(text))


def has_read(text: str) -> bool:
    """Does the person say that they have read what they were given?"""
    return any(_READ.match(_plain_yes(part)) for part in _parts(text)[:2])


def _plain_yes(part: str) -> str:
    """A sentence without the yes before or behind it."""
    part = re.sub(r"\A(?:(?:yes|yeah|yep|ok|okay|sure|oh|good|well)\b[,. ]*)+(?=\w)", "", part)
    return re.sub(r"[, ]+(?:yes|yeah|yep|indeed|of course)\Z", "", part)


def assents(sentence: str) -> bool:
    """Is a sentence about the guide's hearing, or a plain assent? Such a one is not given back."""
    plain = " ".join(_parts(sentence))
    bare = _plain_yes(plain)
    forms = (_SAID, _RIGHT, _MISSED)
    return any(form.search(plain) for form in forms) or bool(
        _AGREES.match(bare) or _READ.match(bare)
    )


def _parts(text: str) -> list[str]:
    plain = " ".join(text.lower().replace("’", "'").replace("thats ", "that's ").split())
    return [
        _WHOLE.sub("", plain[start:end]).strip().rstrip(".!,;: ") for start, end in sentences(plain)
    ]
