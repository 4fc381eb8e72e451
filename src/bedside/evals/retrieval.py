"""How well search finds: MED, Cranfield, MedQuAD and PubMedQA, one configuration for all.

Documents go through the product's own chunker, word counts, windows and ranking, thresholds
included; a document stands where its best chunk stands. Vectors are cached by content and model.
"""

from __future__ import annotations

import hashlib
import json
import math
import random
import re
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np

from bedside.core.value import value
from bedside.knowledge.embed.minilm import MiniLM
from bedside.knowledge.embed.protocol import Embedder, Floats2d, Kind
from bedside.knowledge.index.entry import Document, Entry
from bedside.knowledge.index.rows import is_aside
from bedside.knowledge.index.segment import Segment
from bedside.knowledge.needs import Filters
from bedside.knowledge.question import borne, read_question
from bedside.knowledge.rank import rank
from bedside.knowledge.sought import sort_of
from bedside.knowledge.words import count_words, pack
from bedside.language.chunks import chunk
from bedside.language.sections import sections

__all__ = ["Collection", "build", "cached_vectors", "cran", "med", "medquad", "pubmedqa", "run"]

_FLOOR_REPRODUCED = {
    "how": (
        "a plain BM25 (k1 1.5, b 0.75, stemmed), the plain model over whole documents as the files "
        "give them (title and abstract), plain reciprocal rank fusion, written apart from the product"
    ),
    "med": {"lexical": 0.698, "dense": 0.795, "rrf": 0.796},
    "cran graded": {"lexical": 0.373, "dense": 0.373, "rrf": 0.412},
    "cran binary": {"lexical": 0.387, "dense": 0.393, "rrf": 0.431},
    "hence": "the graded gain comes nearest to the floor on all three and is the headline",
}
RETRIEVERS = ("lexical", "dense", "hybrid")
DEPTH = 100


@value
class Collection:
    """Documents as (id, title, text), queries as (id, text), and graded judgements by query.

    Binary judgements have grade 1, so that both gains agree.
    """

    name: str
    documents: tuple[tuple[str, str, str], ...]
    queries: tuple[tuple[str, str], ...]
    relevant: Mapping[str, Mapping[str, int]]
    twins: frozenset[str] = frozenset()
    """Known-item queries that stand word for word over another document too, with another answer."""


# ---- reading the collections --------------------------------------------------------------------


def _smart(path: Path) -> list[dict[str, str]]:
    """Records of the SMART format: `.I number`, then fields opened by `.X`."""
    found: list[dict[str, str]] = []
    field = ""
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        if line.startswith(".I"):
            found.append({"I": line.split()[1]})
            field = ""
        elif re.fullmatch(r"\.[A-Z]\s*", line):
            field = line[1]
        elif field:
            found[-1][field] = f"{found[-1].get(field, '')}{line}\n"
    return found


def med(data: Path) -> Collection:
    """MEDLINE abstracts; a judgement is a document that answers the query."""
    folder = data / "retrieval/classic/med"
    relevant: dict[str, dict[str, int]] = {}
    for line in (folder / "MED.REL").read_text(encoding="utf-8").splitlines():
        query, document, grade = line.split()
        relevant.setdefault(query, {})[document] = int(grade)
    return Collection(
        name="med",
        documents=tuple((d["I"], "", d.get("W", "")) for d in _smart(folder / "MED.ALL")),
        queries=tuple((q["I"], q["W"]) for q in _smart(folder / "MED.QRY")),
        relevant=relevant,
    )


def cran(data: Path) -> Collection:
    """Cranfield: aerodynamics. Codes 1 (answers it) to 4 (of minimum interest); -1 is no relevance.

    The judgements number the queries by place, not by the numbers that the query file gives.
    """
    folder = data / "retrieval/classic/cran"
    relevant: dict[str, dict[str, int]] = {}
    for line in (folder / "cranqrel").read_text(encoding="utf-8").splitlines():
        query, document, code = line.split()[:3]
        if int(code) > 0:
            relevant.setdefault(query, {})[document] = 5 - int(code)
    documents = []
    for record in _smart(folder / "cran.all.1400"):
        title, body = record.get("T", "").strip(), record.get("W", "").strip()
        body = body.removeprefix(title).strip()  # the abstracts begin with their own title
        documents.append((record["I"], " ".join(title.split()), body or title))
    return Collection(
        name="cran",
        documents=tuple(documents),
        queries=tuple((str(n), q["W"]) for n, q in enumerate(_smart(folder / "cran.qry"), 1)),
        relevant=relevant,
    )


