"""One chunk as an index takes it in."""

from __future__ import annotations

from datetime import date

from bedside.core.value import value
from bedside.knowledge.embed.protocol import Floats2d

__all__ = ["Document", "Entry"]


@value
class Document:
    """One revision of a source as filters and ranking see it. Absent fields are empty or `None`."""

    tenant: str
    id: str
    revision: int
    kind: str
    title: str
    ready: bool
    superseded: bool = False
    dated: date | None = None
    specialty: str = ""
    type: str = ""
    conditions: tuple[str, ...] = ()
    drugs: tuple[str, ...] = ()
    category: str = ""
    facility: str = ""
    file_name: str = ""

    @property
    def labels(self) -> tuple[str, ...]:
        """What a query may name this document by; a file's name only for a patient's document."""
        own = (*self.conditions, *self.drugs, self.category, self.facility, self.specialty)
        if self.kind != "guideline":
            stem = self.file_name.rsplit(".", 1)[0]
            own = (*own, stem.replace("_", " ").replace("-", " "))
            own = (*own, self.dated.isoformat() if self.dated else "")
        return tuple(dict.fromkeys(label for label in own if label))


@value
class Entry:
    """One chunk: its words (`knowledge.words`), its length in words, and its vectors.

    `vectors` has one row per window, shape (windows, dim); `None` while they are not ready. `aside`
    marks a list of references or the like, which names everything and says nothing. `sort` is what its
    heading promises (`knowledge.sought.Sort`), 0 where it promises nothing in particular; `heading` is the
    deepest of its path, empty where it stands under none.
    """

    id: str
    document: Document
    words: bytes
    length: int
    vectors: Floats2d | None = None
    aside: bool = False
    sort: int = 0
    heading: str = ""
