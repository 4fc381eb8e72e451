"""Blanks between words of a scanned line, by the gaps in its ink: OCR reads letters and loses them."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

__all__ = ["respaced"]

_GAP = 0.16
"""Of the line's height; a blank is about a quarter of an em, letters stand a tenth apart."""
_WIDE = 0.5
"""A gap that parts figures too: the next column."""
_FIGURES = 0.3
"""A blank between two figures is taken for one only where it is plain: 188 is not 1 88."""
_EDGE = 0.14
_USUAL = 2.2
_INK = 0.4
_SLANTED = frozenset(["AT", "AY", "AV", "AW", "TA", "YA", "VA", "WA", "LT", "LY", "PA", "FA"])
"""Capitals that lean apart at mid-height."""
_CLOSE = frozenset(".,;:%)]}!?'’")
_OPEN = frozenset("([{")


def respaced(
    image: Any, box: Any, text: str, places: Sequence[Any] = (), letters: Sequence[str] = ()
) -> str:
    """The line with blanks where its ink has gaps; its letters, and blanks it has, stay.

    Args:
        image: A Pillow image in RGB.
        box: Four corners of the line, from the upper left, clockwise.
        text: What was read.
        places: Four corners of each letter.
        letters: The letters; where they are not those of `text`, it is left alone.
    """
    solid = text.replace(" ", "")
    placed = [(one, place) for one, place in zip(letters, places, strict=False) if one != " "]
    letters, places = [one for one, _ in placed], [place for _, place in placed]
    if "".join(letters) != solid or len(solid) < 2:  # noqa: PLR2004 - one letter has no gap
        return text
    corners = np.asarray(box, dtype=np.float64)
    along = corners[1] - corners[0]
    length = float(np.hypot(*along))
    height = float(np.hypot(*(corners[3] - corners[0])))
    if length < height or height < 8:  # noqa: PLR2004 - too small to see a gap
        return text
    gaps = _gaps(_strip(image, corners, length, height), height)
    if not gaps:
        return text
    middles = np.asarray(places, dtype=np.float64).mean(axis=1)
    at = (middles - corners[0]) @ along / length
    between = (at[:-1] + at[1:]) / 2
    cuts: set[int] = set()
    for start, end in gaps:
        nearest = int(np.argmin(np.abs(between - (start + end) / 2)))
        if _may_part(solid[nearest], solid[nearest + 1], gap=(end - start) / height):
            cuts.add(nearest + 1)
    return _with(text, cuts)


def _strip(image: Any, corners: Any, length: float, height: float) -> Any:
    """The line cut out and laid level, as levels of grey."""
    from PIL import Image

    upper_left, upper_right, lower_right, lower_left = (tuple(point) for point in corners)
    return np.asarray(
        image.convert("L").transform(
            (max(round(length), 1), max(round(height), 1)),
            Image.Transform.QUAD,
            (*upper_left, *lower_left, *lower_right, *upper_right),
            resample=Image.Resampling.BILINEAR,
        ),
        dtype=np.float32,
    )


def _gaps(strip: Any, height: float) -> list[tuple[int, int]]:
    """Runs of columns without ink that are wide enough for a blank, without the margins."""
    edge = round(_EDGE * len(strip))  # where the lines above and below reach in
    strip = strip[edge : len(strip) - edge]
    paper, ink = float(np.median(strip)), float(np.percentile(strip, 2))
    if paper - ink < 30:  # noqa: PLR2004 - light letters on a dark page, or hardly any contrast
        return []
    dark = (strip < paper - _INK * (paper - ink)).sum(axis=0) > 1
    inked = np.flatnonzero(dark)
    if inked.size == 0:
        return []
    runs = [(int(a) + 1, int(b)) for a, b in itertools.pairwise(inked) if b - a > 1]
    usual = float(np.median([end - start for start, end in runs])) if runs else 0.0
    least = max(_GAP * height, min(_USUAL * usual, _WIDE * height))
    return [(start, end) for start, end in runs if end - start >= least]


def _may_part(before: str, after: str, *, gap: float) -> bool:
    """No blank inside a figure, before a full stop or after a bracket, unless a column ends."""
    if gap >= _WIDE:
        return True
    if after in _CLOSE or before in _OPEN:
        return False
    if (before.isdigit() and after.isdigit()) or before + after in _SLANTED:
        return gap >= _FIGURES
    return not (before in ".," and after.isdigit())


def _with(text: str, cuts: set[int]) -> str:
    made: list[str] = []
    seen = 0
    for char in text:
        if char != " ":
            if seen in cuts and made and made[-1] != " ":
                made.append(" ")
            seen += 1
        made.append(char)
    return "".join(made)
