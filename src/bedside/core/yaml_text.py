"""YAML that somebody else wrote: whatever it holds, it is read or refused, and nothing is run."""

from __future__ import annotations

from typing import Any

import yaml

from bedside.core.errors import BadInput

__all__ = ["SAFE", "STRINGS", "read_yaml"]

SAFE: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""Makes numbers, dates and booleans; in C, ten times as fast, where PyYAML was built with it."""
STRINGS: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
"""Makes only strings: "NO" stays nitric oxide, 72.50 stays 72.50."""

_DEEPEST = 64
_MOST = 1_000_000
"""Most parts of a text in which each part stands again wherever it is repeated."""


def read_yaml(text: str, *, what: str, loader: Any = SAFE, do: str = "") -> Any:
    """The text as mappings, lists and scalars; `None` for a text without any.

    Args:
        text: The YAML.
        what: A name for messages, such as the file name.
        loader: `SAFE`, `STRINGS`, or one that extends them.
        do: What the writer can do about a text that cannot be read.

    Raises:
        BadInput: It is not YAML (the message names the line), a part of it holds itself, it is
            nested more than 64 deep (the loader in C calls itself for each level, and would end the
            process), or its repeated parts ("&a", "*a") make a million out of few.
    """
    try:
        inside: list[tuple[str | None, int]] = []
        parts, size = 0, dict[str, int]()
        for event in yaml.parse(text, loader):
            if isinstance(event, yaml.CollectionStartEvent):
                inside.append((event.anchor, parts))
            elif isinstance(event, yaml.CollectionEndEvent):
                anchor, before = inside.pop()
                size[anchor or ""] = parts - before
            if len(inside) > _DEEPEST:
                raise BadInput(what, why="its YAML is nested too deeply", do=do)
            if isinstance(event, yaml.AliasEvent):
                if any(event.anchor == anchor for anchor, _ in inside):
                    raise BadInput(what, why="a part of its YAML holds itself", do=do)
                parts += size.get(event.anchor or "", 0)
                if parts > _MOST:
                    raise BadInput(what, why="its YAML repeats its parts too often", do=do)
            parts += isinstance(event, yaml.NodeEvent)
        return yaml.load(text, loader)  # noqa: S506 - the loaders above make no objects
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f" at line {mark.line + 1}" if mark else ""
        raise BadInput(what, why=f"it is not readable as YAML{where}", do=do) from error
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        # A tag or a form that its text does not fit: "!!timestamp noon", the month 13.
        raise BadInput(
            what, why="a value in its YAML is not what it is said to be", do=do
        ) from error
