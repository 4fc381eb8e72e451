"""YAML front matter of a Markdown file as metadata fields."""

from __future__ import annotations

import re
from datetime import date, datetime

from bedside.core.errors import BadInput
from bedside.core.yaml_text import read_yaml
from bedside.language.dates import dates

__all__ = ["read_front_matter"]

_LISTS = ("conditions", "drugs")
_NAMES = {
    "doc_type": "type",
    "document_type": "type",
    "publication_date": "published",
    "date": "published",
}


def read_front_matter(block: str, *, name: str) -> dict[str, object]:
    """Fields of the block between its two marker lines; lists as tuples, dates as ISO text.

    Raises:
        BadInput: The block is not a YAML mapping, or its publication date is no date.
    """
    lines = block.strip().split("\n")[1:-1]
    found: object = _plain(lines)
    if found is None:
        found = read_yaml(
            "\n" + "\n".join(lines), what=name, do="Correct the lines between the ---."
        )
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise BadInput(
            name, why="its front matter is not a mapping", do="Write `key: value` lines."
        )
    fields: dict[str, object] = {}
    for key, entry in found.items():
        field = _NAMES.get(str(key).lower(), str(key).lower())
        if field in _LISTS:
            parts = entry if isinstance(entry, list) else str(entry or "").split(",")
            fields[field] = [str(part).strip() for part in parts if str(part).strip()]
        elif isinstance(entry, datetime | date):
            fields[field] = entry.isoformat()[:10]
        else:
            fields[field] = entry
    if published := str(fields.get("published") or "").strip():
        fields["published"] = _day(published, name).isoformat()
    return fields


def _day(written: str, name: str) -> date:
    """The one day that is written: "2024-05-03", "3 May 2024". A day that two readings fit is none."""
    try:
        return date.fromisoformat(written[:10])
    except ValueError:
        found = dates(written)
        if len(found) != 1 or len(found[0].days) != 1:
            raise BadInput(
                name, why="its publication date is not a date", do="Write it as YYYY-MM-DD."
            ) from None
        return found[0].days[0]


_LINE = re.compile(
    r"([A-Za-z][A-Za-z_-]*): +"
    r"([A-Za-z](?:[A-Za-z0-9 ._/,()&%+=?-]|:(?=[^ ]))*(?<! )|[0-9][0-9 .:-]* [A-Za-z]{2,})"
)
_NO_TEXT = frozenset(("yes", "no", "on", "off", "true", "false", "null"))


def _plain(lines: list[str]) -> dict[str, str] | None:
    """The fields where every line is a name and a text that YAML takes as it stands.

    `None` where any line is more than that, and for no lines: YAML knows. A tenth of its time.
    """
    fields: dict[str, str] = {}
    for line in lines:
        match = _LINE.fullmatch(line)
        if match is None:
            return None
        key, words = match.groups()
        if key.lower() in _NO_TEXT or words.lower() in _NO_TEXT:
            return None
        fields[key] = words
    return fields or None
