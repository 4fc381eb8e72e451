"""How fast documents come in, beside the splitters and the runtime that others use."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from bedside.core.errors import MissingExtra
from bedside.knowledge.embed.minilm import MiniLM
from bedside.knowledge.embed.weights import find_archive, load_weights
from bedside.knowledge.parse.plain import parse_markdown
from bedside.language.chunks import chunk

__all__ = ["run"]

_CHARS = 3_000
"""About 800 tokens of English: the size that the other splitters are given."""


def run(data: Path, *, cache: Path, rounds: int = 5, embed_texts: int = 128) -> dict[str, object]:
    """Measure parse + chunk against two splitters, and embedding against raw onnxruntime.

    Each round runs all contestants one after the other, so that other work on the machine falls on
    all alike; the figures are medians. Splitters run on one core and are measured in processor time.

    Args:
        data: The folder of measuring data.
        cache: For the model.
        rounds: At least 1.
        embed_texts: Chunks embedded in each round, at least 8.

    Raises:
        MissingExtra: The other libraries are not installed.
    """
    files = sorted((data / "guidelines").rglob("*.md"))
    blobs = [file.read_bytes() for file in files]
    texts = [blob.decode("utf-8-sig").replace("\r\n", "\n") for blob in blobs]
    megabytes = sum(len(blob) for blob in blobs) / 1e6
    contestants: dict[str, Callable[[], int]] = {
        "bedside": lambda: _ours(blobs, None),
        "bedside_exact_token_counts": lambda: _ours(blobs, _counter()),
        "langchain_markdown_header_and_recursive": _langchain(texts),
        "llama_index_markdown_node_parser": _llama_index(texts),
    }
    spent: dict[str, list[float]] = {name: [] for name in contestants}
    chunks: dict[str, int] = {}
    for _ in range(rounds):
        for name, work in contestants.items():
            begun = time.process_time()
            chunks[name] = work()
            spent[name].append(time.process_time() - begun)
    rates = {name: megabytes / statistics.median(times) for name, times in spent.items()}
    ours = rates["bedside"]
    return {
        "files": len(files),
        "megabytes": round(megabytes, 3),
        "rounds": rounds,
        "megabytes_per_second": {name: round(rate, 2) for name, rate in rates.items()},
        "chunks": chunks,
        "times_faster": {
            name: round(ours / rate, 2)
            for name, rate in rates.items()
            if not name.startswith("bedside")
        },
        "target_times_faster": 5,
        "measured_in": "processor seconds",
        "note": "bedside decodes, reads front matter and sections, and cuts by estimated tokens; "
        "the others get decoded text; none of them counts tokens. The exact-count row counts with "
        "o200k where the estimate is in doubt.",
        "embedding": _embedding(texts, cache=cache, count=embed_texts, rounds=rounds),
    }


def _ours(blobs: list[bytes], count: Callable[[str], int] | None) -> int:
    total = 0
    for blob in blobs:
        parsed = parse_markdown(blob, name="guideline.md")
        total += len(chunk(parsed.text, parsed.sections, profile="guideline", count=count))
    return total


def _counter() -> Callable[[str], int]:
    from rs_bpe import openai

    return openai.o200k_base().count


def _langchain(texts: list[str]) -> Callable[[], int]:
    try:
        from langchain_text_splitters import (  # pyright: ignore[reportMissingImports]
            MarkdownHeaderTextSplitter,
            RecursiveCharacterTextSplitter,
        )
    except ImportError as error:
        raise MissingExtra(
            "The ingest benchmark (langchain-text-splitters)", extra="bench"
        ) from error
    levels = [("#" * level, f"h{level}") for level in range(1, 7)]

    def work() -> int:
        by_header = MarkdownHeaderTextSplitter(levels)
        by_size = RecursiveCharacterTextSplitter(chunk_size=_CHARS, chunk_overlap=0)
        return sum(len(by_size.split_documents(by_header.split_text(text))) for text in texts)

    return work


def _llama_index(texts: list[str]) -> Callable[[], int]:
    try:
        from llama_index.core import Document  # pyright: ignore[reportMissingImports]
        from llama_index.core.node_parser import (  # pyright: ignore[reportMissingImports]
            MarkdownNodeParser,
        )
    except ImportError as error:
        raise MissingExtra("The ingest benchmark (llama-index-core)", extra="bench") from error

    def work() -> int:
        parser = MarkdownNodeParser()
        return sum(len(parser.get_nodes_from_documents([Document(text=text)])) for text in texts)

    return work


def _embedding(texts: list[str], *, cache: Path, count: int, rounds: int) -> dict[str, object]:
    """Our `embed` against the same graph on the same batches of ready token arrays."""
    embedder = MiniLM(cache=cache)
    embedder.warm()
    pieces: list[str] = []
    for text in texts[:: max(len(texts) // 60, 1)]:
        parsed = parse_markdown(text.encode(), name="guideline.md")
        for part in chunk(parsed.text, parsed.sections, profile="guideline"):
            pieces.extend(embedder.windows(part.prefix + parsed.text[part.start : part.end]))
    pieces = pieces[:: max(len(pieces) // count, 1)][:count]
    batches = embedder.batches(pieces)
    session: Any = embedder.session
    ours: list[float] = []
    raw: list[float] = []
    for _ in range(rounds):
        begun = time.perf_counter()
        embedder.embed(pieces, kind="passage")
        ours.append(time.perf_counter() - begun)
        begun = time.perf_counter()
        for _, tokens, mask in batches:
            session.run(None, {"input_ids": tokens, "attention_mask": mask})
        raw.append(time.perf_counter() - begun)
    weights_checked = bool(load_weights(find_archive()).tensors)
    lengths = [int(mask.sum()) for _, _, mask in batches]
    return {
        "texts": len(pieces),
        "mean_tokens": round(sum(lengths) / len(pieces), 1),
        "texts_per_second": round(len(pieces) / statistics.median(ours), 2),
        "raw_onnxruntime_texts_per_second": round(len(pieces) / statistics.median(raw), 2),
        "share_of_raw": round(float(np.median(np.array(raw) / np.array(ours))), 4),
        "target_share_of_raw": 0.9,
        "weights_verified": weights_checked,
    }
