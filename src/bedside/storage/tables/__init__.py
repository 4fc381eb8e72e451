"""Every table. Importing this package registers them all on `metadata`."""

from __future__ import annotations

from bedside.storage.tables import access as _access
from bedside.storage.tables import erasure as _erasure
from bedside.storage.tables import jobs as _jobs
from bedside.storage.tables import knowledge as _knowledge
from bedside.storage.tables import memory as _memory
from bedside.storage.tables import record as _record
from bedside.storage.tables import source as _source
from bedside.storage.tables import turn as _turn
from bedside.storage.tables import uploads as _uploads
from bedside.storage.tables.base import UtcTime, metadata

__all__ = ["UtcTime", "metadata"]

_ = (_access, _erasure, _jobs, _knowledge, _memory, _record, _source, _turn, _uploads)
