"""The contracts of a tenant: those that ship, and those saved through the admin API (IN-22). Pure."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

from bedside.sop.contract import Contract
from bedside.sop.find import bundled, find_in
from bedside.sop.reading import read_contract

__all__ = ["Book"]


@functools.lru_cache(maxsize=256)
def _read(text: str, name: str) -> Contract:
    return read_contract(text, what=name)


class Book:
    """The live contracts by id. A saved one takes the place of the one that ships."""

    def __init__(self, hot: Mapping[str, Any] | None = None) -> None:
        """Take the hot data; entries were checked when they were saved."""
        saved = (hot or {}).get("sop") or {}
        self._contracts = {
            **bundled(),
            **{name: _read(str(body["yaml"]), name) for name, body in saved.items()},
        }

    def get(self, sop: str) -> Contract:
        """The contract of that id; the generic one where there is none (it was withdrawn)."""
        return self._contracts.get(sop) or self._contracts["_generic"]

    def find(self, text: str) -> Contract:
        """By code, name, synonym or misspelling, else the generic contract."""
        return find_in(text, tuple(self._contracts.values()))

    @property
    def contracts(self) -> tuple[Contract, ...]:
        """All of them by id."""
        return tuple(self._contracts[name] for name in sorted(self._contracts))
