"""`bedside mcp`: the MCP door, over a pipe or over HTTP."""

from __future__ import annotations

import argparse
import asyncio
import sys
from importlib.metadata import entry_points

from bedside.core.errors import InvalidArgument
from bedside.settings import Settings
from bedside.wiring import build_engine

__all__ = ["serve_mcp"]

DONE = 0


def serve_mcp(options: argparse.Namespace, settings: Settings) -> int:
    """Serve until the client leaves or the process is stopped.

    Raises:
        InvalidArgument: patients are named while the patient tools are off.
    """
    if options.patient and not options.records:
        raise InvalidArgument("--patient", found="no --records", want="given with --records")
    (door,) = entry_points(group="bedside.doors", name="mcp")
    serve = door.load()  # doors stand side by side, so one finds another by name
    engine = build_engine(settings)
    patients: frozenset[str] | None = None
    if options.patient:
        who = engine.local()

        async def ids() -> frozenset[str]:
            return frozenset([await engine.patient_id(one, who) for one in options.patient])

        patients = asyncio.run(ids())
    if options.http:
        sys.stderr.write(f"Bedside serves MCP on http://{options.host}:{options.port}/mcp\n")
    serve(
        engine,
        http=options.http,
        host=options.host,
        port=options.port,
        records=options.records,
        patients=patients,
    )
    return DONE
