"""An immutable part of a snapshot: postings and vectors as arrays, and a mask of what lives."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from functools import cached_property
from hashlib import blake2b
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bedside.core.errors import Conflict
from bedside.knowledge.embed.protocol import Floats2d
from bedside.knowledge.index.blas import times
from bedside.knowledge.index.entry import Document, Entry
from bedside.knowledge.words import halves

__all__ = ["Segment"]

_ARRAYS = (
    "lengths", "aside", "sorts", "heading", "prints", "stems", "times", "bounds", "chunks", "counts",
    "offsets",
)  # fmt: skip
Ints = NDArray[np.int32]
Floats = NDArray[np.float32]


class Segment:
    """Chunks in the order given. Nothing in it changes: `without` gives another.

    `labels` leads from what names a document to its places; `whole` says that all of it lives.
    `documents` holds each document once; `owner[i]` is the index of chunk i's document, and `heading[i]`
    that of its deepest heading among `headings`, each once;
    `vectors` has one row per window and `window_owner` the chunk of each row. `terms` numbers the stems;
    `stems` and `times` hold those of each chunk with their counts, `prints[i]` a fingerprint of both.
    """

    def __init__(self, entries: Sequence[Entry], *, dim: int) -> None:
        self.ids = [entry.id for entry in entries]
        self.lengths = np.array([entry.length for entry in entries], dtype=np.float32)
        self.aside = np.array([entry.aside for entry in entries], dtype=bool)
        self.sorts = np.array([entry.sort for entry in entries], dtype=np.int16)
        distinct: defaultdict[str, int] = defaultdict(count().__next__)
        self.heading = np.array([distinct[entry.heading] for entry in entries], dtype=np.int32)
        self.headings = [*distinct]
        self.alive = np.ones(len(entries), dtype=bool)
        self.whole = True
        self._name_documents(entries)
        self._post(entries)
        self._stack(entries, dim)

    def _name_documents(self, entries: Sequence[Entry]) -> None:
        self.documents: list[Document] = []
        places: dict[tuple[str, str, int], int] = {}
        owner = np.empty(len(entries), dtype=np.int32)
        for index, entry in enumerate(entries):
            document = entry.document
            key = (document.tenant, document.id, document.revision)
            place = places.get(key)
            if place is None:
                place = places[key] = len(self.documents)
                self.documents.append(document)
            owner[index] = place
        self._label(owner)

    def _label(self, owner: Ints) -> None:
        self.owner: Ints = owner
        self.superseded = np.array([d.superseded for d in self.documents], dtype=bool)
        self.labels: dict[str, list[int]] = {}
        for place, document in enumerate(self.documents):
            for label in document.labels:
                self.labels.setdefault(label, []).append(place)

    def _post(self, entries: Sequence[Entry]) -> None:
        """Stems by chunk as they come, and postings by stem in the order of the chunks."""
        numbered: defaultdict[str, int] = defaultdict(count().__next__)
        number = numbered.__getitem__
        numbers: list[int] = []
        tails: list[bytes] = []
        sizes = np.empty(len(entries), dtype=np.int64)
        prints = bytearray()
        for index, entry in enumerate(entries):
            names, tail = halves(entry.words)
            numbers.extend(map(number, names))
            sizes[index] = len(names)
            if names:
                tails.append(tail)
            prints += blake2b(entry.words, digest_size=8).digest()
        self.terms = dict(numbered)
        self.prints = np.frombuffer(bytes(prints), dtype="<u8")
        self.stems = np.array(numbers, dtype=np.int32)
        self.times = np.fromstring(b",".join(tails).decode("ascii"), dtype=np.uint16, sep=",")
        self.bounds = np.concatenate([[0], np.cumsum(sizes)])
        # sorted by stem and place in one number: far quicker than a stable sort of the stems
        by_stem = np.sort((self.stems.astype(np.int64) << 32) | np.arange(len(self.stems)))
        order = by_stem & 0xFFFFFFFF
        self.chunks: Ints = np.repeat(np.arange(len(entries), dtype=np.int32), sizes)[order]
        self.counts: Floats = self.times[order].astype(np.float32)
        self.offsets = np.searchsorted(by_stem >> 32, np.arange(len(self.terms) + 1))

    def _stack(self, entries: Sequence[Entry], dim: int) -> None:
        self.dim = dim
        self._place(
            {at: entry.vectors for at, entry in enumerate(entries) if entry.vectors is not None}
        )

    def _place(self, blocks: Mapping[int, Floats2d]) -> None:
        """Lay out vectors by chunk number, in rising order."""
        for block in blocks.values():
            if block.shape[1] != self.dim:
                raise Conflict(
                    "the stored vectors",
                    why=f"they have {block.shape[1]} columns, and the embedder gives {self.dim}",
                    do="Choose the embedder that made them.",
                )
        vectors = (
            np.ascontiguousarray(np.concatenate(list(blocks.values())), dtype=np.float32)
            if blocks
            else np.zeros((0, self.dim), dtype=np.float32)
        )
        owner = np.repeat(
            np.fromiter(blocks, dtype=np.int32, count=len(blocks)),
            [len(block) for block in blocks.values()],
        )
        self._lay(vectors, owner)

    def _lay(self, vectors: Floats2d, owner: Ints) -> None:
        self.vectors, self.window_owner = vectors, owner
        self.window_bounds = np.searchsorted(owner, np.arange(len(self.ids) + 1))
        changes = np.flatnonzero(np.diff(owner, prepend=-1))
        self.window_start: NDArray[np.int64] = changes
        self.with_vector: Ints = owner[changes]

    @classmethod
    def restored(
        cls,
        *,
        ids: Sequence[str],
        names: Sequence[str],
        headings: Sequence[str],
        documents: Sequence[Document],
        dim: int,
        arrays: Mapping[str, NDArray[Any]],
    ) -> Segment:
        """The segment whose parts these are, as `arrays` gave them. Nothing is copied."""
        made = cls.__new__(cls)
        made.ids, made.documents, made.dim = list(ids), list(documents), dim
        made.headings = list(headings)
        made._restore(names, arrays)  # noqa: SLF001 - its own
        return made

    def _restore(self, names: Sequence[str], arrays: Mapping[str, NDArray[Any]]) -> None:
        self.terms = {name: number for number, name in enumerate(names)}
        for name in _ARRAYS:
            setattr(self, name, arrays[name])
        self.alive, self.whole = np.ones(len(self.ids), dtype=bool), True
        self._label(arrays["owner"])
        self._lay(arrays["vectors"], arrays["window_owner"])

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The arrays that `restored` takes; the rest is derived from them."""
        return {
            name: getattr(self, name) for name in (*_ARRAYS, "owner", "vectors", "window_owner")
        }

    def __len__(self) -> int:
        return len(self.ids)

    def postings(self, term: str) -> tuple[Ints, Floats]:
        """Chunk numbers (rising) and counts of a stem; dead chunks are still among them."""
        place = self.terms.get(term)
        if place is None:
            return self.chunks[:0], self.counts[:0]
        span = slice(self.offsets[place], self.offsets[place + 1])
        return self.chunks[span], self.counts[span]

    def holds_all(self, terms: Iterable[str]) -> bool:
        """Whether one living chunk holds every one of these stems."""
        found = np.flatnonzero(self.alive)
        for term in terms:
            found = np.intersect1d(found, self.postings(term)[0])
        return len(found) > 0

    def holding(self, term: str) -> int:
        """How many living chunks hold the stem."""
        chunks = self.postings(term)[0]
        return len(chunks) if self.whole else int(self.alive[chunks].sum())

    def stems_of(self, chunk: int) -> tuple[Ints, NDArray[np.uint16]]:
        """The stems of one chunk by their numbers (`names_of`), and how often each stands there."""
        span = slice(self.bounds[chunk], self.bounds[chunk + 1])
        return self.stems[span], self.times[span]

    def names_of(self, numbers: Ints) -> list[str]:
        """Stems by their numbers."""
        return [self.names[number] for number in numbers.tolist()]

    @cached_property
    def standing(self) -> NDArray[np.int64]:
        """Where each chunk's id stands among the sorted ids."""
        found = np.empty(len(self.ids), dtype=np.int64)
        found[sorted(range(len(self.ids)), key=self.ids.__getitem__)] = np.arange(len(self.ids))
        return found

    @cached_property
    def names(self) -> list[str]:
        """Every stem, in the order of the numbers."""
        return [*self.terms]

    def spelt_like(self, stem: str) -> list[str]:
        """Stems of like length, at most one letter longer or shorter, with the same first letter."""
        return [
            name
            for length in (len(stem) - 1, len(stem), len(stem) + 1)
            for name in self._by_look.get((stem[:1], length), ())
        ]

    @cached_property
    def _by_look(self) -> dict[tuple[str, int], list[str]]:
        found: dict[tuple[str, int], list[str]] = {}
        for name in self.terms:
            found.setdefault((name[:1], len(name)), []).append(name)
        return found

    @cached_property
    def frequencies(self) -> NDArray[np.int64]:
        """How many living chunks hold each stem, by number."""
        if self.whole:
            return np.diff(self.offsets)
        alive = np.concatenate([[0], np.cumsum(self.alive[self.chunks])])
        return alive[self.offsets[1:]] - alive[self.offsets[:-1]]

    @cached_property
    def bare(self) -> frozenset[tuple[str, str]]:
        """Documents with living chunks that have no vector, as (tenant, id)."""
        without = self.alive.copy()
        without[self.with_vector] = False
        own = [self.documents[place] for place in np.unique(self.owner[without]).tolist()]
        return frozenset((document.tenant, document.id) for document in own)

    def similarities(self, vector: Floats) -> Floats:
        """Cosine of each chunk's best window; -1 where a chunk has no vector."""
        best = np.full(len(self.ids), -1.0, dtype=np.float32)
        if len(self.vectors):
            rows = times(self.vectors, vector)
            if len(self.window_start) < len(rows):
                rows = np.maximum.reduceat(rows, self.window_start)
            best[self.with_vector] = rows
        return best

    def vectors_of(self, chunk: int) -> Floats2d:
        """The vectors of one chunk, shape (windows, dim); no rows where it has none."""
        left, right = self.window_span(chunk)
        return self.vectors[left:right]

    def window_span(self, chunk: int) -> tuple[int, int]:
        """First and last-but-one row of a chunk's windows; equal where it has none."""
        return int(self.window_bounds[chunk]), int(self.window_bounds[chunk + 1])

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: place for place, name in enumerate(self.ids)}

    def place_of(self, chunk: str) -> int | None:
        """The number of a chunk by its id, `None` where it is not here."""
        return self._places.get(chunk)

    def bearing(self, vectors: Mapping[int, Floats2d]) -> Segment:
        """The same chunks with these vectors alone: chunk number -> rows, shape (windows, dim).

        Raises:
            Conflict: Vectors of another size than the segment's.
        """
        other = copy(self)
        other.__dict__.pop("bare", None)
        other._place({place: vectors[place] for place in sorted(vectors)})  # noqa: SLF001 - its own copy
        return other

    def without(self, tenant: str, source: str) -> Segment:
        """The same segment with every chunk of one document dead; itself where it holds none."""
        places = [
            place
            for place, document in enumerate(self.documents)
            if document.tenant == tenant and document.id == source
        ]
        if not places:
            return self
        other = copy(self)
        other.alive = self.alive & ~np.isin(self.owner, places)
        other.whole = False
        for derived in ("frequencies", "bare"):
            other.__dict__.pop(derived, None)
        return other
