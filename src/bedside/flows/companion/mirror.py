"""A person's words given back: turned to "you", quoted, or addressed to the other. Pure.

A sentence is turned only where that is sure to read well; the rest is quoted, which is never wrong.
"""

from __future__ import annotations

import re

__all__ = ["asks", "bare", "given_back", "to_other"]

_FLIP = {
    "i": "you", "i'm": "you're", "im": "you're", "i've": "you've", "ive": "you've", "i'd": "you'd",
    "i'll": "you'll", "me": "you", "my": "your", "mine": "yours", "myself": "yourself", "am": "are",
}  # fmt: skip
_OPENERS = re.compile(
    r"^(?:(?:hi|hello|hey|not really|yes|yeah|no|well|ok|okay|oh|honestly|anyway|actually|i mean|you know|(?:like|as) i "
    r"(?:said|told you)(?: last time| before| earlier)?)[, ]*,[, ]*|(?:yes but|and|but|because|also|then|yeah|honestly|anyway|actually|"
    r"you know|(?:it's|it is)(?: just| only| more)? that|if i had to guess)\b[,. ]+|"
    r"(?:so|i (?:think|guess|suppose|mean))\b[,. ]+(?=(?:that )?(?:i|i'm|im|i've|i'd|he|he's|she|she's|they|we|it's|there|my|"
    r"his|her|nobody|no one)\b))",
    re.IGNORECASE,
)
_CLOSERS = re.compile(
    r", (?:i think|i guess|i suppose|i know(?: that)?|i am sure|i'm sure)\Z|,? (?:you know|or something|that's all|"
    r"that is all|lol)\Z",
    re.IGNORECASE,
)
_TOKEN = re.compile(r"[\w'’]+|[^\w'’]+")
_SHOUTED = re.compile(r"\b[A-Z]{2,}(?:[ ,]+[A-Z]{2,})+\b")
_ASKS = re.compile(
    r"^(?:and |but |so )?(?:(?:what|why|how|who|where|when|which)(?:'s)? (?:is|are|was|were|do|does|did|can|"
    r"could|will|would|should|has|have|happens?|happened|now|next)\b|(?:is|are|was|were|do|does|did|can|could|"
    r"will|would|should) (?:he|she|they|it|there|you|i|we)\b|(?:what if|how about|what about|why don'?t|why not)\b)",
    re.IGNORECASE,
)
_SMALL = frozenset({
    "a", "after", "all", "an", "any", "as", "at", "before", "both", "by", "each", "even", "every",
    "everybody", "everyone", "everything", "for", "from", "he", "he's", "her", "hers", "his",
    "how", "i", "i'd", "i'll", "i'm", "i've", "if", "im", "in", "instead", "it", "it's", "its",
    "ive", "last", "lately", "maybe", "most", "my", "no", "nobody", "none", "nothing", "now",
    "often", "on", "once", "one", "only", "people", "perhaps", "probably", "she", "she's",
    "since", "some", "somebody", "someone", "something", "sometimes", "still", "that", "the",
    "their", "there", "these", "they", "they're", "this", "those", "though", "today", "tonight",
    "until", "usually", "what", "whatever", "when", "whenever", "where", "while", "without",
    "yesterday",
})  # fmt: skip
"""Beginnings that are no name, and that may follow "that"."""
_TOGETHER = re.compile(r"\b(?:we|us|our|ours|ourselves|let's|let us)\b")
_CLAUSE = re.compile(
    r"\b(?:i|he|she|they|it|that|there|who|nobody|everybody|is|are|was|were|has|have|had|does|did|can|could|will|would|"
    r"should|must|i'm|im|i've|i'd|i'll|he's|she's|it's|they're|there's|that's)\b|n't\b|\bmy \w+ \w+s\b"
)


def asks(sentence: str) -> bool:
    """Is a sentence a question, with its mark or without?"""
    return sentence.rstrip().endswith("?") or bool(_ASKS.match(sentence.strip()))


def bare(sentence: str) -> str:
    """A sentence without its end mark, its opening words and its closing ones; nothing is shouted."""
    body = _SHOUTED.sub(lambda match: match[0].lower(), sentence.strip().rstrip(".!…,;: "))
    for form in (_OPENERS, _CLOSERS):
        while (shorter := form.sub("", body)) != body:
            body = shorter
    return body


def given_back(sentence: str, *, name: str = "") -> tuple[str, bool]:
    """A sentence of the person's to be given back, and whether it is turned to "you" or quoted.

    `name` is whom both know: a sentence may begin with it.
    """
    body = bare(sentence)
    plain = body.lower().replace("’", "'")
    first = re.split(r"[ ,]", plain, maxsplit=1)[0]
    known = first.removesuffix("'s") == name.lower()
    if not (first in _SMALL or known) or _TOGETHER.search(plain) or not _CLAUSE.search(plain):
        return f"“{body}”", False
    text = _flipped(body)
    return text if known else text[:1].lower() + text[1:], True


def _flipped(body: str) -> str:
    out: list[str] = []
    before = ""
    for token in _TOKEN.findall(body):
        plain = token.lower().replace("’", "'")
        if plain in {"was", "wasn't"} and before == "i":
            out.append("were" if plain == "was" else "weren't")
        else:
            out.append(_FLIP.get(plain, str(token)))
        before = plain if plain.strip() else before
    return "".join(out)


# ---- to the other

