"""`bedside sop`: exit codes and JSON, run as a process would."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bedside.cli import main

GOOD = """
pack: {id: own, version: "1", title: Own, source: own, licence: own, jurisdiction: here, review_due: 2027-01-01}
id: OWN
title: Own procedure
names: ["own procedure"]
sources: ["Own, 2026"]
fields:
  - {use: age}
  - {use: blood_thinners}
rules:
  - {id: a, description: "%s", source: "Own, 2026", field: blood_thinners, values: ["true"]}
"""


def run(capsys: pytest.CaptureFixture[str], home: Path, *words: str) -> tuple[int, str, str]:
    try:
        code = main([*words, "--home", str(home)])
    except SystemExit as ended:
        code = int(ended.code or 0)
    said = capsys.readouterr()
    return code or 0, said.out, said.err


@pytest.mark.requirement("IN-13")
def test_lint_exits_with_0_3_or_1_and_lists_findings_as_json(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    code, text, _ = run(capsys, tmp_path, "sop", "lint", "--json")
    assert code == 0
    assert json.loads(text) == {"checked": 7, "errors": 0, "warnings": 0, "problems": []}

    own = tmp_path / "own.yaml"
    own.write_text(GOOD % "A blood thinner calls for a plan.", encoding="utf-8")
    code, text, _ = run(capsys, tmp_path, "sop", "lint", str(own), "--json")
    assert code == 3
    assert {one["rule"] for one in json.loads(text)["problems"]} == {"short_prefix"}

    own.write_text(GOOD % "You should stop the blood thinner.", encoding="utf-8")
    code, text, _ = run(capsys, tmp_path, "sop", "lint", str(own), "--json")
    assert code == 1
    found = [one for one in json.loads(text)["problems"] if one["severity"] == "error"]
    assert [(one["rule"], one["where"]) for one in found] == [("second_person", "rules.a")]


def test_a_file_that_is_not_there_or_no_contract_fails_clearly(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    code, _, errors = run(capsys, tmp_path, "sop", "lint", str(tmp_path / "none.yaml"))
    assert code == 1
    assert "none.yaml" in errors
    broken = tmp_path / "broken.yaml"
    broken.write_text("a: [", encoding="utf-8")
    code, text, _ = run(capsys, tmp_path, "sop", "lint", str(broken))
    assert code == 1
    assert "not readable as YAML" in text


def test_show_prints_a_contract_by_code_and_refuses_an_unknown_name(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    code, text, _ = run(capsys, tmp_path, "sop", "show", "27130", "--json")
    assert code == 0
    assert json.loads(text)["id"] == "THR"
    code, text, _ = run(capsys, tmp_path, "sop", "show", "cataract surgery")
    assert code == 0
    assert "unreviewed" in text
    code, _, errors = run(capsys, tmp_path, "sop", "show", "nonsense")
    assert code == 1
    assert "CATARACT" in errors
