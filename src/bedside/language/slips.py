"""How far two spellings are apart. Pure."""

from __future__ import annotations

__all__ = ["edits"]


def edits(one: str, other: str) -> int:
    """How many letters must change, come or go; two swapped neighbours are one."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for at, char in enumerate(one, start=1):
        last, row, older = row, [at], before
        for to, wanted in enumerate(other, start=1):
            cost = min(last[to] + 1, row[to - 1] + 1, last[to - 1] + (char != wanted))
            if at > 1 and to > 1 and char == other[to - 2] and one[at - 2] == wanted:
                cost = min(cost, older[to - 2] + 1)
            row.append(cost)
        before = last
    return row[-1]
