"""What is said without a model: reflect, validate, one next move; and the rule-made drafts. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from bedside.flows.companion.hearing import assents
from bedside.flows.companion.reading import Said, sentences_of
from bedside.flows.companion.safety import attacking
from bedside.flows.companion.state import Kind, Pair
from bedside.flows.companion.tables import Tables
from bedside.flows.companion.wishes import asks_to_keep

__all__ = ["Voice", "asks", "flipped", "unlike"]

_FLIP = {
    "i": "you", "i'm": "you're", "i've": "you've", "i'd": "you'd", "i'll": "you'll", "me": "you",
    "my": "your", "mine": "yours", "myself": "yourself", "am": "are",
}  # fmt: skip
_OPENERS = re.compile(
    r"^(and|but|so|because|well|yes|no|okay|ok|honestly|also|then|anyway|i think|i guess|actually|"
    r"i mean|you know)\b[, ]+",
    re.IGNORECASE,
)
_TOKEN = re.compile(r"[\w'’]+|[^\w'’]+")
_CLOSERS = re.compile(
    r",? (?:i think|i guess|i suppose|you know|or something|that's all|that is all)\Z",
    re.IGNORECASE,
)
_ASKS = re.compile(
    r"^(?:and |but |so )?(?:(?:what|why|how|who|where|when|which)(?:'s)? (?:is|are|was|were|do|does|did|can|"
    r"could|will|would|should|has|have|happens?|happened|now|next)\b|(?:is|are|was|were|do|does|did|can|could|"
    r"will|would|should) (?:he|she|they|it|there|you|i|we)\b)",
    re.IGNORECASE,
)
_GOOD = frozenset({"hopeful", "relieved", "grateful"})
"""Feelings that are no burden."""
_LONGEST, _SHORTEST = 20, 4
_ADJECTIVES = {"pressured": "under pressure", "tired": "tired", "helpless": "helpless"}


def flipped(sentence: str) -> str:
    """A sentence of the person's turned to "you", without its end mark and its opening words."""
    body = sentence.strip().rstrip(".!…,;: ")
    while (shorter := _OPENERS.sub("", body)) != body:
        body = shorter
    body = _CLOSERS.sub("", body)
    out: list[str] = []
    subject = ""
    for token in _TOKEN.findall(body):
        plain = token.lower().replace("’", "'")
        if plain == "was" and subject == "i":
            out.append("were")
        elif plain == "wasn't" and subject == "i":
            out.append("weren't")
        else:
            out.append(_FLIP.get(plain, str(token)))
        if plain.strip():
            subject = plain
    text = "".join(out)
    first = re.split(r"[ ']", body.lower().replace("’", "'"), maxsplit=1)[0]
    common = {
        "it",
        "he",
        "she",
        "they",
        "we",
        "the",
        "my",
        "this",
        "that",
        "when",
        "every",
        "there",
        "our",
        "his",
        "her",
        "everything",
        "nothing",
        "nobody",
        "what",
        "if",
        "since",
        "after",
        "last",
        "in",
        "at",
        "on",
    }
    return text[:1].lower() + text[1:] if first in _FLIP or first in common else text


def asks(sentence: str) -> bool:
    """Is a sentence a question, with its mark or without?"""
    return sentence.rstrip().endswith("?") or bool(_ASKS.match(sentence.strip()))


