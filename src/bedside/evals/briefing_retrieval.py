"""Does a patient's situation find its guideline section? Situations of our own, gold by heading.

The situations stand in `briefing_pairs.jsonl`: age, problem, finding, medicine, as a clinician puts
them, each with the documents and the heading paths that answer it. They are asked of the Nigerian
standard treatment guidelines of 2022, cut, indexed and ranked as the product does it. A failure is a
situation none of whose first k passages stands under a gold heading.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal, NamedTuple

from bedside.core.errors import BadInput
from bedside.core.value import value
from bedside.evals.retrieval import RETRIEVERS, Collection, build, cached_vectors
from bedside.knowledge.embed.minilm import MiniLM
from bedside.knowledge.embed.protocol import Embedder
from bedside.knowledge.index.segment import Segment
from bedside.knowledge.needs import Filters
from bedside.knowledge.question import Question, borne, read_question
from bedside.knowledge.rank import rank
from bedside.language.sections import sections

__all__ = ["Pair", "library", "pairs", "run"]

FOLDER = "guidelines/nigeria_stg_2022"
CUTS = (5, 20)
TARGET_AT_20 = 0.019
_TWIN = re.compile(r"_\d$")
"""The collection holds some topics twice, under names that differ in a number at the end."""


@value
class Pair:
    """A situation and what answers it: any of `documents`, under any of `sections`.

    `sections` are heading paths inside the document ("Treatment > Drug"); what stands deeper under
    one counts too. `split` is "dev" for every other pair, which were looked at, else "held".
    """

    id: str
    situation: str
    documents: tuple[str, ...]
    sections: tuple[str, ...]
    split: Literal["dev", "held"]

    def answered_by(self, document: str, section: str) -> bool:
        """Whether a passage of this document under this heading path is what was wanted."""
        if _TWIN.sub("", document) not in self.documents:
            return False
        inside = section.partition(" > ")[2]
        return any(inside == own or inside.startswith(f"{own} > ") for own in self.sections)


def pairs() -> tuple[Pair, ...]:
    """All pairs, in order of id."""
    text = (files("bedside.evals") / "briefing_pairs.jsonl").read_text(encoding="utf-8")
    rows = [json.loads(line) for line in text.splitlines()]
    return tuple(
        Pair(
            id=row["id"],
            situation=row["situation"],
            documents=tuple(row["documents"]),
            sections=tuple(row["sections"]),
            split="dev" if number % 2 == 0 else "held",
        )
        for number, row in enumerate(rows)
    )


def library(data: Path) -> Collection:
    """The guidelines as documents (name, title, text), without queries.

    Raises:
        BadInput: The folder is not there.
    """
    folder = data / FOLDER
    found = sorted(folder.glob("*.md")) if folder.is_dir() else []
    if not found:
        raise BadInput(
            FOLDER, why="there are no guidelines", do="Name the folder of measuring data by --data."
        )
    documents = []
    for path in found:
        text = path.read_text(encoding="utf-8")
        first = sections(text, markdown=True)[0].path
        documents.append((path.stem, first[0] if first else path.stem, text))
    return Collection(name="nigeria", documents=tuple(documents), queries=(), relevant={})


def run(
    data: Path,
    *,
    cache: Path,
    embedder: Embedder | None = None,
    tell: Callable[[str], None] = print,
) -> dict[str, Any]:
    """Measure guideline retrieval for briefing.

    Args:
        data: The folder of measuring data.
        cache: For the model and the vectors.
        embedder: The local model unless given.
        tell: Told how far it is; not standard output's business.

    Returns:
        `pairs` (n), `target`, and under `with_heading_path` and `without_heading_path` for each
        retriever `all`, `dev` and `held`: n, `failure_at_5`, `failure_at_20` (shares in [0, 1]), `mrr_at_20`;
        `failed_at_20` names the pairs that failed, and `ms` is the mean time of a ranking.
    """
    model = embedder or MiniLM(cache=cache)
    asked = pairs()
    collection = library(data)
    result: dict[str, Any] = {
        "model": model.id,
        "documents": len(collection.documents),
        "pairs": len(asked),
        "target": {"failure_at_20": TARGET_AT_20},
    }
    for name, headings in (("with_heading_path", True), ("without_heading_path", False)):
        paths: dict[str, str] = {}
        segment = build(collection, model, cache=cache, tell=tell, headings=headings, paths=paths)
        questions = [borne(read_question(pair.situation), [segment]) for pair in asked]
        vectors = cached_vectors(
            [question.spoken for question in questions],
            model,
            "query",
            cache=cache,
            name=collection.name,
            tell=tell,
        )
        ready = [q.with_vector(v) for q, v in zip(questions, vectors, strict=True)]
        measured = {
            retriever: _measured(asked, ready, segment, paths, retriever, model.threshold)
            for retriever in RETRIEVERS
        }
        result[name] = {"passages": len(segment), **measured}
        tell(f"briefing retrieval, {name}: {json.dumps(measured)}")
    return result


class _Outcome(NamedTuple):
    pair: Pair
    place: int | None
    """Of the first passage that answers, from 1; `None` beyond the deepest cut."""


def _measured(
    asked: Sequence[Pair],
    questions: Sequence[Question],
    segment: Segment,
    paths: dict[str, str],
    retriever: str,
    threshold: float,
) -> dict[str, Any]:
    outcomes: list[_Outcome] = []
    begun = time.perf_counter()
    for pair, question in zip(asked, questions, strict=True):
        ranking = rank(
            [segment],
            question,
            filters=Filters(),
            retriever=retriever,
            threshold=threshold,
            limit=CUTS[-1],
        )
        place = next(
            (
                number
                for number, hit in enumerate(ranking.ranked, 1)
                if pair.answered_by(hit.document.id, paths[hit.id])
            ),
            None,
        )
        outcomes.append(_Outcome(pair, place))
    spent = (time.perf_counter() - begun) / max(len(asked), 1) * 1000
    return {
        "all": _shares(outcomes),
        "dev": _shares([o for o in outcomes if o.pair.split == "dev"]),
        "held": _shares([o for o in outcomes if o.pair.split == "held"]),
        "failed_at_20": [o.pair.id for o in outcomes if o.place is None],
        "ms": round(spent, 2),
    }


def _shares(outcomes: Sequence[_Outcome]) -> dict[str, float]:
    n = len(outcomes)
    shares: dict[str, float] = {"n": n}
    for cut in CUTS:
        failed = sum(1 for o in outcomes if o.place is None or o.place > cut)
        shares[f"failure_at_{cut}"] = round(failed / max(n, 1), 4)
    reciprocal = sum(1.0 / o.place for o in outcomes if o.place is not None)
    shares["mrr_at_20"] = round(reciprocal / max(n, 1), 4)
    return shares
