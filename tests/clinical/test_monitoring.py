"""Monitoring rules concern the right medicines and conditions, and each is cited."""

from __future__ import annotations

from decimal import Decimal

import pytest

from bedside.clinical.analytes import analytes
from bedside.clinical.drugs import class_of, drugs
from bedside.clinical.monitoring import (
    monitoring_pack,
    monitoring_rules,
    rules_for_condition,
    rules_for_drug,
)
from bedside.clinical.ranges import range_for


def ids(rules) -> set[str]:
    return {rule.id for rule in rules}


@pytest.mark.requirement("CO-13")
@pytest.mark.parametrize(
    ("generic", "rule"),
    [
        ("metformin", "metformin-egfr-30"),
        ("lisinopril", "acei-potassium"),
        ("simvastatin", "statin-alt"),
        ("warfarin", "warfarin-inr"),
        ("lithium", "lithium-level-due"),
        ("methotrexate", "methotrexate-cbc"),
        ("amiodarone", "amiodarone-thyroid"),
        ("naproxen", "nsaid-egfr"),
        ("furosemide", "diuretic-potassium-low"),
        ("spironolactone", "mra-potassium"),
        ("digoxin", "digoxin-potassium-low"),
    ],
)
def test_a_medicine_brings_its_rules(generic, rule):
    assert rule in ids(rules_for_drug([generic]))


def test_a_medicine_brings_no_rule_of_another():
    assert ids(rules_for_drug(["loratadine"])) == set()
    assert "nsaid-egfr" not in ids(rules_for_drug(["aspirin"]))
    assert rules_for_drug(["zzyzx"]) == ()


@pytest.mark.parametrize(
    "name",
    ["Diabetes", "T2DM", "type 2 diabetes", "Diabetes mellitus type 2", "Type 1 diabetes mellitus"],
)
def test_diabetes_by_any_name_brings_the_half_yearly_hba1c(name):
    found = {rule.id: rule for rule in rules_for_condition(name)}
    assert found["diabetes-hba1c"].interval_days == 182


@pytest.mark.parametrize(
    "name",
    [
        "Prediabetes",
        "Diabetes insipidus",
        "Gestational diabetes",
        "Family history of diabetes",
        "Pulmonary hypertension",
    ],
)
def test_other_conditions_do_not_bring_the_rules_of_diabetes_or_hypertension(name):
    assert not ids(rules_for_condition(name)) & {"diabetes-hba1c", "hypertension-bp"}


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("Hypertension", "hypertension-bp"),
        ("CKD stage 3", "ckd-egfr"),
        ("Chronic congestive heart failure (disorder)", "heart-failure-renal"),
        ("Idiopathic atrophic hypothyroidism", "hypothyroidism-tsh"),
        ("Gout", "gout-urate"),
        ("Hyperlipidemia", "hyperlipidemia-lipids"),
    ],
)
def test_conditions_of_records_bring_their_rules(name, rule):
    assert rule in ids(rules_for_condition(name))


def test_thresholds_are_crossed_beyond_the_limit_only():
    rule = next(rule for rule in monitoring_rules() if rule.id == "metformin-egfr-30")
    assert rule.threshold is not None
    assert rule.threshold.crossed(Decimal("29.9"))
    assert not rule.threshold.crossed(Decimal(30))


def test_every_rule_is_whole():
    known_analytes = {item.key: item for item in analytes()}
    known_drugs = {item.generic for item in drugs()}
    known_classes = {key for name in known_drugs for key in class_of(name)}
    assert len(monitoring_rules()) >= 60
    assert len(ids(monitoring_rules())) == len(monitoring_rules())
    for rule in monitoring_rules():
        assert rule.source
        assert not rule.text.endswith(".")
        assert set(rule.analytes) <= set(known_analytes), rule.id
        assert set(rule.drugs) | set(rule.exempt) <= known_drugs, rule.id
        assert set(rule.classes) <= known_classes, rule.id
        assert bool(rule.drugs or rule.classes) != bool(rule.conditions), rule.id
        assert (rule.interval_days is None) != (rule.threshold is None), rule.id
        if rule.threshold is not None:
            first = known_analytes[rule.analytes[0]]
            reference = range_for(first.key, sex="male", age_years=50)
            assert rule.threshold.unit in {first.unit, reference.unit if reference else ""}, rule.id
    assert "not clinically reviewed" in monitoring_pack().label


def test_every_source_is_used():
    from bedside.clinical import monitoring

    used = {rule.source for rule in monitoring_rules()}
    assert set(monitoring._file().sources.values()) - used == set()
