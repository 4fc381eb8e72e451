"""all-MiniLM-L6-v2 on this machine: no key, no network, verified weights."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bedside.knowledge.embed.graph import GRAPH_VERSION, cached_int8
from bedside.knowledge.embed.protocol import Floats2d, Kind
from bedside.knowledge.embed.weights import SHA256, Weights, find_archive, load_weights

__all__ = ["MiniLM"]

Tokens = NDArray[np.int64]

DIM = 384
LONGEST = 256
"""Tokens that the model was made to read at once, [CLS] and [SEP] included."""
OVERLAP = 48
_BATCH_TOKENS = 4_096
_MOST_CHARS = 20_000
"""No text of so many characters has fewer tokens than are read."""
THRESHOLD = 0.30


class MiniLM:
    """The local embedder. The graph is made once into `cache` and loaded at the first use.

    `threads` is the number of processor threads for one call, at least 1. Calls from several
    threads are safe.
    """

    def __init__(self, *, cache: Path, threads: int = 2, archive: Path | None = None) -> None:
        self._cache, self._threads, self._archive = cache, threads, archive
        self._loading = threading.Lock()
        self._session: Any = None
        self._tokenizer: Any = None

    @property
    def id(self) -> str:
        """The model, the digest of its weights, and the version of the graph."""
        return f"minilm-l6-v2-int8:{SHA256[:12]}:{GRAPH_VERSION}"

    @property
    def dim(self) -> int:
        """384."""
        return DIM

    @property
    def threshold(self) -> float:
        """Calibrated on real questions with and without an answer (see the retrieval evaluation)."""
        return THRESHOLD

    def warm(self) -> None:
        """Load the model now rather than at the first call.

        Raises:
            MissingExtra: The weights are not installed.
            BadInput: Their digest is not the published one.
        """
        if self._session is not None:
            return
        with self._loading:
            if self._session is not None:
                return
            import onnxruntime
            from tokenizers import Tokenizer

            path, words = cached_int8(self._load, self._cache)
            tokenizer = Tokenizer.from_str(words)
            tokenizer.no_truncation()
            tokenizer.no_padding()
            options = onnxruntime.SessionOptions()
            options.intra_op_num_threads = self._threads
            options.inter_op_num_threads = 1
            options.log_severity_level = 3
            options.add_session_config_entry("session.intra_op.allow_spinning", "0")
            self._tokenizer = tokenizer
            self._session = onnxruntime.InferenceSession(
                str(path), options, providers=["CPUExecutionProvider"]
            )

    def _load(self) -> Weights:
        return load_weights(self._archive or find_archive())

    def embed(self, texts: Sequence[str], *, kind: Kind) -> Floats2d:
        """Unit vectors, shape (len(texts), 384); a text is read up to 256 tokens.

        `kind` is for models that tell queries from passages; this one reads both alike.
        """
        del kind
        result = np.zeros((len(texts), DIM), dtype=np.float32)
        for picked, tokens, mask in self.batches(texts):
            (found,) = self.session.run(None, {"input_ids": tokens, "attention_mask": mask})
            result[picked] = found
        return result

    @property
    def session(self) -> Any:
        """The onnxruntime session, loaded if need be; for measuring."""
        self.warm()
        return self._session

    def batches(self, texts: Sequence[str]) -> list[tuple[list[int], Tokens, Tokens]]:
        """What the session is given: indices of the texts, their tokens, and the mask of each batch."""
        self.warm()
        encoded = [
            row.ids for row in self._tokenizer.encode_batch([t[:_MOST_CHARS] for t in texts])
        ]
        ids = [row if len(row) <= LONGEST else [*row[: LONGEST - 1], row[-1]] for row in encoded]
        found: list[tuple[list[int], Tokens, Tokens]] = []
        for picked in _batches([len(row) for row in ids]):
            width = max(len(ids[index]) for index in picked)
            tokens = np.zeros((len(picked), width), dtype=np.int64)
            mask = np.zeros((len(picked), width), dtype=np.int64)
            for place, index in enumerate(picked):
                tokens[place, : len(ids[index])] = ids[index]
                mask[place, : len(ids[index])] = 1
            found.append((picked, tokens, mask))
        return found

    def windows(self, text: str) -> Sequence[str]:
        """Stretches of at most 254 word pieces, each overlapping the one before by 48."""
        self.warm()
        row = self._tokenizer.encode(text, add_special_tokens=False)
        room = LONGEST - 2
        if len(row.ids) <= room:
            return [text]
        found: list[str] = []
        start = 0
        while True:
            end = min(start + room, len(row.ids))
            found.append(text[row.offsets[start][0] : row.offsets[end - 1][1]])
            if end == len(row.ids):
                return found
            start = end - OVERLAP


def _batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Indices in batches of like length: little padding, and one scale fits all activations."""
    order = sorted(range(len(lengths)), key=lambda index: lengths[index])
    held: list[int] = []
    for index in order:
        longest = lengths[index]
        if held and (
            longest * (len(held) + 1) > _BATCH_TOKENS or longest > lengths[held[0]] * 1.25 + 8
        ):
            yield held
            held = []
        held.append(index)
    if held:
        yield held
