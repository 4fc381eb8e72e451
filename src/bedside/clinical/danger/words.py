"""A person's message as words: short forms written out, each with its stem and its place. Pure."""

from __future__ import annotations

import re
from functools import lru_cache

from bedside.core.value import value
from bedside.language.stems import stem

__all__ = ["Word", "words_of"]


@value
class Word:
    """One word at [start, end) of the message: lower case, and its stem.

    A short form gives several words of one place: "can't" is "can" and "not".
    """

    text: str
    stem: str
    start: int
    end: int


_TOKEN = re.compile(r"[^\W_]+(?:['’‘`][^\W_]+)*|'s\b|[^\w\s]|\n")
_PLAIN = str.maketrans({"’": "'", "‘": "'", "`": "'"})
_WRITTEN: dict[str, str] = {
    "can't": "can not", "cannot": "can not", "cant": "can not", "won't": "will not", "wont": "will not",
    "shan't": "will not", "ain't": "is not", "aint": "is not", "dont": "do not", "doesnt": "does not",
    "didnt": "did not", "isnt": "is not", "arent": "are not", "wasnt": "was not", "werent": "were not",
    "hasnt": "has not", "havent": "have not", "hadnt": "had not", "wouldnt": "would not",
    "couldnt": "could not", "shouldnt": "should not", "im": "i am", "ive": "i have", "hes": "he is",
    "shes": "she is", "theyre": "they are", "youre": "you are", "weve": "we have", "theyd": "they would",
    "hed": "he would", "gonna": "going to", "gunna": "going to", "wanna": "want to", "gotta": "got to",
    "whats": "what is", "thats": "that is", "theres": "there is", "lets": "let us", "u": "you",
    "ur": "your", "rn": "right now", "bf": "boyfriend", "gf": "girlfriend", "hubby": "husband",
    "hubbys": "husband", "kys": "kill yourself", "kms": "kill myself", "anymore": "any more",
    "meself": "myself", "mum's": "mum is", "tonite": "tonight", "w": "with", "n": "and", "cos": "because",
    "cuz": "because", "til": "until", "bcuz": "because", "nobody": "nobody", "noone": "nobody",
    "missus": "wife", "thru": "through", "thinkin": "thinking", "goin": "going", "livin": "living",
    "dyin": "dying", "killin": "killing", "hittin": "hitting", "wanting": "want", "unalive": "kill",
    "kil": "kill", "someones": "someone is", "everyones": "everyone is", "nobodys": "nobody is",
}  # fmt: skip
_ENDINGS = (
    ("n't", "not"), ("'ll", "will"), ("'ve", "have"), ("'re", "are"), ("'m", "am"), ("'d", "would"),
)  # fmt: skip
_OF_HE = {
    "he",
    "she",
    "it",
    "who",
    "that",
    "what",
    "there",
    "everyone",
    "nobody",
    "someone",
    "here",
}
_IRREGULAR = {
    "beaten": "beat", "threw": "throw", "thrown": "throw", "shook": "shake", "shaken": "shake",
    "hung": "hang", "drove": "drive", "driven": "drive", "broke": "break", "broken": "break",
    "bit": "bite", "bitten": "bite", "held": "hold", "took": "take", "taken": "take", "ate": "eat",
    "drank": "drink", "drunk": "drunk", "wrote": "write", "written": "write", "shot": "shoot",
    "went": "go", "gone": "gone", "fell": "fall", "fallen": "fall", "woke": "wake", "woken": "wake",
    "bled": "bleed", "came": "come", "lost": "lose", "felt": "feel", "said": "say", "told": "tell",
    "forced": "forc", "choking": "choke", "hidden": "hide", "hid": "hide", "gave": "give",
    "given": "give", "bought": "buy", "kept": "keep", "left": "left", "dragged": "drag",
    "swung": "swing", "grabbed": "grab", "forbids": "forbid", "forbade": "forbid", "swore": "swear",
    "tore": "tear", "torn": "tear", "stolen": "steal", "stole": "steal", "burnt": "burn", "slit": "slit",
    "thought": "think", "stood": "stand", "sat": "sit", "made": "make", "knew": "know", "spat": "spit",
}  # fmt: skip


@lru_cache(maxsize=8192)
def _spelt(word: str) -> tuple[tuple[str, str], ...]:
    """What a lower-case word stands for: each part and its stem."""
    return tuple((part, stem(_IRREGULAR.get(part, part))) for part in _parts(word))


def _parts(word: str) -> list[str]:
    if word in _WRITTEN:
        return _WRITTEN[word].split()
    if "'" not in word or word == "'s":
        return [word]
    for ending, meant in _ENDINGS:
        if word.endswith(ending):
            return [word.removesuffix(ending), meant]
    head, _, rest = word.rpartition("'")
    if rest == "s":
        return [head, "is"] if head in _OF_HE else [head, "'s"]
    return [word]


def words_of(message: str) -> tuple[Word, ...]:
    """The words and the marks of the message in their order."""
    return tuple(
        Word(text=text, stem=root, start=found.start(), end=found.end())
        for found in _TOKEN.finditer(message)
        for text, root in _spelt(found[0].translate(_PLAIN).lower())
    )
