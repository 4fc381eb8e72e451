"""Quotes to resolve, made by damaging real text on both sides, with the true place known.

The maker shares no code with the resolver: it damages the text before, inside and after the chosen
words separately, so the true span is known by addition, and its notion of likeness (`skeleton`) is
its own, coarser one.
"""

from __future__ import annotations

import random
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

from bedside.core.value import value
from bedside.grounding.resolve import Ambiguous, Resolved, resolve
from bedside.grounding.source import SourceText

__all__ = ["Case", "cases", "compare", "fuzz", "judge_case", "skeleton", "texts"]

_LIGATURES = {"ffi": "\ufb03", "ffl": "\ufb04", "ff": "\ufb00", "fi": "\ufb01", "fl": "\ufb02"}
_ZERO = ("\u200b", "\u200c", "\u2060", "\ufeff", "\u200e")
_EMOJI = ("👍", "👩\u200d⚕\ufe0f", "❤\ufe0f", "🇮🇳", "👨\u200d👩\u200d👧", "💊")
_BUILT_IN = (
    "Patient denies chest pain, shortness of breath and fever. Metformin 500 mg twice daily was started "
    "on 2 Nov 2024; HbA1c 8.2 % (was 9.1 %). eGFR 38 mL/min/1.73m2, potassium 5.1 mmol/L. Follow-up in "
    "3 months. Café-au-lait spots on the left forearm. β-blocker stopped: “dizziness”. Naïve to insulin. "
    "Amoxicillin 500 mg 8-hourly for 5-7 days if temperature > 38.5 °C. First line: ACE inhibitor. "
) * 6  # fmt: skip

Outcome = Literal["right", "refused", "wrong"]
Kind = Literal["same", "twice", "within", "changed", "cut"]


@value
class Case:
    """A quote and a source. `[start, end)` is the true place; `window` the given one, if any.

    `must` is True where the quote reads the same in exactly one place, so that only a resolver
    that is too strict would refuse it.
    """

    source: str
    quote: str
    start: int
    end: int
    kind: Kind
    damage: tuple[str, ...]
    window: tuple[int, int] | None = None
    must: bool = False


def texts(data: Path | None) -> list[str]:
    """Real texts to cut cases from: guidelines and notes; a built-in one where `data` is absent."""
    found: list[str] = []
    if data is not None and data.is_dir():
        for folder in ("guidelines/nigeria_stg_2022", "guidelines/edliz_zimbabwe"):
            for path in sorted((data / folder).glob("*.md")):
                text = path.read_text(encoding="utf-8", errors="replace")
                if len(text) > 2_000:
                    found.append(text)
        for path in sorted((data / "notes").rglob("*.json"))[:4]:
            raw = path.read_text(encoding="utf-8", errors="replace")
            found.append(raw.replace("\\n", "\n").replace('\\"', '"'))
    return found or [_BUILT_IN]


# ---- damage: each takes text without a line's context, so it may be applied to any part alone


def _nfd(text: str, _: random.Random) -> str:
    return unicodedata.normalize("NFD", text)


def _crlf(text: str, _: random.Random) -> str:
    return text.replace("\r\n", "\n").replace("\n", "\r\n")


def _nbsp(text: str, rng: random.Random) -> str:
    return _sometimes(text, r" ", lambda _: "\u00a0", rng, 0.4)


def _blanks(text: str, rng: random.Random) -> str:
    return _sometimes(
        text, r" ", lambda _: rng.choice(("  ", " \t", "   ", "\n", " \n ")), rng, 0.4
    )


def _smart(text: str, rng: random.Random) -> str:
    text = _sometimes(text, r'"', lambda _: rng.choice("“”„"), rng, 0.8)
    return _sometimes(text, r"'", lambda _: "’", rng, 0.8)


def _dashes(text: str, rng: random.Random) -> str:
    return _sometimes(text, r"-", lambda _: rng.choice("\u2010\u2011\u2013\u2014\u2212"), rng, 0.6)


def _soft(text: str, rng: random.Random) -> str:
    return _sometimes(text, r"(?<=[a-z]{2})(?=[a-z]{2})", lambda _: "\u00ad", rng, 0.1)


def _ligatures(text: str, rng: random.Random) -> str:
    return _sometimes(text, r"ffi|ffl|ff|fi|fl", lambda m: _LIGATURES[m.group()], rng, 0.7)


def _zero(text: str, rng: random.Random) -> str:
    return _sometimes(text, r"(?<=\w)(?=\w)", lambda _: rng.choice(_ZERO), rng, 0.05)


