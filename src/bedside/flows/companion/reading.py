"""What rules read in a message: intensity, feelings, needs, assent, references. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from bedside.core.value import value
from bedside.flows.companion.hearing import agrees, feels_heard, feels_missed, has_read
from bedside.language.sentences import sentences

__all__ = ["Said", "is_act", "read", "sentences_of", "trend"]

_WORD = re.compile(r"[\w'-]+")
_OTHER = re.compile(r"\b(he|she|they|him|her|them|his|hers|their|you)\b")
_SELF = re.compile(r"\b(i|i'm|i've|i'd|me|my|myself)\b")
_PRIVATE = re.compile(
    r"\bwhat (?:did|does|has|have|do) [^.!?,]{1,25} (?:tell|told|say to|said to|write to|written to) you\b|"
    r"\bwhat (?:did|does|has|have|do) [^.!?,]{1,25} (?:say|said|write|written|think|tell|told)\b[^.!?]{0,12}"
    r"\b(?:about|of) (?:me|us|my)\b|"
    r"\b(?:tell|show|read)(?: to)? me what\b[^.!?]{1,40}\b(?:said|says|wrote|told|thinks?|feels?)\b[^.!?]{0,12}"
    r"\b(?:about|of|to) (?:me|you)\b|"
    r"\b(?:remind me|tell me again) (?:of )?what i (?:said|told|wrote)\b|\bstop (?:remembering|recording|storing|keeping)\b|"
    r"\bwhat are you (?:keeping|storing|saving|recording)\b|\bwhat (?:do|did|have|else do) you (?:\w+ )?(?:know|remember|keep|kept|store|stored|save|saved) (?:about|of|on) (?:me|us)\b|"
    r"\A(?:and |but )?(?:did|has|does|have) (?!i\b|you\b|we\b)\w+ (?:ever )?(?:say|said|write|written|mention|mentioned|told you|tell you|"
    r"complain|complained)\b(?: to you)? (?:that|about|how|why|he|she|they|i|it)\b"
)
"""A request for the other's private words, or for what is kept of the person's own."""
_WHO_READS = re.compile(
    r"\b(?:will|can|does|do|could|would) (?!i\b|we\b|you\b)\w+ (?:ever )?(?:see|read|hear|know|find out)(?: about| any of| all of)? "
    r"(?:(?:this|that|it|anything)(?: here| too| as well)?\W*\Z|what (?:i|we) (?:write|say|tell|said|wrote|told)\b|"
    r"my (?:words|messages|texts?)\b)"
)
"""A question who else sees what is written here, and not what somebody sees of the person."""
_BY_ONESELF = re.compile(
    r"\b(?:leave|left|let) (?:me|us|him|her|them) alone\b|\b(?:time|be|want|need) alone\b|"
    r"\b(?:can't|cannot|can not|couldn't|could not|unable to|able to)\b[^,.;]{0,40}\balone\b"
)
"""Alone as "without help" or as a wish, which is no loneliness."""
_FELT = re.compile(r"\bfe(?:el|els|elt|lt|eling)\b")
_AS_I_THINK = re.compile(
    r"\bi(?:'m| am)? (?:think|thought|guess|suppose|believe|imagine|know|bet|sure)\b"
)
_CHAT = re.compile(r"(?<=[a-z]{3}[.!?]) +(?=[a-z])")
_ADVICE = re.compile(
    r"\b(?:should|shall|must) i\b(?! (?:share|send|give|approve))[^.!]*\?|\bwhat (?:can|could|would) i do\b"
)
_CALM, _MOST = 4, 10
_BRIEF_WORDS = 6


@value
class Said:
    """One message as rules read it.

    `intensity` is 1 (calm) to 10. `feelings` are the person's own and `theirs` those that the
    person sees in the other, each as it is named back. `agrees`: they take what was put to them. `heard` and `missed`: they say that they feel heard here, or that
    they do not. `bids`: they bid the guide do something that it does not ("tell", "write"), or to go on ("go").
    `brief` asks for a wider question.
    """

    text: str
    intensity: int
    feelings: tuple[str, ...] = ()
    theirs: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    agrees: bool = False
    yes: bool = False
    no: bool = False
    heard: bool = False
    missed: bool = False
    received: bool = False
    stop: bool = False
    skip: bool = False
    process: bool = False
    privacy: bool = False
    must: bool = False
    foreign: bool = False
    commitment: bool = False
    reference: bool = False
    unsure: bool = False
    question: bool = False
    who: bool = False
    advice: bool = False
    judge: bool = False
    keep_private: bool = False
    bids: str = ""
    brief: bool = False


_ACT = re.compile(r"\A\[[a-z]+\b[^\]]*\]\Z")


def is_act(text: str) -> bool:
    """Is a stored message a deed ("[share]"), and no words of the person's?"""
    return bool(_ACT.match(text.strip()))


