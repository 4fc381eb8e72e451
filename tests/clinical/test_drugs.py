"""Medicines are recognised as records, prescriptions and questions write them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bedside.clinical.drugs import (
    brand_names,
    class_name,
    class_of,
    drug,
    drugs,
    drugs_in,
    find_classes,
    find_drugs,
    generic_of,
    ingredients_of,
)
from bedside.core.errors import NotFound

# Read by eye from the record strings: the active ingredients each one names.
RECORD_STRINGS = {
    "Simvastatin 20 MG Oral Tablet": ("simvastatin",),
    "24 HR Metformin hydrochloride 500 MG Extended Release Oral Tablet": ("metformin",),
    "Amoxicillin 250 MG / Clavulanate 125 MG Oral Tablet": ("amoxicillin", "clavulanate"),
    "Acetaminophen 300 MG / HYDROcodone Bitartrate 5 MG [Vicodin]": (
        "acetaminophen",
        "hydrocodone",
    ),
    "60 ACTUAT Fluticasone propionate 0.25 MG/ACTUAT / salmeterol 0.05 MG/ACTUAT Dry Powder Inhaler": (
        "fluticasone",
        "salmeterol",
    ),
    "168 HR Ethinyl Estradiol 0.00146 MG/HR / norelgestromin 0.00625 MG/HR Transdermal System": (
        "ethinyl estradiol",
        "norelgestromin",
    ),
    "24 HR metoprolol succinate 100 MG Extended Release Oral Tablet [Toprol]": ("metoprolol",),
    "NDA020800 0.3 ML Epinephrine 1 MG/ML Auto-Injector": ("epinephrine",),
    "Penicillin V Potassium 250 MG Oral Tablet": ("penicillin v",),
    "Yaz 28 Day Pack": ("ethinyl estradiol", "drospirenone"),
    "Camila 28 Day Pack": ("norethindrone",),
    "Simvistatin 10 MG": ("simvastatin",),
    "Lasix 40mg": ("furosemide",),
    "Vitamin B 12 5 MG/ML Injectable Solution": ("cyanocobalamin",),
    "diphenhydrAMINE Hydrochloride 25 MG Oral Tablet": ("diphenhydramine",),
    "24hr nicotine transdermal patch": ("nicotine",),
}


@pytest.mark.parametrize(("text", "ingredients"), RECORD_STRINGS.items())
def test_record_strings_give_their_ingredients(text, ingredients):
    assert ingredients_of(text) == ingredients


def test_every_medicine_of_the_sample_records_is_recognised(shared_data: Path):
    names = set()
    for path in sorted((shared_data / "records" / "synthea_r4").glob("*.json")):
        for entry in json.loads(path.read_text(encoding="utf-8"))["entry"]:
            resource = entry["resource"]
            concept = resource.get("medicationCodeableConcept")
            if concept:
                names.add(concept.get("text") or concept["coding"][0]["display"])
    assert len(names) > 60
    assert [name for name in sorted(names) if not find_drugs(name)] == []


def test_mentions_carry_exact_places():
    text = "Stop Lasix; start Entresto 49/51 bd, keep atorvastatin."
    found = find_drugs(text)
    assert [text[m.start : m.end] for m in found] == ["Lasix", "Entresto", "atorvastatin"]
    assert [m.generic for m in found] == ["furosemide", "sacubitril-valsartan", "atorvastatin"]
    assert [m.brand for m in found] == [True, True, False]


@pytest.mark.parametrize(
    "text",
    [
        "Yasmin came in with her daughter Heather.",
        "She sleeps in a tide of worry, takes a pause, and pans for gold.",
        "The principal questions of the program are mental and systolic.",
        "potassium, sodium and calcium were normal",
        "",
    ],
)
def test_ordinary_words_are_not_medicines(text):
    assert find_drugs(text, repair=True) == ()


def test_a_brand_that_is_a_name_counts_beside_a_dose():
    assert find_drugs("Pan 40 mg before breakfast")[0].generic == "pantoprazole"
    assert find_drugs("He broke the pan") == ()


@pytest.mark.parametrize(
    ("typed", "generic"),
    [
        ("metfromin", "metformin"),
        ("lisinoprl", "lisinopril"),
        ("atorvastatn", "atorvastatin"),
        ("amoxicilin", "amoxicillin"),
        ("hydrochlorthiazide", "hydrochlorothiazide"),
        ("levothyroxin", "levothyroxine"),
        ("clopidogrell", "clopidogrel"),
        ("gabapentn", "gabapentin"),
    ],
)
def test_slips_of_the_keyboard_are_read_when_asked_for(typed, generic):
    assert [m.generic for m in find_drugs(f"is he on {typed}?", repair=True)] == [generic]


def test_misspellings_are_left_alone_unless_asked_for_and_are_marked():
    assert find_drugs("is he on lisinoprl?") == ()
    assert find_drugs("is he on lisinoprl?", repair=True)[0].exact is False


@pytest.mark.parametrize(
    ("name", "generic"),
    [
        ("Crocin", "acetaminophen"),
        ("paracetamol", "acetaminophen"),
        ("GLYCOMET", "metformin"),
        ("Eltroxin", "levothyroxine"),
        ("co-amoxiclav", "amoxicillin-clavulanate"),
        ("Ventolin", "salbutamol"),
        ("albuterol", "salbutamol"),
        ("Coumadin", "warfarin"),
        ("frusemide", "furosemide"),
        ("rifampicin", "rifampin"),
        ("Forxiga", "dapagliflozin"),
    ],
)
def test_brands_and_national_names_lead_to_one_generic(name, generic):
    assert generic_of(name) == generic


def test_unknown_names_are_none_not_guesses():
    assert generic_of("zzyzx") is None
    assert class_of("zzyzx") == ()
    with pytest.raises(NotFound):
        drug("zzyzx")


def test_classes_of_single_and_combined_medicines():
    assert class_of("lisinopril") == ("ace_inhibitor",)
    assert set(class_of("Janumet")) == {"biguanide", "dpp4"}
    assert class_name("ace_inhibitor") == "ACE inhibitor"
    assert {"ramipril", "lisinopril"} <= set(drugs_in(["ace_inhibitor"]))
    assert "metformin" not in drugs_in(["ace_inhibitor"])


@pytest.mark.parametrize(
    ("text", "member", "stranger"),
    [
        ("is she on a blood thinner", "warfarin", "aspirin"),
        ("any statins?", "simvastatin", "fenofibrate"),
        ("which BP meds", "lisinopril", "metformin"),
        ("on any ACEi or ARBs", "ramipril", "amlodipine"),
        ("water pill?", "furosemide", "tamsulosin"),
        ("taking painkillers", "ibuprofen", "sertraline"),
        ("diabetes medication", "metformin", "levothyroxine"),
    ],
)
def test_words_for_groups_lead_to_their_members(text, member, stranger):
    members = drugs_in(key for mention in find_classes(text) for key in mention.classes)
    assert member in members
    assert stranger not in members


def test_the_table_is_large_and_whole():
    table = drugs()
    assert len(table) >= 350
    assert len(brand_names()) >= 600
    for item in table:
        assert item.classes, item.generic
        for key in item.classes:
            assert class_name(key)
        assert generic_of(item.generic) == item.generic
        assert item.generic == item.generic.lower()


def test_combinations_and_groups_name_only_known_medicines_and_classes():
    from bedside.clinical import drugs as module

    known = {item.generic for item in drugs()}
    for product in module._file().combinations.values():
        assert set(product.of) <= known
    classes = set(module._file().classes)
    for group in module._groups().groups.values():
        assert set(group.classes) <= classes
