"""Which contract a procedure has: by code, name, synonym or misspelling, else the generic one."""

from __future__ import annotations

import difflib
import functools
import re
import unicodedata
from collections.abc import Mapping, Sequence
from importlib import resources

from bedside.language.slips import edits
from bedside.sop.contract import Contract
from bedside.sop.reading import read_contract

__all__ = ["bundled", "find", "find_in", "forget"]

_CLOSE = 0.84
"""Similarity of spelling (difflib ratio) from which a word counts as a misspelling."""
_LONG_ENOUGH = 5
_MOST_WORDS = 200
"""Words of a text in which misspellings are looked for."""
_ALSO_WORDS = frozenset({"tha"})
"""Acronyms that are words in another language: they count only as they are written."""
_SHARED_NOUN = re.compile(
    r"\b(\w+) (?:or|and) (\w+) (replacement|surgery|operation|reconstruction)\b"
)
"""("knee or hip replacement" names both)."""
_REPLACED = re.compile(
    r"\b(?:(?P<before>knee|hip)s?(?: joints?)?(?: (?:total|full|complete|partial|needs?|needing|has to|have to|must|should|to|be|is|was|also|now|urgently|fully|completely)){0,4}? replac(?:e|ed|ing|ement)"
    r"|(?P<changed>knee|hip)s? change(?! (?:with|in|over|when|as)\b)|(?:replac(?:e|ing|ement)|change|changing)(?: of)?(?: (?:the|my|his|her|our|their|both|left|right|a))* (?P<after>knee|hip)s?)\b"
)
"""What is to be replaced, however it is said."""
_BYPASSED = re.compile(
    r"\b(?:(?:need|advis|recommend|suggest|requir|propos)\w*|say|says|said|told)(?: (?:a|an|the|him|her|me|us|for|to have|that|it is))* bypass\b(?! (?:road|lane|the|this|it|your)\b)"
    r"|\bbypass(?: (?:is|was|has been|to be))? (?:need|advis|recommend|suggest|requir|propos)\w*"
)
"""A bypass that somebody said is needed; one that was had names no wish."""
_REFUSED = re.compile(
    r"(?:\b(?:not|no|without|never|avoid|instead of|rather than|don t (?:want|need)|do not (?:want|need)|"
    r"already had|had)(?: (?:a|an|the|my|any|for|about|another|total|to have|have))*) $"
)


@functools.cache
def bundled() -> Mapping[str, Contract]:
    """The shipped contracts by id, `_generic` among them."""
    folder = resources.files("bedside.sop") / "data" / "contracts"
    found = {}
    for path in sorted(folder.iterdir(), key=lambda one: one.name):
        if path.name.endswith(".yaml"):
            contract = read_contract(path.read_text(encoding="utf-8"), what=path.name)
            found[contract.id] = contract
    return found


def forget() -> None:
    """Read the shipped contracts anew at the next use."""
    bundled.cache_clear()


def find(text: str) -> Contract:
    """The shipped contract for a code, a name, or a sentence that names the procedure."""
    return find_in(text, tuple(bundled().values()))


def find_in(text: str, contracts: Sequence[Contract]) -> Contract:
    """As `find`, among these contracts. Never raises.

    Where two procedures are named, or fit equally well, neither is chosen: the generic contract
    asks. So it does where a procedure is only named to be refused ("not a knee replacement").
    """
    generic = next((one for one in contracts if one.generic), None) or bundled()["_generic"]
    asked = _SHARED_NOUN.sub(r"\1 \3 or \2 \3", _plain(text))
    asked = _REPLACED.sub(lambda at: f"{at[at.lastgroup or 'after']} replacement", asked)
    if not any(_plain(phrase) in asked for one in contracts for phrase in one.unlike):
        asked = _BYPASSED.sub("coronary bypass", asked)
    if not asked:
        return generic
    for contract in contracts:
        if asked in {_plain(code) for code in (contract.id, *contract.codes)}:
            return contract
    named, refused = _named(text, asked, contracts)
    if len(named) == 1:
        return named[0]
    if named or refused:
        return generic
    spelt = _misspelt(asked, contracts)
    return spelt[0] if len(spelt) == 1 else generic


