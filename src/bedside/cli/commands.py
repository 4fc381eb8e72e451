"""What each command does: parse, call the engine, print."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Callable
from contextlib import suppress
from datetime import date
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from bedside.cli import show
from bedside.cli.briefing import brief
from bedside.cli.companion import companion
from bedside.cli.intake import intake
from bedside.cli.mcp import serve_mcp
from bedside.cli.memory import memory
from bedside.cli.notes import note
from bedside.core.errors import BadInput, BedsideError, InvalidArgument, OutsideError
from bedside.settings import Settings, load_settings
from bedside.wiring import Ask, Engine, Who, build_engine
from bedside.wiring.costs import cost_of

__all__ = ["read_settings", "run"]

DONE, FAILED, PARTLY = 0, 1, 3


def run(options: argparse.Namespace, settings: Settings) -> int:
    """Run one parsed command and return its exit code.

    Raises:
        InvalidArgument: an argument of the command is out of its range.
    """
    name: str = options.command
    if name == "serve":
        return _serve(options, settings)
    if name == "mcp":
        return serve_mcp(options, settings)
    if name == "demo":
        return _demo(options, settings)
    if name in ("eval", "bench"):
        from bedside.cli.measure import measure

        return measure(options, settings)
    if name in ("erase", "remove", "backup", "restore", "migrate-store"):
        from bedside.cli.keeping import keep

        return keep(options, settings)
    return asyncio.run(_with_engine(options, settings, _COMMANDS[name]))


def read_settings(options: argparse.Namespace) -> Settings:
    """The settings, with what the command's options say over them."""
    overrides: dict[str, Any] = {}
    for name in ("tenant", "host", "port"):
        if getattr(options, name, None) is not None:
            overrides[name] = getattr(options, name)
    return load_settings(home=Path(options.home) if options.home else None, overrides=overrides)


async def _with_engine(
    options: argparse.Namespace, settings: Settings, command: Callable[..., Any]
) -> int:
    engine = build_engine(settings)
    try:
        return await command(engine, options, engine.local())
    finally:
        await engine.close()


def out(options: argparse.Namespace, body: Any, text: str) -> None:
    """Print the JSON document, or the text for a person."""
    if options.json:
        sys.stdout.write(json.dumps(body, ensure_ascii=False, default=str) + "\n")
    elif text:
        sys.stdout.write(text.rstrip("\n") + "\n")


