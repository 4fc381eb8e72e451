"""Names of clinical things in a question, and the record entries they stand for. Pure."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from importlib import resources
from typing import Any

import yaml

from bedside.clinical.analytes import analyte_of
from bedside.clinical.drugs import (
    class_name,
    class_of,
    drugs_in,
    find_classes,
    find_drugs,
    ingredients_of,
)
from bedside.clinical.vocabulary import expand
from bedside.core.value import value
from bedside.flows.copilot.lexicon import (
    Lexicon,
    Meaning,
    Naming,
    Token,
    naming,
    phrase_key,
    tokenise,
)
from bedside.flows.copilot.query import Entity
from bedside.record.needs import Fact, RecordFacts

__all__ = [
    "analyte_key",
    "analyte_lexicon",
    "bearing_on",
    "classes_of",
    "clinical_phrases",
    "group_name",
    "ingredients",
    "is_drug_word",
    "is_reading_of",
    "loincs_of",
    "matching",
    "nearby",
    "panel_members",
    "panel_whole",
    "record_lexicon",
    "scores_in",
    "shown_name",
    "vaccinations",
]

_NAMED_CATEGORIES = {
    "conditions": "condition",
    "procedures": "procedure",
    "immunizations": "vaccine",
    "medications": "drug",
}
_FORMS = frozenset(
    [
        "pack",
        "day",
        "days",
        "hour",
        "hr",
        "ml",
        "mg",
        "oral",
        "tablet",
        "capsule",
        "cream",
        "ointment",
        "gel",
        "patch",
        "injection",
        "solution",
        "suspension",
        "system",
        "device",
        "inhaler",
        "spray",
        "drops",
        "extended",
        "release",
        "delayed",
        "modified",
        "topical",
        "transdermal",
        "powder",
    ]
)
"""Words of a medicine's name that are its form."""
_WEAK = frozenset(
    [
        "disorder",
        "finding",
        "situation",
        "procedure",
        "regime",
        "therapy",
        "of",
        "the",
        "due",
        "to",
        "with",
        "without",
        "for",
        "and",
        "in",
        "by",
        "to",
        "no",
        "on",
        "or",
        "acute",
        "chronic",
        "history",
        "test",
        "screening",
        "examination",
        "evaluation",
        "documentation",
        "normal",
        "second",
        "first",
        "left",
        "right",
        "type",
        "disease",
        "syndrome",
        "injury",
        "surgery",
        "operation",
        "regime",
        "record",
        "artifact",
        "patient",
        "current",
        "suspected",
    ]
)
_PLURAL_MIN, _TELLING_MIN = 4, 6
_LINKS = frozenset({"of", "the", "a", "in", "by", "with", "due", "to", "and", "for"})


@value
class Analyte:
    """One measured thing: the name in an answer, its LOINC codes, words that name it uncoded."""

    key: str
    show: str
    loinc: frozenset[str]
    record: tuple[frozenset[str], ...]