def read(text: str, words: Mapping[str, Any], *, of_other: bool = False) -> Said:
    """Read one message. `of_other`: a feeling of nobody named is the other's, who was asked about."""
    plain = " ".join(text.lower().replace("’", "'").split())
    tokens = _WORD.findall(plain)
    feelings: list[str] = []
    theirs: list[str] = []
    about = of_other
    for part in sentences_of(plain):
        for name, forms in words["feelings"].items():
            for form in forms:
                match = _phrase(form).search(part)
                if match is None or _denied(part, match.start()):
                    continue
                if form == "alone" and _BY_ONESELF.search(part):
                    continue
                if (
                    of_other
                    and form in words["insults"]
                    and not _FELT.search(part[: match.start()])
                ):
                    continue  # what somebody is called is not what they feel
                (theirs if _of_other(part[: match.start()], about=about) else feelings).append(name)
                break
        about = _of_other(part, about=about)
    has = _Has(plain, words)
    first = plain.split(" ", 1)[0].strip(".,;:!?¡¿।،。")
    no = _begins(plain, words["no"]) or plain.strip(" .!") in words["no_whole"]
    no = no or first in words.get("no_abroad", ())
    abroad = _yes_abroad(plain, words)
    return Said(
        text=text,
        intensity=_intensity(text, plain, len(feelings), words),
        feelings=tuple(dict.fromkeys(feelings)),
        theirs=tuple(dict.fromkeys(theirs)),
        needs=tuple(
            name
            for name, forms in words["needs"].items()
            if any(_phrase(form).search(plain) for form in forms)
        ),
        yes=(abroad or _says_yes(plain, words["yes"])) and not no and " but not" not in plain,
        agrees=agrees(plain) and not no,
        no=no,
        heard=feels_heard(plain),
        missed=feels_missed(plain),
        received=(has("received") or has_read(plain)) and not no,
        stop=bool(tokens) and len(tokens) <= _BRIEF_WORDS and has("stop"),
        skip=has("skip"),
        process=has("process"),
        privacy=has("privacy") or bool(_WHO_READS.search(plain)),
        must=has("must"),
        foreign=has("invalid_memory") or bool(_PRIVATE.search(plain)),
        commitment=has("commitments"),
        reference=has("references"),
        unsure=has("unsure"),
        question=plain.endswith("?"),
        who=has("who"),
        advice=has("advice") or bool(_ADVICE.search(plain)),
        judge=has("judge"),
        keep_private=has("keep_private"),
        bids=_bids(plain),
        brief=len(tokens) < _BRIEF_WORDS,
    )


_LEADS = r"(?:(?:please|just|now|ok|okay|actually|well|so|and|then|no|yes)[, ]+)*(?:(?:can|could|would|will) you (?:please |just )?)?"
_BIDS = (
    ("tell", re.compile(rf"{_LEADS}(?:tell|ask|let) (?:him|her|them)\b(?! know nothing)[^?]*\??")),
    (
        "write",
        re.compile(
            rf"{_LEADS}(?:write|sing|draw|translate|book|order|send|find|google|look up)(?: \w+)? (?:a|an|the|some|my)\b[^?]*\??"
        ),
    ),
    (
        "go",
        re.compile(
            r"(?:(?:please|ok|okay|actually|well|so|and|then|yes|i'd like to|i want to)[, ]+|(?:can|could|shall|may) we )*"
            r"(?:let's |let us |we can |we could )?(?:go on|continue|carry on|keep going|resume)(?: (?:now|please|then|again))*[ .!?]*"
        ),
    ),
)


def _bids(plain: str) -> str:
    """What a whole message bids the guide do, by its name; "" where it bids nothing."""
    return next((name for name, form in _BIDS if form.fullmatch(plain)), "")


class _Has:
    def __init__(self, plain: str, words: Mapping[str, Any]) -> None:
        self._plain, self._words = plain, words

    def __call__(self, name: str) -> bool:
        return any(_phrase(form).search(self._plain) for form in self._words.get(name, ()))


