"""Files of risky formats read in a process of their own, with little memory and little time.

A document that exhausts its parser takes a child with it, never the server. The child gets the file
on its standard input and gives JSON; it opens no other file and knows no settings.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from dataclasses import asdict

from bedside.core.errors import BadInput
from bedside.knowledge.parse.files import MOST_BYTES, RISKY, media_type_of, parse
from bedside.knowledge.parse.parsed import Parsed
from bedside.language.sections import Section

__all__ = ["parse_apart"]

SECONDS = 20
OCR_SECONDS = 120
MEMORY = 1_500_000_000
OCR_MEMORY = 6_000_000_000
"""Address space in bytes; what is touched is far less."""


def parse_apart(data: bytes, *, name: str) -> Parsed:
    """`parse`, in a limited child process where the format is risky.

    Raises:
        BadInput: As `parse`; also where the child ran out of time or memory, or died.
    """
    if len(data) > MOST_BYTES or not data.strip():
        return parse(data, name=name)  # which refuses it
    kind = media_type_of(data, name=name)
    picture = kind.startswith("image/")
    if kind not in RISKY and not picture:
        return parse(data, name=name)
    seconds = OCR_SECONDS if picture or kind == "application/pdf" else SECONDS
    memory = OCR_MEMORY if picture or kind == "application/pdf" else MEMORY
    try:
        done = subprocess.run(  # noqa: S603 - our own module, no shell
            [
                sys.executable,
                "-m",
                "bedside.knowledge.parse.apart",
                name,
                str(seconds),
                str(memory),
            ],
            input=data,
            capture_output=True,
            timeout=seconds + 5,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise BadInput(
            name, why=f"reading it took over {seconds} s", do="Split or simplify the file."
        ) from error
    try:
        answer = json.loads(done.stdout)
    except ValueError as error:
        raise BadInput(
            name,
            why=f"reading it needed more than {seconds} s or {memory} bytes, or broke its reader",
            do="Split or simplify the file.",
        ) from error
    if "why" in answer:
        raise BadInput(name, why=answer["why"], do=answer["do"])
    return Parsed(
        text=answer["text"],
        sections=tuple(
            Section(*entry)._replace(path=tuple(entry[5])) for entry in answer["sections"]
        ),
        media_type=answer["media_type"],
        tables=tuple((start, end) for start, end in answer["tables"]),
        title=answer["title"],
        meta=answer["meta"],
        warnings=tuple(answer["warnings"]),
    )


def main() -> None:
    """The child: limits first, then the file."""
    name, seconds, memory = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    _limit(seconds, memory)
    data = sys.stdin.buffer.read()
    answer: dict[str, object]
    try:
        answer = asdict(parse(data, name=name))
    except BadInput as error:
        text = str(error).removeprefix(f"{name}: {error.why}.").strip()
        answer = {"why": error.why, "do": text}
    except MemoryError:
        answer = {"why": f"reading it needs more than {memory} bytes", "do": "Split the file."}
    sys.stdout.write(json.dumps(answer))


def _limit(seconds: int, memory: int) -> None:
    """Processor time and address space, where the system has such limits."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


if __name__ == "__main__":
    main()
