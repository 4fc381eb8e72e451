"""`bedside companion`: a conversation of two people with a guide, scripted or in the terminal."""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import sys
import uuid
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from bedside.cli.options import STEP
from bedside.core.errors import BadInput, BedsideError
from bedside.core.ids import ActorId
from bedside.flows.companion.deeds import DEEDS
from bedside.wiring import Engine, Who
from bedside.wiring.companion import send, talk
from bedside.wiring.leaving import erase_side

__all__ = ["companion"]

DONE, FAILED, PARTLY = 0, 1, 3
_CHAT = (
    "/as NAME  /invite NAME  /approve  /share  /acknowledge  /withdraw  /consent  /prefer WORDS  /inner  "
    "/quit"
)


async def companion(engine: Engine, options: argparse.Namespace, who: Who) -> int:
    """Run one action of `bedside companion`."""
    actions = {"run": _run, "chat": _chat, "erase": _erase}
    return await actions[options.action](engine, options, who)


async def _run(engine: Engine, options: argparse.Namespace, who: Who) -> int:
    lines = await asyncio.to_thread(_lines, options.script)
    session = options.session or f"companion-{uuid.uuid4().hex[:16]}"
    failed = done = 0
    for place, line in enumerate(lines, start=1):
        try:
            turn = await _take(engine, options, who, session, _step(line, place))
        except BedsideError as error:
            failed += 1
            _error(options, place, error)
        else:
            done += 1
            _show(options, turn)
        await engine.turning.settled()  # a script's next line comes after what this one left to do
    return DONE if not failed else PARTLY if done else FAILED


async def _erase(engine: Engine, options: argparse.Namespace, who: Who) -> int:
    receipt = await erase_side(engine, options.person, who, session=options.session)
    text = json.dumps(receipt, ensure_ascii=False) if options.json else _receipt(receipt)
    sys.stdout.write(f"{text}\n")
    return PARTLY if receipt["residual_bytes"] else DONE


def _receipt(receipt: Mapping[str, Any]) -> str:
    count = len(receipt["sessions"])
    lines = [f"Erased: {receipt['person']}'s side of {count} conversation{'s' * (count != 1)}"]
    removed = {name: n for name, n in receipt["removed"].items() if n}
    lines += [f"  {n:>8,}  {name}" for name, n in sorted(removed.items())]
    if not removed:
        lines.append("  nothing was left to remove")
    if receipt["taken_back"]:
        lines.append(f"Taken back from the other's side: {receipt['taken_back']:,} shared texts.")
    searched = receipt["searched"]
    lines.append(
        f"{searched['strings']:,} strings of the person's words were looked for in "
        f"{searched['files']:,} files: {receipt['residual_bytes']:,} bytes found."
    )
    lines += [f"  {item['bytes']:>8,}  bytes in {item['place']}" for item in receipt["residual"]]
    if receipt["said_by_others"]:
        lines.append(
            f"Left alone: {receipt['said_by_others']:,} of these strings that also stand in other "
            "people's own words."
        )
    lines.append("Backups made before now still hold this side; erase again after restoring one.")
    return "\n".join(lines)


def _lines(script: str) -> list[str]:
    try:
        text = sys.stdin.read() if script == "-" else Path(script).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(script, why=f"it cannot be read ({type(error).__name__})") from None
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines:
        raise BadInput(script, why="it has no line", do=f"Write {STEP}, one a line.")
    return lines


def _step(line: str, place: int) -> Mapping[str, Any]:
    try:
        step = json.loads(line)
    except (ValueError, RecursionError):
        raise BadInput(f"line {place}", why="it is no JSON", do=f"Write {STEP}.") from None
    if not isinstance(step, dict) or not isinstance(step.get("person"), str) or not step["person"]:
        raise BadInput(f"line {place}", why="it names no person", do=f"Write {STEP}.")
    if len([name for name in step if name == "text" or name in DEEDS]) != 1:
        raise BadInput(f"line {place}", why="it is not one step", do=f"Write {STEP}.")
    if "text" in step and not isinstance(step["text"], str):
        raise BadInput(f"line {place}", why="its text is no text", do=f"Write {STEP}.")
    return step


async def _take(
    engine: Engine, options: argparse.Namespace, who: Who, session: str, step: Mapping[str, Any]
) -> dict[str, Any]:
    """One step under its own person: in a script each person is a login of their own."""
    person = replace(who, actor=ActorId(step["person"]))
    name = next((one for one in step if one in DEEDS), "")
    act = None
    if name:
        given = step[name]
        body = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
        if name == "link" and body in {"", "true", "latest"}:
            body = session
        act = (name, body)
    space = str(step.get("space", ""))
    given_talk = talk(
        person,
        text=step.get("text", ""),
        act=act,
        session=_of_ones_own(session, step["person"]) if space else session,
        model=options.model,
        side=str(step.get("side", "")),
        space=space,
    )
    return await send(engine, given_talk, person)


def _of_ones_own(session: str, person: str) -> str:
    """The session of a person's own space beside a conversation; a name of any letters fits into it."""
    return f"{session[:120]}:inner:{hashlib.sha256(person.encode()).hexdigest()[:16]}"


def _show(options: argparse.Namespace, turn: Mapping[str, Any]) -> None:
    if options.json:
        sys.stdout.write(json.dumps(turn, ensure_ascii=False, default=str) + "\n")
    else:
        mark = ", templated" if turn["templated"] else ""
        alone = turn["space"] == "inner"
        where = "own space" if alone else f"stage {turn['stage']} {turn['stage_name']}"
        head = f"[{turn['person']}, {where}{mark}]"
        sys.stdout.write(f"{head}\n{turn['answer']}\n\n")
    sys.stdout.flush()


def _error(options: argparse.Namespace, place: int, error: BedsideError) -> None:
    body = {"type": type(error).__name__, "title": error.title, "detail": str(error)}
    if options.json:
        sys.stdout.write(json.dumps({"line": place, "error": body}, ensure_ascii=False) + "\n")
        sys.stdout.flush()
    else:
        sys.stderr.write(f"line {place}: {error.title}: {error}\n")


async def _chat(engine: Engine, options: argparse.Namespace, who: Who) -> int:
    session = options.session or f"companion-{uuid.uuid4().hex[:16]}"
    person, space = options.person, ""
    sys.stderr.write(f"Conversation {session}. {_CHAT}\n")
    while True:
        line = await asyncio.to_thread(_read, f"{person}> ")
        if line is None or line.strip() == "/quit":
            break
        if not line.strip():
            continue
        command, _, rest = line.strip().partition(" ")
        if command == "/as":
            person = rest.strip() or person
            continue
        if command == "/inner":
            space = "" if space else "inner"
            where = "your own space; /inner goes back" if space else "the conversation"
            sys.stderr.write(f"You are in {where}.\n")
            continue
        step: dict[str, Any] = {"person": person, "text": line, "space": space}
        if command.startswith("/"):
            step = {"person": person, command[1:]: rest.strip(), "space": space}
            if command[1:] not in DEEDS:
                sys.stderr.write(f"{_CHAT}\n")
                continue
        try:
            _show(options, await _take(engine, options, who, session, step))
        except BedsideError as error:
            sys.stderr.write(f"{error.title}: {error}\n")
    await engine.turning.settled()
    return DONE


def _read(prompt: str) -> str | None:
    sys.stderr.write(prompt)
    sys.stderr.flush()
    line = sys.stdin.readline()
    return line or None
