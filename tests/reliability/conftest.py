"""A home of two patients, and the commands run as a person runs them."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from bedside.cli import main

APART = {"audit", "alembic_version"}
"""Tables that a refused command may grow: the trail tells of refused reads too."""


def _bundle(ident: str, family: str, *, words: str = "") -> dict[str, Any]:
    """A small FHIR bundle of one person; `words` stand in the name of a condition and a result."""
    subject = {"reference": f"Patient/{ident}"}
    coded = {"text": f"Type 2 diabetes {words}".strip()}
    active = {"coding": [{"code": "active"}]}
    resources = [
        {"resourceType": "Patient", "id": ident, "gender": "female", "birthDate": "1961-04-02",
         "name": [{"family": family, "given": ["Ada"]}]},
        {"resourceType": "Condition", "id": f"{ident}-c", "subject": subject, "code": coded,
         "clinicalStatus": active, "onsetDateTime": "2015-02-03"},
        {"resourceType": "Observation", "id": f"{ident}-o", "subject": subject, "status": "final",
         "code": {"text": "HbA1c", "coding": [{"system": "http://loinc.org", "code": "4548-4"}]},
         "effectiveDateTime": "2026-01-05", "valueQuantity": {"value": 8.2, "unit": "%"},
         "note": [{"text": words}]},
    ]  # fmt: skip
    return {
        "resourceType": "Bundle",
        "type": "collection",
        "entry": [{"resource": item} for item in resources],
    }


@dataclass
class Said:
    """What a command gave back."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Run = Callable[..., Said]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run one command with `--json` in this process; words alone are searched."""
    monkeypatch.setenv("BEDSIDE_EMBEDDER", "none")

    def run(home: Path, *arguments: str) -> Said:
        capsys.readouterr()
        try:
            code = main([*arguments, "--home", str(home), "--json"])
        except SystemExit as stopped:
            code = int(stopped.code or 0)
        said = capsys.readouterr()
        return Said(code=code, out=said.out, err=said.err)

    return run


def _dump(home: Path) -> dict[str, list[tuple[Any, ...]]]:
    """Every row of every table, read past the engine."""
    with sqlite3.connect(home / "bedside.db") as connection:
        names = [
            row[0]
            for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            if row[0] not in APART and not row[0].startswith("sqlite_")
        ]
        rows = {
            name: sorted(connection.execute(f'SELECT * FROM "{name}"'), key=repr) for name in names
        }
    connection.close()
    rows["meta"] = [row for row in rows["meta"] if not row[0].startswith("audit.head")]
    return rows


@pytest.fixture
def dump() -> Callable[[Path], dict[str, list[tuple[Any, ...]]]]:
    """The rows of a home, the audit trail aside."""
    return _dump


@pytest.fixture(scope="session")
def bundle() -> Callable[..., dict[str, Any]]:
    """Makes a FHIR bundle of one person."""
    return _bundle


@pytest.fixture(scope="session")
def _template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("template")
    home = folder / "home"
    (folder / "ada.json").write_text(json.dumps(_bundle("ada", "Lovelace")), encoding="utf-8")
    (folder / "guide.md").write_text(
        "# Diabetes guideline\n\n## Targets\n\nAim for an HbA1c below 7 % in most adults.\n",
        encoding="utf-8",
    )
    patched = pytest.MonkeyPatch()
    patched.setenv("BEDSIDE_EMBEDDER", "none")
    assert main(["import", str(folder / "ada.json"), "--home", str(home), "--json"]) == 0
    assert main(["ingest", str(folder / "guide.md"), "--home", str(home), "--json"]) == 0
    patched.undo()
    return home


@pytest.fixture
def home(_template: Path, tmp_path: Path) -> Path:
    """A home with one patient and one guideline."""
    return Path(shutil.copytree(_template, tmp_path / "home"))


class Crasher:
    """Gives orders to `crash_worker.py` and kills what it starts."""

    def __init__(self, folder: Path) -> None:
        worker = Path(__file__).with_name("crash_worker.py")
        self.folder = folder
        self.process = subprocess.Popen(
            [sys.executable, str(worker)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="utf-8",
            env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        )

    def run(self, kill_when: Callable[[Path], None] | None = None, **order: Any) -> int:
        """Carry out an order; its exit code, -9 where it was killed.

        `kill_when` returns at the moment of the kill; it is given the pipe to listen at.
        """
        tell = self.folder / "tell"
        if kill_when is not None:
            order["tell"] = str(tell)
            if not tell.exists():
                os.mkfifo(tell)
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(order) + "\n")
        self.process.stdin.flush()
        child = int(self.process.stdout.readline())
        if kill_when is not None:
            kill_when(tell)
            with contextlib.suppress(ProcessLookupError):  # it was done before the kill
                os.kill(child, signal.SIGKILL)
        return int(self.process.stdout.readline())

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait(timeout=30)
        assert self.process.stdout is not None
        self.process.stdout.close()


@pytest.fixture(scope="module")
def crasher(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crasher]:
    """One process, kept ready with everything imported."""
    made = Crasher(tmp_path_factory.mktemp("crasher"))
    yield made
    made.close()


@pytest.fixture
def kills() -> int:
    """How often to kill: 25 for every change, 500 in the nightly run."""
    return 500 if os.environ.get("BEDSIDE_NIGHTLY") else 25
