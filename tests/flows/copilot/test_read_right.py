"""Questions once read wrongly: names of two kinds, pronouns, plurals, what only looks like a slip."""

from __future__ import annotations

import importlib.util
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bedside.core.context import Item
from bedside.flows.copilot import COPILOT
from bedside.flows.copilot.modes import MODES
from bedside.flows.copilot.tools.sheet import words_in

_spec = importlib.util.spec_from_file_location("cases", Path(__file__).with_name("conftest.py"))
cases = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(cases)
turn = cases.turn


def said(text: str, facts, *before: str, **options) -> str:
    """The answer by rule, else the extractive one; `before` are earlier questions."""
    history = tuple(Item(one, key=f"m{at}") for at, one in enumerate(before))
    view = turn(text, facts, history=history, options=tuple(options.items()))
    draft = COPILOT.answer(view) or COPILOT.next(view).unaided(view)
    return draft.text


def medicine(record, name: str, status: str, day: str, **fields):
    shown = f"{int(day[8:])} {datetime.fromisoformat(day):%b %Y}"
    record.add("medications", f"{name}: {status}, ordered {shown}", name, day=day, status=status,
               **fields)  # fmt: skip


def jab(record, name: str, day: str):
    record.add("immunizations", f"{name}: given (completed)", name, day=day, status="completed")


@pytest.fixture
def chart(record):
    jab(record, "Hep B, adult", "2019-01-08")
    jab(record, "rotavirus, monovalent", "2015-01-28")
    for day in ("1965-03-16", "1965-05-18", "1969-11-18"):
        jab(record, "IPV", day)
    record.add("procedures", "Colonoscopy: done 7 Mar 2018", "Colonoscopy", day="2018-03-07",
               status="completed")  # fmt: skip
    record.add(
        "procedures", "Insertion of intrauterine contraceptive device: done 8 Jul 2016",
        "Insertion of intrauterine contraceptive device", day="2016-07-08", status="completed",
    )  # fmt: skip
    record.add(
        "conditions", "Streptococcal sore throat: resolved; since 9 Feb 2017; ended 17 Feb 2017",
        "Streptococcal sore throat", day="2017-02-09", status="resolved",
        end=datetime(2017, 2, 17, tzinfo=UTC),
    )  # fmt: skip
    record.add("observations", "HIV status: HIV positive (10 Nov 1997, final)", "HIV status",
               day="1997-11-10", text_value="HIV positive", status="final")  # fmt: skip
    medicine(record, "Penicillin V Potassium 250 MG Oral Tablet", "stopped", "2017-02-09",
             reasons=("Streptococcal sore throat",))  # fmt: skip
    medicine(record, "Ferrous sulfate 325 MG Oral Tablet", "active", "2004-09-08")
    medicine(record, "Levora 0.15/30 28 Day Pack", "stopped", "2019-09-28")
    medicine(record, "Losartan 50 MG Oral Tablet", "active", "2025-03-03")
    medicine(record, "Furosemide 40 MG Oral Tablet", "active", "2025-03-04")
    return record.build()


def test_a_name_of_two_kinds_is_of_the_kind_of_the_one_beside_it(chart):
    text = said("rotavirus and hep B: how many of each", chart)
    assert "Hep B, adult" in text
    assert "Not recorded" not in text


def test_a_problem_that_stands_among_the_results_is_found_there(chart):
    text = said("HIV positive?", chart)
    assert "HIV status: HIV positive (10 Nov 1997, final)" in text
    assert "Not recorded" not in text


def test_it_is_the_medicine_spoken_of_and_not_every_medicine(chart):
    text = said("is she still taking it?", chart, "When did she start Levora?")
    assert "Levora" in text
    assert "Ferrous" not in text


def test_how_was_that_treated_asks_for_what_was_ordered(chart):
    assert "Penicillin V" in said("how was that treated", chart, "Did she ever have strep?")


def test_dates_in_the_plural_are_all_told(chart):
    text = said("polio jabs dates", chart)
    assert all(day in text for day in ("16 Mar 1965", "18 May 1965", "18 Nov 1969"))


def test_how_long_it_lasted_is_from_and_to_and_not_when_it_began_alone(chart):
    text = said("how long did the strep throat last", chart)
    assert "from 9 Feb 2017 to 17 Feb 2017" in text


def test_the_age_at_an_event_is_worked_out(chart):
    assert "58 years old" in said("how old was she at her last colonoscopy?", chart)


def test_penicillin_is_any_penicillin(chart):
    assert "Penicillin V" in said("has she had penicillin?", chart)


def test_a_device_once_put_in_is_not_said_to_be_in_still(chart):
    text = said("is the coil still in", chart)
    assert "8 Jul 2016" in text
    assert not text.startswith("Yes")


def test_hormone_replacement_is_no_contraceptive(chart):
    assert "Levora" not in said("is she on HRT", chart)