@lru_cache(maxsize=4096)
def _phrase(form: str) -> re.Pattern[str]:
    return re.compile(r"(?<![\w'])" + re.escape(form) + r"(?![\w])")


def _begins(plain: str, forms: Sequence[str]) -> bool:
    head = plain[:60]
    return any((found := _phrase(form).search(head)) and found.start() <= 12 for form in forms)  # noqa: PLR2004


_YES = frozenset({"yes", "yeah", "yep", "yup", "let's"})
"""What is a yes whatever follows it; of the other words some are none ("right now", "I do it all")."""
_OF_STATE = frozenset({"ok", "okay", "right", "sure"})
_HOW_ONE_IS = re.compile(
    r"\A(?:well,? |but |no,? )?(?:i'm|i am|i was|i feel|we're|we are|it's|it is|it was) (?:ok|okay|right|sure)\b"
)
"""Said of how somebody is ("I'm ok, I was tired"): no yes to what was asked."""
_AFTER_YES = re.compile(
    r"\W*\Z|\s*[,.;:!…–—-]|\s+(?:i|i'm|i'd|i'll|we|we'd|we'll|it|it's|that|that's|this|you|to|then|let|let's|and|enough|"
    r"please|thanks|thank|yes|yeah|ok|okay|with|is|does|do|thing|when|go|begin|start|try|as|how|now\W*\Z)\b"
)


def _yes_abroad(plain: str, words: Mapping[str, Any]) -> bool:
    """Is a message a yes in another language: that word and a little more behind a mark, with no reserve?

    Some are names or English words as well: "Da never listened", "Si shouts at me", "Claro, but no".
    """
    said = [one.strip(".,;:!?¡¿।،。…") for one in plain.split()]
    known = {word for form in words.get("yes_abroad", ()) for word in form.split()}
    reserve = set(words.get("reserve_abroad", ()))
    if not said or said[0] not in known or plain.endswith("?") or reserve & set(said):
        return False
    marked = plain.split(maxsplit=1)[0][-1] in ".,;:!।،。…"
    known |= set(words.get("with_yes_abroad", ()))
    return known.issuperset(said) or (marked and len(said) < _BRIEF_WORDS)


def _says_yes(plain: str, forms: Sequence[str]) -> bool:
    """Does a message begin with a yes?"""
    found = (
        (
            form,
            None
            if _HOW_ONE_IS.search(plain) and form in _OF_STATE
            else _phrase(form).search(plain[:60]),
        )
        for form in forms
    )
    return any(
        one and one.start() <= 12 and (form in _YES or _AFTER_YES.match(plain, one.end()))  # noqa: PLR2004
        for form, one in found
    )


def _denied(part: str, at: int) -> bool:
    return bool(
        re.search(r"\b(not|never|n't|no longer|don't|isn't|wasn't)\b[^,.]{0,16}$", part[:at])
    )


def _of_other(before: str, *, about: bool) -> bool:
    """Whose feeling is it: the nearest person named before it, or whom the sentence before was about."""
    before = _AS_I_THINK.sub(" ", before)
    other = [match.end() for match in _OTHER.finditer(before)]
    own = [match.end() for match in _SELF.finditer(before)]
    if not other and not own:
        return about
    return bool(other) and (not own or other[-1] > own[-1])


def _intensity(text: str, plain: str, feelings: int, words: Mapping[str, Any]) -> int:
    level = _CALM + min(feelings, 2)
    level += min(3, sum(1 for form in words["strong"] if _phrase(form).search(plain)))
    level -= min(2, sum(1 for form in words["mild"] if _phrase(form).search(plain)))
    level += min(1, text.count("!") // 2)
    shouted = [word for word in _WORD.findall(text) if len(word) > 3 and word.isupper()]  # noqa: PLR2004
    level += 1 if len(shouted) > 1 else 0
    if any(_phrase(form).search(plain) for form in words["distress"]):
        level = max(level, 9)
    return max(1, min(_MOST, level))


def trend(levels: Sequence[int]) -> str:
    """How the intensity goes: the last against the mean of up to three before it."""
    if len(levels) < 2:  # noqa: PLR2004
        return "stable"
    before = levels[-4:-1]
    change = levels[-1] - sum(before) / len(before)
    return "rising" if change >= 1 else "easing" if change <= -1 else "stable"


def sentences_of(text: str) -> list[str]:
    """The sentences of a text, those too that begin in lower case, as people write in a chat."""
    return [
        one.strip()
        for start, end in sentences(text)
        for one in _CHAT.split(text[start:end])
        if one.strip()
    ]
