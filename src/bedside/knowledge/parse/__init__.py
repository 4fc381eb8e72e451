"""Files to text with sections and exact offsets."""

from __future__ import annotations

from bedside.knowledge.parse.files import MOST_BYTES, media_type_of, parse
from bedside.knowledge.parse.parsed import Parsed

__all__ = ["MOST_BYTES", "Parsed", "media_type_of", "parse"]
