"""A rule takes a question only where each telling word of it shows in what it asks of the record."""

from __future__ import annotations

import importlib.util
from datetime import date
from pathlib import Path

import pytest

from bedside.flows.copilot import COPILOT
from bedside.flows.copilot.reading import parse
from bedside.record.needs import RecordNeed

_spec = importlib.util.spec_from_file_location("cases", Path(__file__).with_name("conftest.py"))
cases = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(cases)
turn = cases.turn

TODAY = date(2026, 11, 22)


@pytest.mark.requirement("CO-01")
@pytest.mark.parametrize(
    "text",
    [
        "what type of anaemia",  # which one, not whether
        "is anaemia iron deficiency",  # a name said of a name
        "family doctor's phone number",  # the doctor's, not the patient's
        "name of her mother",
        "is she married to a doctor",
        "did she miss any vaccines",
        "what vaccines did she have as a child",
        "has she had the flu",  # the illness
        "has she had all her HPV jabs",
        "was she on metformin in 2012",  # what was ordered in 2012 is not what was taken then
        "did she have hypertension in 2012",
        "last dose of metformin",  # when it was taken
        "how many cigarettes",
        "coil from 2016 - has it been taken out?",  # the end of what was put in
        "fasting glucose last time?",
        "corrected calcium",
        "furosemide level",
        "is a colonoscopy ordered",  # an order is not a procedure done
        "visits in 2019 and why",  # of all of them
        "what's the metformin for and since when",
        "newest medication",  # no list of all that stands
        "how often does she take ibuprofen",
        "ED on 29/10/2020 - what was it about?",  # the visit's reason
        "was ibuprofen ever taken together with the HCTZ",  # at the same time, not each ever
    ],
)
def test_a_word_that_no_query_uses_leaves_the_question_to_the_writer(text):
    assert parse(text, today=TODAY).queries == ()


@pytest.mark.requirement("CO-01")
@pytest.mark.parametrize(
    ("text", "topic", "ask"),
    [
        ("has she ever had a stroke?", "conditions", "any"),
        ("has she had a flu jab?", "immunizations", "any"),
        ("opioid history pls", "medications", "any"),
        ("mean of all BMI values", "observations", "average"),
        ("how many prescriptions of oxycodone in 2014", "medications", "count"),
        ("what kind of vaccines has she had", "immunizations", "list"),
        ("problems diagnosed in 2015", "conditions", "list"),
        ("blood thinner: is warfarin active", "medications", "any"),
        ("how high is her cholesterol", "observations", "latest"),
        ("how high did her cholesterol go", "observations", "highest"),
        ("weight then and now", "observations", "change_first"),
    ],
)
def test_words_that_a_query_uses_do_not_stop_a_rule(text, topic, ask):
    asked = parse(text, today=TODAY).queries
    assert {(one.topic, one.ask) for one in asked} == {(topic, ask)}


@pytest.mark.parametrize("word", ["rested", "tender", "strain", "strike", "leading"])
def test_a_common_word_is_no_slip_of_another(word):
    assert word in parse(f"any {word}?", today=TODAY).unknown


def told(text: str, facts) -> str:
    view = turn(text, facts)
    assert COPILOT.answer(view) is None
    return COPILOT.next(view).unaided(view).text


@pytest.fixture
def chart(record):
    for day, value in (("2015-06-08", "147.7"), ("2015-12-07", "77.4"), ("2021-01-04", "93.9")):
        record.lab("eGFR", "33914-3", value, "mL/min/{1.73_m2}", day)
    return record


def test_the_writer_tells_the_readings_of_the_year_that_was_asked_for(chart):
    text = told("best egfr in 2015", chart.build())
    assert "147.7" in text
    assert "77.4" in text
    assert "93.9" not in text


def test_the_writer_tells_the_alerts_where_safety_is_asked_for(chart):
    for name in ("Difficult airway", "Latex risk"):
        line = f"Alert: {name} (active, since 1 Jan 2024; Safety)"
        chart.add("alerts", line, name, day="2024-01-01", status="active")
    text = told("Safety concerns?", chart.build())
    assert "Difficult airway" in text
    assert "Latex risk" in text


def test_the_babys_sex_is_not_the_mothers(chart):
    assert "names somebody else" in told("baby's name & sex", chart.build())


@pytest.mark.parametrize(
    "text", ["eGFR in the last two years of her life", "last year of treatment"]
)
def test_years_that_have_an_end_of_their_own_do_not_count_back_from_today(text):
    assert parse(text, today=TODAY).windows == ()


def test_what_is_above_a_bound_in_the_last_years_of_a_life_is_not_called_unrecorded(chart):
    text = told("any eGFR above 90 in the last two years of her life", chart.build())
    assert "Not recorded" not in text
    assert "147.7" in text


