"""A deterministic embedder without a model, and the suite that every embedder passes."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np

from bedside.knowledge.embed.protocol import Embedder, Floats2d, Kind, unit_rows
from bedside.language.stems import stems

__all__ = ["EmbedderContract", "HashedEmbedder"]


class HashedEmbedder:
    """Bags of hashed stems: texts that share words are near, others are not.

    `dim` is at least 8. `longest` is the number of words read at once; longer texts have windows.
    """

    def __init__(self, *, dim: int = 64, longest: int = 200) -> None:
        self._dim, self._longest = dim, longest
        self.calls = 0
        """How often `embed` was called."""

    @property
    def id(self) -> str:
        """Names the size, since vectors of two sizes cannot be compared."""
        return f"hashed:{self._dim}"

    @property
    def dim(self) -> int:
        """As given."""
        return self._dim

    @property
    def threshold(self) -> float:
        """Texts without a common word stay under it."""
        return 0.3

    def embed(self, texts: Sequence[str], *, kind: Kind) -> Floats2d:
        """One signed bucket for each stem; an empty text points along the first axis."""
        del kind
        self.calls += 1
        rows = np.zeros((len(texts), self._dim), dtype=np.float32)
        for index, text in enumerate(texts):
            for stem in stems(text)[: self._longest] or [""]:
                digest = hashlib.sha256(stem.encode()).digest()
                place = int.from_bytes(digest[:4], "big") % self._dim if stem else 0
                rows[index, place] += 1.0 if digest[4] % 2 or not stem else -1.0
            if not rows[index].any():
                rows[index, 0] = 1.0
        return unit_rows(rows)

    def windows(self, text: str) -> Sequence[str]:
        """Stretches of at most `longest` blank-separated words."""
        found = text.split()
        step = self._longest
        return [" ".join(found[at : at + step]) for at in range(0, len(found), step)] or [text]


class EmbedderContract:
    """What any embedder must keep. Subclass it in a test module and override `make`."""

    texts = (
        "Metformin is started at 500 mg.",
        "",
        "Été 漢字 🙂",
        "word " * 900,
        "Asthma in children.",
    )

    def make(self) -> Embedder:
        """A new embedder."""
        raise NotImplementedError

    def test_rows_have_the_shape_type_and_norm_that_the_protocol_promises(self) -> None:
        """Shape (n, dim), float32, norm 1."""
        embedder = self.make()
        rows = embedder.embed(self.texts, kind="passage")
        assert rows.shape == (len(self.texts), embedder.dim)
        assert rows.dtype == np.float32
        assert np.allclose(np.linalg.norm(rows, axis=1), 1.0, atol=1e-3)

    def test_order_and_company_do_not_change_a_vector(self) -> None:
        """A text has one vector, alone or in a batch (up to what quantising does)."""
        embedder = self.make()
        together = embedder.embed(self.texts, kind="passage")
        backwards = embedder.embed(self.texts[::-1], kind="passage")[::-1]
        alone = np.concatenate([embedder.embed([text], kind="passage") for text in self.texts])
        assert float((together * backwards).sum(axis=1).min()) > 0.97  # noqa: PLR2004
        assert float((together * alone).sum(axis=1).min()) > 0.95  # noqa: PLR2004

    def test_no_texts_give_no_rows(self) -> None:
        """An empty batch is no error."""
        embedder = self.make()
        assert embedder.embed([], kind="query").shape == (0, embedder.dim)

    def test_windows_hold_the_whole_text(self) -> None:
        """Every word stands in some window."""
        embedder = self.make()
        for text in self.texts:
            pieces = embedder.windows(text)
            assert pieces
            assert set(text.split()) <= set(" ".join(pieces).split())

    def test_the_id_is_stable(self) -> None:
        """Two embedders of one make share it, and it is not empty."""
        assert self.make().id == self.make().id != ""
