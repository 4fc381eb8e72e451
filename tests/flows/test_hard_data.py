"""CO-08: hard data is real, cited, bounded, relevant, and gated."""

from __future__ import annotations

import re

import pytest
from rs_bpe import openai

from bedside.clinical.ranges import ranged
from bedside.core.errors import NotFound
from bedside.flows.copilot import hard_data
from bedside.flows.copilot.hard_data import for_plan, specialties, specialty

SEVEN = {
    "endocrinology",
    "cardiology",
    "nephrology",
    "obstetrics_gynaecology",
    "rheumatology",
    "pulmonology",
    "haematology",
}
DOI = re.compile(r"10\.\d{4,5}/[^\s]+\Z")
PAPERS = [(node, paper) for item in specialties() for node in item.nodes for paper in node.papers]


def test_seven_specialties_ship_with_eight_decisions_of_two_papers():
    assert {item.key for item in specialties()} == SEVEN
    for item in specialties():
        assert len(item.nodes) == 8, item.key
        assert len(item.markers) == 10, item.key
        assert item.decision_points, item.key
        assert item.red_flags, item.key
        assert all(len(node.papers) == 2 for node in item.nodes), item.key
    assert len(PAPERS) == 112


def test_at_least_forty_ranges_stand_behind_the_specialties():
    named = {key for item in specialties() for key in item.ranges}
    assert named <= set(ranged())
    assert len(named) >= 40


def test_identifiers_are_well_formed_and_used_once_per_specialty():
    for node, paper in PAPERS:
        assert paper.doi or paper.pmid, node.id
        if paper.doi:
            assert DOI.fullmatch(paper.doi), paper.doi
        if paper.pmid:
            assert re.fullmatch(r"[1-9]\d{5,7}", paper.pmid), paper.pmid
        if paper.level == "cochrane":
            assert paper.doi.startswith("10.1002/14651858.CD")
        if paper.journal == "New England Journal of Medicine":
            assert re.fullmatch(r"10\.1056/NEJM(oa\d{6,7}|\d{15})", paper.doi), paper.doi
    for item in specialties():
        dois = [paper.doi for node in item.nodes for paper in node.papers if paper.doi]
        assert len(set(dois)) == len(dois), item.key


def test_papers_say_how_their_identifier_was_checked_and_most_were():
    assert all(paper.how for _, paper in PAPERS)
    assert sum(paper.checked for _, paper in PAPERS) >= 105
    for _, paper in PAPERS:
        assert paper.title
        assert paper.journal
        assert 1978 < paper.year < 2026
        assert len(paper.finding) <= 140, paper.finding
        assert paper.finding.endswith(".")


def test_papers_of_a_decision_stand_strongest_first():
    order = ["cochrane", "systematic_review", "rct", "cohort", "guideline"]
    for item in specialties():
        for node in item.nodes:
            ranks = [order.index(paper.level) for paper in node.papers]
            assert ranks == sorted(ranks), node.id
    statin = next(node for node in specialty("cardiology").nodes if node.id == "statin-benefit")
    assert [paper.level for paper in statin.papers] == ["cochrane", "systematic_review"]


def test_node_ids_are_unique_and_textbooks_at_most_thirty():
    ids = [node.id for item in specialties() for node in item.nodes]
    assert len(set(ids)) == len(ids)
    books = [book for item in specialties() for book in item.textbooks]
    assert len(books) <= 30
    assert all(book.chapter and book.topics for book in books)


@pytest.mark.parametrize("key", sorted(SEVEN))
def test_guidance_is_about_550_tokens_and_carries_its_label(key):
    text = specialty(key).guidance()
    assert 400 <= len(openai.o200k_base().encode(text)) <= 620
    assert "not clinically reviewed" in text.splitlines()[-1]


@pytest.mark.parametrize(
    ("question", "decision"),
    [
        ("what is the first line drug for type 2 diabetes?", "t2dm-first-drug"),
        ("HFrEF: does an SGLT2i help?", "hfref-sglt2"),
        ("best biologic for eosinophilic asthma", "asthma-severe"),
        ("apixaban vs warfarin in AF", "af-anticoagulant"),
        ("GCA with visual loss, tocilizumab?", "gca-treatment"),
        ("pregnant with BP 150/95", "pregnancy-hypertension"),
        ("gout: febuxostat or allopurinol", "gout-urate-lowering"),
        ("hydroxyurea in sickle cell", "sickle-hydroxyurea"),
        ("how low should the bp go", "bp-target"),
        ("Zyloric for gout", "gout-urate-lowering"),
        ("when to start dialysis", "dialysis-start"),
        ("is a statin worth it in primary prevention", "statin-benefit"),
        ("tranexamic acid in PPH", "pph-treatment"),
        ("ITP dexamethasone or prednisone", "itp-first-line"),
    ],
)
def test_a_question_brings_its_decision_first(question, decision):
    assert for_plan(question).nodes[0].id == decision


@pytest.mark.requirement("CO-08")
def test_without_clinical_reasoning_there_is_no_hard_data():
    assert not for_plan("what is the first line drug for type 2 diabetes?", clinical=False)


@pytest.mark.parametrize("question", ["hello", "thanks!", "ulcerative colitis maintenance", ""])
def test_a_question_about_something_else_brings_nothing(question):
    assert not for_plan(question)


def test_what_comes_is_bounded_and_labelled():
    everything = " ".join(
        term for item in specialties() for node in item.nodes for term in node.terms
    )
    found = for_plan(everything + " sodium potassium hba1c tsh cbc cmp lipids lft")
    assert len(found.ranges) <= 15
    assert len(found.nodes) <= 8
    assert len(found.textbooks) <= 30
    assert all(len(node.papers) <= 2 for node in found.nodes)
    assert found.labels
    assert all("not clinically reviewed" in label for label in found.labels)


def test_an_asked_range_comes_first_with_critical_limits_and_source():
    line = for_plan("normal potassium in CKD?").ranges[0].line()
    assert line.startswith("Potassium: 3.5 to 5.0 mmol/L; critical < 3.0 or > 6.1")
    assert "American Board of Internal Medicine" in line


def test_ranges_suit_the_population_asked_about():
    women = next(e for e in for_plan("hemoglobin in anemia").ranges if e.analyte == "hemoglobin")
    assert [row.population for row in women.rows] == ["women", "men"]
    pregnant = next(
        e for e in for_plan("hemoglobin in pregnancy").ranges if e.analyte == "hemoglobin"
    )
    assert "pregnancy" in [row.population for row in pregnant.rows]
    child = next(
        e for e in for_plan("hemoglobin in children, anemia").ranges if e.analyte == "hemoglobin"
    )
    assert "0.5 to under 2 years" in [row.population for row in child.rows]


def test_an_unknown_specialty_is_an_error_that_lists_the_known():
    with pytest.raises(NotFound, match="cardiology"):
        specialty("astrology")


def test_generic_words_alone_bring_nothing():
    assert not for_plan("what is the target and timing of treatment, severe, early")
    assert hard_data._GENERIC