def medquad(data: Path, *, sample: int, seed: int) -> Collection:
    """Known-item search: a question finds its own answer among all; equal answers count alike."""
    path = data / "retrieval/medquad/medquad_qa.jsonl"
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    rows = [row for row in rows if row["answer"].strip()]
    by_answer: dict[str, list[str]] = {}
    for row in rows:
        by_answer.setdefault(row["answer"].strip(), []).append(row["qid"])
    asked = random.Random(seed).sample(
        sorted(rows, key=lambda row: row["qid"]), min(sample, len(rows))
    )
    answers: dict[str, set[str]] = {}
    for row in rows:
        answers.setdefault(_folded(row["question"]), set()).add(row["answer"].strip())
    return Collection(
        name="medquad",
        twins=frozenset(row["qid"] for row in asked if len(answers[_folded(row["question"])]) > 1),
        documents=tuple((row["qid"], row["focus"] or "", row["answer"]) for row in rows),
        queries=tuple((row["qid"], row["question"]) for row in asked),
        relevant={row["qid"]: dict.fromkeys(by_answer[row["answer"].strip()], 1) for row in asked},
    )


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())


def pubmedqa(data: Path) -> Collection:
    """A question finds the abstract that it was made from."""
    path = data / "retrieval/pubmedqa/pubmedqa_dev500.json"
    rows = json.loads(path.read_text(encoding="utf-8"))
    return Collection(
        name="pubmedqa",
        documents=tuple((key, "", "\n\n".join(row["CONTEXTS"])) for key, row in rows.items()),
        queries=tuple((key, row["QUESTION"]) for key, row in rows.items()),
        relevant={key: {key: 1} for key in rows},
    )


# ---- indexing -----------------------------------------------------------------------------------


def build(
    collection: Collection,
    embedder: Embedder,
    *,
    cache: Path,
    tell: Callable[[str], None] = print,
    headings: bool = True,
    paths: dict[str, str] | None = None,
) -> Segment:
    """The collection as one segment, made as ingest makes it.

    `headings` off leaves titles and heading paths out of words and vectors, to measure what they
    bring. `paths` is filled with the heading path of every chunk, by the chunk's id.
    """
    pieces: list[tuple[str, Document, bytes, int, str]] = []
    places: list[str] = []
    for name, title, text in collection.documents:
        body = "\n".join(line.rstrip() for line in text.strip().split("\n"))
        document = Document(
            tenant="eval", id=name, revision=1, kind="guideline", title=title, ready=True
        )
        for number, part in enumerate(
            chunk(body, sections(body, markdown=True), profile="guideline")
        ):
            own = body[part.start : part.end]
            head = part.prefix
            if title and title not in head:
                head = f"{title}. {head}"
            if not headings:  # of the prefix, the header of a table alone stays
                head = part.prefix.removeprefix(f"[{part.section}] ")
            counts, length = count_words(own, head=f"{title} {part.section}" if headings else "")
            pieces.append((f"{name}:{number:04d}", document, pack(counts), length, head + own))
            places.append(part.section if headings else "")
            if paths is not None:
                paths[pieces[-1][0]] = part.section
    windows = [embedder.windows(text) for *_, text in pieces]
    flat = [text for group in windows for text in group]
    rows = cached_vectors(flat, embedder, "passage", cache=cache, name=collection.name, tell=tell)
    entries: list[Entry] = []
    at = 0
    for (name, document, words, length, _), path, group in zip(
        pieces, places, windows, strict=True
    ):
        entries.append(
            Entry(
                id=name,
                document=document,
                words=words,
                length=length,
                sort=int(sort_of(path)),
                heading=path.rpartition(" > ")[2],
                aside=is_aside(path, words, length),
                vectors=rows[at : at + len(group)],
            )
        )
        at += len(group)
    return Segment(entries, dim=embedder.dim)


def cached_vectors(
    texts: Sequence[str],
    embedder: Embedder,
    kind: Kind,
    *,
    cache: Path,
    name: str,
    tell: Callable[[str], None],
) -> Floats2d:
    """Vectors of texts, kept in `cache` under a hash of the texts, the kind and the model."""
    cache.mkdir(parents=True, exist_ok=True)
    parts: list[Floats2d] = []
    for at in range(0, len(texts), 1_024):  # kept in parts, so that a stopped run goes on
        batch = texts[at : at + 1_024]
        digest = hashlib.sha256("\0".join([embedder.id, kind, *batch]).encode()).hexdigest()[:24]
        path = cache / f"{name}-{kind}-{digest}.npy"
        if path.is_file():
            parts.append(np.load(path))
            continue
        rows = embedder.embed(batch, kind=kind)
        np.save(path, rows)
        parts.append(rows)
        tell(f"{name}: {at + len(batch)} of {len(texts)} {kind} windows embedded")
    return np.concatenate(parts)


# ---- measures -----------------------------------------------------------------------------------


def _gain(order: Sequence[str], grades: Mapping[str, int], *, graded: bool) -> float:
    """nDCG@10: gain is the grade, or 1 for any relevant document; discount log2(rank + 1)."""
    worth = (lambda g: g) if graded else (lambda g: 1 if g > 0 else 0)
    found = sum(worth(grades.get(d, 0)) / math.log2(i + 2) for i, d in enumerate(order[:10]))
    best = sorted((worth(g) for g in grades.values()), reverse=True)[:10]
    ideal = sum(g / math.log2(i + 2) for i, g in enumerate(best))
    return found / ideal if ideal else 0.0


