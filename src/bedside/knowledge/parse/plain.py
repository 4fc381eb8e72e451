"""Markdown and plain text: the text itself is stored, so offsets are those of the file."""

from __future__ import annotations

import codecs

from bedside.core.errors import BadInput
from bedside.knowledge.parse.front import read_front_matter
from bedside.knowledge.parse.parsed import Parsed
from bedside.language.sections import front_matter_end, sections

__all__ = ["decode", "parse_markdown", "parse_text"]

_MOST_CONTROLS = 0.01
_NO_CONTROLS = bytes(code for code in range(256) if code >= ord(" ") or code in b"\n\r\t\f")


def decode(data: bytes, *, name: str) -> str:
    """UTF-8, or UTF-16 or UTF-32 with its mark; byte order marks fall, line ends become LF.

    Nothing is guessed and nothing composed: letters stay as they are written.

    Raises:
        BadInput: Another encoding, or not text at all.
    """
    encoding = "utf-8-sig"
    if data.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):
        encoding = "utf-32"  # asked first: its mark begins as that of UTF-16
    elif data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        encoding = "utf-16"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        raise BadInput(
            name,
            why=f"byte {error.start} is not {encoding.removesuffix('-sig').upper()}",
            do="Save the file as UTF-8.",
        ) from error
    if text.startswith("\ufeff"):
        text = text.lstrip("\ufeff")  # a second mark, from two files joined
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    wide = encoding != "utf-8-sig"
    nul = "\x00" in text if wide else b"\x00" in data  # bytes are searched much faster
    if nul or (not wide and _controls(data) > _MOST_CONTROLS * len(text)):
        if not wide and data.count(0) > len(data) // 4:
            raise BadInput(
                name, why="it is not text, or UTF-16 without its mark", do="Save the file as UTF-8."
            )
        raise BadInput(
            name, why="it is not text", do="Give a text, Markdown, HTML, PDF or DOCX file."
        )
    return text


def _controls(data: bytes) -> int:
    """How many control characters, by removing everything else: one pass."""
    return len(data.translate(None, _NO_CONTROLS))


def parse_markdown(data: bytes, *, name: str) -> Parsed:
    """Markdown with its headings and front matter.

    Raises:
        BadInput: Wrong encoding, or broken front matter.
    """
    text = decode(data, name=name)
    end = front_matter_end(text)
    meta = read_front_matter(text[:end], name=name) if end else {}
    found = tuple(sections(text, markdown=True))
    first = next((s.title for s in found if s.level == 1), "")
    title = str(meta.get("title") or "") or first
    return Parsed(text=text, sections=found, media_type="text/markdown", title=title, meta=meta)


def parse_text(data: bytes, *, name: str) -> Parsed:
    """Plain text with the headings of a clinical note.

    Raises:
        BadInput: Wrong encoding, or not text.
    """
    text = decode(data, name=name)
    return Parsed(
        text=text,
        sections=tuple(sections(text, markdown=False)),
        media_type="text/plain",
        meta={},
    )
