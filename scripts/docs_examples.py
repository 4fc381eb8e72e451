"""Runs the examples of README.md and docs/, and writes their real output back into the pages.

    python scripts/docs_examples.py            # compare, print what differs
    python scripts/docs_examples.py --write    # put the real output in the pages

A page's fences mean:

- `console`: lines that begin with `$ ` are run by bash in a folder of their own, over a store with
  the bundled demo; the lines below are the expected output. A line `...` stands for any lines.
- `python`: run, one after the other in one interpreter; a `text` fence right after is the output.
- `toml`: read as settings. `json`: parsed.
- a comment `<!-- not run: reason -->` right before a fence leaves it out and says why.
- a comment `<!-- file: docs_src/... -->` right before a fence says that it shows that file.
- a comment `<!-- base install -->` in a page blocks every library of the app for its Python.
"""

from __future__ import annotations

import argparse
import difflib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Block", "Example", "Ran", "blocks", "demo_home", "pages", "same", "show_files"]

ROOT = Path(__file__).resolve().parents[1]
APP = (
    *("numpy", "sqlalchemy", "fastapi", "onnxruntime", "onnx", "lxml", "docx", "httpx", "alembic"),
    *("jinja2", "anthropic", "openai", "boto3", "pypdfium2", "tokenizers", "cv2", "uvicorn"),
    "prometheus_client",
)
_FENCE = re.compile(
    r"(?:<!-- not run: (?P<skip>[^\n]*) -->\n)?(?:<!-- file: (?P<file>[^\n]*) -->\n)?"
    r"^```(?P<kind>[a-z]+)\n(?P<body>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
_MOVING = (
    (re.compile(r"\b(rec|doc|turn|ses|src|tr|mem)-[0-9a-f]{8,}"), r"\1-ID"),
    (re.compile(r"\b[0-9a-f]{16,64}\b"), "HASH"),
    (re.compile(r"\b\d[\d,]* of (\d[\d,]*) tokens\b"), r"N of \1 tokens"),
    (re.compile(r"\b\d[\d,]* cacheable"), "N cacheable"),
    (re.compile(r"\b\d+ (?:day|week|month|year)s? old\b"), "AGE old"),
    (re.compile(r"^ *\d+ of +\d+  ", re.MULTILINE), "N of N  "),
    (re.compile(r"\b\d{4}-\d\d-\d\dT[0-9:.+Z-]+"), "TIME"),
    (re.compile(r'"ms": [\d.]+'), '"ms": N'),
    (re.compile(r"/\S*/(?=bedside)"), "…/"),
    (re.compile(r"^[Dd]egraded: [^\n]*(?:vectors not ready|timed out)[^\n]*\n?", re.MULTILINE), ""),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """One fence of a page; `start` and `end` are where its body stands in the page's text."""

    kind: str
    body: str
    start: int
    end: int
    skipped: str
    file: str
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A command or a piece of Python, and the output that the page shows (`None`: none)."""

    kind: str
    code: str
    expected: str | None
    start: int
    end: int
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """What an example did."""

    example: Example
    code: int
    output: str
    errors: str


def pages() -> list[Path]:
    """Every page that is checked, README first."""
    found = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    skip = ("decisions", "PLAN.md", "results.md")
    return [page for page in found if page.exists() and not any(s in page.parts for s in skip)]


def blocks(text: str) -> list[Block]:
    """The fences of a page, in order."""
    return [
        Block(
            kind=match["kind"],
            body=match["body"],
            start=match.start("body"),
            end=match.end("body"),
            skipped=match["skip"] or "",
            file=match["file"] or "",
            line=text.count("\n", 0, match.start("body")) + 1,
        )
        for match in _FENCE.finditer(text)
    ]


def examples(text: str) -> list[Example]:
    """What is to be run, with what it should print."""
    found: list[Example] = []
    every = blocks(text)
    for at, block in enumerate(every):
        if block.skipped:
            continue
        if block.kind == "console":
            found += _commands(block)
        elif block.kind == "python":
            after = every[at + 1] if at + 1 < len(every) else None
            shown = after is not None and after.kind == "text" and not after.skipped
            between = text[block.end : after.start] if after is not None and shown else "x"
            if after is not None and shown and between.split() == ["```", "```text"]:
                found.append(
                    Example(kind="python", code=block.body, expected=after.body, start=after.start,
                            end=after.end, line=block.line)
                )  # fmt: skip
            else:
                found.append(
                    Example(kind="python", code=block.body, expected=None, start=block.end,
                            end=block.end, line=block.line)
                )  # fmt: skip
    return found


def _commands(block: Block) -> list[Example]:
    found: list[Example] = []
    at, line = block.start, block.line
    command: list[str] = []
    output_at = at
    for text in block.body.splitlines(keepends=True):
        if text.startswith("$ "):
            command = [text[2:]]
            output_at = at + len(text)
            found.append(_example(command, output_at, at + len(text), "", line))
        elif command and text[:2] in ("> ", ">\n") and found[-1].expected == "":
            command.append(text[2:])
            output_at = at + len(text)
            found[-1] = _example(command, output_at, output_at, "", found[-1].line)
        elif found:
            last = found[-1]
            found[-1] = _example(
                command, last.start, at + len(text), (last.expected or "") + text, last.line
            )
        at += len(text)
        line += 1
    return found


def _example(command: list[str], start: int, end: int, expected: str, line: int) -> Example:
    return Example(
        kind="console", code="".join(command), expected=expected, start=start, end=end, line=line
    )


def environment(home: Path) -> dict[str, str]:
    """The environment of an example: our commands first, a store of its own, no settings."""
    kept = {name: text for name, text in os.environ.items() if not name.startswith("BEDSIDE_")}
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "OPENROUTER_API_KEY"):
        kept.pop(name, None)
    path = f"{Path(sys.executable).parent}{os.pathsep}{kept.get('PATH', '')}"
    return {**kept, "PATH": path, "BEDSIDE_HOME": str(home), "PYTHONWARNINGS": "ignore"}


def demo_home(folder: Path) -> Path:
    """A home with the bundled demo, its vectors ready."""
    home = folder / "demo"
    # Ingesting again changes no document and waits for the vectors.
    guidelines = ROOT / "src" / "bedside" / "demo" / "guidelines"
    load = f"bedside demo --no-serve --json > /dev/null && bedside ingest --json '{guidelines}'"
    _bash(load, cwd=folder, home=home, check=True)
    return home


def _bash(
    command: str, *, cwd: Path, home: Path, check: bool = False
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-o", "pipefail", "-c", command],
        cwd=cwd,
        env=environment(home),
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=check,
        timeout=240,
    )


def run(text: str, *, demo: Path | None, folder: Path) -> list[Ran]:
    """Run a page's examples in `folder`, over a copy of the demo's home."""
    folder.mkdir(parents=True, exist_ok=True)
    home = folder / "home"
    if demo is not None and not home.exists():
        shutil.copytree(demo, home)
    found = examples(text)
    ran: list[Ran] = []
    for example in found:
        if example.kind == "console":
            done = _bash(example.code, cwd=folder, home=home)
            ran.append(
                Ran(example=example, code=done.returncode, output=done.stdout, errors=done.stderr)
            )
    python = [example for example in found if example.kind == "python"]
    if python:
        ran += _python(python, folder=folder, home=home, base="<!-- base install -->" in text)
    return ran


def _python(wanted: list[Example], *, folder: Path, home: Path, base: bool) -> list[Ran]:
    """All Python of a page in one interpreter; a mark on standard output parts the examples."""
    mark = "\x1e\n"
    blocked = f"import sys\nfor name in {APP!r}: sys.modules[name] = None\n" if base else ""
    program = f"{blocked}names = {{'__name__': '__page__'}}\n" + "".join(
        f"exec(compile({example.code!r}, 'line {example.line}', 'exec'), names)\n"
        f"print({mark[0]!r}, flush=True)\n"
        for example in wanted
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=folder,
        env={**environment(home), "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        timeout=240,
    )
    parts = done.stdout.split(mark)
    ran: list[Ran] = []
    for at, example in enumerate(wanted):
        finished = at < len(parts) - 1
        code = 0 if finished else done.returncode or 1
        output = parts[at] if at < len(parts) else ""
        ran.append(Ran(example=example, code=code, output=output, errors=done.stderr))
    return ran


def settled(text: str) -> str:
    """Text without what moves: ids, hashes, token counts, ages, times."""
    for pattern, put in _MOVING:
        text = pattern.sub(put, text)
    return "\n".join(line.rstrip() for line in text.strip().splitlines())


def same(expected: str, output: str) -> bool:
    """Whether a page shows what came out; a line `...` stands for any lines."""
    wanted, found = settled(expected).splitlines(), settled(output).splitlines()
    pattern = "\n".join("\x00" if line == "..." else re.escape(line) for line in wanted)
    pattern = pattern.replace("\n\x00", r"(?:\n.*)*?").replace("\x00\n", r"(?:.*\n)*?")
    return re.fullmatch(pattern, "\n".join(found)) is not None


def difference(expected: str, output: str) -> str:
    """What differs, as a diff for a person."""
    wanted, found = settled(expected).splitlines(), settled(output).splitlines()
    return "\n".join(difflib.unified_diff(wanted, found, "the page", "what came out", lineterm=""))


def show_files(text: str) -> str:
    """The page with each `<!-- file: ... -->` fence filled from its file."""
    for block in reversed(blocks(text)):
        if block.file:
            body = (ROOT / block.file).read_text(encoding="utf-8")
            text = text[: block.start] + body + text[block.end :]
    return text


def parse_data(text: str) -> list[str]:
    """What is wrong with the page's TOML and JSON fences; the empty list where nothing is."""
    from dataclasses import fields

    from bedside.settings import Settings

    known = {item.metadata.get("toml") for item in fields(Settings)}
    wrong: list[str] = []
    for block in blocks(text):
        if block.skipped:
            continue
        if block.kind == "json":
            try:
                json.loads(block.body)
            except ValueError as error:
                wrong.append(f"line {block.line}: {error}")
        elif block.kind == "toml":
            for section, inner in tomllib.loads(block.body).items():
                names = (
                    [f"{section}.{name}" for name in inner]
                    if isinstance(inner, dict)
                    else [section]
                )
                wrong += [f"line {block.line}: no setting {n}" for n in names if n not in known]
    return wrong


def main() -> int:
    """Compare every page with what really comes out; with `--write`, mend the pages."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("pages", nargs="*", type=Path, help="only these pages")
    parser.add_argument("--write", action="store_true", help="put the real output in the pages")
    options = parser.parse_args()
    bad = 0
    with tempfile.TemporaryDirectory() as scratch:
        demo = demo_home(Path(scratch))
        for page in options.pages or pages():
            text = page.read_text(encoding="utf-8")
            if options.write:
                text = show_files(text)
            ran = run(text, demo=demo, folder=Path(scratch) / page.resolve().stem)
            for one in sorted(ran, key=lambda one: -one.example.start):
                example = one.example
                if one.code:
                    bad += 1
                    print(f"{page}:{example.line}: exit {one.code}\n{one.errors[-2000:]}")
                elif example.expected is not None and not same(example.expected, one.output):
                    bad += not options.write
                    print(f"{page}:{example.line}:\n{difference(example.expected, one.output)}")
                if options.write and example.expected is not None and not one.code:
                    if "..." in example.expected.splitlines() and same(
                        example.expected, one.output
                    ):
                        continue
                    shown = one.output.rstrip("\n") + "\n" if one.output.strip() else ""
                    if example.kind == "console" and example.expected.endswith("\n\n") and shown:
                        shown += "\n"
                    text = text[: example.start] + shown + text[example.end :]
            if options.write:
                page.write_text(text, encoding="utf-8")
    return 1 if bad else 0


if __name__ == "__main__":
    raise SystemExit(main())
