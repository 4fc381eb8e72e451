"""Made-up people who come to intake, and what is true of each: the gold of the measure.

A persona's truth is chosen from `intake_personas/facts.yaml` by a seeded generator, and put into
words from there. No reader of the product has a hand in it. Vignettes of MediQ and OSCE cases of
AgentClinic lend age, sex and the noise of real histories.
"""

from __future__ import annotations

import functools
import json
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

import yaml

from bedside.core.value import value
from bedside.sop.contract import Contract
from bedside.sop.find import find
from bedside.sop.state import State

__all__ = ["Fact", "Persona", "facts_file", "manner_file", "people", "persona", "required"]

CARER_SHARE, LOGISTICS_SHARE, OTHER_LANGUAGE_SHARE = 0.3, 0.15, 0.08
REFUSABLE = ("funding_source", "allergies", "budget", "key_comorbidities")
"""What a persona may keep to itself: a coordinator follows each of them up, or it is optional."""
DOUBTABLE = ("blood_thinners", "allergies", "injury_date", "hip_reason", "active_infection")
CHANGEABLE = ("procedure_side", "country_of_residence", "funding_source", "age")
LONGEST_NOISE = 200
_AGE = re.compile(r"(\d{1,3})[- ]?year")


@value
class Fact:
    """One thing that is true of a persona. `say` answers the question, `free` volunteers it."""

    field: str
    truth: Any
    say: tuple[str, ...]
    free: tuple[str, ...] = ()
    alias: tuple[str, ...] = ()


@value
class Persona:
    """One made-up person.

    `facts` are what they know and will say; `wrong` are values that they say first and correct
    later; `refuses` and `doubts` are fields that they will not or cannot answer. `noise` are
    sentences of a real vignette, said along the way. `vague` is true where the noise may hold
    further illnesses, so that lists are compared by what they must hold.
    """

    id: str
    source: str
    seed: int
    contract: str
    words: str
    language: str
    opening: str
    facts: Mapping[str, Fact]
    wrong: Mapping[str, Fact]
    refuses: frozenset[str]
    doubts: frozenset[str]
    noise: tuple[str, ...] = ()
    vague: bool = False
    carer: str = ""
    uploads: tuple[str, ...] = ()


@functools.cache
def facts_file() -> Mapping[str, Any]:
    """The phrase book of truths."""
    return _yaml("facts.yaml")


@functools.cache
def manner_file() -> Mapping[str, Any]:
    """How people begin, refuse and wander."""
    return _yaml("manner.yaml")


def _yaml(name: str) -> Mapping[str, Any]:
    path = resources.files("bedside.evals") / "intake_personas" / name
    found: Mapping[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return found


@functools.cache
def _contract(name: str) -> Contract:
    return find(name)


def people(data: Path | None, *, each: Mapping[str, int], seed: int = 7) -> Iterator[Persona]:
    """Personas of each source: "sop", "mediq" and "agentclinic", so many of each.

    Args:
        data: The folder with `intake/mediq` and `intake/agentclinic`; `None` leaves both out.
        each: How many of each source; fewer where the source has fewer.
        seed: Of everything.
    """
    procedures = list(manner_file()["procedures"])
    for number in range(each.get("sop", 0)):
        name = procedures[number % len(procedures)]
        yield persona(f"sop-{number}", "sop", name, seed=seed * 100_003 + number)
    if data is None:
        return
    for number, case in enumerate(_mediq(data, each.get("mediq", 0), seed)):
        name = procedures[number % len(procedures)]
        yield persona(
            f"mediq-{case['id']}", "mediq", name, seed=seed * 200_003 + number,
            noise=_noise(case["facts"]), age=_age(str(case["patient"])),
        )  # fmt: skip
    for number, case in enumerate(_osce(data, each.get("agentclinic", 0), seed)):
        actor = case["OSCE_Examination"]["Patient_Actor"]
        name = procedures[number % len(procedures)]
        told = " ".join(
            str(actor.get(part, ""))
            for part in ("History", "Past_Medical_History", "Social_History")
        )
        noise = _noise(re.split(r"(?<=[.])\s+", told))
        yield persona(
            f"agentclinic-{number}", "agentclinic", name, seed=seed * 300_007 + number,
            noise=noise, age=_age(str(actor.get("Demographics", ""))),
        )  # fmt: skip


def _noise(sentences: Sequence[str]) -> tuple[str, ...]:
    """What the person could say of themselves; findings of others are left out."""
    told = (_first_person(one) for one in sentences)
    return tuple(
        one for one in told if re.match(r"(?:I|My|my)\b", one) and len(one) < LONGEST_NOISE
    )


def _mediq(data: Path, most: int, seed: int) -> list[dict[str, Any]]:
    path = data / "intake" / "mediq" / "all_dev_good.jsonl"
    if not path.is_file() or not most:
        return []
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]
    return rows if most >= len(rows) else random.Random(seed).sample(rows, most)


