"""The options of the applications' commands. Nothing here loads the engine, so `--help` is quick."""

from __future__ import annotations

import argparse
from typing import Any

__all__ = [
    "FORMATS",
    "STEP",
    "add_briefing_commands",
    "add_companion_commands",
    "add_intake_commands",
    "add_mcp_command",
    "add_memory_commands",
    "add_note_commands",
    "add_sop_commands",
    "port",
]

STEP = (
    '{"person", "text"} or {"person", "invite" | "approve" | "share" | "withdraw" | "consent" | '
    '"prefer" | "forget" | "link": ...}, with "space": "inner" in the person\'s own space'
)
"""What one line of a companion's script is."""
_PORTS = 65_535
FORMATS = ("json", "md", "html", "fhir")


def add_briefing_commands(commands: Any, common: argparse.ArgumentParser) -> None:
    """Register `bedside brief`."""
    text = "brief on a patient: what to see first, each finding with its evidence"
    parser = commands.add_parser("brief", parents=[common], help=text, description=text)
    parser.add_argument("patient", metavar="PATIENT", help="id, record number or name")
    parser.add_argument("--focus", metavar="TEXT", help="what the visit is about, for a model")
    parser.add_argument("--model", metavar="M", help="provider:model for this turn")
    parser.add_argument("--session", metavar="ID")
    parser.add_argument("--key", metavar="KEY", help="idempotency key")
    parser.add_argument("--no-call", action="store_true", help="assemble the first call only")


def add_companion_commands(commands: Any, common: argparse.ArgumentParser) -> None:
    """Register `bedside companion` and its actions."""
    text = "two people and a guide, each in a space of their own: scripted or interactive"
    parser = commands.add_parser("companion", help=text, description=text)
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    run = actions.add_parser("run", parents=[common], help="run a script of both people's turns")
    run.add_argument(
        "--script", required=True, metavar="FILE", help=f"JSON lines: {STEP}; - is standard input"
    )
    chat = actions.add_parser("chat", parents=[common], help="talk in the terminal")
    chat.add_argument("--person", metavar="NAME", default="me", help="who writes")
    for one in (run, chat):
        one.add_argument("--session", metavar="ID", help="go on with a conversation")
        one.add_argument("--model", metavar="M", help="provider:model for these turns")
    gone = actions.add_parser(
        "erase", parents=[common], help="remove one person's side, and prove it"
    )
    gone.add_argument("--person", required=True, metavar="ID", help="whose side")
    gone.add_argument("--session", metavar="ID", help="of this conversation only")


def add_intake_commands(commands: Any, common: argparse.ArgumentParser) -> None:
    """Register `bedside intake` and its actions."""
    text = "a patient's intake: scripted, interactive, or as the coordinator sees it"
    parser = commands.add_parser("intake", help=text, description=text)
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")

    run = actions.add_parser("run", parents=[common], help="run a script of messages")
    run.add_argument(
        "--script",
        required=True,
        metavar="FILE",
        help='JSON lines: {"text"}, {"upload": path} or {"language": code}; - is standard input',
    )
    chat = actions.add_parser("chat", parents=[common], help="talk in the terminal")
    for one in (run, chat):
        one.add_argument("--case", metavar="ID", help="go on with a case")
        one.add_argument("--procedure", metavar="P", help="what a new case is about")
        one.add_argument("--model", metavar="M", help="provider:model for these turns")


def add_mcp_command(commands: Any, common: argparse.ArgumentParser) -> None:
    """Register `bedside mcp`."""
    text = "serve guideline search (and patients, where allowed) to MCP clients"
    parser = commands.add_parser("mcp", parents=[common], help=text, description=text)
    parser.add_argument("--http", action="store_true", help="streamable HTTP at /mcp, not a pipe")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=port, default=8322)
    parser.add_argument(
        "--records", action="store_true", help="offer the read-only patient tools, too"
    )
    parser.add_argument(
        "--patient", action="append", default=[], metavar="ID", help="with --records: only these"
    )


def add_memory_commands(commands: Any, common: argparse.ArgumentParser) -> None:
    """Register `bedside memory consent|withdraw|list|forget`."""
    text = "notes about your work that the copilot remembers, with your consent"
    parser = commands.add_parser("memory", help=text, description=text)
    does = parser.add_subparsers(dest="does", required=True, metavar="DO")

    def add(name: str, help_text: str) -> Any:
        return does.add_parser(name, parents=[common], help=help_text, description=help_text)

    add("consent", "let the copilot remember what you ask it to ('Remember that I prefer ...')")
    add("withdraw", "take the consent back; every note goes with it")
    add("list", "show the consent and the notes")
    add("forget", "remove one note").add_argument(
        "note", metavar="ID", help="its id, as `list` shows it"
    )


def add_note_commands(commands: Any, common: argparse.ArgumentParser) -> None:
    """Register `bedside note` and its actions."""
    text = "summarise a clinical note, check a summary, find a note's sections"
    parser = commands.add_parser("note", help=text, description=text)
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")

    run = actions.add_parser("summarise", parents=[common], help="summary and plan of notes")
    run.add_argument("paths", nargs="+", metavar="PATH", help="files, or folders of notes")
    run.add_argument("--out", metavar="DIR", help="one file a note; done ones are left as they are")
    run.add_argument("--format", choices=FORMATS, help="default: words here, JSON in --out")
    run.add_argument("--patient", metavar="ID", help="whose notes these are")
    run.add_argument("--model", metavar="M", help="provider:model for this turn")
    run.add_argument("--no-call", action="store_true", help="assemble the first call only")

    check = actions.add_parser(
        "evaluate", parents=[common], help="check a summary against its note"
    )
    check.add_argument("file", metavar="FILE", help="a summary, or a summary and a plan, as JSON")
    check.add_argument("--note", required=True, metavar="NOTE", help="the note it is about")
    check.add_argument("--html", metavar="FILE", help="write the report as a page, too")

    find = actions.add_parser("sections", parents=[common], help="the sections of a note")
    find.add_argument("file", metavar="FILE", help="the note")


def port(text: str) -> int:
    """A port number, 0 to 65535; 0 takes a free one."""
    if text.isascii() and text.isdigit() and int(text) <= _PORTS:
        return int(text)
    raise argparse.ArgumentTypeError(f"{text!r} is no port from 0 to {_PORTS}")


def add_sop_commands(commands: Any, common: argparse.ArgumentParser) -> None:
    """Register `bedside sop` and its actions."""
    text = "check the contracts of the intake, or show one"
    parser = commands.add_parser("sop", help=text, description=text)
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    check = actions.add_parser(
        "lint", parents=[common], help="problems of contracts; the shipped ones without FILE"
    )
    check.add_argument("files", nargs="*", metavar="FILE", help="contracts as YAML")
    view = actions.add_parser("show", parents=[common], help="a contract, by id, code or name")
    view.add_argument("id", metavar="ID", help="id, code or name of the procedure")
