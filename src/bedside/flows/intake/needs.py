"""What intake asks of a room: the case's uploads, as they are now."""

from __future__ import annotations

from bedside.core.turn import Need
from bedside.core.value import value

__all__ = ["CaseUploads", "Upload"]


@value
class Upload:
    """One upload of a case. `findings` is empty unless it was read; `type` as the contract has it.

    `why` is a code for why it is kept or failed, "" for none.
    """

    id: str
    type: str
    status: str
    label: str
    findings: dict[str, object]
    eta_seconds: int | None = None
    why: str = ""


@value
class CaseUploads(Need[tuple[Upload, ...]]):
    """The uploads of the case that the grant names, oldest first."""
