"""Every setting, command, option and route stands in the docs, as the code has it."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
import make_pages

from bedside.cli.parser import COMMANDS
from bedside.settings import Settings, load_settings

ROOT = Path(__file__).resolve().parents[2]
MEND = "Mend it with: python scripts/make_pages.py --write"


def page(name: str) -> str:
    return (ROOT / "docs" / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["settings", "cli", "http"])
def test_a_made_page_is_what_the_code_makes(name: str) -> None:
    assert page(f"{name}.md") == make_pages.PAGES[f"docs/{name}.md"](), MEND


def test_every_setting_stands_with_the_variable_that_sets_it(tmp_path: Path) -> None:
    """Each variable of the page is tried: it must change the setting that its row names."""
    rows = [
        [cell.strip(" `") for cell in line.split("|")[1:6]]
        for line in page("settings.md").splitlines()
        if line.startswith("| `")
    ]
    assert {row[0] for row in rows} == {item.name for item in fields(Settings) if item.metadata}
    for name, variable, *_ in rows:
        if name == "home":
            continue
        special = {"egress_identifiers": "keep", "token_secret": "s" * 32, "vectors": "qdrant"}
        given = special.get(name, "true")
        item = next(item for item in fields(Settings) if item.name == name)
        if isinstance(item.default, int) and not isinstance(item.default, bool):
            given = str(item.default + 1)
        needed = {"BEDSIDE_QDRANT": "folder"} if name == "vectors" else {}
        read = load_settings(home=tmp_path, environ={**needed, variable: given})
        assert getattr(read, name) != item.default, variable


@pytest.mark.slow
@pytest.mark.timeout(180)
def test_every_command_and_option_stands_in_the_page() -> None:
    text = page("cli.md")
    for command in COMMANDS:
        assert f"\n## `bedside {command}`\n" in text
        section = text.split(f"\n## `bedside {command}`\n")[1].split("\n## ")[0]
        for option in _options(command):
            assert option in section, f"{command} {option}"


def test_every_argument_says_what_it_is_in_the_page_and_in_help() -> None:
    rows = [line for line in page("cli.md").splitlines() if line.startswith("| `")]
    assert len(rows) > 90
    assert [row for row in rows if row.endswith("|  |")] == []
    done = subprocess.run(
        [sys.executable, "-m", "bedside", "ask", "--help"],
        capture_output=True,
        text=True,
        check=True,
    )
    said = " ".join(done.stdout.split())
    assert "--select DOCUMENT_ID a document that is always represented" in said
    assert "QUESTION the question" in said


def _options(command: str) -> list[str]:
    """The long options of `bedside COMMAND --help`, read from its text."""
    done = subprocess.run(
        [sys.executable, "-m", "bedside", command, "--help"],
        capture_output=True,
        text=True,
        check=True,
    )
    found = set(re.findall(r"--[a-z][a-z-]+", done.stdout))
    return sorted(found - {"--help", "--home", "--tenant", "--json"})


def test_every_route_stands_in_the_page() -> None:
    text = page("http.md")
    routes = make_pages.routes()
    assert len(routes) > 20
    for method, path, about in routes:
        assert f"| `{method.upper()} {path}` |" in text
        assert about


def test_every_test_that_the_security_page_names_exists() -> None:
    named = set(re.findall(r"`(test_[a-z0-9_]+)`", page("security.md")))
    assert len(named) >= 15
    written = "\n".join(p.read_text(encoding="utf-8") for p in (ROOT / "tests").rglob("test_*.py"))
    assert sorted(name for name in named if f"def {name}(" not in written) == []


def test_every_page_of_the_workbench_stands_in_its_page() -> None:
    pages = (ROOT / "src/bedside/server/workbench/pages.py").read_text(encoding="utf-8")
    routes = {
        re.sub(r"\{\w+\}", "{…}", path) for path in re.findall(r"app\.get\(\"([^\"]+)\"", pages)
    }
    shown = {
        re.sub(r"\{\w+\}", "{…}", path) for path in re.findall(r"`(/[^` ]*)`", page("workbench.md"))
    }
    assert len(routes) >= 6
    assert routes <= shown
