"""Single units: what is judged beside the citations."""

from __future__ import annotations

from datetime import date

import pytest

from bedside.core.context import Item
from bedside.core.ids import SourceId
from bedside.core.source import Source, SourceKind, Span
from bedside.core.turn import Quote
from bedside.grounding.examine import Examined, Examiner, Unit
from bedside.grounding.guardrails import Policy
from bedside.grounding.recompute import recomputed
from bedside.grounding.repair import order
from bedside.grounding.shown import Shown
from bedside.grounding.support import Evidence

TABLE = "| Drug | Dose (mg) | Frequency |\n|---|---|---|\n| Amoxicillin | 500 | 8 hourly |\n| Doxycycline | 100 | 12 hourly |"


def item(
    n: int, text: str, kind: SourceKind = "record", *, section: str = "", note: str = ""
) -> Item:
    source = Source(
        id=SourceId(f"s{n}"),
        revision=1,
        kind=kind,
        title=f"Source {n}",
        section=section,
        dated=date(2024, 11, 2),
    )
    return Item(text, key=f"s{n}", span=Span(source=source, start=0, end=len(text)), note=note)


SHOWN = {
    1: (item(1, "HbA1c 8.2 %, 2024-11-02", note="3 years old, stale"),),
    2: (item(2, "Warfarin 5 MG Oral Tablet, active"),),
    3: (
        item(
            3,
            "Warfarin and aspirin together raise the risk of bleeding. Warfarin needs INR checks.",
            "guideline",
        ),
    ),
    4: (item(4, TABLE, "guideline", section="Infections > Doses"),),
    5: (item(5, "Normal range [2-8] seen. Pain in the leg. Pain in the leg again.", "document"),),
    6: (item(6, "Allergy: latex, rash", section="Allergies"),),
}


def examine(
    text: str, *, quotes: tuple[Quote, ...] = (), trusted: bool = False, asked: str = "", **policy
) -> Examined:
    shown = Shown(SHOWN, asked=asked, computed=("age 54 years",), ours=("rules of ours",))
    return Examiner(shown, Policy(**policy), trusted=trusted).examine(
        Unit(text=text, start=100, quotes=quotes)
    )


def test_derived_notes_of_the_cited_source_lend_their_figures_and_those_of_others_do_not():
    assert examine("HbA1c 8.2 %, 3 years old [1].").kept
    assert examine("Warfarin 5 mg, 3 years old [2].").why == "figure_not_in_source"


def test_computed_figures_in_the_context_count():
    assert examine("Aged 54 years with HbA1c 8.2 % [1].").kept
    assert not examine("Aged 55 years with HbA1c 8.2 % [1].").kept


def test_a_table_row_is_judged_with_its_head():
    assert (
        examine("Amoxicillin 500 mg three times daily [4].").kept
        or examine("Amoxicillin 500 three times daily [4].").kept
    )
    assert not examine("Amoxicillin 100 mg three times daily [4].").kept


@pytest.mark.requirement("CO-07")
def test_an_interaction_needs_a_source_that_names_both():
    assert examine("Warfarin and aspirin interact: risk of bleeding [3].").kept
    assert examine("Warfarin interacts with ibuprofen: bleeding [3].").why == "drug_not_in_source"
    both = examine("Warfarin interacts with aspirin [2][3].")
    assert both.kept


def test_a_range_in_brackets_is_no_citation_where_a_source_holds_it():
    assert examine("Normal range [2-8] seen [5].").text == "Normal range [2-8] seen [5]."
    assert "[1-3]" not in examine("HbA1c 8.2 % [1-3][1].").text
    assert examine("HbA1c 8.2 % [1-3].").why == "broken_citation"
    assert "【" not in examine("HbA1c 8.2 % 【1†source】[1].").text


def test_an_ambiguous_quote_is_refused_and_a_longer_one_is_not():
    twice = (Quote(n=5, text="Pain in the leg", at=(116, 119)),)
    assert examine("Pain in the leg [5].", quotes=twice).why == "quote_ambiguous"
    once = (Quote(n=5, text="Pain in the leg again", at=(116, 119)),)
    assert examine("Pain in the leg [5].", quotes=once).kept


