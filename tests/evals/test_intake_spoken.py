"""The conversations written by hand: read in full, nothing asked again, and their files hold together."""

from __future__ import annotations

import pytest

from bedside.evals.intake_grade import grade
from bedside.evals.intake_persona import required
from bedside.evals.intake_seat import Seat
from bedside.evals.intake_spoken import Speaker, speak, speakers
from bedside.sop.find import find

FILES = ("spoken", "spoken_fresh", "spoken_third")
PEOPLE = [(name, one["id"], one) for name in FILES for one in speakers(name)]
ASKED_AGAIN = {
    "question_answers",
    "year_not_age",
    "born_in",
    "all_at_once",
    "grumpy_repeat",
    "ivf_donor",
    "wife_rambles",
}
"""Who told an earlier operation, an age or an illness in passing; the rules ask once more."""


@pytest.mark.parametrize("body", [one for _, _, one in PEOPLE], ids=[name for _, name, _ in PEOPLE])
def test_a_persons_truth_covers_what_the_contract_requires(body) -> None:
    one = Speaker(body).persona
    contract = find(body["contract"])
    mandatory = {
        field.id for field in contract.fields if field.when != "optional" and field.only_if is None
    }
    assert mandatory <= set(one.facts) | one.refuses | {"partner_age"}
    assert set(required(one)) <= set(one.facts)
    said = {*body.get("answers", {}), *body["opening"].get("tells", ())}
    told = {name for later in body.get("later", ()) for name in later["tells"]}
    assert set(one.facts) <= said | told


@pytest.mark.parametrize(
    "body", [one for _, _, one in PEOPLE[::3]], ids=[name for _, name, _ in PEOPLE[::3]]
)
def test_rules_alone_hear_everything_and_ask_nothing_twice(body) -> None:
    found = grade(speak(Speaker(body), Seat(f"spoken-{body['id']}")))
    assert ({*found.wrong, *found.missing}, found.invented) == (set(), ())
    assert found.two_questions == ()
    assert found.matched == (body["contract"] != "_generic")
    if body["id"] not in ASKED_AGAIN:
        assert found.repeats == ()
