"""A loaded segment kept as a file, so that the next process need not make it from the rows again.

The file is a cache: it holds what the rows of shared knowledge hold (ids, metadata, headings, stems
without their order, vectors), nothing of a patient, and counts for nothing once its key differs. Its
arrays are mapped into memory, so that processes share them. A file that is torn, altered, or of another
version is no file.
"""

from __future__ import annotations

import hashlib
import json
import math
import mmap
import os
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bedside.knowledge.index.entry import Document
from bedside.knowledge.index.segment import Segment

__all__ = ["FORMAT", "discard", "keep", "path_of", "restore"]

FORMAT = 2
"""Raised whenever what is kept, or how chunks are read into a segment, changes."""
_MAGIC = b"bedside knowledge\n"
_SEAL = 32
_HEAD = len(_MAGIC) + _SEAL
_ALIGN = 64


def path_of(folder: Path, *, tenant: str, model: str | None) -> Path:
    """Where a tenant's file for a model lies; the name tells neither."""
    return folder / f"{_hidden(tenant)}-{_hidden(model or '')}.segment"


def discard(folder: Path, *, tenant: str) -> None:
    """Remove a tenant's files, of every model, and what was half written or named in an older way.

    Whoever was writing finds that there is no file to put in place, and keeps none.
    """
    for path in (*folder.glob("*.segment"), *folder.glob("*.writing")):
        owner, dash, _ = path.stem.partition("-")
        if path.suffix == ".writing" or not dash or owner == _hidden(tenant):
            with suppress(OSError):
                path.unlink()


def _hidden(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()[:16]


def keep(path: Path, segment: Segment, key: Mapping[str, Any]) -> bool:
    """Write a segment under a key; `False` where the disk or the system does not let it be.

    The file is whole or not there: it is written apart, sealed by SHA-256, and renamed. Only its owner
    can read it.
    """
    arrays = {name: np.ascontiguousarray(array) for name, array in segment.arrays().items()}
    places: dict[str, list[Any]] = {}
    size = 0
    for name, array in arrays.items():
        places[name] = [array.dtype.str, list(array.shape), size]
        size += math.ceil(array.nbytes / _ALIGN) * _ALIGN
    header = json.dumps(
        {
            "key": key,
            "dim": segment.dim,
            "ids": segment.ids,
            "names": segment.names,
            "headings": segment.headings,
            "documents": [
                asdict(one) | {"dated": one.dated.isoformat() if one.dated else None}
                for one in segment.documents
            ],
            "arrays": places,
        }
    ).encode()
    header = len(header).to_bytes(8, "little") + header
    header += b" " * (-(_HEAD + len(header)) % _ALIGN)
    parts: list[Any] = [header]
    for array in arrays.values():  # as they lie in memory: a copy would be as large again
        parts += [array.reshape(-1).view(np.uint8), bytes(-array.nbytes % _ALIGN)]
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part)
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle, name = tempfile.mkstemp(dir=path.parent, suffix=".writing")  # mode 0600
        try:
            with os.fdopen(handle, "wb") as file:
                file.writelines([_MAGIC, digest.digest(), *parts])
                file.flush()
                os.fsync(file.fileno())
            Path(name).replace(path)
        finally:
            Path(name).unlink(missing_ok=True)  # where it was not put in its place
    except OSError:
        return False
    return True


def restore(path: Path, key: Mapping[str, Any]) -> Segment | None:
    """The segment kept under this very key, or `None`; a file with another key, or torn, is removed."""
    try:
        with path.open("rb") as file:
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError):  # absent; empty
        return None
    found = _read(mapped, key)
    if found is None:
        with suppress(OSError):
            path.unlink()
    return found


def _read(mapped: mmap.mmap, key: Mapping[str, Any]) -> Segment | None:
    view = memoryview(mapped)
    if bytes(view[: len(_MAGIC)]) != _MAGIC:
        return None
    if hashlib.sha256(view[_HEAD:]).digest() != bytes(view[len(_MAGIC) : _HEAD]):
        return None
    length = int.from_bytes(view[_HEAD : _HEAD + 8], "little")
    header = json.loads(bytes(view[_HEAD + 8 : _HEAD + 8 + length]))
    if header["key"] != dict(key):
        return None
    start = math.ceil((_HEAD + 8 + length) / _ALIGN) * _ALIGN
    arrays: dict[str, NDArray[Any]] = {}
    for name, (kind, shape, offset) in header["arrays"].items():
        dtype = np.dtype(kind)
        count = math.prod(shape)
        arrays[name] = np.frombuffer(view, dtype=dtype, count=count, offset=start + offset).reshape(
            shape
        )
    return Segment.restored(
        ids=header["ids"],
        names=header["names"],
        headings=header["headings"],
        documents=[_document(one) for one in header["documents"]],
        dim=header["dim"],
        arrays=arrays,
    )


def _document(fields: Mapping[str, Any]) -> Document:
    dated = fields["dated"]
    return Document(
        **{
            **fields,
            "dated": date.fromisoformat(dated) if dated else None,
            "conditions": tuple(fields["conditions"]),
            "drugs": tuple(fields["drugs"]),
        }
    )
