"""CO-10: results in plain words, at a reading grade of 8 or below, with when to seek help."""

from __future__ import annotations

import re

import pytest

from bedside.clinical.analytes import analytes
from bedside.flows.copilot.plain import (
    evidence_for,
    evidence_pack,
    explain,
    persona,
    plain_result,
    plain_results,
    result_pack,
)


def syllables(word: str) -> int:
    """Vowel groups, less a silent final e; at least one."""
    word = re.sub(r"[^a-z]", "", word.lower())
    groups = len(re.findall(r"[aeiouy]+", word))
    if word.endswith("e") and not word.endswith(("le", "ee", "ie")) and groups > 1:
        groups -= 1
    if word.endswith("ed") and not word.endswith(("ted", "ded")) and groups > 1:
        groups -= 1
    return max(groups, 1)


def grade(text: str) -> float:
    """Flesch-Kincaid grade: 0.39 words per sentence + 11.8 syllables per word - 15.59."""
    sentences = [s for s in re.split(r"[.!?]+(?:\s|$)", text) if s.strip()]
    said = re.findall(r"[A-Za-z][A-Za-z'-]*", text)
    return 0.39 * len(said) / len(sentences) + 11.8 * sum(map(syllables, said)) / len(said) - 15.59


def test_the_reading_grade_is_measured_rightly():
    """Hand-counted: 8 words, 10 syllables, one sentence; and a long-worded one."""
    assert grade("The cat sat on a very little mat.") == pytest.approx(
        0.39 * 8 + 11.8 * 10 / 8 - 15.59
    )
    assert grade("Hyperkalemia necessitates immediate electrocardiographic evaluation.") > 20


@pytest.mark.requirement("CO-10")
@pytest.mark.parametrize("item", plain_results(), ids=lambda item: item.analyte)
def test_every_text_reads_at_grade_eight_or_below(item):
    text = f"{item.what} {item.normal} {item.high} {item.low} {item.seek}"
    assert grade(text) <= 8.0
    for part in (item.high, item.low, item.seek):
        assert grade(part) <= 10.0, part


def test_at_least_sixty_analytes_have_all_their_texts():
    known = {item.key for item in analytes()}
    assert len(plain_results()) >= 60
    for item in plain_results():
        assert item.analyte in known
        for part in (item.what, item.normal, item.high, item.low, item.seek):
            assert part.endswith("."), item.analyte
        assert item.source.startswith("MedlinePlus: ")
        assert item.label == result_pack().label
        assert "not clinically reviewed" in item.label


def test_the_persona_and_the_evidence_read_plainly_too():
    assert grade(persona()) <= 8.0
    found = evidence_for("my blood pressure, cholesterol and sugar")
    assert len(found) >= 3
    for item in found:
        assert grade(item.text) <= 9.0, item.text
        assert re.search(r"doi:10\.\d{4}/\S+|PMID \d{6,8}", item.source)
    assert evidence_pack().review_status == "unreviewed"


@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        ("why do I need a blood thinner for AF?", "af-blood-thinner"),
        ("my T2DM", "metformin-helps"),
        ("gout tablets", "gout-tablets"),
        ("weak heart", "heart-failure-tablets"),
    ],
)
def test_questions_bring_the_evidence_that_fits(question, wanted):
    assert wanted in [item.id for item in evidence_for(question)]


def test_no_evidence_is_made_up_for_other_topics():
    assert evidence_for("my broken toe") == ()


def test_results_are_found_by_key_code_and_name():
    potassium = plain_result("potassium")
    assert potassium is not None
    assert plain_result("6298-4") == potassium
    assert plain_result("Potassium [Moles/volume] in Serum or Plasma") == potassium
    assert plain_result("zzyzx") is None


def test_an_explanation_follows_the_flag_and_never_hides_what_is_unknown():
    high = explain("potassium", "high")
    assert high is not None
    assert "Weak kidneys" in high
    critical = explain("potassium", "critical_high")
    assert critical is not None
    assert "Call your doctor today" in critical
    assert explain("potassium", "normal") != high
    unknown = explain("potassium", None)
    assert unknown is not None
    assert "can not tell" in unknown
    assert explain("zzyzx", "high") is None
