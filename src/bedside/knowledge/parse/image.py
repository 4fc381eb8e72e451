"""Scanned images by OCR, on this machine. The reader is loaded at its first use."""

from __future__ import annotations

import functools
import io
import logging
from typing import Any

import numpy as np

from bedside.core.errors import BadInput
from bedside.knowledge.parse.parsed import Parsed, TextBuilder
from bedside.knowledge.parse.spacing import respaced
from bedside.language.sections import sections

__all__ = ["NO_TEXT", "Scanner", "has_ink", "opened", "parse_image", "read_picture"]

NO_TEXT = "OCR found no text in it"
"""Why a picture was refused that is a picture all right, and holds no words."""

_MOST_PIXELS = 60_000_000
_LONGEST_SIDE = 3_000
_SAME_LINE = 0.6
_SURE = 0.85
"""Below this the page may stand on its head or side."""
_IDEOGRAPHS, _FULL_WIDTH = "\u3040", "\uff00"
_PLAIN = {full: full - 0xFEE0 for full in range(0xFF01, 0xFF5F)}
"""Full-width forms to ASCII (Unicode, Halfwidth and Fullwidth Forms)."""
_WIDE = 4.0
_STEEPEST = 0.3
"""About 17 degrees; a steeper page is not turned."""
_INK_SIDE = 850
_INK_LEVELS = 24
"""How far of 255 a point of ink stands from its page; pencil is about 60, dust and paper under 15."""
_LEAST_INK = 12
"""Points at about 72 an inch; one small letter has more."""


def parse_image(data: bytes, *, name: str) -> Parsed:
    """Text of a scanned page, its lines from top to bottom.

    Raises:
        BadInput: Not an image that can be read, too large, or without text.
    """
    picture = opened(data, name=name)
    if not has_ink(picture):
        raise BadInput(
            name,
            why="it is blank: no point of it stands out enough to be a letter, so OCR was not tried",
            do="Give a clearer scan.",
        )
    scanner = Scanner()
    text = scanner.read(picture)
    if not text.strip():
        raise BadInput(name, why=NO_TEXT, do="Give a clearer scan.")
    builder = TextBuilder()
    builder.paragraph(text)
    parsed = builder.parsed(media_type=f"image/{(picture.format or 'png').lower()}")
    return Parsed(
        text=parsed.text,
        sections=tuple(sections(parsed.text, markdown=False)),
        media_type=parsed.media_type,
        meta=scanner.meta,
        warnings=("read by OCR, check it against the original",),
    )


def opened(data: bytes, *, name: str) -> Any:
    """A Pillow image of the bytes, upright as its camera noted.

    Raises:
        BadInput: not an image that can be read, or too large.
    """
    from PIL import Image, ImageOps, UnidentifiedImageError

    Image.MAX_IMAGE_PIXELS = None  # our own bound follows, before any pixel is decoded
    try:
        if data[4:8] == b"ftyp":
            import pi_heif

            pi_heif.register_heif_opener()
        picture = Image.open(io.BytesIO(data))
        if picture.width * picture.height > _MOST_PIXELS:
            raise BadInput(
                name,
                why=f"it has {picture.width} x {picture.height} pixels, more than is read",
                do="Give a scan of at most 60 million pixels.",
            )
        picture.load()
    except (UnidentifiedImageError, OSError, SyntaxError, ValueError) as error:
        raise BadInput(name, why="it is not an image that can be read") from error
    kind = picture.format
    upright = ImageOps.exif_transpose(picture)
    upright.format = kind
    return upright


def has_ink(picture: Any) -> bool:
    """Does anything stand out from the page? Cheap, and far from what OCR costs.

    Args:
        picture: A Pillow image.
    """
    gray = picture.convert("RGB").convert("L")
    gray = gray.reduce(max(round(max(gray.size) / _INK_SIDE), 1))
    levels = np.asarray(gray, dtype=np.int16)
    apart = np.abs(levels - int(np.median(levels))) > _INK_LEVELS
    return int(np.count_nonzero(apart)) >= _LEAST_INK


def read_picture(picture: Any) -> str:
    """Lines of text of a Pillow image, top to bottom; empty where there is none."""
    return Scanner().read(picture)