def _named(
    text: str, asked: str, contracts: Sequence[Contract]
) -> tuple[list[Contract], list[Contract]]:
    """Contracts that the text names and wants, and those that it names only to refuse.

    A name inside a longer name of another contract does not count.
    """
    spans: list[tuple[int, int, Contract]] = []
    unlike: list[tuple[int, int]] = []
    for contract in contracts:
        for phrase in contract.unlike:
            form = rf"(?:(?<=^)|(?<= )){re.escape(_plain(phrase))}(?= |$)"
            unlike += [at.span() for at in re.finditer(form, asked)]
        if contract.generic:
            continue
        for name in (contract.id, *contract.codes, *contract.names):
            plain = _plain(name)
            if not plain or (plain in _ALSO_WORDS and not re.search(rf"\b{name}\b", text)):
                continue
            form = rf"(?:(?<=^)|(?<= )){re.escape(plain)}(?= |$)"
            spans += [(at.start(), at.end(), contract) for at in re.finditer(form, asked)]
    wanted: list[Contract] = []
    refused: list[Contract] = []
    for start, end, contract in spans:
        if any(
            (a <= start and end <= b) and (b - a > end - start) and other is not contract
            for a, b, other in spans
        ) or any(a <= start < b or a < end <= b for a, b in unlike):
            continue
        kind = refused if _REFUSED.search(asked[:start]) else wanted
        if contract not in kind:
            kind.append(contract)
    return wanted, [one for one in refused if one not in wanted]


def _misspelt(asked: str, contracts: Sequence[Contract]) -> list[Contract]:
    if any(_plain(phrase) in asked for one in contracts for phrase in one.unlike):
        return []
    words = asked.split()[:_MOST_WORDS]
    best: dict[str, float] = {}
    matcher = difflib.SequenceMatcher(None, autojunk=False)
    for contract in contracts:
        if contract.generic:
            continue
        for name in contract.names:
            plain = _plain(name)
            if len(plain) < _LONG_ENOUGH:
                continue
            n = len(plain.split())
            matcher.set_seq2(plain)
            for start in range(len(words) - n + 1):
                window = " ".join(words[start : start + n])
                if abs(len(window) - len(plain)) > len(plain) // 3:
                    continue
                matcher.set_seq1(window)
                if matcher.real_quick_ratio() < _CLOSE or matcher.quick_ratio() < _CLOSE:
                    continue
                ratio = matcher.ratio()
                if ratio >= _CLOSE and _spelt_alike(window.split(), plain.split(), contract):
                    best[contract.id] = max(best.get(contract.id, 0.0), ratio)
    top = max(best.values(), default=0.0)
    return [one for one in contracts if best.get(one.id) == top and top]


_FEW_LETTERS = 5
"""Words so short may differ by one letter, longer ones by two."""


def _spelt_alike(said: Sequence[str], name: Sequence[str], contract: Contract) -> bool:
    """Is each word the name's own or a slip of it? Another body part is none, nor another acronym."""
    acronyms = {_plain(one) for one in (contract.id, *contract.names) if one.isupper()}
    return all(
        one == other
        or (other not in acronyms and edits(one, other) <= (1 if len(other) <= _FEW_LETTERS else 2))
        for one, other in zip(said, name, strict=True)
    )


def _plain(text: str) -> str:
    """Letters, digits and the vowel signs of any script, folded, with single blanks."""
    folded = unicodedata.normalize("NFC", text).casefold()
    return " ".join(re.findall(r"[^\W_]+(?:[\u0900-\u0963\u064b-\u0652]+[^\W_]*)*", folded))
