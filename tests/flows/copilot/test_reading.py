"""CO-01: a question is taken by rule only when every word of it is accounted for."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bedside.flows.copilot.reading import parse
from bedside.flows.copilot.windows import find_window

TODAY = date(2026, 11, 22)


def read(text: str):
    return parse(text, today=TODAY).queries


@pytest.mark.parametrize(
    ("text", "topic", "ask", "key"),
    [
        ("latest HbA1c", "observations", "latest", "hba1c"),
        ("Hb?", "observations", "latest", "hemoglobin"),
        ("What was her last serum potasium, please?", "observations", "latest", "potassium"),
        ("need his last TG pls", "observations", "latest", "triglycerides"),
        ("k+ trend", "observations", "trend", "potassium"),
        ("how many times has HDL been checked", "observations", "count", "hdl"),
        ("when was creatinine last measured", "observations", "when_last", "creatinine"),
        ("nadir eGFR", "observations", "lowest", "egfr"),
        ("average weight", "observations", "average", "weight"),
        ("the cholesterol before the last one", "observations", "previous", "cholesterol"),
        ("lipid profile", "observations", "latest", "lipid panel"),
        ("is she on warfarin", "medications", "any", "warfarin"),
        ("is he taking frusemide?", "medications", "any", "furosemide"),
        ("does she have HTN?", "conditions", "any", "hypertension"),
        ("when was he diagnosed with gout", "conditions", "when_first", "gout"),
        ("ever had a heart attack?", "conditions", "any", "myocardial infarction"),
        ("allergic to penicillin?", "allergies", "any", "penicillin"),
        ("flu jab?", "immunizations", "any", "influenza vaccine"),
        ("did she have a colonoscopy", "procedures", "any", "colonoscopy"),
        ("last admission", "timeline", "when_last", None),
        ("problem list", "conditions", "list", None),
        ("what is he on?", "medications", "list", None),
        ("how old is she", "person", "field", None),
    ],
)
def test_a_whole_question_becomes_the_query_it_means(text, topic, ask, key):
    (query,) = read(text)
    assert (query.topic, query.ask) == (topic, ask)
    assert (query.entity.key if query.entity else None) == key


@pytest.mark.parametrize(
    "text",
    [
        "should I stop simvastatin?",
        "is metformin safe with an eGFR of 30",
        "why is her potassium high",
        "is her BP high because of her weight?",
        "has he never had a stroke",
        "was she not on warfarin",
        "naproxen and CKD?",
        "digoxin and hypokalaemia - a problem?",
        "what dose of apixaban should she have",
        "summarise the record",
        "who else takes warfarin?",
        "is her BP ok?",
        "does he need a colonoscopy?",
        "can she have penicillin?",
        "could she have gout?",
        "will he take warfarin",
        "start metformin?",
        "stop the warfarin?",
        "give amoxicillin?",
        "prescribe amoxicillin",
        "metformin for her diabetes?",
        "is metformin taken for diabetes",
        "time for a colonoscopy?",
        "does her neighbour have diabetes",
        "is he due a flu jab",
        "HbA1c in Mrs Smith",
        "BP on 3/4/2015",
        "potassium above 5 weeks",
        "",
        "?",
        "and",
    ],
)
def test_a_question_with_anything_more_in_it_is_left_to_the_writer(text):
    assert read(text) == ()


def test_two_things_asked_at_once_share_what_is_said_once():
    first, second = read("latest creatinine and potassium in 2019")
    assert (first.entity.key, second.entity.key) == ("creatinine", "potassium")
    assert first.ask == second.ask == "latest"
    assert first.window == second.window
    assert first.window.start == date(2019, 1, 1)


def test_two_operations_share_one_subject():
    low, high = read("lowest and highest weight")
    assert (low.ask, high.ask) == ("lowest", "highest")
    assert low.entity.key == high.entity.key == "weight"


def test_a_bound_keeps_its_figure_and_unit():
    (query,) = read("was K ever above 5.5 mmol/L?")
    assert (query.ask, query.threshold.op) == ("any", ">")
    assert query.threshold.value == Decimal("5.5")
    assert query.threshold.unit == "mmol/l"
    assert read("HbA1c 6.5 or more ever?")[0].threshold.op == ">="


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("in 2019", date(2019, 1, 1), date(2019, 12, 31)),
        ("since march 2018", date(2018, 3, 1), None),
        ("after 2015", date(2016, 1, 1), None),
        ("before 3 may 2017", None, date(2017, 5, 2)),
        ("between 2010 and 2012", date(2010, 1, 1), date(2012, 12, 31)),
        ("from jan 2010 to feb 2012", date(2010, 1, 1), date(2012, 2, 29)),
        ("on 2017-05-03", date(2017, 5, 3), date(2017, 5, 3)),
        ("over the past 6 months", date(2026, 5, 22), None),
        ("q2 2014", date(2014, 4, 1), date(2014, 6, 30)),
        ("last year", date(2025, 1, 1), date(2025, 12, 31)),
        ("since last year", date(2025, 1, 1), None),
        ("over the last year", date(2025, 11, 22), None),
        ("this year", date(2026, 1, 1), date(2026, 11, 22)),
        ("last month", date(2026, 10, 1), date(2026, 10, 31)),
        ("since january", date(2026, 1, 1), None),
        ("in november last year", date(2025, 11, 1), date(2025, 11, 30)),
        ("in december", date(2025, 12, 1), date(2025, 12, 31)),
        ("last november", date(2026, 11, 1), date(2026, 11, 30)),
        ("since 3 march", date(2026, 3, 3), None),
        ("since march 3", date(2026, 3, 3), None),
        ("on 24 december", date(2025, 12, 24), date(2025, 12, 24)),
    ],
)
def test_a_span_of_time_is_read_to_the_day(text, start, end):
    found = find_window(text.split(), 0, today=TODAY)
    assert (found.window.start, found.window.end) == (start, end)
    assert found.end == len(text.split())


@pytest.mark.parametrize(
    "text", ["may", "march on", "3/4/2015", "31 february 2015", "soon", "99/2015"]
)
def test_a_span_that_reads_two_ways_or_none_is_not_read(text):
    assert find_window(text.split(), 0, today=TODAY) is None


@given(st.text(max_size=120))
@settings(max_examples=150, deadline=None)
def test_any_text_at_all_is_read_without_an_error(text):
    parsed = parse(text, today=TODAY)
    assert not (parsed.queries and parsed.unknown)


@given(st.sampled_from(["should", "how", "not", "never", "risk", "dose should", "zzqx", "instead"]))
@settings(max_examples=8, deadline=None)
def test_one_word_that_is_not_understood_stops_every_rule(word):
    for text in ("latest HbA1c", "is she on warfarin", "problem list", "allergies"):
        assert read(f"{text} {word}") == ()


@pytest.mark.parametrize(
    "text",
    [
        "what dose of warfarin and how often?",  # no count of its orders
        "is he on vitamin D or calcium as well as the alendronate?",  # not the results
        "does he take potassium or sodium chloride",
        "what is he taking for his heart rate",
        "what did she overdose on?",  # that she did was known
        "does she smoke and how much",
        "is he up to date with meningitis jabs",
        "has he completed HPV",
        "is the paralysis complete?",
        "paralysis incomplete?",  # no slip of "complete"
        "is the angina unstable",
    ],
)
def test_a_rule_leaves_what_it_would_pass_over(text):
    assert parse(text, today=TODAY).queries == ()


@pytest.mark.parametrize(
    "text",
    [
        "how many times was warfarin prescribed?",
        "is he on ramipril and what's his potassium",
        "what data is there on potassium",
        "when was his last BP taken",
    ],
)
def test_a_rule_still_takes_what_it_answers_whole(text):
    assert parse(text, today=TODAY).queries


def test_care_plans_ever_had_are_counted_with_those_that_ended():
    (asked,) = parse("how many care plans has she had", today=TODAY).queries
    assert (asked.ask, asked.status) == ("count", "any")
    (asked,) = parse("how many care plans", today=TODAY).queries
    assert asked.status == "active"


@pytest.mark.parametrize(
    ("text", "count"), [("how many stitches did he get?", False), ("how many colonoscopies?", True)]
)
def test_what_a_procedure_put_in_is_no_count_of_the_procedure(text, count):
    assert bool(parse(text, today=TODAY).queries) is count


def test_a_night_in_hospital_is_no_slip_of_a_problem():
    assert not parse("how many times in hospital overnight?", today=TODAY).entities
