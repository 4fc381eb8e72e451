"""Whether a guideline sentence speaks of a person like this one, and says what to do. Pure.

Rules of thumb for the briefing without a model: a passage is left out rather than shown to the
wrong reader. A model judges by itself, and gets the passages whole.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from bedside.clinical.allergy import conflicts_with_allergy
from bedside.clinical.drugs import DrugMention, find_drugs
from bedside.core.value import value

__all__ = ["Reader", "advises", "fits", "stands_alone"]

_PREGNANT = re.compile(
    r"\b(?:pregnan\w*|antenatal|obstetric\w*|(?:pre-?)?eclamp\w*|labour|puerper\w*|post-?partum|trimester"
    r"|f(?:o?e)tus|f(?:o?e)tal|gestation\w*|breast-?feeding|lactati\w*|PIH|\d+(?:th)? weeks?(?= for))\b",
    re.IGNORECASE,
)
_CHILD = re.compile(
    r"\b(?:child(?:ren|hood)?|infants?|neonat\w*|newborns?|pa?ediatric\w*|bab(?:y|ies)|mg/kg|ml/kg"
    r"|adolescents?|infancy)\b",
    re.IGNORECASE,
)
_GROWN = re.compile(r"\b(?:adults?|elderly|older people|geriatric)\b", re.IGNORECASE)
_DOSE = re.compile(r"\d\s*(?:mg|g|mcg|micrograms?|units?|iu|ml)\b(?!/kg)", re.IGNORECASE)
_WOMEN = re.compile(r"\b(?:wom[ae]n|females?|girls?|menopaus\w*|contracepti\w*)\b", re.IGNORECASE)
_MEN = re.compile(r"\b(?:m[ae]n|males?|boys?|prostat\w*)\b", re.IGNORECASE)
_STAGES = re.compile(
    r"\bstages?\s*(\d)\s*([ab])?(?:\s*(?:-|\u2013|to|and|or)\s*(\d)\s*([ab])?)?\b", re.IGNORECASE
)
_OLDER = re.compile(
    r"\b(\d{2,3}) years (?:and|or) (?:over|older|above)|\b(?:over|above|older than) (\d{2,3}) years",
    re.IGNORECASE,
)
_YOUNGER = re.compile(
    r"\b(?:under|below|younger than|less than) (\d{1,3}) years|\b(\d{1,3}) years (?:and|or) (?:under|younger)",
    re.IGNORECASE,
)
_URGENT = re.compile(
    r"\b(?:resuscitat\w*|CPR|h(?:a)?emorrhag\w*|hourly|every \d+ ?min\w*|first hour|intracranial"
    r"|intravenous\w*|IV|infusion|decompression|emergenc\w*|shock|ketoacidosis|crisis|transfus\w*"
    r"|anaphyla\w*|laparoscop\w*|laparascop\w*)\b",
    re.IGNORECASE,
)
_ELSEWHERE = re.compile(
    r"\b(?:clinical (?:features?|manifestations?|findings?|presentation)|complications?|prognosis"
    r"|epidemiology|introduction|definition|differential|pathophysiology|a?etiology|causes?"
    r"|sources?|references?|bibliography|further reading)\b",
    re.IGNORECASE,
)
_MODAL = re.compile(
    r"\b(?:should|must|recommended|advis(?:ed|able)|contraindicated|indicated|first[- ](?:line|choice)"
    r"|(?:usual |the )first (?:drug|medicine)|preferred|of choice)\b",
    re.IGNORECASE,
)
_VERBS = frozenset(
    (
        "add", "adjust", "advise", "aim", "assess", "avoid", "begin", "change", "check", "consider",
        "continue", "do", "educate", "encourage", "ensure", "exclude", "give", "increase", "keep",
        "limit", "lower", "measure", "monitor", "offer", "prefer", "reduce", "refer", "repeat",
        "restrict", "review", "screen", "start", "stop", "take", "target", "treat", "use",
        "vaccinate", "withhold",
    )
)  # fmt: skip
_DANGLING = re.compile(
    r"(?:they|it|this|these|those|that|such|both|he|she|others?|below \d+|above \d+|in addition|also"
    r"|however|then|and|or|but|not)\b",
    re.IGNORECASE,
)
_ORDERS = re.compile(
    r"\b(?:ignore|disregard|forget|override)\b.{0,60}\b(?:instructions?|rules?|flags?|findings?|previous|above)\b"
    r"|\bsystem prompt\b|\b(?:say|state|tell|answer|reply|report|write)\b.{0,30}\b(?:that|clinicians?|doctors?|users?)\b.{0,80}"
    r"\b(?:safe|no allerg\w+|healthy|well|fine|normal)\b|</?[a-z!]|\]\(|javascript:|https?://",
    re.IGNORECASE,
)
_BACK = re.compile(r"\bof it\b|\((?:above|below|see)\b|\bsee (?:above|below)\b", re.IGNORECASE)
_AMONG = (
    r"(?:[\s/]+(?:all|any|the|both|other|oral|use|using|taking|of|and|or|such|as|drugs?|medicines?"
    r"|\x00)(?![^\s/]))*"
)
_STOPPED = re.compile(rf"\b(?:stop|avoid|withhold|discontinue){_AMONG}\s+\Z", re.IGNORECASE)
_TO_STOP = re.compile(
    rf"\A{_AMONG}\s+(?:is|are|(?:should|must) be)\s+"
    r"(?:contraindicated|avoided|stopped|withheld|discontinued)\b",
    re.IGNORECASE,
)
_SAYS_ON = re.compile(
    r"\s+(?:is|are|was|were|has|have|should|must|may|can|could|will)\b", re.IGNORECASE
)
_DENIES = re.compile(
    r"\b(?:not|never|no|nobody|nor|neither|without|cannot|rather|instead|unless|until|before"
    r"|\w+n['\u2019]t)\b",
    re.IGNORECASE,
)
_FIRST = re.compile(r"[A-Za-z-]+")


@value
class Reader:
    """For whom a sentence is looked for.

    `age` is in years, `None` when unknown; `sex` as the record has it. `stage` is that of the
    problem asked about ("3b", "" for none). `lasting` is True for a problem that is not new, about
    which what is done in the first hours no longer helps. `barred` are medicines that a result or an
    allergy of the record speaks against; a sentence that names one is quoted only if it warns.
    """

    age: int | None
    sex: str
    pregnant: bool
    stage: str = ""
    lasting: bool = True
    barred: frozenset[str] = frozenset()
    allergies: tuple[str, ...] = ()


def fits(heading: str, said: str, reader: Reader) -> bool:
    """Does a sentence, under its heading, speak of people like the reader?"""
    both = f"{heading}\n{said}"
    if _ELSEWHERE.search(heading.rpartition(">")[2]):
        return False
    if bool(_PREGNANT.search(both)) is not reader.pregnant:
        return False  # in pregnancy what is said for everybody may harm
    if _barred(said, reader):
        return False
    if not _of_age(both, said, reader.age):
        return False
    if reader.sex == "male" and _WOMEN.search(both) and not _MEN.search(both):
        return False
    if reader.sex == "female" and _MEN.search(both) and not _WOMEN.search(both):
        return False
    if reader.stage and not _of_stage(said, reader.stage):
        return False
    return not (reader.lasting and _URGENT.search(both))


def _barred(said: str, reader: Reader) -> bool:
    """Does it name a medicine that the record speaks against, other than to stop or avoid it?"""
    mentions = find_drugs(said)
    return any(
        drug in reader.barred or any(conflicts_with_allergy(drug, one) for one in reader.allergies)
        for mention in mentions
        if not _warns_of(said, mention, mentions)
        for drug in mention.ingredients
    )


def _warns_of(said: str, mention: DrugMention, mentions: Sequence[DrugMention]) -> bool:
    """Does a word like "stop" or "contraindicated" govern this medicine, and nothing undo it?"""
    before, after = said[: mention.start], said[mention.end :]
    for other in reversed(mentions):
        if other.end <= mention.start:
            before = f"{before[: other.start]}\x00{before[other.end :]}"
        elif other.start >= mention.end:
            at = other.start - mention.end
            after = f"{after[:at]}\x00{after[at + len(said[other.start : other.end]) :]}"
    clause = re.split(r"[.;:]", before)[-1]
    if _TO_STOP.match(after):
        return not _DENIES.search(clause)
    stopped = _STOPPED.search(clause)
    if stopped is None or _SAYS_ON.match(after):
        return False
    return not _DENIES.search(clause[: stopped.start()])


def _of_age(both: str, said: str, age: int | None) -> bool:
    grown = age is None or age >= 18  # noqa: PLR2004 - of age
    if grown and _CHILD.search(both):
        return False
    if not grown and not _CHILD.search(both) and (_GROWN.search(both) or _DOSE.search(said)):
        return False  # an adult's dose
    if age is None:
        return True
    least = [int(one or other) for one, other in _OLDER.findall(said)]
    most = [int(one or other) for one, other in _YOUNGER.findall(said)]
    return all(age >= one for one in least) and all(age < one for one in most)


def _of_stage(said: str, stage: str) -> bool:
    """Does the sentence name no stage, or this one?"""
    named = _STAGES.findall(said)
    if not named:
        return True
    own, letter = stage[0], stage[1:]
    for low, low_letter, high, _ in named:
        if low <= own <= (high or low) and (
            high or not letter or not low_letter or low_letter.casefold() == letter
        ):
            return True
    return False


def advises(said: str) -> bool:
    """Does the sentence tell what to do: by a verb that opens it, or by a word like "should"?"""
    return bool(_MODAL.search(said)) or any(_opens(part) for part in _parts(said))


def _parts(said: str) -> tuple[str, ...]:
    """The sentence, and what follows a label ("Digoxin: measure ...") or a semicolon in it."""
    return (said, *re.split(r"[:;]\s+", said)[1:])


def _opens(part: str) -> bool:
    words = _FIRST.findall(part)[:2]
    return (
        bool(words) and words[0].casefold() in _VERBS and words[-1].casefold() not in {"and", "of"}
    )


def stands_alone(said: str) -> bool:
    """Can it be read without the sentence before it, and as a sentence to people?

    What follows a label in it must, too. Markup, addresses, and orders to a program are no advice.
    """
    if _ORDERS.search(said):
        return False
    label = re.split(r":\s+", said, maxsplit=1)[1:]
    return not _BACK.search(said) and not any(_DANGLING.match(part) for part in (said, *label))
