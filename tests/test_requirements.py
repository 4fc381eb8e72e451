"""The manifest of requirements and the tests that claim them agree, both ways."""

from __future__ import annotations

import ast
import importlib.util
import re
from collections import defaultdict
from pathlib import Path

TESTS = Path(__file__).resolve().parent
_CLAIM = re.compile(r"mark\.requirement\(\s*((?:\"[A-Z]+-[A-Z]?\d+\"\s*,?\s*)+)\)")


def manifest() -> tuple[dict[str, str], dict[str, str], frozenset[str]]:
    spec = importlib.util.spec_from_file_location("requirements", TESTS / "requirements.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.REQUIREMENTS, module.SOURCES, module.UNMARKED


def claims() -> dict[str, list[str]]:
    """Requirement id -> the test files that claim it, by text."""
    found: dict[str, list[str]] = defaultdict(list)
    for path in sorted(TESTS.rglob("test_*.py")):
        for match in _CLAIM.finditer(path.read_text(encoding="utf-8")):
            for name in re.findall(r"\"([^\"]+)\"", match[1]):
                found[name].append(path.name)
    return found


def test_every_requirement_that_a_test_claims_is_in_the_manifest() -> None:
    known, _, _ = manifest()
    assert {name: files for name, files in claims().items() if name not in known} == {}


def test_every_requirement_of_the_manifest_has_a_test_or_is_listed_as_unmarked() -> None:
    known, _, unmarked = manifest()
    assert sorted(set(known) - set(claims()) - unmarked) == []
    assert unmarked <= set(known)


def test_every_entry_has_a_source_and_one_sentence() -> None:
    known, sources, _ = manifest()
    for name, sentence in known.items():
        assert name.split("-")[0] in sources, name
        assert sentence.endswith("."), name
        assert 20 <= len(sentence) <= 140, name
    assert len(set(known.values())) == len(known)


def test_no_marker_escapes_the_scan() -> None:
    """A claim written in a form that the scan cannot read would go unnoticed."""
    for path in sorted(TESTS.rglob("test_*.py")):
        text = path.read_text(encoding="utf-8")
        written = sum(
            isinstance(node, ast.Attribute) and node.attr == "requirement"
            for node in ast.walk(ast.parse(text))
        )
        assert written == len(_CLAIM.findall(text)), path.name


def test_the_scan_reads_both_forms() -> None:
    text = (
        "@pytest.mark."
        'requirement("EN-C2")\n@pytest.mark.'
        'requirement(\n    "CO-01",\n    "CO-02",\n)'
    )
    assert [re.findall(r"\"([^\"]+)\"", m[1]) for m in _CLAIM.finditer(text)] == [
        ["EN-C2"],
        ["CO-01", "CO-02"],
    ]
