"""The command line: a thin door to the engine."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Sequence

from bedside.core.errors import BedsideError, InvalidArgument, MissingExtra

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command. 0 done, 1 failed and nothing changed, 2 wrong usage, 3 done in part."""
    from bedside.cli.parser import build_parser

    options = build_parser().parse_args(argv)
    try:
        _utf8(as_json=options.json)
        if options.command == "sop":
            from bedside.cli.sop import sop

            return sop(options)
        from bedside.cli.commands import read_settings, run

        settings = read_settings(options)
        try:
            return run(options, settings)
        except InvalidArgument as error:  # of this command: a setting's own comes out above
            _fail(type(error).__name__, error.title, str(error), as_json=options.json)
            return 2
    except BedsideError as error:
        _fail(type(error).__name__, error.title, str(error), as_json=options.json)
        return 1
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "bedside":
            raise
        absent = MissingExtra(f"`bedside {options.command}`", extra="app")
        _fail(type(absent).__name__, absent.title, str(absent), as_json=options.json)
        return 1
    except KeyboardInterrupt:
        told = "What was done before stays; run the command again to go on."
        _fail("stopped", "Stopped", told, as_json=options.json)
        return 130
    except BrokenPipeError:
        sys.stderr.close()
        return 1
    except Exception as error:  # noqa: BLE001 - the process edge; no patient text in the report
        where = _where(error)
        _fail(
            "unexpected",
            "Unexpected failure",
            f"{type(error).__name__} {where}",
            as_json=options.json,
        )
        return 1


def _utf8(*, as_json: bool) -> None:
    """JSON is UTF-8 whatever the terminal is; there, a letter it lacks is replaced, not fatal."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(
                encoding="utf-8" if as_json else stream.encoding, errors="backslashreplace"
            )


def _where(error: BaseException) -> str:
    """The innermost place of our own code, without any values."""
    place, trace = "", error.__traceback__
    while trace is not None:
        name = trace.tb_frame.f_globals.get("__name__", "")
        if name.startswith("bedside"):
            place = f"in {name}, line {trace.tb_lineno}"
        trace = trace.tb_next
    return place


def _fail(kind: str, title: str, detail: str, *, as_json: bool) -> None:
    if as_json:
        body = {"error": {"type": kind, "title": title, "detail": detail}}
        sys.stdout.write(json.dumps(body, ensure_ascii=False) + "\n")
    else:
        sys.stderr.write(f"{title}. {detail}\n")
