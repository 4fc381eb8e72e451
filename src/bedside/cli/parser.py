"""The commands and their options, as the contract names them."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from typing import Any, NoReturn

from bedside import __version__
from bedside.cli.about import ABOUT
from bedside.cli.options import (
    add_briefing_commands,
    add_companion_commands,
    add_intake_commands,
    add_mcp_command,
    add_memory_commands,
    add_note_commands,
    add_sop_commands,
    port,
)

__all__ = ["BENCHES", "COMMANDS", "EVALS", "Parser", "build_parser"]

COMMANDS = (
    "demo", "import", "patients", "attach", "ingest", "search", "ask", "context", "source", "cost",
    "audit", "erase", "remove", "backup", "restore", "migrate-store", "schema", "doctor", "serve",
    "worker", "brief", "mcp", "eval", "bench",
)  # fmt: skip


class Parser(argparse.ArgumentParser):
    """Wrong usage exits with 2; with `--json` it says so in JSON. Every option says what it is."""

    _as_json = False

    def add_argument(self, *names: Any, **more: Any) -> argparse.Action:
        """As argparse has it; an option without help has the one of its name."""
        action = super().add_argument(*names, **more)
        if action.help is None:
            action.help = ABOUT.get(action.dest)
        return action

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        """As argparse has it; remembers how wrong usage is to be said."""
        self._as_json = "--json" in (sys.argv[1:] if args is None else args)
        return super().parse_known_args(args, namespace)

    def error(self, message: str) -> NoReturn:
        """Print what was wrong and exit with 2."""
        if self._as_json:
            body = {"error": {"type": "usage", "title": "Wrong usage", "detail": message}}
            sys.stdout.write(json.dumps(body) + "\n")
        self.print_usage(sys.stderr)
        sys.stderr.write(f"{self.prog}: {message}\n")
        raise SystemExit(2)


def build_parser() -> Parser:  # noqa: PLR0915 - one list of commands
    """The whole command line."""
    common = Parser(add_help=False)
    common.add_argument("--home", metavar="DIR", help="folder of the store (or BEDSIDE_HOME)")
    common.add_argument("--tenant", metavar="ID", help="tenant (default: default)")
    common.add_argument("--json", action="store_true", help="one JSON document on standard output")
    parser = Parser(
        prog="bedside",
        description="The context engine for clinical language-model applications. "
        "Not a medical device.",
    )
    parser.add_argument("--version", action="version", version=f"bedside {__version__}")
    commands = parser.add_subparsers(
        dest="command", required=True, metavar="COMMAND", parser_class=Parser
    )

    def command(name: str, help_text: str) -> Any:
        return commands.add_parser(name, parents=[common], help=help_text, description=help_text)

    demo = command("demo", "load bundled patients and guidelines, ask a first question, serve")
    demo.add_argument("--no-serve", action="store_true", help="stop after the first answer")
    demo.add_argument("--host")
    demo.add_argument("--port", type=port)

    load = command("import", "import FHIR R4 bundles, NDJSON, or simple patient JSON")
    load.add_argument("paths", nargs="+", metavar="PATH")

    command("patients", "list the patients")

    attach = command("attach", "add documents to a patient")
    attach.add_argument("patient", metavar="PATIENT")
    attach.add_argument("files", nargs="+", metavar="FILE")

    ingest = command("ingest", "add knowledge: Markdown, text, HTML, PDF, DOCX")
    ingest.add_argument("paths", nargs="+", metavar="PATH")
    for option in ("id", "title", "specialty", "type", "conditions", "drugs", "published"):
        ingest.add_argument(f"--{option}")
    ingest.add_argument("--supersedes", metavar="ID")

    search = command("search", "search the knowledge")
    search.add_argument("query", metavar="QUERY")
    search.add_argument("--limit", type=int, default=5)
    for option in ("specialty", "type", "condition", "drug", "since"):
        search.add_argument(f"--{option}")
    search.add_argument("--document", metavar="ID", help="only this document")
    search.add_argument("--retriever", choices=("hybrid", "lexical", "dense"), default="hybrid")

    for name, text in (
        ("ask", "ask about a patient, or about medicine"),
        ("context", "assemble the context of a question and call no model"),
    ):
        ask = command(name, text)
        ask.add_argument("question", metavar="QUESTION")
        ask.add_argument("--patient", metavar="ID")
        ask.add_argument("--document", action="append", default=[], metavar="FILE")
        ask.add_argument("--select", action="append", default=[], metavar="DOCUMENT_ID")
        ask.add_argument("--mode", choices=_MODES)
        ask.add_argument("--session", metavar="ID")
        ask.add_argument("--audience", choices=("clinician", "patient"), default="clinician")
        ask.add_argument("--model", metavar="M", help="provider:model for this turn")
        ask.add_argument("--key", metavar="KEY", help="idempotency key")
        if name == "ask":
            ask.add_argument("--no-call", action="store_true", help="as `bedside context`")

    source = command("source", "print stored text")
    source.add_argument("id", metavar="ID")
    source.add_argument("--start", type=int)
    source.add_argument("--end", type=int)
    source.add_argument("--revision", type=int)

    cost = command("cost", "what the models of a conversation cost")
    cost.add_argument("session", metavar="SESSION", help="the conversation's id")

    audit = command("audit", "print or verify the audit trail")
    audit.add_argument("action", nargs="?", choices=("list", "verify"), default="list")
    audit.add_argument("--patient", metavar="ID")

    _add_keeping(command)

    schema = command("schema", "print a JSON Schema")
    schema.add_argument("name", choices=("patient", "turn"))

    doctor = command("doctor", "check the installation and the stores")
    doctor.add_argument("--repair", action="store_true")

    serve = command("serve", "serve the workbench and the HTTP API")
    serve.add_argument("--host")
    serve.add_argument("--port", type=port)

    worker = command("worker", "do the work that turns leave behind, until stopped")
    worker.add_argument("--once", action="store_true", help="do what is due now, then stop")

    add_briefing_commands(commands, common)
    add_mcp_command(commands, common)
    add_note_commands(commands, common)
    add_memory_commands(commands, common)
    add_companion_commands(commands, common)
    add_intake_commands(commands, common)
    add_sop_commands(commands, common)

    evaluate = command("eval", "measure quality")
    evaluate.add_argument("suite", choices=EVALS)
    evaluate.add_argument("--data", metavar="DIR", help="the measuring data")
    evaluate.add_argument("--cases", type=int, help="how many fuzz cases")
    evaluate.add_argument("--compare", action="store_true", help="beside other libraries")
    evaluate.set_defaults(assemblies=0)

    bench = command("bench", "measure speed")
    bench.add_argument("suite", choices=BENCHES)
    bench.add_argument("--data", metavar="DIR", help="the measuring data")
    bench.add_argument("--assemblies", type=int, default=5_000)
    bench.add_argument("--no-compare", action="store_true", help="Bedside alone")
    bench.set_defaults(cases=None, compare=False)
    return parser


def _add_keeping(command: Callable[[str, str], Any]) -> None:
    erase = command("erase", "remove a patient from every store, and prove it")
    erase.add_argument("patient", metavar="PATIENT")

    remove = command("remove", "remove a document of the knowledge with all its editions")
    remove.add_argument("document", metavar="DOCUMENT", help="its id")

    backup = command("backup", "write one verified file that holds the home")
    backup.add_argument("file", metavar="FILE", help="the backup to write")
    backup.add_argument("--force", action="store_true", help="replace FILE")

    restore = command("restore", "put a backup in an empty home; erased patients stay erased")
    restore.add_argument("file", metavar="FILE", help="the backup to read")
    restore.add_argument("--force", action="store_true", help="replace the store that is there")
    restore.add_argument(
        "--erasures", metavar="FILE", help="a copy of erasures.jsonl kept elsewhere"
    )

    move = command("migrate-store", "copy the store into an empty database, and compare")
    move.add_argument(
        "--to", required=True, metavar="URL", help="postgresql://... or sqlite:///..."
    )


EVALS = (
    "copilot", "briefing", "notes", "companion", "intake", "retrieval", "grounding", "evaluator",
    "deid", "memory",
)  # fmt: skip
BENCHES = ("context", "ingest", "search", "evaluator", "memory", "dispatch")
_MODES = ("casual", "default", "synopsis", "plan", "broad", "detail")
