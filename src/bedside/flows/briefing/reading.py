"""What rules read in a record: who, which medicines now, which problems are open. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date

from bedside.clinical.dosing import Dosing, shipped_dosing
from bedside.clinical.drugs import ingredients_of
from bedside.clinical.interactions import Interactions, shipped
from bedside.core.value import value
from bedside.record.abnormal import readings_of
from bedside.record.contradictions import is_current
from bedside.record.interplay import acts_locally
from bedside.record.limits import is_pregnant
from bedside.record.needs import Fact, RecordFacts

__all__ = ["Chart", "Medicine", "age_at", "chart_of", "is_dialysis", "is_past", "plain"]

_ADULT = 18
_OLD_RECORD_DAYS = 548
_OPEN = {"active", "recurrence", "relapse"}
_TAG = re.compile(
    r"\s*\((?:disorder|finding|situation|procedure|record artifact|regime/therapy|observable entity"
    r"|morphologic abnormality|qualifier value|substance|product|event|person)\)\s*\Z"
)
_SOCIAL = re.compile(
    r"\b(?:employment|employed|labor force|education|educated|school|social|contact|housing|unhoused"
    r"|stress|income|criminal record|armed forces|transport|refugee|risk activity|unemployed"
    r"|medication review due|reports of violence|received (?:higher|certificate)|migrant|lives alone)\b",
    re.IGNORECASE,
)
_EVENT = re.compile(
    r"\b(?:miscarriage|abortion|stillbirth|appendicitis|appendectomy|fracture|concussion|laceration"
    r"|sprain|wound|burn|overdose|whiplash|impacted molars?|single seizure|history of|suspected"
    r"|cardiac arrest|pregnan\w+)\b",
    re.IGNORECASE,
)
_EVENT_DAYS = 310
_DIALYSIS = re.compile(r"\b(?:ha?emo)?dialysis\b", re.IGNORECASE)
_NO_DIALYSIS = re.compile(
    r"\b(?:no|not|non|never|without|pre|before|declin\w*|refus\w*|await\w*|avoid\w*|family"
    r"|planned|possible|education|counsell?ing)\b(?: (?:(?:yet|currently|now|still|started) )?(?:on|for|with|to have)\b)?"
    r"(?:(?!\b(?:on|with|transplant\w*|compliance|complian\w+|adheren\w+)\b)[^,;])*"
    r"\b(?:ha?emo)?dialysis\b"
    r"|\bhistory of (?:\w+ )?(?:ha?emo)?dialysis\b|dialysis[\s:(\u2013-]*(?:(?:was|is|has been)\s+)?"
    r"(?:not (?:yet|required|needed|indicated|started|begun|wanted|done)\b|never\b|declin|refus|stopped\b|discontinued\b|(?:planned|planning)\b(?! \w*\s?transplant)|education\b"
    r"|counsell?ing\b|discuss|preparation\b)"
    r"|dialysis,\s*(?:patient\s+)?(?:declined|refused)\s*\Z",
    re.IGNORECASE,
)
"""Where dialysis is named and does not replace the kidneys now."""


@value
class Medicine:
    """A current medicine: its newest entry and the generics in it (empty where none is known).

    `local` is True for what acts where it is put (a cream): rules of the whole body leave it out.
    """

    fact: Fact
    generics: tuple[str, ...]
    local: bool

    @property
    def name(self) -> str:
        """The medicine as a sentence names it."""
        return plain(self.fact.name)


@value
class Chart:
    """A record as the rules read it.

    `today` is the day of the briefing. `age` is in completed years at that day (at death for one
    who died), `None` when unknown. `problems` are open and clinical, each once, illnesses first. `ends` is the day
    of the newest entry; `old` is True where that is more than eighteen months ago. `interactions` and
    `dosing` are the tables in force.
    """

    record: RecordFacts
    today: date
    age: int | None
    sex: str
    died: date | bool | None
    pregnant: bool | None
    problems: tuple[Fact, ...]
    medicines: tuple[Medicine, ...]
    readings: dict[str, list[Fact]]
    ends: date | None
    old: bool
    interactions: Interactions
    dosing: Dosing

    @property
    def adult(self) -> bool:
        """True only where the age is known."""
        return self.age is not None and self.age >= _ADULT

    @property
    def dialysis(self) -> bool:
        """Does an open problem say that the kidneys are replaced by dialysis?"""
        return any(map(is_dialysis, self.problems))

    @property
    def systemic(self) -> tuple[Medicine, ...]:
        """Current medicines that act on the whole body and whose ingredients are known."""
        return tuple(one for one in self.medicines if one.generics and not one.local)


def chart_of(
    record: RecordFacts,
    *,
    today: date,
    interactions: Interactions | None = None,
    dosing: Dosing | None = None,
) -> Chart:
    """Read a whole record (fetched without limits) as of a day; `None` means the shipped tables."""
    person = record.person
    died = None if person.deceased in {None, False} else person.deceased
    until = died if isinstance(died, date) else today
    ends = record.as_of.date() if record.as_of else None
    return Chart(
        record=record,
        today=today,
        age=age_at(person.birth_date, until),
        sex=person.sex,
        died=died,
        pregnant=is_pregnant(record.of("conditions"), as_of=today),
        problems=_problems(record.of("conditions"), today),
        medicines=() if died else _medicines(record.of("medications"), today),
        readings=readings_of(record.of("observations"), as_of=today),
        ends=ends,
        old=ends is not None and (today - ends).days > _OLD_RECORD_DAYS,
        interactions=interactions or shipped(),
        dosing=dosing or shipped_dosing(),
    )


def age_at(birth: date | None, day: date) -> int | None:
    """Completed years, `None` when the birth date is unknown or later than the day."""
    if birth is None or birth > day:
        return None
    return day.year - birth.year - ((day.month, day.day) < (birth.month, birth.day))


def plain(name: str) -> str:
    """A name without a terminology's tag: "Viral sinusitis" for "Viral sinusitis (disorder)"."""
    return _TAG.sub("", name.replace("\u200b", "")).strip()


