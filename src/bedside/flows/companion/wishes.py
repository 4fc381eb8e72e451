"""What a person asks to have kept in mind: found, judged and written as one line, by rule. Pure.

"When in doubt, it cannot": a wish about how the guide speaks with this person, or a fact that they state
about themselves, is kept; anything about the other's inner life, the process, a diagnosis, somebody's
secret, or something to hold against the other is refused, with the reason.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from typing import Any, Literal, cast

from bedside.core.value import value
from bedside.flows.companion.kept import Kept
from bedside.flows.companion.safety import attacking
from bedside.flows.companion.tables import Tables
from bedside.language.sentences import sentences
from bedside.memory.facts import located

__all__ = [
    "Wish",
    "asked",
    "asks_to_drop",
    "asks_to_keep",
    "formatted",
    "kept_of",
    "meant",
    "validated",
    "wish_of",
]

_LONGEST, _WORDS = 200, 15
_ASKED = re.compile(
    r"^(?:(?:and|also|so|then|oh)[, ]+)?(?:please[, ]+)?(?:(?:can|could|would|will) you (?:please )?)?"
    r"(?:remember|keep in mind|bear in mind|note|make a note|do not forget|don['’]t forget|"
    r"(?:add|save|put) (?:it )?(?:to|in|into) (?:your |the )?memory)(?:,? that\b|[:,])\s*(?P<what>\S.*)$",
    re.IGNORECASE | re.DOTALL,
)
_DROPPED = re.compile(
    r"^(?:(?:and|also|so|then|oh|actually)[, ]+)?(?:please[, ]+)?(?:(?:can|could|would|will) you (?:please )?)?"
    r"(?:forget|delete|erase|take out|drop|do not (?:keep|remember)|don['’]t (?:keep|remember))"
    r"(?: what i (?:said|told you|wrote))?(?: about)?(?: the fact)?(?: that)?[:,]?\s+(?P<what>\S.*)$",
    re.IGNORECASE | re.DOTALL,
)
_LASTING = re.compile(
    r"^(?:please[, ]+)?(?:from now on|in (?:the )?future)[,:]?\s+(?:please[, ]+)?(?P<what>\S.*)$",
    re.IGNORECASE | re.DOTALL,
)
_CALLED = re.compile(r"^(?:[Pp]lease[, ]+)?(?P<what>[Cc]all me (?-i:[A-Z])[\w'’-]+)[.!]?$")
_MANNER = re.compile(
    r"^please[, ]+(?P<what>(?:keep|use|write|speak|answer|be|ask)\b[^?]*\b(?:short(?:er)?|simpl(?:e|er)|"
    r"slow(?:er|ly)?|brief(?:ly)?|plain(?:ly)?|direct(?:ly)?|metaphors?|fewer questions)\b[^?]*)$",
    re.IGNORECASE | re.DOTALL,
)
_OWN = re.compile(
    r"^(?:i|i['’](?:m|ve|d|ll)|my|mine|we|we['’](?:re|ve)|our|both of us)\b", re.IGNORECASE
)
_WISHES = re.compile(
    r"^(?:please|you (?:should|can|could|may)|i (?:prefer|like it when you|want you|would like you|need you)|"
    r"i['’]d (?:like|prefer)|call me|no\b|not\b|don['’]t|do not|never|always|keep|use|write|speak|"
    r"answer|ask|be\b|short|simpl|slow|brief|plain|direct|fewer|less|more|to\b)",
    re.IGNORECASE,
)
_IDIOM = re.compile(
    r"(?:it|this|about it|me|him|her|them|us|everything|all)\b[ .!]*$", re.IGNORECASE
)
_SURE = 0.75
_EMPTY = frozenset(
    [
        "a",
        "an",
        "and",
        "about",
        "at",
        "in",
        "is",
        "it",
        "of",
        "on",
        "or",
        "so",
        "that",
        "the",
        "this",
        "to",
        "was",
        "with",
        "i",
        "my",
        "me",
        "you",
        "please",
    ]
)
_CLAUSE = re.compile(r"[,;]| (?:because|and|but|so|since|which|when) ")


@value
class Wish:
    """A request to keep something. `quote` are the words, verbatim; `line` how they would be kept.

    `why` names the refusal ("" where it can be kept): process, other, diagnosis, secret, against,
    unclear or long.
    """

    quote: str
    kind: Literal["preference", "fact"] = "preference"
    line: str = ""
    why: str = ""
    whole: bool = True
    """The message says nothing else."""


def asks_to_keep(sentence: str) -> bool:
    """Is a sentence a request to keep something, rather than something that is told?"""
    return any(form.match(sentence) for form in (_ASKED, _LASTING, _CALLED, _MANNER))


def asks_to_drop(sentence: str) -> str:
    """What a sentence asks to have forgotten, in the person's words; "" where it asks for nothing."""
    found = _DROPPED.match(sentence.strip())
    return found["what"].strip(" .!?") if found and not _IDIOM.match(found["what"]) else ""


