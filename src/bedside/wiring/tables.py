"""The rule tables that a deployer brings as files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bedside.clinical.dosing import Dosing, dosing_with, read_dosing
from bedside.clinical.drugs import ingredients_of
from bedside.clinical.interactions import (
    InteractionRule,
    Interactions,
    interactions_with,
    read_table,
)
from bedside.clinical.packs import Pack
from bedside.core.errors import BadInput
from bedside.settings import Settings

__all__ = ["deployers_dosing", "deployers_interactions", "described"]

_MOST_BYTES = 50_000_000


def deployers_interactions(settings: Settings) -> Interactions:
    """The interaction tables in force: the setting's files in their order, then the others.

    Raises:
        BadInput: a file cannot be read, is too large, or is no table of the form of ours.
    """
    files = settings.interactions
    return interactions_with(
        read_table(
            _text(name, "BEDSIDE_INTERACTIONS"), what=f"{Path(name).name} (BEDSIDE_INTERACTIONS)"
        )
        for name in files
    )


def deployers_dosing(settings: Settings) -> Dosing:
    """The renal dosing tables in force: the setting's files in their order, then the others.

    Raises:
        BadInput: as for interactions.
    """
    return dosing_with(
        read_dosing(_text(name, "BEDSIDE_DOSING"), what=f"{Path(name).name} (BEDSIDE_DOSING)")
        for name in settings.dosing
    )


def _text(name: str, variable: str) -> str:
    path = Path(name).expanduser()
    do = f"Mend {variable}, or the file it names."
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise BadInput(name, why=f"it is larger than {_MOST_BYTES} bytes", do=do)
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = f"it cannot be read as text ({type(error).__name__})"
        raise BadInput(name, why=why, do=do) from None


def described(*tables: Interactions | Dosing) -> list[dict[str, Any]]:
    """Every table in force, in the order in which they speak.

    `rows` counts the rules that speak; `reviewer` is `None` where nobody has reviewed the table.
    `unknown` are medicines of its rules that are not known here by that name: a record's entry
    cannot be told to be one, so their rules stay silent.
    """
    return [
        {
            "table": "interactions" if isinstance(some, Interactions) else "dosing",
            "id": pack.id,
            "title": pack.title,
            "version": pack.version,
            "rows": rows,
            "unknown": _unknown(some, pack),
            "review_status": "reviewed" if pack.reviewer else "unreviewed",
            "reviewer": pack.reviewer or None,
            "review_due": pack.review_due.isoformat(),
            "licence": pack.licence,
        }
        for some in tables
        for pack, rows in zip(some.packs, some.rows, strict=True)
    ]


def _unknown(tables: Interactions | Dosing, pack: Pack) -> list[str]:
    mark = f"Table: {pack.title} {pack.version} ("
    named: set[str] = set()
    for rule in tables.rules:
        if mark in rule.reference.text:
            named |= set(
                (*rule.left, *rule.right) if isinstance(rule, InteractionRule) else rule.drugs
            )
    return sorted(one for one in named if not one.startswith("@") and not ingredients_of(one))
