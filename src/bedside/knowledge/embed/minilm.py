"""all-MiniLM-L6-v2 on this machine: no key, no network, verified weights."""

from __future__ import annotations

import threading
from collections.abc import Sequence
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
        for place, feed in enumerate(self.feeds(texts)):
            (found,) = self.session.run(None, feed)
            result[place] = found[0]
        return result

    @property
    def session(self) -> Any:
        """The onnxruntime session, loaded if need be; for measuring."""
        self.warm()
        return self._session

    def feeds(self, texts: Sequence[str]) -> list[dict[str, Tokens]]:
        """What the session is given: one text at a time, as (1, tokens) int64 arrays.

        Activations are quantised by the greatest of all that is given together, so in a batch a
        text's vector would depend on its neighbours and on the padding. Alone it is always the same.
        """
        self.warm()
        found: list[dict[str, Tokens]] = []
        for row in self._tokenizer.encode_batch([t[:_MOST_CHARS] for t in texts]):
            ids = row.ids if len(row.ids) <= LONGEST else [*row.ids[: LONGEST - 1], row.ids[-1]]
            tokens = np.array([ids], dtype=np.int64)
            found.append({"input_ids": tokens, "attention_mask": np.ones_like(tokens)})
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