class Voice:
    """Picks the forms of a turn's texts, each in its turn. `used` is what the state then keeps."""

    def __init__(self, tables: Tables, state: Pair, person: str) -> None:
        self.tables = tables
        self.used: dict[str, int] = dict(state.mine.lines or {})
        self.other = state.shared.other(person) or "the other person"

    def pick(self, path: str, **given: str) -> str:
        """The next form under `path` ("witnessing.ask") of the texts."""
        found: Any = self.tables.texts
        for part in path.split("."):
            found = found[part]
        forms: Sequence[str] = [found] if isinstance(found, str) else found
        at = self.used.get(path, 0)
        self.used[path] = at + 1
        return self.say(forms[at % len(forms)], **given)

    def say(self, form: str, **given: str) -> str:
        """Fill a form; braces in what is filled in stay as they are."""
        values: Mapping[str, str] = {"other": self.other, **given}
        return re.sub(r"\{(\w+)\}", lambda match: values.get(match[1], match[0]), form)

    def clause(self, text: str) -> str:
        """A sentence of the message that can be given back; "" where none can."""
        best = ""
        for sentence in sentences_of(text):
            words = sentence.split()
            plain = f" {sentence.lower()} ".replace("’", "'")
            if not _SHORTEST <= len(words) <= _LONGEST or asks(sentence):
                continue
            if assents(sentence) or asks_to_keep(sentence):
                continue
            if re.search(r"\b(you|your|you're)\b", plain) or attacking(
                sentence, self.tables.safety
            ):
                continue
            if self.insulting(plain) or re.search(r"\b(fuck\w*|shit\w*)\b", plain):
                continue
            own = re.search(r"\b(i|my|me)\b", plain)
            if own or not best:
                best = sentence
                if own:
                    break
        return flipped(best) if best else ""

    def insulting(self, text: str) -> bool:
        """Does a text call somebody names? The hurt in it is heard, and the words are not repeated."""
        plain = text.lower()
        return any(re.search(rf"\b{one}\b", plain) for one in self.tables.words["insults"])

    def reflection(self, said: Said) -> str:
        """What was heard, in a sentence or two."""
        parts: list[str] = []
        clause, form = self.clause(said.text), "reflect.clause"
        if clause and not re.search(r"\b(you|your|you're|we|our|us)\b", clause):
            form = "reflect.seen"
        if len(said.feelings) > 1:
            parts.append(
                self.pick("reflect.two", a=named(said.feelings[0]), b=named(said.feelings[1]))
            )
        elif clause and self.used.get("reflect.turn", 0) % 2 == 0:
            parts.append(self.pick(form, clause=clause))
        elif said.feelings:
            parts.append(self.pick("reflect.feeling", a=named(said.feelings[0])))
        elif clause:
            parts.append(self.pick(form, clause=clause))
        elif self.insulting(said.text):
            parts.append(self.pick("reflect.hurt"))
        else:
            parts.append(self.pick("reflect.none"))
        self.used["reflect.turn"] = self.used.get("reflect.turn", 0) + 1
        if said.feelings and set(said.feelings) <= _GOOD:
            parts.append(self.pick("validate_good"))
        elif said.feelings or said.intensity >= 6:  # noqa: PLR2004 - above the calm half
            parts.append(self.pick("validate"))
        return " ".join(_sentence(part) for part in parts)

    def summed(self, state: Pair, said: Said, past: Sequence[str]) -> str:
        """What was heard so far, for the question whether the person feels heard.

        `past` are the person's earlier messages, oldest first: the latest that says something of them
        is given back, rather than the sentence that was reflected just now.
        """
        feelings = list(dict.fromkeys((*state.mine.feelings, *said.feelings)))[-3:]
        clauses = [
            clause for text in reversed(past) if " you " in f" {(clause := self.clause(text))} "
        ]
        clause = clauses[0] if clauses else self.clause(said.text)
        texts = self.tables.texts["sum"]
        if feelings and clause and clause.lower().startswith("you feel"):
            clause = ""
        if feelings and clause:
            form = texts["both"]
        elif clause:
            form = texts["said"]
        elif feelings:
            form = texts["feelings"]
        else:
            return ""
        return _sentence(
            self.say(form, feelings=listed([named(one) for one in feelings]), clause=clause)
        )

    def drafted(self, kind: Kind, state: Pair, said: Said) -> str:
        """The text of a draft by rule; "" where there is nothing to make it of yet."""
        forms = self.tables.texts["drafts"]
        if kind == "statement":
            theirs = list(dict.fromkeys((*state.mine.theirs, *said.theirs)))[-3:]
            return (
                self.say(forms["statement"], feelings=listed([named(one) for one in theirs]))
                if theirs
                else ""
            )
        if kind == "need":
            needs = list(dict.fromkeys((*state.mine.needs, *said.needs)))[-2:]
            return self.say(forms["need"], needs=listed(needs)) if needs else ""
        if kind == "invitation":
            return self.say(forms["invitation"])
        for sentence in sentences_of(said.text):
            if (
                re.search(
                    r"\b(we (could|can|might|will)|i (could|can|will|'ll)|i'll|let's|let us|i am willing|i would|i propose|one evening|every (week|day|evening|sunday|monday|friday|saturday))\b",
                    sentence.lower(),
                )
                and not sentence.endswith("?")
                and len(sentence.split()) >= _SHORTEST
            ):
                return sentence if sentence[-1:] in ".!" else f"{sentence}."
        return ""


def unlike(text: str, said: Sequence[str], leads: Sequence[str]) -> str:
    """The text, with as many openings as it takes to be none of those that were `said` before."""
    known = {" ".join(one.split()) for one in said}

    def fresh(made: str) -> bool:
        plain = " ".join(made.split())
        return plain not in known and not any(one.startswith(plain) for one in known)

    if fresh(text):
        return text
    for first in leads:
        if fresh(made := f"{first} {text}"):
            return made
    for first in leads:
        for then in leads:
            if first != then and fresh(made := f"{first} {then} {text}"):
                return made
    return text


def named(feeling: str) -> str:
    """A feeling as an adjective."""
    return _ADJECTIVES.get(feeling, feeling)


def listed(words: Sequence[str]) -> str:
    """The words as a list in a sentence: "a", "a and b", "a, b and c"."""
    return (
        words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}" if words else ""
    )


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "!", "?")) else ".")
