"""A question that goes on from the one before: "highest?", "and creatinine?", "what dose?". Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bedside.flows.copilot.reading import Clause

__all__ = ["followed", "goes_on", "has_pronoun", "of_that_time", "questions_before"]

_MOST_BACK = 3
_MOST_SUBJECTS = 3
_AND = re.compile(r"\s*(?:and|&|what about|how about|what of)\b", re.IGNORECASE)
_THEN = re.compile(r"\bthen\W*\Z", re.IGNORECASE)
_IT = re.compile(r"\b(?:it|its|that|this|them|those|these)\b", re.IGNORECASE)


def questions_before(said: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    """The questions of a conversation, newest first, from (role, text) oldest first."""
    asked = [text for role, text in said if role == "user"]
    return tuple(reversed(asked[-_MOST_BACK:]))


def has_pronoun(text: str) -> bool:
    """True where "it" or "them" may stand for what was spoken of."""
    return _IT.search(text) is not None


def of_that_time(text: str, clauses: Sequence[Clause]) -> bool:
    """True of "and her BMI then?" where no clause has the time that was spoken of."""
    return _THEN.search(text) is not None and not any(clause.window for clause in clauses)


def goes_on(text: str, clauses: Sequence[Clause]) -> bool:
    """True of a question that cannot be read by itself: no subject, or a pronoun for one."""
    if not any(clause.subject for clause in clauses):
        return True
    return has_pronoun(text) and not any(clause.entities for clause in clauses)


def followed(text: str, clauses: Sequence[Clause], about: Sequence[Clause]) -> list[Clause]:
    """The clauses with what the conversation was about put in where they name no subject.

    A bare "and creatinine?" is also asked as the question before was.

    Args:
        text: The question as typed.
        clauses: Its own clauses.
        about: Those of the newest question before it that names a subject.
    """
    subjects = [clause for clause in about if clause.subject]
    if not clauses or not subjects or len(subjects) > _MOST_SUBJECTS:
        return list(clauses)
    if any(clause.subject for clause in clauses):
        asked = [clause for clause in about if clause.asked or clause.window]
        alike = len(about) == len(asked) == len(clauses) == 1 and not clauses[0].asked
        if not (alike and _AND.match(text) and _one_kind(asked[0], clauses[0])):
            return list(clauses)
        return [_asked_like(clauses[0], asked[0])]
    if len(clauses) > 1 and len(subjects) > 1:
        return list(clauses)
    return [
        replace(
            clause if clause.asked or clause.verbs else _asked_like(clause, subject),
            topics=subject.topics,
            fields=subject.fields,
            visits=subject.visits,
            entities=subject.entities,
        )
        for subject in subjects
        for clause in clauses
    ]


def _asked_like(clause: Clause, source: Clause) -> Clause:
    return replace(
        clause,
        ops=source.ops,
        verbs=source.verbs,
        statuses=source.statuses,
        bound=source.bound,
        last=source.last,
        window=clause.window or source.window,
    )


def _one_kind(left: Clause, right: Clause) -> bool:
    kinds = [{one.kind for group in part.entities for one in group} for part in (left, right)]
    return bool(kinds[0] & kinds[1])
