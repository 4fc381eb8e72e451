"""`bedside brief`: a patient's flags, priorities and options, with or without a model."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

from bedside.cli.show import receipt_line
from bedside.wiring import Ask, Engine, Who

__all__ = ["QUESTION", "brief"]

DONE, PARTLY = 0, 3
QUESTION = "Brief me on this patient."


async def brief(engine: Engine, options: argparse.Namespace, who: Who) -> int:
    """Write one briefing and print it."""
    engine.may_ask(who, "clinician")
    patient = await engine.patient_id(options.patient, who)
    turn = await engine.asker.ask(
        Ask(
            question=f"{QUESTION} The visit is about: {options.focus}"
            if options.focus
            else QUESTION,
            patient=patient,
            session=options.session,
            model=options.model,
            key=options.key,
            call=not options.no_call,
            flow="briefing",
        ),
        who,
    )
    if options.json:
        sys.stdout.write(json.dumps(turn, ensure_ascii=False, default=str) + "\n")
    else:
        sys.stdout.write(_shown(turn) + "\n")
    return DONE if turn["status"] == "complete" else PARTLY


def _shown(turn: dict[str, Any]) -> str:
    """The briefing, its sources by number, and how it came about."""
    lines = [turn["answer"], ""]
    seen: set[int] = set()
    for cited in turn["citations"]:
        if cited["n"] not in seen:
            seen.add(cited["n"])
            source = cited["source"]
            when = f", {source['date']}" if source["date"] else ""
            lines.append(f"[{cited['n']}] {source['title']}{when} ({source['id']})")
    lines += [f"degraded: {item}" for item in turn["degraded"]]
    lines += [f"removed: {item['claim']} ({item['why']})" for item in turn["removed"]]
    lines.append(receipt_line(turn))
    return "\n".join(lines)