def _problems(conditions: Sequence[Fact], today: date) -> tuple[Fact, ...]:
    """Open problems, each name once (the newest entry); social findings are none.

    Illnesses come first, in the record's order; then what happened once, long ago, and was left open.
    """
    found: dict[str, Fact] = {}
    for fact in conditions:
        if fact.status in _OPEN and not _SOCIAL.search(fact.name):
            found.setdefault(plain(fact.name).casefold(), fact)
    kept = [
        fact
        for name, fact in found.items()
        if not (name.startswith("history of ") and name.removeprefix("history of ") in found)
    ]
    return tuple(sorted(kept, key=lambda fact: is_past(fact, today)))


def is_dialysis(problem: Fact) -> bool:
    """Does this problem say that the kidneys are replaced by dialysis?"""
    name = plain(problem.name)
    return bool(_DIALYSIS.search(name)) and not _NO_DIALYSIS.search(name)


def is_past(fact: Fact, today: date) -> bool:
    """Is this open entry an event that is over by its nature: a fracture, a birth, an operation?

    One without a date is not taken to be over.
    """
    if fact.when is None or not _EVENT.search(fact.name):
        return False
    return (today - fact.when.date()).days > _EVENT_DAYS


def _medicines(facts: Sequence[Fact], today: date) -> tuple[Medicine, ...]:
    """Current medicines, each product once: the newest entry of one set of ingredients."""
    found: dict[tuple[str, ...] | str, Medicine] = {}
    for fact in facts:
        if not is_current(fact, as_of=today):
            continue
        generics = ingredients_of(fact.name)
        local = acts_locally(fact.name)
        key = (*sorted(generics), str(local)) if generics else fact.name.casefold()
        found.setdefault(key, Medicine(fact=fact, generics=generics, local=local))
    return tuple(found.values())
