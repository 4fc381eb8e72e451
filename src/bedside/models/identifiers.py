"""Direct identifiers in text: what they look like, and placeholders that can be turned back. Pure.

Names cannot be known by their shape: they come from the caller (`Route.veil`). Numbers, addresses
and dates of birth are found by shape or by the label before them. A placeholder is computed from
the identifier itself under a key, never from its place in the text, so a case keeps its
placeholders and its cached prefix from turn to turn.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import unicodedata
from collections.abc import Iterator, Sequence
from datetime import date, datetime
from html import escape

from bedside.models.people import people
from bedside.models.shapes import more_shapes
from bedside.models.shapes_figures import is_figure

__all__ = ["PLACEHOLDER", "Unveiler", "Veil"]

PLACEHOLDER = re.compile(r"\[[A-Za-z]+_[0-9a-f]+(?:_[0-9a-f]+)?\]", re.IGNORECASE)
_MAYBE = re.compile(r"\[(?:[A-Za-z]+(?:_[0-9a-fA-F_]*)?)?\Z")
_LONGEST = 48

_DATE = (
    r"(?:\d{4}-\d{2}-\d{2}|\d{1,2}[/.\-]\d{1,2}[/.\-]\d{2,4}"
    r"|\d{1,2}(?:st|nd|rd|th)?\s+[A-Z][a-z]{2,8}\.?,?\s+\d{4}|[A-Z][a-z]{2,8}\.?\s+\d{1,2},?\s+\d{4})"
)
# A label that says by itself that a number follows, and one that says so with "no." or a colon.
_ID_LABEL = (
    r"(?:\b(?:MRN|UHID|URN|SSN|CHI|ABHA|PAN|aadhaa?r|passport)\b(?:\s*(?:no|nr|number|id))?\b"
    r"|\b(?:medical record|hospital|patient|case|chart|registration|NHS|social security|policy"
    r"|insurance|member|account|licen[cs]e|accession|beneficiary|device serial|identity)"
    r"(?:\s*(?:no|nr|num|number|id|identifier)\b|\s*(?=[:#])))"
)
_STREET = (
    r"(?:Street|St|Road|Rd|Avenue|Ave|Lane|Ln|Drive|Court|Boulevard|Blvd|Crescent|Terrace"
    r"|Highway|Hwy|Nagar|Marg|Colony|Close|Square|Parkway|Route|Alley|Walk|Gardens|Plaza|Row)"
)
# (kind, pattern); a pattern with a group hides the group alone.
_SHAPES: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("EMAIL", re.compile(r"(?<![\w.+%-])[\w.+%-]+@[\w-]+(?:\.[\w-]+)+")),
    (
        "ID",
        re.compile(
            r"(?<![\w-])[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}(?![\w-])",
        ),
    ),
    ("ID", re.compile(r"(?=\d)(?<![\w.-])\d{3}-\d{2}-\d{4}(?![\w-])")),
    ("ID", re.compile(r"(?=\d)(?<![\w.-])\d{4}[ -]\d{4}[ -]\d{4}(?![\w-])")),
    (
        "ID",
        re.compile(
            rf"{_ID_LABEL}\.?\s*(?:[:#]|is\b)?\s*#?\s*"
            r"((?=[A-Z0-9/\-]*\d{3})[A-Z0-9][A-Z0-9/\-]{3,}|\d[\d ]{5,}\d)(?![\w])",
            re.IGNORECASE,
        ),
    ),
    (
        "PHONE",
        re.compile(
            r"\b(?:tel(?:ephone)?|phone|mob(?:ile)?|cell|fax|whatsapp|pager|call(?:ed)? (?:on|at))"
            r"(?:\s+(?:no|number))?\s*[.:#]?\s*(\+?\(?\d(?:[\s().\-/]{0,2}\d){5,14})(?!\d)",
            re.IGNORECASE,
        ),
    ),
    ("PHONE", re.compile(r"(?=\+)(?<![\w.])\+\d{1,3}(?:[\s().\-]{0,2}\d){7,12}(?!\d)")),
    ("PHONE", re.compile(r"(?=\()(?<![\w.])\(\d{3}\)\s?\d{3}[\s.\-]\d{4}(?!\d)")),
    ("PHONE", re.compile(r"(?=\d)(?<![\w.\-])\d{3}[.\-]\d{3}[.\-]\d{4}(?![\d\-])")),
    ("PHONE", re.compile(r"(?=\d)(?<![\w.\-])[6-9]\d{9}(?![\w.])")),
    ("PHONE", re.compile(r"(?=\d)(?<![\w.\-])0\d{2,4}[\s\-]\d{3,4}[\s\-]?\d{3,4}(?![\d\-])")),
    (
        "BIRTHDATE",
        re.compile(
            rf"\b(?:DOB|D\.O\.B\.?|date of birth|birth\s?date|born(?: on)?)\s*[:\-]?\s*({_DATE})",
            re.IGNORECASE,
        ),
    ),
    (
        "ADDRESS",
        re.compile(
            rf"(?=\d)(?<![\w.])\d{{1,5}}[A-Z]?,?\s+(?:[A-Z][\w'.\-]*\s+){{1,4}}{_STREET}\b\.?"
            r"(?:,?\s*(?:Apt|Unit|Suite|Flat)\.?\s*#?\w+)?"
        ),
    ),
    (
        "ADDRESS",
        re.compile(
            r"(?:(?<!electronic )\baddress\s*:|\b(?:resid(?:es|ing)|lives|living) at\b)\s*"
            r"((?-i:[A-Z0-9#])[^\n<]{3,79}?\d[^\n<]{0,79}?)(?=[.;]?\s*(?:\n|<|\Z)|[.;]\s)",
            re.IGNORECASE,
        ),
    ),
    (
        "ADDRESS",
        re.compile(
            r"\b(?:zip|postcode|postal code|PIN code|pincode)(?:\s+code)?\s*[:\-]?\s*"
            r"((?=[A-Z0-9 \-]*\d)[A-Z0-9][A-Z0-9 \-]{2,8}[A-Z0-9])(?!\w)",
            re.IGNORECASE,
        ),
    ),
)
_PARTICLES = frozenset(
    [
        "mr",
        "mrs",
        "ms",
        "miss",
        "dr",
        "prof",
        "sir",
        "van",
        "von",
        "der",
        "den",
        "de",
        "del",
        "della",
        "la",
        "le",
        "da",
        "dos",
        "das",
        "di",
        "bin",
        "binti",
        "ibn",
        "al",
        "el",
        "jr",
        "sr",
        "ii",
        "iii",
        "iv",
        "and",
        "the",
        "st",
    ]
)
_UUID = re.compile(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\Z")
_SHORT = 3
_MONTHS = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]


class Veil:
    """The identifiers of one case. The same texts and key always give the same placeholders."""

    def __init__(self, texts: Sequence[str], *, key: bytes = b"") -> None:
        """Take the known identifiers of the case.

        Args:
            texts: Names, numbers and dates of the patient and of people known in the case. A
                name's number in its placeholder is its place here, so keep the order. Duplicates
                and blank texts are passed over.
            key: Secret of the installation; the texts themselves salt it further.
        """
        known = tuple(dict.fromkeys(text.strip() for text in texts if text.strip()))
        self._key = hashlib.sha256(key + b"\0" + "\0".join(sorted(known)).encode()).digest()
        self._names: list[tuple[str, str, re.Pattern[str]]] = []
        self._shown: dict[str, str] = {}
        self._hidden: dict[tuple[str, str], str] = {}
        people = 0
        for text in known:
            kind = _kind(text)
            if kind == "PERSON":
                people += 1
                kind = f"PERSON_{people}"
            for pattern in _patterns(text, kind):
                self._names.append((kind, text, pattern))

    def hide(self, text: str) -> str:
        """Put a placeholder for each identifier. `show(hide(text)) == text` for any text."""
        written: list[str] = []
        at = 0
        for start, end, kind, canonical in self._spans(text):
            written.append(text[at:start])
            written.append(self._placeholder(kind, text[start:end], canonical))
            at = end
        written.append(text[at:])
        return "".join(written)

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Where `hide` puts placeholders: `[start, end)` of the text, in order, not overlapping."""
        for start, end, kind, _ in self._spans(text):
            if kind != "LITERAL":
                yield start, end

    def hide_json(self, text: str) -> str:
        """`hide` within the strings of a JSON text, which stays JSON; other text as by `hide`."""
        try:
            found = json.loads(text)
        except (ValueError, RecursionError):
            return self.hide(text)
        return json.dumps(self._walk(found), ensure_ascii=False)

    def _walk(self, node: object) -> object:
        if isinstance(node, str):
            return self.hide(node)
        if isinstance(node, list):
            return [self._walk(each) for each in node]
        if isinstance(node, dict):
            return {self.hide(str(name)): self._walk(each) for name, each in node.items()}
        return node

    def show(self, text: str, *, in_json: bool = False) -> str:
        """Put the identifiers back. `in_json`: the text is JSON, so they are escaped for it.

        A placeholder that `hide` never gave (a model's invention) stays as it stands.
        """
        return PLACEHOLDER.sub(lambda match: self._original(match[0], in_json=in_json), text)

    def _original(self, placeholder: str, *, in_json: bool) -> str:
        name, _, rest = placeholder.partition("_")
        found = self._shown.get(f"{name.upper()}_{rest.lower()}")
        if found is None:
            return placeholder
        return json.dumps(found, ensure_ascii=False)[1:-1] if in_json else found

    def _spans(self, text: str) -> Iterator[tuple[int, int, str, str | None]]:
        """Identifiers in order, not overlapping: the earliest, then the longest, wins."""
        found: list[tuple[int, int, str, str | None]] = [
            (match.start(), match.end(), "LITERAL", None) for match in PLACEHOLDER.finditer(text)
        ]
        for kind, canonical, pattern in self._names:
            found.extend(
                (match.start(), match.end(), kind, canonical) for match in pattern.finditer(text)
            )
        for kind, pattern in _SHAPES:
            if kind == "EMAIL" and "@" not in text:
                continue
            group = 1 if pattern.groups else 0
            found.extend(
                (*match.span(group), kind, None)
                for match in pattern.finditer(text)
                if not is_figure(text, *match.span(group), kind)
            )
        found.extend((start, end, kind, None) for start, end, kind in more_shapes(text))
        found.extend((start, end, "PERSON", None) for start, end in people(text))
        found.sort(key=lambda span: (span[0], -span[1]))
        at = 0
        for span in found:
            if span[0] >= at and span[1] > span[0]:
                yield span
                at = span[1]

    def _placeholder(self, kind: str, surface: str, canonical: str | None) -> str:
        known = self._hidden.get((kind, surface))
        if known is not None:
            return known
        if kind.startswith("PERSON_") and surface == canonical:
            made = f"[{kind}]"
        else:
            whole = hmac.new(self._key, f"{kind}\0{surface}".encode(), hashlib.sha256).hexdigest()
            size = 5
            made = f"[{kind}_{whole[:size]}]"
            while made in self._shown:
                size += 1
                made = f"[{kind}_{whole[:size]}]"
        self._hidden[kind, surface] = made
        self._shown[made] = surface
        return made


