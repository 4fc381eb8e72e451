"""`make reproduce` writes what the commands print, and a suite that fails as failed."""

from __future__ import annotations

import re
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
import reproduce
from reproduce import Done, Suite, Target

SUITES = (
    Suite("good", ("eval", "good"), ("eval", "good", "--small"),
          (Target("accuracy", "all/accuracy", "all/n", "at least", 0.99),
           Target("time", "ms", "all/n", "at most", 5))),
    Suite("bad", ("eval", "bad"), None, (Target("share", "share", "n", "is", 1),)),
    Suite("late", ("bench", "late"), ("bench", "late"), ()),
)  # fmt: skip


def play(command, *, timeout: float) -> Done:
    del timeout
    if command[1] == "bad":
        return Done(tuple(command), 1.0, None, "exit 1, no JSON document")
    if command[1] == "late":
        return Done(tuple(command), 2.0, {"n": 12345, "why": None, "kind": "a|b"})
    return Done(tuple(command), 3.0, {"all": {"accuracy": 0.9912, "n": 398}, "ms": 7.25})


def test_a_failed_suite_is_written_as_failed_and_the_others_go_on(tmp_path: Path) -> None:
    out = tmp_path / "results.md"
    assert reproduce.main(["--out", str(out)], run=play, suites=SUITES) == 3
    text = out.read_text(encoding="utf-8")
    assert "| good | accuracy | 0.9912 | at least 0.99 | met | 398 |" in text
    assert "| good | time | 7.25 | at most 5 | **not met** | 398 |" in text
    assert "| bad | share | not measured | is 1 |  |  |" in text
    failed = r"`bedside eval bad`, 1 s; [^\n]+\n\n\*\*Failed:\*\* exit 1, no JSON document"
    assert re.search(failed, text)
    assert "| n | 12,345 |" in text
    assert "| why | not measured |" in text
    assert re.search(r"\| cores \| \d+ \|\n", text)
    assert re.search(r"\| date \| \d{4}-\d\d-\d\d \|\n", text)


def test_a_quick_run_says_that_it_is_one_and_what_it_left_out(tmp_path: Path) -> None:
    out = tmp_path / "results.md"
    assert reproduce.main(["--quick", "--out", str(out)], run=play, suites=SUITES) == 0
    text = out.read_text(encoding="utf-8")
    assert "This is a quick run" in text
    assert "`bedside eval good --small`" in text
    assert "## bad\n\nNot measured yet, or left out of a quick run." in text


def test_measuring_one_suite_again_keeps_what_the_others_measured(tmp_path: Path) -> None:
    out = tmp_path / "results.md"
    reproduce.main(["--out", str(out)], run=play, suites=SUITES)

    def better(command, *, timeout: float) -> Done:
        del timeout
        return Done(tuple(command), 1.0, {"share": 1, "n": 7, "examples": ["words of a patient"]})

    assert reproduce.main(["--only", "bad", "--out", str(out)], run=better, suites=SUITES) == 0
    text = out.read_text(encoding="utf-8")
    assert "| bad | share | 1 | is 1 | met | 7 |" in text
    assert "| good | accuracy | 0.9912 | at least 0.99 | met | 398 |" in text
    assert "words of a patient" not in out.with_suffix(".json").read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.timeout(240)
def test_a_real_suite_is_run_and_read() -> None:
    command = ("bench", "context", "--assemblies", "20", "--no-compare", "--json")
    done = reproduce.run_command(command, timeout=200)
    assert done.why == ""
    (suite,) = (one for one in reproduce.SUITES if one.name == "context")
    text = reproduce.page([(suite, done)], machine={}, quick=True)
    assert "| context | random assemblies over budget | 0 | is 0 | met | 20 |" in text


def test_a_command_that_does_not_exist_fails_with_a_reason() -> None:
    done = reproduce.run_command(("eval", "nothing", "--json"), timeout=60)
    assert done.figures is None
    assert "Wrong usage" in done.why


def test_every_suite_of_the_command_line_is_measured() -> None:
    from bedside.cli.parser import build_parser

    parser = build_parser()
    scripts = [suite for suite in reproduce.SUITES if suite.command[0].endswith(".py")]
    assert [suite.command for suite in scripts] == [("scripts/soak.py",)]
    assert (Path(reproduce.ROOT) / "scripts/soak.py").is_file()
    commands = [suite for suite in reproduce.SUITES if suite not in scripts]
    for suite in commands:
        for command in (suite.command, suite.quick):
            if command is not None:
                assert (
                    parser.parse_args(list(command)).suite == suite.name.replace(",", "").split()[0]
                )
    measured = {(suite.command[0], suite.command[1]) for suite in commands}
    known = {
        (kind[:-1].removeprefix("bedside."), entry.name)
        for kind in ("bedside.evals", "bedside.benches")
        for entry in entry_points(group=kind)
    }
    assert {("bench" if kind == "benche" else kind, name) for kind, name in known} == measured