_HE, _SHE = ("he", "him", "his", "himself"), ("she", "her", "hers", "herself")
_TURNED = {"he": "you", "she": "you", "him": "you", "his": "your", "hers": "yours", "himself": "yourself",
           "herself": "yourself"}  # fmt: skip
_VERBS = {"is": "are", "was": "were", "has": "have", "does": "do", "isn't": "aren't", "wasn't": "weren't",
          "hasn't": "haven't", "doesn't": "don't"}  # fmt: skip
_BETWEEN = frozenset({
    "also", "always", "even", "just", "never", "now", "often", "only", "really", "sometimes",
    "still",
})  # fmt: skip
_NO_NOUN = frozenset({
    "a", "about", "after", "again", "alone", "an", "and", "around", "as", "at", "because", "before",
    "beside", "but", "by", "every", "first", "for", "from", "here", "how", "if", "in", "into",
    "less", "me", "more", "my", "near", "not", "now", "on", "or", "our", "over", "so", "sometimes",
    "than", "that", "the", "there", "through", "to", "today", "together", "tonight", "too", "us",
    "what", "when", "whenever", "where", "while", "who", "with", "without",
})  # fmt: skip
_WHITHER = frozenset(
    {"away", "back", "close", "closer", "home", "off", "out", "over", "safe", "up", "well"}
)
_MOVES = frozenset({
    "bring", "brought", "call", "called", "drive", "drove", "get", "got", "had", "have", "keep",
    "kept", "let", "need", "needed", "pick", "picked", "push", "pushed", "see", "send", "sent",
    "take", "took", "want", "wanted", "win", "wish",
})  # fmt: skip
"""Behind such a verb "her back" and "her home" say whither she comes, and name nothing of hers."""
_CLAUSE_OPENS = frozenset({
    "", "because", "but", "how", "if", "since", "so", "than", "that", "until", "what", "when",
    "whenever", "where", "while", "why", "wish",
})  # fmt: skip
"""Words behind which the other's name is who does something; elsewhere something is done to them."""
_SOMEBODY = re.compile(
    r"\b(?:my|our) (?:\w+ )?(?:mother|father|mum|mom|dad|sister|brother|son|daughter|friend|boss|doctor|neighbou?r|aunt|"
    r"uncle|cousin|child|kid|boy|girl)\b|(?<=[a-z,] )(?!(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day)[A-Z][a-z]+"
)


_FATHER, _MOTHER = re.compile(r"Dad|Daddy|Papa|Father"), re.compile(r"Mum|Mom|Mummy|Mama|Mother")
"""Whom "she", and whom "he", cannot mean."""


def to_other(text: str, other: str) -> str:
    """A text about the other turned to them ("I need her to trust me": "... you to trust me").

    As it stands where "he" or "she" might be somebody else.
    """
    name = re.escape(other)
    text = re.sub(rf"\b{name}'s\b", "your", text, flags=re.IGNORECASE)
    plain = text.lower().replace("’", "'")
    found = [
        forms
        for forms in (_HE, _SHE)
        if re.search(rf"\b(?:{'|'.join(forms)})\b", plain.replace("'s", " "))
    ]
    named = [
        match[0]
        for match in _SOMEBODY.finditer(text)
        if match[0].lower() not in {other.lower(), "i"}
    ]
    parent = _FATHER if found == [_SHE] else _MOTHER if found == [_HE] else None
    if len(found) > 1 or any(parent is None or not parent.fullmatch(one) for one in named):
        return text
    tokens = _TOKEN.findall(text)
    words = [at for at, one in enumerate(tokens) if one.strip() and re.match(r"\w", one)]
    subject, turned, before = False, False, ""
    for place, at in enumerate(words):
        word = tokens[at].lower().replace("’", "'")
        after = tokens[words[place + 1]].lower() if place + 1 < len(words) else ""
        follows = after if after and tokens[at + 1].isspace() else ""
        made = ""
        if word in {"he's", "she's"}:
            made = "you've" if re.match(r"been\b|got\b|\w+ed\b", after) else "you're"
        elif word in {"he'll", "she'll", "he'd", "she'd"}:
            made = f"you{word[word.index(chr(39)) :]}"
        elif word == "her":
            back = follows in _WHITHER and before in _MOVES
            made = "your" if follows and follows not in _NO_NOUN and not back else "you"
        elif word in _TURNED or word == other.lower():
            made = _TURNED.get(word, "you")
        elif word.endswith("n't") and turned and before in {"and", "or", "but"}:
            made = _VERBS.get(word, "")
        elif subject and word not in _BETWEEN and not word.endswith("ly"):
            made = _VERBS.get(word, _second(word))
        subject = (
            word in {"he", "she"}
            or (word == other.lower() and before in _CLAUSE_OPENS)
            or (subject and (word in _BETWEEN or word.endswith("ly")))
        )
        turned, before = turned or word in {"he", "she"}, word
        if made:
            tokens[at] = _as(made, first=place == 0)
    return "".join(tokens)


def _as(word: str, *, first: bool) -> str:
    return word[:1].upper() + word[1:] if first else word


def _second(verb: str) -> str:
    """A verb of the third person in the second ("tries": "try")."""
    if verb.endswith("ies") and len(verb) > 4:  # noqa: PLR2004 - "lies" is "lie"
        return f"{verb[:-3]}y"
    if re.search(r"(?:sh|ch|x|z|ss|o)es\Z", verb):
        return verb[:-2]
    return verb[:-1] if re.search(r"[^s]s\Z", verb) else verb
