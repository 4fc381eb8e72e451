"""Rolling summaries of a conversation: when one is due, its parts, and a writer without a model. Pure.

The writer without a model invents nothing: every line is a sentence of the conversation, word for
word, chosen by rule and by how much of what was spoken of it carries.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from bedside.core.value import value
from bedside.language.sentences import sentences
from bedside.language.stems import stems

__all__ = ["INNER", "ORDINARY", "Rhythm", "Summary", "due", "dump", "extract", "load", "render"]

Line = tuple[str, str]
"""Who said it ("user" or "assistant") and the text of one message."""


@value
class Rhythm:
    """When summaries are made: first after so many messages or tokens, then every so many more.

    `keep` latest messages are never summarised. `words` bounds the whole summary.
    """

    first: int = 30
    tokens: int = 8_000
    again: int = 20
    keep: int = 15
    words: int = 500


ORDINARY = Rhythm()
INNER = Rhythm(first=20, again=15, keep=12)
"""Of a private space of inner thoughts."""


@value
class Summary:
    """What was spoken of, in parts. `upto` messages are covered, counted from the first.

    `others_needs` are those of the other as told by this person, never as the other told them.
    """

    narrative: str = ""
    themes: tuple[str, ...] = ()
    journey: tuple[str, ...] = ()
    unresolved: tuple[str, ...] = ()
    facts: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    others_needs: tuple[str, ...] = ()
    questions: tuple[str, ...] = ()
    agreements: tuple[str, ...] = ()
    upto: int = 0
    by: str = "extractive"


def due(messages: int, tokens: int, *, upto: int = 0, rhythm: Rhythm = ORDINARY) -> int:
    """How many messages a summary should now cover; 0 where none is due.

    Args:
        messages: In the conversation so far.
        tokens: Of all of them.
        upto: Covered by the last summary, 0 where there is none.
        rhythm: The thresholds.
    """
    cover = max(0, messages - rhythm.keep)
    if cover <= upto:
        return 0
    if upto == 0:
        return cover if messages >= rhythm.first or tokens > rhythm.tokens else 0
    return cover if messages - (upto + rhythm.keep) >= rhythm.again else 0


_NEED = re.compile(
    r"\bI (?:really |just |do )?(?:need|want|wish|would like|'d like|hope)\b|\bI'd (?:like|love)\b",
    re.IGNORECASE,
)
_OTHERS = re.compile(
    r"\b(?:he|she|they) (?:really |just )?(?:needs?|wants?|wish(?:es)?|asked|asks|hopes?)\b",
    re.IGNORECASE,
)
_FELT = re.compile(
    r"\bI(?:'m| am| was| feel| felt| have been|'ve been)\b.*\b(?:afraid|alone|angry|anxious|ashamed|calm"
    r"|better|confused|disappointed|embarrassed|exhausted|frustrated|glad|grateful|guilty|happy|hopeful"
    r"|hurt|jealous|lonely|nervous|numb|overwhelmed|proud|relieved|sad|scared|tired|upset|worried)\b",
    re.IGNORECASE,
)
_AGREED = re.compile(
    r"\b(?:we (?:agreed|decided|promised|will|'ll)|I (?:agree|promise|will|'ll)|agreed to|let's)\b",
    re.IGNORECASE,
)
_OPEN = re.compile(
    r"\b(?:still|never|keeps?|again|unresolved|don't know|not sure|can't|stuck)\b", re.IGNORECASE
)
_FACT = re.compile(
    r"\b(?:my|our|we|I) .*\b(?:is|are|was|were|has|have|had|live|work|started|moved|lost|got)\b",
    re.IGNORECASE,
)
_EACH = 4


def extract(
    lines: Sequence[Line], *, upto: int | None = None, rhythm: Rhythm = ORDINARY
) -> Summary:
    """A summary of the person's own sentences, verbatim, in the order in which they were said.

    Answers are left out: they are ours, and no knowledge of the person. `upto` is how many of the
    lines are covered, all of them unless given.
    """
    covered = lines[: len(lines) if upto is None else upto]
    said = [sentence for role, text in covered if role == "user" for sentence in _cut(text)]
    said = list(dict.fromkeys(said))
    weights = Counter(word for sentence in said for word in set(stems(sentence)))
    order = sorted(range(len(said)), key=lambda place: (-_worth(said[place], weights), place))

    def best(fits: Callable[[str], bool], most: int = _EACH) -> tuple[str, ...]:
        chosen = [place for place in order if fits(said[place]) and place not in taken][:most]
        taken.update(chosen)
        return tuple(said[place] for place in sorted(chosen))

    taken: set[int] = set()
    questions = best(lambda s: s.endswith("?"))
    parts: dict[str, Any] = {
        "questions": questions,
        "agreements": best(lambda s: _AGREED.search(s) is not None),
        "others_needs": best(lambda s: _OTHERS.search(s) is not None),
        "needs": best(lambda s: _NEED.search(s) is not None),
        "journey": best(lambda s: _FELT.search(s) is not None),
        "unresolved": best(lambda s: _OPEN.search(s) is not None),
        "facts": best(lambda s: _FACT.search(s) is not None),
    }
    room = rhythm.words - sum(len(line.split()) for part in parts.values() for line in part)
    narrative: list[int] = []
    for place in order:
        size = len(said[place].split())
        if place not in taken and 0 < size <= room and len(narrative) < 2 * _EACH:
            narrative.append(place)
            room -= size
    themes = tuple(word for word, n in weights.most_common(6) if n > 1)
    return Summary(
        narrative=" ".join(said[place] for place in sorted(narrative)),
        themes=themes,
        upto=len(covered),
        **parts,
    )


_SHORT, _LONG = 4, 45
"""Words of a sentence that says something and still fits."""


def _cut(text: str) -> list[str]:
    found = [" ".join(text[start:end].split()) for start, end in sentences(text)]
    return [one for one in found if _SHORT <= len(one.split()) <= _LONG]


def _worth(sentence: str, weights: Mapping[str, int]) -> float:
    """What a sentence carries of what was spoken of more than once, long ones not favoured."""
    own = set(stems(sentence))
    return sum(weights[word] - 1 for word in own) / (len(own) + 3.0) if own else 0.0


_TITLES = {
    "facts": "Facts", "needs": "Needs", "others_needs": "What the other needs, as told here",
    "journey": "Feelings", "unresolved": "Unresolved", "agreements": "Agreements",
    "questions": "Open questions",
}  # fmt: skip


def render(summary: Summary, *, count: Callable[[str], int], tokens: int) -> str:
    """The summary as text of at most so many tokens; whole lines, the least urgent part goes first."""
    kept: list[str] = []
    used = 0
    named = [
        (title, line)
        for name, title in reversed(_TITLES.items())
        for line in getattr(summary, name)
    ]
    story = [("", line) for line in _cut(summary.narrative)]
    for title, line in (*named, *story):
        text = f"{title}: {line}" if title else line
        size = count(text) + 1
        if used + size <= tokens:
            kept.append(text)
            used += size
    return "\n".join(kept)


def dump(summary: Summary) -> str:
    """As JSON."""
    return json.dumps(asdict(summary), ensure_ascii=False)


def load(body: str) -> Summary:
    """From JSON."""
    tree: dict[str, Any] = json.loads(body)
    made: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in tree.items()}
    return Summary(**made)
