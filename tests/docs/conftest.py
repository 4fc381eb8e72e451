"""One store with the bundled demo for all pages and workers; each page works on a copy."""

from __future__ import annotations

import fcntl
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
import docs_examples as docs

ROOT = docs.ROOT
SHOWN = [
    str(page.relative_to(ROOT))
    for page in docs.pages()
    if docs.examples(page.read_text(encoding="utf-8"))
]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Part the pages with examples in two by name, for a worker gets a whole file of tests."""
    half = len(SHOWN) // 2
    for name, pages in (("earlier_page", SHOWN[:half]), ("later_page", SHOWN[half:])):
        if name in metafunc.fixturenames:
            metafunc.parametrize(name, pages)


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with the demo loaded, made by the command itself, once for all workers."""
    base = tmp_path_factory.getbasetemp()
    shared = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "docs-demo"
    shared.mkdir(exist_ok=True)
    made = shared / "made"
    with (shared / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not made.exists():
            docs.demo_home(shared)
            made.touch()
    return shared / "demo"


@pytest.fixture
def wrong_examples(demo: Path, tmp_path: Path) -> Callable[[str], list[str]]:
    """Runs the examples of a page; what each that fails or prints otherwise did, in words."""

    def judge(name: str) -> list[str]:
        text = (ROOT / name).read_text(encoding="utf-8")
        wrong: list[str] = []
        for one in docs.run(text, demo=demo, folder=tmp_path / "page"):
            example = one.example
            if one.code:
                wrong.append(f"line {example.line}: exit {one.code}\n{one.errors[-1500:]}")
            elif example.expected is not None and not docs.same(example.expected, one.output):
                wrong.append(
                    f"line {example.line}:\n{docs.difference(example.expected, one.output)}"
                )
        return [*wrong, "Mend it with: python scripts/docs_examples.py --write"] if wrong else []

    return judge