def _hyphenate(text: str, rng: random.Random) -> str:
    return _sometimes(
        text,
        r"(?<=[a-z]{3})(?=[a-z]{3})",
        lambda _: rng.choice(("-\n", "-\r\n", "-\n  ")),
        rng,
        0.04,
    )


def _emoji(text: str, rng: random.Random) -> str:
    return _sometimes(text, r" ", lambda _: f" {rng.choice(_EMOJI)} ", rng, 0.08)


def _micro(text: str, _: random.Random) -> str:
    return text.replace("\u00b5", "\u03bc")


def _wide(text: str, rng: random.Random) -> str:
    return _sometimes(
        text,
        r"(?<=\s)[A-Za-z]{2,5}(?=\s)",
        lambda m: "".join(chr(ord(c) + 0xFEE0) for c in m.group()),
        rng,
        0.05,
    )


def _sometimes(
    text: str, pattern: str, make: Callable[[re.Match[str]], str], rng: random.Random, share: float
) -> str:
    return re.sub(pattern, lambda m: make(m) if rng.random() < share else m.group(), text)


_SOURCE: dict[str, Callable[[str, random.Random], str]] = {
    "nfd": _nfd,
    "crlf": _crlf,
    "nbsp": _nbsp,
    "blanks": _blanks,
    "smart_quotes": _smart,
    "dashes": _dashes,
    "soft_hyphen": _soft,
    "ligature": _ligatures,
    "zero_width": _zero,
    "hyphenation": _hyphenate,
    "micro": _micro,
    "full_width": _wide,
}
_QUOTE: dict[str, Callable[[str, random.Random], str]] = {
    "nfd": _nfd,
    "nfc": lambda text, _: unicodedata.normalize("NFC", text),
    "flat": lambda text, _: " ".join(text.split()),
    "straight": lambda text, _: text.replace("’", "'").replace("“", '"').replace("”", '"'),
    "smart_quotes": _smart,
    "dashes": _dashes,
    "nbsp": _nbsp,
    "escaped": lambda text, _: text.replace("&", "&amp;").replace("<", "&lt;"),
    "edges": lambda text, rng: rng.choice((" ", "\n", "")) + text + rng.choice((" ", "\n", "")),
    "zero_width": _zero,
    "soft_hyphen": _soft,
}


def skeleton(text: str) -> str:
    """The letters, digits and signs of a text: the maker's own idea of "reads the same"."""
    out: list[str] = []
    text = (
        text.replace("&amp;", "&").replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
    )
    for char in unicodedata.normalize("NFC", "".join(c for c in text if not _ignored(c))):
        if char.isspace() or unicodedata.category(char) == "Pd" or char in "-\u2212":
            continue
        if "\ufb00" <= char <= "\ufb06" or "\uff01" <= char <= "\uff5e":
            out.append(unicodedata.normalize("NFKC", char))
        elif unicodedata.category(char) in {"Pi", "Pf"} or char in "\"'`´„‚′″":
            out.append('"')
        else:
            out.append("\u03bc" if char == "\u00b5" else char)
    return "".join(out)


def _ignored(char: str) -> bool:
    category = unicodedata.category(char)
    return (
        category == "Cf"
        or (category == "Cc" and not char.isspace())
        or char in "\ufe0e\ufe0f\u00ad"
    )


# ---- cases


def cases(corpus: Sequence[str], *, count: int, seed: int) -> Iterator[Case]:
    """`count` cases, the same for the same seed."""
    rng = random.Random(seed)
    made = 0
    while made < count:
        text = rng.choice(corpus)
        size = rng.randint(150, 900)
        at = rng.randint(0, max(0, len(text) - size))
        case = _case(text[at : at + size], rng)
        if case is not None:
            made += 1
            yield case


