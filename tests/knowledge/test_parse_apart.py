"""Risky files in a child process: the same result, and limits that hold."""

from __future__ import annotations

import io

import pytest

from bedside.core.errors import BadInput
from bedside.knowledge.parse import apart, parse
from bedside.knowledge.parse.apart import parse_apart


def made_docx(paragraphs: int) -> bytes:
    import docx

    document = docx.Document()
    document.add_heading("Asthma", 1)
    for number in range(paragraphs):
        document.add_paragraph(f"Paragraph {number} about salbutamol.")
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


@pytest.mark.parametrize(
    ("data", "name"),
    [(made_docx(3), "a.docx"), (b"<h1>A</h1><p>b</p>", "a.html"), (b"# A\n\nb", "a.md")],
)
def test_a_child_gives_what_the_parser_gives(data, name) -> None:
    assert parse_apart(data, name=name) == parse(data, name=name)


def test_a_refusal_comes_through_with_its_reason_and_advice() -> None:
    with pytest.raises(BadInput) as apart_error:
        parse_apart(b"\xd0\xcf\x11\xe0" + b"0" * 600, name="locked.docx")
    with pytest.raises(BadInput) as direct:
        parse(b"\xd0\xcf\x11\xe0" + b"0" * 600, name="locked.docx")
    assert str(apart_error.value) == str(direct.value)


@pytest.mark.slow
def test_a_file_that_needs_too_much_memory_is_refused_and_the_parent_lives(monkeypatch) -> None:
    monkeypatch.setattr(apart, "MEMORY", 250_000_000)
    with pytest.raises(BadInput, match=r"^big\.html: "):
        parse_apart(b"<html>" + b"<p>word</p>" * 900_000, name="big.html")


@pytest.mark.slow
@pytest.mark.timing
def test_a_file_that_takes_too_long_is_refused(monkeypatch) -> None:
    monkeypatch.setattr(apart, "SECONDS", 1)
    with pytest.raises(BadInput, match="Split"):
        parse_apart(b"<html>" + b"<p>word</p>" * 2_500_000, name="slow.html")
