"""What a document states of what a contract asks for, each with the words it stands in. Pure.

Nothing is inferred: a finding is read where its cue stands, with a value that follows it and, for a
number, a unit that fits. Two places that disagree, a range that is a reference and a result that is
pending give no finding.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal

from bedside.clinical.units import IncompatibleUnits, UnknownUnit, convert, parse_unit
from bedside.core.value import value
from bedside.language.dates import dates
from bedside.language.laterality import sides
from bedside.language.sentences import sentences
from bedside.sop.contract import Finding

__all__ = ["FoundFinding", "read_findings"]


@value
class FoundFinding:
    """One finding: `text[start:end] == quote`.

    `value` is a number (or its words where it is a range or a bound, such as "3-4" and "<0.1"), a
    side ("left", "right", "both"), or the words themselves. `unit` is as written, "" for none.
    """

    name: str
    value: float | int | str
    unit: str
    quote: str
    start: int
    end: int

    def as_json(self) -> dict[str, object]:
        """As it is stored."""
        return {
            "value": self.value,
            "unit": self.unit,
            "quote": self.quote,
            "start": self.start,
            "end": self.end,
        }


@value
class _Cue:
    name: str
    start: int
    end: int


def read_findings(text: str, findings: Sequence[Finding]) -> tuple[FoundFinding, ...]:
    """Every finding that the text states plainly, in the order of `findings`.

    Args:
        text: The document's text, as it is stored and cited.
        findings: What to look for.
    """
    cues = _cues(text, findings)
    skip = [(one.start, one.end) for one in dates(text)]
    found: list[FoundFinding] = []
    for one in findings:
        if one.kind == "choice":
            read = _side(text, one)
        elif one.kind == "number":
            read = _number(text, one, cues, skip)
        else:
            read = _words(text, one, cues)
        if read is not None:
            found.append(read)
    return tuple(found)


# ---- where a finding is announced


def _cues(text: str, findings: Sequence[Finding]) -> list[_Cue]:
    """Where cues stand; of two that overlap the longer one is meant."""
    hits: list[_Cue] = []
    for one in findings:
        for cue in one.cues:
            hits += [
                _Cue(name=one.name, start=m.start(), end=m.end())
                for m in _cue_pattern(cue).finditer(text)
            ]
    hits.sort(key=lambda hit: (hit.start - hit.end, hit.start))
    kept: list[_Cue] = []
    for hit in hits:
        if not any(
            hit.start < other.end and other.start < hit.end and hit.name != other.name
            for other in kept
        ):
            kept.append(hit)
    return sorted(kept, key=lambda hit: (hit.start, -hit.end))


def _cue_pattern(cue: str) -> re.Pattern[str]:
    """The cue as a word of its own; OCR may have lost its blanks, and a report its hyphens."""
    parts = [re.escape(part) for part in re.split(r"[\s-]+", cue) if part]
    tail = r"(?![A-Za-z0-9])" if cue[-1:].isdigit() or len(cue) <= 3 else r"s?(?![a-z])"  # noqa: PLR2004 - "hb", "ef"
    return re.compile(r"(?<![A-Za-z0-9])" + r"[\s\-_/]*".join(parts) + tail, re.IGNORECASE)


# ---- numbers

_BEFORE = re.compile(
    r"(?:corpuscular|fetal|foetal|urin\w+|free|non|glycated|glycosylated|previous|prior|earlier|"
    r"last|target|mean|/)[\s-]*$",
    re.IGNORECASE,
)
_NO_RESULT = re.compile(
    r"\b(?:not|pending|awaited|cancel\w*|h(?:a)?emolysed|clotted|insufficient|repeat|refer\w*|"
    r"range|target|normal|previous(?:ly)?|prior|and|vs|versus|clearance|ratio)\b|;|[a-z]{3}\.\s",
    re.IGNORECASE,
)
_FIGURE = re.compile(
    r"(?P<sign>[<>≤≥]=?\s*)?(?<![\d.])(?P<low>\d{1,3}(?:,\d{3})+|\d+(?:\.\d+)?|\.\d+)"
    r"(?:\s*(?P<joint>[-–—]|\bto\b)\s*(?P<high>\d+(?:\.\d+)?))?"
)
_GLUED = re.compile(r"(?P<sign>)(?P<low>\d+(?:\.\d+)?)(?=10$)(?P<high>)")
_ROMAN = re.compile(
    r"\b(?P<low>IV|III|II|I)\b(?:\s*(?:[-–]|to)\s*\b(?P<high>IV|III|II|I)\b)?(?!\w)"
)
_VALUES = {"I": 1, "II": 2, "III": 3, "IV": 4}
_UNIT = re.compile(
    r"\s*(?P<unit>%|[x×]?\s?10\s?[\^*]?\s?\d{1,2}\s?/\s?[A-Za-zµμ]{1,3}|mm\s?\[?Hg\]?|"
    r"mL/min/1\.73\s?m[²2^]*|ml/min/1\.73\s?m[²2^]*|/\s?(?:min|uL|µL|mm3|cumm|HPF)\b|"
    r"(?:lakhs?|cells|million|mill?|thou(?:sand)?s?|beats)\s?(?:/|per)\s?[A-Za-zµμ]{1,6}\d?|"
    r"[A-Za-zµμ\[\]]{1,6}(?:/[A-Za-zµμ\[\]0-9.²]{1,10}){0,2})"
)
_GAP = 60


def _number(
    text: str, one: Finding, cues: Sequence[_Cue], skip: Sequence[tuple[int, int]]
) -> FoundFinding | None:
    read = [
        made
        for cue in cues
        if cue.name == one.name and (made := _after(text, one, cue, cues, skip)) is not None
    ]
    if not read:
        read = _by_eye(text, one, skip)
    if not read:
        return None
    if len({(made.value, made.unit.casefold()) for made in read}) > 1:
        if len({made.value for made in read}) > 1:
            return None  # two places disagree: neither is taken
        read.sort(key=lambda made: not made.unit)
    return read[0]


def _after(
    text: str,
    one: Finding,
    cue: _Cue,
    cues: Sequence[_Cue],
    skip: Sequence[tuple[int, int]],
) -> FoundFinding | None:
    """The value that follows a cue, before any other cue."""
    if text[cue.start - 1 : cue.start] == "/":
        return _second(text, one, cue)
    if _BEFORE.search(text[max(0, cue.start - 24) : cue.start]):
        return None
    others = [hit.start for hit in cues if hit.start >= cue.end and hit.name != one.name]
    stop = min([len(text), cue.end + _GAP, *others])
    return _value(text, one, cue.start, cue.end, stop, skip)


_PAIR = re.compile(r"[^0-9\n;.]{0,8}?\d+(?:\.\d+)?\s*/\s*(?P<low>\d+(?:\.\d+)?)(?![\d/])")


def _second(text: str, one: Finding, cue: _Cue) -> FoundFinding | None:
    """The second of two values whose names were written as one, as in "QT/QTc: 388/402 ms"."""
    pair = _PAIR.match(text, cue.end)
    if pair is None:
        return None
    unit, end = _unit(text, one, pair.end())
    if unit is None:
        return None
    low = pair["low"]
    return _made(text, one, int(low) if low.isdigit() else float(low), unit, cue.start, end)


def _value(
    text: str,
    one: Finding,
    start: int,
    at: int,
    stop: int,
    skip: Sequence[tuple[int, int]],
) -> FoundFinding | None:
    window = _without_brackets(text, at, stop)
    if not one.unit and (roman := _ROMAN.search(window)) and _plain(window[: roman.start()]):
        digit = _FIGURE.search(window)
        if digit is None or digit.start() > roman.start():
            low, high = _VALUES[roman["low"]], roman["high"]
            end = at + roman.end()
            found = low if high is None else f"{low}-{_VALUES[high]}"
            return _made(text, one, found, "", start, end)
    for figure in _FIGURE.finditer(window):
        begin, end = at + figure.start(), at + figure.end()
        if not _plain(window[: figure.start()]):
            return None
        if any(a < end and begin < b for a, b in skip):
            continue
        if figure["high"] and one.unit not in ("", "%"):
            continue  # a reference range stands before its result
        written = figure
        if text[end : end + 1] == "^" and (short := _GLUED.match(figure.group())):
            written, end = short, begin + short.end()  # "5.610^9/L" is 5.6 in 10^9/L
        unit, end = _unit(text, one, end)
        if unit is None:
            return None
        return _made(text, one, _figure(written), unit, start, end)
    return None


def _without_brackets(text: str, at: int, stop: int) -> str:
    """The window with what stands in round brackets blanked, as long as before."""
    window = text[at : max(stop, at)]
    window = re.sub(r"\([^()]*\)", lambda found: " " * len(found.group()), window)
    return re.sub(r"\n\s*\n", lambda found: ";" + " " * (len(found.group()) - 1), window)


def _plain(gap: str) -> bool:
    return _NO_RESULT.search(gap) is None


def _figure(found: re.Match[str]) -> float | int | str:
    low = found["low"].replace(",", "")
    if found["high"]:
        return f"{low}-{found['high']}"
    if found["sign"]:
        return f"{found['sign'].strip()}{low}"
    return int(low) if low.isdigit() else float(low)


def _unit(text: str, one: Finding, end: int) -> tuple[str | None, int]:
    """(unit as written, where it ends); (`None`, ...) where it cannot be this finding's."""
    # a table's cell walls and a flag may stand between a result and its unit
    gap = re.compile(r"(?:\s*\|\s*|\s+)?(?:(?:H|L|HH|LL|\*)(?=[\s|]))?(?:\s*\|\s*)?").match(
        text, end
    )
    at = gap.end() if gap else end
    found = _UNIT.match(text, at)
    if found is None:
        return "", end
    written = found["unit"].strip()
    if not one.unit:
        known = written == "%" or _known(written)
        return (None, end) if known and "/" in written else ("", end)
    if _same(written, one.unit):
        return written, found.end()
    try:
        convert(Decimal(1), _spelling(written), one.unit, one.label)
    except UnknownUnit:
        counted = re.match(r"(?i)(?:lakh|cells|million|mil|thou)", written)
        return (written, found.end()) if counted else ("", end)
    except IncompatibleUnits:
        if _concentration(written) and _concentration(one.unit):
            return written, found.end()  # mass and amount: as written, converted by nobody
        return (None, end) if _looks_like_a_unit(written) else ("", end)
    return written, found.end()


