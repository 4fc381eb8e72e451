"""One door to every parser: what a file is, and the parser for it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import PurePath

from bedside.core.errors import BadInput
from bedside.knowledge.parse.parsed import Parsed
from bedside.knowledge.parse.plain import parse_markdown, parse_text

__all__ = ["MOST_BYTES", "RISKY", "media_type_of", "parse"]

MOST_BYTES = 200_000_000
"""Larger files are refused before they are read."""
_DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
_BY_ENDING = {
    ".md": "text/markdown",
    ".markdown": "text/markdown",
    ".txt": "text/plain",
    ".text": "text/plain",
    ".html": "text/html",
    ".htm": "text/html",
    ".xhtml": "text/html",
    ".pdf": "application/pdf",
    ".docx": _DOCX,
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".tif": "image/tiff",
    ".tiff": "image/tiff",
    ".webp": "image/webp",
    ".bmp": "image/bmp",
    ".heic": "image/heic",
    ".heif": "image/heic",
}
_MAGIC = (
    (b"%PDF-", "application/pdf"),
    (b"PK\x03\x04", _DOCX),
    (b"\xd0\xcf\x11\xe0", _DOCX),
    (b"\x89PNG", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"II*\x00", "image/tiff"),
    (b"MM\x00*", "image/tiff"),
)
_HEIF = frozenset([b"heic", b"heix", b"hevc", b"heim", b"heis", b"mif1", b"msf1"])
"""Brands of the photographs that telephones take (ISO/IEC 23008-12)."""
RISKY = frozenset(["application/pdf", _DOCX, "text/html"])
"""Formats whose parsers run apart from this process when that is asked for."""


def media_type_of(data: bytes, *, name: str) -> str:
    """The media type by content where it shows, else by the name's ending.

    Raises:
        BadInput: A format that is not read.
    """
    for start, media_type in _MAGIC:
        if data.startswith(start) or (start == b"%PDF-" and start in data[:1024]):
            return media_type
    if data[4:8] == b"ftyp" and data[8:12] in _HEIF:
        return "image/heic"
    ending = PurePath(name).suffix.lower()
    found = _BY_ENDING.get(ending)
    if found in {"application/pdf", _DOCX} or (found or "").startswith("image/"):
        raise BadInput(name, why=f"it is named {ending} but its content is another format")
    head = data[:512].lstrip().lower()
    if head.startswith((b"<!doctype html", b"<html")):
        return "text/html"
    if found is None and ending:
        raise BadInput(
            name,
            why=f"files ending in {ending} are not read",
            do="Give Markdown, text, HTML, PDF, DOCX, PNG, JPEG, HEIC or TIFF.",
        )
    return found or "text/plain"


def parse(data: bytes, *, name: str, media_type: str | None = None) -> Parsed:
    """Read a file.

    Args:
        data: The whole file, at most 200 MB.
        name: Its name, for the format and for messages.
        media_type: What it is, where the caller knows better than its content shows.

    Raises:
        BadInput: Empty, too large, of a format that is not read, protected, damaged, wrongly encoded
            or without text.
    """
    if len(data) > MOST_BYTES:
        raise BadInput(
            name,
            why=f"it has {len(data)} bytes; at most {MOST_BYTES} are read",
            do="Split the file.",
        )
    if not data.strip():
        raise BadInput(name, why="it is empty")
    kind = media_type or media_type_of(data, name=name)
    if kind == "text/markdown":
        parsed = parse_markdown(data, name=name)
    elif kind == "text/plain":
        parsed = parse_text(data, name=name)
    elif kind == "text/html":
        from bedside.knowledge.parse.html import parse_html

        parsed = parse_html(data, name=name)
    elif kind == "application/pdf":
        from bedside.knowledge.parse.image import Scanner
        from bedside.knowledge.parse.pdf import parse_pdf

        scanner = Scanner()
        parsed = parse_pdf(data, name=name, ocr=scanner.read)
        parsed = replace(parsed, meta={**parsed.meta, **scanner.meta})
    elif kind == _DOCX:
        from bedside.knowledge.parse.docx import parse_docx

        parsed = parse_docx(data, name=name)
    elif kind.startswith("image/"):
        from bedside.knowledge.parse.image import parse_image

        parsed = parse_image(data, name=name)
    else:
        raise BadInput(name, why=f"{kind} is not read")
    if not parsed.text.strip():
        raise BadInput(name, why="it holds no text")
    return parsed
