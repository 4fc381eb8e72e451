"""The one decorator for values: frozen, slotted, keyword-only dataclasses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar, dataclass_transform

__all__ = ["value"]

T = TypeVar("T")


@dataclass_transform(frozen_default=True, kw_only_default=True)
def value(cls: type[T]) -> type[T]:
    """Make `cls` an immutable value that is built by keyword only.

    On Python 3.11 a generic value cannot be built through its subscripted name
    (`Got[int](...)` raises TypeError); write `got: Got[int] = Got(...)`.
    """
    return dataclass(frozen=True, slots=True, kw_only=True)(cls)
