"""The extractive answer: what leads, what stays out, how long it is, how tables read."""

from __future__ import annotations

import importlib.util
import re
from dataclasses import replace
from pathlib import Path

import pytest

from bedside.context import assemble
from bedside.core.context import Item
from bedside.core.turn import Lost
from bedside.flows.copilot import COPILOT
from bedside.flows.copilot.excerpts import readable
from bedside.flows.copilot.modes import MODES
from bedside.flows.numbers import number_draft
from bedside.grounding.gate import gate_for
from bedside.record.needs import Contradiction, RecordNeed

_spec = importlib.util.spec_from_file_location("cases", Path(__file__).with_name("conftest.py"))
cases = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(cases)
passage, turn = cases.passage, cases.turn


def released(view):
    step = COPILOT.next(view)
    draft = COPILOT.answer(view) or step.unaided(view)
    prompt = assemble(
        step.blocks, budget=step.budget, layout=step.layout, numbering={}, count=view.opened.count
    )
    numbered, shown = number_draft(draft, prompt.numbering, prompt)
    verdict, _ = gate_for(release="whole", checks=step.checks, assembly=shown).close(
        numbered, last=True
    )
    return verdict


def words(text: str) -> int:
    """Counted apart from the code: everything but markers and lone punctuation."""
    bare = re.sub(r"\[\d+\]", " ", text)
    return len([one for one in re.split(r"[^\w.,/'’-]+", bare) if re.search(r"\w", one)])


def test_a_recorded_allergy_leads_the_answer_about_that_medicine(full):
    lines = released(turn("should she continue penicillin?", full.build())).text.splitlines()
    assert lines[0].startswith("Allergy or intolerance recorded: Penicillin")


def test_an_allergy_to_the_kind_leads_too(full):
    verdict = released(turn("is amoxicillin safe to start?", full.build()))
    assert verdict.text.startswith("Allergy recorded: Penicillin, criticality high")
    assert "By rule: Allergy to penicillin; amoxicillin" in verdict.text
    assert verdict.removed == ()


def test_a_rule_says_that_a_medicine_is_recorded_as_an_allergy_even_when_it_is_not_taken(full):
    draft = COPILOT.answer(turn("is she on amoxicillin", full.build()))
    assert draft is not None
    assert "Not recorded: amoxicillin" in draft.text
    assert "Allergy or intolerance recorded: Penicillin" in draft.text


def test_an_allergy_stays_out_of_a_question_that_has_nothing_to_do_with_it(full):
    text = released(turn("is her diabetes well controlled?", full.build())).text
    assert "Penicillin" not in text
    assert "HbA1c: 8.6 % on 5 Nov 2026" in text


def test_a_medicine_that_is_thought_of_is_held_against_the_newest_result(full):
    text = released(turn("could we start ibuprofen again, safely?", full.build())).text
    assert "By rule: Estimated glomerular filtration rate is 37 mL/min" in text


@pytest.mark.requirement("CO-06")
@pytest.mark.parametrize("mode", sorted(MODES))
@pytest.mark.parametrize(
    "question",
    [
        "what should we do next about her diabetes and kidneys?",
        "can I give ibuprofen?",
        "why is she tired?",
        "summary please",
    ],
)
def test_an_extractive_answer_keeps_to_the_word_limit_of_its_mode(full, mode, question):
    guide = "\n".join(
        f"Sentence {n} of advice on diabetes, kidney and ibuprofen." for n in range(40)
    )
    hit = passage("guide", 0, guide, kind="guideline", prefix="[Diabetes > Treatment] ")
    letter = passage("letter", 0, guide.replace("advice", "a letter"))
    view = turn(
        question,
        full.build(),
        knowledge=(hit,),
        documents=(letter,),
        options=(("mode", mode),),
    )
    verdict = released(view)
    assert words(verdict.text) <= MODES[mode].words
    assert [one.want for one in verdict.findings if one.id == "G9"] == ["pass"]


def test_a_table_is_read_by_row_with_the_names_of_its_columns_and_never_as_a_header():
    text = (
        "| eGFR (mL/min/1.73m2) | Metformin |\n| --- | --- |\n"
        "| 45 to 59 | continue |\n| below 30 | stop metformin |\n"
    )
    hit = passage("g", 0, text, kind="guideline", prefix="[Diabetes > Metformin and kidney] ")
    answer = released(turn("when to stop metformin in diabetes?", knowledge=(hit,)))
    assert "- eGFR: below 30; Metformin: stop metformin [" in answer.text
    assert "eGFR (mL/min/1.73m2); Metformin" not in answer.text
    assert answer.removed == ()
    heads = {one.quote for one in answer.citations}
    assert "| eGFR (mL/min/1.73m2) | Metformin |" in heads


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Dear colleague,", False),
        ("Date: 12 November 2026", False),
        ("Patient: Ada Example, born 1960", False),
        ("Heart Failure Clinic at St Brannock, 4 March 2026", False),
        ("Cardiology clinic letter", False),
        ("Stop ibuprofen.", True),
        ("- Repeat potassium in two weeks", True),
        ("HbA1c 8.9 % (reference 4.0 - 6.0)", True),
    ],
)
def test_letterheads_greetings_and_titles_are_no_statements(text, shown):
    assert readable(text) is shown


