"""Who does what to whom: the doer and the done-to of a blow, from the words around its verb. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

from bedside.clinical.danger.senses import Found
from bedside.clinical.danger.words import Word

__all__ = ["Party", "blow", "doer"]

Party: TypeAlias = Literal["self", "other", "child", "thing", "reflexive", "unsaid"]


def _words(line: str) -> frozenset[str]:
    return frozenset(line.split())


_I = frozenset({"i", "we"})
_OTHERS = frozenset(
    {"he", "she", "they", "who", "someone", "somebody", "you", "everyone", "nobody"}
)
_THINGS = frozenset({"it", "this", "that", "which", "what", "there"})
_HELPS = _words(
    "am is are was were be been being have has had do does did will would could might may "
    "shall should can not never always just still often sometimes really now then also "
    "again even ever already only to and or keep keeps kept keeping start starts started "
    "starting try tries tried trying going go want wants wanted get gets got gotten about "
    "both constantly regularly nearly almost suddenly literally actually usually "
    "physically sexually badly once twice deliberately accidentally all repeatedly "
    "probably definitely likely threaten threatens threatened threatening threat come "
    "came comes went goes gonna like likes love loves plan plans planned need needs "
    "fucking bloody bastard says said say swears swore swear saying so drunk that"
)
_DETERMINERS = _words("a an the my his her their our your its this that some any no")
_BETWEEN = _words(
    "at on up to over repeatedly hard both out all around down of with poor little own old into"
)
_BODY = _words(
    "face arm arms head hair neck throat wrist leg legs stomach belly chest back ear ears "
    "hand hands mouth nose jaw ribs eye cheek bump tummy fingers finger knee bottom"
)
_MARKS = frozenset('.!?;\n"“”')
_REACH = 12


def doer(words: Sequence[Word], found: Found, at: int) -> Party:
    """Who does what the verb at `at` says: the nearest that can, before it in its sentence."""
    people = {start: "child" for start, _ in found.get("child", ())}
    people |= {start: "other" for start, _ in found.get("adult", ())}
    things = {start for start, _ in found.get("thing", ())}
    vehicles = {start for start, _ in found.get("vehicle", ())}
    near, driven = True, False
    for n in range(at - 1, max(-1, at - 1 - _REACH), -1):
        word = words[n].text
        if word in _MARKS:
            break
        if word in _I:
            return "self"
        if word in _OTHERS or n in people:
            return "other"
        if word in {"and", "or", ",", "but"} or word.startswith("threat"):
            near = False
        driven |= n in vehicles
        if near and (word in _THINGS or n in vehicles):
            return "thing"
        if near and word not in _HELPS and word != "," and not word.endswith("ly"):
            if n and words[n - 1].text in _DETERMINERS:
                return "thing"
            near = False
            if n == 0 or words[n - 1].text in _MARKS:  # a bare word that opens: a name
                return "thing" if n in things else "other" if word.isalpha() else "unsaid"
    return "thing" if driven else "unsaid"


def blow(words: Sequence[Word], found: Found, verb: tuple[int, int]) -> tuple[Party, Party, int]:
    """Doer and done-to of the verb, and where the words of it end."""
    start, end = verb
    if start and words[start - 1].text in _DETERMINERS - {"that"}:
        return "unsaid", "unsaid", end  # a hit, the beat
    at = end
    while at < min(end + 3, len(words)) and words[at].text in _BETWEEN:
        at += 1
    taken = _taken(words, found, at) if at < len(words) else None
    if taken is not None:
        taker, last = taken
        if taker == "reflexive":
            return ("self" if words[at].text == "myself" else "other"), taker, last
        return doer(words, found, start), taker, last
    return _suffered(words, found, verb)


def _taken(words: Sequence[Word], found: Found, at: int) -> tuple[Party, int] | None:
    """Who is named as the one done to, from the word at `at` on."""
    word = words[at].text
    if word in _SIMPLE:
        return _SIMPLE[word], at + 1
    children = {start for start, _ in found.get("child", ())}
    adults = {start for start, _ in found.get("adult", ())}
    if word in _DETERMINERS:
        for n in range(at + 1, min(at + 4, len(words))):
            if n in children:
                return "child", n + 1
            if n in adults or words[n].text in _KINDRED:
                return "other", n + 1
            if words[n].text in _BODY and word in {"my", "his", "her", "their"}:
                if _bumped(words, at):
                    return "reflexive", n + 1
                return ("self" if word == "my" else "other"), n + 1
            if words[n].text in _MARKS:
                break
        return ("other", at + 1) if word == "her" else None
    if at in children:
        return "child", at + 1
    if at in adults and word in _KIN:
        return "other", at + 1
    return None


def _bumped(words: Sequence[Word], at: int) -> bool:
    """Is it one's own head, hand or knee that one hit: "she hit her head"?"""
    if at < 2 or words[at].text not in _OWNERS or words[at - 1].stem not in _MISHAPS:  # noqa: PLR2004
        return False
    of_him = next((w.text for w in reversed(words[: at - 1]) if w.text in _OWNERS.values()), None)
    return of_him in {None, _OWNERS[words[at].text]}


def _suffered(
    words: Sequence[Word], found: Found, verb: tuple[int, int]
) -> tuple[Party, Party, int]:
    """Doer and done-to of a verb that is suffered: "I was slapped by my husband"."""
    start, end = verb
    passive = next(
        (n for n in range(start - 1, max(-1, start - 4), -1) if words[n].text in _PASSIVE), None
    )
    if passive is None or not words[start].text.endswith(_PARTICIPLES):
        return "unsaid", "unsaid", end
    who = doer(words, found, passive)
    by = next((e for s, e in found.get("by_person", ()) if end <= s <= end + 3), None)
    if by is None and words[passive].text not in _GETS and who != "self":
        return "unsaid", "unsaid", end
    return ("other" if by is not None else "unsaid"), who, by or end


_OWNERS = {"his": "he", "her": "she", "their": "they"}
_MISHAPS = _words("hit strike hurt injur bang bump knock burn pinch shake")
_PARTICIPLES = ("ed", "en", "ung", "uck", "hit", "hurt", "beat", "shot")
_GETS = _words("get gets getting got being keep")
_SIMPLE: dict[str, Party] = {
    "me": "self",
    "us": "self",
    "myself": "reflexive",
    "himself": "reflexive",
    "herself": "reflexive",
    "themselves": "reflexive",
    "themself": "reflexive",
    "itself": "reflexive",
    "yourself": "reflexive",
    "him": "other",
    "them": "other",
    "you": "other",
    "everyone": "other",
    "everybody": "other",
}
_KIN = _words("mum mom mummy dad daddy gran nan grandma grandad grandpa grandmother")
_KINDRED = _words("family families household lot neighbours neighbors")
_PASSIVE = _words("get gets got getting was were been being am is be are")
