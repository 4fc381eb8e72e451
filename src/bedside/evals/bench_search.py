"""How fast a search answers, query embedding and row check included, at 10,000 and 100,000 chunks."""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from sqlalchemy import insert

from bedside.core.access import Grant
from bedside.core.ids import ActorId, TenantId
from bedside.evals.retrieval import cached_vectors
from bedside.knowledge.embed.minilm import MiniLM
from bedside.knowledge.embed.protocol import Embedder, Floats2d, unit_rows
from bedside.knowledge.needs import SearchNeed
from bedside.knowledge.search import Knowledge
from bedside.knowledge.words import count_words, pack
from bedside.language.chunks import chunk as cut
from bedside.language.sections import sections
from bedside.storage.engine import open_engine, sqlite_url
from bedside.storage.store import Store
from bedside.storage.tables import metadata
from bedside.storage.tables.knowledge import chunk_vector, chunk_words, knowledge_change
from bedside.storage.tables.source import chunk, source

__all__ = ["run"]

TENANT = "bench"
_PER_SOURCE = 20
_NOISE = 0.05
Piece = tuple[str, str]


class _Clock:
    def now(self) -> datetime:
        return datetime(2025, 1, 1, tzinfo=UTC)

    def monotonic(self) -> float:
        return time.perf_counter()


def run(
    data: Path,
    *,
    cache: Path,
    sizes: Sequence[int] = (10_000, 100_000),
    queries: int = 200,
    real: int = 10_000,
    seed: int = 7,
    tell: Callable[[str], None] = print,
) -> dict[str, object]:
    """Measure `Knowledge.search_now` on a real database.

    Args:
        data: The folder of measuring data.
        cache: For the model and the vectors.
        sizes: Numbers of chunks.
        queries: Searches timed at each size, after 10 that are not.
        real: Most real vectors; the other stored vectors are seeded perturbations of them.
        seed: Of the perturbations.
        tell: Told how far it is.
    """
    embedder = MiniLM(cache=cache)
    pieces = _pieces(data)[:real]
    vectors = cached_vectors(
        [text for _, text in pieces], embedder, "passage", cache=cache, name="bench", tell=tell
    )
    asked = _questions(data)[:queries]
    result: dict[str, object] = {
        "queries": len(asked),
        "real_vectors": len(pieces),
        "noise": f"above {len(pieces)} chunks the stored vectors are those vectors plus seeded normal "
        f"noise of {_NOISE} a dimension, scaled to norm 1; texts repeat",
        "target_p50_ms": {"10000": 15, "100000": 40},
    }
    for size in sizes:
        with tempfile.TemporaryDirectory(dir=cache) as folder:
            store = Store(open_engine(sqlite_url(Path(folder))))
            _fill(store, pieces, vectors, size=size, embedder=embedder, seed=seed)
            tell(f"{size} chunks written")
            result[str(size)] = _timed(store, embedder, asked)
            store.close()
        tell(f"{size}: {result[str(size)]}")
    return result


def _timed(store: Store, embedder: Embedder, asked: Sequence[str]) -> dict[str, object]:
    with tempfile.TemporaryDirectory() as folder:
        loads = _loads(store, embedder, Path(folder))
    room = Knowledge(store, embedder=embedder, clock=_Clock())
    grant = Grant(tenant=TenantId(TENANT), actor=ActorId("bench"), audit_seq=1)

    def ask(text: str) -> int:
        need = SearchNeed(name="bench", query=text, corpus="knowledge", deadline_ms=120_000)
        return len(room.search_now(grant, need).hits)

    begun = time.perf_counter()
    ask(asked[0])
    load = time.perf_counter() - begun
    for text in asked[:10]:
        ask(text)
    spent: list[float] = []
    found = 0
    for text in asked:
        begun = time.perf_counter()
        found += 1 if ask(text) else 0
        spent.append((time.perf_counter() - begun) * 1000)
    embedding: list[float] = []
    for text in asked[:50]:
        begun = time.perf_counter()
        embedder.embed([text], kind="query")
        embedding.append((time.perf_counter() - begun) * 1000)
    cuts = statistics.quantiles(spent, n=20)
    return {
        "n": len(spent),
        "p50_ms": round(statistics.median(spent), 2),
        "p95_ms": round(cuts[18], 2),
        "min_ms": round(min(spent), 2),
        "query_embedding_p50_ms": round(statistics.median(embedding), 2),
        "first_search_with_loading_s": round(load, 2),
        **loads,
        "answered": found,
    }


