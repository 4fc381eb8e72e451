"""The rule tables: every name in them is known, every rule cites a source, the calculator computes."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from decimal import Decimal

import pytest
from fastapi.testclient import TestClient
from hypothesis import given
from hypothesis import strategies as st

from bedside.clinical.cautions import caution_rules
from bedside.clinical.dosing import egfr_ckd_epi_2021, shipped_dosing
from bedside.clinical.drugs import class_name, drugs, ingredients_of
from bedside.clinical.duplicates import duplicate_groups
from bedside.clinical.interactions import (
    InteractionTable,
    shipped,
)
from bedside.clinical.ranges import ranged
from bedside.clinical.rules import deployed, words_fit
from bedside.clinical.screening import screening_rules
from bedside.core.errors import BadInput, InvalidArgument
from bedside.server.app import create_app
from bedside.settings import load_settings
from bedside.wiring import build_engine
from bedside.wiring.tables import deployers_interactions

from .conftest import briefed, imported

EVERY = (*shipped().rules, *shipped_dosing().rules, *caution_rules(), *screening_rules())


@pytest.mark.requirement("EN-K9")
def test_every_rule_names_its_source_terms_place_and_review():
    for rule in (*EVERY, *duplicate_groups()):
        text = rule.reference.text
        assert rule.reference.id.startswith("pack:")
        assert "Source: " in text
        assert "not clinically reviewed" in text
        assert "review due 20" in text
        assert len(text.partition("Source: ")[2]) > 60


def test_there_are_enough_rules_and_analytes():
    assert len(EVERY) >= 60
    assert len(shipped().rules) >= 40
    assert len(ranged()) >= 60


def test_every_medicine_and_class_of_a_rule_is_known():
    known = {one.generic for one in drugs()}
    parties = [
        *(name for rule in shipped().rules for name in (*rule.left, *rule.right)),
        *(name for rule in shipped_dosing().rules for name in rule.drugs),
        *(name for rule in caution_rules() for name in rule.medicines),
    ]
    for name in parties:
        if name.startswith("@"):
            assert class_name(name[1:])
        else:
            assert name in known, name


def test_a_pair_is_found_in_either_order_and_exempt_medicines_are_not_meant():
    one = shipped().between(("naproxen",), ("warfarin",))
    other = shipped().between(("warfarin",), ("naproxen",))
    assert [row[0].id for row in one] == [row[0].id for row in other]
    assert "anticoagulant-nsaid" in [row[0].id for row in one]
    aspirin = [row[0].id for row in shipped().between(("aspirin",), ("warfarin",))]
    assert "anticoagulant-nsaid" not in aspirin
    assert "anticoagulant-antiplatelet" in aspirin


def test_an_unknown_medicine_interacts_with_nothing_and_is_not_covered():
    assert shipped().between(ingredients_of("Zibbolex"), ("warfarin",)) == ()
    assert not shipped().named(ingredients_of("Zibbolex"))
    assert shipped().named(("warfarin",))


def published(creatinine: float, age: int, sex: str) -> float:
    """The four equations as the paper prints them, one for each sex and side of the knot."""
    if sex == "female":
        power = -0.241 if creatinine <= 0.7 else -1.200
        return 142 * (creatinine / 0.7) ** power * 0.9938**age * 1.012
    power = -0.302 if creatinine <= 0.9 else -1.200
    return 142 * (creatinine / 0.9) ** power * 0.9938**age


@given(
    st.decimals(min_value="0.2", max_value="15", places=2),
    st.integers(min_value=18, max_value=110),
    st.sampled_from(["female", "male"]),
)
def test_the_egfr_is_that_of_the_published_equations(creatinine, age, sex):
    mine = egfr_ckd_epi_2021(creatinine, age_years=age, sex=sex)
    assert abs(float(mine) - published(float(creatinine), age, sex)) <= 0.5 + 1e-6


@pytest.mark.parametrize(
    ("creatinine", "age", "sex"), [("0", 50, "male"), ("1", 17, "male"), ("1", 50, "unknown")]
)
def test_no_egfr_is_computed_from_what_the_equation_does_not_cover(creatinine, age, sex):
    with pytest.raises(InvalidArgument):
        egfr_ckd_epi_2021(Decimal(creatinine), age_years=age, sex=sex)


@pytest.mark.parametrize(
    ("name", "fits"),
    [
        ("Screening mammography (procedure)", True),
        ("Mammogram", True),
        ("Mammary abscess", False),
    ],
)
def test_words_fit_the_beginnings_of_words(name, fits):
    assert words_fit(name, [("mammogra",)]) is fits


def test_a_short_word_fits_a_whole_word_only():
    assert words_fit("Hepatitis C virus antibody", [("hepatitis", "c")])
    assert not words_fit("Hepatitis panel, complete", [("hepatitis", "c")])


def test_no_option_of_a_rule_is_worded_by_negation():
    """What a rule's text does not deny, the last check would take out of a briefing."""
    options = [one.action for one in (*shipped().rules, *caution_rules())]
    assert len(options) > 70
    negated = [one for one in options if re.search(r"\b(?:not|no|never|without)\b", one)]
    assert negated == []