def test_a_question_of_others_at_home_is_not_answered_by_the_patients_own_status(record):
    line = "Tobacco smoking status: Never smoker (4 Aug 2020, final)"
    record.add(
        "observations",
        line,
        "Tobacco smoking status",
        day="2020-08-04",
        code="http://loinc.org|72166-2",
        text_value="Never smoker",
        group="social-history",
    )
    text = told("anyone smoke at home?", record.build())
    assert text.startswith("Not recorded: what is so of others at home.")


def test_what_was_not_matched_is_not_said_to_be_out_of_the_record(chart):
    text = told("her maiden name and her mother's maiden name?", chart.build())
    assert text.startswith("Nothing in the record was matched to this question as it is put.")
    assert "Not in the record" not in text


def test_a_word_for_a_document_does_not_keep_the_record_from_answering(chart):
    text = told("name says Peter but notes say Mrs.. what sex is on file", chart.build())
    assert text.startswith("Sex: female")


def test_a_figure_for_a_letter_is_no_summary_of_the_patient(chart):
    text = told("Look up the lowest eGFR of 2015? I need it for the clinic letter.", chart.build())
    assert text.startswith("eGFR (glomerular filtration rate) in 2015, newest first:")
    assert "77.4" in text


def test_the_writer_tells_the_highest_and_the_lowest_of_what_is_asked_for(chart):
    text = told("top eGFR while she was still working", chart.build())
    assert "- the highest of all, whatever the time: 147.7 mL/min/{1.73_m2} on 8 Jun" in text
    assert "the lowest" not in text
    text = told("worst eGFR we've had", chart.build())
    assert "- the lowest: 77.4 mL/min/{1.73_m2} on 7 Dec 2015" in text


def test_a_bound_that_every_reading_keeps_is_another_results(chart):
    for day, value in (("2015-12-07", "1.3"), ("2021-01-04", "1.1")):
        chart.lab("Creatinine", "2160-0", value, "mg/dL", day)
    text = told("eGFR in the year it dipped under 90 & creatinine on the same day", chart.build())
    assert "below 90, newest first:\n- 77.4" in text
    assert "Creatinine, newest first:" in text
    assert "1.3 mg/dL on 7 Dec 2015" in text
    assert "Creatinine below 90" not in text


def test_every_dose_of_a_vaccine_is_told_with_its_date(record):
    for day in ("2018-03-16", "2019-03-22", "2020-03-27"):
        line = f"HPV, quadrivalent: given {int(day[8:])} Mar {day[:4]} (completed)"
        record.add("immunizations", line, "HPV, quadrivalent", day=day, status="completed")
    line = "HPV, quadrivalent: not given 1 May 2021 (not-done)"
    record.add("immunizations", line, "HPV, quadrivalent", day="2017-05-01", status="not-done")
    text = told("dates of all her HPV jabs", record.build())
    assert "given 27 Mar 2020" in text
    assert "; before that 22 Mar 2019 [" in text
    assert "16 Mar 2018 [" in text
    assert "1 May 2017" not in text


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("weight after the 2015 sinusitis", date(2015, 1, 1), None),
        ("weight before the 2012 pregnancy", None, date(2012, 12, 31)),
        ("weight after 2015", date(2016, 1, 1), None),
        ("weight before 2012", None, date(2011, 12, 31)),
    ],
)
def test_a_year_that_names_an_event_is_not_left_out_of_what_is_beside_the_event(text, start, end):
    (window,) = parse(text, today=TODAY).windows
    assert (window.start, window.end) == (start, end)


def test_a_vaccination_written_down_as_a_procedure_is_recorded(record):
    name = "Vaccination for diphtheria, pertussis, and tetanus"
    record.add(
        "procedures",
        f"{name}: done 21 Feb 2017 (completed; for Normal pregnancy)",
        name,
        day="2017-02-21",
        status="completed",
    )
    assert "21 Feb 2017" in told("whooping cough jab in pregnancy, when", record.build())
    ruled = COPILOT.answer(turn("has she had a tetanus shot?", record.build()))
    assert ruled is not None
    assert "none of the immunizations" in ruled.text or "no immunizations" in ruled.text
    assert "Related entries" in ruled.text
    assert "21 Feb 2017" in ruled.text


@pytest.mark.parametrize(
    "text", ["next of kin contact no.?", "when did he arrest, and how old was he then"]
)
def test_the_persons_own_data_are_not_told_for_somebody_elses_or_another_time(record, text):
    record.add("demographics", "Contact: phone 617 555 0147", "Contact", group="contact")
    said = told(text, record.build())
    assert "617 555 0147" not in said
    assert "years old" not in said


def test_a_word_is_looked_for_in_the_whole_record_before_it_is_called_unmatched(record):
    record.lab("Ferritin", "2276-4", "12", "ng/mL", "2020-01-01")
    record.add("reports", "Panel: report, recorded 2 Feb 2010", "Panel")  # "cord" in "recorded"
    view = turn("what level is her cord lesion, complete or incomplete?", record.build())
    wide = [one for one in view.gathered if isinstance(one, RecordNeed) and not one.limits]
    assert "conditions" in wide[0].categories
