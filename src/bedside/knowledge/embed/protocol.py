"""What every embedder does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["Embedder", "Floats2d", "Kind", "unit_rows"]

Kind = Literal["query", "passage"]
Floats2d = NDArray[np.float32]


class Embedder(Protocol):
    """Turns text into unit vectors. Passes `bedside.testing.EmbedderContract`."""

    @property
    def id(self) -> str:
        """Changes whenever vectors would change; stored beside every vector."""
        ...

    @property
    def dim(self) -> int:
        """Columns of every vector, at least 1."""
        ...

    @property
    def threshold(self) -> float:
        """Cosine in [-1, 1] under which a passage is taken as unrelated, calibrated per model."""
        ...

    def embed(self, texts: Sequence[str], *, kind: Kind) -> Floats2d:
        """Shape (len(texts), dim), float32, rows of norm 1, order kept.

        Raises:
            Unavailable: The model did not answer.
        """
        ...

    def windows(self, text: str) -> Sequence[str]:
        """The pieces that are embedded apart because the model reads no more at once; one or more."""
        ...


def unit_rows(rows: Floats2d) -> Floats2d:
    """Rows scaled to norm 1; a row of zeros stays zero."""
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.maximum(norms, 1e-12), dtype=np.float32)