def _case(window: str, rng: random.Random) -> Case | None:
    if rng.random() < 0.15:
        window = _emoji(window, rng)  # part of the text, so part of the quote too
    words = [match.span() for match in re.finditer(r"\S+", window)][1:-1]
    if len(words) < 8:
        return None
    first = rng.randrange(len(words))
    last = min(len(words) - 1, first + rng.choice((0, 1, 2, 3, 5, 8, 13)))
    start, end = words[first][0], words[last][1]
    mid = window[start:end]
    if not any(char.isalnum() for char in mid):
        return None
    kind: Kind = rng.choices(
        ("same", "twice", "within", "changed", "cut"), weights=(60, 8, 7, 17, 8)
    )[0]
    names = rng.sample(sorted(_SOURCE), rng.choice((0, 1, 1, 2, 3)))
    parts = [window[:start], mid, window[end:]]
    if kind in {"twice", "within"}:
        parts[2] = f"{parts[2]} And again: {mid} "
    for name in names:
        parts = [_SOURCE[name](part, rng) for part in parts]
    source = "".join(parts)
    true = (len(parts[0]), len(parts[0]) + len(parts[1]))
    quote_names = rng.sample(sorted(_QUOTE), rng.choice((0, 1, 1, 2)))
    quote = mid
    if kind == "changed":
        quote = _change(mid, rng)
    elif kind == "cut":
        quote = mid[1:] if rng.random() < 0.5 else mid[:-1]
    if not quote.strip() or (kind == "changed" and skeleton(quote) == skeleton(mid)):
        return None
    for name in quote_names:
        quote = _QUOTE[name](quote, rng)
    bones = skeleton(quote)
    once = bool(bones) and _count(skeleton(source), bones) == 1
    window_given = None
    if kind == "within":
        window_given = (max(0, true[0] - 40), true[1])
    return Case(
        source=source,
        quote=quote,
        start=true[0],
        end=true[1],
        kind=kind,
        damage=(*names, *(f"q:{name}" for name in quote_names)),
        window=window_given,
        must=kind == "same" and once and not _torn(window, start, end),
    )


def _torn(window: str, start: int, end: int) -> bool:
    """Do the words leave off the "<" or the other end of a range? Then refusing them is right."""
    before, after = window[:start], window[end:]
    mid = window[start:end]
    return (
        re.search(r"[<>≤≥~±≈]\s*$", before) is not None
        or (re.search(r"\d\s*[-–]\s*$", before) is not None and mid[:1].isdigit())
        or (
            re.search(r"\d\s*$", before) is not None and re.match(r"[-–]\s*(\d|$)", mid) is not None
        )
        or (re.match(r"\s*[-–]\s*\d", after) is not None and mid[-1:].isdigit())
        or (re.match(r"\s*\d", after) is not None and re.search(r"(\d|^)\s*[-–]$", mid) is not None)
        or re.search(r"\w[-–]\s+$", before) is not None
        or (re.search(r"\w[-–]$", mid) is not None)
    )


def _count(text: str, part: str) -> int:
    found = at = 0
    while (at := text.find(part, at) + 1) > 0:
        found += 1
    return found


def _change(text: str, rng: random.Random) -> str:
    """A change of meaning: a digit, a unit, a negation, a word."""
    digits = [match.start() for match in re.finditer(r"\d", text)]
    words = text.split(" ")
    how = rng.choice(("digit", "drop", "swap", "insert", "letter", "unit"))
    if how == "digit" and digits:
        at = rng.choice(digits)
        return text[:at] + str((int(text[at]) + rng.randint(1, 9)) % 10) + text[at + 1 :]
    if how == "unit" and re.search(r"\bmg\b", text):
        return re.sub(r"\bmg\b", "mcg", text, count=1)
    if how == "drop" and len(words) > 2:
        del words[rng.randrange(1, len(words) - 1)]
        return " ".join(words)
    if how == "swap" and len(words) > 1:
        at = rng.randrange(len(words) - 1)
        words[at], words[at + 1] = words[at + 1], words[at]
        return " ".join(words)
    if how == "insert" and len(words) > 1:
        words.insert(rng.randrange(1, len(words)), rng.choice(("not", "no", "left", "10")))
        return " ".join(words)
    letters = [match.start() for match in re.finditer(r"[a-z]", text)]
    if not letters:
        return text + " not"
    at = rng.choice(letters)
    return text[:at] + ("x" if text[at] != "x" else "y") + text[at + 1 :]


def judge_case(case: Case, found: tuple[int, int] | None) -> Outcome:
    """Right, refused or wrong. `found` is what a resolver gave, `None` for a refusal."""
    if found is None:
        return "refused"
    start, end = found
    if case.kind in {"same", "within"}:
        return (
            "right" if _visible(case, found) == _visible(case, (case.start, case.end)) else "wrong"
        )
    if case.kind == "twice":
        return "wrong"
    if case.kind == "cut" and start < case.end and case.start < end:
        # What is left of a token is no token.
        left, right = case.source[start - 1 : start + 1], case.source[end - 1 : end + 1]
        if any(len(pair) == 2 and pair.isalnum() for pair in (left, right)):
            return "wrong"
    alike = skeleton(case.source[start:end]) == skeleton(case.quote)
    return "right" if alike else "wrong"


