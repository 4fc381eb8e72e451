"""PDF to text through its text layer; pages without one are read by OCR."""

from __future__ import annotations

import re
import statistics
from collections.abc import Callable
from typing import Any, NamedTuple

from bedside.core.errors import BadInput
from bedside.knowledge.parse.parsed import Parsed, TextBuilder

__all__ = ["parse_pdf"]

Ocr = Callable[[Any], str]
"""An image (Pillow) to its text."""
_MOST_PAGES = 2_000
_MOST_SCANNED = 40
_MOST_WORDLESS = 2
"""Pages on which OCR may find nothing while the whole document has shown no text: then it is given up."""
_MOST_CHARACTERS = 20_000_000
_LEAST_TEXT = 12
_HEADING_SIZE = 1.12
_LONGEST_HEADING = 120


class _Line(NamedTuple):
    text: str
    size: float
    bold: bool
    gap: float  # to the line above, in its own heights; large opens a paragraph


def parse_pdf(data: bytes, *, name: str, ocr: Ocr | None = None) -> Parsed:
    """Text of a PDF, headings by their size, lines joined to paragraphs.

    `ocr` reads pages that are only pictures; without it they are named in the warnings.

    Raises:
        BadInput: Password-protected, damaged, too long, or without any text.
    """
    import pypdfium2

    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        if "password" in str(error).lower():
            raise BadInput(
                name, why="it is password-protected", do="Save it without a password."
            ) from error
        raise BadInput(name, why="it is not a readable PDF") from error
    try:
        if len(document) > _MOST_PAGES:
            raise BadInput(
                name,
                why=f"it has {len(document)} pages; at most {_MOST_PAGES} are read",
                do="Split the document.",
            )
        return _read(document, name=name, ocr=ocr)
    finally:
        document.close()


def _read(document: Any, *, name: str, ocr: Ocr | None) -> Parsed:
    pages: list[list[_Line]] = []
    scans = _Scans(ocr)
    total = 0
    for number in range(len(document)):
        page = document[number]
        lines = _lines(page)
        if sum(len(line.text) for line in lines) < _LEAST_TEXT:
            lines = scans.read(page, number, alone=not total) or lines
        page.close()
        total += sum(len(line.text) for line in lines)
        if total > _MOST_CHARACTERS:
            raise BadInput(name, why="it holds more text than is read", do="Split the document.")
        pages.append(lines)
    if not any(line.text.strip() for lines in pages for line in lines):
        raise BadInput(name, why=scans.why(), do="Give a file with text, or a clearer scan.")
    warnings = _warnings(scans.pages, read=ocr is not None)
    builder = TextBuilder()
    _write(builder, pages)
    title = (document.get_metadata_dict(skip_empty=True).get("Title") or "").strip()
    return builder.parsed(media_type="application/pdf", title=title, warnings=warnings)


class _Scans:
    """The pages without text, read by OCR where they are not blank.

    `pages` are those that are more than blank, in order from 0; on `wordless` of them OCR found
    nothing, and `unread` were left alone.
    """

    def __init__(self, ocr: Ocr | None) -> None:
        self.ocr = ocr
        self.pages: list[int] = []
        self.blank = self.wordless = self.unread = 0

    def read(self, page: Any, number: int, *, alone: bool) -> list[_Line]:
        """Lines of the page; none where it is blank, or past what is read.

        `alone` says that the document has shown no text yet: then OCR gives up soon.
        """
        given_up = alone and self.wordless >= _MOST_WORDLESS
        if self.ocr is None or given_up or len(self.pages) + self.blank >= _MOST_SCANNED:
            self.pages.append(number)
            self.unread += 1
            return []
        from bedside.knowledge.parse.image import has_ink

        if not has_ink(page.render(scale=min(1.0, _scale(page))).to_pil()):
            self.blank += 1
            return []
        self.pages.append(number)
        text = self.ocr(page.render(scale=_scale(page)).to_pil())
        self.wordless += not text.strip()
        return [_Line(words, 0.0, False, 0.0) for words in text.split("\n")]

    def why(self) -> str:
        """Why there is no text: what was tried, in pages."""
        if self.ocr is None:
            return "it has no text layer"
        tried = [
            f"{pages} {what}"
            for pages, what in (
                (self.blank, "blank"),
                (self.wordless, "read by OCR without finding any"),
                (self.unread, "not looked at"),
            )
            if pages
        ]
        return f"it has no text layer, and its pages gave no text: {', '.join(tried)}"


def _warnings(scanned: list[int], *, read: bool) -> list[str]:
    if not scanned:
        return []
    pages = ", ".join(str(number + 1) for number in scanned[:10])
    more = f" and {len(scanned) - 10} more" if len(scanned) > 10 else ""  # noqa: PLR2004 - for people
    if not read:
        return [f"pages without text were skipped: {pages}{more}"]
    found = [f"pages read by OCR, check them against the original: {pages}{more}"]
    if len(scanned) > _MOST_SCANNED:
        found.append(f"only the first {_MOST_SCANNED} scanned pages were read")
    return found


