"""Facts as a person says them: in an acknowledgement, a read-back, a confirmation. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from bedside.flows.intake.case import Case
from bedside.flows.intake.lexicon import RELATIVE
from bedside.sop.checklist import said_value
from bedside.sop.contract import Contract, Field
from bedside.sop.state import Known

__all__ = ["fact_words", "procedure_words", "summary", "value_words"]

_FUNDING = {
    "self": "you are paying for it yourself",
    "insurance": "insurance is to pay",
    "employer": "an employer is to pay",
    "government": "a government scheme is to pay",
    "loan": "a loan is to pay for it",
    "charity": "donations are to pay for it",
}
_MOST_SAID = 60


def fact_words(field: Field, known: Known, language: str = "en") -> str:  # noqa: C901, PLR0911 - one form for each field
    """One fact in words; in another language than English the person's own words."""
    if language != "en":
        return f"«{_short(known.said)}»" if known.said else value_words(known.value)
    found = known.value
    if known.status != "known":
        return f"{field.label}: {said_value(known)}"
    if field.id == "age":
        return f"{value_words(found)} years old"
    if field.id in {"country_of_residence", "country"}:
        return f"living in {_article(str(found))}"
    if field.id == "who":
        return _who(known)
    if field.id == "funding_source" and found in _FUNDING:
        return _FUNDING[str(found)]
    if field.id == "name":
        return f"your name is {found}"
    if field.choices.keys() >= {"left", "right"}:
        return "both sides" if found == "both" else f"the {found} side"
    if field.id == "key_comorbidities" and not found:
        return "no other illnesses"
    if field.id == "key_comorbidities":
        return value_words(found)
    if isinstance(found, (list, tuple)) and not found:
        return f"no {field.label}"
    if isinstance(found, bool):
        return field.label if found else f"{_negation(field.label)} {field.label}"
    if isinstance(found, Mapping) and found.get("assumed"):
        return f"{field.label}: {value_words(found)}, taken as {found['currency']}"
    if field.kind == "number" and field.unit:
        return f"{field.label}: {value_words(found)} {field.unit}"
    return f"{field.label}: {value_words(found)}"


def _labelled(field: Field, known: Known, language: str) -> str:
    """A fact of a read-back: a bare yes, no or none stands beside the question it answers."""
    words = fact_words(field, known, language)
    bare = isinstance(known.value, bool) or known.value in ((), [])
    question = field.ask.get(language, "")
    told = question.rstrip("?؟ ")  # a question inside a read-back would be a second one to answer
    return f"{told}: {words}" if language != "en" and bare and question else words


def _negation(label: str) -> str:
    return "not" if label.split(maxsplit=1)[0] in {"pregnant", "able", "taking", "on"} else "no"


def _article(country: str) -> str:
    some = {
        "United States",
        "United Kingdom",
        "United Arab Emirates",
        "Netherlands",
        "Philippines",
        "Gambia",
        "Maldives",
        "Bahamas",
    }
    return f"the {country}" if country in some else country


def _who(known: Known) -> str:
    if known.value == "patient":
        return "it is for you"
    match = re.search(rf"\b(?P<r>{RELATIVE})\b", known.said, re.IGNORECASE)
    return f"it is for your {match['r'].lower()}" if match else "it is for somebody else"


def value_words(found: Any) -> str:
    """A value in words."""
    if isinstance(found, bool):
        return "yes" if found else "no"
    if isinstance(found, (list, tuple)):
        parts = [value_words(one) for one in found]
        if not parts:
            return "none"
        return parts[0] if len(parts) == 1 else ", ".join(parts[:-1]) + " and " + parts[-1]
    if isinstance(found, Mapping):
        return str(found.get("shown") or found.get("said") or "")
    return _short(str(found).replace("_", " "))


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _MOST_SAID else flat[:_MOST_SAID].rsplit(" ", 1)[0] + " ..."


def procedure_words(contract: Contract, case: Case, language: str = "en") -> str:
    """What the case is about."""
    if language != "en" and case.procedure_words:
        return case.procedure_words
    if contract.generic:
        return case.procedure_words or "treatment"
    title = contract.title
    plain = title if title[:2].isupper() else title[0].lower() + title[1:]
    if plain.split()[0] in {"in", "coronary"} or plain.endswith(("surgery", "fertilisation")):
        return plain
    return ("an " if plain[0] in "aeiou" else "a ") + plain


def summary(contract: Contract, case: Case, language: str = "en") -> str:
    """What is known, as one sentence, in the contract's order."""
    parts = [
        _labelled(field, known, language)
        for field in contract.fields
        if (known := case.facts.get(field.id)).status == "known"
    ]
    about = procedure_words(contract, case, language)
    if language != "en":
        return (
            "؛ ".join([about, *parts]) + "."
            if language == "ar"
            else "; ".join([about, *parts]) + "।"
        )
    lead = contract.title if not contract.generic else about[0].upper() + about[1:]
    return "; ".join([lead, *parts]) + "."
