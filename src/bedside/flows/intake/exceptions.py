"""What is named beside a denial: "none except penicillin", "no tablets but warfarin". Pure.

A denial that names what it leaves out is no denial: what it names is the answer.
"""

from __future__ import annotations

import re

from bedside.clinical.drugs import find_drugs
from bedside.flows.intake.answers import SENTENCE, Span, Value, clauses, question_at
from bedside.flows.intake.lexicon import RELATIVE

__all__ = ["excepted", "substances"]

_ALLERGEN = re.compile(
    r"\b(?:penicillins?|antibiotics?|sulfa(?: drugs)?|sulph?a drugs|latex|iodine|contrast(?: dye)?|dye|metals?|nickel|cobalt|"
    r"(?:pea|hazel|wal|tree )?nuts?|cashews?|almonds?|shellfish|prawns?|shrimps?|seafood|fish|eggs?|milk|dairy|lactose|gluten|wheat|soya?|sesame|"
    r"pollen|dust(?: mites?)?|mould|hay ?fever|(?:bee|wasp)(?: stings?)?s?|cats?|dogs?|plasters?|tape|adhesives?|chlorhexidine|"
    r"nsaids?|anti-?inflammator\w+|pain ?killers?|opioids?|statins?|steroids?|an(?:a)?esthetics?|blood thinners?|insulin|inhalers?|"
    r"strawberr(?:y|ies)|kiwis?|bananas?)\b",
    re.IGNORECASE,
)
_NAY = re.compile(
    r"\b(?:no|none|nothing|never|not|without|nil|don't|doesn't|didn't|dont|doesnt|haven't|hasn't|isn't|aren't|deny|denies)\b",
    re.IGNORECASE,
)
_LEAVES_OUT = re.compile(
    r"\b(?:except(?:ing)?|apart from|other than|aside from|besides|with the exception of|save for)\s+(?:(?:for|to|maybe|possibly|perhaps|just|only)\s+)*"
    r"(?P<w>[^.!?;]{2,80})",
    re.IGNORECASE,
)
_BUT = re.compile(
    r"\b(?:(?:but|though|although|however)\b|(?:only|just)\b(?! (?:\w+ )?(?:of|spots?|some|because|when)\b))(?P<w>[^.!?;]{2,80})",
    re.IGNORECASE,
)
_REACTS = re.compile(
    r"\b(?:allerg\w*|react\w*|intoleran\w*|rash|hives|itch\w*|swell\w*|swollen|blisters?|anaphyla\w*|sick|vomit\w*|throw up|faint|wheez\w*)\b",
    re.IGNORECASE,
)
_USES = re.compile(
    r"\b(?:take|takes|taking|took|on|use|uses|using|had|have|has|given|prescribed|finished|drink|eat|like|love|need|own|keep)\b",
    re.IGNORECASE,
)
_BORNE = re.compile(
    r"\b(?:fine|ok|okay|no (?:problem|issue|trouble|reaction)s?|all right|alright|safe|not|never|neither|without)\b|n't\b|\bno\W*$",
    re.IGNORECASE,
)
_ILL_BORNE = re.compile(
    r"\b(?:don't|do not|doesn't|does not|dont|doesnt|didn't|did not|never)\s+(?:really\s+)?"
    r"(?:(?:react(?:ed)?|respond(?:ed)?|do|did|cope)\s+(?:very |so |too )?well\s+(?:to|on|with)|tolerate|get on(?: well)?\s+with|get along\s+with|agree\s+with)\s+(?P<w>[^.!?;]{2,60})",
    re.IGNORECASE,
)
_NOT_TAKEN = re.compile(
    rf"\b(?:my|our|his|her|their)\s+(?:\w+\s+)?{RELATIVE}\b|\b(?:stopped|finished|quit|no longer|not any ?more|came off|used to|years? ago)\b",
    re.IGNORECASE,
)
"""Who else takes it, or that it is taken no more."""
_MOST = 4


