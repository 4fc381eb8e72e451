"""Without the app's packages a command and the library say what to install, and the parts still work."""

from __future__ import annotations

import subprocess
import sys

import pytest

WITHOUT = """
import sys
for name in ("sqlalchemy", "numpy", "fastapi", "onnxruntime"):
    sys.modules[name] = None
"""


def told(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", WITHOUT + code], capture_output=True, text=True, check=False
    )


@pytest.mark.requirement("EN-S9")
def test_a_command_of_the_app_names_the_extra_that_it_needs() -> None:
    done = told("from bedside.cli import main\nsys.exit(main(['patients']))")
    assert done.returncode == 1
    assert "pip install 'bedside[app]'" in done.stderr
    assert "`bedside patients`" in done.stderr


@pytest.mark.requirement("EN-S9")
def test_the_library_names_the_extra_that_it_needs_and_the_parts_need_none() -> None:
    done = told(
        "import bedside\n"
        "print(bedside.assemble([bedside.Block('q', 'Hello')], budget=bedside.Budget(50)).tokens)\n"
        "try:\n    bedside.Bedside\n"
        "except bedside.BedsideError as error:\n    print(error)\n"
    )
    assert done.returncode == 0, done.stderr
    tokens, said = done.stdout.splitlines()
    assert 0 < int(tokens) <= 50
    assert said == "bedside.Bedside needs an optional part: pip install 'bedside[app]'."


@pytest.mark.requirement("EN-S9")
def test_contracts_are_shown_and_linted_without_the_app() -> None:
    done = told(
        "from bedside.cli import main\n"
        "assert main(['sop', 'show', 'TKR']) == 0\n"
        "sys.exit(main(['sop', 'lint']))"
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("SOP TKR")
    assert done.stdout.endswith("0 errors, 0 warnings\n")
