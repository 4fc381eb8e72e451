"""The made-up people of the intake measure: seeded, told apart from the product, and understood."""

from __future__ import annotations

from pathlib import Path

import pytest

from bedside.evals.intake_persona import facts_file, people, persona, required
from bedside.evals.intake_simulate import question_of, topic_of
from bedside.sop.find import find

SHARED = Path(__file__).parents[2] / "../shared/data"
PROCEDURES = ("TKR", "THR", "ACL", "CABG", "IVF", "CATARACT")


def test_the_same_seed_makes_the_same_person() -> None:
    one, again = (persona("x", "sop", "TKR", seed=5) for _ in range(2))
    assert one == again
    assert persona("x", "sop", "TKR", seed=6) != one


@pytest.mark.parametrize("name", PROCEDURES)
def test_a_plain_person_knows_everything_that_is_required(name: str) -> None:
    contract = find(name)
    one = persona("x", "sop", name, seed=3, plain=True, language="en")
    mandatory = {field.id for field in contract.fields if field.when != "optional"}
    assert set(required(one)) == mandatory


@pytest.mark.parametrize("language", ["en", "ar", "hi"])
@pytest.mark.parametrize("name", PROCEDURES)
def test_every_question_of_a_contract_is_understood_by_its_words(name: str, language: str) -> None:
    misread = {
        field.id: topic_of(field.ask[language])
        for field in find(name).fields
        if language in field.ask and topic_of(field.ask[language]) != field.id
    }
    assert misread == {}


def test_the_last_question_counts_and_an_abbreviation_ends_no_sentence() -> None:
    assert (
        question_of("Is it far? Which country do you live in?") == "Which country do you live in?"
    )
    assert (
        topic_of("धन्यवाद। क्या कोई और बीमारी है, जैसे शुगर, हाई बी.पी., दिल या किडनी की बीमारी?")
        == "key_comorbidities"
    )
    assert topic_of("Thank you.") == ""
    assert topic_of("Do you like tea?") == "?"


def test_what_is_refused_or_unknown_is_no_truth() -> None:
    some = [persona(f"p{seed}", "sop", "TKR", seed=seed, language="en") for seed in range(60)]
    assert any(one.refuses for one in some)
    assert any(one.doubts for one in some)
    assert any(one.wrong for one in some)
    for one in some:
        assert not set(one.facts) & (one.refuses | one.doubts)
        for name, first in one.wrong.items():
            assert first.truth != one.facts[name].truth


def test_phrases_say_the_value_that_they_stand_for() -> None:
    # A check of the data by eye's rule: a money phrase holds its number or its Indian form.
    for one in facts_file()["fields"]["budget"]["values"]:
        assert one["value"]["currency"] in {"INR", "USD", "EUR", "KES"}
        assert one["say"]


def test_vignettes_lend_age_and_noise() -> None:
    if not (SHARED / "intake" / "mediq").is_dir():
        pytest.skip("the measuring data (intake/mediq) is not here")
    found = list(people(SHARED, each={"sop": 2, "mediq": 5, "agentclinic": 5}, seed=1))
    assert [one.source for one in found].count("mediq") == 5
    assert any(one.noise for one in found if one.source != "sop")
    assert all(
        sentence.split()[0].startswith(("I", "My", "my")) for one in found for sentence in one.noise
    )
