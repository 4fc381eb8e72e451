"""What every index of vectors does, wherever it keeps them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from bedside.core.errors import Conflict, InvalidArgument
from bedside.core.value import value
from bedside.knowledge.embed.protocol import Floats2d
from bedside.knowledge.index.entry import Entry
from bedside.knowledge.needs import Filters

__all__ = ["Held", "Neighbour", "Scope", "VectorIndex", "other_size", "rows_of", "unit_query"]

Floats = NDArray[np.float32]


@value
class Scope:
    """Whose vectors: one tenant's shared knowledge, or one patient's own documents.

    `patient` is `None` for shared knowledge. The two never mix: a search in one scope sees nothing
    of another.

    Raises:
        InvalidArgument: The tenant is empty, or the patient is an empty name: an empty scope would
            be everybody's.
    """

    tenant: str
    patient: str | None = None

    def __post_init__(self) -> None:
        if not self.tenant.strip():
            raise InvalidArgument("tenant", found=self.tenant, want="a name: no scope is empty")
        if self.patient is not None and not self.patient.strip():
            raise InvalidArgument(
                "patient", found=self.patient, want="a name, or None for shared knowledge"
            )


@value
class Neighbour:
    """A chunk near the query: `similarity` is the cosine of its best window, to five decimals."""

    chunk: str
    document: str
    similarity: float


@value
class Held:
    """What an index holds of one document: the revision, and the number of windows."""

    revision: int
    windows: int


class VectorIndex(Protocol):
    """Nearest neighbours by cosine, under a scope and filters. Passes `VectorIndexContract`.

    Rows of the database are the truth and the index follows them (`knowledge.index.follow`); every
    hit is read from its row before it is shown. Calls block and are safe between threads. Every
    method but `close` raises `Unavailable` where the store does not answer.
    """

    @property
    def name(self) -> str:
        """The setting's word: "memory", "pgvector" or "qdrant"."""
        ...

    @property
    def dim(self) -> int:
        """Columns of every vector."""
        ...

    def open(self) -> None:
        """Make what lacks. Safe to repeat, and between processes.

        Raises:
            Conflict: The store holds vectors of this model in another size.
        """
        ...

    def put(self, scope: Scope, document: str, entries: Sequence[Entry]) -> None:
        """Hold exactly these vectors of a document, in place of any older ones.

        Safe to repeat. Entries without vectors are passed over; without any, the document leaves.

        Raises:
            InvalidArgument: A vector has another size than `dim`.
        """
        ...

    def remove(self, scope: Scope, document: str) -> None:
        """Drop a document's vectors; one that is not held is no error."""
        ...

    def remove_patient(self, tenant: str, patient: str) -> int:
        """Drop every vector of a patient's documents, of every model; how many windows went.

        Raises:
            InvalidArgument: An empty tenant or patient.
        """
        ...

    def nearest(
        self, scope: Scope, vector: Floats, *, filters: Filters, limit: int
    ) -> tuple[Neighbour, ...]:
        """The chunks nearest to a vector, best first, ties by chunk id; filters apply first.

        At most `limit` chunks, each once. Fewer where the scope holds fewer.

        Raises:
            InvalidArgument: The vector has another size than `dim`, or `limit` is below 1.
        """
        ...

    def count(self, scope: Scope) -> int:
        """How many windows the scope holds."""
        ...

    def documents(self, scope: Scope) -> Mapping[str, Held]:
        """What is held of each document of the scope. Reads all of it: for repairs."""
        ...

    def settle(self) -> None:
        """After much was written: build what makes searches fast."""
        ...

    def close(self) -> None:
        """Let go of connections."""
        ...


def rows_of(entries: Sequence[Entry], dim: int) -> list[tuple[Entry, int, Floats]]:
    """Every window of the entries: its entry, its number from 0, its vector.

    Raises:
        InvalidArgument: A vector has another size.
    """
    found: list[tuple[Entry, int, Floats]] = []
    for entry in entries:
        if entry.vectors is None:
            continue
        if entry.vectors.ndim != 2 or entry.vectors.shape[1] != dim:  # noqa: PLR2004 - rows, columns
            raise InvalidArgument(
                "vectors", found=entry.vectors.shape, want=f"of shape (windows, {dim})"
            )
        found.extend((entry, window, row) for window, row in enumerate(entry.vectors))
    return found


def unit_query(vector: Floats | Floats2d, dim: int) -> Floats:
    """The query's vector, of norm 1.

    Raises:
        InvalidArgument: It has another size, or is zero.
    """
    flat = np.asarray(vector, dtype=np.float32)
    if flat.shape != (dim,):
        raise InvalidArgument("query vector", found=flat.shape, want=f"of shape ({dim},)")
    norm = float(np.linalg.norm(flat))
    if norm <= 0.0:
        raise InvalidArgument("query vector", found="all zeros", want="a direction")
    return np.asarray(flat / norm, dtype=np.float32)


def other_size(index: str, *, found: int, want: int) -> Conflict:
    """The error of a store that holds this model's vectors in another size (EN-K4)."""
    return Conflict(
        f"the vector index ({index})",
        why=f"it holds vectors of {found} columns, and the embedder gives {want}",
        do="Choose the embedder that wrote it, or give the index an empty store.",
    )
