"""Allergy conflicts follow the cited rules, and silence is not safety."""

from __future__ import annotations

import pytest

from bedside.clinical.allergy import _rules, conflicts_with_allergy
from bedside.clinical.drugs import drugs

# Written by hand from the 2022 practice parameter and product labels: drug, allergy, kind, severity.
CONFLICTS = [
    ("Amoxicillin 250 MG Oral Capsule", "Amoxicillin", "same", "critical"),
    ("Augmentin 625", "Penicillin V", "family", "critical"),
    ("Cefuroxime 250 MG Oral Tablet", "penicillin allergy", "cross", "warning"),
    ("meropenem", "Penicillin", "cross", "info"),
    ("aztreonam", "ceftazidime", "cross", "critical"),
    ("Bactrim DS", "Sulfa drugs", "family", "critical"),
    ("Furosemide 40 mg", "sulfonamide", "cross", "info"),
    ("Naproxen 500 MG Oral Tablet", "Aspirin", "family", "critical"),
    ("ibuprofen", "NSAIDs", "family", "critical"),
    ("Entresto", "lisinopril", "cross", "critical"),
    ("Ramipril", "ACE inhibitors", "family", "critical"),
    ("losartan", "enalapril", "cross", "info"),
    ("lamotrigine", "Tegretol", "family", "critical"),
    ("enoxaparin", "heparin", "family", "critical"),
    ("carboplatin", "cisplatin", "family", "critical"),
    ("codeine", "morphine", "family", "warning"),
    ("propofol", "Egg white", "cross", "info"),
]


@pytest.mark.requirement("CO-13")
@pytest.mark.parametrize(("drug", "allergen", "kind", "severity"), CONFLICTS)
def test_conflicts_are_found_with_their_kind_and_severity(drug, allergen, kind, severity):
    found = conflicts_with_allergy(drug, allergen)
    assert found is not None
    assert (found.kind, found.severity) == (kind, severity)
    assert found.text.endswith(".")
    assert found.source or found.kind == "same"


@pytest.mark.parametrize(
    ("drug", "allergen"),
    [
        ("Simvastatin 20 MG", "Penicillin"),
        ("iohexol", "Shellfish allergy"),
        ("protamine", "Shellfish allergy"),
        ("amlodipine", "Latex allergy"),
        ("azithromycin", "Amoxicillin"),
        ("zzyzx", "penicillin"),
        ("amoxicillin", ""),
    ],
)
def test_what_the_rules_do_not_know_is_none(drug, allergen):
    assert conflicts_with_allergy(drug, allergen) is None


def test_the_gravest_of_several_conflicts_wins():
    found = conflicts_with_allergy("amoxicillin and cefalexin", "Penicillin, latex")
    assert found is not None
    assert (found.ingredient, found.severity) == ("amoxicillin", "critical")


def test_every_rule_has_a_source_and_names_known_things():
    rules = _rules()
    known = {key for item in drugs() for key in (item.generic, *item.classes)}
    for family, rule in rules.families.items():
        assert family in known
        assert rules.sources[rule.source]
    for rule in rules.cross:
        assert {rule.origin, rule.to} <= known
        assert rules.sources[rule.source]
    for rule in rules.substances.values():
        assert set(rule.drugs) <= known
        assert rules.sources[rule.source]
