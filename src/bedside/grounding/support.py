"""Does the cited text hold what a sentence says? Pure.

Deterministic, in one order: doses, figures with their units, dates, named codes, drugs and analytes,
negation, doubt, whose it is, which side, words that turn the source round, then enough of the content. The first that fails
names the reason. The rules are strict where a mistake harms and lenient in wording.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import date
from typing import Literal

from bedside.clinical.vocabulary import expand
from bedside.core.source import SourceKind
from bedside.core.value import value
from bedside.grounding.doses import doses, unsupported
from bedside.grounding.figures import Figures
from bedside.grounding.opposites import alike, opposed, parts_of, turned
from bedside.grounding.reading import Memo, Read
from bedside.grounding.terms import POINTING, Term
from bedside.language.negation import Kind, Scope
from bedside.language.quantities import frequencies

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
    "opposite_in_source",
    "course_mismatch",
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
_OFTEN = re.compile(r"^(?:\d/(?:day|week)|1/2day|every \d.*h)$")
_TIME_OF_DAY = re.compile(r"(?:at|in the)\s", re.IGNORECASE)
_NO = re.compile(r"\b(?:no|not|never|none)\b", re.IGNORECASE)
_DENIED_STATUS = re.compile(
    r"\b(?:refuted|entered[- ]in[- ]error|cancelled|canceled|not[- ]taken|not[- ]done|rejected)\b",
    re.IGNORECASE,
)
_OVER = re.compile(
    r"\b(?:resolved|inactive|in remission|stopped|discontinued|(?<=: )completed|abated|ended)\b",
    re.IGNORECASE,
)
"""A course is over at ": completed"; a vaccination or an examination "(completed)" stands."""
_PAST = re.compile(
    _OVER.pattern
    + r"|\bcompleted\b"
    + r"|\b(?:former(?:ly)?|previous(?:ly)?|past|history|was|were|had|until|no longer)\b",
    re.IGNORECASE,
)
_PRESENT = re.compile(
    r"\b(?:currently|current|active|ongoing|still|now|is on|remains on|is taking|takes|continues)\b",
    re.IGNORECASE,
)
_FROM = re.compile(r"\bfrom\s+\Z", re.IGNORECASE)
_ORDINAL = re.compile(r"(\d{1,3})(?:st|nd|rd|th)")
_ORDINALS = [
    "first",
    "second",
    "third",
    "fourth",
    "fifth",
    "sixth",
    "seventh",
    "eighth",
    "ninth",
    "tenth",
]
_GAVE_UP = re.compile(r"\b(?:quit|gave up|given up|ex-\w+|former)\b", re.IGNORECASE)
_OWN = 16
"""Letters from a word on by which it is found again in an entry's own words."""
_GOES_ON = re.compile(r":\s*current\b(?!.*\bformer\b)", re.IGNORECASE)
_TITLES = re.compile(r"\bfamily\b", re.IGNORECASE)
_HEDGE = re.compile(
    r"\b(?:(?-i:may)|might|could|possible|possibly|probable|probably|suspected|likely|unconfirmed|query|"
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
    read: Memo | None = None,
) -> Judgement:
    """Compare one clause with the passages that it cites.

    Args:
        said: The clause, without markers.
        evidence: What it cites, resolved; empty gives "none".
        carried: Earlier words of the same sentence, for a clause that leaves its subject out.
        computed: Outputs of deterministic calculators: their figures count.
        asked: The question: a threshold or a drug it named may be said again.
        inference: True for a sentence that is worded as a conclusion.
        read: The readings of this answer and its sources, where a gate keeps them.

    Returns:
        "full" where everything checkable agrees and most content words stand in the cited text,
        "partial" where fewer do, else "none" with the reason.
    """
    if not evidence:
        return Judgement(level="none", why="no_support", share=0.0)
    memo = read or Memo()
    mine, question = memo(said), memo(asked)
    texts = [memo(one.context) for one in evidence]
    held = Figures(
        [*texts, *(memo(one.notes) for one in evidence if one.notes)],
        known=[one.dated for one in evidence if one.dated],
        computed=[memo(one) for one in computed],
    )
    failed = (
        _doses(mine, evidence, memo(carried), memo)
        or _rhythm(mine, evidence, texts)
        or _figures(mine, held, question, memo)
        or _together(mine, evidence, texts)
        or _owners(mine, texts, memo)
        or _column(mine, evidence, memo)
        or _entities(mine, evidence, memo(carried), question, memo)
        or _polarity(mine, evidence, memo)
        or _sides(mine, texts)
        or _reversed(mine, texts, computed, memo)
    )
    share = _share(mine, evidence, question, memo)
    if failed:
        return Judgement(level="none", why=failed[0], detail=failed[1], share=share)
    kind = "figures" if mine.quantities else "inference" if inference else "words"
    level: Level = (
        "full" if share >= _FULL[kind] else "partial" if share >= _PARTIAL[kind] else "none"
    )
    return Judgement(level=level, why="" if level == "full" else "no_support", share=share)


