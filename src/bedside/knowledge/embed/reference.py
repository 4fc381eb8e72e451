"""A plain numpy forward pass of MiniLM: slow, short, and what the fast graph is held to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["forward"]

HEADS = 12
LAYERS = 6
EPSILON = 1e-12

Floats = NDArray[np.float32]


def forward(tensors: Mapping[str, Floats], tokens: Sequence[int]) -> Floats:
    """The unit vector, shape (384,), of one token sequence with its [CLS] and [SEP].

    Mean of the last hidden states, scaled to norm 1 (BERT, Devlin et al. 2019; sentence embeddings,
    Reimers and Gurevych 2019).
    """
    ids = np.asarray(tokens)
    hidden = (
        tensors["embeddings.word_embeddings.weight"][ids]
        + tensors["embeddings.position_embeddings.weight"][: len(ids)]
        + tensors["embeddings.token_type_embeddings.weight"][0]
    )
    hidden = _norm(tensors, "embeddings.LayerNorm", hidden)
    for layer in range(LAYERS):
        base = f"encoder.layer.{layer}"
        mixed = _attend(tensors, base, hidden)
        mixed = _dense(tensors, f"{base}.attention.output.dense", mixed)
        hidden = _norm(tensors, f"{base}.attention.output.LayerNorm", hidden + mixed)
        wide = _gelu(_dense(tensors, f"{base}.intermediate.dense", hidden))
        narrow = _dense(tensors, f"{base}.output.dense", wide)
        hidden = _norm(tensors, f"{base}.output.LayerNorm", hidden + narrow)
    mean = hidden.mean(axis=0)
    return np.asarray(mean / np.linalg.norm(mean), dtype=np.float32)


def _attend(tensors: Mapping[str, Floats], base: str, hidden: Floats) -> Floats:
    length, width = hidden.shape
    size = width // HEADS
    parts = [
        _dense(tensors, f"{base}.attention.self.{name}", hidden)
        .reshape(length, HEADS, size)
        .transpose(1, 0, 2)
        for name in ("query", "key", "value")
    ]
    query, key, worth = parts
    scores = query @ key.transpose(0, 2, 1) / np.sqrt(size)
    scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
    scores /= scores.sum(axis=-1, keepdims=True)
    mixed = (scores @ worth).transpose(1, 0, 2).reshape(length, width)
    return np.asarray(mixed, dtype=np.float32)


def _dense(tensors: Mapping[str, Floats], name: str, rows: Floats) -> Floats:
    result = rows @ tensors[f"{name}.weight"].T + tensors[f"{name}.bias"]
    return np.asarray(result, dtype=np.float32)


def _norm(tensors: Mapping[str, Floats], name: str, rows: Floats) -> Floats:
    centred = rows - rows.mean(axis=-1, keepdims=True)
    scale = np.sqrt((centred**2).mean(axis=-1, keepdims=True) + EPSILON)
    result = centred / scale * tensors[f"{name}.weight"] + tensors[f"{name}.bias"]
    return np.asarray(result, dtype=np.float32)


def _gelu(rows: Floats) -> Floats:
    return np.asarray(rows * 0.5 * (1.0 + _erf(rows / np.sqrt(2.0))), dtype=np.float32)


def _erf(rows: Floats) -> Floats:
    """Abramowitz and Stegun 7.1.26, absolute error under 1.5e-7."""
    sign, size = np.sign(rows), np.abs(rows)
    t = 1.0 / (1.0 + 0.3275911 * size)
    series = (
        (((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t + 0.254829592
    ) * t
    return np.asarray(sign * (1.0 - series * np.exp(-size * size)), dtype=np.float32)
