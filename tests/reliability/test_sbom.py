"""The bill of materials says what the lock pins, and validates."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

ROOT = Path(__file__).parents[2]


@pytest.mark.requirement("RELIABILITY-28")
@pytest.mark.parametrize("lock", ["app.txt", "base.txt"])
def test_every_pin_is_a_component_with_its_digests(lock: str) -> None:
    path = ROOT / "requirements" / lock
    made = subprocess.run(
        [sys.executable, str(ROOT / "scripts/sbom.py"), str(path)],
        check=True, capture_output=True, text=True,
    ).stdout  # fmt: skip
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(made) is None
    found = {
        one["purl"]: {item["content"] for item in one["hashes"]}
        for one in json.loads(made)["components"]
    }
    text = path.read_text(encoding="utf-8")
    assert len(found) == len(re.findall(r"^[A-Za-z0-9].*==", text, re.MULTILINE))
    name, pinned = re.findall(r"^(pydantic)==(\S+)", text, re.MULTILINE)[0]
    digests = text.split(f"{name}=={pinned}", 1)[1].split("\n    # via", 1)[0]
    assert found[f"pkg:pypi/{name}@{pinned}"] == set(
        re.findall(r"sha256:([0-9a-f]{64})", digests.split("\n" + "pydantic-core", 1)[0])
    )
    assert sum(map(len, found.values())) == text.count("--hash=sha256:")
