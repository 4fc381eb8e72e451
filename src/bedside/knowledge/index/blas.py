"""Matrix times vector on the cores at hand, without the threads of the BLAS library itself.

OpenBLAS threads spin while they wait; beside other work on few cores that costs many times what it
gains. So the library is held to one thread, and large matrices are cut in slices for a small pool.
"""

from __future__ import annotations

import ctypes
import functools
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

__all__ = ["times"]

_SLICED_FROM = 20_000
"""Rows from which slices pay for their threads."""
_SLICES = 2
_SETTERS = (
    "scipy_openblas_set_num_threads64_",
    "scipy_openblas_set_num_threads",
    "openblas_set_num_threads64_",
    "openblas_set_num_threads",
)


def times(matrix: NDArray[np.float32], vector: NDArray[np.float32]) -> NDArray[np.float32]:
    """`matrix @ vector`, shape (rows,)."""
    _hold_to_one_thread()
    rows = len(matrix)
    if rows < _SLICED_FROM:
        return matrix @ vector
    result = np.empty(rows, dtype=np.float32)
    bounds = np.linspace(0, rows, _SLICES + 1, dtype=int)

    def fill(part: int) -> None:
        left, right = bounds[part], bounds[part + 1]
        np.dot(matrix[left:right], vector, out=result[left:right])

    list(_pool().map(fill, range(_SLICES)))
    return result


@functools.cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max_workers=_SLICES, thread_name_prefix="knowledge")


@functools.cache
def _hold_to_one_thread() -> None:
    """Once a process, and only where numpy brings OpenBLAS with it; elsewhere nothing changes."""
    for library in (Path(np.__file__).parent.parent / "numpy.libs").glob("*openblas*"):
        handle = ctypes.CDLL(str(library))
        for name in _SETTERS:
            setter = getattr(handle, name, None)
            if setter is not None:
                setter(1)
                return
