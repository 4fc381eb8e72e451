"""Which providers fit a case, ranked with reasons, from a catalogue that is data (IN-15). Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bedside.core.errors import BadInput
from bedside.core.value import value
from bedside.flows.intake.case import Match
from bedside.flows.intake.lexicon import country_words, data
from bedside.flows.intake.phrases import phrase
from bedside.sop.contract import Contract
from bedside.sop.state import State

__all__ = ["Provider", "catalogue", "is_sample", "price_range", "rank", "reasons_in"]

MOST = 3


@value
class Provider:
    """One provider. `procedures` maps a contract's id to (low, high) in USD, a guide price."""

    id: str
    name: str
    country: str
    city: str
    procedures: Mapping[str, tuple[float, float]]
    languages: tuple[str, ...] = ("en",)
    accredited: bool = False
    revision: bool = False
    insurance: bool = False


def catalogue(hot: Mapping[str, Any] | None = None) -> tuple[Provider, ...]:
    """The deployer's catalogue (`pack` entry "providers"), else the fictional sample.

    Raises:
        BadInput: the entry is no catalogue.
    """
    body = _body(hot)
    try:
        return tuple(
            Provider(
                id=str(one["id"]),
                name=str(one["name"]),
                country=str(one["country"]),
                city=str(one.get("city", "")),
                procedures={
                    str(name): (float(low), float(high))
                    for name, (low, high) in one["procedures"].items()
                },
                languages=tuple(one.get("languages", ("en",))),
                accredited=bool(one.get("accredited")),
                revision=bool(one.get("revision")),
                insurance=bool(one.get("insurance")),
            )
            for one in body["providers"]
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise BadInput(
            "the provider catalogue",
            why=f"an entry is not as the sample shows ({type(error).__name__})",
        ) from None


def is_sample(hot: Mapping[str, Any] | None = None) -> bool:
    """True where the list is the fictional one."""
    return bool(_body(hot).get("sample"))


def _body(hot: Mapping[str, Any] | None) -> Mapping[str, Any]:
    given = ((hot or {}).get("pack") or {}).get("providers")
    return given if given is not None else data("providers")


def price_range(sop: str, providers: tuple[Provider, ...]) -> tuple[float, float] | None:
    """The lowest and highest guide price for a contract; `None` where nobody offers it."""
    prices = [one.procedures[sop] for one in providers if sop in one.procedures]
    if not prices:
        return None
    return min(low for low, _ in prices), max(high for _, high in prices)


def rank(contract: Contract, state: State, providers: tuple[Provider, ...]) -> tuple[Match, ...]:
    """The best three, with the reasons that each has; empty where none offers the procedure."""
    found = [_scored(one, contract, state) for one in providers if contract.id in one.procedures]
    found.sort(key=lambda one: (-one.score, one.id))
    return tuple(found[:MOST])


def _scored(one: Provider, contract: Contract, state: State) -> Match:  # noqa: C901, PLR0912 - one list of reasons
    low, high = one.procedures[contract.id]
    score, why = 40, ["offers"]
    budget = _usd(state.value("budget"))
    if budget is not None:
        if budget >= high:
            score, why = score + 20, [*why, "within"]
        elif budget >= low:
            score, why = score + 10, [*why, "begins_within"]
        else:
            score, why = score - 15, [*why, "above"]
    wanted = state.value("preferred_destination")
    if wanted:
        said = str(wanted).casefold()
        if one.country.casefold() in said or one.city.casefold() in said:
            score, why = score + 20, [*why, f"wished:{one.country}"]
    elif str(state.value("country_of_residence") or "") == one.country:
        score, why = score + 5, [*why, "home"]
    if state.language in one.languages:
        score += 5
        if state.language != "en":
            why.append("language")
    if one.accredited:
        score, why = score + 10, [*why, "accredited"]
    if any(rule.id in {"revision", "redo"} for rule in contract.active_rules(state)):
        if one.revision:
            score, why = score + 15, [*why, "repeats"]
        else:
            score, why = score - 20, [*why, "no_repeats"]
    if state.value("funding_source") == "insurance":
        if one.insurance:
            score, why = score + 10, [*why, "insurers"]
        else:
            score -= 10
    return Match(
        id=one.id,
        name=one.name,
        score=max(0, min(100, score)),
        reasons=tuple(_reason(name, contract.title.lower()) for name in why),
        why=tuple(why),
    )


def _reason(name: str, procedure: str, language: str = "en") -> str:
    kind, _, country = name.partition(":")
    return phrase(
        f"reason_{kind}",
        language,
        procedure=procedure,
        country=country_words(country, language) if country else "",
    )


def reasons_in(one: Match, language: str, procedure: str) -> tuple[str, ...]:
    """The match's reasons in a language; those in English where the case keeps no others."""
    if language == "en" or not one.why:
        return one.reasons
    return tuple(_reason(name, procedure, language) for name in one.why)


def _usd(found: Any) -> float | None:
    if isinstance(found, Mapping) and found.get("usd") is not None:
        return float(found["usd"])
    return None
