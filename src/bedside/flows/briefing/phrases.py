"""Small turns of phrase that the flags share. Pure."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["inside", "joined", "opening"]


def opening(text: str) -> str:
    """As a sentence or a title begins: "Naproxen"."""
    return text[:1].upper() + text[1:]


def inside(text: str) -> str:
    """As it stands inside a sentence; abbreviations keep their capitals."""
    return text if text[:2].isupper() else text[:1].lower() + text[1:]


def joined(parts: Iterable[str]) -> str:
    """Each part once, in order: "a, b and c"; "" for none."""
    some = list(dict.fromkeys(parts))
    if len(some) <= 1:
        return "".join(some)
    return ", ".join(some[:-1]) + " and " + some[-1]
