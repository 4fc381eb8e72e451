"""Given names that are hardly ever anything else in a note.

From the lists of the United States census of 1990 (public domain): the 1,500 most usual names of women and
the 800 of men, without those that are words, places, medicines, devices or months as well, and names of
other lands beside them.
"""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import files

__all__ = ["given_names"]


@lru_cache(maxsize=1)
def given_names() -> frozenset[str]:
    """The names, in lower case."""
    return frozenset((files("bedside.models") / "given_names.txt").read_text("utf-8").split())
