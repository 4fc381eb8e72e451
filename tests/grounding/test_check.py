"""The checker alone, on plain values."""

from __future__ import annotations

import pytest

from bedside.core.errors import InvalidArgument
from bedside.grounding import SourceText, check

SOURCES = [
    SourceText("lab", "HbA1c 8.2 %, 2024-11-02", kind="record"),
    SourceText(
        "letter",
        "She denies chest pain. Right knee pain since May 2024.\nHer mother had breast cancer.",
        title="Letter",
    ),
]


def test_it_lists_every_claim_in_order_and_what_is_unsupported_with_why():
    report = check(
        "HbA1c was 8.2 % [1]. She has chest pain [2]. Left knee pain since May 2024 [2]. She had breast cancer [2].",
        sources=SOURCES,
    )
    assert [one.support for one in report.claims] == ["full", "none", "none", "none"]
    assert [one.why for one in report.unsupported] == [
        "negation_mismatch",
        "laterality_mismatch",
        "subject_mismatch",
    ]
    assert report.text == "HbA1c was 8.2 % [1]. "
    assert not report.ok


def test_its_citations_are_exact_in_the_sources_given():
    report = check(
        'Right knee pain since May 2024 [2: "Right knee pain since May 2024"]. HbA1c 8.2 % [1].',
        sources=SOURCES,
    )
    assert report.ok
    for one in report.citations:
        assert SOURCES[one.n - 1].text[one.span.start : one.span.end] == one.quote
        assert report.text[one.at[0] : one.at[1]].endswith(f"[{one.n}]")


def test_a_bare_marker_is_placed_at_the_passage_that_supports_the_sentence():
    report = check("Right knee pain since May 2024 [2].", sources=SOURCES)
    assert [one.quote for one in report.citations] == ["Right knee pain since May 2024."]


def test_a_bare_marker_does_not_slip_past_a_nearer_passage_that_speaks_against_it():
    assert check("She has chest pain [2].", sources=SOURCES).unsupported


def test_sources_need_ids_of_their_own():
    with pytest.raises(InvalidArgument):
        check("x", sources=[SOURCES[0], SOURCES[0]])
    with pytest.raises(InvalidArgument):
        SourceText("", "x")


def test_without_sources_every_claim_is_unsupported():
    assert [one.why for one in check("HbA1c was 8.2 % [1].", sources=[]).unsupported] == [
        "source_not_shown"
    ]