Failed = tuple[Why, str] | None


def _figures(said: Read, held: Figures, asked: Read, memo: Memo) -> Failed:
    labels: set[str] | None = None
    for one in said.quantities:
        rhythm = next((f for f in said.frequencies if f.start <= one.start < f.end), None)
        if rhythm is not None:
            labels = labels or {f.label for text in held.texts for f in text.frequencies}
            if rhythm.label in labels:
                continue  # "every 12 hours" for "twice daily"
        if held.figure(one):
            if held.unit(one):
                continue
            return "unit_mismatch", said.text[one.start : one.end]
        if one.joint == "-" and _FROM.search(said.text, 0, one.start) and held.between(one):
            continue
        if one.comparator:
            threshold = any(str(one.low) == str(other.low) for other in asked.quantities)
            if threshold and (held.exceeds(one) or _denied(said, one.start)):
                continue
        return "figure_not_in_source", said.text[one.start : one.end]
    return _days(said, held, asked) or _names(said, held, asked, memo)


def _days(said: Read, held: Figures, asked: Read) -> Failed:
    for when in said.dates:
        if not held.day(when) and not Figures([asked]).day(when):
            return "date_not_in_source", said.text[when.start : when.end]
    return None


def _names(said: Read, held: Figures, asked: Read, memo: Memo) -> Failed:
    """Names with digits: a stage, a vitamin, a type."""
    wanted = {one.key for one in asked.codes}
    for code in said.codes:
        if held.name(code.key) or code.key in wanted:
            continue
        if any(day.start <= code.start < day.end for day in said.dates):
            continue  # "the 3rd of May"
        counted = _ORDINAL.fullmatch(code.key)
        if counted and any(_counts(int(counted[1]), text) for text in held.texts):
            continue
        name = memo(code.key).named  # another name of the same test is judged as such
        if not any(name & text.named for text in held.texts):
            return "figure_not_in_source", said.text[code.start : code.end]
    return None


def _counts(n: int, text: Read) -> bool:
    """Does the text hold a number that is said as an ordinal: "week 24" for the 24th, "second"?"""
    if any(one.low == n and one.high is None for one in text.quantities):
        return True
    return (
        n <= len(_ORDINALS)
        and re.search(rf"\b{_ORDINALS[n - 1]}\b", text.text, re.IGNORECASE) is not None
    )


def _together(said: Read, evidence: Sequence[Evidence], texts: Sequence[Read]) -> Failed:
    """A figure of one source is not of the day that another source has, which gives another figure."""
    values = [one for one in said.quantities if one.high is None and not one.comparator]
    if len(said.dates) != 1 or len(evidence) < 2 or not values:  # noqa: PLR2004 - it takes two
        return None
    when = said.dates[0]
    of_day = [text for text in texts if any(when.agrees(day) for day in text.dates)]
    others = [text for text in texts if text.dates and text not in of_day]
    for one in values:
        if any(Figures([text]).figure(one) for text in of_day):
            return None
    wrong = next((v for v in values if any(Figures([text]).figure(v) for text in others)), None)
    same = wrong and any(
        text.named & other.named and any(q.unit == wrong.unit for q in text.quantities)
        for text in of_day
        for other in others
    )
    return ("date_not_in_source", said.text[when.start : when.end]) if same else None


def _owners(said: Read, texts: Sequence[Read], memo: Memo) -> Failed:
    """A figure of a passage that names several medicines is of those that its part names."""
    for part in parts_of(said, memo):
        mine = {one.key for one in part.drugs}
        for one in part.quantities if mine else ():
            held = [
                {drug.key for drug in other.drugs}
                for text in texts
                for other in parts_of(text, memo)
                if Figures([other]).figure(one)
            ]
            if held and all(held) and not any(mine & drugs for drugs in held):
                return "drug_not_in_source", said.text[one.start : one.end]
    return None


def _cells(one: Evidence) -> list[tuple[str, str]]:
    """The cells of a table's row, each with its head; empty for other text."""
    if not one.context.startswith("|"):
        return []
    row, heads = (text.strip().strip("|").split("|") for text in (one.context, one.notes))
    return list(zip(heads, row, strict=True)) if len(row) == len(heads) else []