def test_the_level_of_a_medicine_is_no_question_whether_it_is_taken(chart):
    view = turn("furosemide level", chart)
    assert COPILOT.answer(view) is None


def test_medicines_that_raise_a_result_are_named_by_their_rule(chart):
    text = said("which of her medicines raise potassium?", chart)
    assert "Losartan 50 MG Oral Tablet: angiotensin receptor blockers raise potassium" in text
    assert "Furosemide 40 MG Oral Tablet: " not in text.split("By rule")[1].split("\n")[0]


def test_a_word_that_no_repair_makes_known_is_shown_as_typed(chart):
    text = said("any Cheyne-Stokes breathing?", chart)
    assert "Smoking" not in text


def test_a_score_is_said_not_to_be_worked_out(chart):
    assert "Not recorded: CHA2DS2-VASc. It is not worked out here." in said("CHA2DS2-VASc?", chart)


def test_which_procedures_were_operations_is_not_known(chart):
    assert "is not marked in this record" in said("any operations ever", chart)


def test_a_recorded_absence_of_drug_allergy_is_said_of_a_medicine(record):
    line = "No known drug allergy: allergy, active, confirmed; recorded 5 Jan 2024"
    record.add("allergies", line, "No known drug allergy", day="2024-01-05", status="active")
    facts = record.build()
    assert "positively states: No known drug allergy" in said("allergic to penicillin?", facts)
    assert "positively states" not in said("allergic to latex?", facts)


@pytest.mark.parametrize(
    ("name", "status", "counts"),
    [
        ("No known drug allergies", "active", True),
        ("No known drug allergies", "inactive", False),
        ("No known allergy to medical adhesive", "active", False),
    ],
)
def test_a_statement_of_absence_hides_no_recorded_allergy_and_stands_no_longer_when_over(
    record, name, status, counts
):
    line = f"{name}: allergy, {status}, confirmed; recorded 5 Jan 2015"
    record.add("allergies", line, name, day="2015-01-05", status=status)
    line = "Penicillin: allergy, active, confirmed; recorded 5 Jan 2024"
    record.add("allergies", line, "Penicillin", day="2024-01-05", status="active")
    text = said("allergic to codeine?", record.build())
    assert ("positively states" in text) is counts
    assert "Recorded allergies: Penicillin" in text


@pytest.mark.parametrize("text", ["DNR?", "Is CPR to be given?", "summarise this patient"])
def test_an_order_not_to_resuscitate_is_told_where_it_is_spoken_of(record, text):
    line = "Cardiopulmonary resuscitation: DO NOT PERFORM, active order of 1 Jan 2024"
    record.add("alerts", line, "Cardiopulmonary resuscitation", day="2024-01-01", status="active")
    facts = record.build()
    assert line in said(text, facts)
    assert "matched to" not in said(text, facts)
    assert line not in said("what is her blood pressure?", facts)


@pytest.mark.requirement("CO-06")
@pytest.mark.parametrize("mode", ["casual", "default"])
@pytest.mark.parametrize(
    "text",
    [
        "list all her vaccines",
        "what medicines is she on and what are her problems",
        "everything about her heart and her kidneys please",
        "meds, allergies, vaccines, procedures",
    ],
)
def test_an_answer_keeps_to_the_words_of_its_mode(chart, text, mode):
    assert words_in(said(text, chart, mode=mode)) <= MODES[mode].words


@pytest.mark.requirement("EN-R3")
def test_an_order_not_to_give_a_medicine_is_told_wherever_it_is_asked_about(record):
    record.add(
        "alerts", "Ibuprofen 400 MG Oral Tablet: DO NOT GIVE, active, ordered 3 Mar 2025",
        "Ibuprofen 400 MG Oral Tablet", day="2025-03-03", status="active",
        verification="do-not-perform",
    )  # fmt: skip
    facts = record.build()
    for text in ("is she on ibuprofen?", "can I give her ibuprofen?", "any alerts?"):
        assert "DO NOT GIVE" in said(text, facts)


def test_allergies_of_one_sort_are_not_listed_as_all_of_them(record):
    asked = "which food allergies does she have"
    assert COPILOT.answer(turn(asked, record.build())).text.startswith("No allergies are recorded.")
    for name in ("Allergy to peanuts", "Allergy to grass pollen"):
        record.add("allergies", f"{name}: allergy, active", name, day="2015-10-15", status="active")
    assert COPILOT.answer(turn(asked, record.build())) is None
    assert "2 allergies recorded" in COPILOT.answer(turn("allergies?", record.build())).text


def test_a_combined_medicine_is_found_by_its_brand(record):
    medicine(record, "Yaz 28 Day Pack", "stopped", "2013-03-02")
    assert "in the past: Yaz 28 Day Pack" in said("is she on Yaz?", record.build())