def _visible(case: Case, span: tuple[int, int]) -> tuple[int, int]:
    """The span without invisible characters and blanks at its ends."""
    start, end = span
    while start < end and (_ignored(case.source[start]) or case.source[start].isspace()):
        start += 1
    while end > start and (_ignored(case.source[end - 1]) or case.source[end - 1].isspace()):
        end -= 1
    return start, end


def _ours(case: Case) -> tuple[int, int] | None:
    found = resolve(case.quote, SourceText("s", case.source), within=case.window)
    if isinstance(found, Resolved):
        assert case.source[found.start : found.end] == found.quote
        return found.start, found.end
    return None


def fuzz(corpus: Sequence[str], *, count: int, seed: int) -> dict[str, Any]:
    """Resolve `count` cases and count what came of them.

    Returns:
        `wrong` must be 0; `must_resolved` of `must` say how few good quotes are refused. `twice`
        counts quotes that stand in two places: all must be refused.
    """
    outcome: Counter[str] = Counter()
    by_kind: dict[str, Counter[str]] = {}
    by_damage: dict[str, Counter[str]] = {}
    must = must_right = ambiguous = 0
    failures: list[dict[str, Any]] = []
    for index, case in enumerate(cases(corpus, count=count, seed=seed)):
        result = judge_case(case, _ours(case))
        outcome[result] += 1
        by_kind.setdefault(case.kind, Counter())[result] += 1
        for name in case.damage:
            by_damage.setdefault(name, Counter())[result] += 1
        if case.must:
            must += 1
            must_right += result == "right"
        if case.kind == "twice":
            ambiguous += isinstance(resolve(case.quote, SourceText("s", case.source)), Ambiguous)
        if result == "wrong" and len(failures) < 10:
            failures.append({"case": index, "kind": case.kind, "damage": list(case.damage)})
    return {
        "n": count,
        "seed": seed,
        "texts": len(corpus),
        "right": outcome["right"],
        "refused": outcome["refused"],
        "wrong": outcome["wrong"],
        "right_or_refused": (outcome["right"] + outcome["refused"]) / max(1, count),
        "must": must,
        "must_resolved": must_right / max(1, must),
        "twice_said_ambiguous": ambiguous / max(1, sum(by_kind.get("twice", Counter()).values())),
        "by_kind": {kind: dict(counts) for kind, counts in sorted(by_kind.items())},
        "by_damage": {name: dict(counts) for name, counts in sorted(by_damage.items())},
        "failures": failures,
    }


def compare(corpus: Sequence[str], *, count: int, seed: int) -> dict[str, Any]:
    """The first `count` of the same cases through LangExtract's aligner, beside ours.

    A case with a given window is given to LangExtract as that window's text. An alignment of any
    status counts as found.
    """
    try:
        extraction: Any = import_module("langextract.core.data").Extraction
        aligner: Any = import_module("langextract.resolver").WordAligner()
    except ImportError:
        return {"n": 0, "skipped": "langextract is not installed (requirements/bench.txt)"}
    outcome: dict[str, Counter[str]] = {"ours": Counter(), "langextract": Counter()}
    exact: Counter[str] = Counter()
    by_kind: dict[str, Counter[str]] = {}
    for case in cases(corpus, count=count, seed=seed):
        outcome["ours"][judge_case(case, _ours(case))] += 1
        base, end = case.window or (0, len(case.source))
        groups = aligner.align_extractions(
            [[extraction(extraction_class="quote", extraction_text=case.quote)]],
            case.source[base:end],
        )
        aligned = next((one for group in groups for one in group), None)
        place = aligned.char_interval if aligned is not None else None
        found = (
            (base + place.start_pos, base + place.end_pos)
            if place is not None and place.start_pos is not None and place.end_pos is not None
            else None
        )
        result = judge_case(case, found)
        outcome["langextract"][result] += 1
        by_kind.setdefault(case.kind, Counter())[result] += 1
        if aligned is not None and str(aligned.alignment_status).endswith("EXACT"):
            exact[result] += 1
    return {
        "n": count,
        "ours": dict(outcome["ours"]),
        "langextract": dict(outcome["langextract"]),
        "langextract_exact_only": dict(exact),
        "langextract_by_kind": {kind: dict(counts) for kind, counts in sorted(by_kind.items())},
    }
