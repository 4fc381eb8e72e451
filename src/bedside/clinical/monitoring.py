"""What must be watched: medicines and conditions with the analytes that concern them."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from decimal import Decimal
from typing import Literal

from pydantic import BaseModel, ConfigDict

from bedside.clinical.drugs import class_of
from bedside.clinical.packs import Pack, PackFile, load_pack
from bedside.clinical.vocabulary import canonical, expand
from bedside.core.value import value

__all__ = [
    "MonitoringRule",
    "Threshold",
    "monitoring_pack",
    "monitoring_rules",
    "rules_for_condition",
    "rules_for_drug",
]

_SURE = 0.7
Severity = Literal["critical", "warning", "info"]


@value
class Threshold:
    """A limit on the newest result: it is crossed when `result op value` holds, in `unit`."""

    op: Literal["<", ">"]
    value: Decimal
    unit: str

    def crossed(self, result: Decimal) -> bool:
        """True when a result in `unit` lies beyond the limit; the limit itself does not."""
        return result < self.value if self.op == "<" else result > self.value


@value
class MonitoringRule:
    """One rule: whom it concerns, what to look at, when it speaks.

    It concerns people on one of `drugs` (generics) or `classes` (but not on a drug in `exempt`), or
    with one of `conditions` (canonical terms). Exactly one of `interval_days` and `threshold` is
    set: the rule speaks when none of `analytes` (keys) has a result younger than the interval, or
    when the newest result of one of them crosses the threshold. `text` says why in a few words,
    without a full stop; `source` cites it.
    """

    id: str
    analytes: tuple[str, ...]
    severity: Severity
    text: str
    source: str
    drugs: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()
    conditions: tuple[str, ...] = ()
    exempt: tuple[str, ...] = ()
    interval_days: int | None = None
    threshold: Threshold | None = None


class _Threshold(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    op: Literal["<", ">"]
    value: Decimal
    unit: str


class _Rule(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    analytes: tuple[str, ...]
    severity: Severity
    text: str
    source: str
    drugs: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()
    conditions: tuple[str, ...] = ()
    exempt: tuple[str, ...] = ()
    interval_days: int | None = None
    threshold: _Threshold | None = None


class _Monitoring(PackFile):
    sources: dict[str, str]
    rules: dict[str, _Rule]


def monitoring_pack() -> Pack:
    """The pack that the rules come from."""
    return _file().pack


@functools.cache
def monitoring_rules() -> tuple[MonitoringRule, ...]:
    """Every rule, in the pack's order (thresholds first, then intervals)."""
    return tuple(
        MonitoringRule(
            id=key,
            analytes=rule.analytes,
            severity=rule.severity,
            text=rule.text,
            source=_file().sources[rule.source],
            drugs=rule.drugs,
            classes=rule.classes,
            conditions=rule.conditions,
            exempt=rule.exempt,
            interval_days=rule.interval_days,
            threshold=_threshold(rule.threshold),
        )
        for key, rule in _file().rules.items()
    )


def rules_for_drug(generics: Iterable[str]) -> tuple[MonitoringRule, ...]:
    """The rules that concern medicines.

    Args:
        generics: Generic names, such as `ingredients_of` gives; unknown names concern no rule.
    """
    named = {generic.casefold() for generic in generics}
    return tuple(rule for rule in monitoring_rules() if any(_concerns(rule, one) for one in named))


def rules_for_condition(name: str) -> tuple[MonitoringRule, ...]:
    """The rules that concern a condition as a record or a person names it.

    "Diabetes", "T2DM" and "type 2 diabetes mellitus" all concern the rules of diabetes; prediabetes
    and gestational diabetes do not.
    """
    said = name.removesuffix("(disorder)").strip()
    terms = {canonical(said)}
    for item in expand(said):  # "CKD stage 3"
        if item.weight >= _SURE:
            terms.add(f"{said[: item.start]}{item.replacement}{said[item.end :]}".casefold())
    return tuple(
        rule
        for rule in monitoring_rules()
        if any(_is_kind_of(term, condition) for condition in rule.conditions for term in terms)
    )


def _concerns(rule: MonitoringRule, generic: str) -> bool:
    if generic in rule.exempt:
        return False
    return generic in rule.drugs or bool(set(rule.classes).intersection(class_of(generic)))


# Words before or after a condition's name that leave it the same kind of condition.
_KINDS = frozenset(
    [
        "type",
        "1",
        "2",
        "i",
        "ii",
        "chronic",
        "congestive",
        "essential",
        "primary",
        "secondary",
        "idiopathic",
        "atrophic",
        "mellitus",
        "stage",
        "3",
        "3a",
        "3b",
        "4",
        "5",
        "due",
        "to",
        "with",
        "without",
        "acquired",
        "autoimmune",
        "mixed",
        "familial",
    ]
)


def _is_kind_of(term: str, condition: str) -> bool:
    if term == condition:
        return True
    said = term.split()
    wanted = condition.split()
    for at in range(len(said) - len(wanted) + 1):
        if said[at : at + len(wanted)] == wanted:
            rest = said[:at] + said[at + len(wanted) :]
            return all(word in _KINDS for word in rest)
    return False


def _threshold(raw: _Threshold | None) -> Threshold | None:
    return None if raw is None else Threshold(op=raw.op, value=raw.value, unit=raw.unit)


@functools.cache
def _file() -> _Monitoring:
    return load_pack(_Monitoring, "bedside.clinical", "data/monitoring.yaml")
