"""What a message only hints at is asked about: once, straight out, and help is named. Pure.

The rules of danger come first and stop the process; where they hear nothing, a room may listen once
more (`clinical.danger.hints`). A yes to the question stops as the rules do.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from bedside.clinical.danger.hints import Hint, HintNeed
from bedside.core.context import Item
from bedside.core.turn import Gathered, Got, TurnRequest
from bedside.flows.companion.safety import Danger, help_text

__all__ = ["asked", "confirmed", "hint_in", "listens"]

_MOST = 2_000
_RECENT = 6
"""So many of the guide's last messages are looked at, so that the same is not asked again and again."""
_YES = re.compile(
    r"\W*(?:(?:well|um|ok|honestly|i guess|to be honest|truthfully|sadly|i am afraid)\W+)*"
    r"(?:yes|yeah|yea|yep|yup|i am(?! (?:not|fine|ok|okay|safe|alright|all right))\b|i'm(?! (?:not|fine|ok|okay|safe|alright|all right))\b|"
    r"i do(?! not)\b|i have(?! not)\b|i might|maybe|sometimes|sort of|kind of|a bit|a little|i think so|probably|he is|she is|"
    r"they are|he does|she does|it is(?! (?:not|fine|ok))\b|it's(?! (?:not|fine|ok))\b|both)\b(?!\W+(?:but )?(?:i am |i'm )?(?:not|no|fine|safe|ok|okay)\b)",
    re.IGNORECASE,
)


def listens(request: TurnRequest, pinned: Mapping[str, str]) -> tuple[HintNeed, ...]:
    """The need to listen once more; none for a deed, or where the deployer has it off."""
    text = request.text.strip()
    if request.act is not None or pinned.get("hints") != "on" or not text:
        return ()
    return (HintNeed(name="hint", text=text[:_MOST], deadline_ms=500),)


def hint_in(gathered: Gathered) -> Hint | None:
    """What was heard; `None` where nothing was, or nobody could listen."""
    found = (one.value for one in gathered.values() if isinstance(one, Got))
    return next((one for one in found if isinstance(one, Hint)), None)


def asked(
    hint: Hint | None, history: Sequence[Item], safety: Mapping[str, Any], *, country: str
) -> str:
    """The question and where help is; "" where there is no hint, or the same was just asked."""
    if hint is None or hint.kind in _standing(history, safety, _RECENT):
        return ""
    text: str = safety["texts"]["ask"][hint.kind]
    return text.replace("{help}", help_text(safety, country=country))


def confirmed(text: str, history: Sequence[Item], safety: Mapping[str, Any]) -> Danger | None:
    """The danger that the guide has just asked about, where the person says yes to it."""
    kinds = _standing(history, safety, 1)
    if not kinds or not _YES.match(text.replace("’", "'")):
        return None
    return Danger(kind=kinds[0], level="stop")


def _standing(history: Sequence[Item], safety: Mapping[str, Any], last: int) -> list[Any]:
    """The kinds that the guide's last messages asked about."""
    said = [item.body for item in history if item.role == "assistant"][-last:]
    forms = {kind: text.partition("{help}")[0] for kind, text in safety["texts"]["ask"].items()}
    return [kind for kind, form in forms.items() if form and any(form.strip() in o for o in said)]
