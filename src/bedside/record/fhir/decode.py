"""JSON as written: decimals keep their digits, and every entry knows where it stands in the file.

A bundle is walked entry by entry, so that one entry at a time is held as objects; NDJSON is read
line by line and is never held whole.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any, NoReturn, Self

from bedside.core.errors import BadInput
from bedside.core.value import value

__all__ = [
    "Entry",
    "Written",
    "bundle_entries",
    "decode_text",
    "encode",
    "ndjson_entries",
    "parse",
]

_BLANK = re.compile(r"[ \t\r\n]*")
_HALF = re.compile(r"\\u[dD][89a-fA-F]")
_DIGITS = 4_000
LINE_LIMIT = 64 * 1024 * 1024


class Written(Decimal):
    """A decimal that remembers its digits: `Written("72.50").text == "72.50"`."""

    __slots__ = ("text",)
    text: str

    def __new__(cls, text: str) -> Self:
        """Make one from JSON's own spelling."""
        self = super().__new__(cls, text)
        self.text = text
        return self


@value
class Entry:
    """One resource of a file. `[start, end)` is its JSON: code points in a bundle, bytes in NDJSON."""

    full_url: str
    resource: dict[str, Any]
    start: int
    end: int


def _refuse(constant: str) -> NoReturn:
    message = f"{constant} is not JSON"
    raise ValueError(message)


def _integer(text: str) -> int | Written:
    if len(text) > _DIGITS:
        message = "a number is too long"
        raise ValueError(message)
    return int(text) if text != "-0" else Written(text)


_DECODER = json.JSONDecoder(parse_float=Written, parse_int=_integer, parse_constant=_refuse)


def decode_text(data: bytes, *, what: str) -> str:
    """UTF-8 (with or without a mark) or UTF-16 with a mark.

    Raises:
        BadInput: other bytes.
    """
    encoding = "utf-16" if data[:2] in {b"\xff\xfe", b"\xfe\xff"} else "utf-8-sig"
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        raise BadInput(
            what, why=f"it is not UTF-8 text (byte {error.start})", do="Save it as UTF-8."
        ) from error


def parse(text: str, *, what: str) -> Any:
    """Read one JSON document.

    Raises:
        BadInput: not JSON; names the position, never the content.
    """
    cursor = _Cursor(text, what=what)
    found = cursor.value()
    cursor.finish()
    return found


