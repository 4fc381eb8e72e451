"""Text to resolve against, as plain values."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from bedside.core.context import Item
from bedside.core.errors import InvalidArgument
from bedside.core.ids import SourceId
from bedside.core.source import Source, SourceKind, Span

__all__ = ["SourceText"]


@dataclass(frozen=True, slots=True)
class SourceText:
    """One text that may be quoted. Offsets are code points of `text`, half-open.

    `section` is a display path, empty where there is none; `dated` is the date of the content,
    `None` when unknown; `note` is derived text about it (an age, "borderline") whose figures may
    be used and which cannot be quoted.
    """

    id: str
    text: str
    kind: SourceKind = "document"
    title: str = ""
    section: str = ""
    dated: date | None = None
    note: str = ""

    def __post_init__(self) -> None:
        if not self.id:
            raise InvalidArgument("id", found=self.id, want="a non-empty string")

    def item(self, start: int = 0, end: int | None = None) -> Item:
        """The slice `[start, end)` as an item of a context.

        Raises:
            InvalidArgument: the slice is empty or outside the text.
        """
        stop = len(self.text) if end is None else end
        if not 0 <= start < stop <= len(self.text):
            raise InvalidArgument(
                "slice", found=(start, stop), want=f"inside [0, {len(self.text)})"
            )
        source = Source(
            id=SourceId(self.id),
            revision=1,
            kind=self.kind,
            title=self.title or self.id,
            section=self.section,
            dated=self.dated,
        )
        return Item(
            self.text[start:stop],
            key=self.id,
            span=Span(source=source, start=start, end=stop),
            note=self.note,
        )