def test_a_quote_without_a_marker_covers_its_unit():
    loose = (Quote(n=1, text="HbA1c 8.2 %", at=(100, 112)),)
    found = examine("HbA1c 8.2 %.", quotes=loose)
    assert found.kept
    assert [(cite.n, start, end) for cite, start, end in found.cited] == [(1, 0, 12)]
    wrong = (Quote(n=9, text="HbA1c 8.2 %", at=(100, 112)),)
    assert examine("HbA1c 8.2 %.", quotes=wrong).why == "source_not_shown"


@pytest.mark.requirement("EN-G3")
def test_questions_and_headings_may_hold_only_figures_of_the_context():
    assert examine("Is an HbA1c of 8.2 % on target?").kept
    assert examine("Is an HbA1c of 9.9 % on target?").why == "figure_not_in_source"
    assert examine("Is a potassium above 5 meant?", asked="potassium above 5?").kept


@pytest.mark.requirement("RELIABILITY-25")
def test_absence_may_be_said_unless_a_source_holds_the_thing():
    assert examine("No potassium is recorded.").basis == "record"
    assert examine("No potassium is recorded.", patient=False).basis == "guideline"
    assert examine("No warfarin is recorded.").why == "contradicts_source"
    assert examine("No allergies are recorded.").why == "contradicts_source"
    assert examine("No HbA1c since 2025 is recorded.").kept
    assert examine("Not found in the record: brain MRI.").kept


def test_certainty_that_no_source_gives_is_flagged():
    found = examine("HbA1c is definitely 8.2 % [1].")
    assert found.kept
    assert [(one.id, one.want) for one in found.findings] == [("G5", "flag")]


def test_a_conclusion_is_an_inference_and_at_most_partly_supported():
    found = examine("HbA1c 8.2 % suggests poor control [1].")
    assert (found.kept, found.basis, found.support) == (True, "inference", "partial")


@pytest.mark.requirement("EN-G7")
def test_basis_follows_the_kind_of_source():
    assert examine("Warfarin needs INR checks [3].").basis == "guideline"
    assert examine("HbA1c 8.2 % [1].").basis == "record"
    assert examine("HbA1c 8.2 % [1].").support == "full"


@pytest.mark.requirement("EN-G4")
def test_a_companion_speaks_without_citations_and_keeps_its_voice():
    ids = ("G4", "G6", "G7")
    assert examine("That sounds hard. I am here.", cite="off", ids=ids).kept
    assert examine("You should sue the hospital.", cite="off", ids=ids).why == "out_of_scope"
    assert examine("See http://a.example/x", cite="off", ids=ids).why == "active_content"


def test_our_own_uncited_sentences_stand_if_their_figures_do():
    assert examine("The newest HbA1c is 8.2 %.", trusted=True).kept
    assert examine("The newest HbA1c is 9.9 %.", trusted=True).why == "figure_not_in_source"
    assert examine("In all: 6 entries.", trusted=True).kept
    assert examine("In all: 99 entries.", trusted=True).why == "figure_not_in_source"
    assert examine("Is 99 meant?", trusted=True).why == "figure_not_in_source"


def evidence(*lines: str) -> list[Evidence]:
    return [
        Evidence(n=n, kind="record", quote=line, context=line)
        for n, line in enumerate(lines, start=1)
    ]


@pytest.mark.requirement("EN-G3")
@pytest.mark.parametrize(
    ("said", "right"),
    [
        ("Average 8.0 kg", True),
        ("Average 8.1 kg", False),
        ("Sum 24 kg", True),
        ("Rose by 2 kg", True),
        ("Rose by 3 kg", False),
        ("Rose by 28.6 %", True),
        ("Rose by 30 %", False),
        ("3 readings", True),
        ("4 readings", False),
        ("365 days apart", True),
        ("12 months apart", True),
        ("1 year apart", True),
        ("5 years apart", False),
        ("range 7-9 kg", False),
        ("on 3 May 1999", False),
    ],
)
def test_our_writers_arithmetic_is_done_again(said, right):
    lines = evidence(
        "Weight 7 kg, 2023-11-02", "Weight 8 kg, 2024-05-02", "Weight 9 kg, 2024-11-01"
    )
    assert recomputed(said, lines) is right


def test_the_repair_order_names_each_fault_and_is_bounded():
    removed = [(f"Sentence {n} " + "word " * 60, "no_support") for n in range(20)]
    text = order(removed, ["be kinder"], Policy(words=120))
    assert text.count("the cited words do not say that") == 12
    assert "and 8 more" in text
    assert "be kinder" in text
    assert "At most 120 words" in text
