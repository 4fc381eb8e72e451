"""`erase`, `remove`, `backup`, `restore`, `migrate-store`: keeping data, and not keeping it."""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bedside.cli.commands import DONE, PARTLY, out, progress
from bedside.settings import Settings
from bedside.wiring import Who, build_engine
from bedside.wiring.backups import backup, migrate_store, restore
from bedside.wiring.engine import Engine
from bedside.wiring.keeping import erase

__all__ = ["keep"]


def keep(options: argparse.Namespace, settings: Settings) -> int:
    """Run one of these commands and return its exit code."""
    if options.command == "restore":
        return asyncio.run(_restore(options, settings))
    return asyncio.run(_with_engine(options, settings, _COMMANDS[options.command]))


async def _with_engine(
    options: argparse.Namespace, settings: Settings, command: Callable[..., Any]
) -> int:
    engine = build_engine(settings)
    try:
        return await command(engine, options, engine.local())
    finally:
        await engine.close()


async def _erase(engine: Engine, options: argparse.Namespace, who: Who) -> int:
    receipt = await erase(engine, options.patient, who)
    out(options, receipt, _receipt(receipt))
    return PARTLY if receipt["residual_bytes"] else DONE


def _receipt(receipt: dict[str, Any]) -> str:
    removed = {name: n for name, n in receipt["removed"].items() if n}
    lines = [f"Erased: {receipt['patient']}"]
    lines += [f"  {n:>8,}  {name}" for name, n in sorted(removed.items())]
    if not removed:
        lines.append("  nothing was left to remove")
    searched = receipt["searched"]
    lines.append(
        f"{searched['strings']:,} strings of the patient were looked for in {searched['files']:,} "
        f"files: {receipt['residual_bytes']:,} bytes found."
    )
    lines += [f"  {item['bytes']:>8,}  bytes in {item['place']}" for item in receipt["residual"]]
    if receipt["residual_bytes"]:
        lines.append(
            "A file named above still holds some of it. Where it is the database, stop other "
            "processes on this home and run this command again; delete any other file yourself."
        )
    for name, n in sorted(receipt["mentioned_elsewhere"].items()):
        lines.append(f"Left alone: the name or id stands {n} times in other rows of {name}.")
    lines.append("Backups made before now still hold this patient; restoring one erases again.")
    return "\n".join(lines)


async def _remove(engine: Engine, options: argparse.Namespace, who: Who) -> int:
    gone = await engine.remove_document(options.document, who)
    await engine.texts.embed_waiting(progress=progress)  # an outside index learns of it
    out(options, gone, f"Removed: {gone['document_id']}, {gone['editions']:,} editions")
    return DONE


async def _backup(engine: Engine, options: argparse.Namespace, who: Who) -> int:
    made = await backup(engine, Path(options.file), who, force=options.force)
    rows = sum(made["rows"].values())
    out(
        options,
        made,
        f"Wrote {made['file']}: {made['bytes']:,} bytes, {rows:,} rows, "
        f"{len(made['sha256'])} files. Verified: {', '.join(made['verified'])}.\n"
        "It holds patients' data and the store's secrets: keep it as safe as the store.",
    )
    return DONE


async def _restore(options: argparse.Namespace, settings: Settings) -> int:
    done = await restore(
        settings,
        Path(options.file),
        force=options.force,
        erasures=Path(options.erasures) if options.erasures else None,
    )
    lines = [
        f"Restored {done['home']} as of {done['made_at']}: {sum(done['rows'].values()):,} rows; "
        f"the audit chain of {done['audit']['entries']:,} entries "
        + ("is whole." if done["audit"]["ok"] else f"breaks at {done['audit']['first_bad']}.")
    ]
    if done["erased_again"]:
        lines.append(f"{done['erased_again']} patients erased since then were erased again.")
    if done["foreign_tombstones"]:
        lines.append(
            f"{done['foreign_tombstones']} tombstones are of another store and could not be used."
        )
    lines += done["unread"]
    out(options, done, "\n".join(lines))
    whole = done["audit"]["ok"] and not done["foreign_tombstones"] and not done["unread"]
    return DONE if whole else PARTLY


async def _migrate(engine: Engine, options: argparse.Namespace, who: Who) -> int:
    done = await migrate_store(engine, options.to, who, tell=_tell)
    out(
        options,
        done,
        f"Wrote {done['total']:,} rows of {len(done['rows'])} tables to {done['to']} and read "
        "them back: every table is the same.\n"
        "This store is as it was. Set BEDSIDE_DATABASE to the new address to use the other.",
    )
    return DONE


def _tell(table: str, done: int, total: int) -> None:
    if table:
        progress("copying", done, total)


_COMMANDS: dict[str, Callable[..., Any]] = {
    "erase": _erase,
    "remove": _remove,
    "backup": _backup,
    "migrate-store": _migrate,
}
