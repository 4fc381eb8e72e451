"""What a parser gives, and how one builds it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from bedside.core.value import value
from bedside.language.sections import Heading, Section, from_headings

__all__ = ["Parsed", "TextBuilder"]


@value
class Parsed:
    """A file as text with structure.

    `text` is what gets stored and cited, LF line ends. `sections` tile it (see
    `bedside.language.sections`). `tables` are spans of whole tables in it. `title` is the file's own,
    empty where it names none. `meta` holds front matter or document properties. `profile` says how
    it is best cut. `warnings` are for the person who ingests, without content.
    """

    text: str
    sections: tuple[Section, ...]
    media_type: str
    tables: tuple[tuple[int, int], ...] = ()
    title: str = ""
    meta: dict[str, object]
    warnings: tuple[str, ...] = ()


class TextBuilder:
    """Writes headings, paragraphs and tables one after the other and remembers where they stand."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._length = 0
        self._headings: list[Heading] = []
        self._tables: list[tuple[int, int]] = []

    def _add(self, text: str) -> tuple[int, int]:
        start = self._length
        self._parts.append(f"{text}\n\n")
        self._length += len(text) + 2
        return start, start + len(text)

    def heading(self, title: str, *, level: int) -> None:
        """A heading; `level` is from 1. A blank title is left out."""
        words = " ".join(title.split())
        if words:
            start, _ = self._add(words)
            self._headings.append(Heading(start, self._length, level, words, "markup"))

    def paragraph(self, text: str) -> None:
        """A paragraph or a list; blank text is left out."""
        if text.strip():
            self._add(text.strip())

    def table(self, rows: Sequence[Sequence[str]]) -> None:
        """A table as Markdown rows, its first row the header; empty rows are left out."""
        kept = [[_cell(cell) for cell in row] for row in rows]
        kept = [row for row in kept if any(row)]
        if not kept:
            return
        width = max(len(row) for row in kept)
        lines = ["| " + " | ".join([*row, *[""] * (width - len(row))]) + " |" for row in kept]
        lines.insert(1, "|" + " --- |" * width)
        self._tables.append(self._add("\n".join(lines)))

    @property
    def length(self) -> int:
        """Characters written so far."""
        return self._length

    def parsed(
        self,
        *,
        media_type: str,
        title: str = "",
        meta: dict[str, object] | None = None,
        warnings: Sequence[str] = (),
    ) -> Parsed:
        """Everything written, with its sections.

        A title that the program gave, not a person ("untitled", a file's name), is none. Without one
        the heading that opens the text and stands over all others is the title.
        """
        text = "".join(self._parts).rstrip("\n") + "\n" if self._parts else ""
        headings = [
            heading._replace(body=min(heading.body, len(text))) for heading in self._headings
        ]
        return Parsed(
            text=text,
            sections=tuple(from_headings(text, headings)),
            media_type=media_type,
            tables=tuple(self._tables),
            title=(title if title and not _BY_PROGRAM.fullmatch(title) else _over_all(headings)),
            meta=meta or {},
            warnings=tuple(warnings),
        )


_BY_PROGRAM = re.compile(
    r"\(?(?:untitled|anonymous|unspecified)(?: document)?\)?[ \d]*|(?:document|dokument|doc) ?\d+"
    r"|microsoft \w+ - .*|\S+\.(?:docx?|odt|rtf|pdf|pptx?|xlsx?|html?|txt|indd|tmp)",
    re.IGNORECASE,
)


def _over_all(headings: Sequence[Heading]) -> str:
    """The first heading, where it opens the text and no other is of its level or above it."""
    if not headings or headings[0].start:
        return ""
    first, *others = headings
    return first.title if all(other.level > first.level for other in others) else ""


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
