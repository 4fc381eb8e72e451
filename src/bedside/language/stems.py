"""Words of a text as stems, for lexical search. Pure.

The same words always give the same stems: figures and codes such as `b12`, `sglt2` and `2.5` are
kept whole, possessives fall, accents are folded.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

import Stemmer

__all__ = ["STOP_WORDS", "stem", "stems", "words"]

STOP_WORDS = frozenset(
    [
        "a",
        "about",
        "above",
        "after",
        "again",
        "all",
        "also",
        "although",
        "am",
        "an",
        "and",
        "any",
        "are",
        "as",
        "at",
        "be",
        "because",
        "been",
        "before",
        "being",
        "below",
        "between",
        "both",
        "but",
        "by",
        "can",
        "could",
        "did",
        "do",
        "does",
        "doing",
        "done",
        "down",
        "during",
        "each",
        "either",
        "et",
        "few",
        "for",
        "from",
        "further",
        "had",
        "has",
        "have",
        "having",
        "he",
        "her",
        "here",
        "hers",
        "him",
        "his",
        "how",
        "however",
        "i",
        "if",
        "in",
        "into",
        "is",
        "it",
        "its",
        "itself",
        "just",
        "may",
        "me",
        "might",
        "more",
        "most",
        "much",
        "must",
        "my",
        "no",
        "nor",
        "not",
        "of",
        "off",
        "on",
        "once",
        "only",
        "or",
        "other",
        "our",
        "ours",
        "out",
        "over",
        "own",
        "per",
        "same",
        "she",
        "should",
        "since",
        "so",
        "some",
        "such",
        "than",
        "that",
        "the",
        "their",
        "theirs",
        "them",
        "then",
        "there",
        "these",
        "they",
        "this",
        "those",
        "through",
        "thus",
        "to",
        "too",
        "under",
        "until",
        "up",
        "upon",
        "us",
        "very",
        "was",
        "we",
        "were",
        "what",
        "when",
        "where",
        "whether",
        "which",
        "while",
        "who",
        "whom",
        "whose",
        "why",
        "will",
        "with",
        "within",
        "without",
        "would",
        "you",
        "your",
    ]
)
"""Words too common to search by. Negations among them are judged elsewhere, never by search."""

_WORD = re.compile(r"[^\W_]+(?:[.,'’][^\W_]+)*")
_DENIED = re.compile(r"[a-z]+n['’]t")
_SHORTENED = re.compile(r"['’](?:d|ll|m|re|ve)$")
_KEEP_DOT = re.compile(r"\d+(?:[.,]\d+)+")


@lru_cache(maxsize=1)
def _stemmer() -> Stemmer.Stemmer:
    return Stemmer.Stemmer("english")


@lru_cache(maxsize=100_000)
def stem(word: str) -> str:
    """The stem of one lower-case word."""
    return _stemmer().stemWord(word)


def words(text: str) -> list[str]:
    """Lower-case words and figures in order; accents folded, possessives and stops removed.

    A decimal stays one word ("2.5"); other dotted or apostrophised words fall apart ("e.g" gives
    "e", "g"). A shortened auxiliary is no word ("can't" gives nothing, "she'll" gives "she").
    """
    low = text.lower()
    if not low.isascii():
        decomposed = unicodedata.normalize("NFKD", low)
        low = "".join(c for c in decomposed if not unicodedata.combining(c)).lower()
    found: list[str] = []
    for word in _WORD.findall(low):
        if word.isalnum() or _KEEP_DOT.fullmatch(word):
            found.append(word)
        else:
            found.extend(_parts(word))
    return found


def _parts(word: str) -> Iterable[str]:
    if _DENIED.fullmatch(word):
        return ()
    parts = re.split(r"[.,'’]", _SHORTENED.sub("", word))
    if len(parts) > 1 and parts[-1] == "s":
        parts = parts[:-1]
    return (part for part in parts if part)


def stems(text: str) -> list[str]:
    """Stems in order, without stop words."""
    return [stem(word) for word in words(text) if word not in STOP_WORDS]
