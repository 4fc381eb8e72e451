"""`bedside memory`: what the copilot remembers of your work, and the consent to it."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

from bedside.wiring import Engine, Who, memories

__all__ = ["memory"]

DONE = 0


async def memory(engine: Engine, options: argparse.Namespace, who: Who) -> int:
    """Do it and print what is then remembered."""
    engine.needs_role(who, "clinician")
    if options.does == "consent":
        found = await memories.give_consent(engine, who)
    elif options.does == "withdraw":
        found = await memories.withdraw(engine, who)
    elif options.does == "forget":
        found = await memories.forget(engine, who, options.note)
    else:
        found = await memories.overview(engine, who)
    if options.json:
        sys.stdout.write(json.dumps(found, ensure_ascii=False) + "\n")
    else:
        sys.stdout.write(_shown(found) + "\n")
    return DONE


def _shown(found: dict[str, Any]) -> str:
    if "removed" in found:
        gone = found["removed"].get("memory_fact", 0)
        return f"Consent withdrawn; {gone} note{'' if gone == 1 else 's'} removed."
    lines = [
        f"Consent: {'recorded ' + found['consent'][:10] if found['consent'] else 'none'}.",
    ]
    if not found["switched_on"]:
        lines.append("Memories are switched off in this installation (BEDSIDE_MEMORIES).")
    lines += [
        f"- {note['text']}  ({note['id']}{', patient ' + note['patient'] if note['patient'] else ''})"
        for note in found["notes"]
    ]
    return "\n".join(lines if found["notes"] else [*lines, "Nothing is remembered."])
