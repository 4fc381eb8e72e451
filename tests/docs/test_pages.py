"""README.md and docs/: what every page holds to, whatever its examples print."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
import docs_examples as docs
import reproduce

ROOT = Path(__file__).resolve().parents[2]
PAGES = docs.pages()
NAMES = [str(page.relative_to(ROOT)) for page in PAGES]


@pytest.mark.parametrize("name", NAMES)
def test_a_page_shows_files_as_they_are_and_its_data_reads(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    assert docs.show_files(text) == text
    assert docs.parse_data(text) == []


@pytest.mark.parametrize("name", NAMES)
def test_every_fence_is_run_or_says_why_not(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    assert text.count("```") == 2 * len(docs.blocks(text))
    for block in docs.blocks(text):
        assert block.kind in {"console", "python", "text", "toml", "json"} or block.skipped, block


@pytest.mark.parametrize("name", NAMES)
def test_links_inside_the_project_lead_somewhere(name: str) -> None:
    page = ROOT / name
    text = re.sub(
        r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL
    )
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)|src=\"([^\"]+)\"", text):
        link = target[0] or target[1]
        if "://" in link:
            continue
        # The results page is made by `make reproduce`, so a fresh clone may not have it yet.
        if link.endswith("results.md"):
            continue
        assert (page.parent / link).exists(), f"{name} links to {link}"


def test_an_example_that_prints_something_else_is_found_out() -> None:
    """The comparison itself can fail: words, missing lines and extra lines all count."""
    assert docs.same("a rec-0123456789ab\n...\nz\n", "a rec-ffffffffffff\nm\nn\nz\n")
    assert docs.same("1,947 of 6,000 tokens", "2,001 of 6,000 tokens")
    assert not docs.same("8.6 %", "8.3 %")
    assert not docs.same("a\nb", "a")
    assert not docs.same("a", "a\nb")
    assert not docs.same("1,947 of 6,000 tokens", "1,947 of 5,000 tokens")


def test_every_suite_of_make_reproduce_stands_in_its_page() -> None:
    text = (ROOT / "docs" / "reproduce.md").read_text(encoding="utf-8")
    missing = [
        suite.name
        for suite in reproduce.SUITES
        if f"{' '.join(suite.command[:2])}`" not in text
        and f"`bedside {' '.join(suite.command[:2])}" not in text
    ]
    assert missing == []
