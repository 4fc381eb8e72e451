"""A folder of notes in, results out: resumable, and one bad note stops no other."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bedside.core.errors import BadInput, BedsideError
from bedside.flows.notes.outputs import ENDINGS, Format, rendered
from bedside.wiring.ask import Who
from bedside.wiring.notes import read_note_file, summarise

if TYPE_CHECKING:
    from bedside.wiring.engine import Engine

__all__ = ["Batch", "note_files"]

JOURNAL = ".bedside-notes.jsonl"
"""One line a finished note, in the folder of the results: what a rerun leaves as it is."""
_READ = frozenset({".txt", ".text", ".md", ".markdown", ".html", ".htm", ".pdf", ".docx", ""})


def note_files(paths: Sequence[Path]) -> list[Path]:
    """The files of paths and folders, in order of name inside a folder; hidden ones are left out.

    Raises:
        BadInput: a path does not exist, or there is no file at all.
    """
    found: list[Path] = []
    for path in paths:
        if path.is_dir():
            inside = (one for one in path.rglob("*") if one.is_file())
            found += sorted(
                one
                for one in inside
                if one.suffix.lower() in _READ
                and not any(part.startswith(".") for part in one.relative_to(path).parts)
            )
        elif path.exists():
            found.append(path)
        else:
            raise BadInput(path.name, why="there is no such file or folder")
    if not found:
        raise BadInput("the folder", why="it holds no note", do="Give files or a folder of notes.")
    return list(dict.fromkeys(found))


class Batch:
    """One run over many notes.

    With a folder each result is a file of its own, written whole or not at all; a note that a
    run before this one finished, and that has not changed, is kept as it is.
    """

    def __init__(
        self,
        engine: Engine,
        who: Who,
        *,
        folder: Path | None,
        form: Format,
        patient: str | None = None,
        model: str | None = None,
        call: bool = True,
    ) -> None:
        self._engine, self._who, self._folder = engine, who, folder
        self._form: Format = form
        self._patient, self._model, self._call = patient, model, call
        self._done, self._kept = 0, 0
        self._failed: list[dict[str, str]] = []
        self._written: list[str] = []

    async def run(
        self, files: Sequence[Path], *, tell: Callable[[int, int], None]
    ) -> AsyncIterator[tuple[str, dict[str, Any] | None, BedsideError | None]]:
        """Work through the files; `tell` hears how many of how many are behind.

        Yields:
            (file, turn, None), or (file, None, error) for a note that failed. Notes that were done
            before are not yielded.

        Raises:
            BadInput: the folder of the results cannot be written.
        """
        finished = self._begin()
        names = _names(files)
        for number, file in enumerate(files, 1):
            try:
                text, name = await read_note_file(
                    file, most_bytes=self._engine.settings.upload_bytes
                )
                mark = self._mark(text)
                target = names[file] + ENDINGS[self._form]
                if finished.get(target) == mark and self._there(target):
                    self._kept += 1
                    tell(number, len(files))
                    continue
                turn = await summarise(
                    self._engine,
                    self._who,
                    text=text,
                    title=name,
                    patient=self._patient,
                    model=self._model,
                    call=self._call,
                )
                self._keep(target, mark, turn, text)
            except BedsideError as error:
                self._failed.append({"file": str(file), "why": str(error)})
                yield str(file), None, error
            else:
                self._done += 1
                yield str(file), turn, None
            tell(number, len(files))

    def report(self) -> dict[str, Any]:
        """Counts, the files written by this run, and what failed with why."""
        return {
            "done": self._done,
            "kept": self._kept,
            "failed": self._failed,
            "written": self._written,
        }

    def _begin(self) -> dict[str, str]:
        if self._folder is None:
            return {}
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            why = f"it cannot be made ({type(error).__name__})"
            raise BadInput(self._folder.name, why=why) from None
        for left in self._folder.glob(".*.part"):
            left.unlink()  # of a run that was killed
        finished: dict[str, str] = {}
        journal = self._folder / JOURNAL
        if journal.exists():
            for line in journal.read_text(encoding="utf-8").splitlines():
                try:
                    row = json.loads(line)
                    finished[row["file"]] = row["mark"]
                except (ValueError, KeyError, TypeError):
                    continue  # the last line of a run that was killed
        return finished

    def _mark(self, text: str) -> str:
        """What makes a result the same: the note, its patient, the model, the format."""
        model = self._model or ",".join(link.spec for link in self._engine.models.writer)
        parts = (text, self._patient or "", model, self._form, "call" if self._call else "")
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()

    def _there(self, target: str) -> bool:
        return self._folder is not None and (self._folder / target).exists()

    def _keep(self, target: str, mark: str, turn: dict[str, Any], text: str) -> None:
        """Write a result whole: a temporary file, made durable, then renamed; then the journal."""
        if self._folder is None:
            return
        body = rendered(turn, text, self._form, at=self._engine.clock.now())
        part = self._folder / f".{target}.part"
        try:
            _write(part, body)
            part.replace(self._folder / target)
            if turn["status"] == "complete":
                line = json.dumps({"file": target, "mark": mark}) + "\n"
                with (self._folder / JOURNAL).open("a", encoding="utf-8") as journal:
                    journal.write(line)
                    journal.flush()
                    os.fsync(journal.fileno())
        except OSError as error:
            why = f"the result cannot be written ({type(error).__name__})"
            raise BadInput(target, why=why, do="Free some space.") from None
        self._written.append(target)


def _write(path: Path, body: str) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.write(body)
        file.flush()
        os.fsync(file.fileno())


def _names(files: Sequence[Path]) -> dict[Path, str]:
    """A name of its own for each file's result: its stem; its whole name where stems meet."""
    stems: dict[str, int] = {}
    for file in files:
        stems[file.stem] = stems.get(file.stem, 0) + 1
    named: dict[Path, str] = {}
    taken: set[str] = set()
    for file in files:
        name = file.stem if stems[file.stem] == 1 else file.name
        if name in taken or (stems[file.stem] > 1 and sum(f.name == file.name for f in files) > 1):
            short = hashlib.sha256(str(file).encode()).hexdigest()[:8]
            name = f"{file.name}-{short}"
        taken.add(name)
        named[file] = name
    return named
