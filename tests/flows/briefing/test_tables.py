"""The rule tables: every name in them is known, every rule cites a source, the calculator computes."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bedside.clinical.cautions import caution_rules
from bedside.clinical.dosing import dosing_rules, egfr_ckd_epi_2021
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
from bedside.settings import load_settings
from bedside.wiring.tables import deployers_interactions

EVERY = (*shipped().rules, *dosing_rules(), *caution_rules(), *screening_rules())


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
        *(name for rule in dosing_rules() for name in rule.drugs),
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
