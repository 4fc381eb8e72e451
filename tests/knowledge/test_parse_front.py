"""Front matter reads as YAML does, whichever way it was read."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from bedside.core.errors import BadInput
from bedside.knowledge.parse.front import read_front_matter

_WORDS = st.sampled_from(
    [
        "title",
        "yes",
        "No",
        "null",
        "on",
        "e1",
        "2024",
        "12:30",
        "1.5",
        "UTC",
        "Z",
        "a:b",
        "a:",
        "#",
        "-",
        "a-b",
        "(x)",
        "https://example.org/a?b=c",
        ",",
        ".5",
        "nan",
        ".inf",
        "~",
        "&a",
    ]
)
_VALUES = st.lists(_WORDS, min_size=1, max_size=3).map(" ".join)
_KEYS = st.sampled_from(["title", "source", "yes", "a_b", "on", "a-b", "Null", "nothing"])


def _expected(body: str) -> object:
    try:
        return yaml.safe_load(body)
    except yaml.YAMLError:
        return "broken"


@settings(max_examples=150)
@given(lines=st.lists(st.tuples(_KEYS, st.sampled_from([": ", ":  "]), _VALUES), max_size=4))
def test_simple_lines_read_as_yaml_reads_them(lines: list[tuple[str, str, str]]) -> None:
    body = "\n".join("".join(line) for line in lines)
    expected = _expected(body)
    if expected == "broken":
        with pytest.raises(BadInput):
            read_front_matter(f"---\n{body}\n---\n", name="a.md")
        return
    assert expected is None or isinstance(expected, dict)
    found = read_front_matter(f"---\n{body}\n---\n", name="a.md")
    texts = {str(key).lower(): entry for key, entry in (expected or {}).items()}
    assert list(found) == list(texts)
    for key, entry in texts.items():
        if isinstance(entry, str):
            assert found[key] == entry
        else:
            assert not isinstance(found[key], str) or found[key] == str(entry)[:10]


def test_the_fields_of_a_real_page_are_texts() -> None:
    block = "---\nsource: https://example.org/a-1/\nscraped_date: 2025-07-22 12:52:13 UTC\n---\n"
    assert read_front_matter(block, name="a.md") == {
        "source": "https://example.org/a-1/",
        "scraped_date": "2025-07-22 12:52:13 UTC",
    }


@pytest.mark.parametrize("written", ["3 May 2024", "May 3, 2024", "3rd May 2024", "2024-05-03"])
def test_a_date_in_words_is_the_day_that_it_names(written: str) -> None:
    found = read_front_matter(f"---\ndate: {written}\n---\n", name="a.md")
    assert found == {"published": "2024-05-03"}


@pytest.mark.parametrize("written", ["last week", "03/05/2024", "May 2024", "31 February 2024"])
def test_what_names_no_one_day_is_refused(written: str) -> None:
    with pytest.raises(BadInput, match="publication date"):
        read_front_matter(f"---\ndate: {written}\n---\n", name="a.md")