TABLE = """
pack: {id: own.interactions, version: "7", title: Own table, source: A licensed publisher,
  licence: licensed to this hospital, jurisdiction: here, review_due: 2030-01-01, reviewer: Dr A}
sources: {own: "Own monograph 12"}
interactions:
  zinc-iron: {a: [zinc sulfate], b: ["@iron"], severity: info, text: "they bind", action: "hours apart", source: own}
"""


@pytest.mark.requirement("EN-K9")
def test_a_deployers_table_comes_in_by_a_setting_and_its_rules_come_first(tmp_path):
    own = tmp_path / "own.yaml"
    rule = (
        '  anticoagulant-nsaid: {a: [warfarin], b: [naproxen], severity: info, text: "ours says so", '
        'action: "a look", source: own}\n'
    )
    own.write_text(TABLE + rule, encoding="utf-8")
    settings = load_settings(home=tmp_path, environ={"BEDSIDE_INTERACTIONS": str(own)})
    tables = deployers_interactions(settings)
    assert tables.packs[0].reviewer == "Dr A"
    (found,) = tables.between(("zinc sulfate",), ("ferrous fumarate",))
    assert "reviewed by Dr A" in found[0].reference.text
    (replaced, *_) = [
        row[0]
        for row in tables.between(("naproxen",), ("warfarin",))
        if row[0].id == "anticoagulant-nsaid"
    ]
    assert replaced.text == "ours says so"
    assert tables.named(("simvastatin",))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "not: a pack",
        "pack: [",
        TABLE.replace("source: own}", "source: other}"),
        "pack: &a [*a]",
        "\x00\x01",
    ],
)
def test_a_deployers_table_of_another_form_is_refused_by_name(tmp_path, text):
    own = tmp_path / "own.yaml"
    own.write_text(text, encoding="utf-8")
    settings = load_settings(home=tmp_path, environ={"BEDSIDE_INTERACTIONS": str(own)})
    with pytest.raises(BadInput, match=r"own\.yaml"):
        deployers_interactions(settings)


DOSES = """
pack: {id: own.dosing, version: "3", title: Own doses, source: A licensed publisher, licence: licensed,
  jurisdiction: here, review_due: 2020-01-01}
sources: {own: "Own monograph 13"}
dosing:
  gabapentin-renal: {drugs: [gabapentin], below: 80, severity: critical, text: "halved below 80", source: own}
  zibbolex: {drugs: [zibbolex], below: 30, severity: info, text: "not below 30", source: own}
"""


