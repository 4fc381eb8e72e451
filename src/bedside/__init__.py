"""Bedside: the context engine for clinical language-model applications.

Names are loaded when first used, so that `import bedside` does no work.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bedside.context import Block, Budget, Item, assemble
    from bedside.core.errors import (
        BedsideError,
        BudgetTooSmall,
        CallerError,
        NotFound,
        OutsideError,
        Refusal,
    )
    from bedside.grounding import SourceText, check, resolve
    from bedside.library import AsyncBedside, Bedside, Turn

__version__ = "0.1.0"

__all__ = [
    "AsyncBedside",
    "Bedside",
    "BedsideError",
    "Block",
    "Budget",
    "BudgetTooSmall",
    "CallerError",
    "Item",
    "NotFound",
    "OutsideError",
    "Refusal",
    "SourceText",
    "Turn",
    "__version__",
    "assemble",
    "check",
    "resolve",
]

_HOMES = {
    "AsyncBedside": "bedside.library",
    "Bedside": "bedside.library",
    "Turn": "bedside.library",
    "Block": "bedside.context",
    "Budget": "bedside.context",
    "Item": "bedside.context",
    "assemble": "bedside.context",
    "BedsideError": "bedside.core.errors",
    "BudgetTooSmall": "bedside.core.errors",
    "CallerError": "bedside.core.errors",
    "NotFound": "bedside.core.errors",
    "OutsideError": "bedside.core.errors",
    "Refusal": "bedside.core.errors",
    "SourceText": "bedside.grounding",
    "check": "bedside.grounding",
    "resolve": "bedside.grounding",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        message = f"module 'bedside' has no attribute {name!r}"
        raise AttributeError(message)
    from importlib import import_module

    try:
        return getattr(import_module(_HOMES[name]), name)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "bedside":
            raise
        from bedside.core.errors import MissingExtra

        raise MissingExtra(f"bedside.{name}", extra="app") from error


def __dir__() -> list[str]:
    return sorted(__all__)