def meant(what: str, lines: Iterable[tuple[str, str]]) -> str:
    """The id among (id, line) of the one that words like "that I work nights" mean; "" where none is sure."""
    words = _content(what)
    held = [(len(words & _content(line)) / len(words), ident) for ident, line in lines if words]
    best = max(held, default=(0.0, ""))
    return best[1] if best[0] >= _SURE and [one[0] for one in held].count(best[0]) == 1 else ""


def _content(text: str) -> frozenset[str]:
    return frozenset(word for word in re.findall(r"[\w'’]+", text.lower()) if word not in _EMPTY)


def asked(text: str, tables: Tables, *, other: str = "") -> Wish | None:
    """The first sentence of a message that asks for something to be kept; `None` where none does."""
    parts = sentences(text) or [(0, len(text))]
    for start, end in parts:
        said = text[start:end].strip()
        match = (
            _ASKED.match(said) or _LASTING.match(said) or _CALLED.match(said) or _MANNER.match(said)
        )
        if match is None:
            continue
        what = match["what"].strip()
        if said.endswith("?"):
            what = what.rstrip("? ")
        found = wish_of(what, tables, other=other, whole=len(parts) == 1)
        # "Remember that night he left": a manner of speaking, where it is neither wish nor fact.
        return None if found.why == "unclear" and _ASKED.match(said) is None else found
    return None


def wish_of(what: str, tables: Tables, *, other: str = "", whole: bool = True) -> Wish:
    """Judge words that are to be kept, by rule."""
    quote = what.strip().rstrip(".! ").strip()
    plain = f" {' '.join(quote.lower().replace('’', chr(39)).split())} "
    refused = cast("Mapping[str, list[str]]", tables.side["memory_validator"]["refuse"])
    for why, patterns in refused.items():
        if any(re.search(one, plain) for one in patterns):
            return Wish(quote=quote, why=why, whole=whole)
    if attacking(quote, tables.safety):
        return Wish(quote=quote, why="against", whole=whole)
    if other and re.match(rf"{re.escape(other)}\b", quote, re.IGNORECASE):
        return Wish(quote=quote, why="other", whole=whole)
    wish, own = bool(_WISHES.match(quote)), bool(_OWN.match(quote))
    if not quote or not (wish or own):
        return Wish(quote=quote, why="unclear", whole=whole)
    line = _line(quote)
    if not line:
        return Wish(quote=quote, why="long", whole=whole)
    return Wish(quote=quote, kind="preference" if wish else "fact", line=line, whole=whole)


def _line(quote: str) -> str:
    """One line of at most fifteen words, in the person's own; "" where no part of them is that short."""
    if len(quote) > _LONGEST * 2:
        return ""
    cuts = [match.start() for match in _CLAUSE.finditer(quote)]
    for end in (len(quote), *reversed(cuts)):
        part = quote[:end].strip()
        if len(part) <= _LONGEST and 0 < len(part.split()) <= _WORDS:
            return f"{part[:1].upper()}{part[1:]}."
    return ""


def validated(tree: Mapping[str, Any], wish: Wish) -> Wish:
    """The small model's word on a wish that the rules would keep; it can only refuse, or say the kind."""
    if tree.get("valid") is False:
        from dataclasses import replace

        return replace(wish, why="doubt")
    kind = tree.get("kind")
    quote = str(tree.get("quote") or "")
    inside = located(quote, wish.quote) is not None if len(quote) > 3 else False  # noqa: PLR2004
    made = Wish(
        quote=quote if inside else wish.quote,
        kind=kind if kind in {"preference", "fact"} else wish.kind,
        whole=wish.whole,
    )
    line = _line(made.quote) or wish.line
    return Wish(quote=made.quote, kind=made.kind, line=line, whole=made.whole)


def formatted(tree: Mapping[str, Any], wish: Wish, tables: Tables) -> Wish:
    """The wish with the small model's line, where that adds no figure, no name and no attack."""
    line = " ".join(str(tree.get("line") or "").split())
    if not line or len(line.split()) > _WORDS or len(line) > _LONGEST:
        return wish
    names = re.findall(r"(?<=[a-z,;] )[A-Z][\w'’-]+|\d+(?:[.,]\d+)*", line)
    if any(one.lower() not in wish.quote.lower() for one in names):
        return wish
    if attacking(line, tables.safety):
        return wish
    return Wish(quote=wish.quote, kind=wish.kind, line=line, whole=wish.whole)


def kept_of(wish: Wish, *, source: str) -> Kept:
    """The wish as it is kept; the same words are the same one."""
    digest = hashlib.sha256(" ".join(wish.quote.lower().split()).encode()).hexdigest()
    return Kept(
        id=f"kept-{digest[:10]}", kind=wish.kind, line=wish.line, quote=wish.quote, source=source
    )
