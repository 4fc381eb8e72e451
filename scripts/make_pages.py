"""Writes the pages that follow from the code: docs/settings.md, docs/cli.md, the routes of docs/http.md.

python scripts/make_pages.py           # say which page is out of date
python scripts/make_pages.py --write   # write them
"""

# ruff: noqa: SLF001 - argparse has no public way to list what a parser takes
from __future__ import annotations

import argparse
import re
import sys
import tempfile
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

__all__ = ["cli_page", "http_page", "settings_page"]

ROOT = Path(__file__).resolve().parents[1]
HTTP = ROOT / "docs" / "http.md"
_ROUTES = re.compile(r"(<!-- routes -->\n).*?(<!-- end of routes -->)", re.DOTALL)

_SETTINGS = """\
# Settings

This page is made from `src/bedside/settings.py` by `scripts/make_pages.py`.

A setting comes from the environment, then from `bedside.toml` (in the home folder, else in the working folder), then from its default.
`bedside doctor` shows each with where it came from; secrets are masked wherever a setting is shown. Lists are separated by commas in the
environment, and are TOML lists in the file.

| setting | variable | in `bedside.toml` | default | what it is |
| --- | --- | --- | --- | --- |
"""

_SETTINGS_END = """
Search runs in memory, over a snapshot of the rows. `storage.database` takes a PostgreSQL address: one set of tests walks the whole path, from
import to a killed turn, on both. `knowledge.vectors` says where knowledge too large for memory is searched by meaning
([knowledge](knowledge.md)).

Keys are read from the environment only. They have no name in `bedside.toml`, and a key never changes where text goes.

An example:

```toml
tenant = "ward-7"

[models]
writer = "openai:llama3.1:8b,extractive"
openai_base_url = "http://127.0.0.1:11434/v1"

[clinical]
country = "GB"

[copilot]
context_tokens = 8000
```
"""

_CLI = """\
# Command line

This page is made from the parser by `scripts/make_pages.py`.

Every command takes `--home DIR` (or `BEDSIDE_HOME`; default: the user's data folder), `--tenant ID`, and `--json`: one JSON document on
standard output, and nothing else there. Progress and messages go to standard error.

| exit code | means |
| --- | --- |
| 0 | done |
| 1 | failed, nothing changed |
| 2 | wrong usage |
| 3 | done in part; the report says what was left out |
| 130 | stopped at the keyboard; what was done before stays |

With `--json` an error is `{"error": {"type", "title", "detail"}}`.

"""


def settings_page() -> str:
    """Every setting with its variable, its name in the file, its default and its meaning."""
    from bedside.settings import Settings

    lines: list[str] = []
    for item in fields(Settings):
        about = item.metadata
        if not about:
            continue
        default = "the user's data folder" if item.default is MISSING else _shown(item.default)
        name = f"`{about['toml']}`" if about["toml"] else "environment only"
        least = f" At least {about['least']}." if about["least"] is not None else ""
        masked = " Secret." if about["secret"] else ""
        lines.append(
            f"| `{item.name}` | `{about['env']}` | {name} | {default} | "
            f"{about['about'].replace('|', ', ')}{least}{masked} |\n"
        )
    return _SETTINGS + "".join(lines) + _SETTINGS_END


def _shown(default: Any) -> str:
    if default in ("", ()):
        return "empty"
    if isinstance(default, bool):
        return "`true`" if default else "`false`"
    return f"`{default}`"


def cli_page() -> str:
    """Every command with its arguments and options, in the order of `bedside --help`."""
    from bedside.cli.parser import build_parser

    return _CLI + "".join(_commands(build_parser(), "bedside", "##")).rstrip("\n") + "\n"


def _commands(parser: argparse.ArgumentParser, path: str, mark: str) -> list[str]:
    """A section for every command below this one, nested ones after their own."""
    found = [one for one in parser._actions if isinstance(one, argparse._SubParsersAction)]
    parts: list[str] = []
    for commands in found:
        about = {choice.dest: choice.help or "" for choice in commands._choices_actions}
        for name, command in commands.choices.items():
            parts.append(f"{mark} `{path} {name}`\n\n{_sentence(about.get(name, ''))}\n\n")
            rows = [
                _row(action)
                for action in command._actions
                if _own(action) and not isinstance(action, argparse._SubParsersAction)
            ]
            if rows:
                parts.append("| argument | default | what it is |\n| --- | --- | --- |\n")
                parts += rows
                parts.append("\n")
            parts += _commands(command, f"{path} {name}", f"{mark}#")
    return parts


def _own(action: argparse.Action) -> bool:
    return action.dest not in ("help", "home", "tenant", "json")


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}." if text else ""


def _row(action: argparse.Action) -> str:
    value = str(action.metavar or action.dest.upper())
    if action.option_strings:
        takes = "" if action.nargs == 0 else f" {_choices(action) or value}"
        name = f"{', '.join(action.option_strings)}{takes}"
    else:
        name = _choices(action) or value
        name += "..." if action.nargs == "+" else ""
    default = "" if action.default in (None, False, []) else f"`{action.default}`"
    again = "may be given more than once" if isinstance(action.default, list) else ""
    told = "; ".join(part for part in (action.help or "", again) if part)
    return f"| `{name.replace('|', chr(92) + '|')}` | {default} | {told} |\n"


def _choices(action: argparse.Action) -> str:
    return "|".join(map(str, action.choices)) if action.choices else ""


def http_page() -> str:
    """docs/http.md with the table of its routes as OpenAPI has them."""
    table = "| route | what it does |\n| --- | --- |\n" + "".join(
        f"| `{method.upper()} {path}` | {told} |\n" for method, path, told in routes()
    )
    text = HTTP.read_text(encoding="utf-8")
    return _ROUTES.sub(lambda found: f"{found[1]}{table}{found[2]}", text)


def routes() -> list[tuple[str, str, str]]:
    """(method, path, first line of its description) of every route of the OpenAPI document."""
    from bedside.server.app import create_app
    from bedside.settings import load_settings
    from bedside.wiring import build_engine

    with tempfile.TemporaryDirectory() as home:
        engine = build_engine(load_settings(home=Path(home), environ={}))
        paths = create_app(engine).openapi()["paths"]
    return [
        (method, path, (about.get("description") or about.get("summary", "")).split("\n", 1)[0])
        for path, methods in paths.items()
        for method, about in methods.items()
    ]


PAGES = {"docs/settings.md": settings_page, "docs/cli.md": cli_page, "docs/http.md": http_page}


def main() -> int:
    """Write the pages, or say which differ."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--write", action="store_true")
    write = parser.parse_args().write
    stale = 0
    for name, make in PAGES.items():
        page, text = ROOT / name, make()
        if page.exists() and page.read_text(encoding="utf-8") == text:
            continue
        stale += 1
        sys.stdout.write(f"{'wrote' if write else 'out of date:'} {name}\n")
        if write:
            page.write_text(text, encoding="utf-8")
    return 0 if write else min(stale, 1)


if __name__ == "__main__":
    raise SystemExit(main())
