"""How fast documents come in, beside the splitters and the runtime that others use."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bedside.context.tokens import Counter
from bedside.core.errors import MissingExtra
from bedside.knowledge.cut import cut_again, first_cut, sizes
from bedside.knowledge.embed.minilm import MiniLM
from bedside.knowledge.embed.weights import find_archive, load_weights
from bedside.knowledge.parse import Parsed
from bedside.knowledge.parse.plain import parse_markdown
from bedside.language.chunks import Chunk, chunk

__all__ = ["run"]

_OURS = ("bedside_first_cut", "bedside", "bedside_with_stored_counts")
_BATCH = 32
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
        "langchain_markdown_header_and_recursive": _langchain(texts),
        "llama_index_markdown_node_parser": _llama_index(texts),
    }
    spent: dict[str, list[float]] = {name: [] for name in (*_OURS, *contestants)}
    chunks: dict[str, int] = {}
    again = 0
    for _ in range(rounds):
        seconds, final, again = _ours(blobs)
        for name, own in zip(_OURS, seconds, strict=True):
            spent[name].append(own)
        chunks["bedside"] = final
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
        "chunks_of_the_second_cut": again,
        "times_faster_first_cut": {
            name: round(rates["bedside_first_cut"] / rate, 2)
            for name, rate in rates.items()
            if not name.startswith("bedside")
        },
        "note": "bedside_first_cut: the product's path from bytes (decoding, front matter, sections) "
        "to chunks cut by estimates, which take what is in doubt for small enough. bedside: also "
        "the second cut, by o200k counts, of sections in which a stored count came out over 800 "
        "tokens: the chunks that are stored. bedside_with_stored_counts: also the o200k count of "
        "every chunk, which is stored and which the second cut goes by; nothing is remembered from "
        "round to round. Stems and rows are in none. The others get decoded text and count no "
        "tokens.",
        "embedding": _embedding(texts, cache=cache, count=embed_texts, rounds=rounds),
    }


def _ours(blobs: list[bytes]) -> tuple[list[float], int, int]:
    """Processor seconds of each of `_OURS`; how many chunks, and how many the first cut had not.

    Each step runs over all files by itself, as the others do their one step.
    """
    count, clock = _counter(), time.process_time

    def read(blob: bytes) -> tuple[Parsed, list[Chunk]]:
        parsed = parse_markdown(blob, name="guideline.md")
        return parsed, first_cut(parsed.text, parsed.sections, profile="guideline", count=count)

    begun = clock()
    for blob in blobs:
        read(blob)
    first = clock() - begun
    again = counting = 0.0
    chunks = new = 0
    documents = [read(blob) for blob in blobs]
    begun = clock()
    tokens = [sizes(parsed.text, pieces, count) for parsed, pieces in documents]
    counting = clock() - begun
    begun = clock()
    final = [
        cut_again(parsed.text, parsed.sections, pieces, known, count=count)
        for (parsed, pieces), known in zip(documents, tokens, strict=True)
    ]
    again = clock() - begun
    for (parsed, pieces), settled in zip(documents, final, strict=True):
        chunks += len(settled)
        if settled is not pieces:
            begun = clock()
            sizes(parsed.text, settled, count)
            counting += clock() - begun
            new += len(set(settled).difference(pieces))
    return [first, first + again, first + again + counting], chunks, new


def _counter() -> Counter:
    """The product's counter of tokens, with an empty memory."""
    from rs_bpe import openai

    return Counter("o200k_base", openai.o200k_base().count)


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
    """Our `embed` against the same graph on ready token arrays: one by one, and in padded batches.

    The share is of whichever of the two is faster.
    """
    embedder = MiniLM(cache=cache)
    embedder.warm()
    pieces: list[str] = []
    for text in texts[:: max(len(texts) // 60, 1)]:
        parsed = parse_markdown(text.encode(), name="guideline.md")
        for part in chunk(parsed.text, parsed.sections, profile="guideline"):
            pieces.extend(embedder.windows(part.prefix + parsed.text[part.start : part.end]))
    pieces = pieces[:: max(len(pieces) // count, 1)][:count]
    feeds = embedder.feeds(pieces)
    session: Any = embedder.session

    def run_all(fed: Sequence[Mapping[str, NDArray[np.int64]]]) -> None:
        for feed in fed:
            session.run(None, feed)

    padded = _padded(feeds)
    ways: dict[str, Callable[[], object]] = {
        "ours": lambda: embedder.embed(pieces, kind="passage"),
        "one": lambda: run_all(feeds),
        "batches": lambda: run_all(padded),
    }
    spent: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name, way in ways.items():
            begun = time.perf_counter()
            way()
            spent[name].append(time.perf_counter() - begun)
    ours = np.array(spent["ours"])
    raw = np.minimum(spent["one"], spent["batches"])
    weights_checked = bool(load_weights(find_archive()).tensors)
    lengths = [feed["input_ids"].shape[1] for feed in feeds]
    return {
        "texts": len(pieces),
        "mean_tokens": round(sum(lengths) / len(pieces), 1),
        "texts_per_second": round(len(pieces) / float(np.median(ours)), 2),
        "raw_onnxruntime_texts_per_second": round(len(pieces) / statistics.median(spent["one"]), 2),
        f"raw_onnxruntime_in_padded_batches_of_{_BATCH}_texts_per_second": round(
            len(pieces) / statistics.median(spent["batches"]), 2
        ),
        "share_of_raw": round(float(np.median(raw / ours)), 4),
        "target_share_of_raw": 0.9,
        "weights_verified": weights_checked,
    }


def _padded(feeds: Sequence[Mapping[str, NDArray[np.int64]]]) -> list[dict[str, NDArray[np.int64]]]:
    """The same texts in batches of like length, padded with zeros that the mask leaves out."""
    rows = sorted((feed["input_ids"][0] for feed in feeds), key=len)
    found: list[dict[str, NDArray[np.int64]]] = []
    for at in range(0, len(rows), _BATCH):
        batch = rows[at : at + _BATCH]
        tokens = np.zeros((len(batch), len(batch[-1])), dtype=np.int64)
        mask = np.zeros_like(tokens)
        for place, row in enumerate(batch):
            tokens[place, : len(row)], mask[place, : len(row)] = row, 1
        found.append({"input_ids": tokens, "attention_mask": mask})
    return found
