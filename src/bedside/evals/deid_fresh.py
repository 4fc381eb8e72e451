"""Sentences with identifiers, written before the finder was last mended and apart from its forms.

Each stands in `deid_fresh.tsv` as (half, kind, sentence), identifiers in double braces. The half that
was `read` showed what to mend; of the half `held` nobody saw more than its figure. `clean` sentences
name nobody. Same hand as the finder: what another writes will be harder.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from importlib.resources import files
from typing import Any

from bedside.models.identifiers import Veil

__all__ = ["fresh", "sentences"]

_MARKED = re.compile(r"\{\{(.*?)\}\}")
_IN_A_NOTE = "Seen for follow up.\n\n{}\n\nPlan: continue lisinopril 10 mg daily.\n"
_NO_PART = frozenset(
    ("mr", "mrs", "ms", "dr", "and", "year", "years", "old", "y", "yr", "o", "yo", "at", "dot", "the", "of", "road", "ltd")
)  # fmt: skip
"""Words of a marked stretch that identify nobody."""


def sentences(half: str) -> Iterator[tuple[str, str, list[str]]]:
    """(kind, sentence without marks, its identifiers) of `read`, `held` or `clean`."""
    text = (files("bedside.evals") / "deid_fresh.tsv").read_text(encoding="utf-8")
    for line in text.splitlines():
        where, kind, marked = line.split("\t")
        if where == half:
            yield kind, _MARKED.sub(r"\1", marked), _MARKED.findall(marked)


def fresh() -> dict[str, Any]:
    """Sentences of which nothing that identifies is left, by half and kind; clean ones changed."""
    clean = [sentence for _kind, sentence, _found in sentences("clean")]
    return {
        **{half: _half(half) for half in ("read", "held")},
        "clean": {
            "n": len(clean),
            "changed": sum(Veil(()).hide(sentence) != sentence for sentence in clean),
        },
    }


def _half(half: str) -> dict[str, Any]:
    n: Counter[str] = Counter()
    hidden: Counter[str] = Counter()
    for kind, sentence, identifiers in sentences(half):
        n[kind] += 1
        sent = Veil(()).hide(_IN_A_NOTE.format(sentence))
        words = {word for one in identifiers for word in re.findall(r"\w+", one)}
        hidden[kind] += not any(
            re.search(rf"\b{re.escape(word)}\b", sent)
            for word in words
            if word.lower() not in _NO_PART
        )
    return {
        "n": sum(n.values()),
        "hidden": sum(hidden.values()),
        "share": round(sum(hidden.values()) / sum(n.values()), 4),
        "by_kind": {kind: {"n": n[kind], "hidden": hidden[kind]} for kind in sorted(n)},
    }
