"""`bedside note`: summarise, evaluate, sections."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bedside.cli.show import receipt_line
from bedside.core.errors import BadInput, BedsideError
from bedside.flows.notes.outputs import rendered
from bedside.flows.notes.summary import to_check
from bedside.wiring import Engine, Who
from bedside.wiring.notes import note_of, read_note_file, read_summary, summarise
from bedside.wiring.notes_batch import Batch, note_files

__all__ = ["note"]

DONE, FAILED, PARTLY = 0, 1, 3


async def note(engine: Engine, options: argparse.Namespace, who: Who) -> int:
    """Run one action of `bedside note`."""
    return await {"summarise": _summarise, "evaluate": _evaluate, "sections": _sections}[
        options.action
    ](engine, options, who)


def _print(options: argparse.Namespace, body: Any, text: str) -> None:
    if options.json:
        sys.stdout.write(json.dumps(body, ensure_ascii=False, default=str) + "\n")
    elif text:
        sys.stdout.write(text.rstrip("\n") + "\n")


async def _summarise(engine: Engine, options: argparse.Namespace, who: Who) -> int:
    patient = await engine.patient_id(options.patient, who) if options.patient else None
    files = note_files([Path(path) for path in options.paths])
    folder = Path(options.out) if options.out else None
    if folder is None and len(files) == 1:
        return await _one(engine, options, who, files[0], patient)
    batch = Batch(
        engine,
        who,
        patient=patient,
        model=options.model,
        call=not options.no_call,
        folder=folder,
        form=options.format or "json",
    )

    def tell(done: int, total: int) -> None:
        sys.stderr.write(f"notes {done} of {total}\n")

    async for name, turn, error in batch.run(files, tell=tell):
        if error is not None:
            sys.stderr.write(f"{error}\n")
        if folder is None:
            _each(options, name, turn, error)
    report = batch.report()
    if folder is not None:
        _print(options, report, _report_text(report))
    if not report["failed"]:
        return DONE
    return PARTLY if report["done"] or report["kept"] else FAILED


async def _one(
    engine: Engine, options: argparse.Namespace, who: Who, file: Path, patient: str | None
) -> int:
    text, name = await read_note_file(file, most_bytes=engine.settings.upload_bytes)
    turn = await summarise(
        engine,
        who,
        text=text,
        title=name,
        patient=patient,
        model=options.model,
        call=not options.no_call,
    )
    if options.json:
        body = (
            turn
            if options.format in {None, "json"}
            else {**turn, "rendered": rendered(turn, text, options.format, at=engine.clock.now())}
        )
        _print(options, {"file": str(file), **body}, "")
    elif options.format is not None:
        sys.stdout.write(rendered(turn, text, options.format, at=engine.clock.now()))
    else:
        _print(options, turn, _text(turn))
    return DONE if turn["status"] == "complete" else PARTLY


def _each(
    options: argparse.Namespace,
    name: str,
    turn: Mapping[str, Any] | None,
    error: BedsideError | None,
) -> None:
    if error is not None:
        failure = {"type": type(error).__name__, "title": error.title, "detail": str(error)}
        _print(options, {"file": name, "error": failure}, "")
    elif turn is not None:
        _print(options, {"file": name, **turn}, f"# {name}\n\n{_text(turn)}\n")


def _text(turn: Mapping[str, Any]) -> str:
    lines = [turn["answer"] or "Nothing could be taken from this note.", ""]
    lines += [f"To check: {one}" for one in to_check(turn)]
    lines += [f"Removed ({item['why']}): {item['claim']}" for item in turn["removed"]]
    lines += [f"Missing: {item}" for item in turn["missing"]]
    lines += [f"Degraded: {item}" for item in turn["degraded"]]
    if stored := turn.get("note"):
        lines.append(f"[n] is {stored['id']}: `bedside source {stored['id']} --start S --end E`.")
    return "\n".join([*lines, receipt_line(turn)])


def _report_text(report: Mapping[str, Any]) -> str:
    lines = [
        f"{report['done']} done, {report['kept']} were done before, {len(report['failed'])} failed"
    ]
    lines += [f"{item['file']}: {item['why']}" for item in report["failed"]]
    return "\n".join(lines)


async def _sections(engine: Engine, options: argparse.Namespace, who: Who) -> int:
    del who
    text, _ = await read_note_file(Path(options.file), most_bytes=engine.settings.upload_bytes)
    found = note_of(text).sections_json()
    lines = [
        f"{item['start']:>7}-{item['end']:<7} {item['title']}  ({item['found_by']})"
        for item in found
    ]
    _print(options, found, "\n".join(lines))
    return DONE


async def _evaluate(engine: Engine, options: argparse.Namespace, who: Who) -> int:
    del who
    from bedside.grounding.evaluate import evaluate_note

    path = Path(options.file)
    text, _ = await read_note_file(Path(options.note), most_bytes=engine.settings.upload_bytes)
    report = evaluate_note(
        read_summary(await asyncio.to_thread(_bytes, path), name=path.name), note=text
    )
    if options.html:
        await asyncio.to_thread(_write, Path(options.html), report.html())
    _print(options, report.to_dict(), report.table())
    return DONE


def _write(path: Path, body: str) -> None:
    try:
        path.write_text(body, encoding="utf-8")
    except OSError as error:
        raise BadInput(path.name, why=f"it cannot be written ({type(error).__name__})") from None


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise BadInput(path.name, why=f"it cannot be opened ({type(error).__name__})") from None
