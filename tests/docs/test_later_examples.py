"""Every example of the later half of the pages runs, and prints what the page shows."""

from __future__ import annotations

from collections.abc import Callable

import pytest


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_the_examples_of_a_page_print_what_it_shows(
    later_page: str, wrong_examples: Callable[[str], list[str]]
) -> None:
    assert wrong_examples(later_page) == []