def progress(done: str, n: int, total: int) -> None:
    """Progress on standard error: one line that moves on a terminal, a line a tenth elsewhere."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r{done} {n} of {total}   " + ("\n" if n >= total else ""))
    elif total and (n == total or n % max(1, total // 10) == 0):
        sys.stderr.write(f"{done} {n} of {total}\n")


async def _import(engine: Engine, options: argparse.Namespace, who: Who) -> int:
    report = await engine.import_paths(
        [Path(path) for path in options.paths], who, progress=progress
    )
    return _reported(options, report, show.imported(report), some=bool(report["patients"]))


def _reported(options: argparse.Namespace, report: dict[str, Any], text: str, *, some: bool) -> int:
    """Print what was taken in and what was rejected; with nothing taken in, that is an error too."""
    rejected = report["rejected"]
    if rejected and not some:
        detail = rejected[0]["reason"]
        if len(rejected) > 1:
            detail = f"All {len(rejected)} files were rejected. The first: {detail}"
        report = {
            **report,
            "error": {"type": BadInput.__name__, "title": BadInput.title, "detail": detail},
        }
    out(options, report, text)
    if not rejected:
        return DONE
    return PARTLY if some else FAILED


async def _patients(engine: Engine, options: argparse.Namespace, who: Who) -> int:
    found = await engine.patients(who)
    out(options, found, show.patients(found))
    return DONE


async def _attach(engine: Engine, options: argparse.Namespace, who: Who) -> int:
    patient = await engine.patient_id(options.patient, who)
    report: list[dict[str, Any]] = []
    first: BadInput | None = None
    for file in options.files:
        try:
            report += await engine.attach_paths(patient, [Path(file)], who)
        except BadInput as error:
            first = first or error
            report.append(
                {
                    "document_id": None,
                    "status": "failed_permanent",
                    "index": "absent",
                    "title": Path(file).name,
                    "problem": error.why,
                }
            )
            sys.stderr.write(f"{error}\n")
    if first is not None and all(item["document_id"] is None for item in report):
        raise first
    await _make_vectors(engine)
    report = [
        await engine.texts.refreshed(item, who) if item["document_id"] else item for item in report
    ]
    out(options, report, show.attached(report))
    return PARTLY if first is not None else DONE


async def _ingest(engine: Engine, options: argparse.Namespace, who: Who) -> int:
    meta = {
        name: getattr(options, name)
        for name in ("id", "title", "specialty", "type", "conditions", "drugs", "published",
                     "supersedes")
        if getattr(options, name) is not None
    }  # fmt: skip
    if "published" in meta:
        _date("--published", meta["published"])
    report = await engine.ingest_paths(
        [Path(path) for path in options.paths], who, meta=meta, progress=progress
    )
    await _make_vectors(engine)
    some = bool(report["documents"] or report["skipped"])
    return _reported(options, report, show.ingested(report), some=some)


async def _make_vectors(engine: Engine) -> None:
    """Make the vectors that are missing; where an embedder elsewhere fails, what was added stays."""
    try:
        await engine.texts.embed_waiting(progress=progress)
    except OutsideError as error:
        if not engine.texts.embedded_elsewhere:
            raise
        sys.stderr.write(f"No vectors yet, words serve: {error}\n")


def _date(name: str, text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise InvalidArgument(name, found=text, want="a date as YYYY-MM-DD") from None


async def _search(engine: Engine, options: argparse.Namespace, who: Who) -> int:
    found = await engine.search(
        who=who,
        query=options.query,
        limit=options.limit,
        specialty=options.specialty,
        type=options.type,
        condition=options.condition,
        drug=options.drug,
        document=options.document,
        retriever=options.retriever,
        since=_date("--since", options.since) if options.since else None,
    )
    out(options, found, show.hits(found))
    return DONE


async def _ask(engine: Engine, options: argparse.Namespace, who: Who) -> int:
    call = options.command == "ask" and not options.no_call
    engine.may_ask(who, options.audience)
    if not options.question.strip():
        raise InvalidArgument("QUESTION", found="", want="at least one word")
    patient = await engine.patient_id(options.patient, who) if options.patient else None
    documents: list[str] = []
    if options.document:
        if patient is None:
            raise InvalidArgument("--document", found="no --patient", want="given with a patient")
        paths = [Path(path) for path in options.document]
        documents = [item["document_id"] for item in await engine.attach_paths(patient, paths, who)]
    turn = await engine.asker.ask(
        Ask(
            question=options.question,
            patient=patient,
            documents=tuple(documents),
            selected=tuple(options.select),
            mode=options.mode,
            session=options.session,
            audience=options.audience,
            model=options.model,
            key=options.key,
            call=call,
        ),
        who,
    )
    out(options, turn, show.turn(turn) if call else show.context(turn))
    return DONE if turn["status"] == "complete" else PARTLY


async def _source(engine: Engine, options: argparse.Namespace, who: Who) -> int:
    found = await engine.source(
        options.id, who, start=options.start, end=options.end, revision=options.revision
    )
    out(options, found, found["text"])
    return DONE


async def _cost(engine: Engine, options: argparse.Namespace, who: Who) -> int:
    found = await cost_of(engine, who, options.session)
    out(options, found, show.cost(found))
    return DONE


async def _audit(engine: Engine, options: argparse.Namespace, who: Who) -> int:
    if options.action == "verify":
        verdict = await engine.verify_audit(who)
        out(options, verdict, show.verdict(verdict))
        return DONE if verdict["ok"] else FAILED
    entries = await engine.audit(who, patient=options.patient)
    out(options, entries, show.audit(entries))
    return DONE


async def _schema(engine: Engine, options: argparse.Namespace, who: Who) -> int:
    del who
    schema = engine.schema(options.name)
    sys.stdout.write(json.dumps(schema, indent=None if options.json else 2) + "\n")
    return DONE


async def _doctor(engine: Engine, options: argparse.Namespace, who: Who) -> int:
    del who
    found = await engine.doctor(repair=options.repair)
    out(options, found, show.doctor(found))
    return DONE if found["ok"] else FAILED


async def _worker(engine: Engine, options: argparse.Namespace, who: Who) -> int:
    del who
    if not options.once:
        sys.stderr.write("Bedside works at what waits (Ctrl+C stops)\n")
    report = await engine.work(once=options.once, progress=progress)
    out(options, report, f"{report['ended']} jobs ended, {report.get('failed', 0)} failed before")
    return DONE


_COMMANDS: dict[str, Callable[..., Any]] = {
    "import": _import,
    "patients": _patients,
    "attach": _attach,
    "ingest": _ingest,
    "search": _search,
    "ask": _ask,
    "context": _ask,
    "source": _source,
    "cost": _cost,
    "audit": _audit,
    "schema": _schema,
    "doctor": _doctor,
    "brief": brief,
    "note": note,
    "memory": memory,
    "intake": intake,
    "companion": companion,
    "worker": _worker,
}


def _serve(options: argparse.Namespace, settings: Settings) -> int:
    del options
    (door,) = entry_points(group="bedside.doors", name="http")
    serve = door.load()  # doors stand side by side, so one finds another by name
    engine = build_engine(settings)
    serve(engine, host=settings.host, port=settings.port)
    return DONE


def _demo(options: argparse.Namespace, settings: Settings) -> int:
    from bedside.wiring.demo import QUESTION, first_patient, load_demo

    async def first() -> dict[str, Any]:
        engine = build_engine(settings)
        try:
            sys.stderr.write("Loading the bundled synthetic patients and guidelines...\n")
            report = await load_demo(engine, engine.local())
            to = engine.texts.embedded_elsewhere
            sys.stderr.write(
                f"{report['patients']} patients, {report['documents']} guidelines, "
                f"{report['chunks']} passages.{'' if to else ' No key, no network.'}\n"
            )
            if engine.settings.embedder != "none":
                # Later loads may wait for their vectors; a first answer is to be a whole one.
                sys.stderr.write(f"Making their vectors{f' with {to}' if to else ''}...\n")
                with suppress(BedsideError):  # words serve, and the answer says what was missing
                    await engine.texts.embed_waiting()
            patient = await first_patient(engine, engine.local())
            return await engine.asker.ask(Ask(question=QUESTION, patient=patient), engine.local())
        finally:
            await engine.close()

    turn = asyncio.run(first())
    if not options.json:
        sys.stdout.write(f"\nQ: {QUESTION}\n\n")
    out(options, turn, show.turn(turn))
    sys.stdout.flush()
    return DONE if options.no_serve else _serve(options, settings)
