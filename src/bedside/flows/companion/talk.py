"""What is said without a model: reflect, validate, one next move; and the rule-made drafts. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from bedside.flows.companion.beginning import came_by
from bedside.flows.companion.hearing import assents
from bedside.flows.companion.mirror import asks, bare, given_back, to_other
from bedside.flows.companion.reading import Said, is_act, read, sentences_of
from bedside.flows.companion.safety import attacking, danger_in
from bedside.flows.companion.state import Kind, Pair
from bedside.flows.companion.tables import Tables
from bedside.flows.companion.wishes import asks_to_keep

__all__ = ["Voice", "unlike"]

_TAG = re.compile(r"<[A-Za-z!/][^<>]{0,200}>")
_OPENS = re.compile(r"<(?=[A-Za-z!/])|&lt;", re.IGNORECASE)
_BIDS_NOT = re.compile(r"(?:please,? )?(?:don.?t|do not|never|forget|remind|call me)\b")
_GOOD = frozenset({"hopeful", "relieved", "grateful"})
"""Feelings that are no burden."""
_HEARD_OF = 24
"""Messages that what was heard is chosen from."""
_LONGEST, _SHORTEST, _FEWEST, _FEW_WORDS, _LONGEST_DRAFT = 20, 4, 3, 12, 600
_ORDERS = re.compile(
    r"(?:please |now |just )*(?:share|send|give|change|write) (?:it|this|that)\b", re.IGNORECASE
)
_OF_SELF = re.compile(
    r"\b(?:am i|i am|i'm|i feel|i felt|i was|makes me|made me|calls? me|called me)\b", re.IGNORECASE
)
_NEEDS = re.compile(
    r"\b(?:i|we)(?:'d| would)? (?:really |just |also |mostly |only )?(?:don't |do not )?(?:need|want|wish|like)\b|\bwould be enough\b"
)
_MORE = re.compile(
    r"(?:and |also )?(?:to|some|more|less|a bit|a little|time|help)\b[^?]*\Z", re.IGNORECASE
)
"""What a need goes on with in a sentence of its own ("And to feel like a team.")."""
_PROPOSES = re.compile(
    r"\b(?:(?:how|what) about|what if|why don't we|we (?:could|can|might|will)|i (?:could|can|will|'ll)|i'll|let's|let us|i am willing|i would|i propose|"
    r"(?:one|every|each|the first) (?:week|day|evening|sunday|monday|tuesday|wednesday|thursday|friday|saturday))\b"
)
_GUESSES = re.compile(
    r"\b(?:he|she)(?:'d| would| must| might| may| could|'s| is| probably| maybe)?(?: \w+){0,2} "
    r"(?:feel|feels|felt|think|thinks|thought|want|wants|wanted|wish|wishes|wonders?|hopes?|hoped|believes?|thinks|miss|misses|missed|"
    r"needs?|needed|hates?|hated|loves?|loved|fears?|feared|going through)\b"
)
"""A guess at what the other feels, thinks or wants."""
_NOT_OF_OTHER = re.compile(r"\b(?:i (?:need|want|wish|feel|felt|am|was)|told me|says?|said)\b")
_PUTS = re.compile(r"(?:how about|what about|what if|why don.?t|(?:could|can) we)\b", re.IGNORECASE)
"""A proposal in the form of a question."""
_ADJECTIVES = {"pressured": "under pressure", "tired": "tired", "helpless": "helpless"}


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
        """Fill a form; braces in what is filled in stay as they are, and markup in it is only letters.

        A sentence with live markup would be taken out of the answer, and a text of the other's with it.
        """
        values = {name: _inert(text) for name, text in {"other": self.other, **given}.items()}
        return re.sub(r"\{(\w+)\}", lambda match: values.get(match[1], match[0]), form)

    def clause(self, text: str) -> str:
        """What can be given back of a message, turned to "you" or quoted; "" where nothing can."""
        return self._clause(text)[0]

    def _clause(self, text: str) -> tuple[str, str]:
        """The clause, and the sentence that it is made of; the person's own before another's."""
        best = ""
        for sentence in sentences_of(_TAG.sub("", text)):
            said = bare(sentence)
            plain = f" {said.lower()} ".replace("’", "'")
            if not _SHORTEST <= len(said.split()) <= _LONGEST or asks(sentence):
                continue
            if assents(sentence) or asks_to_keep(sentence) or _ORDERS.match(said):
                continue
            if re.search(r"\b(you|your|you're)\b", plain) or attacking(said, self.tables.safety):
                continue
            if self.insulting(plain) or re.search(r"\b(fuck\w*|shit\w*)\b", plain):
                continue
            if danger_in(sentence, self.tables.safety) is not None:
                continue  # it is answered with where help is, and never said again
            own = re.search(r"\b(i|i'm|my|me)\b", plain)
            if own or not best:
                best = sentence
                if own:
                    break
        return (given_back(best, name=self.other)[0], best) if best else ("", "")

    def insulting(self, text: str) -> bool:
        """Does a text call somebody names? The hurt in it is heard, and the words are not repeated."""
        plain = text.lower()
        return any(re.search(rf"\b{one}\b", plain) for one in self.tables.words["insults"])

    def reflection(self, said: Said) -> str:
        """What was heard, in a sentence or two."""
        parts: list[str] = []
        clause, sentence = self._clause(said.text)
        form = "reflect.clause"
        if clause.startswith("“"):
            form = "reflect.quoted"
        elif not re.search(r"\b(you|your|you're|you've)\b", clause):
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
        elif self.insulting(said.text) and not _OF_SELF.search(said.text):
            parts.append(self.pick("reflect.hurt"))
        else:
            parts.append(self.pick("reflect.question" if asks(said.text) else "reflect.none"))
        self.used["reflect.turn"] = self.used.get("reflect.turn", 0) + 1
        if said.feelings and set(said.feelings) <= _GOOD:
            parts.append(self.pick("validate_good"))
        elif said.feelings or (said.intensity >= 6 and sentence):  # noqa: PLR2004 - above the calm half
            parts.append(self.pick("validate"))
        return " ".join(_sentence(part) for part in parts)

    def summed(self, state: Pair, said: Said, past: Sequence[str]) -> str:
        """What was heard so far, for the question whether the person feels heard.

        `past` are the person's earlier messages, oldest first: the latest that says something of them
        is given back, rather than the sentence that was reflected just now.
        """
        felt = dict.fromkeys((*state.mine.feelings, *said.feelings))
        feelings = ([one for one in felt if one not in _GOOD] or list(felt))[-3:]
        told = (one for one in reversed(past[-_HEARD_OF:]) if not is_act(one))
        earlier = [one for one in (read(text, self.tables.words) for text in told) if _tells(one)]
        earlier.sort(key=lambda one: not one.feelings and one.brief)  # the latest that says most
        clauses = [
            clause
            for one in earlier
            if (clause := self.clause(one.text)) and re.search(r"“|\b(?:you|I|i|my)\b", clause)
        ]
        clause = clauses[0] if clauses else self.clause(said.text) if _tells(said) else ""
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
            if theirs:
                return self.say(forms["statement"], feelings=listed([named(one) for one in theirs]))
            guess = self._guessed(said)
            return self.say(forms["plain_statement"], text=guess) if guess else ""
        if kind == "invitation":
            return self.say(forms["invitation"])
        form = _NEEDS if kind == "need" else _PROPOSES
        found = [
            bare(one)
            for one in sentences_of(said.text)
            if form.search(one.lower().replace("’", "'"))
            and not assents(one)
            and (not asks(one) or (kind == "agreement" and _PUTS.match(one)))
        ]
        text = ". ".join(one for one in found if len(one.split()) >= _FEWEST)[:_LONGEST_DRAFT]
        if text and kind == "need":
            more = [one for one in sentences_of(said.text) if _MORE.match(one)]
            text = ", ".join(
                (text, *(f"and {bare(one)[:1].lower()}{bare(one)[1:]}" for one in more))
            )
        if not text and kind == "need" and not asks(said.text) and not assents(said.text):
            text = self._needed(said)
        if not text or self.insulting(text) or attacking(text, self.tables.safety):
            return ""
        return _sentence(re.sub(r"\bi\b", "I", to_other(text, self.other)))

    def _guessed(self, said: Said) -> str:
        """What a person thinks that the other goes through, in their words and turned to the other; "" for nothing."""
        found = [
            bare(one)
            for one in sentences_of(said.text)
            if _GUESSES.search(one.lower().replace("’", "'"))
            and not (asks(one) or assents(one) or _NOT_OF_OTHER.search(one.lower()))
        ]
        text = ". ".join(found)[:_LONGEST_DRAFT]
        if not text or self.insulting(text) or attacking(text, self.tables.safety):
            return ""
        turned = to_other(text, self.other)
        same = turned == text or danger_in(text, self.tables.safety) is not None
        return "" if same else _sentence(re.sub(r"\bi\b", "I", turned))

    def _needed(self, said: Said) -> str:
        """A need given in a few words ("sleep", "to be asked first"); "" where the message names none."""
        text = ", ".join(bare(one) for one in sentences_of(said.text))
        phrase = text[:1].lower() + text[1:] if text[1:2].islower() else text
        infinitive = re.match(r"to (?!be honest|tell|me\b|him\b|her\b)\w+", phrase)
        few = len(phrase.split()) <= _FEW_WORDS and not re.search(r"\b(?:he|she|they|i)\b", phrase)
        form = self.tables.texts["drafts"]["need"]
        if infinitive or (said.needs and few):
            return self.say(form, needs=phrase)
        return self.say(form, needs=listed(said.needs[-2:])).rstrip(".") if said.needs else ""


def _inert(text: str) -> str:
    """The text with the brackets of its tags drawn as ‹ and ›."""
    drawn = _TAG.sub(lambda hit: f"‹{hit[0][1:-1]}›", text)
    return _OPENS.sub("‹", drawn)


def _tells(said: Said) -> bool:
    """Is a message of the matter itself, rather than of the talk, and more than a word or two?"""
    of_talk = said.skip or said.stop or said.process or said.question or said.who or said.must
    of_talk = of_talk or said.foreign or said.privacy or said.missed or said.keep_private
    bids = (
        said.bids
        or came_by(said.text)
        or _BIDS_NOT.match(said.text.lower())
        or any(asks(one) for one in sentences_of(said.text)[:1])
    )
    return not of_talk and not bids and (not said.brief or bool(said.feelings))


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
