"""Citable text: one immutable revision, and a span of it."""

from __future__ import annotations

from datetime import date
from typing import Literal

from bedside.core.ids import SourceId
from bedside.core.value import value

__all__ = ["Source", "SourceKind", "Span"]

SourceKind = Literal["record", "document", "guideline", "note", "message"]


@value
class Source:
    """One immutable revision of citable text, without the text.

    A record entry is one canonical line, written at import and never rendered again.
    `section` is a display path such as "Asthma > Management", empty where there is none;
    `dated` is the date of the content (not of the import), `None` when unknown.
    """

    id: SourceId
    revision: int
    kind: SourceKind
    title: str
    section: str = ""
    dated: date | None = None
    superseded: bool = False


@value
class Span:
    """Code points `[start, end)`, half-open, of that revision's stored text."""

    source: Source
    start: int
    end: int
