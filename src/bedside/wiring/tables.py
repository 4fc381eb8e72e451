"""The rule tables that a deployer brings as files."""

from __future__ import annotations

from pathlib import Path

from bedside.clinical.interactions import Interactions, interactions_with, read_table
from bedside.core.errors import BadInput
from bedside.settings import Settings

__all__ = ["deployers_interactions"]

_MOST_BYTES = 50_000_000


def deployers_interactions(settings: Settings) -> Interactions:
    """The interaction tables in force: the setting's files in their order, then the others.

    Raises:
        BadInput: a file cannot be read, is too large, or is no table of the form of ours.
    """
    tables = []
    for name in settings.interactions:
        path = Path(name).expanduser()
        try:
            if path.stat().st_size > _MOST_BYTES:
                raise BadInput(name, why=f"it is larger than {_MOST_BYTES} bytes")
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise BadInput(
                name,
                why=f"it cannot be read as text ({type(error).__name__})",
                do="Mend BEDSIDE_INTERACTIONS, or the file it names.",
            ) from None
        tables.append(read_table(text, what=path.name))
    return interactions_with(tables)
