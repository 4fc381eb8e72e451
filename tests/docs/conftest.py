"""One store with the bundled demo for all pages; each page works on a copy."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with the demo loaded, made by the command itself."""
    from docs_examples import demo_home

    return demo_home(tmp_path_factory.mktemp("docs"))