class Unveiler:
    """Puts identifiers back in a stream. Any chunking gives the same text as `Veil.show`."""

    def __init__(self, veil: Veil, *, in_json: bool = False) -> None:
        self._veil, self._in_json = veil, in_json
        self._held = ""

    def feed(self, delta: str) -> str:
        """Take more of the stream; return what is now certain."""
        text = self._held + delta
        cut = len(text)
        maybe = _MAYBE.search(text, max(len(text) - _LONGEST, 0))
        if maybe is not None:
            cut = maybe.start()
        self._held = text[cut:]
        return self._veil.show(text[:cut], in_json=self._in_json)

    def finish(self) -> str:
        """What was held back."""
        held, self._held = self._held, ""
        return held


def _kind(text: str) -> str:
    if "@" in text:
        return "EMAIL"
    if _UUID.match(text):
        return "ID"
    if _as_date(text) is not None:
        return "BIRTHDATE"
    letters = sum(char.isalpha() for char in text)
    digits = sum(char.isdigit() for char in text)
    if text[0].isdigit() and letters > digits:
        return "ADDRESS"
    if digits and (digits >= letters or "-" in text or "/" in text):
        return "PHONE" if text[0] in "+(" else "ID"
    return "PERSON"


def _patterns(text: str, kind: str) -> Iterator[re.Pattern[str]]:
    if kind == "BIRTHDATE":
        when = _as_date(text)
        if when is not None:
            yield _whole({text, *_written(when)})
        return
    forms = {text, *(unicodedata.normalize(form, text) for form in ("NFC", "NFD")), _plain(text)}
    forms |= {escape(form, quote=quote) for form in tuple(forms) for quote in (True, False)}
    yield _whole(forms)
    if not kind.startswith("PERSON"):
        return
    parts: set[str] = set()
    for form in forms:
        for word in re.split(r"[\s,]+", form):
            bare = word.strip(".'’\"()&;")
            if len(bare) >= _SHORT and bare.lower() not in _PARTICLES:
                # Only as a name is written: "Young" and "YOUNG", never "young".
                parts |= {bare[:1].upper() + bare[1:], bare.upper(), bare.title()}
    if parts:
        yield _whole(parts, flags=re.NOFLAG)