def _concentration(written: str) -> bool:
    """Mass or amount of substance in a volume."""
    dims = dict(parse_unit(_spelling(written)).dims)
    return dims in ({"g": 1, "m": -3}, {"mol": 1, "m": -3})


def _spelling(written: str) -> str:
    return re.sub(r"\s", "", written).replace("×", "x")


def _same(written: str, unit: str) -> bool:
    def bare(said: str) -> str:
        low = re.sub(r"[\s\[\]{}]", "", said).casefold().replace("µ", "u").replace("μ", "u")
        return {"bpm": "/min", "beats/min": "/min", "msec": "ms", "dioptre": "d"}.get(low, low)

    return bare(written) == bare(unit)


def _known(written: str) -> bool:
    try:
        parse_unit(_spelling(written))
    except UnknownUnit:
        return False
    return True


def _looks_like_a_unit(written: str) -> bool:
    """A word such as "mild" or "in" is none, though its letters may spell one."""
    return "/" in written or "%" in written or written.casefold() in {
        "mg", "g", "mm", "cm", "ml", "l", "pg", "fl", "ng", "ms", "um", "µm", "mmhg", "bpm",
    }  # fmt: skip


def _made(
    text: str, one: Finding, found: float | str, unit: str, start: int, end: int
) -> FoundFinding:
    end = start + len(text[start:end].rstrip())
    return FoundFinding(
        name=one.name, value=found, unit=unit, quote=text[start:end], start=start, end=end
    )