@pytest.mark.requirement("EN-K9")
def test_a_deployers_dosing_table_speaks_first_and_the_doctor_lists_every_table(tmp_path):
    (tmp_path / "own.yaml").write_text(TABLE, encoding="utf-8")
    (tmp_path / "doses.yaml").write_text(DOSES, encoding="utf-8")
    environ = {
        "BEDSIDE_INTERACTIONS": str(tmp_path / "own.yaml"),
        "BEDSIDE_DOSING": str(tmp_path / "doses.yaml"),
    }
    home = tmp_path / "home"
    patient = tmp_path / "p.json"
    patient.write_text(
        json.dumps(
            {"id": "p1", "name": "A Person", "sex": "female", "birth_date": "1960-01-01",
             "medications": [{"name": "Gabapentin 300 mg capsule", "started": "2026-09-01"}],
             "labs": [{"name": "eGFR", "value": 70, "unit": "mL/min/1.73m2", "date": "2026-11-01"}]}
        ), encoding="utf-8",
    )  # fmt: skip
    imported(home, patient)
    turn = briefed(home, "p1", environ=environ)
    (found,) = [one for one in turn["briefing"]["flags"] if one["rule"] == "gabapentin-renal"]
    assert "halved below 80" in found["description"]  # ours speaks below 60 alone
    assert '"Own doses" 3' in " ".join(turn["briefing"]["checked"])

    engine = build_engine(load_settings(home=home, environ={"BEDSIDE_EMBEDDER": "none", **environ}))
    with TestClient(create_app(engine), base_url="http://127.0.0.1") as client:
        served = client.get("/v1/doctor").json()
    done = subprocess.run(
        [sys.executable, "-m", "bedside", "doctor", "--json", "--home", str(home)],
        capture_output=True, text=True, timeout=120, check=False,
        env={"PATH": "", "BEDSIDE_EMBEDDER": "none", **environ},
    )  # fmt: skip
    for answer in (served, json.loads(done.stdout)):
        rows = {one["title"]: one for one in answer["tables"]}
        assert list(rows) == ["Own table", "Interaction rules", "Own doses", "Renal dosing rules"]
        own, doses = rows["Own table"], rows["Own doses"]
        assert (own["version"], own["rows"], own["review_status"], own["reviewer"]) == (
            "7", 1, "reviewed", "Dr A",
        )  # fmt: skip
        assert (doses["version"], doses["rows"], doses["review_status"]) == ("3", 2, "unreviewed")
        assert doses["unknown"] == ["zibbolex"]
        said = next(one["detail"] for one in answer["checks"] if one["name"] == "tables")
        assert "Own doses 3 (dosing, 2 rules, not clinically reviewed, review was due 2020" in said
        assert "not known here: zibbolex" in said


def test_the_doctor_names_a_broken_table_and_its_setting(tmp_path):
    broken = tmp_path / "doses.yaml"
    broken.write_text(DOSES.replace("below: 80", "below: eighty"), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "bedside", "doctor", "--json", "--home", str(tmp_path / "home")],
        capture_output=True, text=True, timeout=120, check=False,
        env={"PATH": "", "BEDSIDE_EMBEDDER": "none", "BEDSIDE_DOSING": str(broken)},
    )  # fmt: skip
    assert done.returncode == 1
    error = json.loads(done.stdout)["error"]
    assert error["type"] == "BadInput"
    for part in ("doses.yaml", "BEDSIDE_DOSING", "dosing.gabapentin-renal.below"):
        assert part in error["detail"]


def test_a_deployers_table_that_is_not_there_is_named(tmp_path):
    settings = load_settings(home=tmp_path, environ={"BEDSIDE_INTERACTIONS": "/nowhere/own.yaml"})
    with pytest.raises(BadInput, match="BEDSIDE_INTERACTIONS"):
        deployers_interactions(settings)


def test_a_deployers_table_comes_in_by_entry_point(tmp_path, monkeypatch):
    info = tmp_path / "own_table-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: own-table\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[bedside.packs]\ninteractions = own_table:text\n")
    (tmp_path / "own_table.py").write_text(f"def text():\n    return {TABLE!r}\n")
    assert deployed(InteractionTable, "interactions") == ()
    monkeypatch.syspath_prepend(str(tmp_path))
    (table,) = deployed(InteractionTable, "interactions")
    assert table.pack.reviewer == "Dr A"
    assert set(table.interactions) == {"zinc-iron"}
