"""Every table. Importing this package registers them all on `metadata`."""

from __future__ import annotations

from bedside.storage.tables import source as _source
from bedside.storage.tables.base import UtcTime, metadata

__all__ = ["UtcTime", "metadata"]

_ = (_source,)
