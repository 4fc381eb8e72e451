"""The copilot's question set: what clinicians type, and the operation that gives each its gold.

The questions are about the public Synthea patients; a bundle is named by its file, and no value
of any record stands here. `dev` questions serve to develop the rules, `held` ones only to report.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import sha256
from importlib.resources import files
from typing import Any, Literal

from bedside.core.errors import BadInput
from bedside.core.value import value

__all__ = ["FILES", "Question", "Split", "questions", "split_of"]

Split = Literal["dev", "held"]
FILES = (
    "written.jsonl",
    "phrased.jsonl",
    "open.jsonl",
    "fresh.jsonl",
    "related.jsonl",
    "unseen.jsonl",
)
"""Typed by hand patient by patient; phrased from hand-made patterns; open questions; and questions
in words of their own that no rule was developed on (all held, for the patterns of the phrased ones
stand on both sides of the split); figures asked by what happened, or by two years; and hard ones
by writers who had not seen the rules, which were answered once before any rule was read by them."""

_DEV_PERCENT = 60


@value
class Question:
    """One question. `patient` is a bundle's file name, `gold` an operation (see `copilot_gold`).

    `kind` is the family ("latest", "list", "absent", "both", "open", ...); `tags` say how it is
    phrased ("short", "misspelt", "abbreviated", "negative", "dated", ...).
    """

    id: str
    patient: str
    question: str
    kind: str
    tags: tuple[str, ...]
    gold: Mapping[str, Any]

    @property
    def split(self) -> Split:
        """Decided by the id alone, so that it never moves."""
        return split_of(self.id)


def split_of(question_id: str) -> Split:
    """Say "dev" for about 60 % of ids, else "held"; ids of fresh questions (h-) are held."""
    if question_id.startswith("h-"):
        return "held"
    return (
        "dev" if int(sha256(question_id.encode()).hexdigest(), 16) % 100 < _DEV_PERCENT else "held"
    )


def questions(*, split: Split | None = None, kind: str | None = None) -> tuple[Question, ...]:
    """Read the set, in file order; `None` does not filter.

    Raises:
        BadInput: A line is not a question; it is named by file and line.
    """
    found: list[Question] = []
    for name in FILES:
        text = (files("bedside.evals.copilot_questions") / name).read_text(encoding="utf-8")
        for number, line in enumerate(text.splitlines(), start=1):
            found.append(_question(line, where=f"{name}:{number}"))
    return tuple(
        question
        for question in found
        if (split is None or question.split == split) and (kind is None or question.kind == kind)
    )


def _question(line: str, *, where: str) -> Question:
    try:
        row = json.loads(line)
        return Question(**{**row, "tags": tuple(row["tags"])})
    except (ValueError, TypeError, KeyError) as error:
        raise BadInput(where, why="not a question") from error