class Scanner:
    """Reads pictures by OCR, and knows how sure it was.

    `meta` has "ocr_confidence", the mean over all characters in [0, 1]; it is empty before any text
    was found.
    """

    def __init__(self) -> None:
        self._sum, self._characters = 0.0, 0

    @property
    def meta(self) -> dict[str, object]:
        """What is known of the reading."""
        if not self._characters:
            return {}
        return {"ocr_confidence": round(self._sum / self._characters, 4)}

    def read(self, picture: Any) -> str:
        """Lines of text of a Pillow image, top to bottom; empty where there is none."""
        image = picture.convert("RGB")
        longest = max(image.size)
        if longest > _LONGEST_SIDE:
            part = _LONGEST_SIDE / longest
            image = image.resize(
                (max(int(image.width * part), 1), max(int(image.height * part), 1))
            )
        upright, found = _upright(image)
        boxes: list[tuple[Any, str]] = []
        for box, words, sure, *letters in found:
            self._sum += float(sure) * len(words)
            self._characters += len(words)
            boxes.append((box, _latin(respaced(upright, box, words, *letters[:2]))))
        return _lines(boxes)


def _upright(image: Any) -> tuple[Any, list[Any]]:
    """The picture as its letters stand, and what was read in it.

    The reader's own guess of lines that stand on their head is not asked: it loses long lines that
    stand upright. A page that is hardly read is turned as a whole instead, and the surest wins.
    """
    from PIL import Image

    found = _read(image)
    if _sureness(found) >= _SURE or not found:
        return image, found
    tall = sum(box[3][1] - box[0][1] > box[1][0] - box[0][0] for box, *_ in found)
    turns = [Image.Transpose.ROTATE_180]
    if tall > len(found) / 2:
        turns = [Image.Transpose.ROTATE_90, Image.Transpose.ROTATE_270]
    best = (image, found)
    for turn in turns:
        turned = image.transpose(turn)
        again = _read(turned)
        if _sureness(again) > _sureness(best[1]):
            best = (turned, again)
    return best


def _read(image: Any) -> list[Any]:
    found, _ = _reader()(np.asarray(image)[:, :, ::-1], use_cls=False, return_word_box=True)
    return list(found or [])


def _sureness(found: list[Any]) -> float:
    """The reader's confidence over all letters, in [0, 1]; 0 where it read none."""
    letters = sum(len(words) for _, words, *_ in found)
    return sum(float(sure) * len(words) for _, words, sure, *_ in found) / max(letters, 1)


def _latin(line: str) -> str:
    """Brackets and stops of full width as plain ones, in a line without Chinese letters."""
    return (
        line if any(_IDEOGRAPHS <= char < _FULL_WIDTH for char in line) else line.translate(_PLAIN)
    )


def _lines(found: list[tuple[Any, str]]) -> str:
    """Boxes of words as lines, the page turned level first."""
    slope = _slope([box for box, _ in found])
    boxes = []
    for box, words in found:
        top = min(point[1] - slope * point[0] for point in box[:2])
        bottom = max(point[1] - slope * point[0] for point in box[2:])
        boxes.append((float(top), _left(box), float(bottom - top), words))
    boxes.sort()
    rows: list[list[tuple[float, float, float, str]]] = []
    for box in boxes:
        if rows and abs(box[0] - rows[-1][0][0]) < _SAME_LINE * rows[-1][0][2]:
            rows[-1].append(box)
        else:
            rows.append([box])
    return "\n".join(
        " ".join(words for _, _, _, words in sorted(row, key=lambda b: b[1])) for row in rows
    )


def _slope(boxes: list[Any]) -> float:
    """How far lines fall per point to the right, by the wide boxes; 0 where none is wide."""
    slopes = [
        (box[1][1] - box[0][1]) / (box[1][0] - box[0][0])
        for box in boxes
        if box[1][0] - box[0][0] > _WIDE * max(box[3][1] - box[0][1], 1.0)
    ]
    steepness = float(np.median(slopes)) if slopes else 0.0
    return steepness if abs(steepness) < _STEEPEST else 0.0


def _left(box: Any) -> float:
    return float(min(point[0] for point in box))


@functools.cache
def _reader() -> Any:
    from rapidocr_onnxruntime import RapidOCR

    logging.getLogger("RapidOCR").setLevel(logging.ERROR)
    return RapidOCR(intra_op_num_threads=2, inter_op_num_threads=1)
