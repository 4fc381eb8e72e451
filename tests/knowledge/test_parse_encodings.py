"""Text files: read as they are written, or refused with what to do; never guessed."""

from __future__ import annotations

import codecs
import unicodedata

import pytest

from bedside.core.errors import BadInput
from bedside.knowledge.parse import parse

BODY = "# M\u00e9ni\u00e8re\n\nDose \u2265 5 mg, \u85ac\n"


@pytest.mark.parametrize("name", ["a.md", "a.txt"])
@pytest.mark.parametrize(
    "data",
    [
        BODY.replace("\n", "\r").encode(),
        BODY.replace("\n", "\r\n").encode("utf-16"),
        codecs.BOM_UTF16_BE + BODY.encode("utf-16-be"),
        BODY.encode("utf-32"),
        codecs.BOM_UTF8 * 2 + BODY.encode(),
    ],
    ids=["cr", "crlf in utf-16", "utf-16-be", "utf-32", "two marks"],
)
def test_marked_encodings_and_all_line_ends_give_the_same_text(data: bytes, name: str) -> None:
    assert parse(data, name=name).text == BODY


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_letters_are_neither_composed_nor_taken_apart(form) -> None:
    body = unicodedata.normalize(form, BODY)
    parsed = parse(body.encode(), name="a.md")
    assert parsed.text == body
    assert [unicodedata.normalize("NFC", s.title) for s in parsed.sections] == ["M\u00e9ni\u00e8re"]


@pytest.mark.parametrize("name", ["a.md", "a.txt"])
@pytest.mark.parametrize(
    ("data", "why"),
    [
        ("caf\u00e9 5 mg".encode("cp1252"), "byte 3 is not UTF-8. Save the file as UTF-8"),
        ("\u85ac\u3092\u98f2\u3080".encode("shift_jis"), "byte 0 is not UTF-8"),
        ("\u836f\u7269\u5242\u91cf".encode("gbk"), "is not UTF-8"),
        ("\u85ac\u3092\u98f2\u3080".encode("iso2022_jp"), "it is not text"),
        ("# Dose\n\n5 mg".encode("utf-16-le"), "UTF-16 without its mark. Save the file as UTF-8"),
        (BODY.encode("utf-16") + b"\x00", "is not UTF-16"),
        (BODY.encode()[:4], "is not UTF-8"),
        (codecs.BOM_UTF8, "no text"),
        (b"abc\x01\x02\x03" * 10, "it is not text"),
    ],
)
def test_other_encodings_are_refused_with_the_place_and_the_remedy(data, why, name) -> None:
    with pytest.raises(BadInput) as caught:
        parse(data, name=name)
    assert why in str(caught.value)
    assert str(caught.value).startswith(name)