def _scale(page: Any) -> float:
    """Pixels per point: about 200 dots an inch, at most 4,000 pixels a side."""
    return min(200 / 72, 4_000 / max(page.get_width(), page.get_height(), 1.0))


def _lines(page: Any) -> list[_Line]:
    """Lines from the text layer with their height, in the order of the page."""
    layer = page.get_textpage()
    text = layer.get_text_bounded() if layer.count_chars() else ""
    heights = _heights(page, layer)
    layer.close()
    found: list[_Line] = []
    for raw in text.replace("\r\n", "\n").replace("\r", "\n").split("\n"):
        words = raw.replace("￾", "-").replace("\x02", "-").replace("\x00", "").strip()
        size, bold, gap = heights.get(_key(words), (0.0, False, 0.0))
        found.append(_Line(words, size, bold, gap))
    return found


def _letter(layer: Any, left: float, middle: float) -> float | None:
    """The height that the font gives the letter at this place; `None` where none is found."""
    index = layer.get_index(left, middle, 2.0, 2.0)
    if index is None:
        return None
    _, bottom, _, top = layer.get_charbox(index, loose=True)
    return float(top - bottom) or None


def _key(words: str) -> str:
    return re.sub(r"\s+", "", words)[:60]


def _heights(page: Any, layer: Any) -> dict[str, tuple[float, bool, float]]:
    """Height of each line by its first characters, from the boxes of the text layer.

    A box of letters is as high as its ink ("cooling" is higher than "heat"), so a line is measured by
    the room that its font gives a letter.
    """
    found: dict[str, tuple[float, bool, float]] = {}
    rows: dict[int, list[tuple[float, float, float, str]]] = {}
    for index in range(layer.count_rects()):
        left, bottom, right, top = layer.get_rect(index)
        words = layer.get_text_bounded(left, bottom, right, top).strip()
        if words:
            size = _letter(layer, left, (bottom + top) / 2) or top - bottom
            rows.setdefault(round(bottom), []).append((left, size, bottom, words))
    above: float | None = None
    for place in sorted(rows, reverse=True):
        row = sorted(rows[place])
        height = max(size for _, size, _, _ in row)
        bottom = row[0][2]
        gap = 0.0 if above is None else (above - bottom) / max(height, 1.0)
        above = bottom
        found.setdefault(_key("".join(words for *_, words in row)), (height, False, gap))
    del page
    return found


def _write(builder: TextBuilder, pages: list[list[_Line]]) -> None:
    sizes = [
        line.size for lines in pages for line in lines if line.size for _ in range(len(line.text))
    ]
    body = statistics.median(sizes) if sizes else 0.0
    steps = sorted(
        {round(s / body, 1) for s in sizes if body and s > body * _HEADING_SIZE}, reverse=True
    )
    for lines in pages:
        held: list[str] = []
        for line in lines:
            level = _level(line, body, steps)
            if not line.text or level or _opens(line, held):
                _close(builder, held)
            if level:
                builder.heading(line.text, level=level)
            elif line.text:
                held.append(line.text)
        _close(builder, held)


_NUMBERED = re.compile(r"\d+(?:\.\d+)*\.?\s+[A-Z][^.;:]{2,80}")
_ITEM = re.compile(r"(?:[-•◦▪●–*]|\(?\d{1,2}[.)])\s+\S")


def _level(line: _Line, body: float, steps: list[float]) -> int:
    """A heading is a short line of larger letters, or of capitals."""
    words = line.text
    if not words or len(words) > _LONGEST_HEADING or not any(c.isalpha() for c in words):
        return 0
    if body and line.size > body * _HEADING_SIZE and not words.endswith((".", ",", ";")):
        return min(1 + steps.index(round(line.size / body, 1)), 6)
    letters = [c for c in words if c.isalpha()]
    if len(letters) > 3 and all(c.isupper() for c in letters) and len(words.split()) <= 10:  # noqa: PLR2004 - as for notes
        return min(len(steps) + 1, 6)
    return 0


def _opens(line: _Line, held: list[str]) -> bool:
    """Does this line begin a paragraph of its own?"""
    if not held:
        return False
    if _ITEM.match(line.text) or line.gap > 1.55:  # noqa: PLR2004 - more than a line and a half apart
        return True
    return held[-1].endswith((".", ":", "!", "?")) and len(held[-1]) < 60  # noqa: PLR2004 - a short last line


def _close(builder: TextBuilder, held: list[str]) -> None:
    """Lines of one paragraph, words that were hyphenated at a line's end made whole."""
    text = ""
    for line in held:
        if text.endswith("-") and line[:1].islower() and text[-2:-1].isalpha():
            text = text[:-1] + line
        else:
            text = f"{text} {line}" if text else line
    builder.paragraph(text)
    held.clear()