def _osce(data: Path, most: int, seed: int) -> list[dict[str, Any]]:
    path = data / "intake" / "agentclinic" / "agentclinic_medqa.jsonl"
    if not path.is_file() or not most:
        return []
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]
    return rows if most >= len(rows) else random.Random(seed).sample(rows, most)


def _age(text: str) -> int | None:
    found = _AGE.search(text)
    return int(found.group(1)) if found and 18 <= int(found.group(1)) <= 100 else None


_SWAPS = (
    (r"^\d+\.\s*", ""),
    (r"\b(?:The )?[Pp]atient (?:is|was) ", "I am "),
    (r"\b(?:The )?[Pp]atient has ", "I have "),
    (r"\b(?:The )?[Pp]atient (?:complains of|reports|presents with) ", "I have "),
    (r"\b(?:The )?[Pp]atient denies ", "I do not have "),
    (r"\b(?:The )?[Pp]atient's ", "my "),
    (r"\b(?:the |The )?[Pp]atient\b", "I"),
    (r"\b(?:He|She) has ", "I have "),
    (r"\b(?:He|She) is ", "I am "),
    (r"\b(?:His|Her) ", "My "),
    (r"\b(?:He|She) ", "I "),
)


def _first_person(sentence: str) -> str:
    """A vignette's sentence as the person would tell it, roughly; its facts are left as they are."""
    for form, told in _SWAPS:
        sentence = re.sub(form, told, sentence)
    return sentence.strip()


def persona(
    name: str,
    source: str,
    procedure: str,
    *,
    seed: int,
    noise: tuple[str, ...] = (),
    age: int | None = None,
    plain: bool = False,
    language: str = "",
) -> Persona:
    """One persona of a procedure.

    Args:
        name: Its id.
        source: Where its noise comes from.
        procedure: A contract's id.
        seed: Of all its choices.
        noise: Sentences of a vignette, in the first person.
        age: The vignette's age; otherwise one that suits the procedure.
        plain: Answers everything, changes nothing, refuses nothing.
        language: "en", "ar" or "hi"; chosen where empty.
    """
    rng = random.Random(seed)
    about = manner_file()["procedures"][procedure]
    if not language:
        spoken = rng.random() < OTHER_LANGUAGE_SHARE and not noise
        language = rng.choice(["ar", "hi"]) if spoken else "en"
    relatives = {"IVF": ["wife"]}.get(procedure, list(manner_file()["relatives"]))
    carer = rng.choice(relatives) if rng.random() < CARER_SHARE and not noise else ""
    if language != "en":
        carer = "mother" if carer and procedure != "IVF" else ""
    words = _words(about, carer)
    facts: dict[str, Fact] = {}
    for field in _contract(procedure).fields:
        picked = _fact(field.id, rng, words, language, carer, about, age)
        if picked is not None:
            facts[field.id] = picked
    wrong: dict[str, Fact] = {}
    refuses: set[str] = set()
    doubts: set[str] = set()
    if not plain and language == "en":
        _troubles(rng, facts, wrong, refuses, doubts, words, about)
    known = {key: one for key, one in facts.items() if key not in refuses | doubts}
    titles = about["names"] if language == "en" else [about[language]]
    said = rng.choice(titles)
    return Persona(
        id=name,
        source=source,
        seed=seed,
        contract=procedure,
        words=said,
        language=language,
        opening=_opening(rng, said, carer, language, words),
        facts=known,
        wrong=wrong,
        refuses=frozenset(refuses),
        doubts=frozenset(doubts),
        noise=noise,
        vague=bool(noise),
        carer=carer,
        uploads=() if plain else _uploads(rng),
    )


