"""A medicine that is thought of is held against what the patient takes and has."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import anyio
import pytest

from bedside.settings import load_settings
from bedside.wiring import Ask, build_engine


@pytest.fixture(scope="module")
def ask(demo_home: Path, tmp_path_factory: pytest.TempPathFactory):
    home = Path(shutil.copytree(demo_home, tmp_path_factory.mktemp("together") / "home"))
    environ = {"BEDSIDE_EMBEDDER": "none"}

    def asked(question: str, patient: str | None = None) -> dict[str, Any]:
        async def go() -> dict[str, Any]:
            engine = build_engine(load_settings(home=home, environ=environ))
            try:
                return await engine.asker.ask(
                    Ask(question=question, patient=patient), engine.local()
                )
            finally:
                await engine.close()

        return anyio.run(go)

    return asked


def test_a_painkiller_is_held_against_the_anticoagulant_and_the_heart(ask) -> None:
    turn = ask("can he have ibuprofen for his knee pain?", "demo-herrera")
    assert (
        "Ibuprofen with Apixaban 5 mg oral tablet: an NSAID with an anticoagulant" in turn["answer"]
    )
    assert "Ibuprofen and Heart failure with reduced ejection fraction" in turn["answer"]
    assert "Pain severity" not in turn["answer"]
    assert turn["removed"] == []
    cited = {one["source"]["id"] for one in turn["citations"]}
    assert "pack:interaction:anticoagulant-nsaid" in cited


def test_of_a_table_in_steps_only_the_patients_own_step_is_quoted_where_not_all_fit(ask) -> None:
    answer = ask("Is metformin still safe for her?", "demo-adeyemi")["answer"]  # eGFR 37
    assert "eGFR: 30 to 44; Metformin: do not start; halve the dose" in answer
    assert "full dose" not in answer
    assert "contraindicated" not in answer


def test_what_bears_on_an_organ_comes_with_the_reading_before(ask) -> None:
    answer = ask("how have her kidneys been since spring?", "demo-adeyemi")["answer"]
    assert "37 mL/min/1.73m2 on 5 Nov 2026" in answer
    assert "before that 40 mL/min/1.73m2 on 12 May 2026" in answer


def test_a_question_on_vaccines_is_not_answered_with_lipids(ask) -> None:
    answer = ask("which vaccines does a 68 year old with diabetes need?")["answer"]
    assert "statin" not in answer


@pytest.mark.parametrize(
    "question",
    ["Any drug interactions?", "Any dangerous combinations in his meds?", "do his meds clash"],
)
def test_interactions_asked_for_are_those_of_the_current_medicines(ask, question) -> None:
    answer = ask(question, "demo-whitfield")["answer"]
    first = answer.splitlines()[0]
    assert "Trimethoprim 200 mg oral tablet and Methotrexate 2.5 mg oral tablet" in first
    assert "bone-marrow suppression" in first
    assert "not thereby safe" in answer
    assert "No rule of the tables" in ask("do her meds interact?", "demo-adeyemi")["answer"]


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("are his meds interacting", "bone-marrow suppression"),
        ("are his bloods deranged?", "Alanine aminotransferase was 96 U/L"),
    ],
)
def test_that_no_rule_speaks_is_said_only_where_the_rules_were_asked(ask, question, told) -> None:
    answer = ask(question, "demo-whitfield")["answer"]
    assert told in answer
    assert "No rule" not in answer


def test_what_is_grave_in_other_entries_is_told_in_a_plan(ask) -> None:
    answer = ask("Plan for her next antenatal visit", "demo-chow")["answer"]
    assert "meets the criteria of preeclampsia" in answer.split("Also in the record")[0]


@pytest.mark.parametrize(
    ("question", "heading"),
    [
        ("first line for new onset AF rate control", "Rate control"),
        ("warfarin INR target AF", "Warfarin"),
        ("gold groups copd", "Groups"),
        ("copd exacerbation prednisolone how long", "Treat"),
    ],
)
def test_the_section_that_the_question_names_stands_first(ask, question, heading) -> None:
    first = ask(question)["answer"].splitlines()[0]
    assert first.split(", ")[1:-1] == [heading]


def test_trials_of_treatment_are_no_answer_to_what_a_disease_is(ask) -> None:
    assert "Papers:" in ask("first line treatment of rheumatoid arthritis")["answer"]
    assert "Papers:" not in ask("Diagnostic criteria for rheumatoid arthritis")["answer"]


def test_a_medicine_that_is_monitored_is_told_with_its_tests_and_their_days(ask) -> None:
    # BSR/BHPR 2017: blood count, ALT and kidney function every 12 weeks; all done 61 days before
    answer = ask("is his MTX being monitored properly", "demo-whitfield")["answer"]
    assert "ALT at least every 12 weeks: in time" in answer
    assert "96 U/L, above its range" in answer


def test_what_results_meet_is_told_where_the_problem_is_not_listed(ask) -> None:
    turn = ask("does she have preeclampsia", "demo-chow")
    assert turn["answer"].startswith("Not recorded: preeclampsia")
    assert "158 mmHg" in turn["answer"]
    assert "meets the criteria of preeclampsia" in turn["answer"]
    assert turn["removed"] == []


def test_a_sentence_for_another_age_is_not_quoted(ask) -> None:
    answer = ask("Does she need a statin?", "demo-adeyemi")["answer"]  # 68 years, eGFR 37
    assert "Adults of 50 years or more with an eGFR below 60: a statin" in answer
    assert "18 to 49" not in answer
