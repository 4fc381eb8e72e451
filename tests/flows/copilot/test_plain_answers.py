"""CO-10: whole answers for patients, held to a reading grade of 8 by a second measure."""

from __future__ import annotations

import importlib.util
import re
from dataclasses import replace
from pathlib import Path

import pytest

from bedside.evals.copilot import Bench
from bedside.flows.copilot import COPILOT
from bedside.flows.copilot.plain_writer import plain_problem

_spec = importlib.util.spec_from_file_location("cases", Path(__file__).with_name("conftest.py"))
cases = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(cases)
turn = cases.turn

PATIENT = (("audience", "patient"),)
QUESTIONS = (
    "what is my HbA1c?",
    "is my kidney ok?",
    "what medicines am I on",
    "what am I allergic to",
    "do I have high blood pressure?",
    "is my blood sugar normal",
    "what is my cholesterol",
    "can I take ibuprofen?",
    "should I stop my tablets?",
    "what shots have I had",
    "summary of my health",
    "why am I tired",
    "what is my blood pressure",
    "is my hemoglobin low",
    "what is wrong with my heart",
)
PATIENTS = 8


def syllables(word: str) -> int:
    """Runs of vowels, one less for a last e that is not said; at least one."""
    low = re.sub(r"[^a-z]", "", word.lower())
    runs = len(re.findall(r"[aeiouy]+", low))
    silent = low.endswith("e") and not low.endswith(("le", "ee", "ie"))
    return max(1, runs - (1 if silent and runs > 1 else 0))


def grade(text: str) -> float:
    """Flesch-Kincaid: 0.39 words a sentence and 11.8 syllables a word, less 15.59.

    A line is a sentence of its own, as it is to a reader; a figure is no word.
    """
    bare = re.sub(r"\[\d+\]", "", text)
    parts = [one for one in re.split(r"[.!?:](?:\s|$)|\n", bare) if re.search(r"[A-Za-z]", one)]
    said = [word for one in parts for word in re.findall(r"[A-Za-z][A-Za-z'-]*", one)]
    return 0.39 * len(said) / len(parts) + 11.8 * sum(map(syllables, said)) / len(said) - 15.59


def answer(view) -> str:
    step = COPILOT.next(view)
    return (COPILOT.answer(view) or step.unaided(view)).text


@pytest.fixture(scope="module")
def bench(shared_data, tmp_path_factory):
    made = Bench(shared_data / "records" / "synthea_r4", tmp_path_factory.mktemp("plain"))
    yield made
    made.close()


def test_the_measure_knows_plain_from_hard():
    assert grade("The cat sat on the mat.") < 1
    assert grade("Hyperkalaemia necessitates immediate electrocardiographic evaluation.") > 20


@pytest.mark.slow
@pytest.mark.requirement("CO-10")
@pytest.mark.timeout(300)
def test_whole_answers_to_patients_read_at_grade_eight_or_below(bench):
    patients = sorted(set(bench._patients.values()))[:PATIENTS]
    grades = {}
    for patient in patients:
        for question in QUESTIONS:
            view = bench.view(question, patient)
            view = replace(view, request=replace(view.request, options=PATIENT))
            grades[patient, question] = grade(answer(view))
    assert len(grades) >= 100
    assert {key: found for key, found in grades.items() if found > 8} == {}


def test_a_patient_is_warned_of_an_allergy_to_the_kind_before_anything_else(full):
    text = answer(turn("is amoxicillin safe for me?", full.build(), options=PATIENT))
    first, second, *_ = text.splitlines()
    assert first.startswith("Your record says you may react badly to a drug of the same kind")
    assert "Penicillin" in first
    assert second == "Ask your doctor before you take it."


def test_a_patient_is_never_told_to_start_or_stop_a_medicine(full):
    text = answer(turn("should I stop metformin?", full.build(), options=PATIENT))
    assert "Do not start, stop or change a medicine on your own. Ask your doctor first." in text
    assert "Guidelines" not in text
    assert "By rule" not in text


def test_silence_of_the_record_is_never_said_as_health(full):
    text = answer(turn("do I have cancer?", full.build(), options=PATIENT))
    assert "Your record does not list this: cancer." in text
    assert "you do not have" not in text.lower()
    nothing = answer(turn("what am I allergic to", cases.Record().build(), options=PATIENT))
    assert nothing.startswith("Your record does not say if you have an allergy.")


def test_a_clinician_reads_the_same_matter_in_full(full):
    plain = answer(turn("what is my HbA1c", full.build(), options=PATIENT))
    whole = answer(turn("what is my HbA1c", full.build()))
    assert "8.6 %" in plain
    assert "8.6 %" in whole
    assert "Ask your own doctor" in plain
    assert "Ask your own doctor" not in whole


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        ("Essential hypertension", "high blood pressure"),
        ("Iron deficiency anaemia", "low red blood from too little iron"),
        ("Perennial allergic rhinitis with seasonal variation", "hay fever all year"),
        ("Laceration of forearm", ""),
    ],
)
def test_a_problem_has_everyday_words_where_they_are_known(name, plain):
    assert plain_problem(name) == plain