def _words(about: Mapping[str, Any], carer: str) -> dict[str, str]:
    if not carer:
        return {
            "S": "I",
            "am": "am",
            "have": "have",
            "take": "take",
            "my": "my",
            "part": about["part"],
            "who": "mother",
        }
    one = manner_file()["relatives"][carer]
    return {
        "S": one["S"],
        "am": "is",
        "have": "has",
        "take": "takes",
        "my": one["my"],
        "part": about["part"],
        "who": carer,
    }


def _fact(
    field: str,
    rng: random.Random,
    words: Mapping[str, str],
    language: str,
    carer: str,
    about: Mapping[str, Any],
    age: int | None,
) -> Fact | None:
    if field == "age":
        return _age_fact(rng, words, language, about, age)
    entry = facts_file()["fields"].get(field)
    if entry is None:
        return None
    values = entry["values"]
    if field == "who":
        values = [one for one in values if (one["value"] == "carer") == bool(carer)]
    if field == "procedure_side":
        values = [*values[:2], *values[:2], *values]  # both sides are the rarer case
    if language != "en":
        values = [one for one in values if one.get(language)]
    if not values:
        return None
    one = rng.choice(values)
    say = one["say"] if language == "en" else one[language]
    return Fact(
        field=field,
        truth=one["value"],
        say=tuple(text.format(**words) for text in say),
        free=tuple(text.format(**words) for text in one["free"]) if language == "en" else (),
        alias=tuple(one.get("alias", ())),
    )


def _age_fact(
    rng: random.Random,
    words: Mapping[str, str],
    language: str,
    about: Mapping[str, Any],
    age: int | None,
) -> Fact:
    low, high = about["ages"]
    years = age if age is not None else rng.randint(low, high)
    subject, verb = words["S"], words["am"]
    if language == "en":
        say = (str(years), f"{years} years old", f"{subject} {verb} {years}")
        free = (f"{subject} {verb} {years} years old",)
    else:
        say, free = (str(years),), ()
    return Fact(field="age", truth=years, say=say, free=free)


def _troubles(
    rng: random.Random,
    facts: Mapping[str, Fact],
    wrong: dict[str, Fact],
    refuses: set[str],
    doubts: set[str],
    words: Mapping[str, str],
    about: Mapping[str, Any],
) -> None:
    if rng.random() < 0.25:
        refuses.add(rng.choice([one for one in REFUSABLE if one in facts]))
    if rng.random() < 0.25:
        doubts.add(rng.choice([one for one in DOUBTABLE if one in facts]))
    if rng.random() < 0.25:
        field = rng.choice([one for one in CHANGEABLE if one in facts])
        if field in refuses | doubts or not facts[field].free:
            return
        for _ in range(12):
            other = _fact(field, rng, words, "en", "", about, None)
            if other is not None and other.truth != facts[field].truth:
                wrong[field] = other
                return


def _uploads(rng: random.Random) -> tuple[str, ...]:
    """How each upload of this person will go, in order."""
    ways = (
        "complete",
        "complete",
        "stored",
        "failed_permanent",
        "failed_transient",
        "expired",
        "slow",
    )
    return tuple(rng.choice(ways) for _ in range(rng.choice([0, 1, 1, 2])))


def _opening(
    rng: random.Random, said: str, carer: str, language: str, words: Mapping[str, str]
) -> str:
    openings = manner_file()["openings"]
    if language != "en":
        kind = f"{language}_carer" if carer else language
        return str(rng.choice(openings[kind])).format(procedure=said)
    kind = "carer" if carer else "patient"
    if rng.random() < LOGISTICS_SHARE:
        kind = "logistics"
    return str(rng.choice(openings[kind])).format(a_procedure=_article(said), **words)


def _article(said: str) -> str:
    if said.rsplit(maxsplit=1)[-1].casefold() in {
        "surgery",
        "ivf",
        "treatment",
        "fertilization",
        "surgry",
        "cabg",
        "reconstruction",
        "removal",
    }:
        return said
    return f"an {said}" if said[0] in "aeiouAEIOU" else f"a {said}"


def required(one: Persona) -> tuple[str, ...]:
    """Fields that matching, safety and booking need and that this person knows, in order."""
    contract = _contract(one.contract)
    empty = State.new(contract)
    return tuple(
        field.id
        for field in contract.fields
        if field.when != "optional" and field.id in one.facts and contract.applies(field, empty)
    )