@functools.cache
def _file() -> Mapping[str, Any]:
    path = resources.files("bedside.flows.copilot") / "words" / "analytes.yaml"
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def _listed(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


@functools.cache
def _analytes() -> Mapping[str, Analyte]:
    return {
        key: Analyte(
            key=key,
            show=row["show"],
            loinc=frozenset(str(row.get("loinc", "")).split()),
            record=tuple(frozenset(phrase_key(one)) for one in _listed(row.get("record", ""))),
        )
        for key, row in _file()["analytes"].items()
    }


@functools.cache
def _by_loinc() -> Mapping[str, str]:
    return {code: one.key for one in _analytes().values() for code in one.loinc}


@functools.cache
def analyte_lexicon() -> Lexicon:
    """Analytes and panels as they are said."""
    entries: list[tuple[str, Meaning]] = []
    for kind, group in (("analyte", "analytes"), ("panel", "panels")):
        for key, row in _file()[group].items():
            entries += [(one, Meaning(kind=kind, key=key)) for one in _listed(row["say"])]
            if kind == "analyte":
                entries.append((row["show"], Meaning(kind=kind, key=key)))
    return Lexicon(entries)


def shown_name(key: str) -> str:
    """How an answer calls an analyte or panel; "" for an unknown key."""
    if key in _analytes():
        return _analytes()[key].show
    return str(_file()["panels"].get(key, {}).get("show", ""))


def panel_members(key: str) -> tuple[str, ...]:
    """The analytes of a panel, in the order of an answer; empty for an unknown key.

    One that says all of the others by itself stands first.
    """
    row = _file()["panels"].get(key, {})
    return tuple(_listed(str(row.get("whole", ""))) + _listed(str(row.get("of", ""))))


def panel_whole(key: str) -> str:
    """The one analyte of a panel that says all of the others; "" where there is none."""
    return str(_file()["panels"].get(key, {}).get("whole", ""))


def loincs_of(key: str) -> frozenset[str]:
    """The LOINC codes of an analyte; empty for an unknown key."""
    return _analytes()[key].loinc if key in _analytes() else frozenset()


def is_reading_of(key: str, fact: Fact) -> bool:
    """True when an entry (or a component) measures the analyte.

    A LOINC code decides where there is one: an unknown code is no analyte of ours, whatever the
    name says ("Protein/Creatinine ratio" is not creatinine). Without a code the name must be the
    analyte's own words and nothing more than a specimen or a method.
    """
    if key not in _analytes():
        return False
    codes = [code.rsplit("|", 1)[-1] for code in (*fact.codes, fact.code) if _LOINC in code]
    if codes:
        return any(_key_of_loinc(code) == key for code in codes)
    words = frozenset(phrase_key(fact.name.replace("\u200b", "")))
    return (
        any(phrase <= words and words - phrase <= _SPECIMEN for phrase in _analytes()[key].record)
        or _whole_phrase(" ".join(phrase_key(fact.name))) == key
    )


_LOINC = "loinc.org"
_SPECIMEN = frozenset(
    [
        "serum",
        "plasma",
        "blood",
        "venous",
        "in",
        "or",
        "of",
        "level",
        "levels",
        "mass",
        "volume",
        "moles",
        "by",
        "total",
        "s",
        "p",
        "b",
        "method",
        "test",
        "result",
        "value",
        "automated",
        "count",
    ]
)


@functools.lru_cache(maxsize=2048)
def _key_of_loinc(code: str) -> str:
    """Our key of a code: our own table first, then the clinical pack's by name; "" for neither."""
    if code in _by_loinc():
        return _by_loinc()[code]
    known = analyte_of(loinc=code)
    if known is None:
        return ""
    return next((key for name in (known.name, known.key) if (key := _whole_phrase(name))), "")


def _whole_phrase(text: str) -> str:
    """The analyte that a whole phrase names; "" for none, or for more than one."""
    words = phrase_key(text.replace("_", " "))
    found = analyte_lexicon().at(words, 0) if words else None
    if found is None or found[0] != len(words):
        return ""
    keys = {one.key for one in found[1] if one.kind == "analyte"}
    return keys.pop() if len(keys) == 1 else ""


def analyte_key(fact: Fact) -> str:
    """Which analyte an observation measures, "" where it is none that is known."""
    if len(fact.parts) > 1 and "blood pressure" in fact.name.lower():
        return "blood pressure"
    return next((key for key in _analytes() if is_reading_of(key, fact)), "")


@functools.cache
def _concepts() -> Mapping[str, Any]:
    path = resources.files("bedside.flows.copilot") / "words" / "concepts.yaml"
    return yaml.safe_load(path.read_text(encoding="utf-8"))


@functools.cache
def _concept_lexicon() -> Lexicon:
    return Lexicon(
        (phrase, Meaning(kind="concept", key=key))
        for key, row in _concepts()["words"].items()
        for phrase in _listed(row["say"])
    )


_KIDNEY = ("creatinine", "egfr")
"""Bear on the dose of almost every medicine."""


def bearing_on(text: str, entities: Iterable[Entity]) -> tuple[str, ...]:
    """Analytes that bear on what a question speaks of without naming them, in order of mention."""
    entities = tuple(entities)
    named = {word for one in entities if one.kind == "condition" for word in one.said.split()}
    tokens = [token.text for token in tokenise(text) if token.text not in named]
    found: list[str] = []
    for entity in entities:
        classes = entity.key.split(",") if entity.kind == "drug_class" else ()
        if entity.kind == "drug":
            classes = tuple(one for part in entity.key.split("-") for one in class_of(part))
        for one in classes:
            found += _listed(_concepts()["classes"].get(one, ""))
        if entity.kind in {"drug", "drug_class"}:
            found += _KIDNEY
    for at in range(len(tokens)):
        concept = _concept_lexicon().at(tokens, at)
        if concept is not None:
            found += _listed(_concepts()["words"][concept[1][0].key]["of"])
    return tuple(dict.fromkeys(found))


def scores_in(text: str) -> tuple[str, ...]:
    """The named scores that a question asks for, as an answer calls them."""
    tokens = [token.text for token in tokenise(text)]
    found = (_concept_lexicon().at(tokens, at) for at in range(len(tokens)))
    rows = (_concepts()["words"][one[1][0].key] for one in found if one is not None)
    return tuple(dict.fromkeys(row["score"] for row in rows if "score" in row))


def concerned(text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Medicine classes and problems that belong to what a question speaks of without naming them."""
    tokens = [token.text for token in tokenise(text)]
    classes: list[str] = []
    problems: list[str] = []
    for at in range(len(tokens)):
        found = _concept_lexicon().at(tokens, at)
        if found is not None:
            row = _concepts()["words"][found[1][0].key]
            classes += _listed(row.get("given", ""))
            problems += _listed(row.get("with", ""))
    return tuple(dict.fromkeys(classes)), tuple(dict.fromkeys(problems))


def group_name(said: str) -> str:
    """How a group of medicines is called, as `said` where it is not known."""
    groups = find_classes(said)
    return groups[0].name if groups else said


def _words_of(fact: Fact) -> frozenset[str]:
    return _folded_words(" ".join((fact.name.replace("\u200b", ""), *fact.synonyms)))


@functools.lru_cache(maxsize=4096)
def _folded_words(text: str) -> frozenset[str]:
    words = phrase_key(text)
    return frozenset(words) | {
        word[:-1] for word in words if len(word) >= _PLURAL_MIN and word.endswith("s")
    }


def clinical_phrases(
    text: str, tokens: Sequence[Token], words: Sequence[str]
) -> dict[int, tuple[int, tuple[Meaning, ...]]]:
    """Analytes, medicines and their groups in a question: start token to (end token, meanings).

    `words` are the tokens with misspellings repaired; `text` and the tokens' offsets are as typed.
    """
    found: dict[int, list[tuple[int, Meaning]]] = {}
    for index in range(len(words)):
        here = analyte_lexicon().at(words, index)
        if here is not None:
            found.setdefault(index, []).extend((here[0], meaning) for meaning in here[1])
    repaired, offsets = _rebuilt(text, tokens, words)
    for mention in find_drugs(repaired, repair=True):
        _put(found, offsets, mention.start, mention.end, Meaning(kind="drug", key=mention.generic))
    for group in find_classes(repaired, repair=True):
        key = ",".join(group.classes)
        _put(found, offsets, group.start, group.end, Meaning(kind="drug_class", key=key))
    best: dict[int, tuple[int, tuple[Meaning, ...]]] = {}
    for index, options in found.items():
        end = max(one for one, _ in options)
        best[index] = (end, tuple(dict.fromkeys(m for one, m in options if one == end)))
    return best


@functools.lru_cache(maxsize=4096)
def is_drug_word(word: str) -> bool:
    """True for a word that names a medicine or a group of them, spelled right."""
    return bool(find_drugs(word)) or bool(find_classes(word))


def _rebuilt(
    text: str, tokens: Sequence[Token], words: Sequence[str]
) -> tuple[str, list[tuple[int, int]]]:
    """The question with repaired words in place, and each token's offsets in it."""
    parts: list[str] = []
    offsets: list[tuple[int, int]] = []
    last = length = 0
    for token, word in zip(tokens, words, strict=True):
        gap = text[last : token.start]
        written = text[token.start : token.end]
        put = written if written.lower() == word else word
        parts += [gap, put]
        offsets.append((length + len(gap), length + len(gap) + len(put)))
        length += len(gap) + len(put)
        last = token.end
    return "".join(parts), offsets


def _put(
    found: dict[int, list[tuple[int, Meaning]]],
    offsets: Sequence[tuple[int, int]],
    start: int,
    end: int,
    meaning: Meaning,
) -> None:
    first = next((i for i, (a, _) in enumerate(offsets) if a == start), None)
    last = next((i for i, (_, b) in enumerate(offsets) if b == end), None)
    if first is not None and last is not None and first <= last:
        found.setdefault(first, []).append((last + 1, meaning))


# ---- entries of the record by name


def _any_phrase(phrases: Iterable[frozenset[str]], words: frozenset[str]) -> bool:
    return any(phrase - _LINKS <= words for phrase in phrases if phrase)


def matching(entity: Entity, facts: Iterable[Fact]) -> list[Fact]:
    """The entries that are the named thing, in the given order."""
    if entity.kind == "drug" and not entity.key.startswith("record:"):
        wanted = _ingredients(entity.key) or frozenset({entity.key})
        kin = frozenset(drugs_in([entity.key]))  # "penicillin" says any of them
        return [
            fact
            for fact in facts
            if _is_drug(entity.key, wanted, found := ingredients(fact))
            or (kin & found and fact.category == "medications")
        ]
    if entity.kind == "drug_class":
        members = frozenset(drugs_in(entity.key.split(",")))
        return [fact for fact in facts if members & ingredients(fact)]
    if entity.kind in {"analyte", "panel"}:
        return [fact for fact in facts if is_reading_of(entity.key, fact)]
    known = _naming_of(entity)
    return [
        fact
        for fact in facts
        if _any_phrase(known.record, words := _words_of(fact))
        and not _any_phrase(known.without, words)
    ]


def vaccinations(entity: Entity, record: RecordFacts) -> list[Fact]:
    """A vaccine's entries, newest first: given, or written down as a procedure."""
    done = [fact for fact in record.of("procedures") if "vaccin" in fact.name.lower()]
    return [
        fact
        for fact in matching(entity, record.facts)
        if fact.category == "immunizations" or fact in done
    ]


def nearby(entity: Entity, facts: Iterable[Fact]) -> list[Fact]:
    """Entries worth naming where the thing itself is not recorded."""
    if entity.kind not in {"condition", "procedure", "vaccine", "allergen"}:
        return []
    known = _naming_of(entity)
    return [fact for fact in facts if _any_phrase(known.near, _words_of(fact))]


def _is_drug(key: str, wanted: frozenset[str], found: frozenset[str]) -> bool:
    return key in found or wanted <= found


def _naming_of(entity: Entity) -> Naming:
    if entity.key.startswith("record:"):
        phrase = frozenset(entity.key.removeprefix("record:").split())
        return Naming(key=entity.key, record=(phrase,), near=())
    return naming(entity.kind, entity.key)


@functools.lru_cache(maxsize=2048)
def _ingredients(name: str) -> frozenset[str]:
    return frozenset(ingredients_of(name))


def ingredients(fact: Fact) -> frozenset[str]:
    """The generics in a medicine's or an allergy's name."""
    found = _ingredients(fact.name)
    for other in fact.synonyms:
        found |= _ingredients(other)
    return found


def record_lexicon(facts: Iterable[Fact], *, people: Iterable[str] = ()) -> Lexicon:
    """The names that stand in this record: whole names, and their telling single words.

    `people` are the patient's own names, which a question may use as filler.
    """
    entries: list[tuple[str, Meaning]] = []
    for fact in facts:
        kind = _NAMED_CATEGORIES.get(fact.category)
        if kind is None:
            continue
        words = [word for word in phrase_key(fact.name.replace("\u200b", "")) if word.isalpha()]
        if kind == "drug" and any(map(is_drug_word, words)):
            continue  # named by a word that is known anyway
        weak = _WEAK | _FORMS if kind == "drug" else _WEAK
        telling = [word for word in words if word not in weak]
        if not telling:
            continue
        bare = [
            word for word in words if word not in {"disorder", "finding", "situation", "procedure"}
        ]
        key = "record:" + " ".join(sorted(set(telling)))
        entries.append((" ".join(bare), Meaning(kind=kind, key=key)))
        entries.append((" ".join(telling), Meaning(kind=kind, key=key)))
        entries += [
            (word, Meaning(kind=kind, key=f"record:{word}"))
            for word in telling
            if len(word) >= _TELLING_MIN
        ]
    entries += [(part, Meaning(kind="fill", key="")) for name in people for part in name.split()]
    entries += [(name, Meaning(kind="fill", key="")) for name in people]
    return Lexicon(entries)


def classes_of(entity: Entity) -> list[str]:
    """What else a guideline may call a medicine: its classes, short and spelled out."""
    if entity.kind != "drug":
        return []
    names = [class_name(key) for key in class_of(entity.key) or class_of(entity.said)]
    return [*names, *(one.replacement for name in names for one in expand(name))]
