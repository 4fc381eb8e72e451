"""What the evaluator finds wrong with an item, and how grave it is. Pure."""

from __future__ import annotations

from typing import Literal, get_args

from bedside.core.value import value

__all__ = ["DIMENSIONS", "STRUCTURAL", "Dimension", "Finding", "Kind", "grave"]

Structural = Literal[
    "section_mismatch", "span_error", "bad_id", "format_error", "orphan_claim"
]  # fmt: skip
Dimension = Literal[
    "numbers", "units", "doses", "dates", "medicines", "negation", "laterality", "subject", "support"
]  # fmt: skip
Kind = Structural | Dimension | Literal["duplicate"]
STRUCTURAL: tuple[Structural, ...] = get_args(Structural)
"""What is wrong with the citation itself."""
DIMENSIONS: tuple[Dimension, ...] = get_args(Dimension)
"""In what the words differ from what they cite."""


@value
class Finding:
    """One thing that is wrong.

    `detail` names the rule in a few words; `said` is the item's piece, `written` the note's, "" where
    there is none.
    """

    kind: Kind
    detail: str
    said: str = ""
    written: str = ""


def grave(kind: Kind) -> int:
    """The order of a reader's interest: 0 could harm, 1 is wrong, 2 is untidy."""
    if kind in {"doses", "medicines", "negation", "laterality", "numbers", "units", "subject"}:
        return 0
    if kind in {"dates", "support", "orphan_claim", "bad_id", "span_error", "section_mismatch"}:
        return 1
    return 2
