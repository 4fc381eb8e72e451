"""The table of findings that mean more together, and the flags that it raises."""

from __future__ import annotations

import json
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

import anyio
import pytest

from bedside.clinical.analytes import analyte
from bedside.clinical.combinations import Bound, combination_pack, combination_rules
from bedside.clinical.units import convert
from bedside.settings import load_settings
from bedside.wiring import Ask, build_engine
from bedside.wiring.clock import SystemClock

TODAY = SystemClock().now().date()
RULE = "pregnancy-hypertension-proteinuria"
SEVERE = "pregnancy-severe-hypertension"
ORGAN = "pregnancy-hypertension-organ"


def ago(days: int) -> str:
    return (TODAY - timedelta(days=days)).isoformat()


def lab(name: str, figure: float, unit: str, days: int = 1) -> dict[str, object]:
    return {"name": name, "value": figure, "unit": unit, "date": ago(days)}


def flags(tmp_path: Path, labs: list[dict[str, object]], *, pregnant: bool = True) -> dict:
    """The flags by rule of a woman of thirty with these results."""
    body = {
        "id": "p1",
        "name": "Test Person",
        "sex": "female",
        "birth_date": f"{TODAY.year - 30}-01-01",
        "conditions": [{"name": "Pregnancy", "onset": ago(190)}] if pregnant else [],
        "labs": labs,
    }
    file = tmp_path / "p1.json"
    file.write_text(json.dumps(body), encoding="utf-8")

    async def go() -> dict:
        settings = load_settings(home=tmp_path / "home", environ={"BEDSIDE_EMBEDDER": "none"})
        engine = build_engine(settings)
        try:
            await engine.import_paths([file], engine.local())
            ask = Ask(question="Brief me.", patient="p1", flow="briefing")
            turn = await engine.asker.ask(ask, engine.local())
        finally:
            await engine.close()
        return {one["rule"]: one for one in turn["briefing"]["flags"]}

    return anyio.run(go)


BP = [
    lab("Systolic blood pressure", 158, "mmHg"),
    lab("Diastolic blood pressure", 102, "mmHg"),
]
PCR = "Urine protein-to-creatinine ratio"


@pytest.mark.requirement("BR-09")
def test_raised_pressure_with_proteinuria_in_pregnancy_is_critical_and_cites_both(tmp_path):
    found = flags(tmp_path, [*BP, lab(PCR, 420, "mg/g", days=3)])[RULE]
    assert found["severity"] == "critical"
    assert found["source"] == "rule"
    quotes = " ".join(one["quote"] for one in found["evidence"])
    assert "158" in quotes
    assert "420" in quotes
    assert "Practice Bulletin 222" in quotes
    assert found["suggested_action"].startswith("Consider ")


@pytest.mark.parametrize(
    ("labs", "pregnant"),
    [
        ([*BP, lab(PCR, 290, "mg/g")], True),
        ([lab("Systolic blood pressure", 132, "mmHg"), lab(PCR, 420, "mg/g")], True),
        ([*BP, lab(PCR, 420, "mg/g", days=60)], True),
        ([*BP, lab(PCR, 420, "mg/g")], False),
        (BP, True),
    ],
    ids=["little protein", "no pressure", "long ago", "not pregnant", "no protein"],
)
def test_a_part_that_is_missing_raises_nothing(tmp_path, labs, pregnant):
    assert RULE not in flags(tmp_path, labs, pregnant=pregnant)


def test_severe_pressure_and_low_platelets_in_pregnancy_are_critical(tmp_path):
    labs = [
        lab("Systolic blood pressure", 164, "mmHg"),
        lab("Diastolic blood pressure", 96, "mmHg"),
        lab("Platelets", 88, "10*3/uL"),
    ]
    found = flags(tmp_path, labs)
    assert {SEVERE, ORGAN} <= set(found)
    assert {found[SEVERE]["severity"], found[ORGAN]["severity"]} == {"critical"}


def test_another_unit_is_converted_before_it_is_compared(tmp_path):
    labs = [*BP, lab("Creatinine", 115, "umol/L")]  # 1.3 mg/dL
    assert ORGAN in flags(tmp_path, labs)
    labs = [*BP, lab("Creatinine", 80, "umol/L")]  # 0.9 mg/dL
    (tmp_path / "other").mkdir()
    assert ORGAN not in flags(tmp_path / "other", labs)


@pytest.mark.requirement("EN-K9")
def test_every_bound_names_an_analyte_in_a_unit_that_converts_and_every_rule_a_source():
    assert combination_pack().review_status == "unreviewed"
    for rule in combination_rules():
        assert len(rule.reference.text.partition("Source: ")[2]) > 60
        assert rule.within_days > 0
        for part in rule.parts:
            for bound in part:
                unit = analyte(bound.analyte).unit
                assert convert(bound.value, bound.unit, unit, bound.analyte) > 0


@pytest.mark.parametrize(
    ("op", "figure", "crossed"),
    [(">=", 140, True), (">", 140, False), ("<", 139, True), ("<=", 140, True), ("<", 141, False)],
)
def test_a_limit_is_crossed_as_its_sign_says(op, figure, crossed):
    bound = Bound(analyte="systolic_bp", op=op, value=Decimal(140), unit="mmHg")
    assert bound.crossed(Decimal(figure)) is crossed