# ---- two eyes in one table

_EYE = {
    "right": re.compile(r"\b(?:OD|right(?:\s+eye)?|R\.?E\.?)\b", re.IGNORECASE),
    "left": re.compile(r"\b(?:OS|left(?:\s+eye)?|L\.?E\.?)\b", re.IGNORECASE),
}
_SIDE_WORD = re.compile(r"\b(?:od|os|right|left|eye)\b", re.IGNORECASE)


def _by_eye(text: str, one: Finding, skip: Sequence[tuple[int, int]]) -> list[FoundFinding]:
    """Values of one eye where the cue names none: by the column, or by the heading above."""
    side = next((side for side in _EYE if one.name.endswith(f"_{side}")), None)
    if side is None:
        return []
    other = "left" if side == "right" else "right"
    found: list[FoundFinding] = []
    bases = {" ".join(_SIDE_WORD.sub(" ", cue).split()) for cue in one.cues} - {""}
    for base in sorted(bases, key=len, reverse=True):
        for hit in _cue_pattern(base).finditer(text):
            if any(hit.start() < made.end and made.start < hit.end() for made in found):
                continue
            first = _value(text, one, hit.start(), hit.end(), hit.end() + _GAP, skip)
            if first is None:
                continue
            header = text[: hit.start()]
            mine, theirs = _last(_EYE[side], header), _last(_EYE[other], header)
            if mine < 0:
                continue
            second = re.compile(r"[\s|/,]*").match(text, first.end)
            at = second.end() if second else first.end
            pair = _FIGURE.match(text, at)
            if pair is not None and theirs >= 0 and not pair["high"]:
                if mine < theirs:  # its column comes first
                    found.append(first)
                    continue
                unit, end = _unit(text, one, pair.end())
                if unit is not None:
                    found.append(_made(text, one, _figure(pair), unit, hit.start(), end))
            elif mine > theirs:
                found.append(first)
    return found


def _last(pattern: re.Pattern[str], text: str) -> int:
    return max((found.start() for found in pattern.finditer(text)), default=-1)


# ---- sides