def _means(rows: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Means of the measures over some queries, with their number."""
    names = ("ndcg_at_10", "ndcg_at_10_binary", "recall_at_100", "hit_at_1", "mrr_at_10")
    n = len(rows)
    return {"n": n, **{k: round(sum(row[k] for row in rows) / max(n, 1), 4) for k in names}}


def measure(
    collection: Collection,
    segment: Segment,
    embedder: Embedder,
    *,
    cache: Path,
    tell: Callable[[str], None] = print,
) -> dict[str, object]:
    """Figures of the three retrievers over one collection: of all queries, and of each half.

    Queries are halved by place; every choice of the ranking was made on the even half (0, 2, ...),
    so the odd half tells what a choice is worth (docs/decisions/0007).
    """
    asked = [
        (key, borne(read_question(" ".join(text.split())), [segment]))
        for key, text in collection.queries
    ]
    vectors = cached_vectors(
        [question.spoken for _, question in asked],
        embedder,
        "query",
        cache=cache,
        name=collection.name,
        tell=tell,
    )
    result: dict[str, object] = {
        "documents": len(collection.documents),
        "chunks": len(segment),
        "windows": len(segment.vectors),
        "queries": sum(1 for key, _ in asked if key in collection.relevant),
    }
    for retriever in RETRIEVERS:
        rows: list[dict[str, float]] = []
        begun = time.perf_counter()
        for number, ((key, question), vector) in enumerate(zip(asked, vectors, strict=True)):
            grades = collection.relevant.get(key)
            if not grades:
                continue
            ranking = rank(
                [segment],
                question.with_vector(vector),
                filters=Filters(),
                retriever=retriever,
                threshold=embedder.threshold,
                limit=DEPTH * 3,
            )
            order = list(dict.fromkeys(hit.document.id for hit in ranking.ranked))[:DEPTH]
            place = next((i for i, d in enumerate(order[:10]) if grades.get(d, 0) > 0), None)
            rows.append(
                {
                    "half": number % 2,
                    "twin": key in collection.twins,
                    "ndcg_at_10": _gain(order, grades, graded=True),
                    "ndcg_at_10_binary": _gain(order, grades, graded=False),
                    "recall_at_100": sum(1 for d in order if grades.get(d, 0) > 0) / len(grades),
                    "hit_at_1": 1.0 if place == 0 else 0.0,
                    "mrr_at_10": 0.0 if place is None else 1.0 / (place + 1),
                }
            )
        spent = (time.perf_counter() - begun) / max(len(rows), 1) * 1000
        own: dict[str, object] = {**_means(rows), "ms_per_query_without_embedding": round(spent, 2)}
        own["even"] = _means([row for row in rows if row["half"] == 0])
        own["odd"] = _means([row for row in rows if row["half"] == 1])
        if collection.twins:
            own["asked_word_for_word_elsewhere"] = _means([row for row in rows if row["twin"]])
            own["asked_once"] = _means([row for row in rows if not row["twin"]])
        result[retriever] = own
    return result


def run(
    data: Path,
    *,
    cache: Path,
    seed: int = 7,
    sample: int = 1_000,
    suites: Sequence[str] = ("med", "cran", "pubmedqa", "medquad"),
    embedder: Embedder | None = None,
    tell: Callable[[str], None] = print,
) -> dict[str, object]:
    """Measure every collection.

    Args:
        data: The folder of measuring data.
        cache: For the model and the vectors.
        seed: Of the MedQuAD sample.
        sample: Questions asked of MedQuAD.
        suites: Which collections.
        embedder: The local model unless given.
        tell: Told how far it is; not standard output's business.
    """
    model = embedder or MiniLM(cache=cache)
    result: dict[str, object] = {
        "model": model.id,
        "configuration": "one for all collections; chosen on the even-numbered queries",
        "ndcg": "gain is the grade (cran: 5 - code, -1 no relevance; others 1), log2 discount, cut at 10",
        "ndcg_at_10_binary": "gain 1 for every relevant document",
        "floor_reproduced": _FLOOR_REPRODUCED,
        "floor": {
            "med": {"lexical": 0.696, "dense": 0.792, "rrf": 0.794},
            "cran": {"lexical": 0.374, "dense": 0.375, "rrf": 0.416},
        },
        "target": {"med": 0.82, "cran": 0.44},
        "medquad": {"sample": sample, "seed": seed},
    }
    makers: dict[str, Callable[[], Collection]] = {
        "med": lambda: med(data),
        "cran": lambda: cran(data),
        "pubmedqa": lambda: pubmedqa(data),
        "medquad": lambda: medquad(data, sample=sample, seed=seed),
    }
    figures: dict[str, object] = {}
    for name in suites:
        collection = makers[name]()
        segment = build(collection, model, cache=cache, tell=tell)
        figures[name] = measure(collection, segment, model, cache=cache, tell=tell)
        tell(f"{name}: {json.dumps(figures[name])}")
    result["collections"] = figures
    return result
