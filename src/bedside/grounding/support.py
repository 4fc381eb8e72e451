"""Does the cited text hold what a sentence says? Pure.

Deterministic, in one order: figures with their units, dates, named codes, drugs and analytes,
doses, negation, doubt, whose it is, which side, then enough of the content. The first that fails
names the reason. The rules are strict where a mistake harms and lenient in wording.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from typing import Literal

from bedside.clinical.vocabulary import expand
from bedside.core.source import SourceKind
from bedside.core.value import value
from bedside.grounding.doses import unsupported
from bedside.grounding.figures import Figures
from bedside.grounding.terms import Term, analytes, codes, drugs, stems
from bedside.language.dates import dates
from bedside.language.laterality import sides
from bedside.language.negation import Kind, Scope, scopes
from bedside.language.quantities import frequencies, quantities

__all__ = ["Evidence", "Judgement", "Why", "judge"]

Why = Literal[
    "",
    "figure_not_in_source",
    "unit_mismatch",
    "date_not_in_source",
    "drug_not_in_source",
    "analyte_not_in_source",
    "dose_not_in_source",
    "negation_mismatch",
    "uncertainty_mismatch",
    "status_mismatch",
    "subject_mismatch",
    "laterality_mismatch",
    "no_support",
]

Level = Literal["full", "partial", "none"]
_FULL, _PARTIAL = (
    {"figures": 0.5, "inference": 0.6, "words": 0.6},
    {
        "figures": 0.25,
        "inference": 0.25,
        "words": 0.51,
    },
)
"""Shares of the content words that must stand in the cited text. A claim of words alone needs most
of them; agreeing figures, and being marked as an inference, make up for some."""

_SURE = 0.5  # expansions of less weight are guesses
_DENIED_STATUS = re.compile(
    r"\b(?:refuted|entered[- ]in[- ]error|cancelled|canceled|not[- ]taken|not[- ]done|rejected)\b", re.IGNORECASE
)  # fmt: skip
_PAST_STATUS = re.compile(
    r"\b(?:resolved|inactive|in remission|stopped|discontinued|completed|ended|former|previous|past|abated)\b", re.IGNORECASE
)  # fmt: skip
_PRESENT = re.compile(
    r"\b(?:currently|current|active|ongoing|still|now|has|is on|is taking|takes|on)\b", re.IGNORECASE
)  # fmt: skip
_TITLES = re.compile(r"\bfamily\b", re.IGNORECASE)
_HEDGE = re.compile(
    r"\b(?:may|might|could|possible|possibly|probable|probably|suspected|likely|unconfirmed|query|"
    r"consider|suggests?|suggesting|suggestive|consistent|differential|rule out|r/o|if|risk|"
    r"provisional|presumed|interpretation|speculation)\b", re.IGNORECASE
)  # fmt: skip


@value
class Evidence:
    """One cited passage.

    `context` is the text to judge by: a whole record line, or the sentences that hold the quote.
    `quote` are the exact words, `notes` what was derived (ages, computed figures), `heading` the
    source's title and section path. `dated` is the content's date, `None` when unknown.
    """

    n: int
    kind: SourceKind
    quote: str
    context: str
    heading: str = ""
    notes: str = ""
    dated: date | None = None


@value
class Judgement:
    """`share` is the part of the content words found, in [0, 1]; 1 where there are none."""

    level: Literal["full", "partial", "none"]
    why: Why = ""
    detail: str = ""
    share: float = 1.0


def judge(
    said: str,
    evidence: Sequence[Evidence],
    *,
    carried: str = "",
    computed: Sequence[str] = (),
    asked: str = "",
    inference: bool = False,
) -> Judgement:
    """Compare one clause with the passages that it cites.

    Args:
        said: The clause, without markers.
        evidence: What it cites, resolved; empty gives "none".
        carried: Earlier words of the same sentence, for a clause that leaves its subject out.
        computed: Outputs of deterministic calculators: their figures count.
        asked: The question: a threshold or a drug it named may be said again.
        inference: True for a sentence that is worded as a conclusion.

    Returns:
        "full" where everything checkable agrees and most content words stand in the cited text,
        "partial" where fewer do, else "none" with the reason.
    """
    if not evidence:
        return Judgement(level="none", why="no_support", share=0.0)
    texts = [one.context for one in evidence]
    notes = [*(one.notes for one in evidence if one.notes), *computed]
    held = Figures([*texts, *notes], known=[one.dated for one in evidence if one.dated])
    failed = (
        _figures(said, held, asked)
        or _entities(said, evidence, carried, asked)
        or _doses(said, evidence)
        or _polarity(said, evidence)
        or _sides(said, texts)
    )
    share = _share(said, evidence, asked)
    if failed:
        return Judgement(level="none", why=failed[0], detail=failed[1], share=share)
    kind = "figures" if quantities(said) else "inference" if inference else "words"
    level: Level = (
        "full" if share >= _FULL[kind] else "partial" if share >= _PARTIAL[kind] else "none"
    )
    return Judgement(level=level, why="" if level == "full" else "no_support", share=share)


Failed = tuple[Why, str] | None


def _figures(said: str, held: Figures, asked: str) -> Failed:
    question: Figures | None = None
    often = frequencies(said)
    for one in quantities(said):
        rhythm = next((f for f in often if f.start <= one.start < f.end), None)
        if rhythm is not None and rhythm.label in {
            f.label for text in held.texts for f in frequencies(text)
        }:
            continue  # "every 12 hours" for "twice daily"
        if held.figure(one):
            if held.unit(one):
                continue
            return "unit_mismatch", said[one.start : one.end]
        if one.comparator and asked:
            question = question or Figures([asked])
            threshold = any(str(one.low) == str(other.low) for other in question.quantities)
            if threshold and (held.exceeds(one) or _denied(said, one.start)):
                continue
        return "figure_not_in_source", said[one.start : one.end]
    return _days(said, held, asked) or _names(said, held, asked)


def _days(said: str, held: Figures, asked: str) -> Failed:
    for when in dates(said):
        if not held.day(when) and not Figures([asked]).day(when):
            return "date_not_in_source", said[when.start : when.end]
    return None


def _names(said: str, held: Figures, asked: str) -> Failed:
    """Names with digits: a stage, a vitamin, a type."""
    for code in codes(said):
        if (
            code.key not in held.codes
            and code.key not in Figures([asked]).codes
            and not _known_code(code, held)
        ):
            return "figure_not_in_source", said[code.start : code.end]
    return None


def _known_code(code: Term, held: Figures) -> bool:
    """An analyte's or drug's other name ("HbA1c" for "glycated haemoglobin") is judged as such."""
    name = {one.key for one in (*analytes(code.key), *drugs(code.key))}
    return bool(name) and any(
        name & {one.key for one in (*analytes(text), *drugs(text))} for text in held.texts
    )


def _denied(said: str, at: int) -> bool:
    return any(one.kind == "negated" and one.start <= at < one.end for one in scopes(said)) or bool(
        re.search(r"\b(?:no|not|never|none)\b", said[:at], re.IGNORECASE)
    )


def _entities(said: str, evidence: Sequence[Evidence], carried: str, asked: str) -> Failed:
    texts = [f"{one.heading}. {one.context}" for one in evidence]
    checks: tuple[tuple[Why, object], ...] = (
        ("drug_not_in_source", drugs),
        ("analyte_not_in_source", analytes),
    )
    for why, find in checks:
        assert callable(find)
        mine: list[Term] = find(said)
        if not mine and carried and quantities(said):
            inherited = {one.key for one in find(carried)}
            if inherited and not inherited & {one.key for text in texts for one in find(text)}:
                return why, ""
        if not mine:
            continue
        theirs = {one.key for text in texts for one in find(text)}
        for one in mine:
            if one.key in theirs or _written(said[one.start : one.end], texts):
                continue
            if asked and one.key in {other.key for other in find(asked)} and len(mine) > 1:
                continue
            return why, said[one.start : one.end]
    return None


def _written(words: str, texts: Sequence[str]) -> bool:
    low = words.lower()
    return any(low in text.lower() for text in texts)


def _doses(said: str, evidence: Sequence[Evidence]) -> Failed:
    passages = [f"{one.context}" for one in evidence]
    passages += [f"{one.heading}: {one.context}" for one in evidence if one.heading]
    wrong = unsupported(said, passages)
    if wrong:
        return "dose_not_in_source", said[wrong[0].start : wrong[0].end]
    return None


def _within(terms: Sequence[Term], found: Sequence[Scope], kind: Kind) -> set[str]:
    return {
        term.key
        for term in terms
        if any(one.kind == kind and one.start <= term.start < one.end for one in found)
    }


def _polarity(said: str, evidence: Sequence[Evidence]) -> Failed:
    """Negation, doubt, status and subject, over the content words that both sides share."""
    mine = [*stems(said), *codes(said)]
    my_scopes = scopes(said)
    my_keys = {one.key for one in mine}
    my_negated = _within(mine, my_scopes, "negated")
    my_family = any(one.kind == "family" for one in my_scopes)
    hedged = _HEDGE.search(said) is not None
    denied: set[str] = set()
    backed = False
    for one in evidence:
        terms = [*stems(one.context), *codes(one.context)]
        shared = my_keys & {term.key for term in terms}
        if not shared:
            continue
        found = scopes(one.context)
        negated = _within(terms, found, "negated") & shared
        affirmed = {
            term.key
            for term in terms
            if term.key in shared
            and not any(s.kind == "negated" and s.start <= term.start < s.end for s in found)
        }
        denied |= my_negated & shared
        backed = backed or bool(my_negated & negated)
        if negated and not negated & my_negated and not negated & affirmed:
            return "negation_mismatch", ""
        if one.kind == "guideline":
            continue
        failed = _about_whom(one, terms, found, shared, affirmed, family=my_family, hedged=hedged)
        if failed:
            return failed
        if failed := _status(said, one):
            return failed
    if denied and not backed:
        return "negation_mismatch", ""
    return None


def _about_whom(
    one: Evidence,
    terms: Sequence[Term],
    found: Sequence[Scope],
    shared: set[str],
    affirmed: set[str],
    *,
    family: bool,
    hedged: bool,
) -> Failed:
    doubted = _within(terms, found, "uncertain") & shared
    certain = {
        term.key
        for term in terms
        if term.key in affirmed
        and not any(s.kind == "uncertain" and s.start <= term.start < s.end for s in found)
    }
    if doubted and not hedged and not doubted & certain:
        return "uncertainty_mismatch", ""
    relative = _within(terms, found, "family") & shared
    of_family = bool(relative) or _TITLES.search(one.heading.split(">")[-1]) is not None
    if of_family and not family:
        outside = (
            shared - relative if not _TITLES.search(one.heading.split(">")[-1]) else set[str]()
        )
        if not outside or len(relative) >= len(outside):
            return "subject_mismatch", ""
    if family and not of_family and not any(s.kind == "family" for s in found):
        return "subject_mismatch", ""
    return None


def _status(said: str, one: Evidence) -> Failed:
    if _DENIED_STATUS.search(one.context) and not _DENIED_STATUS.search(said):
        negated = any(scope.kind == "negated" for scope in scopes(said))
        if not negated:
            return "status_mismatch", ""
    past = _PAST_STATUS.search(one.context)
    if past and one.kind == "record" and _PRESENT.search(said) and not _PAST_STATUS.search(said):
        return "status_mismatch", ""
    return None


def _sides(said: str, texts: Sequence[str]) -> Failed:
    mine = sides(said)
    if not mine:
        return None
    theirs = [one for text in texts for one in sides(text)]
    have = {one.side for one in theirs}
    for one in mine:
        wanted = {one.side, "both"} if one.side != "both" else {"both"}
        both_written = one.side == "both" and {"left", "right"} <= have
        if not wanted & have and not both_written:
            return "laterality_mismatch", said[one.start : one.end]
        paired = {other.side for other in theirs if one.of and other.of == one.of}
        if paired and not wanted & paired and not both_written:
            return "laterality_mismatch", said[one.start : one.end]
    return None


def _share(said: str, evidence: Sequence[Evidence], asked: str) -> float:
    """The part of the clause's content words that the cited text (or its heading) holds."""
    written = [*quantities(said), *dates(said), *frequencies(said)]
    mine = {
        one.key
        for one in (*stems(said), *codes(said))
        if not any(other.start <= one.start < other.end for other in written)
    }
    named = {one.key for one in (*drugs(said), *analytes(said))}
    if not mine:
        return 1.0
    texts = [f"{one.heading} {one.context} {one.notes}" for one in evidence]
    theirs = {one.key for text in texts for one in (*stems(text), *codes(text))}
    found = mine & theirs
    if named:
        entities = {one.key for text in texts for one in (*drugs(text), *analytes(text))}
        for one in (*drugs(said), *analytes(said)):
            if one.key in entities:
                found |= {term.key for term in stems(said) if one.start <= term.start < one.end}
                found |= {term.key for term in codes(said) if one.start <= term.start < one.end}
    if len(found) < len(mine):
        found |= _other_words(said, mine - found, theirs)
    if asked:
        # Words of the question are not news: they neither help nor hurt.
        echoed = {one.key for one in (*stems(asked), *codes(asked))} - theirs
        if mine - echoed:
            mine -= echoed
    return len(found & mine) / len(mine) if mine else 1.0


def _other_words(said: str, wanted: set[str], theirs: set[str]) -> set[str]:
    """Those of the wanted stems that the cited text says in other words (HTN for hypertension)."""
    found: set[str] = set()
    for one in expand(said):
        part = {term.key for term in (*stems(one.term), *codes(one.term))} & wanted
        if not part or one.weight < _SURE:
            continue
        other = {term.key for term in (*stems(one.replacement), *codes(one.replacement))}
        other |= {one.replacement.lower()} if not other else set[str]()
        if other and other <= theirs:
            found |= part
    return found
