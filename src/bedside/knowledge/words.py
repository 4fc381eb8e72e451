"""The words of a chunk as one small blob: stems with their counts."""

from __future__ import annotations

from collections import Counter

from bedside.language.stems import stems

__all__ = ["count_words", "halves", "pack", "unpack"]

_MOST = 65_535


def count_words(body: str, *, head: str = "") -> tuple[Counter[str], int]:
    """Stems of a chunk, those of its heading path and title once more; and the body's own length."""
    found = Counter(stems(body))
    length = sum(found.values())
    found.update(stems(head))
    return found, length


def pack(counts: Counter[str]) -> bytes:
    """Stems in alphabetical order, then their counts: the same words give the same bytes."""
    names = sorted(counts)
    tail = ",".join(str(min(counts[name], _MOST)) for name in names)
    return f"{' '.join(names)}\n{tail}".encode()


def unpack(blob: bytes) -> tuple[list[str], list[int]]:
    """Stems and their counts, in alphabetical order."""
    names, tail = halves(blob)
    return names, [int(count) for count in tail.split(b",")] if names else []


def halves(blob: bytes) -> tuple[list[str], bytes]:
    """Stems in alphabetical order, and their counts as written, parted by commas."""
    names, _, tail = blob.partition(b"\n")
    return names.decode().split(" ") if names else [], tail
