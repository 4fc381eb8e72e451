"""Files of every format: exact text, found structure, and clear refusals."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bedside.core.errors import BadInput
from bedside.knowledge.parse import parse
from bedside.language.chunks import chunk

LINES = [
    ("DISCHARGE SUMMARY", 1),
    ("The patient was admitted with pneumonia and treated with amoxicillin 500 mg.", 0),
    ("FOLLOW UP", 1),
    ("Review in two weeks with a chest radiograph.", 0),
]


def made_pdf(*, password: str | None = None, text: bool = True) -> bytes:
    from reportlab.lib.pagesizes import A4
    from reportlab.lib.pdfencrypt import StandardEncryption
    from reportlab.pdfgen import canvas

    out = io.BytesIO()
    page = canvas.Canvas(
        out, pagesize=A4, encrypt=StandardEncryption(password) if password else None
    )
    page.setTitle("Summary")
    y = 780
    for line, heading in LINES if text else []:
        page.setFont("Helvetica", 16 if heading else 11)
        page.drawString(72, y, line)
        y -= 40 if heading else 24
    page.showPage()
    page.save()
    return out.getvalue()


def made_image(lines: list[str]) -> bytes:
    from PIL import Image, ImageDraw, ImageFont

    picture = Image.new("RGB", (1300, 90 + 90 * len(lines)), "white")
    draw = ImageDraw.Draw(picture)
    for number, line in enumerate(lines):
        draw.text((60, 50 + number * 90), line, fill="black", font=ImageFont.load_default(size=40))
    out = io.BytesIO()
    picture.save(out, "PNG")
    return out.getvalue()


def made_docx() -> bytes:
    import docx

    document = docx.Document()
    document.core_properties.title = "Asthma plan"
    document.add_heading("Asthma", 1)
    document.add_paragraph("Give salbutamol.")
    document.add_heading("Doses", 2)
    table = document.add_table(2, 2)
    for row, cells in enumerate([("Drug", "Dose"), ("Salbutamol", "2 puffs")]):
        for column, words in enumerate(cells):
            table.cell(row, column).text = words
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


def test_markdown_is_stored_as_it_is_read_by_anyone(shared_data: Path) -> None:
    """`open(file)` with universal line ends is the independent reading."""
    count = 0
    for file in sorted((shared_data / "guidelines").rglob("*.md"))[::6]:
        parsed = parse(file.read_bytes(), name=file.name)
        assert parsed.text == file.read_text(encoding="utf-8-sig")
        for profile in ("guideline", "note"):
            for piece in chunk(parsed.text, parsed.sections, profile=profile):
                assert parsed.text[piece.start : piece.end].strip()
                assert 0 <= piece.start < piece.end <= len(parsed.text)
                count += 1
    assert count > 1000


def test_pdf_text_headings_and_title_are_found() -> None:
    parsed = parse(made_pdf(), name="summary.pdf")
    assert parsed.title == "Summary"
    assert [s.title for s in parsed.sections] == ["DISCHARGE SUMMARY", "FOLLOW UP"]
    assert all(line in parsed.text for line, _ in LINES)


def test_pdf_headings_nest_by_the_size_of_their_font_and_not_of_their_ink() -> None:
    from reportlab.pdfgen import canvas

    out = io.BytesIO()
    page = canvas.Canvas(out)
    for y, size, words in (
        (760, 18, "Heat stroke"),  # no letter goes below the line, and "Cooling" has one that does
        (730, 11, "Core temperature above 40 degrees with confusion."),
        (690, 14, "Cooling"),
        (665, 11, "Ice water immersion within 30 minutes."),
        (625, 14, "Fluids"),
        (600, 11, "a crescent moon rises over us once more"),
    ):
        page.setFont("Helvetica-Bold" if size > 11 else "Helvetica", size)
        page.drawString(72, y, words)
    page.save()
    parsed = parse(out.getvalue(), name="e.pdf")
    assert [s.path for s in parsed.sections] == [
        ("Heat stroke",),
        ("Heat stroke", "Cooling"),
        ("Heat stroke", "Fluids"),
    ]
    assert parsed.title == "Heat stroke"  # the file itself calls itself "untitled"


@pytest.mark.parametrize(
    ("given", "title"),
    [
        ("untitled", ""), ("(anonymous)", ""), ("Document1", ""), ("Untitled Document 2", ""),
        ("Microsoft Word - discharge letter.docx", ""), ("scan_0012.pdf", ""),
        ("Document of care", "Document of care"), ("Untitled lesions of the skin",) * 2,
        ("Asthma plan 2", "Asthma plan 2"),
    ],
)  # fmt: skip
def test_a_title_that_a_program_gave_is_none(given: str, title: str) -> None:
    import docx

    document = docx.Document()
    document.core_properties.title = given
    document.add_paragraph("Give salbutamol.")
    out = io.BytesIO()
    document.save(out)
    assert parse(out.getvalue(), name="plan.docx").title == title


def test_docx_headings_and_tables_are_found() -> None:
    parsed = parse(made_docx(), name="plan.docx")
    assert parsed.title == "Asthma plan"
    assert [s.path for s in parsed.sections] == [("Asthma",), ("Asthma", "Doses")]
    ((start, end),) = parsed.tables
    assert parsed.text[start:end] == "| Drug | Dose |\n| --- | --- |\n| Salbutamol | 2 puffs |"


def test_html_blocks_lists_and_tables_are_read_and_scripts_are_not() -> None:
    page = b"""<!doctype html><html><head><title>Gout</title><style>p{}</style></head><body><nav>menu</nav>
    <h1>Gout</h1><div><p>Use <b>colchicine</b>&nbsp;500 mcg.</p></div><h2>Care</h2><ul><li>rest<ul><li>ice</li></ul></li></ul>
    <table><tr><th>Drug</th><th>Dose</th></tr><tr><td>Colchicine</td><td>1|2</td></tr></table>
    <p style="display: none">hidden</p><script>alert('x')</script></body></html>"""
    parsed = parse(page, name="gout.html")
    assert parsed.title == "Gout"
    assert parsed.text == (
        "Gout\n\nUse colchicine 500 mcg.\n\nCare\n\n- rest\n  - ice\n\n"
        "| Drug | Dose |\n| --- | --- |\n| Colchicine | 1\\|2 |\n"
    )
    assert [s.path for s in parsed.sections] == [("Gout",), ("Gout", "Care")]


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_a_scanned_image_is_read_and_says_that_it_was() -> None:
    parsed = parse(made_image(["Hemoglobin 10.2 g/dL", "Potassium 5.9 mmol/L"]), name="scan.png")
    assert parsed.text.split("\n")[:2] == ["Hemoglobin 10.2 g/dL", "Potassium 5.9 mmol/L"]
    assert parsed.warnings == ("read by OCR, check it against the original",)


def test_line_ends_and_byte_order_marks_do_not_move_offsets() -> None:
    body = "# A\n\nbody text\n"
    for data in (
        body.encode("utf-8-sig"),
        body.replace("\n", "\r\n").encode(),
        body.encode("utf-16"),
    ):
        assert parse(data, name="a.md").text == body


@pytest.mark.requirement("EN-K1")
def test_section_tiles_survive_every_format() -> None:
    for data, name in (
        (made_pdf(), "a.pdf"),
        (made_docx(), "a.docx"),
        (b"<h1>A</h1><p>b</p>", "a.html"),
    ):
        parsed = parse(data, name=name)
        joined = "".join(parsed.text[s.start : s.end] for s in parsed.sections)
        assert "".join(joined.split()) == "".join(parsed.text.split())


def zip_bomb() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as bundle:
        bundle.writestr("word/document.xml", b"\0" * 210_000_000)
    return out.getvalue()


@pytest.mark.parametrize(
    ("make", "name", "why"),
    [
        (lambda: made_pdf(password="secret"), "locked.pdf", "password-protected"),
        (lambda: b"%PDF-1.4 broken", "broken.pdf", "not a readable PDF"),
        (lambda: made_pdf(text=False), "blank.pdf", "no text"),
        (lambda: b"\xd0\xcf\x11\xe0" + b"0" * 600, "locked.docx", "password-protected"),
        (lambda: b"PK\x03\x04 broken", "broken.docx", "not a readable Word document"),
        (lambda: b"no archive", "fake.docx", "content is another format"),
        (zip_bomb, "bomb.docx", "unpacks to"),
        (lambda: "Ménière".encode("latin-1"), "latin.txt", "UTF-8"),
        (lambda: b"text\x00with\x00nulls", "binary.txt", "not text"),
        (lambda: b"", "empty.md", "empty"),
        (lambda: b"  \n ", "blank.md", "empty"),
        (lambda: b"x", "tool.exe", "not read"),
        (lambda: b"\x89PNG broken", "broken.png", "not an image"),
        (lambda: b"---\ntitle: [\n---\n# A\n\nb", "front.md", "not readable as YAML"),
        (lambda: b"<html><body></body></html>", "empty.html", "no text"),
    ],
)
@pytest.mark.timeout(120)
def test_what_cannot_be_read_is_refused_with_its_reason(make, name, why) -> None:
    with pytest.raises(BadInput, match=why) as caught:
        parse(make(), name=name)
    assert str(caught.value).startswith(name)


def test_a_file_over_200_mb_is_refused_unread() -> None:
    with pytest.raises(BadInput, match="at most 200000000"):
        parse(bytes(200_000_001), name="huge.md")


@given(st.binary(max_size=300), st.sampled_from(["a.md", "a.txt", "a.html", "a.pdf", "a.docx"]))
@settings(max_examples=150, deadline=None)
def test_any_bytes_are_read_or_refused_and_never_crash(data: bytes, name: str) -> None:
    try:
        parsed = parse(data, name=name)
    except BadInput:
        return
    assert parsed.text.strip()
