"""YAML from elsewhere: read, or refused by name; it never ends the process that reads it."""

from __future__ import annotations

import subprocess
import sys

import pytest

from bedside.core.errors import BadInput
from bedside.core.yaml_text import STRINGS, read_yaml

DEEP = {"flow": "[" * 60_000, "block": "- " * 60_000 + "a", "keys": "{a: " * 60_000}


@pytest.mark.parametrize("name", DEEP)
@pytest.mark.requirement("EN-S5")
def test_a_text_of_many_levels_is_refused_and_the_process_lives(name: str) -> None:
    """In a process of its own, for the loader in C would end this one."""
    program = (
        "import sys\nfrom bedside.core.errors import BadInput\n"
        "from bedside.core.yaml_text import read_yaml\n"
        "try:\n    read_yaml(sys.stdin.read(), what='f')\n"
        "except BadInput as error:\n    print(error)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        input=DEEP[name],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "f: its YAML is nested too deeply.\n")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("a: 1\nb: [1", "at line 3"),
        ("!!python/object/apply:os.getpid []", "at line 1"),
        ("a: \x01", "not readable as YAML"),
        ("a: &a [*a]", "holds itself"),
        ("a: 2026-13-45", "not what it is said to be"),
        ("a: !!timestamp noon", "not what it is said to be"),
        ("a: !!bool perhaps", "not what it is said to be"),
        ("a: " + "9" * 5_000, "not what it is said to be"),
    ],
)
def test_a_text_that_cannot_be_read_says_why(text: str, why: str) -> None:
    with pytest.raises(BadInput, match=why):
        read_yaml(text, what="f")


@pytest.mark.parametrize("form", ["[{}]", "{{<<: [{}]}}"])
def test_a_few_lines_that_repeat_one_another_into_millions_are_refused(form: str) -> None:
    lines = ["a0: &a0 {k: v}"]
    lines += [f"a{n}: &a{n} " + form.format(", ".join([f"*a{n - 1}"] * 9)) for n in range(1, 8)]
    with pytest.raises(BadInput, match="repeats its parts too often"):
        read_yaml("\n".join(lines), what="f")
    assert read_yaml("\n".join(lines[:3]), what="f")["a2"]


def test_what_can_be_read_is_read_once_with_types_and_once_as_it_stands() -> None:
    text = "a: NO\nb: &one [72.50]\nc: *one\n"
    assert read_yaml(text, what="f") == {"a": False, "b": [72.5], "c": [72.5]}
    assert read_yaml(text, what="f", loader=STRINGS) == {"a": "NO", "b": ["72.50"], "c": ["72.50"]}
    assert read_yaml("", what="f") is None
