"""CO-04, CO-05, CO-08, CO-11: what a model would see, and that it always fits 6,000 tokens."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
from rs_bpe.bpe import openai

from bedside.context import assemble
from bedside.core.context import Item
from bedside.flows.copilot import COPILOT
from bedside.flows.copilot.hard import hard_items, pack_text
from bedside.flows.copilot.hard_data import for_plan

_spec = importlib.util.spec_from_file_location("cases", Path(__file__).with_name("conftest.py"))
cases = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(cases)
turn, passage = cases.turn, cases.passage

QUESTION = "What should we do next about her diabetes and her kidneys?"


def compiled(view, **changes):
    step = COPILOT.next(view)
    return assemble(
        step.blocks,
        budget=step.budget,
        layout=step.layout,
        numbering={},
        count=view.opened.count,
        **changes,
    )


def text_of(prompt) -> str:
    return "\n".join(
        part for message in prompt.messages for part in message.parts if isinstance(part, str)
    )


def row(prompt, name: str):
    return next(one for one in prompt.ledger if one.block == name)


@pytest.fixture
def everything(full):
    """A full fetch as large as the limits of EN-R2 allow."""
    for index in range(50):
        day = f"20{10 + index % 15:02d}-0{1 + index % 9}-1{index % 9}"
        full.lab(
            f"Some lengthy laboratory observation number {index}",
            f"9{index}-1",
            "5.25",
            "mg/dL",
            day,
        )
    for index in range(30):
        full.add(
            "medications",
            f"Imaginary medicine {index} 500 mg modified-release oral tablet: active, ordered "
            f"{1 + index % 28} Mar 2019; one tablet twice daily with food and plenty of water",
            f"Imaginary medicine {index} 500 mg",
            day=f"2019-03-{1 + index % 28:02d}",
            status="active",
        )
    for index in range(20):
        full.add(
            "conditions",
            f"Imaginary chronic condition number {index}: active, confirmed; since 2 Feb 2012",
            f"Imaginary chronic condition number {index}",
            day="2012-02-02",
            status="active",
        )
    return full


def long_passages(document: str, many: int, *, about: str = "diabetes"):
    """Passages of about 250 tokens each, every one telling apart by its own word."""
    return tuple(
        passage(
            document,
            index,
            f"{document} passage {index} on {about}: "
            + " ".join(f"finding {index}.{n} was noted on the ward round." for n in range(24)),
        )
        for index in range(many)
    )


SCENARIOS = {
    "full fetch": {},
    "new document": {"documents": long_passages("new-letter", 10), "uploaded": ("new-letter",)},
    "both": {
        "documents": (*long_passages("new-letter", 10), *long_passages("old-letter", 5)),
        "uploaded": ("new-letter",),
        "history": tuple(
            Item(
                f"message {n} " + "word " * 300,
                key=f"m{n}",
                role="user" if n % 2 == 0 else "assistant",
            )
            for n in range(12)
        ),
    },
    "many documents": {
        "documents": (
            *long_passages("new-letter", 10),
            *(hit for n in range(9) for hit in long_passages(f"old-letter-{n}", 5)),
        ),
        "uploaded": ("new-letter",),
        "knowledge": long_passages("guideline", 10),
    },
}


@pytest.mark.requirement("CO-05")
@pytest.mark.parametrize("name", list(SCENARIOS))
def test_the_scenarios_that_overflowed_elsewhere_fit_with_all_that_matters(name, everything):
    case = SCENARIOS[name]
    view = turn(QUESTION, everything.build(), **case)
    prompt = compiled(view)
    text = text_of(prompt)
    assert prompt.tokens <= 6_000
    recount = openai.o200k_base().count(text)
    assert recount <= 6_000
    assert "Penicillin: allergy, active, confirmed; criticality high; reaction: Anaphylaxis" in text
    assert "falls risk" in text
    assert text.count(QUESTION) >= 2
    assert "Allergies: Penicillin" in text
    if "uploaded" in case:
        assert row(prompt, "new document").given >= 700
        assert "new-letter passage 0" in text
        assert "take priority over older ones" in text


@pytest.mark.requirement("EN-C4")
def test_allergies_and_alerts_stand_first_and_are_said_again_at_the_end(everything):
    prompt = compiled(turn(QUESTION, everything.build()))
    assert row(prompt, "allergies and alerts").zone == "primacy"
    tail = text_of(prompt)[-700:]
    assert "Allergies: Penicillin. Alerts: Falls risk." in tail
    assert QUESTION in tail


@pytest.mark.requirement("EN-C6")
def test_the_prefix_does_not_depend_on_the_question(everything):
    facts = everything.build()
    prompts = [
        compiled(turn(text, facts))
        for text in (QUESTION, "latest HbA1c", "hello", "summarise her", "is metformin safe?")
    ]
    first = [prompt.messages[0].parts for prompt in prompts]
    assert all(parts[0] == first[0][0] for parts in first)


@pytest.mark.requirement("CO-11")
def test_history_never_takes_more_than_its_share(everything):
    history = tuple(
        Item(
            ("The answer. " if n % 2 else "A question? ") + "More of it. " * 400,
            key=f"m{n}",
            role="assistant" if n % 2 else "user",
        )
        for n in range(20)
    )
    prompt = compiled(turn(QUESTION, everything.build(), history=history))
    given = sum(one.given for one in prompt.ledger if one.block in {"history", "earlier"})
    assert 0 < given <= 1_200


def test_old_document_text_goes_before_the_record_does(everything):
    view = turn(
        QUESTION,
        everything.build(),
        documents=long_passages("old-letter", 10),
        knowledge=long_passages("guideline", 5),
    )
    prompt = compiled(view)
    assert row(prompt, "record").given > 0
    assert row(prompt, "documents").dropped
    assert any("8.6 %" in item.body for items in prompt.shown.values() for item in items)


@pytest.mark.requirement("CO-08")
def test_hard_data_comes_only_where_reasoning_is_needed(full):
    def names(view):
        return {block.name for block in COPILOT.next(view).blocks}

    hard = {"specialty guidance", "reference ranges", "evidence bank", "textbooks"}
    assert not hard & names(turn("hello", full.build()))
    assert not hard & names(turn("hello"))
    assert not hard & names(turn("latest HbA1c", full.build()))
    assert hard <= names(turn("anticoagulation in atrial fibrillation: which drug first?"))
    assert "specialty guidance" in names(turn("next steps for her diabetes", full.build()))
    assert "evidence bank" not in names(turn("next steps for her diabetes", full.build()))


def test_hard_data_cites_a_text_that_can_be_read_again():
    data = for_plan("anticoagulation in atrial fibrillation")
    assert data.nodes
    for item in hard_items(data):
        stored = pack_text(str(item.span.source.id))
        assert stored is not None
        assert stored[item.span.start : item.span.end] == item.body
    assert pack_text("pack:node:no/such") is None


@pytest.mark.requirement("CO-02")
def test_the_plan_fetches_the_smallest_set_and_allergies_always(full):
    facts = full.build()

    def categories(text: str) -> set[str]:
        return set(turn(text, facts).plan.categories)

    assert categories("latest HbA1c") == {"demographics", "observations", "allergies", "alerts"}
    assert "observations" not in categories("current meds")
    wide = turn("zorp blick?", facts).plan
    assert wide.source == "fallback"
    assert {"conditions", "observations", "medications", "documents"} <= set(wide.categories)


@pytest.mark.requirement("CO-06")
@pytest.mark.parametrize(
    ("text", "mode"),
    [
        ("hello", "casual"),
        ("latest HbA1c", "default"),
        ("summarise her", "synopsis"),
        ("what should we do next?", "plan"),
        ("tell me everything about her diabetes", "broad"),
        ("explain in detail why she is anaemic", "detail"),
    ],
)
def test_each_kind_of_question_has_its_response_mode(text, mode, full):
    assert turn(text, full.build()).plan.mode == mode
    asked = turn(text, full.build(), options=(("mode", "detail"),))
    assert asked.plan.mode == "detail"


def test_the_same_turn_compiles_to_the_same_bytes(everything):
    facts = everything.build()
    case = SCENARIOS["many documents"]
    one, two = (compiled(turn(QUESTION, facts, **case)) for _ in range(2))
    assert text_of(one) == text_of(two)


@pytest.mark.requirement("CO-04", "EN-C4")
def test_every_layer_stands_in_its_zone_and_safety_never_in_the_middle(everything):
    """The zones are the specification's; the guidance and the rules keep to their sizes."""
    facts = everything.build()
    prompt = compiled(turn(QUESTION, facts, **SCENARIOS["both"]))
    plain = compiled(turn(QUESTION, facts))
    zones = {one.block: one.zone for one in (*prompt.ledger, *plain.ledger) if one.given}
    wanted = {
        "identity": "primacy", "patient": "primacy", "allergies and alerts": "primacy",
        "question": "primacy", "response mode": "primacy", "record": "middle",
        "new document": "recency", "guardrails": "recency", "specialty guidance": "recency",
    }  # fmt: skip
    assert wanted.items() <= zones.items()
    assert row(prompt, "specialty guidance").given <= 700
    assert row(prompt, "guardrails").given <= 1_700