def test_no_list_is_announced_that_has_no_entries(full):
    for question in ("is she overdue for anything?", "is she due a test?", "why?"):
        lines = released(turn(question, full.build())).text.splitlines()
        for here, below in zip(lines, [*lines[1:], ""], strict=True):
            if here.endswith(":"):
                assert below.startswith(("- ", "By rule")), (question, here)


def test_a_record_that_could_not_be_read_is_not_passed_off_as_an_empty_one(full):
    view = turn("should she start metformin?", full.build())
    lost = {
        need: Lost(why="timeout") if isinstance(need, RecordNeed) else got
        for need, got in view.gathered.items()
    }
    text = released(replace(view, gathered=lost)).text
    assert text.startswith("The record could not be read")
    assert "not recorded" not in text.lower()
    plain = replace(view.request, options=(("audience", "patient"),))
    said = released(replace(view, gathered=lost, request=plain)).text
    assert said == "I could not read your record just now. Please ask again."


def test_yes_is_said_with_what_contradicts_it(full):
    facts = full.build()
    both = tuple(fact for fact in facts.facts if fact.name == "Type 2 diabetes mellitus")
    found = Contradiction(rule="active-and-resolved", text="Two entries disagree.", facts=both)
    draft = COPILOT.answer(turn("does she have diabetes", replace(facts, contradictions=(found,))))
    assert draft is not None
    assert draft.text.startswith("Yes, active: Type 2 diabetes mellitus")
    assert "Contradiction: Two entries disagree [" in draft.text


# ---- without a patient


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("normal range of potassium?", "Potassium: adults 3.5 to 5.0 mmol/L"),
        ("what is the reference range for HbA1c", "Hemoglobin A1c: adults 4.0 to 5.6 %"),
        ("creatinine normal range in men", "Creatinine: men 0.70 to 1.30 mg/dL"),
    ],
)
def test_a_usual_range_is_answered_by_rule_without_a_patient(question, expected):
    draft = COPILOT.answer(turn(question))
    assert draft is not None
    assert draft.text.startswith(expected)
    assert "Source: " in draft.text
    assert released(turn(question)).removed == ()


def test_a_range_that_is_not_held_is_said_to_be_missing():
    draft = COPILOT.answer(turn("reference range for sodium in children"))
    assert draft is not None
    assert draft.text == "No reference range for Sodium in children is held here."
    assert draft.missing == ("a reference range for Sodium in children",)


@pytest.mark.parametrize(
    "question",
    ["why is potassium high?", "is a potassium of 5.9 normal in CKD?", "treat high potassium"],
)
def test_no_range_is_given_where_more_is_asked(question):
    assert COPILOT.answer(turn(question)) is None


def test_the_passage_of_the_asked_kind_in_the_guideline_of_that_name_comes_first():
    wrong = passage(
        "diabetes", 0, "Metformin is the first drug.", kind="guideline",
        prefix="[Type 2 diabetes > First-line treatment] ",
    )  # fmt: skip
    aside = passage(
        "pregnancy", 1, "Aspirin at night in pregnancy with hypertension.", kind="guideline",
        prefix="[Hypertension in pregnancy > Prevention] ",
    )  # fmt: skip
    right = passage(
        "pregnancy", 2, "Labetalol 100 mg twice daily.", kind="guideline",
        prefix="[Hypertension in pregnancy > Treatment and target] ",
    )  # fmt: skip
    view = turn(
        "first line treatment for hypertension in pregnancy", knowledge=(wrong, aside, right)
    )
    text = released(view).text
    assert text.startswith("Hypertension in pregnancy, Treatment and target")
    assert "Metformin" not in text


# ---- memories


@pytest.mark.requirement("CO-12")
@pytest.mark.parametrize(
    ("switch", "consent", "shown"),
    [("on", True, True), ("on", False, False), ("off", True, False), (None, True, False)],
)
def test_memories_need_the_switch_and_consent(full, switch, consent, shown):
    view = turn("what next?", full.build())
    pinned = {"memories": switch} if switch else {}
    data = {"memories": ("Prefers metric units.",), "memories_consent": consent}
    view = replace(view, opened=replace(view.opened, pinned=pinned, data=data))
    blocks = [one for one in COPILOT.next(view).blocks if one.name == "memories"]
    assert bool(blocks) is shown
    if shown:
        assert tuple(blocks[0].items) == (Item("Prefers metric units."),)
        assert blocks[0].priority == min(one.priority for one in COPILOT.next(view).blocks)


@pytest.mark.requirement("CO-12")
def test_consent_with_nothing_remembered_adds_nothing(full):
    view = turn("what next?", full.build())
    data = {"memories": (), "memories_consent": True}
    view = replace(view, opened=replace(view.opened, pinned={"memories": "on"}, data=data))
    assert not [one for one in COPILOT.next(view).blocks if one.name == "memories"]
