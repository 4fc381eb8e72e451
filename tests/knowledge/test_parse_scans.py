"""Scanned PDF files: blank pages cost no OCR, and OCR that finds nothing is given up soon."""

from __future__ import annotations

import io
import random
import time
from collections.abc import Sequence
from typing import Any

import pytest
from PIL import Image, ImageDraw, ImageFont

from bedside.core.errors import BadInput
from bedside.knowledge.parse import parse
from bedside.knowledge.parse.apart import parse_apart
from bedside.knowledge.parse.image import has_ink
from bedside.knowledge.parse.pdf import parse_pdf

A4 = (1240, 1754)
"""At 150 points an inch."""


def page(line: str = "", *, seed: int = 0, dark: int = 20) -> Image.Image:
    """Paper with dust, and one line of 12-point letters where there is one."""
    picture = Image.new("L", A4, 248)
    dice = random.Random(seed)
    for _ in range(3_000):
        spot = (dice.randrange(A4[0]), dice.randrange(A4[1]))
        picture.putpixel(spot, dice.randrange(215, 256))
    if line:
        font = ImageFont.load_default(size=25)
        ImageDraw.Draw(picture).text((120, 300), line, fill=dark, font=font)
    return picture


def scan(pages: Sequence[Image.Image]) -> bytes:
    out = io.BytesIO()
    pages[0].save(out, "PDF", save_all=True, append_images=pages[1:], resolution=150)
    return out.getvalue()


class Reader:
    """OCR that gives the words it was told, page by page, and knows how often it was asked."""

    def __init__(self, *words: str) -> None:
        self.words, self.asked = words, 0

    def __call__(self, picture: Any) -> str:
        assert max(picture.size) > 1_000, "too small to read"
        self.asked += 1
        return self.words[self.asked - 1] if self.asked <= len(self.words) else ""


def test_blank_scans_are_refused_without_ocr_and_the_error_says_what_was_tried() -> None:
    ocr = Reader()
    with pytest.raises(BadInput, match=r"no text layer.*3 blank"):
        parse_pdf(scan([page(seed=n) for n in range(3)]), name="blank.pdf", ocr=ocr)
    assert ocr.asked == 0


@pytest.mark.parametrize("dark", [20, 120, 190])
def test_a_single_line_is_ink_even_in_pencil(dark: int) -> None:
    assert has_ink(page("Potassium 5.9 mmol/L", dark=dark))
    assert has_ink(page("ok", dark=dark))
    assert not has_ink(page())


def test_a_scan_of_three_pages_is_read_and_a_blank_page_among_them_is_passed() -> None:
    ocr = Reader("Metformin 500 mg", "Allergy: penicillin")
    data = scan([page("Metformin 500 mg"), page(), page("Allergy: penicillin")])
    parsed = parse_pdf(data, name="scan.pdf", ocr=ocr)
    assert "Metformin 500 mg" in parsed.text
    assert "Allergy: penicillin" in parsed.text
    assert ocr.asked == 2
    assert parsed.warnings == ("pages read by OCR, check them against the original: 1, 3",)


def test_ocr_that_finds_nothing_is_given_up_after_two_pages() -> None:
    ocr = Reader()
    with pytest.raises(BadInput, match="2 read by OCR without finding any, 28 not looked at"):
        parse_pdf(scan([page("~ ~ ~")] * 30), name="drawings.pdf", ocr=ocr)
    assert ocr.asked == 2


@pytest.mark.timing
def test_a_blank_scan_is_refused_within_5_seconds_in_its_own_process() -> None:
    data = scan([page(seed=n) for n in range(6)])
    begun = time.monotonic()
    with pytest.raises(BadInput, match="6 blank"):
        parse_apart(data, name="blank.pdf")
    assert time.monotonic() - begun < 5


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_a_real_scan_of_three_pages_is_read_in_its_own_process() -> None:
    lines = ["Hemoglobin 10.2 g/dL", "Potassium 5.9 mmol/L", "Metformin 500 mg daily"]
    parsed = parse_apart(scan([page(line) for line in lines]), name="scan.pdf")
    assert [line for line in lines if line.split()[0] not in parsed.text] == []


def test_a_blank_picture_is_refused_without_ocr() -> None:
    out = io.BytesIO()
    page().save(out, "PNG")
    with pytest.raises(BadInput, match=r"blank.*OCR was not tried"):
        parse(out.getvalue(), name="blank.png")