def _column(said: Read, evidence: Sequence[Evidence], memo: Memo) -> Failed:
    """A dose of a table's row stands in the column whose head is said ("the reduced dose")."""
    cells = _cells(evidence[0]) if len(evidence) == 1 else []
    row, heads = [memo(cell) for _, cell in cells], [memo(head) for head, _ in cells]
    own = [
        {key for key in head.keys if sum(key in other.keys for other in heads) == 1}
        for head in heads
    ]
    for text in (said, *parts_of(said, memo)) if cells else ():
        named = [k for k, keys in enumerate(own) if k and keys & text.keys]
        if len(named) != 1 or not row[named[0]].quantities:
            continue
        here = Figures([row[named[0]]])
        elsewhere = Figures([cell for k, cell in enumerate(row) if k != named[0]])
        found = [dose.quantity for dose in doses(text)]
        wrong = next((one for one in found if elsewhere.figure(one)), None)
        if wrong and not any(here.figure(one) for one in found):  # "5 mg, reduced to 2.5 mg"
            return "dose_not_in_source", text.text[wrong.start : wrong.end]
    return None


def _denied(said: Read, at: int) -> bool:
    scoped = any(one.kind == "negated" and one.start <= at < one.end for one in said.scopes)
    return scoped or _NO.search(said.text, 0, at) is not None


def _entities(
    said: Read, evidence: Sequence[Evidence], carried: Read, asked: Read, memo: Memo
) -> Failed:
    texts = [
        memo(f"{one.heading}. {one.context}" if one.heading else one.context) for one in evidence
    ]
    texts += [memo(one.notes) for one in evidence if one.context.startswith("|") and one.notes]
    rows: tuple[tuple[Why, Callable[[Read], list[Term]]], ...] = (
        ("drug_not_in_source", lambda one: one.drugs),
        ("analyte_not_in_source", lambda one: one.analytes),
    )
    if not said.named and said.quantities and carried.named:
        inherited = [*carried.drugs, *carried.analytes]
        theirs = {key for text in texts for key in text.named}
        if not any(
            one.key in theirs or _written(memo(carried.text[one.start : one.end]), texts)
            for one in inherited
        ):
            return "analyte_not_in_source", ""
    for why, find in rows:
        mine = find(said)
        theirs = {one.key for text in texts for one in find(text)}
        for one in mine:
            if one.key in theirs or _written(memo(said.text[one.start : one.end]), texts):
                continue
            if len(mine) > 1 and one.key in {other.key for other in find(asked)}:
                continue
            return why, said.text[one.start : one.end]
    return None


def _written(name: Read, texts: Sequence[Read]) -> bool:
    """Do all words of the name stand in one text, if not in that order?"""
    return bool(name.keys) and any(name.keys <= text.keys for text in texts)


def _doses(said: Read, evidence: Sequence[Evidence], carried: Read, memo: Memo) -> Failed:
    if not said.quantities:
        return None
    passages = [memo(one.context) for one in evidence]
    passages += [memo(f"{one.heading}: {one.context}") for one in evidence if one.heading]
    passages += [memo(f"{head}: {cell}") for one in evidence for head, cell in _cells(one)]
    drug = carried.drugs[-1].key if carried.drugs else ""
    wrong = unsupported(said, passages, carried=drug)
    if wrong:
        return "dose_not_in_source", said.text[wrong[0].start : wrong[0].end]
    return None


def _rhythm(said: Read, evidence: Sequence[Evidence], texts: Sequence[Read]) -> Failed:
    """How often a medicine is taken must stand in the cited text, in any of its spellings."""
    if not (said.drugs or any(text.drugs for text in texts)):
        return None
    mine = [one for one in said.frequencies if _OFTEN.search(one.label)]
    if not mine:
        return None
    theirs = {one.label for text in texts for one in text.frequencies}
    theirs |= {one.label for row in evidence if row.notes for one in frequencies(row.notes)}
    for one in mine:
        loose = _TIME_OF_DAY.match(said.text, one.start) is not None
        if one.label not in theirs and not (loose and theirs):
            return "dose_not_in_source", said.text[one.start : one.end]
    return None


def _within(terms: Sequence[Term], found: Sequence[Scope], kind: Kind) -> set[str]:
    return {
        term.key
        for term in terms
        if any(one.kind == kind and one.start <= term.start < one.end for one in found)
    }


