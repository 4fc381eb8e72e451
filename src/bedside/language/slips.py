"""How far two spellings are apart. Pure."""

from __future__ import annotations

__all__ = ["edits", "one_slip"]


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


def one_slip(one: str, other: str) -> bool:
    """Whether they are the same or one edit apart, told by where they first differ: `edits` <= 1."""
    if abs(len(one) - len(other)) > 1:
        return False
    at = next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), None)
    if at is None:
        return True
    left, right = one[at:], other[at:]
    if len(left) != len(right):
        return left[1:] == right or left == right[1:]
    return left[1:] == right[1:] or (left[:2] == right[1::-1] and left[2:] == right[2:])
