"""`bedside sop`: lint contracts, and show one."""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
from pathlib import Path

from bedside.context import o200k
from bedside.core.errors import BadInput, NotFound
from bedside.sop.blocks import base_prompt
from bedside.sop.checklist import definition
from bedside.sop.contract import Contract
from bedside.sop.find import bundled, find
from bedside.sop.lint import Problem, lint_all, lint_base, lint_file

__all__ = ["sop"]

DONE, FAILED, PARTLY = 0, 1, 3


def sop(options: argparse.Namespace) -> int:
    """Run one action of `bedside sop`: no store, no settings, nothing beyond the base install."""
    return {"lint": _lint, "show": _show}[options.action](options)


def _lint(options: argparse.Namespace) -> int:
    """0 without problems, 3 with warnings only, 1 with an error or an unreadable file."""
    problems = _problems([Path(name) for name in options.files])
    errors = sum(one.severity == "error" for one in problems)
    if options.json:
        body = {
            "checked": len(options.files) or len(bundled()),
            "errors": errors,
            "warnings": len(problems) - errors,
            "problems": [dataclasses.asdict(one) for one in problems],
        }
        sys.stdout.write(json.dumps(body, ensure_ascii=False) + "\n")
    else:
        for one in problems:
            sys.stdout.write(f"{one.severity} {one.sop or '-'} {one.where}: {one.message}\n")
        checked = len(options.files) or len(bundled())
        sys.stdout.write(
            f"{checked} contracts, {errors} errors, {len(problems) - errors} warnings\n"
        )
    return FAILED if errors else PARTLY if problems else DONE


def _problems(files: list[Path]) -> tuple[Problem, ...]:
    count = o200k()
    if not files:
        shipped = lint_all(tuple(bundled().values()), count=count)
        return (*lint_base(base_prompt(), count=count), *shipped)
    return tuple(
        problem for path in files for problem in lint_file(_text(path), what=path.name, count=count)
    )


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(str(path), why="not a readable UTF-8 file") from error


def _show(options: argparse.Namespace) -> int:
    contract = find(options.id)
    if contract.generic and options.id != contract.id:
        known = ", ".join(sorted(bundled()))
        raise NotFound("contract", options.id, hint=f"There are {known}.")
    if options.json:
        sys.stdout.write(json.dumps(dataclasses.asdict(contract), ensure_ascii=False) + "\n")
    else:
        sys.stdout.write(_page(contract))
    return DONE


def _page(contract: Contract) -> str:
    lines = [definition(contract), "", "Questions:"]
    lines += [
        f"- {field.id} ({field.when}, {field.kind}): {field.ask.get('en', '')}"
        f" [{', '.join(sorted(field.ask))}]"
        for field in contract.fields
    ]
    lines += ["", "Read in documents:"]
    lines += [
        f"- {one.type}: "
        + ", ".join(found.name + ("*" if found.required else "") for found in one.findings)
        for one in contract.interpretation
    ]
    return "\n".join([*lines, "", "Sources:", *(f"- {one}" for one in contract.sources), ""])
