"""A question read word by word into pieces. Pure.

Each piece is a phrase with its meanings, a window of time, a bound on a figure, or a word that is
not understood. Names that stand in the patient's own record are understood for this patient.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from decimal import Decimal

from bedside.context import o200k
from bedside.core.value import value
from bedside.flows.copilot.lexicon import Lexicon, Meaning, lexicon, tokenise
from bedside.flows.copilot.names import analyte_lexicon, clinical_phrases, is_drug_word
from bedside.flows.copilot.query import Side, Threshold, Window
from bedside.flows.copilot.windows import find_window, number_of

__all__ = ["Piece", "is_misread", "read"]

_UNIT = frozenset(
    [
        "mg",
        "dl",
        "mmol",
        "l",
        "g",
        "gm",
        "kg",
        "kgs",
        "lb",
        "lbs",
        "cm",
        "m",
        "m2",
        "percent",
        "mmhg",
        "mm",
        "hg",
        "ml",
        "min",
        "ng",
        "pg",
        "ug",
        "mcg",
        "u",
        "iu",
        "iul",
        "ul",
        "fl",
        "k",
        "cel",
        "c",
        "f",
        "degrees",
        "bpm",
        "kilograms",
        "kilos",
        "score",
        "points",
        "meq",
        "umol",
        "micromol",
        "units",
        "unit",
        "1.73",
        "per",
        "%",
        "/",
        "years",
    ]
)
_ASKED_UNITS: dict[tuple[str, ...], str] = {
    ("mmol", "/", "l"): "mmol/L",
    ("mg", "/", "dl"): "mg/dL",
    ("g", "/", "dl"): "g/dL",
    ("g", "/", "l"): "g/L",
    ("umol", "/", "l"): "umol/L",
    ("micromol", "/", "l"): "umol/L",
    ("mmol", "/", "mol"): "mmol/mol",
    **dict.fromkeys([("lb",), ("lbs",), ("pounds",)], "[lb_av]"),
    **dict.fromkeys([("kg",), ("kgs",), ("kilos",), ("kilograms",)], "kg"),
    **dict.fromkeys([("inches",)], "[in_i]"),
    **dict.fromkeys([("feet",)], "[ft_i]"),
    **dict.fromkeys([("fahrenheit",)], "[degF]"),
    **dict.fromkeys([("celsius",), ("centigrade",)], "Cel"),
    ("mmhg",): "mm[Hg]",
}
"""Units in which a result may be asked for, said after it: "sugar in mmol/L", "weight in lbs".

