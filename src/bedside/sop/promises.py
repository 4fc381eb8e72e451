"""Offers in the last assistant message, so that they are kept before anything else (IN-08). Pure."""

from __future__ import annotations

import re

__all__ = ["MOST", "promises"]

MOST = 3
_SENTENCE = re.compile(r"[^.!?\n؟।]+[.!?؟।]?")
_OFFER = re.compile(
    r"\b(?:shall|should|may|can|could) (?:i|we)\b"
    r"|\b(?:i|we) (?:can|could|will|'ll|’ll|would be happy to|am happy to|'d be happy to)\b"
    r"|\b(?:i|we)(?:'ll|’ll)\b"
    r"|\bwould it (?:help|be useful|be easier|be ok(?:ay)?)\b"
    r"|\b(?:do|would) you (?:want|like) me to\b"
    r"|\bwant me to\b|\blet me\b",
    re.IGNORECASE,
)
_NOT_AN_OFFER = re.compile(
    r"\b(?:can|could|should|may) (?:i|we) (?:ask|confirm|check|clarify|know|just ask)\b"
    r"|\blet me (?:ask|know|make sure|confirm)\b"
    r"|\b(?:i|we) (?:can|could|will)(?:'t| ?not|not)\b"
    r"|\b(?:i|we) (?:won't|can’t|won’t)\b",
    re.IGNORECASE,
)


def promises(message: str) -> tuple[str, ...]:
    """Up to three sentences of the message that offer or promise something, in their order."""
    found = []
    for sentence in _SENTENCE.findall(message):
        text = " ".join(sentence.split())
        if _OFFER.search(text) and not _NOT_AN_OFFER.search(text):
            found.append(text)
    return tuple(found[-MOST:])