def encode(found: object) -> str:
    """JSON text of plain objects; decimals keep their digits.

    Raises:
        BadInput: something that JSON has no form for.
    """
    if isinstance(found, Written):
        return found.text
    if isinstance(found, Decimal) and found.is_finite():
        return str(found)
    if isinstance(found, Mapping):
        members = (f"{json.dumps(str(key))}:{encode(item)}" for key, item in found.items())
        return "{" + ",".join(members) + "}"
    if isinstance(found, list | tuple):
        return "[" + ",".join(encode(item) for item in found) + "]"
    try:
        return json.dumps(found, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise BadInput(
            "the bundle", why=f"it holds a {type(found).__name__} that JSON has no form for"
        ) from error


class _Cursor:
    """A place in a JSON text. `members` and `elements` go on from wherever the caller has read to."""

    def __init__(self, text: str, *, what: str) -> None:
        self.text, self.what, self.at = text, what, 0
        self._skip()

    def _skip(self) -> None:
        found = _BLANK.match(self.text, self.at)
        self.at = found.end() if found else self.at

    def peek(self) -> str:
        """The character here, "" at the end."""
        return self.text[self.at : self.at + 1]

    def take(self, allowed: str) -> str:
        """Step over one of these characters and the white space after it."""
        found = self.peek()
        if not found or found not in allowed:
            raise BadInput(self.what, why=f"it is not JSON (character {self.at})")
        self.at += 1
        self._skip()
        return found

    def value(self) -> Any:
        """Read the value here and step over it; half a character (a surrogate alone) is "?"."""
        begun = self.at
        try:
            found, self.at = _DECODER.raw_decode(self.text, begun)
            if _HALF.search(self.text, begun, self.at):
                found = _DECODER.decode(encode(found).encode(errors="replace").decode())
        except json.JSONDecodeError as error:
            raise BadInput(
                self.what, why=f"it is not JSON (line {error.lineno}, column {error.colno})"
            ) from error
        except (ValueError, InvalidOperation, RecursionError) as error:
            deep = isinstance(error, RecursionError)
            kind = "nested too deeply" if deep else "an unreadable number"
            raise BadInput(
                self.what, why=f"it is not JSON ({kind} after character {self.at})"
            ) from error
        self._skip()
        return found

    def members(self) -> Iterator[str]:
        """The keys of the object here; the caller reads each value before asking for the next."""
        self.take("{")
        mark = "}" if self.peek() == "}" and self.take("}") else ","
        while mark == ",":
            key = self.value()
            if not isinstance(key, str):
                raise BadInput(self.what, why=f"it is not JSON (character {self.at})")
            self.take(":")
            yield key
            mark = self.take(",}")

    def elements(self) -> Iterator[None]:
        """The array here, one yield per element; the caller reads it before asking for the next."""
        self.take("[")
        mark = "]" if self.peek() == "]" and self.take("]") else ","
        while mark == ",":
            yield
            mark = self.take(",]")

    def finish(self) -> None:
        """Nothing but white space may follow."""
        if self.at != len(self.text):
            raise BadInput(
                self.what, why=f"there is more after the JSON document (character {self.at})"
            )


def bundle_entries(text: str, *, what: str) -> Iterator[Entry]:
    """The resources of a bundle, in order; bundles inside it (answers of a batch) are walked too.

    Raises:
        BadInput: broken JSON, no resourceType, not a bundle, or an entry that is not a resource.
            A fault at the end is raised at the end: consume everything before keeping anything.
    """
    cursor = _Cursor(text, what=what)
    if cursor.peek() != "{":
        cursor.value()
        cursor.finish()
        raise BadInput(what, why="it is JSON but not a FHIR resource", do="Give a FHIR R4 bundle.")
    kind: object = None
    for key in cursor.members():
        if key == "entry":
            if cursor.peek() != "[":
                raise BadInput(what, why="its entry is not an array")
            for _ in cursor.elements():
                yield from _entry(cursor)
        elif key == "resourceType":
            kind = cursor.value()
        else:
            cursor.value()
    cursor.finish()
    if not isinstance(kind, str):
        raise BadInput(
            what, why="it has no resourceType, so it is not FHIR", do="Give a FHIR R4 bundle."
        )
    if kind != "Bundle":
        raise BadInput(
            what, why="it is one FHIR resource, not a bundle", do="Put it into a FHIR R4 bundle."
        )


def _entry(cursor: _Cursor) -> Iterator[Entry]:
    """The resource of the bundle entry at the cursor; none where the entry only reports."""
    begun, full_url, resource, start, end = cursor.at, "", None, 0, 0
    if cursor.peek() != "{":
        cursor.value()
        raise BadInput(cursor.what, why=f"a bundle entry is not an object (character {begun})")
    for key in cursor.members():
        at = cursor.at
        found = cursor.value()
        if key == "fullUrl" and isinstance(found, str):
            full_url = found
        elif key == "resource":
            resource, start, end = found, at, cursor.at
    if resource is None:
        return
    if not isinstance(resource, dict) or not isinstance(resource.get("resourceType"), str):
        raise BadInput(cursor.what, why=f"a bundle entry has no resourceType (character {begun})")
    if resource["resourceType"] != "Bundle":
        yield Entry(full_url=full_url, resource=resource, start=start, end=end)
        return
    for inner in bundle_entries(cursor.text[start:end], what=cursor.what):
        yield Entry(
            full_url=inner.full_url,
            resource=inner.resource,
            start=start + inner.start,
            end=start + inner.end,
        )


def ndjson_entries(path: Path, *, what: str) -> Iterator[Entry]:
    """The resources of an NDJSON file, one a line; blank lines are skipped. Spans are bytes.

    Raises:
        BadInput: a line that is not a FHIR resource; names the line.
    """
    at = 0
    with path.open("rb") as file:
        for count, line in enumerate(iter(lambda: file.readline(LINE_LIMIT), b""), start=1):
            end = at + len(line)
            if len(line) == LINE_LIMIT:
                raise BadInput(what, why=f"line {count} is longer than {LINE_LIMIT} bytes")
            if line.strip():
                found = parse(decode_text(line, what=what), what=f"{what}, line {count}")
                if not isinstance(found, dict) or not isinstance(found.get("resourceType"), str):
                    raise BadInput(what, why=f"line {count} is not a FHIR resource")
                yield Entry(full_url="", resource=found, start=at, end=end)
            at = end
