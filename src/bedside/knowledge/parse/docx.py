"""DOCX to text: heading styles, paragraphs, lists and tables in the order of the document."""

from __future__ import annotations

import io
import zipfile

from bedside.core.errors import BadInput
from bedside.knowledge.parse.parsed import Parsed, TextBuilder

__all__ = ["parse_docx"]

_MOST_UNPACKED = 200_000_000
_MOST_PARTS = 5_000
_OLE = b"\xd0\xcf\x11\xe0"


def parse_docx(data: bytes, *, name: str) -> Parsed:
    """Text of a Word document with its heading styles as sections. One with macros is refused.

    Raises:
        BadInput: Password-protected, damaged, too large when unpacked, or without text.
    """
    if data.startswith(_OLE):
        raise BadInput(
            name,
            why="it is password-protected, or an old .doc file",
            do="Save it as .docx without a password.",
        )
    _check_archive(data, name=name)
    import docx
    from docx.opc.exceptions import PackageNotFoundError
    from docx.table import Table
    from docx.text.paragraph import Paragraph
    from lxml import etree  # pyright: ignore[reportAttributeAccessIssue] - a C module

    try:
        document = docx.Document(io.BytesIO(data))
        title = (document.core_properties.title or "").strip()
        blocks = list(document.iter_inner_content())
    except (PackageNotFoundError, KeyError, ValueError, etree.XMLSyntaxError) as error:
        raise BadInput(name, why="it is not a readable Word document") from error
    builder = TextBuilder()
    items: list[str] = []

    def flush() -> None:
        builder.paragraph("\n".join(items))
        items.clear()

    for block in blocks:
        if isinstance(block, Table):
            flush()
            builder.table([[cell.text for cell in row.cells] for row in block.rows])
        elif isinstance(block, Paragraph):
            style = (block.style.name if block.style else "") or ""
            level = _level(style)
            if level:
                flush()
                builder.heading(block.text, level=level)
            elif style.startswith("List"):
                items.append(f"- {' '.join(block.text.split())}" if block.text.strip() else "")
            else:
                flush()
                builder.paragraph(block.text)
    flush()
    result = builder.parsed(
        media_type="application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        title=title,
    )
    if not result.text.strip():
        raise BadInput(name, why="it holds no text")
    return result


def _level(style: str) -> int:
    if style == "Title":
        return 1
    if style.startswith("Heading ") and style[8:].isdigit():
        return min(int(style[8:]), 6)
    return 0


def _check_archive(data: bytes, *, name: str) -> None:
    """Refuse what is not a Word archive, and what would unpack to far more than it is."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as bundle:
            parts = bundle.infolist()
    except zipfile.BadZipFile as error:
        raise BadInput(name, why="it is not a readable Word document") from error
    if not any(part.filename == "word/document.xml" for part in parts):
        raise BadInput(name, why="it is an archive without a Word document in it")
    if any(part.filename.lower().endswith(("vbaproject.bin", "vbadata.xml")) for part in parts):
        raise BadInput(name, why="it carries macros", do="Save it as .docx without them.")
    size = sum(part.file_size for part in parts)
    if size > _MOST_UNPACKED or len(parts) > _MOST_PARTS:
        raise BadInput(
            name,
            why=f"it unpacks to {size} bytes in {len(parts)} parts, more than is read",
            do="Split the document.",
        )