def _loads(store: Store, embedder: Embedder, folder: Path) -> dict[str, float]:
    """Seconds to load from the rows, which keeps a file, and then from the file, in rooms of their own."""
    found: dict[str, float] = {}
    for way in ("load_from_rows_s", "load_from_file_s"):
        room = Knowledge(store, embedder=embedder, clock=_Clock(), folder=folder)
        begun = time.perf_counter()
        room.warm(TENANT)
        found[way] = round(time.perf_counter() - begun, 2)
    return found


def _pieces(data: Path) -> list[Piece]:
    """(title, text) of guideline chunks, in order of file."""
    found: list[Piece] = []
    for file in sorted((data / "guidelines").rglob("*.md")):
        text = file.read_text(encoding="utf-8-sig")
        parts = cut(text, sections(text, markdown=True), profile="guideline")
        found.extend((file.stem, part.prefix + text[part.start : part.end]) for part in parts)
    return found


def _questions(data: Path) -> list[str]:
    import json

    path = data / "retrieval/pubmedqa/pubmedqa_dev500.json"
    rows = json.loads(path.read_text(encoding="utf-8"))
    return [row["QUESTION"] for row in rows.values()]


def _fill(
    store: Store,
    pieces: Sequence[Piece],
    vectors: Floats2d,
    *,
    size: int,
    embedder: Embedder,
    seed: int,
) -> None:
    """Rows as ingest writes them, in bulk."""
    random = np.random.default_rng(seed)
    store.write_now(metadata.create_all)
    packed = [count_words(text, head=title) for title, text in pieces]
    blobs = [(pack(counts), length) for counts, length in packed]
    for at in range(0, size, 5_000):
        numbers = range(at, min(at + 5_000, size))
        picked = [number % len(pieces) for number in numbers]
        rows = vectors[picked]
        if at >= len(pieces):
            noise = random.normal(0.0, _NOISE, rows.shape).astype(np.float32)
            rows = unit_rows(rows + noise)
        store.write_now(
            lambda c, numbers=numbers, picked=picked, rows=rows: _write(
                c, numbers, picked, rows, pieces, blobs, embedder.id
            )
        )


def _write(connection, numbers, picked, rows, pieces, blobs, model) -> None:
    at = datetime(2025, 1, 1, tzinfo=UTC)
    groups: dict[int, list[tuple[int, int]]] = {}
    for number, place in zip(numbers, picked, strict=True):
        groups.setdefault(number // _PER_SOURCE, []).append((number, place))
    sources, chunks, words, changes = [], [], [], []
    for group, members in groups.items():
        name, text = f"s{group:06d}", ""
        for ordinal, (number, place) in enumerate(members):
            start = len(text)
            text += pieces[place][1] + "\n\n"
            chunks.append(
                {
                    "tenant": TENANT,
                    "id": f"c{number:07d}",
                    "source": name,
                    "revision": 1,
                    "patient": None,
                    "ordinal": ordinal,
                    "total": len(members),
                    "section": "",
                    "prefix": "",
                    "start": start,
                    "end": len(text) - 2,
                    "tokens": None,
                }
            )
            data, length = blobs[place]
            words.append(
                {"tenant": TENANT, "chunk": f"c{number:07d}", "length": length, "data": data}
            )
        sources.append(
            {
                "tenant": TENANT,
                "id": name,
                "revision": 1,
                "kind": "guideline",
                "patient": None,
                "title": pieces[members[0][1]][0],
                "dated": None,
                "superseded": False,
                "text": text,
                "sha256": name,
                "media_type": "text/markdown",
                "meta": "{}",
                "state": "ready",
                "created_at": at,
            }
        )
        changes.append({"tenant": TENANT, "source": name, "revision": 1, "what": "ready"})
    found = [
        {"tenant": TENANT, "chunk": f"c{n:07d}", "model": model, "window": 0, "data": row.tobytes()}
        for n, row in zip(numbers, rows, strict=True)
    ]
    for table, entries in (
        (source, sources),
        (chunk, chunks),
        (chunk_words, words),
        (chunk_vector, found),
        (knowledge_change, changes),
    ):
        connection.execute(insert(table), entries)
