"""`bedside intake`: a scripted or interactive conversation, and the coordinator's view."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bedside.core.errors import BadInput, BedsideError, InvalidArgument
from bedside.wiring import Engine, Who
from bedside.wiring.intake import Say, require_case, send, start_case, upload

__all__ = ["intake"]

DONE, FAILED, PARTLY = 0, 1, 3


async def intake(engine: Engine, options: argparse.Namespace, who: Who) -> int:
    """Run one action of `bedside intake`."""
    return await {"run": _run, "chat": _chat}[options.action](engine, options, who)


async def _run(engine: Engine, options: argparse.Namespace, who: Who) -> int:
    lines = await asyncio.to_thread(_lines, options.script)
    case = options.case
    if case:
        await require_case(engine, who, case)
    failed = done = 0
    for place, line in enumerate(lines, start=1):
        try:
            step = _step(line, place)
            body = await _file(engine, step, base=_folder(options.script))
            case = case or await start_case(engine, who)
            turn = await _take(engine, who, case, step, options, body=body)
        except BedsideError as error:
            failed += 1
            _error(options, case, place, error)
        else:
            done += 1
            _show(options, turn)
    await engine.turning.settled()
    if not failed:
        return DONE
    return PARTLY if done else FAILED


def _folder(script: str) -> Path:
    return Path() if script == "-" else Path(script).parent


def _lines(script: str) -> list[str]:
    try:
        text = sys.stdin.read() if script == "-" else Path(script).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(script, why=f"it cannot be read ({type(error).__name__})") from None
    return [line for line in text.splitlines() if line.strip()]


def _step(line: str, place: int) -> Mapping[str, Any]:
    wanted = '{"text": ...}, {"upload": path} or {"language": code}'
    try:
        step = json.loads(line)
    except (ValueError, RecursionError):
        raise BadInput(f"line {place}", why="it is no JSON", do=f"Write {wanted}.") from None
    if not isinstance(step, dict) or not set(step) & {"text", "upload", "language"}:
        raise BadInput(f"line {place}", why="it is no step", do=f"Write {wanted}.")
    if not all(
        isinstance(step[name], str) for name in step if name in {"text", "upload", "language"}
    ):
        raise BadInput(f"line {place}", why="a value is no text", do=f"Write {wanted}.")
    if "upload" not in step and "text" in step:
        Say(question=step["text"]).request(deadline_ms=1)
    return step


async def _file(engine: Engine, step: Mapping[str, Any], *, base: Path) -> bytes:
    """The bytes of the step's file; none where it adds no file."""
    if "upload" not in step:
        return b""
    most = engine.settings.upload_bytes
    return await asyncio.to_thread(_bytes, Path(step["upload"]), base, most)


async def _take(
    engine: Engine,
    who: Who,
    case: str,
    step: Mapping[str, Any],
    options: argparse.Namespace,
    *,
    body: bytes,
) -> dict[str, Any]:
    if "upload" in step:
        return await upload(engine, who, case, Path(step["upload"]).name, body, wait=True)
    language = step.get("language", "")
    act = ("language", language) if "text" not in step else None
    return await send(
        engine,
        who,
        case,
        step.get("text", f"(language: {language})"),
        language=language,
        procedure=options.procedure or "",
        model=options.model,
        act=act,
    )


def _bytes(path: Path, base: Path, most: int) -> bytes:
    """The file's bytes: as the path says, else beside the script."""
    path = path if path.is_absolute() or path.exists() else base / path
    try:
        if path.stat().st_size > most:
            raise BadInput(path.name, why=f"it is larger than {most:,} bytes")
        return path.read_bytes()
    except OSError as error:
        raise BadInput(path.name, why=f"it cannot be opened ({type(error).__name__})") from None


def _show(options: argparse.Namespace, turn: Mapping[str, Any]) -> None:
    if options.json:
        sys.stdout.write(json.dumps(turn, ensure_ascii=False, default=str) + "\n")
    else:
        sys.stdout.write(f"{turn['answer']}\n\n")
    sys.stdout.flush()


def _error(options: argparse.Namespace, case: str | None, place: int, error: BedsideError) -> None:
    body = {"type": type(error).__name__, "title": error.title, "detail": str(error)}
    if options.json:
        sys.stdout.write(json.dumps({"case": case, "line": place, "error": body}) + "\n")
    else:
        sys.stderr.write(f"line {place}: {error.title}. {error}\n")


async def _chat(engine: Engine, options: argparse.Namespace, who: Who) -> int:
    case = options.case or await start_case(engine, who)
    await require_case(engine, who, case)
    sys.stderr.write(
        f"Case {case}. Write, or /upload FILE, /language CODE; an empty line ends. "
        f"`bedside intake chat --case {case}` goes on with it.\n"
    )
    while True:
        sys.stderr.write("> ")
        sys.stderr.flush()
        line = await asyncio.to_thread(sys.stdin.readline)
        said = line.strip()
        if not said:
            return DONE
        try:
            step = _typed(said)
            body = await _file(engine, step, base=Path())
            _show(options, await _take(engine, who, case, step, options, body=body))
        except BedsideError as error:
            _error(options, case, 1, error)


def _typed(said: str) -> dict[str, str]:
    command, _, rest = said.partition(" ")
    if command in {"/upload", "/language"}:
        if not rest.strip():
            raise InvalidArgument(command, found="", want="followed by a file or a language code")
        return {command[1:]: rest.strip()}
    return {"text": said}
