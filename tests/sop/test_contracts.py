"""The shipped contracts: loading, gaps, rules, order of questions, scope, and what lint refuses."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bedside.context import o200k
from bedside.core.errors import BadInput
from bedside.sop import Contract, State
from bedside.sop.find import bundled, find, find_in
from bedside.sop.lint import lint, lint_all, lint_base, lint_file, lint_text
from bedside.sop.reading import contract_schema, read_contract
from bedside.sop.state import Document

SIX = ("TKR", "THR", "ACL", "CABG", "IVF", "CATARACT")

NAMED = """
TKR|TKR
TKR|27447
TKR|0SRC0J9
TKR|total knee replacement
TKR|I need a knee replacment
TKR|nee replacement for my dad
TKR|totel knee arthroplasty
TKR|my mother wants her knee replaced
TKR|घुटने का प्रत्यारोपण
TKR|استبدال الركبة
TKR|I had a hip replacement, now I need a knee replacement
THR|27130
THR|hip replacemnt
THR|artificial hip
THR|not a knee replacement, a hip replacement
THR|تغيير مفصل الورك
ACL|29888
ACL|torn acl
ACL|cruciate ligment surgery
ACL|الرباط الصليبي
CABG|33533
CABG|heart bypass
CABG|tripple bypass
CABG|coronary artery bypas
CABG|बाईपास सर्जरी
IVF|58970
IVF|8E0ZXY1
IVF|test tube baby
IVF|in vitro fertilzation
IVF|أطفال الأنابيب
CATARACT|66984
CATARACT|catarct operation
CATARACT|मोतियाबिंद का ऑपरेशन
_generic|
_generic|hello
_generic|knee pain
_generic|knee or hip replacement
_generic|a knee replacement and a cataract operation
_generic|mera accident hua tha
_generic|I don't want a knee replacement
_generic|99999
"""


@pytest.mark.requirement("IN-01")
@pytest.mark.parametrize("row", NAMED.strip().splitlines())
def test_a_contract_is_found_by_code_name_synonym_or_misspelling_else_the_generic_one(
    row: str,
) -> None:
    wanted, text = row.split("|", 1)
    assert Contract.find(text).id == wanted


@pytest.mark.requirement("IN-01")
@settings(max_examples=60, deadline=None)
@given(st.text(max_size=120))
def test_loading_never_raises_whatever_is_asked(text: str) -> None:
    assert find(text).id in bundled()


@pytest.mark.requirement("IN-01")
def test_a_list_without_a_generic_contract_falls_back_to_the_shipped_one() -> None:
    assert find_in("nothing known", [bundled()["TKR"]]).id == "_generic"


@pytest.mark.requirement("IN-01")
@pytest.mark.parametrize("name", SIX)
def test_each_procedure_has_sources_documents_readings_and_is_labelled_unreviewed(
    name: str,
) -> None:
    contract = bundled()[name]
    assert contract.review_status == "unreviewed"
    assert "unreviewed" in contract.definition()
    assert len(contract.sources) >= 3
    assert len(contract.rules) >= 5
    read = {one.type for one in contract.interpretation}
    assert {need.type for need in contract.documents} <= read
    for one in contract.interpretation:
        assert all(found.cues for found in one.findings)
    assert {field.when for field in contract.fields} == {
        "matching",
        "safety",
        "booking",
        "optional",
    }
    assert {field.section for field in contract.fields} == {
        "demographics", "procedure", "medical", "financial",
    }  # fmt: skip


RULES = [
    ("TKR", "blood_thinners", True, "anticoagulation"),
    ("TKR", "key_comorbidities", ["Type 2 diabetes mellitus"], "poor_glycaemic_control"),
    ("TKR", "procedure_side", "both", "both_sides"),
    ("TKR", "active_infection", True, "infection_first"),
    ("THR", "hip_reason", "fracture", "hip_fracture"),
    ("ACL", "age", 15, "open_growth_plates"),
    ("ACL", "knee_locked", True, "locked_knee"),
    ("CABG", "chest_pain_pattern", "at_rest", "pain_at_rest"),
    ("CABG", "key_comorbidities", ["chronic kidney disease"], "kidney"),
    ("IVF", "age", 43, "older_age"),
    ("IVF", "pregnant_now", True, "pregnancy_possible"),
    ("CATARACT", "can_lie_flat", False, "lying_flat"),
    ("CATARACT", "prostate_medicine", True, "floppy_iris"),
]
QUIET = [
    ("TKR", "blood_thinners", False),
    ("TKR", "key_comorbidities", ["prediabetes insipida", "asthma"]),
    ("TKR", "key_comorbidities", []),
    ("TKR", "procedure_side", "left"),
    ("ACL", "age", 16),
    ("IVF", "age", 42),
    ("CATARACT", "can_lie_flat", True),
]


@pytest.mark.requirement("IN-01")
@pytest.mark.parametrize(("name", "field", "found", "rule"), RULES)
def test_a_condition_sets_its_rule_off(name: str, field: str, found: object, rule: str) -> None:
    sop = bundled()[name]
    state = State.new(sop).with_value(field, found, said="said")
    assert rule in {one.id for one in sop.active_rules(state)}
    assert rule in sop.checklist(state)


@pytest.mark.requirement("IN-01")
@pytest.mark.parametrize(("name", "field", "found"), QUIET)
def test_what_does_not_meet_the_condition_sets_nothing_off(
    name: str, field: str, found: object
) -> None:
    sop = bundled()[name]
    assert sop.active_rules(State.new(sop).with_value(field, found, said="said")) == ()


@pytest.mark.requirement("IN-02")
@pytest.mark.parametrize("name", SIX)
def test_answering_what_is_asked_closes_the_case_and_asks_nothing_twice(name: str) -> None:
    sop, asked = bundled()[name], []
    state = State.new(sop)
    while (field := sop.next_field(state)) is not None:
        asked.append(field.id)
        state = state.with_asked(field.id).with_value(field.id, "x", said="x")
    assert (
        len(asked)
        == len(set(asked))
        == len([f for f in sop.fields if sop.applies(f, State.new(sop))])
    )
    order = ["matching", "safety", "booking", "optional"]
    whens = [order.index(sop.field(one).when) for one in asked]  # type: ignore[union-attr]
    assert whens == sorted(whens)
    assert sop.missing_for_matching(state) == ()
    assert {gap.kind for gap in sop.missing_for_booking(state)} == {"document"}


@pytest.mark.requirement("IN-03")
def test_a_skipped_question_returns_once_at_the_end_and_a_declined_one_never() -> None:
    sop = bundled()["TKR"]
    state, asked = State.new(sop), []
    while (field := sop.next_field(state)) is not None:
        asked.append(field.id)
        state = state.with_asked(field.id)
        if field.id == "age":
            state = state.with_status("age", "declined")
        elif field.id != "allergies":
            state = state.with_value(field.id, "x", said="x")
    assert asked.count("allergies") == 2
    assert asked[-1] == "allergies"
    assert asked.count("age") == 1
    assert [gap.id for gap in sop.missing_for_matching(state)] == ["age", "allergies"]


@pytest.mark.requirement("IN-02")
def test_findings_are_complete_only_when_each_required_document_was_read_with_what_it_must_say() -> (
    None
):
    sop = bundled()["TKR"]
    state = State.new(sop)
    assert not sop.document_findings_complete(state)
    xray = Document(
        type="knee_xray", status="complete", label="X-ray",
        findings={"side": "left", "impression": "narrowing"},
    )  # fmt: skip
    blood = Document(
        type="bloodwork_recent", status="complete", label="Blood",
        findings={"hemoglobin": 13.2, "creatinine": 0.9},
    )  # fmt: skip
    state = state.with_document("a", xray)
    assert not sop.document_findings_complete(state)
    assert sop.document_findings_complete(state.with_document("b", blood))
    for broken in (
        replace(blood, status="processing", findings={}),
        replace(blood, findings={"hemoglobin": 13.2}),
        replace(blood, status="failed_permanent", findings={}),
    ):
        assert not sop.document_findings_complete(state.with_document("b", broken))


@pytest.mark.requirement("IN-02")
def test_the_cache_of_contracts_can_be_dropped() -> None:
    before = Contract.find("TKR")
    Contract.invalidate_cache()
    after = Contract.find("TKR")
    assert before == after
    assert before is not after


def test_a_contract_may_use_a_shared_part_and_change_some_of_it() -> None:
    age = bundled()["IVF"].field("age")
    assert age is not None
    assert "carry the pregnancy" in age.ask["en"]
    assert age.high == 120


# ---- lint


@pytest.mark.requirement("IN-13")
def test_the_shipped_contracts_and_the_base_have_no_problem() -> None:
    assert lint_all(tuple(bundled().values()), count=o200k()) == ()


BAD = [
    ("You should stop warfarin before surgery.", "second_person"),
    ("Stop warfarin five days before.", "second_person"),
    ("Please ensure the HbA1c is recent.", "second_person"),
    ("Your surgeon decides.", "second_person"),
    ("I recommend a cardiology review.", "first_person"),
    ("We advise a delay.", "first_person"),
    ("It is recommended to wait.", "first_person"),
    ("The patient has diabetes.", "diagnosis"),
    ("This patient is diabetic and infection is likely.", "diagnosis"),
    ("He has a clot.", "diagnosis"),
]


@pytest.mark.requirement("IN-13")
@pytest.mark.parametrize(("text", "rule"), BAD)
def test_a_rule_that_orders_recommends_or_diagnoses_is_refused(text: str, rule: str) -> None:
    assert rule in lint_text(text)
    sop = bundled()["TKR"]
    changed = replace(sop, rules=(replace(sop.rules[0], description=text),))
    found = lint(changed, count=o200k())
    assert rule in {one.rule for one in found if one.severity == "error"}


@pytest.mark.requirement("IN-13")
def test_lint_names_missing_questions_sources_conditions_fields_and_length() -> None:
    sop = bundled()["TKR"]
    first, *rest = sop.fields
    rule = sop.rules[0]
    changed = replace(
        sop,
        fields=(replace(first, ask={"en": ""}), *rest),
        sources=(),
        rules=(
            replace(rule, field="nothing"),
            replace(rule, id="b", source=""),
            replace(rule, id="c", values=()),
            replace(rule, id="d", field="procedure_side", values=("upper",)),
            *(
                replace(rule, id=f"long_{n}", description="The team decides on it. " * 9)
                for n in range(9)
            ),
        ),
    )
    rules = {one.rule for one in lint(changed, count=o200k())}
    assert rules >= {
        "no_question", "no_source", "no_condition", "unknown_field", "unknown_value", "too_long",
        "no_translation",
    }  # fmt: skip


@pytest.mark.requirement("IN-13")
def test_a_name_that_two_contracts_claim_is_named() -> None:
    tkr, thr = bundled()["TKR"], bundled()["THR"]
    found = lint_all((tkr, replace(thr, names=(*thr.names, "Knee Replacement"))), count=o200k())
    assert [one.rule for one in found] == ["duplicate_name"]


def test_a_base_above_its_cap_fails_the_lint() -> None:
    assert [one.rule for one in lint_base("word " * 4_000, count=o200k())] == ["base_too_long"]


def test_a_file_that_is_no_contract_is_a_problem_and_no_crash() -> None:
    for text in ("", "a: [", "pack: 1", "\x00"):
        found = lint_file(text, what="x.yaml", count=o200k())
        assert [one.rule for one in found] == ["unreadable"]


def test_an_unknown_shared_part_is_refused_with_what_there_is() -> None:
    text = (
        "pack: {id: a, version: '1', title: a, source: a, licence: a, jurisdiction: a, review_due: 2027-01-01}\n"
        "id: AB\ntitle: a\nsources: [a]\nfields: [{use: shoe_size}]\n"
    )
    with pytest.raises(BadInput, match="shoe_size"):
        read_contract(text, what="a.yaml")
    assert "properties" in contract_schema()


@pytest.mark.parametrize(
    "text",
    [
        "gastric bypass surgery",
        "bypass in my leg",
        "heart valve replacement surgery",
        "valve replacement",
        "PCL reconstruction",
        "MCL surgery",
        "teeth replacement",
        "knee cap replacement",
        "elbow replacement",
    ],
)
def test_another_procedure_with_like_words_is_not_taken_for_a_shipped_one(text: str) -> None:
    assert find(text).id == "_generic"
    assert find(f"My mother needs a {text}, please.").id == "_generic"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("he needs a bypass (triple vessel disease)", "CABG"),
        ("they told me i need bypass", "CABG"),
        ("I am looking for a heart bypass. The ministry pays.", "CABG"),
        ("total nee replacment", "TKR"),
        ("catarct surgry", "CATARACT"),
        ("hip repalcement", "THR"),
    ],
)
def test_a_slip_in_each_word_still_finds_the_procedure(text: str, name: str) -> None:
    assert find(text).id == name


def test_the_side_is_the_procedures_side_by_either_name() -> None:
    sop = Contract.find("TKR")
    for name in ("side", "procedure_side"):
        state = State.new(sop).with_value(name, "left", said="the left one", turn=2)
        assert list(state.fields) == ["procedure_side"]
        assert state.value("side") == state.value("procedure_side") == "left"
        assert "procedure_side" not in {gap.id for gap in sop.missing_for_matching(state)}
    assert sop.field("side") == sop.field("procedure_side")


@pytest.mark.parametrize(
    ("words", "contract"),
    [
        ("my right hip needs replacing because of my rheumatoid", "THR"),
        ("replacing knee of my grandmother", "TKR"),
        ("the knee has to be replaced", "TKR"),
        ("والدي يحتاج عملية القلب المفتوح", "CABG"),
        ("open heart surgery, three vessels blocked", "CABG"),
        ("open heart surgery for a valve", "_generic"),
        ("we want to look at donor eggs", "IVF"),
    ],
)
def test_a_procedure_is_found_however_it_is_said(words: str, contract: str) -> None:
    assert find(words).id == contract
