"""Whose is it: the patient's, or a relative's? Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable

from bedside.grounding.evaluate.finding import Finding
from bedside.grounding.reading import Read
from bedside.grounding.terms import Term, stem_of

__all__ = ["GENERIC", "is_relative", "relatives", "subject"]

_GENERIC_WORDS = (
    "history sign symptom evidence complaint report endorse admit state feel exam examination "
    "assessment plan time change issue problem other associated similar"
)
GENERIC = frozenset(stem_of(word) for word in _GENERIC_WORDS.split())
"""Words that carry no finding of their own."""
_RELATIVES: dict[str, str] = {}
for _key, _names in {
    "mother": "mother mom mum mother's maternal",
    "father": "father dad father's paternal",
    "brother": "brother brothers brother's",
    "sister": "sister sisters sister's",
    "sibling": "sibling siblings",
    "grandmother": "grandmother grandmothers",
    "grandfather": "grandfather grandfathers",
    "grandparent": "grandparent grandparents",
    "aunt": "aunt aunts",
    "uncle": "uncle uncles",
    "cousin": "cousin cousins",
    "parent": "parent parents parental",
    "son": "son sons",
    "daughter": "daughter daughters",
    "child": "child children",
    "family": "family familial relative relatives",
}.items():
    for _name in _names.split():
        _RELATIVES[_name] = _key
_TELLS = re.compile(
    r"^\W*(?:\w+\W+){0,3}?(?:states?|stated|reports?|reported|notes?|noted|says?|said|brings?|brought|"
    r"accompan\w+|is present|was present|here|thinks?|helps?|assist\w*|called|asks?|wants?|feels?|"
    r"gives?|provid\w+|physician|doctor|medicine|practice|planning|meeting|member|members)\b",
    re.IGNORECASE,
)
_OWN = re.compile(r"\b(?:the )?(?:patient|he|she|pt)\b|\b(?:his|her) own\b", re.IGNORECASE)


_SAYS_SO = re.compile(
    r"(?:according to|per|accompanied by|lives with|living with|told by|obtained from|here with)\s+"
    r"(?:(?:his|her|the|their|patient's)\s+)?\Z",
    re.IGNORECASE,
)


def is_relative(word: str) -> bool:
    """Does the word, in lower case, name a relative?"""
    return word.removesuffix("'s") in _RELATIVES


def relatives(read: Read) -> dict[str, list[int]]:
    """The relatives that a text speaks of, but for one who only tells, with their places."""
    found: dict[str, list[int]] = {}
    for match in re.finditer(r"[^\W\d_]+(?:'s)?", read.text):
        key = _RELATIVES.get(match.group().lower())
        if key and _SAYS_SO.search(read.text, 0, match.start()):
            continue
        if key and not _TELLS.match(read.text[match.end() : match.end() + 40]):
            found.setdefault(key, []).append(match.start())
    return found


def subject(said: Read, written: Read, *, family_section: bool, own: bool) -> Iterable[Finding]:
    """Is it said of the person of whom it is written?

    Args:
        said: The item.
        written: The cited words.
        family_section: Is their section about the family?
        own: Is the item listed as the patient's own?
    """
    mine = relatives(said)
    if said.text == written.text and not (family_section and own):
        return
    theirs = relatives(written)
    new = set(mine) - set(theirs) - {"family", "parent", "sibling", "grandparent", "child"}
    if new and (theirs or not family_section) and said.text != written.text:
        yield Finding(
            kind="subject",
            detail="the cited words speak of another person",
            said=min(new),
            written=" ".join(sorted(theirs)),
        )
        return
    if mine:
        return
    if family_section and not theirs:
        if own or (_HAS.search(said.text) and not _HAS.search(written.text)):
            yield Finding(
                kind="subject", detail="this is of the family, not of the patient", said=said.text
            )
        return
    if not theirs or not (said.keys & written.keys):
        return
    if _of_relative(said, written):
        yield Finding(
            kind="subject",
            detail="the cited words say this of a relative",
            said=said.text,
            written=" ".join(sorted(theirs)),
        )


_HAS = re.compile(
    r"\b(?:patient|he|she|pt)\b.{0,30}\b(?:has|had|have|is|was|suffer\w*|diagnos\w*|history|died)\b",
    re.IGNORECASE,
)


def _of_relative(said: Read, written: Read) -> bool:
    """Are the shared words said of a relative only?"""
    scopes = [
        (one.start, one.end) for one in written.scopes
        if one.kind == "family" and _RELATIVES.get(written.text[slice(*one.trigger)].lower().split()[0].removesuffix("'s"))
        and not _TELLS.match(written.text[one.trigger[1] : one.trigger[1] + 40])
    ]  # fmt: skip
    shared = [t for t in written.words if t.key in said.keys and t.key not in GENERIC]
    inside = [t for t in shared if any(a <= t.start < b for a, b in scopes)]
    return (
        bool(inside)
        and len({t.key for t in shared}) == len({t.key for t in inside})
        and not _own_clause(written, inside)
    )


def _own_clause(written: Read, terms: list[Term]) -> bool:
    """Does the patient stand nearer before the words than the relative does?"""
    first = min(term.start for term in terms)
    own = max((m.start() for m in _OWN.finditer(written.text, 0, first)), default=-1)
    kin = max(
        (at for places in relatives(written).values() for at in places if at < first), default=-1
    )
    return own > kin >= 0 or (own >= 0 and kin < 0)