_LINE_OF_EXAM = re.compile(
    r"(?im)^.*\b(?:examination|exam|study|procedure|x-?\s?ray|radiograph|mri|views?)\b.*$"
)
_HEAD = 250


def _side(text: str, one: Finding) -> FoundFinding | None:
    """The side that the document is about: its heading says, else all of it agrees."""
    if "left" not in one.cues and "right" not in one.cues:
        return None
    heads = [found.span() for found in _LINE_OF_EXAM.finditer(text) if len(found.group()) < _HEAD]
    heads.append((0, min(_HEAD, len(text))))
    for start, end in (*heads, (0, len(text))):
        said = [(hit, start) for hit in sides(text[start:end])]
        plain = {hit.side for hit, _ in said}
        if plain == {"left", "right"} and start == 0 and end == len(text):
            return None
        if len(plain) == 1 or "both" in plain:
            hit = next(hit for hit, _ in said if hit.side in plain and _wins(hit.side, plain))
            begin = start + hit.start
            stop = start + hit.end
            return _made(text, one, hit.side, "", begin, stop)
    return None


def _wins(side: str, plain: set[str]) -> bool:
    return side == "both" if "both" in plain else True


# ---- words

_HEADING = re.compile(
    r"(?i)\s*(?:(?:reported|signed|verified|electronically|dictated|checked|typed)\b|dr\.?\s|"
    r"recommendations?\b|advice\b|end of report|\*{2,}|-{3,}|radiologist\b|consultant\b|comment:)"
)
_LONGEST = 400
_SECTION = frozenset({"impression", "conclusion", "interpretation", "final diagnosis", "comment",
                      "assessment"})  # fmt: skip
_TABLE_ROW = 3


def _words(text: str, one: Finding, cues: Sequence[_Cue]) -> FoundFinding | None:
    mine = [cue for cue in cues if cue.name == one.name]
    if one.name == "impression" or _SECTION & set(one.cues):
        headed = [cue for cue in mine if _is_heading(text, cue)]
        return _section(text, one, headed[-1]) if headed else None
    spans = sentences(text)
    for cue in mine:
        if _BEFORE.search(text[max(0, cue.start - 24) : cue.start]):
            continue
        span = next(((a, b) for a, b in spans if a <= cue.start < b), None)
        if span is None:
            continue
        read = _clause(text, one, cue, cues, span)
        if read is not None:
            return read
    return None


def _clause(
    text: str, one: Finding, cue: _Cue, cues: Sequence[_Cue], span: tuple[int, int]
) -> FoundFinding | None:
    """The sentence that the cue stands in; in a row of a table, from the cue to the next one."""
    start, end = span
    inside = [hit for hit in cues if start <= hit.start < end and hit.name != one.name]
    row = not text[start:end].rstrip().endswith((".", "!", "?"))
    if row or len(inside) >= _TABLE_ROW or end - start > _LONGEST:
        start = cue.start
        end = min([end, cue.start + _LONGEST, *(h.start for h in inside if h.start >= cue.end)])
    body = text[start:end].rstrip(" \n\t|")
    said = text[cue.end : start + len(body)].strip(" \n\t|:-–.")
    if not said and not text[start : cue.start].strip(" \n\t|:-–."):
        return None  # the name alone: a heading, or an empty cell
    return _made(text, one, " ".join(body.split()), "", start, start + len(body))


def _is_heading(text: str, cue: _Cue) -> bool:
    """At a line's start or before a colon, or in capitals."""
    line = text.rfind("\n", 0, cue.start) + 1
    opens = not text[line : cue.start].strip(" *#|>")
    after = text[cue.end : cue.end + 3].lstrip(" *")
    return after.startswith(":") or opens or text[cue.start : cue.end].isupper()


def _section(text: str, one: Finding, cue: _Cue) -> FoundFinding | None:
    """What stands under a heading, until the next heading or the signature."""
    head = re.compile(r"[\s:*.|#-]*(?:\(.{0,30}?\)\s*:)?\s*").match(text, cue.end)
    start = head.end() if head else cue.end
    end = start
    for a, b in sentences(text):
        if b <= start:
            continue
        begin = max(a, start)
        if begin > start and (_HEADING.match(text, begin) or _capitals(text[begin:b])):
            break
        if b - start > _LONGEST and end > start:
            break
        end = min(b, start + _LONGEST)
    body = text[start:end].rstrip()
    if not body:
        return None
    return _made(text, one, " ".join(body.split()), "", start, start + len(body))


def _capitals(said: str) -> bool:
    first = said.strip().split("\n")[0]
    letters = [char for char in first if char.isalpha()]
    return len(letters) > 3 and all(char.isupper() for char in letters)  # noqa: PLR2004 - "MRI"