def substances(text: str, start: int = 0, end: int | None = None) -> tuple[Span, ...]:
    """Where medicines and common allergens are named in those words, in their order."""
    stop = len(text) if end is None else end
    found = [
        *((one.start, one.end) for one in find_drugs(text)),
        *(one.span() for one in _ALLERGEN.finditer(text)),
    ]
    kept: list[Span] = []
    for a, b in sorted(found, key=lambda one: (one[0], -one[1])):
        if start <= a and b <= stop and (not kept or a >= kept[-1][1]):
            kept.append((a, b))
    return tuple(kept)


def excepted(text: str, *, allergies: bool) -> Value | None:
    """What a denial leaves out; `None` where nothing is denied, or nothing left out.

    Args:
        text: The message.
        allergies: Whether allergies are told rather than medicines that are taken.
    """
    for sentence in SENTENCE.finditer(text):
        start, end = sentence.span()
        if question_at(text, start):
            continue
        nay = _NAY.search(text, start, end)
        if nay is None:
            continue
        out = _LEAVES_OUT.search(text, nay.end(), end)
        found = _named(text, out.span("w")) if out else ()
        if not found:
            found = tuple(
                hit
                for but in _BUT.finditer(text, nay.end(), end)
                for hit in _after_but(text, but.span("w"), allergies=allergies)
            )
        if not found and allergies:
            found = _ill_borne(text, (start, end))
        if not found and allergies:
            found = _causes(text)
        if found:
            return Value(
                value=tuple(dict.fromkeys(text[a:b] for a, b in found)),
                start=found[0][0],
                end=found[-1][1],
            )
    return None


def _named(text: str, span: Span) -> tuple[Span, ...]:
    """The things that the words list: each known substance, or a few words that name another."""
    out: list[Span] = []
    stop = _ENDS.search(text, *span)
    start, end = span[0], stop.start() if stop else span[1]
    cuts = [start, *(at for hit in _COMMA.finditer(text, start, end) for at in hit.span()), end]
    for left, b in zip(cuts[::2], cuts[1::2], strict=True):
        a = _LEAD.match(text, left, b).end()  # type: ignore[union-attr] - it may match nothing
        words = text[a:b].rstrip(" -").split()
        known = substances(text, a, b)
        if known and len(words) > _MOST:
            out += known
        elif words and len(words) <= _MOST and not _EMPTY.match(text, a, b):
            out.append((a, a + len(text[a:b].rstrip(" -"))))
    return tuple(out)


_ENDS = re.compile(r"\b(?:but|because|since|which|that|when|so|thanks|thank you)\b", re.IGNORECASE)
_COMMA = re.compile(r",|&|\b(?:and|or|plus)\b", re.IGNORECASE)
_LEAD = re.compile(
    r"\s*(?:(?:for|to|my|a|an|the|some|maybe|possibly|i am|i'm|allergic to)\s+)*", re.IGNORECASE
)
_EMPTY = re.compile(
    r"\s*(?:none|nothing|no|not|that|this|it|these|those|them|when|if|what|which|who|i|he|she|we|they|you|yes|usual|before)\b",
    re.IGNORECASE,
)


def _after_but(text: str, span: Span, *, allergies: bool) -> tuple[Span, ...]:
    """What "but" says after a denial: a substance that is not borne, or that is taken."""
    words = text[slice(*span)]
    known = substances(text, *span)
    if known and len(text[span[0] : known[0][0]].split()) > _MOST:
        return ()
    if not known or _BORNE.search(words):
        return ()
    reacts, uses = _REACTS.search(words), _USES.search(words)
    if allergies:
        return known if reacts or not uses else ()
    return () if reacts or _NOT_TAKEN.search(words) else known


def _ill_borne(text: str, span: Span) -> tuple[Span, ...]:
    """What somebody does not react well to or get on with."""
    found = _ILL_BORNE.search(text, *span)
    return substances(text, *found.span("w")) if found else ()


def _causes(text: str) -> tuple[Span, ...]:
    """Substances that are said to bring a reaction, in a clause of their own."""
    return tuple(
        hit
        for start, end in clauses(text)
        if not _NAY.search(text, start, end)
        and _BRINGS.search(text, start, end)
        and _REACTS.search(text, start, end)
        for hit in substances(text, start, end)
    )


_BRINGS = re.compile(
    r"\b(?:brings?|brought|gives?|gave|makes?|made|causes?|caused|sets?|allergic|react\w*)\b",
    re.IGNORECASE,
)
