"""`bedside eval` and `bedside bench`: figures with their n, as one JSON document."""

from __future__ import annotations

import argparse
import json
import sys
from importlib.metadata import entry_points
from inspect import signature
from pathlib import Path
from typing import Any

from bedside.core.errors import BadInput, NotFound
from bedside.settings import Settings

__all__ = ["measure"]


def measure(options: argparse.Namespace, settings: Settings) -> int:
    """Run one suite and print what it measured.

    Raises:
        BadInput: the measuring data is not where it was looked for.
    """
    group = "bedside.evals" if options.command == "eval" else "bedside.benches"
    run = _suite(group, options.suite)
    settings.cache.mkdir(parents=True, exist_ok=True)
    offered: dict[str, Any] = {
        "data": lambda: _data(options),
        "cache": lambda: settings.cache,
        "cases": lambda: options.cases or 100_000,
        "assemblies": lambda: options.assemblies,
        "tell": lambda: _tell,
        "compare": lambda: (
            options.compare or (options.command == "bench" and not options.no_compare)
        ),
    }
    wanted = signature(run).parameters
    figures = run(**{name: make() for name, make in offered.items() if name in wanted})
    if options.json:
        sys.stdout.write(json.dumps(figures, ensure_ascii=False, default=str) + "\n")
    else:
        sys.stdout.write(json.dumps(figures, ensure_ascii=False, default=str, indent=2) + "\n")
    return 0


def _data(options: argparse.Namespace) -> Path:
    for place in (options.data, "../shared/data", "shared/data"):
        if place and Path(place).is_dir():
            return Path(place).resolve()
    raise BadInput(
        "the measuring data",
        why="there is no folder ../shared/data",
        do="Name it with --data; it is not part of the package.",
    )


def _tell(line: str) -> None:
    """Progress goes to standard error: standard output holds the figures alone."""
    sys.stderr.write(f"{line}\n")


def _suite(group: str, name: str) -> Any:
    """The function behind a suite: evaluations stand above the doors and are found by name.

    Raises:
        NotFound: no installed package registers the suite.
    """
    for entry in entry_points(group=group, name=name):
        return entry.load()
    raise NotFound("suite", name, hint="Install bedside[app].")
