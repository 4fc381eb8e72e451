"""Presentations suggest the diagnosis to look under, and nothing is concluded from them."""

from __future__ import annotations

import pytest

from bedside.clinical.drugs import generic_of
from bedside.clinical.signs import Signs, signs
from bedside.clinical.vocabulary import canonical, expand
from bedside.knowledge.question import read_question


def suggested(text: str) -> set[str]:
    return {sign.diagnosis for sign in signs(text)}


@pytest.mark.parametrize(
    ("text", "diagnosis"),
    [
        ("erection lasting 6 hours in sickle cell disease", "priapism"),
        ("for five hours now he has had a painful erection", "priapism"),
        ("currant-jelly stool, drawing up the legs", "intussusception"),
        ("profuse rice-water stools since dawn", "cholera"),
        ("target lesions on the palms after herpes", "erythema multiforme"),
        ("cannot open his jaw, back arching", "tetanus"),
        ("barking cough at night", "croup"),
        ("tearing chest pain going through to the back", "aortic dissection"),
        ("a curtain came down over the vision of one eye", "retinal detachment"),
        ("pain began at the navel and moved to the right", "appendicitis"),
        ("silvery scales on both knees", "psoriasis"),
        ("foreskin stuck behind the glans", "paraphimosis"),
        ("weeks of cough with night sweats and weight loss", "tuberculosis"),
        ("drank kerosene from a bottle", "hydrocarbon poisoning"),
        ("droopy eyelids worse in the evening", "myasthenia gravis"),
    ],
)
def test_a_presentation_suggests_its_diagnosis(text, diagnosis):
    assert diagnosis in suggested(text)


@pytest.mark.parametrize(
    "text",
    [
        "no target lesions",
        "without rice-water stools",
        "denies tearing chest pain, calf swelling, or a barking cough",
        "fever",
        "fever and headache",
        "chest pain",
        "an erection problem. It took hours to see a doctor",
    ],
)
def test_what_is_denied_or_common_to_many_illnesses_suggests_nothing(text):
    assert suggested(text) == set()


def test_a_denial_ends_at_but_and_a_negation_at_a_comma():
    assert suggested("denies fever but has target lesions") == {"erythema multiforme"}
    assert suggested("no fever, target lesions on the hands") == {"erythema multiforme"}


@pytest.mark.parametrize(
    "text",
    [
        "It is cold outside and the clinic is closed",
        "He is fit and well",
        "the suit is a good fit",
        "no hot drinks before the test",
        "a joke about the runs scored",
        "she has a stomach for hard work",
        "the baby is due next week",
        "the rice was cooked in water and the stool was by the door",
        "jelly and custard for pudding",
        "bulls in the field",
        "a tick in the box",
        "a locked door",
        "stuck in traffic for hours",
        "the curtain in the room came down",
        "a band playing around the head office",
        "the elephant in the room",
        "she works in shifts and drives home",
        "the strawberry season",
        "the worm turned",
        "dogs barked all night",
        "what to eat during dialysis",
        "walk every morning for an hour",
        "a bag of shopping",
        "the ring on her finger is gold",
        "the board approved a rigid budget",
        "sandpaper for the wall",
        "silver jewellery",
        "the patient declined surgery",
        "the honey is golden",
        "how do I answer a smear campaign",
        "his eyes lit up",
        "the machine made a murmur",
        "milk and cheese prices",
        "the left shoulder of the road",
        "heavy traffic and a long delivery",
        "green waters of the lake",
        "the old man by the sea",
        "light in the room at night",
        "a cherry red car",
        "the snap election",
        "coffee on the ground floor",
        "shake hands with the visitors",
        "the drum and the ear of corn",
    ],
)
def test_a_common_phrase_of_another_meaning_stands_for_nothing_else(text):
    added = [one for one in expand(text, suggest=True) if one.kind in {"lay", "sign", "synonym"}]
    assert added == []


def test_only_who_asks_for_suggestions_gets_them_and_they_weigh_less_than_synonyms():
    text = "currant jelly stool"
    assert "intussusception" not in {one.replacement for one in expand(text)}
    (found,) = [one for one in expand(text, suggest=True) if one.replacement == "intussusception"]
    assert (found.kind, text[found.start : found.end]) == ("sign", "currant jelly")
    assert found.weight < 0.5
    assert canonical(text) == text
    assert generic_of(text) is None


def test_a_search_looks_under_the_suggested_diagnosis_too():
    question = read_question("erection lasting for hours")
    assert "priapism" in question.spoken
    assert question.text == "erection lasting for hours"
    assert 0 < question.terms["priapism"] < 0.5 < question.terms["erect"]


def test_a_presentation_of_small_words_alone_is_refused():
    with pytest.raises(ValueError, match="small words alone"):
        Signs({"nothing": ["of the"]}, small=["of", "the"])


def test_a_finding_that_is_a_name_of_its_own_suggests_no_other():
    assert suggested("How to diagnose chondrocalcinosis?") == set()
    assert suggested("chondrocalcinosis in the wrist on the film") == {"pseudogout"}
