"""Files that hold records: bundles, NDJSON exports and simple patient JSON, read entry by entry."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import BinaryIO, Protocol

from bedside.core.errors import BadInput
from bedside.record.fhir.decode import (
    Entry,
    bundle_entries,
    decode_text,
    encode,
    ndjson_entries,
    parse,
)
from bedside.record.simple import bundle_of, is_simple

__all__ = ["BUNDLE_LIMIT", "Bytes", "RecordFile", "found_files", "open_file"]

BUNDLE_LIMIT = 128 * 1024 * 1024
"""Bytes of a file that must be held whole; NDJSON is streamed and has no such limit."""

_LINES = {".ndjson", ".jsonl"}
_KNOWN = {".json", *_LINES}


class RecordFile(Protocol):
    """One file of resources."""

    name: str

    def entries(self) -> Iterator[Entry]:
        """Its resources in order.

        Raises:
            BadInput: the file cannot be read, or is not FHIR. May come after some entries.
        """
        ...

    def raw(self, start: int, end: int) -> str:
        """The JSON of the entry that stands at this span."""
        ...

    def release(self) -> None:
        """Forget what is held in memory; it is read again when asked for."""
        ...


class Bytes:
    """A document in memory or on disk: a bundle, or simple patient JSON turned into one."""

    def __init__(self, name: str, load: Callable[[], bytes]) -> None:
        self.name = name
        self._load = load

    @cached_property
    def _text(self) -> str:
        text = decode_text(self._load(), what=self.name)
        if not is_simple(text):
            return text
        return encode(bundle_of(parse(text, what=self.name), what=self.name))

    def entries(self) -> Iterator[Entry]:
        """The resources of the bundle."""
        return bundle_entries(self._text, what=self.name)

    def raw(self, start: int, end: int) -> str:
        """The JSON of one resource."""
        return self._text[start:end]

    def release(self) -> None:
        """Forget the text."""
        self.__dict__.pop("_text", None)


class Lines:
    """An NDJSON file on disk, never held whole."""

    def __init__(self, name: str, path: Path) -> None:
        self.name = name
        self._path = path
        self._open: BinaryIO | None = None

    def entries(self) -> Iterator[Entry]:
        """One resource a line."""
        return ndjson_entries(self._path, what=self.name)

    def raw(self, start: int, end: int) -> str:
        """The line at this span."""
        if self._open is None:
            self._open = self._path.open("rb")
        self._open.seek(start)
        return decode_text(self._open.read(end - start), what=self.name)

    def release(self) -> None:
        """Close the file."""
        if self._open is not None:
            self._open.close()
            self._open = None


def found_files(paths: Sequence[Path]) -> tuple[list[Path], list[tuple[Path, str]]]:
    """The record files behind files and folders, each once, in order; and what is none, with why."""
    found: dict[Path, None] = {}
    missing: list[tuple[Path, str]] = []
    for path in paths:
        if path.is_dir():
            inside = sorted(
                item
                for item in path.rglob("*")
                if item.suffix.casefold() in _KNOWN and item.is_file()
            )
            if not inside:
                missing.append((path, "the folder holds no .json or .ndjson file"))
            found.update(dict.fromkeys(inside))
        elif path.is_file():
            found[path] = None
        else:
            missing.append((path, "there is no such file"))
    return list(found), missing


def open_file(path: Path) -> RecordFile:
    """A record file by its suffix; one document in `.json`, one resource a line in `.ndjson`.

    Raises:
        BadInput: a document over `BUNDLE_LIMIT`, or a file that may not be read.
    """
    if path.suffix.casefold() in _LINES:
        return Lines(path.name, path)
    try:
        size = path.stat().st_size
    except OSError as error:
        raise BadInput(path.name, why="it cannot be opened") from error
    if size > BUNDLE_LIMIT:
        raise BadInput(
            path.name,
            why=f"it has {size} bytes; a bundle may have {BUNDLE_LIMIT}",
            do="Export NDJSON, which is streamed.",
        )
    return Bytes(path.name, path.read_bytes)