def _whole(forms: set[str], flags: re.RegexFlag = re.IGNORECASE) -> re.Pattern[str]:
    """Any of the forms as whole words, white space of any kind between their words."""
    kept = [form for form in sorted(forms, key=lambda form: (-len(form), form)) if form.split()]
    written = (r"\s+".join(re.escape(word) for word in form.split()) for form in kept)
    # Looking at one character first spares the alternatives at nearly every place (5 x faster).
    first = {form.strip()[0] for form in kept}
    first |= {char.lower() for char in first} | {char.upper() for char in first}
    heads = "".join(re.escape(char) for char in sorted(first) if len(char) == 1)
    whole = "|".join(dict.fromkeys(written))
    return re.compile(rf"(?-i:(?=[{heads}]))(?<!\w)(?:{whole})(?!\w)", flags)


def _plain(text: str) -> str:
    split = unicodedata.normalize("NFD", text)
    return "".join(char for char in split if not unicodedata.combining(char))


def _as_date(text: str) -> date | None:
    for form in ("%Y-%m-%d", "%d/%m/%Y", "%d-%m-%Y", "%d.%m.%Y", "%d %B %Y", "%d %b %Y"):
        try:
            return datetime.strptime(text, form).date()  # noqa: DTZ007 - a day has no zone
        except ValueError:
            continue
    return None


def _written(when: date) -> Iterator[str]:
    """The ways in which records write one day."""
    month = _MONTHS[when.month - 1]
    yield when.isoformat()
    for day, number in ((str(when.day), str(when.month)), (f"{when.day:02}", f"{when.month:02}")):
        for mark in "/-.":
            yield f"{day}{mark}{number}{mark}{when.year}"
            yield f"{number}{mark}{day}{mark}{when.year}"
        for name in (month, month[:3]):
            yield f"{day} {name} {when.year}"
            yield f"{day} {name}, {when.year}"
            yield f"{name} {day}, {when.year}"
            yield f"{name} {day} {when.year}"
