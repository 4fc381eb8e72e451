"""The floor of recall: a plain BM25 over LoCoMo, written apart from the product."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bedside.evals.memory import Conversation

__all__ = ["plain_bm25"]

K1, B = 1.2, 0.75


def plain_bm25(conversation: Conversation) -> list[dict[str, Any]]:
    """One row a question with the three figures: turns as documents, and whole sessions as documents."""
    turns = [
        (ident, of, f"{conversation.names[role]}: {text.replace('[shares ', '').replace(']', '')}")
        for ident, of, role, text, _ in conversation.turns
    ]
    sessions: dict[str, list[str]] = {}
    for _, of, text in turns:
        sessions.setdefault(of, []).append(text)
    names = list(sessions)
    documents = [_words(text) for _, _, text in turns]
    wholes = [_words(" ".join(sessions[name])) for name in names]
    rows: list[dict[str, Any]] = []
    for text, evidence, _ in conversation.questions:
        asked = _words(text)
        order = [turns[place][0] for place in _ranked(documents, asked)]
        by_session = [names[place] for place in _ranked(wholes, asked)]
        wanted = {ident.partition(":")[0] for ident in evidence}
        rows.append(
            {
                "session_mrr": _reciprocal(by_session, wanted),
                "turn_recall_at_10": len(evidence & set(order[:10])) / max(len(evidence), 1),
                "turn_mrr": _reciprocal(order, evidence),
            }
        )
    return rows


def _words(text: str) -> list[str]:
    return re.findall(r"[a-z0-9]+", text.lower())


def _reciprocal(order: Sequence[str], wanted: set[str] | frozenset[str]) -> float:
    return next((1 / (place + 1) for place, one in enumerate(order) if one in wanted), 0.0)


def _ranked(documents: Sequence[Sequence[str]], asked: Sequence[str]) -> list[int]:
    """Places of the documents, best first; equals in their order."""
    counts = [Counter(document) for document in documents]
    mean = sum(map(len, documents)) / len(documents)
    scores = [0.0] * len(documents)
    for word in asked:
        holding = sum(word in count for count in counts)
        if not holding:
            continue
        weight = math.log(1 + (len(documents) - holding + 0.5) / (holding + 0.5))
        for place, count in enumerate(counts):
            often = count.get(word, 0)
            if often:
                length = len(documents[place]) / mean
                scores[place] += weight * often * (K1 + 1) / (often + K1 * (1 - B + B * length))
    return sorted(range(len(documents)), key=lambda place: -scores[place])