One of a bare word is a unit behind "in" or "to" alone: feet swell, too.
"""
_INTO = frozenset({"in", "to", "into"})
_YEARS = (1900, 2099)
_PUNCTUATION = frozenset("?!.:;,-/+")
_BOUNDARY = frozenset("?.;,/+!")


@value
class Piece:
    """One read part of a question: `said` is its text in lower case.

    Exactly one of `meanings`, `window`, `bound`, `number` is set, or none: an unknown word.
    """

    said: str
    meanings: tuple[Meaning, ...] = ()
    window: Window | None = None
    bound: Threshold | None = None
    number: int | None = None
    boundary: bool = False
    anchor: Side | None = None
    """That a time is said by what happened ("before the admission"), which `meanings` name."""

    def means(self, kind: str) -> str | None:
        """The key of the first meaning of that kind, or `None`."""
        return next((one.key for one in self.meanings if one.kind == kind), None)


def read(text: str, *, today: date, record: Lexicon | None = None) -> tuple[Piece, ...]:
    """Read a question.

    Args:
        text: As typed.
        today: What "past 6 months" counts back from.
        record: Names from the patient's record, laid over the static words.
    """
    tokens = tokenise(text)
    words = _repaired([token.text for token in tokens], record)
    clinical = clinical_phrases(text, tokens, words)
    pieces: list[Piece] = []
    at = 0
    while at < len(words):
        end, piece = _next(words, at, today, record, clinical)
        if piece == Piece(said=words[at]):
            piece = Piece(said=tokens[at].text)  # a repair that made nothing known is none
        if piece is not None:
            pieces.append(piece)
        at = end
    return tuple(pieces)


def _repaired(words: list[str], record: Lexicon | None) -> list[str]:
    """The words with slips mended; a part of a name ("Cheyne-Stokes") is no slip of another word."""
    strange = [word.isalpha() and not _known(word, record) for word in words]
    found = list(words)
    for at, word in enumerate(words):
        joined = (at - 2, at + 2)
        of_a_name = any(
            0 <= other < len(words) and strange[other] and words[(at + other) // 2] == "-"
            for other in joined
        )
        if strange[at] and not of_a_name:
            found[at] = _repair(word)
    return found


def _known(word: str, record: Lexicon | None) -> bool:
    lexicons = [lexicon(), analyte_lexicon(), *([record] if record is not None else [])]
    forms = (word, word[:-1], f"{word[:-3]}y") if word.endswith("s") else (word,)
    return any(form in one for one in lexicons for form in forms) or is_drug_word(word)


def _repair(word: str) -> str:
    """The one word that is a slip away, when the lexicons agree on it; else as typed.

    A word with letters before it is no slip of it but mostly its contrary: "incomplete".
    """
    if o200k()(f" {word}") == 1:
        return word  # so common that it is a word of its own
    near = {fixed for one in (lexicon(), analyte_lexicon()) if (fixed := one.repaired(word))}
    one = near.pop() if len(near) == 1 else word
    return word if word.endswith(one) and word[0] != one[0] else one


def is_misread(word: str) -> bool:
    """True of a word in lower case that no lexicon has and that is read as one a slip away."""
    return not _known(word, None) and _repair(word) != word


def _next(
    words: Sequence[str],
    at: int,
    today: date,
    record: Lexicon | None,
    clinical: dict[int, tuple[int, tuple[Meaning, ...]]],
) -> tuple[int, Piece | None]:
    bound = _bound(words, at)
    if bound is not None:
        return bound
    if (anchored := _anchored(words, at, record, clinical)) is not None:
        return anchored
    window = find_window(words, at, today=today)
    if window is not None:
        said = " ".join(words[at : window.end])
        return window.end, Piece(said=said, window=window.window)
    unit = _unit_asked(words, at)
    if unit is not None:
        return unit
    phrase = _phrase(words, at, record, clinical)
    if phrase is not None:
        end, meanings = phrase
        return end, Piece(said=" ".join(words[at:end]), meanings=meanings)
    word = words[at]
    if word in _PUNCTUATION:
        return at + 1, Piece(said=word, boundary=True) if word in _BOUNDARY else None
    if (number := number_of(word)) is not None:
        return at + 1, Piece(said=word, number=number)
    return at + 1, Piece(said=word)


_SIDES: dict[str, Side] = {
    "before": "before",
    "pre": "before",
    "after": "after",
    "since": "after",
    "following": "after",
    "post": "after",
}
_OF_ANCHOR = frozenset(
    [
        *("the", "her", "his", "their", "a", "an", "last", "latest", "she", "he", "they", "was"),
        *("starting", "start", "started", "of", "had", "having", "on", "going", "being", "put"),
    ]
)
_ANCHORS = {"drug", "condition", "procedure", "encounter"}


def _anchored(
    words: Sequence[str],
    at: int,
    record: Lexicon | None,
    clinical: dict[int, tuple[int, tuple[Meaning, ...]]],
) -> tuple[int, Piece] | None:
    """A time said by what happened: "before the admission", "since starting ramipril"."""
    side = _SIDES.get(words[at])
    if side is None:
        return None
    index = at + 1
    while index < len(words) and words[index] in _OF_ANCHOR:
        index += 1
    phrase = _phrase(words, index, record, clinical) if index < len(words) else None
    if phrase is None:
        return None
    found = tuple(one for one in phrase[1] if one.kind in _ANCHORS)
    if not found:
        return None
    return phrase[0], Piece(said=" ".join(words[index : phrase[0]]), meanings=found, anchor=side)


def _unit_asked(words: Sequence[str], at: int) -> tuple[int, Piece] | None:
    for said, unit in _ASKED_UNITS.items():
        end = at + len(said)
        if not at or tuple(words[at:end]) != said or number_of(words[at - 1]) is not None:
            continue
        if len(said) > 1 or words[at - 1] in _INTO:
            return end, Piece(said="".join(said), meanings=(Meaning(kind="unit", key=unit),))
    return None


def _phrase(
    words: Sequence[str],
    at: int,
    record: Lexicon | None,
    clinical: dict[int, tuple[int, tuple[Meaning, ...]]],
) -> tuple[int, tuple[Meaning, ...]] | None:
    known = [one for one in (lexicon().at(words, at), clinical.get(at)) if one is not None]
    end = max((one[0] for one in known), default=at)
    if record is not None and (own := record.at(words, at)) is not None and own[0] > end:
        # A name of the record counts where it says more than the general words do.
        return own
    meanings = [
        meaning for one in known if one[0] == end for meaning in one[1] if meaning.kind != "plain"
    ]
    return (end, tuple(dict.fromkeys(meanings))) if meanings else None


def _bound(words: Sequence[str], at: int) -> tuple[int, Piece] | None:
    """A comparison with its figure and unit: "above 5 mmol/L", "> 7 %", "between 4 and 6"."""
    if (trailing := _bound_after(words, at)) is not None:
        return trailing
    phrase = lexicon().at(words, at)
    if phrase is None:
        return None
    op = next((one.key for one in phrase[1] if one.kind == "cmp"), None)
    if op is None:
        return None
    index = phrase[0]
    while index < len(words) and words[index] in {"of", "a", "the", "level", "value"}:
        index += 1
    value_ = _figure(words, index)
    if value_ is None:
        return None
    index += 1
    upper = None
    if op == "between":
        if index + 1 >= len(words) or words[index] not in {"and", "to", "-"}:
            return None
        upper = _figure(words, index + 1)
        if upper is None or (_year_like(value_) and _year_like(upper)):
            return None
        index += 2
    start = index
    while index < len(words) and words[index] in _UNIT:
        index += 1
    unit = "".join(words[start:index])
    if index < len(words) and words[index] in {"/", "months", "days", "weeks"}:
        return None
    threshold = Threshold(op=op, value=value_, upper=upper, unit=unit)  # type: ignore[arg-type]
    return index, Piece(said=" ".join(words[at:index]), bound=threshold)


_AFTER = {
    "more": ">=",
    "above": ">=",
    "higher": ">=",
    "greater": ">=",
    "over": ">=",
    "less": "<=",
    "lower": "<=",
    "below": "<=",
}


def _bound_after(words: Sequence[str], at: int) -> tuple[int, Piece] | None:
    """A bound said after its figure: "6.5 or more", "140 mmHg or above"."""
    value_ = _figure(words, at)
    if value_ is None:
        return None
    index = at + 1
    while index < len(words) and words[index] in _UNIT:
        index += 1
    if (
        index + 1 >= len(words)
        or words[index] not in {"or", "and"}
        or words[index + 1] not in _AFTER
    ):
        return None
    unit = "".join(words[at + 1 : index])
    bound = Threshold(op=_AFTER[words[index + 1]], value=value_, unit=unit)  # type: ignore[arg-type]
    return index + 2, Piece(said=" ".join(words[at : index + 2]), bound=bound)


def _figure(words: Sequence[str], at: int) -> Decimal | None:
    if at >= len(words):
        return None
    text = words[at]
    return Decimal(text) if text.replace(".", "", 1).isdecimal() else None


def _year_like(figure: Decimal) -> bool:
    return figure == figure.to_integral_value() and _YEARS[0] <= figure <= _YEARS[1]
