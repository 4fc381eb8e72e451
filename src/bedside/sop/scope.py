"""What an answer must not say while something mandatory is missing (IN-12). Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

__all__ = ["premature"]

_SENTENCE = re.compile(r"[^.!?\n]+[.!?]?")
_MATCHING = re.compile(
    r"\b(?:i|we)(?:'ll| will| am| are|'m|'re|'ve| have)?\b[^.!?]{0,40}?"
    r"\b(?:match(?:ed|ing)?|shortlist(?:ed|ing)?|connect(?:ed|ing)? you|sen[dt](?:ing)? your "
    r"(?:case|details|file)|refer(?:red|ring)? you|book(?:ed|ing)? (?:you|your)|found (?:you )?"
    r"(?:\w+ )?(?:hospitals?|surgeons?|providers?|clinics?))\b"
    r"|\byour (?:case|file|intake) is (?:complete|ready|with)\b"
    r"|\b(?:here are|these are) (?:your |the )?(?:\w+ )?(?:matches|hospitals|providers|options)\b"
    r"|\beverything (?:i|we) need\b|\b(?:let'?s|let us|time to|going to|we can now|i can now) "
    r"(?:now )?(?:start|begin|do|move (?:on )?to|proceed (?:to|with)|go (?:on )?to)(?: the| your)? match\w*"
    r"|\byou(?:'re| are) (?:all )?(?:set|ready|done|complete)\b"
    r"|\bmatching (?:has (?:begun|started)|is (?:under ?way|running|starting|in progress)|starts now|begins now)\b"
    r"|\b(?:your|the) (?:case|file|intake|profile|checklist) (?:is|has been|was) (?:now )?(?:complete\w*|ready|sent|"
    r"submitted|forwarded|shared|finished|finalised|finalized)\b"
    r"|\bhospitals? (?:has|have) been (?:found|selected|contacted|notified)\b",
    re.IGNORECASE,
)
_LATER = re.compile(
    r"\b(?:once|when|after|until|before|as soon as|later|next step|cannot|can't|not yet|will be "
    r"able|not able)\b",
    re.IGNORECASE,
)


def premature(answer: str, *, missing: Sequence[Any]) -> tuple[str, ...]:
    """The sentences that announce matching or completeness although `missing` is not empty."""
    if not missing:
        return ()
    return tuple(
        text
        for sentence in _SENTENCE.findall(answer.replace("’", "'"))
        if (text := sentence.strip()) and _MATCHING.search(text) and not _LATER.search(text)
    )
