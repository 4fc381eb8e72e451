"""JSON Schemas in the forms that providers accept. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from bedside.core.errors import InvalidArgument

__all__ = ["as_json_schema", "closed", "in_words", "is_strict"]

# What constrained decoding does not take; the turn's own check still holds the answer to them.
_BOUNDS = frozenset(
    {
        "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf",
        "minLength", "maxLength", "minItems", "maxItems", "uniqueItems", "pattern",
    }
)  # fmt: skip


def as_json_schema(schema: object) -> dict[str, Any]:
    """The JSON Schema of a mapping, or of a class that tells its own (`model_json_schema`).

    Raises:
        InvalidArgument: neither of them.
    """
    if isinstance(schema, Mapping):
        return dict(cast("Mapping[str, Any]", schema))
    tell = getattr(schema, "model_json_schema", None)
    if callable(tell):
        return cast("dict[str, Any]", tell())
    raise InvalidArgument("schema", found=type(schema).__name__, want="a JSON Schema mapping")


def closed(schema: object) -> dict[str, Any]:
    """The schema with every object closed and bounds left out, as constrained decoding wants it."""
    return cast("dict[str, Any]", _close(as_json_schema(schema), inside=False))


def _close(node: object, *, inside: bool) -> object:
    """`inside` is True within `properties` or `$defs`, where keys are names and not keywords."""
    if isinstance(node, list):
        return [_close(each, inside=False) for each in cast("list[object]", node)]
    if not isinstance(node, Mapping):
        return node
    mapping = cast("Mapping[str, object]", node)
    if inside:
        return {name: _close(each, inside=False) for name, each in mapping.items()}
    kept = {
        name: (
            each
            if name in {"enum", "const", "default", "examples"}
            else _close(each, inside=name in {"properties", "$defs", "definitions"})
        )
        for name, each in mapping.items()
        if name not in _BOUNDS
    }
    if "properties" in kept or kept.get("type") == "object":
        kept.setdefault("additionalProperties", False)
    return kept


def is_strict(schema: Mapping[str, Any]) -> bool:
    """True where every object is closed and requires all of its properties (OpenAI's strict mode)."""
    return _strict(schema)


def _strict(node: object) -> bool:
    if isinstance(node, list):
        return all(_strict(each) for each in cast("list[object]", node))
    if not isinstance(node, Mapping):
        return True
    mapping = cast("Mapping[str, Any]", node)
    properties = mapping.get("properties")
    if isinstance(properties, Mapping):
        names = set(cast("Mapping[str, object]", properties))
        if mapping.get("additionalProperties") is not False:
            return False
        if set(mapping.get("required", ())) != names:
            return False
    return all(_strict(each) for each in mapping.values())


def in_words(schema: object) -> str:
    """The order to a model whose provider cannot hold it to a schema."""
    import json

    body = json.dumps(as_json_schema(schema), sort_keys=True, ensure_ascii=False)
    return f"Answer with one JSON value that matches this JSON Schema, and nothing else:\n{body}"