def _polarity(said: Read, evidence: Sequence[Evidence], memo: Memo) -> Failed:
    """Negation, doubt, status and subject, over the content words that both sides share."""
    my_negated = _within(said.words, said.scopes, "negated")
    my_family = any(one.kind == "family" for one in said.scopes)
    hedged = _HEDGE.search(said.text) is not None or any(
        one.kind == "uncertain" for one in said.scopes
    )
    denied: set[str] = set()
    backed = False
    for one in evidence:
        theirs = memo(one.context)
        terms, shared = theirs.words, said.keys & theirs.keys
        if not shared:
            continue
        found = theirs.scopes
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
    shared: frozenset[str],
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
            shared - relative
            if not _TITLES.search(one.heading.split(">")[-1])
            else frozenset[str]()
        )
        if not outside or len(relative) >= len(outside):
            return "subject_mismatch", ""
    if family and not of_family and not any(s.kind == "family" for s in found):
        return "subject_mismatch", ""
    return None


def _status(said: Read, one: Evidence) -> Failed:
    if _DENIED_STATUS.search(one.context) and not _DENIED_STATUS.search(said.text):
        negated = any(scope.kind == "negated" for scope in said.scopes)
        if not negated:
            return "status_mismatch", ""
    if one.kind != "record":
        return None
    if _GAVE_UP.search(said.text) and _GOES_ON.search(one.context):
        return "status_mismatch", ""
    if not any(
        said.text[at.start() :][:_OWN] not in one.context for at in _PRESENT.finditer(said.text)
    ):
        return None  # none but in the entry's own name: "documentation of current medications"
    if _OVER.search(one.context) and not _PAST.search(said.text):
        return "status_mismatch", ""
    return None


def _sides(said: Read, texts: Sequence[Read]) -> Failed:
    mine = said.sides
    if not mine:
        return None
    theirs = [one for text in texts for one in text.sides]
    have = {one.side for one in theirs}
    for one in mine:
        wanted = {one.side, "both"} if one.side != "both" else {"both"}
        both_written = one.side == "both" and {"left", "right"} <= have
        if not wanted & have and not both_written:
            return "laterality_mismatch", said.text[one.start : one.end]
        paired = {other.side for other in theirs if one.of and other.of == one.of}
        if paired and not wanted & paired and not both_written:
            return "laterality_mismatch", said.text[one.start : one.end]
    return None


def _reversed(said: Read, texts: Sequence[Read], computed: Sequence[str], memo: Memo) -> Failed:
    word = turned(said, texts)
    if word:
        return "course_mismatch", word
    found = opposed(said, texts, computed=[memo(one) for one in computed], memo=memo)
    return ("opposite_in_source", found[0]) if found else None


def _share(said: Read, evidence: Sequence[Evidence], asked: Read, memo: Memo) -> float:
    """The part of the clause's content words that the cited text (or its heading) holds."""
    written = [*said.quantities, *said.dates, *said.frequencies]
    mine = {
        one.key
        for one in said.words
        if not any(other.start <= one.start < other.end for other in written)
    }
    if not mine:
        return 1.0
    texts = [
        memo(text) for one in evidence for text in (one.heading, one.context, one.notes) if text
    ]
    theirs = frozenset(key for text in texts for key in text.keys)
    found = mine & theirs
    if len(found) < len(mine) and said.named:
        entities = {key for text in texts for key in text.named}
        for one in (*said.drugs, *said.analytes):
            if one.key in entities:
                found |= {term.key for term in said.words if one.start <= term.start < one.end}
    if len(found) < _FULL["words"] * len(mine):
        found |= alike(said, texts) & mine
        found |= _other_words(said.text, mine - found, theirs, texts, memo)
    # Words of the question, and those that name the source, are not news: they neither help nor hurt.
    echoed = (asked.keys | POINTING) - theirs
    if mine - echoed:
        mine -= echoed
    return len(found & mine) / len(mine) if mine else 1.0


def _other_words(
    said: str, wanted: set[str], theirs: frozenset[str], texts: Sequence[Read], memo: Memo
) -> set[str]:
    """Those of the wanted stems that the cited text says in other words (HTN for hypertension)."""
    found: set[str] = set()
    for one in expand(said):
        part = memo(one.term).keys & wanted
        if not part or one.weight < _SURE:
            continue
        other = memo(one.replacement).keys or {one.replacement.lower()}
        if other <= theirs:
            found |= part
    for text in texts:
        for one in expand(text.text):
            if one.weight >= _SURE:
                found |= memo(one.replacement).keys & wanted
    return found
