"""The command line's own promises: exit codes, one JSON document, any terminal."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def home(tmp_path_factory) -> Path:
    """A home with one patient whose name no ASCII terminal can write."""
    place = tmp_path_factory.mktemp("home")
    record = place / "record.json"
    bundle = {
        "resourceType": "Bundle",
        "type": "collection",
        "entry": [
            {
                "resource": {
                    "resourceType": "Patient",
                    "id": "zoe",
                    "name": [{"given": ["Zoë"], "family": "Müller"}],
                }
            }
        ],
    }
    record.write_text(json.dumps(bundle), encoding="utf-8")
    assert run(place, "import", str(record))[0] == 0
    return place


def run(home: Path, *arguments: str, as_json: bool = True, **environ: str) -> tuple[int, str, str]:
    known = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "bedside",
            *arguments,
            "--home",
            str(home),
            *(["--json"] if as_json else []),
        ],
        capture_output=True,
        check=False,
        env={**known, "BEDSIDE_EMBEDDER": "none", **environ},
    )
    return done.returncode, done.stdout.decode(), done.stderr.decode()


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["search", "x", "--limit", "99"], 2),
        (["search", "x", "--since", "yesterday"], 2),
        (["ask", " "], 2),
        (["ask", "x", "--model", "nobody:x"], 2),
        (["ask", "x", "--patient", "nobody"], 1),
        (["attach", "zoe", "/none/a.txt", "/none/b.txt"], 1),
    ],
)
def test_wrong_usage_is_two_and_failure_is_one_each_with_its_error(home, arguments, code):
    found, out, _ = run(home, *arguments)
    assert found == code
    assert set(json.loads(out)["error"]) == {"type", "title", "detail"}


@pytest.mark.parametrize("as_json", [True, False])
def test_a_terminal_without_the_letters_still_gets_the_list(home, as_json):
    code, out, _ = run(home, "patients", as_json=as_json, LC_ALL="C", PYTHONIOENCODING="ascii")
    assert code == 0
    if as_json:
        assert json.loads(out)[0]["name"] == "Zoë Müller"
    else:
        assert "Zo\\xeb" in out


def test_what_was_not_attached_stands_in_the_report(home, tmp_path):
    good, bad = tmp_path / "good.txt", tmp_path / "bad.txt"
    good.write_text("Seen in clinic.", encoding="utf-8")
    bad.write_bytes(b"M\xe9decin")
    code, out, _ = run(home, "attach", "zoe", str(good), str(bad))
    report = json.loads(out)
    assert code == 3
    assert [item["title"] for item in report if item["status"] == "failed_permanent"] == ["bad.txt"]
    assert all({"document_id", "status", "index", "title"} <= set(item) for item in report)
