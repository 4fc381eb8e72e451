"""`bedside mcp`: the MCP door, over a pipe or over HTTP."""

from __future__ import annotations

import argparse
import asyncio
import sys
from importlib.metadata import entry_points
from typing import Any

from bedside.core.errors import InvalidArgument
from bedside.settings import Settings
from bedside.wiring import build_engine

__all__ = ["add_mcp_command", "serve_mcp"]

DONE = 0


def add_mcp_command(commands: Any, common: argparse.ArgumentParser) -> None:
    """Register `bedside mcp`."""
    text = "serve guideline search (and patients, where allowed) to MCP clients"
    parser = commands.add_parser("mcp", parents=[common], help=text, description=text)
    parser.add_argument("--http", action="store_true", help="streamable HTTP at /mcp, not a pipe")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8322)
    parser.add_argument(
        "--records", action="store_true", help="offer the read-only patient tools, too"
    )
    parser.add_argument(
        "--patient", action="append", default=[], metavar="ID", help="with --records: only these"
    )


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
