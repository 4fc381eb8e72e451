"""What a flag cites: the record's entry, and the text of the rule that speaks. Pure.

A rule's text is a source of its own; its id begins with "pack:" and its whole text is the rule as it
stands in its table, with source, terms and review state.
"""

from __future__ import annotations

import hashlib
from decimal import Decimal

from bedside.clinical.allergy import allergy_pack
from bedside.clinical.analytes import analyte
from bedside.clinical.dosing import EGFR_SOURCE
from bedside.clinical.monitoring import MonitoringRule, monitoring_pack, monitoring_rules
from bedside.clinical.ranges import Range, range_for, range_pack
from bedside.clinical.rules import Reference, reference
from bedside.core.context import Item
from bedside.core.source import Span
from bedside.flows.parts import rule_item
from bedside.record.matching import analyte_key
from bedside.record.needs import Fact, Person

__all__ = [
    "allergy_reference",
    "egfr_reference",
    "entry",
    "goal_reference",
    "monitoring_reference",
    "monitoring_rule",
    "range_reference",
    "rule_item",
]

_DAYS = Decimal("365.25")


def entry(fact: Fact) -> Item:
    """A record entry as a quotable item: its whole line."""
    return Item(
        fact.line,
        key=str(fact.source.id),
        span=Span(source=fact.source, start=0, end=len(fact.line)),
        note=fact.note,
        dated=fact.source.dated,
    )


def monitoring_rule(rule_id: str) -> MonitoringRule | None:
    """The monitoring rule of that id, `None` where there is none."""
    return next((rule for rule in monitoring_rules() if rule.id == rule_id), None)


def monitoring_reference(rule: MonitoringRule) -> Item:
    """The text of a monitoring rule."""
    return rule_item(
        reference(
            "monitoring",
            rule.id,
            title=rule.id.replace("-", " "),
            text=rule.text,
            cite=rule.source,
            pack=monitoring_pack(),
        )
    )


def allergy_reference(*, medicine: str, allergen: str, text: str, source: str) -> Item:
    """The text of an allergy rule; `source` is "" where the medicine is the allergen itself."""
    key = hashlib.sha256(f"{text}|{source}".encode()).hexdigest()[:12]
    return rule_item(
        reference(
            "allergy",
            key,
            title=f"{medicine} and {allergen}"[:80],
            text=text.rstrip("."),
            cite=source or "the same medicine is recorded as the allergen",
            pack=allergy_pack(),
        )
    )


def range_reference(fact: Fact, person: Person, *, pregnant: bool | None) -> Item | None:
    """The range that a reading was compared with; `None` where the laboratory's own served."""
    key = analyte_key(fact)
    if not key or fact.when is None or person.birth_date is None:
        return None
    age = Decimal((fact.when.date() - person.birth_date).days) / _DAYS
    found = range_for(key, sex=person.sex, age_years=age, pregnant=pregnant)
    return None if found is None else _range_item(key, found)


def _range_item(key: str, found: Range) -> Item:
    name = analyte(key).name
    parts = [f"{name}, {found.population}: {found.text()}"]
    if found.critical_text():
        parts.append(f"critical {found.critical_text()} {found.unit}")
    return rule_item(
        reference(
            "limit",
            f"{key}/{found.population}".replace(" ", "_"),
            title=name,
            text="; ".join(parts),
            cite="; ".join(
                dict.fromkeys(one for one in (found.source, found.critical_source) if one)
            ),
            pack=range_pack(),
        )
    )


def goal_reference() -> Item:
    """The goal that an HbA1c in diabetes is held against."""
    return rule_item(
        Reference(
            id="pack:goal:hba1c",
            title="HbA1c goal in diabetes",
            text="An HbA1c below 7 % is a goal for many adults with diabetes who are not pregnant; a "
            "higher one suits some, such as the frail. Source: American Diabetes Association. "
            "Standards of Care in Diabetes: Glycemic Goals. Not clinically reviewed here.",
        )
    )


def egfr_reference() -> Item:
    """The equation that an eGFR is computed by."""
    return rule_item(
        Reference(
            id="pack:equation:ckd-epi-2021",
            title="CKD-EPI creatinine equation 2021",
            text="Estimated GFR = 142 x min(Scr/k, 1)^a x max(Scr/k, 1)^-1.200 x 0.9938^age "
            "(x 1.012 for women); k 0.7 and a -0.241 for women, k 0.9 and a -0.302 for men; "
            f"adults; mL/min/1.73 m2. Source: {EGFR_SOURCE}.",
        )
    )
