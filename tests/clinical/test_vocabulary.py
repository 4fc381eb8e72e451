"""The vocabulary bridge: what people write finds what clinicians wrote."""

from __future__ import annotations

import pytest

from bedside.clinical import vocabulary
from bedside.clinical.vocabulary import canonical, expand, spellings, vocabulary_packs
from bedside.language.stems import STOP_WORDS


def replacements(text: str) -> dict[str, float]:
    return {item.replacement.casefold(): item.weight for item in expand(text)}


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("HTN", "hypertension"),
        ("htn control", "hypertension"),
        ("CKD stage 3", "chronic kidney disease"),
        ("SOB", "dyspnea"),
        ("T2DM", "type 2 diabetes mellitus"),
        ("new AF", "atrial fibrillation"),
        ("COPD", "chronic obstructive pulmonary disease"),
        ("heart attack", "myocardial infarction"),
        ("water pill", "diuretic"),
        ("blood thinners", "anticoagulant"),
        ("high blood pressure", "hypertension"),
        ("hypertension", "htn"),
        ("anaemia", "anemia"),
        ("anemia", "anaemia"),
        ("haemoglobin", "hemoglobin"),
        ("peripheral oedema", "edema"),
        ("Lasix", "furosemide"),
        ("kidney stones", "nephrolithiasis"),
        ("acetaminophen", "paracetamol"),
        ("oesophageal", "esophageal"),
        ("short of breath", "dyspnea"),
        ("diarrhoea", "diarrhea"),
    ],
)
def test_a_phrase_brings_its_other_names(text, wanted):
    assert wanted in replacements(text)


@pytest.mark.parametrize("ordinary", sorted(STOP_WORDS))
def test_a_word_of_every_question_stands_for_nothing_else(ordinary):
    assert not replacements(f"{ordinary} metformin").keys() - replacements("metformin").keys()


def test_an_abbreviation_that_is_also_a_word_keeps_its_capitals_in_the_plural():
    assert replacements("DOE on stairs").keys() == {"dyspnea on exertion", "dyspnoea on exertion"}
    assert "dyspnea on exertion" in replacements("many DOEs")
    assert not expand("why does it happen")


@pytest.mark.parametrize(
    ("text", "meaning", "other"),
    [
        ("MS with optic neuritis relapse", "multiple sclerosis", "mitral stenosis"),
        ("MS, loud murmur over the valve", "mitral stenosis", "multiple sclerosis"),
        ("RA, swollen joints on methotrexate", "rheumatoid arthritis", "right atrium"),
        ("PE on CTPA", "pulmonary embolism", "physical examination"),
        ("PD catheter, dialysis", "peritoneal dialysis", "parkinson disease"),
        (
            "BPD, self harm and mood",
            "borderline personality disorder",
            "bronchopulmonary dysplasia",
        ),
        (
            "CIN after contrast",
            "contrast-induced nephropathy",
            "cervical intraepithelial neoplasia",
        ),
        ("left AMA last night", "against medical advice", "antimitochondrial antibody"),
        ("SAM with outflow obstruction", "systolic anterior motion", "severe acute malnutrition"),
    ],
)
def test_context_decides_an_ambiguous_abbreviation(text, meaning, other):
    found = replacements(text)
    assert found[meaning] > 0.5
    assert other not in found


def test_an_ambiguous_abbreviation_without_context_gives_all_its_meanings_lightly():
    found = replacements("MS")
    assert {"multiple sclerosis", "mitral stenosis"} <= set(found)
    assert max(found.values()) <= 0.3


@pytest.mark.parametrize(
    "text",
    [
        "5 mg daily",
        "10 mm polyp",
        "all of it",
        "Ms Smith and Mr Jones",
        "a cap on it",
        "dr patel",
        "he has bled twice",
        "a peep at it",
        "it ain't so",
        "RhD negative",
        "act on it",
    ],
)
def test_words_that_look_like_abbreviations_are_left_alone(text):
    assert expand(text) == ()


def test_expansions_point_at_the_words_they_stand_for():
    text = "Hx of MI, now SOB"
    for item in expand(text):
        assert text[item.start : item.end] == item.term
        assert 0 < item.weight <= 1


@pytest.mark.parametrize(
    ("term", "name"),
    [
        ("HTN", "hypertension"),
        ("high BP", "hypertension"),
        ("Hypertension", "hypertension"),
        ("Anaemia", "anemia"),
        ("frusemide", "furosemide"),
        ("Lasix", "furosemide"),
        ("heart attack", "myocardial infarction"),
        ("sugar disease", "diabetes mellitus"),
        ("MS", "ms"),
        ("  Something   Else ", "something else"),
    ],
)
def test_canonical_names(term, name):
    assert canonical(term) == name


def test_canonical_of_a_canonical_name_is_itself():
    heads = [group[0] for group in vocabulary._synonyms().groups]
    for head in heads:
        once = canonical(head)
        assert canonical(once) == once


def test_spellings_of_one_word():
    assert spellings("haemorrhage") == ("hemorrhage",)
    assert "haemorrhage" in spellings("hemorrhage")
    assert spellings("chemistry") == ()
    assert spellings("laboratory") == ()
    assert spellings("literature") == ()
    assert spellings("angioedema") == ()
    assert spellings("gastroesophageal") == ()


def test_the_tables_are_large_cited_and_labelled():
    short = vocabulary._abbreviations()
    assert len(short.plain) + len(short.ambiguous) >= 400
    assert len(vocabulary._lay().terms) >= 100
    assert len(vocabulary._synonyms().groups) >= 120
    for pack in vocabulary_packs():
        assert pack.source
        assert pack.licence
        assert "not clinically reviewed" in pack.label
