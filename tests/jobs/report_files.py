"""The reports of `reports.py` as files: PDF with a text layer, a scan of it, a Word file."""

from __future__ import annotations

import io
from typing import Any


def as_pdf(report: Any) -> bytes:
    """A PDF with a text layer."""
    from reportlab.lib import colors
    from reportlab.lib.pagesizes import A4
    from reportlab.lib.styles import getSampleStyleSheet
    from reportlab.platypus import Paragraph, SimpleDocTemplate, Spacer, Table, TableStyle

    styles = getSampleStyleSheet()
    flow: list[Any] = []
    for kind, body in report.blocks:
        if kind == "table":
            flow += [
                Table(
                    body,
                    style=TableStyle(
                        [
                            ("GRID", (0, 0), (-1, -1), 0.3, colors.grey),
                            ("FONTSIZE", (0, 0), (-1, -1), 9),
                        ]
                    ),
                ),
                Spacer(1, 8),
            ]
        else:
            flow.append(
                Paragraph(
                    str(body).replace("&", "&amp;").replace("<", "&lt;"),
                    styles["Heading3" if kind == "title" else "BodyText"],
                )
            )
    made = io.BytesIO()
    SimpleDocTemplate(made, pagesize=A4, invariant=1).build(flow)
    return made.getvalue()


def picture(
    report: Any, *, turn: float = 0.0, noise: float = 0.0, seed: int = 0, dpi: int = 150
) -> Any:
    """The first page as a Pillow image, turned and with grain as a scan has it."""
    import numpy as np
    import pypdfium2
    from PIL import Image, ImageFilter

    page = pypdfium2.PdfDocument(as_pdf(report))[0]
    image = page.render(scale=dpi / 72).to_pil().convert("L")
    image = image.crop((0, 0, image.width, int(image.height * 0.62)))
    image = image.rotate(turn, expand=True, fillcolor=250, resample=Image.Resampling.BICUBIC)
    image = image.filter(ImageFilter.GaussianBlur(0.6))
    grain = np.random.default_rng(seed).normal(0, noise, (image.height, image.width))
    return Image.fromarray(
        np.clip(np.asarray(image, dtype=np.float32) + grain, 0, 255).astype("uint8")
    )


def as_scan(report: Any, *, turn: float = 1.2, noise: float = 12.0, seed: int = 0) -> bytes:
    """A PNG as a flatbed or a telephone gives it."""
    made = io.BytesIO()
    picture(report, turn=turn, noise=noise, seed=seed).save(made, "PNG")
    return made.getvalue()


def as_docx(report: Any) -> bytes:
    """A Word file."""
    import docx

    document = docx.Document()
    for kind, body in report.blocks:
        if kind == "table":
            table = document.add_table(rows=0, cols=len(body[0]))
            for row in body:
                for cell, words in zip(table.add_row().cells, row, strict=True):
                    cell.text = words
        elif kind == "title":
            document.add_heading(body, level=2)
        else:
            document.add_paragraph(body)
    made = io.BytesIO()
    document.save(made)
    return made.getvalue()
