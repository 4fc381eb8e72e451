"""YAML front matter of a Markdown file as metadata fields."""

from __future__ import annotations

from datetime import date, datetime

import yaml

from bedside.core.errors import BadInput

__all__ = ["read_front_matter"]

# The safe loader in C, ten times as fast, where PyYAML was built with it.
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
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
        BadInput: The block is not a YAML mapping.
    """
    body = "\n".join(block.strip().split("\n")[1:-1])
    try:
        found = yaml.load(body, Loader=_LOADER)  # noqa: S506 - a safe loader either way
    except yaml.YAMLError as error:
        raise BadInput(
            name, why="its front matter is not valid YAML", do="Correct the lines between the ---."
        ) from error
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
    return fields
