"""Which contract a procedure has: by code, name, synonym or misspelling, else the generic one."""

from __future__ import annotations

import difflib
import functools
import re
from collections.abc import Mapping, Sequence
from importlib import resources

from bedside.sop.contract import Contract
from bedside.sop.reading import read_contract

__all__ = ["bundled", "find", "find_in", "forget"]

_CLOSE = 0.84
"""Similarity of spelling (difflib ratio) from which a word counts as a misspelling."""
_LONG_ENOUGH = 5


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
    """As `find`, among these contracts, one of which is `_generic`.

    Where two procedures fit equally well, neither is chosen: the generic contract asks.
    """
    generic = next(contract for contract in contracts if contract.generic)
    asked = _plain(text)
    if not asked:
        return generic
    for contract in contracts:
        if asked in {_plain(code) for code in (contract.id, *contract.codes)}:
            return contract
    named = _named(asked, contracts)
    if len(named) == 1:
        return named[0]
    if named:
        return generic
    spelt = _misspelt(asked, contracts)
    return spelt[0] if len(spelt) == 1 else generic


def _named(asked: str, contracts: Sequence[Contract]) -> list[Contract]:
    """Contracts whose name stands whole in the text; the longest name wins."""
    best: dict[str, int] = {}
    for contract in contracts:
        if contract.generic:
            continue
        for name in (contract.id, *contract.codes, *contract.names):
            plain = _plain(name)
            if plain and re.search(rf"(?:^| ){re.escape(plain)}(?: |$)", asked):
                best[contract.id] = max(best.get(contract.id, 0), len(plain))
    longest = max(best.values(), default=0)
    return [one for one in contracts if best.get(one.id) == longest and longest]


def _misspelt(asked: str, contracts: Sequence[Contract]) -> list[Contract]:
    words = asked.split()
    best: dict[str, float] = {}
    for contract in contracts:
        if contract.generic:
            continue
        for name in contract.names:
            plain = _plain(name)
            if len(plain) < _LONG_ENOUGH:
                continue
            n = len(plain.split())
            for start in range(len(words) - n + 1):
                window = " ".join(words[start : start + n])
                ratio = difflib.SequenceMatcher(None, window, plain, autojunk=False).ratio()
                if ratio >= _CLOSE:
                    best[contract.id] = max(best.get(contract.id, 0.0), ratio)
    top = max(best.values(), default=0.0)
    return [one for one in contracts if best.get(one.id) == top and top]


def _plain(text: str) -> str:
    return " ".join(re.findall(r"[^\W_]+", text.casefold()))
